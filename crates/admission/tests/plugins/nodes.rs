//! `NodeRestriction` and `TaintNodesByCondition`: what kubelets may do, and how nodes begin.

use std::sync::Arc;

use admission::{NodeRestriction, Operation, TaintNodesByCondition};
use auth::User;
use json::{Value, json};

use super::certificates::encoded;
use super::world::{Allows, Case};

#[test]
fn a_new_node_is_not_ready() {
    let create = Case::create(&TaintNodesByCondition, "/nodes");
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    let tainted = json!({"spec": {"taints": [taint]}});
    assert_eq!(create.ok(&json!({})), tainted);
    create.same(&tainted);
    let other = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"});
    let both = create.ok(&json!({"spec": {"taints": [other]}}));
    let taints = both
        .at(&["spec", "taints"])
        .and_then(Value::as_array)
        .map(Vec::len);
    assert_eq!(taints, Some(2));
    Case::update(&TaintNodesByCondition, "/nodes", json!({})).same(&json!({}));
    Case::create(&TaintNodesByCondition, "/nodes/status").same(&json!({}));
}

fn plugin(allowed: &'static [&'static str]) -> NodeRestriction {
    NodeRestriction(Arc::new(Allows(allowed)))
}

fn kubelet() -> User {
    User::new("system:node:n", &["system:nodes"])
}

/// A create by the kubelet of `n`, which is there.
fn by_kubelet<'a>(plugin: &'a NodeRestriction, resource: &'a str) -> Case<'a> {
    let node = json!({"metadata": {"name": "n", "uid": "node-uid"}});
    let case = Case::create(plugin, resource).with("/nodes", node);
    Case {
        user: kubelet(),
        ..case
    }
}

fn why(refused: &str) -> &str {
    refused
        .split_once(" is forbidden: ")
        .map_or(refused, |(_, why)| why)
}

#[test]
fn others_are_not_kubelets() {
    let plugin = plugin(&[]);
    for user in [
        User::new("jane", &["system:nodes"]),
        User::new("system:node:n", &[]),
    ] {
        let case = Case {
            user,
            ..Case::create(&plugin, "/pods")
        };
        assert!(!case.handles());
    }
    let nameless = Case {
        user: User::new("system:node:", &["system:nodes"]),
        ..Case::create(&plugin, "/pods")
    };
    assert_eq!(
        why(&nameless.err(&json!({}))),
        "could not determine node from user \"system:node:\""
    );
    by_kubelet(&plugin, "/configmaps").same(&json!({}));
    let connect = Case {
        operation: Operation::Connect,
        ..by_kubelet(&plugin, "/pods")
    };
    assert!(!connect.handles());
}

fn mirror(change: impl FnOnce(&mut json::Object)) -> Value {
    let mut pod = json!({
        "metadata": {
            "name": "web",
            "annotations": {"kubernetes.io/config.mirror": "x"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "node-uid", "controller": true}],
        },
        "spec": {"nodeName": "n"},
    });
    change(pod.as_object_mut().expect("an object"));
    pod
}

fn with_owner(owner: Value) -> Value {
    mirror(|pod| {
        let metadata = pod
            .get_mut("metadata")
            .and_then(Value::as_object_mut)
            .expect("metadata");
        metadata.insert("ownerReferences", owner);
    })
}

fn with_spec(spec: Value) -> Value {
    mirror(|pod| {
        pod.insert("spec", spec);
    })
}

#[test]
fn a_kubelet_makes_mirrors_of_its_own_pods() {
    let plugin = plugin(&[]);
    let create = by_kubelet(&plugin, "/pods");
    create.same(&mirror(|_| {}));
    let owner = |name: &str, uid: &str, more: Value| {
        let mut owner = json!({"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid});
        let more = more.as_object().expect("an object").clone();
        owner.as_object_mut().expect("an object").extend(more);
        owner
    };
    let controller = || json!({"controller": true});
    for (pod, text) in [
        (
            json!({"spec": {"nodeName": "n"}}),
            "pod does not have \"kubernetes.io/config.mirror\" annotation, node \"n\" can only create mirror pods",
        ),
        (
            with_spec(json!({"nodeName": "m"})),
            "node \"n\" can only create pods with spec.nodeName set to itself",
        ),
        (
            with_owner(json!([])),
            "node \"n\" can only create pods with an owner reference set to itself",
        ),
        (
            with_owner(json!([
                (owner("n", "node-uid", controller())),
                (owner("n", "node-uid", controller()))
            ])),
            "node \"n\" can only create pods with a single owner reference set to itself",
        ),
        (
            with_owner(json!([(owner("m", "node-uid", controller()))])),
            "node \"n\" can only create pods with an owner reference set to itself",
        ),
        (
            with_owner(
                json!([{"apiVersion": "v1", "kind": "Pod", "name": "n", "uid": "node-uid", "controller": true}]),
            ),
            "node \"n\" can only create pods with an owner reference set to itself",
        ),
        (
            with_owner(json!([(owner("n", "node-uid", json!({})))])),
            "node \"n\" can only create pods with a controller owner reference set to itself",
        ),
        (
            with_owner(json!([(owner(
                "n",
                "node-uid",
                json!({"controller": true, "blockOwnerDeletion": true})
            ))])),
            "node \"n\" must not set blockOwnerDeletion on an owner reference",
        ),
        (
            with_owner(json!([(owner("n", "other", controller()))])),
            "node n UID mismatch: expected other got node-uid",
        ),
    ] {
        assert_eq!(why(&create.err(&pod)), text);
    }
}

#[test]
fn a_mirror_refers_to_nothing() {
    let plugin = plugin(&[]);
    let create = by_kubelet(&plugin, "/pods");
    let spec = |field: &str, value: Value| {
        let mut spec = json!({"nodeName": "n"});
        spec.as_object_mut()
            .expect("an object")
            .insert(field, value);
        with_spec(spec)
    };
    let volume = |source: Value| {
        let mut volume = json!({"name": "v"});
        volume
            .as_object_mut()
            .expect("an object")
            .extend(source.as_object().expect("one").clone());
        spec("volumes", json!([volume]))
    };
    let projected = |source: Value| volume(json!({"projected": {"sources": [source]}}));
    create.same(&volume(json!({"hostPath": {"path": "/"}})));
    create.same(&projected(json!({"downwardAPI": {}})));
    for (pod, what) in [
        (spec("serviceAccountName", json!("x")), "serviceaccounts"),
        (spec("imagePullSecrets", json!([{"name": "x"}])), "secrets"),
        (
            spec(
                "containers",
                json!([{"envFrom": [{"configMapRef": {"name": "x"}}]}]),
            ),
            "configmaps",
        ),
        (
            spec(
                "containers",
                json!([{"env": [{"valueFrom": {"configMapKeyRef": {"name": "x"}}}]}]),
            ),
            "configmaps",
        ),
        (projected(json!({"configMap": {"name": "x"}})), "configmaps"),
        (
            spec("resourceClaims", json!([{"name": "x"}])),
            "resourceclaims",
        ),
        (
            volume(json!({"configMap": {}})),
            "configmaps (via configmap volumes)",
        ),
        (
            volume(json!({"csi": {"driver": "x"}})),
            "csidrivers (via CSI volumes)",
        ),
        (
            volume(json!({"persistentVolumeClaim": {"claimName": "x"}})),
            "persistentvolumeclaims",
        ),
        (
            volume(json!({"ephemeral": {}})),
            "persistentvolumeclaims (via ephemeral volumes)",
        ),
        (
            projected(json!({"serviceAccountToken": {}})),
            "serviceaccounts (via projected volumes)",
        ),
        (
            projected(json!({"clusterTrustBundle": {}})),
            "clustertrustbundles",
        ),
    ] {
        let text = format!("node \"n\" can not create pods that reference {what}");
        assert_eq!(why(&create.err(&pod)), text);
    }
    let unknown = "error checking mirror pod for API references: unknown";
    assert_eq!(
        why(&create.err(&volume(json!({"strange": {}})))),
        format!("{unknown} volume type for volume  \"v\"")
    );
    assert_eq!(
        why(&create.err(&projected(json!({"strange": {}})))),
        format!("{unknown} source for projected volume \"v\"")
    );
}

#[test]
fn a_kubelet_ends_and_reports_pods_on_its_node() {
    let plugin = plugin(&[]);
    let on = |node: &str| json!({"metadata": {"name": "web", "namespace": "shop"}, "spec": {"nodeName": node}});
    let case = |operation, resource, old: Value| Case {
        operation,
        old: Some(old),
        name: "web",
        ..by_kubelet(&plugin, resource)
    };
    case(Operation::Delete, "/pods", on("n")).same(&Value::Null);
    assert_eq!(
        why(&case(Operation::Delete, "/pods", on("m")).err(&Value::Null)),
        "node \"n\" can only delete pods with spec.nodeName set to itself"
    );
    assert_eq!(
        why(&case(Operation::Update, "/pods", on("n")).err(&on("n"))),
        "unexpected operation \"UPDATE\", node \"n\" can only create and delete mirror pods"
    );
    let status = |old: Value| case(Operation::Update, "/pods/status", old);
    status(on("n")).same(&on("n"));
    assert_eq!(
        why(&status(on("m")).err(&on("m"))),
        "node \"n\" can only update pod status for pods with spec.nodeName set to itself"
    );
    let mut labelled = on("n");
    meta::object::set_label(&mut labelled, "a", "b");
    assert_eq!(
        why(&status(on("n")).err(&labelled)),
        "node \"n\" cannot update labels through pod status"
    );
    let claims = |claims: Value| json!({"metadata": {"name": "web"}, "spec": {"nodeName": "n"}, "status": {"resourceClaimStatuses": claims}});
    status(on("n")).same(&claims(json!([])));
    assert_eq!(
        why(&status(on("n")).err(&claims(json!([{"name": "x"}])))),
        "node \"n\" cannot update resource claim statues"
    );
    assert_eq!(
        why(&case(Operation::Create, "/pods/status", on("n")).err(&on("n"))),
        "unexpected operation \"CREATE\""
    );
    assert_eq!(
        why(&case(Operation::Update, "/pods/resize", on("n")).err(&on("n"))),
        "unexpected pod subresource \"resize\", only 'status' and 'eviction' are allowed"
    );
    let evict =
        |pod: Value| case(Operation::Create, "/pods/eviction", Value::Null).with("/pods", pod);
    evict(on("n")).same(&json!({}));
    assert_eq!(
        why(&evict(on("m")).err(&json!({}))),
        "node n can only evict pods with spec.nodeName set to itself"
    );
    assert_eq!(
        case(Operation::Create, "/pods/eviction", Value::Null).err(&json!({})),
        "pod \"web\" not found"
    );
    assert_eq!(
        why(&case(Operation::Update, "/pods/eviction", Value::Null).err(&json!({}))),
        "unexpected operation UPDATE"
    );
}

#[test]
fn a_kubelet_changes_its_own_node() {
    let plugin = plugin(&[]);
    let node = |name: &str| json!({"metadata": {"name": name}, "spec": {}});
    let create = by_kubelet(&plugin, "/nodes");
    create.same(&node("n"));
    assert_eq!(
        why(&create.err(&node("m"))),
        "node \"n\" is not allowed to modify node \"m\""
    );
    let update = |old: Value| Case {
        operation: Operation::Update,
        old: Some(old),
        name: "n",
        ..by_kubelet(&plugin, "/nodes")
    };
    update(node("n")).same(&node("n"));
    let with = |section: &str, field: &str, value: Value| {
        let mut node = node("n");
        let section = node
            .get_mut(section)
            .and_then(Value::as_object_mut)
            .expect("a section");
        section.insert(field, value);
        node
    };
    for (changed, text) in [
        (
            with("spec", "configSource", json!({"a": 1})),
            "node \"n\" is not allowed to update configSource to a new non-nil configSource",
        ),
        (
            with("spec", "taints", json!([{"key": "a"}])),
            "node \"n\" is not allowed to modify taints",
        ),
        (
            with("metadata", "ownerReferences", json!([{"uid": "a"}])),
            "node \"n\" is not allowed to modify ownerReferences",
        ),
        (
            with(
                "metadata",
                "labels",
                json!({"node-restriction.kubernetes.io/a": "b"}),
            ),
            "is not allowed to modify labels: node-restriction.kubernetes.io/a",
        ),
    ] {
        assert_eq!(why(&update(node("n")).err(&changed)), text);
        update(changed.clone()).same(&changed);
    }
    update(node("n")).same(&with("spec", "taints", json!([])));
    update(with("spec", "configSource", json!({"a": 1}))).same(&node("n"));
    assert_eq!(
        why(&create.err(&with("spec", "configSource", json!({"a": 1})))),
        "node \"n\" is not allowed to create pods with a non-nil configSource"
    );
    assert_eq!(
        why(&create.err(&with(
            "metadata",
            "labels",
            json!({"node-role.kubernetes.io/a": "b", "mine": "c"})
        ))),
        "node \"n\" is not allowed to set the following labels: node-role.kubernetes.io/a"
    );
}

#[test]
fn what_else_is_a_kubelets_own() {
    let plugin = plugin(&[]);
    let named = |name: &str| json!({"metadata": {"name": name}});
    let lease = Case {
        namespace: "kube-node-lease",
        ..by_kubelet(&plugin, "coordination.k8s.io/leases")
    };
    lease.same(&named("n"));
    assert_eq!(
        why(&lease.err(&named("m"))),
        "can only access node lease with the same name as the requesting node"
    );
    assert_eq!(
        why(&by_kubelet(&plugin, "coordination.k8s.io/leases").err(&named("n"))),
        "can only access leases in the \"kube-node-lease\" system namespace"
    );
    let renew = Case {
        operation: Operation::Update,
        namespace: "kube-node-lease",
        name: "m",
        ..by_kubelet(&plugin, "coordination.k8s.io/leases")
    };
    renew.err(&named("n"));
    by_kubelet(&plugin, "storage.k8s.io/csinodes").same(&named("n"));
    by_kubelet(&plugin, "storage.k8s.io/csinodes").err(&named("m"));
    by_kubelet(&plugin, "storage.k8s.io/csinodes/status").err(&named("n"));
    let slice = |node: &str| json!({"metadata": {"name": "s"}, "spec": {"nodeName": node}});
    let slices = "resource.k8s.io/resourceslices";
    by_kubelet(&plugin, slices).same(&slice("n"));
    assert_eq!(
        why(&by_kubelet(&plugin, slices).err(&slice("m"))),
        "can only create ResourceSlice with the same NodeName as the requesting node"
    );
    let change = |operation, node: &str| Case {
        operation,
        old: Some(slice(node)),
        ..by_kubelet(&plugin, slices)
    };
    change(Operation::Delete, "n").same(&Value::Null);
    change(Operation::Delete, "m").err(&Value::Null);
    change(Operation::Update, "m").same(&slice("m"));
    let claim = |size: &str, volume: &str| json!({"metadata": {"name": "c"}, "spec": {"volumeName": volume}, "status": {"capacity": {"storage": size}}});
    let update = |resource| Case {
        operation: Operation::Update,
        old: Some(claim("1", "v")),
        ..by_kubelet(&plugin, resource)
    };
    update("/persistentvolumeclaims/status").same(&claim("2", "v"));
    let other = update("/persistentvolumeclaims/status").err(&claim("1", "w"));
    assert!(
        other.contains("is not allowed to update fields other than status.quantity"),
        "{other}"
    );
    assert_eq!(
        why(&update("/persistentvolumeclaims").err(&claim("1", "v"))),
        "may only update PVC status"
    );
    by_kubelet(&plugin, "/persistentvolumeclaims/status").err(&claim("1", "v"));
}

#[test]
fn a_kubelet_asks_for_certificates_of_its_own() {
    let plugin = plugin(&[]);
    let create = by_kubelet(&plugin, "certificates.k8s.io/certificatesigningrequests");
    let object = |signer: &str, request: &str| json!({"metadata": {"name": "r"}, "spec": {"signerName": signer, "request": request}});
    for signer in [
        "kubernetes.io/kubelet-serving",
        "kubernetes.io/kube-apiserver-client-kubelet",
    ] {
        create.same(&object(signer, &encoded("system:nodes", "system:node:n")));
        assert_eq!(
            why(&create.err(&object(signer, &encoded("system:nodes", "system:node:m")))),
            "can only create a node CSR with CN=system:node:n"
        );
        assert!(
            create
                .err(&object(signer, ""))
                .contains("unable to parse csr")
        );
    }
    create.same(&object("example.com/own", ""));
}

fn token(kind: &str, name: &str, uid: &str, audiences: Value) -> Value {
    json!({"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": name, "uid": uid}, "audiences": audiences}})
}

#[test]
fn a_kubelet_gets_tokens_for_its_pods() {
    let plugin = plugin(&["request-serviceaccounts-token-audience vault robot"]);
    let pod = |node: &str| {
        json!({
            "metadata": {"name": "web", "namespace": "shop", "uid": "u"},
            "spec": {"nodeName": node, "volumes": [
                {"name": "a", "projected": {"sources": [{"serviceAccountToken": {"audience": "own"}}, {"serviceAccountToken": {}}]}},
                {"name": "b", "csi": {"driver": "driver"}},
                {"name": "c", "persistentVolumeClaim": {"claimName": "claim"}},
            ]},
        })
    };
    let create = |pod: Value| {
        let case = by_kubelet(&plugin, "/serviceaccounts/token")
            .with("/pods", pod)
            .with("storage.k8s.io/csidrivers", json!({"metadata": {"name": "driver"}, "spec": {"tokenRequests": [{"audience": "driver"}]}}))
            .with("storage.k8s.io/csidrivers", json!({"metadata": {"name": "ebs.csi.aws.com"}, "spec": {"tokenRequests": [{"audience": "aws"}]}}))
            .with("/persistentvolumeclaims", json!({"metadata": {"name": "claim", "namespace": "shop"}, "spec": {"volumeName": "v"}}))
            .with("/persistentvolumes", json!({"metadata": {"name": "v"}, "spec": {"awsElasticBlockStore": {}}}));
        Case {
            name: "robot",
            ..case
        }
    };
    for audiences in [
        json!([]),
        json!(["own"]),
        json!(["driver"]),
        json!(["aws"]),
        json!(["vault"]),
    ] {
        create(pod("n")).same(&token("Pod", "web", "u", audiences));
    }
    let none = || json!([]);
    for (object, text) in [
        (
            token("Secret", "web", "u", none()),
            "node requested token not bound to a pod",
        ),
        (
            token("Pod", "", "u", none()),
            "node requested token not bound to a pod",
        ),
        (
            token("Pod", "web", "", none()),
            "node requested token with a pod binding without a uid",
        ),
        (
            token("Pod", "web", "x", none()),
            "the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated",
        ),
        (
            token("Pod", "web", "u", json!(["own", "driver"])),
            "node may only request 0 or 1 audiences",
        ),
        (
            token("Pod", "web", "u", json!(["other"])),
            "system:node:n is not authorized to request tokens for audience \"other\"",
        ),
    ] {
        assert_eq!(why(&create(pod("n")).err(&object)), text);
    }
    assert_eq!(
        why(&create(pod("m")).err(&token("Pod", "web", "u", none()))),
        "node requested token bound to a pod scheduled on a different node"
    );
    assert_eq!(
        create(pod("n")).err(&token("Pod", "gone", "u", none())),
        "pod \"gone\" not found"
    );
    let mut lost = create(pod("n"));
    lost.world
        .0
        .retain(|(resource, _)| *resource != "/persistentvolumes");
    assert_eq!(
        why(&lost.err(&token("Pod", "web", "u", json!(["aws"])))),
        "error validating audience \"aws\": persistentvolume \"v\" not found"
    );
    by_kubelet(&plugin, "/serviceaccounts").same(&json!({}));
}

#[test]
fn a_kubelet_gets_certificates_for_its_pods() {
    let plugin = plugin(&["request-serviceaccounts-podcertificate-signer example.com:two robot"]);
    let pod = |node: &str, mirror: bool| {
        let mut pod = json!({
            "metadata": {"name": "web", "namespace": "shop", "uid": "pod-uid"},
            "spec": {"nodeName": node, "serviceAccountName": "robot", "volumes": [
                {"projected": {"sources": [{"podCertificate": {"signerName": "example.com/one"}}]}},
            ]},
        });
        if mirror {
            meta::object::set_annotation(&mut pod, "kubernetes.io/config.mirror", "x");
        }
        pod
    };
    let create = |pod: Value| {
        by_kubelet(&plugin, "certificates.k8s.io/podcertificaterequests")
            .with("/pods", pod)
            .with(
                "/serviceaccounts",
                json!({"metadata": {"name": "robot", "namespace": "shop", "uid": "robot-uid"}}),
            )
    };
    let object = |change: &[(&str, &str)]| {
        let mut spec = json!({
            "signerName": "example.com/one",
            "nodeName": "n",
            "nodeUID": "node-uid",
            "podName": "web",
            "podUID": "pod-uid",
            "serviceAccountName": "robot",
            "serviceAccountUID": "robot-uid",
        });
        for (field, value) in change {
            spec.as_object_mut()
                .expect("an object")
                .insert(*field, *value);
        }
        json!({"metadata": {"name": "r"}, "spec": spec})
    };
    create(pod("n", false)).same(&object(&[]));
    create(pod("n", false)).same(&object(&[("signerName", "example.com/two")]));
    for (change, text) in [
        (
            ("nodeName", "m"),
            "PodCertificateRequest.Spec.NodeName=\"m\", which is not the requesting node \"n\"",
        ),
        (
            ("nodeUID", "x"),
            "PodCertificateRequest for pod \"shop/web\" names node UID \"x\", inconsistent with the running node (\"node-uid\")",
        ),
        (
            ("podName", "gone"),
            "while retrieving pod \"shop/gone\" named in the PodCertificateRequest: pod \"gone\" not found",
        ),
        (
            ("podUID", "x"),
            "PodCertificateRequest for pod \"shop/web\" contains pod UID (\"x\") which differs from running pod \"pod-uid\"",
        ),
        (
            ("serviceAccountName", "x"),
            "PodCertificateRequest for pod \"shop/web\" contains serviceAccountName (\"x\") that differs from running pod (\"robot\")",
        ),
        (
            ("serviceAccountUID", "x"),
            "PodCertificateRequest for pod \"shop/web\" names service account UID \"x\", which differs from the running service account (\"robot-uid\")",
        ),
        (
            ("signerName", "example.com/three"),
            "pod \"shop/web\" does not mount a podCertificate projected volume for signer \"example.com/three\"",
        ),
    ] {
        assert_eq!(why(&create(pod("n", false)).err(&object(&[change]))), text);
    }
    assert_eq!(
        why(&create(pod("m", false)).err(&object(&[]))),
        "pod \"shop/web\" is not running on node \"n\" named in the PodCertificateRequest"
    );
    assert_eq!(
        why(&create(pod("n", true)).err(&object(&[]))),
        "pod \"shop/web\" is a mirror pod"
    );
    let update = Case {
        operation: Operation::Update,
        ..create(pod("n", false))
    };
    assert_eq!(
        why(&update.err(&object(&[]))),
        "unexpected operation UPDATE"
    );
    let status = Case {
        resource: "certificates.k8s.io/podcertificaterequests/status",
        ..create(pod("n", false))
    };
    assert_eq!(
        why(&status.err(&object(&[]))),
        "unexpected subresource status"
    );
}
