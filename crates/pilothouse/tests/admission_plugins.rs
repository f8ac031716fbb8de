//! What the built-in admission plugins do to objects. Texts are those of a kube-apiserver asked the same.

#[path = "world/world.rs"]
mod world;

use admission::Plugins;
use http::Method;
use json::{Value, json};
use world::{World, refusal};

const PODS: &str = "/api/v1/namespaces/ns/pods";

fn pod(name: &str, spec: Value) -> Value {
    let mut full = json!({"containers": [{"name": "c", "image": "i"}]});
    if let (Some(fields), Value::Object(spec)) = (full.as_object_mut(), spec) {
        fields.extend(spec);
    }
    json!({"metadata": {"name": name}, "spec": full})
}

async fn world() -> World {
    let world = World::start().await;
    world.namespace("ns", json!({})).await;
    world
}

async fn refused(world: &World, spec: Value) -> String {
    refusal(world.create(PODS, pod("p", spec)).await)
}

#[tokio::test]
async fn pods_run_as_a_service_account() {
    let world = world().await;
    let made = world.make(PODS, pod("one", Value::Null)).await;
    assert_eq!(
        made.str_at(&["spec", "serviceAccountName"]),
        Some("default")
    );
    assert_eq!(made.str_at(&["spec", "serviceAccount"]), Some("default"));
    let volume = &made
        .at(&["spec", "volumes"])
        .and_then(Value::as_array)
        .expect("volumes")[0];
    let name = volume.str_at(&["name"]).expect("a name");
    assert!(
        name.starts_with("kube-api-access-") && name.len() == 21,
        "{name}"
    );
    let sources = json!([
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
    ]);
    assert_eq!(volume.at(&["projected", "sources"]), Some(&sources));
    let container = &made
        .at(&["spec", "containers"])
        .and_then(Value::as_array)
        .expect("containers")[0];
    let mounts = json!([{"name": name, "readOnly": true, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}]);
    assert_eq!(container.get("volumeMounts"), Some(&mounts));
    let managed = json::to_string(made.at(&["metadata", "managedFields"]).expect("managers"));
    assert!(!managed.contains("volume"), "{managed}");

    let made = world
        .make(
            PODS,
            pod("two", json!({"automountServiceAccountToken": false})),
        )
        .await;
    assert_eq!(made.at(&["spec", "volumes"]), None);
    assert_eq!(
        refused(&world, json!({"serviceAccountName": "nobody"})).await,
        "403 pods \"p\" is forbidden: error looking up service account ns/nobody: serviceaccount \"nobody\" not found"
    );

    let accounts = "/api/v1/namespaces/ns/serviceaccounts";
    let strict = json!({
        "metadata": {"name": "strict", "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}},
        "secrets": [{"name": "mine"}],
        "imagePullSecrets": [{"name": "pull"}],
        "automountServiceAccountToken": false,
    });
    world.make(accounts, strict).await;
    let env = |secret: &str| {
        json!({"serviceAccountName": "strict", "containers": [{"name": "c", "image": "i", "env": [{
            "name": "E", "valueFrom": {"secretKeyRef": {"name": secret, "key": "k"}},
        }]}]})
    };
    let made = world.make(PODS, pod("three", env("mine"))).await;
    assert_eq!(
        made.at(&["spec", "imagePullSecrets"]),
        Some(&json!([{"name": "pull"}]))
    );
    let why = "is not allowed because service account strict does not reference that";
    let cases = [
        (
            env("other"),
            format!(
                "container c with envVar E referencing secret.secretName=\"other\" {why} secret"
            ),
        ),
        (
            json!({"serviceAccountName": "strict", "volumes": [{"name": "v", "secret": {"secretName": "other"}}]}),
            format!("volume with secret.secretName=\"other\" {why} secret"),
        ),
        (
            json!({"serviceAccountName": "strict", "imagePullSecrets": [{"name": "other"}]}),
            format!("imagePullSecrets[0].name=\"other\" {why} imagePullSecret"),
        ),
    ];
    for (spec, want) in cases {
        assert_eq!(
            refused(&world, spec).await,
            format!("403 pods \"p\" is forbidden: {want}")
        );
    }

    let mut mirror = pod("mirror", json!({"serviceAccountName": "default"}));
    mirror
        .get_mut("metadata")
        .and_then(Value::as_object_mut)
        .expect("metadata")
        .insert("annotations", json!({"kubernetes.io/config.mirror": "x"}));
    assert_eq!(
        refusal(world.create(PODS, mirror).await),
        "403 pods \"mirror\" is forbidden: a mirror pod may not reference service accounts"
    );
}

#[tokio::test]
async fn limits_are_filled_in_and_held() {
    let world = world().await;
    let range = json!({
        "metadata": {"name": "r"},
        "spec": {"limits": [
            {
                "type": "Container",
                "min": {"cpu": "100m"},
                "max": {"cpu": "1", "memory": "1Gi"},
                "default": {"cpu": "500m", "memory": "512Mi"},
                "defaultRequest": {"cpu": "200m"},
                "maxLimitRequestRatio": {"cpu": "4"},
            },
            {"type": "Pod", "max": {"cpu": "1500m"}},
            {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}},
        ]},
    });
    world.make("/api/v1/namespaces/ns/limitranges", range).await;
    let made = world.make(PODS, pod("one", Value::Null)).await;
    let container = &made
        .at(&["spec", "containers"])
        .and_then(Value::as_array)
        .expect("containers")[0];
    let want = json!({"limits": {"cpu": "500m", "memory": "512Mi"}, "requests": {"cpu": "200m", "memory": "512Mi"}});
    assert_eq!(container.get("resources"), Some(&want));
    assert_eq!(
        meta::object::annotation(&made, "kubernetes.io/limit-ranger"),
        Some(
            "LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c"
        )
    );
    let asks = |resources: Value| json!({"containers": [{"name": "c", "image": "i", "resources": resources}]});
    let ratio = "cpu max limit to request ratio per Container is 4, but provided ratio is";
    let cases = [
        (
            asks(json!({"requests": {"cpu": "50m"}, "limits": {"cpu": "50m"}})),
            "minimum cpu usage per Container is 100m, but request is 50m",
        ),
        (
            asks(json!({"limits": {"cpu": "2"}})),
            "[maximum cpu usage per Container is 1, but limit is 2, maximum cpu usage per Pod is 1500m, but limit is 2]",
        ),
        (
            asks(json!({"requests": {"cpu": "100m"}, "limits": {"cpu": "600m"}})),
            &format!("{ratio} 6.000000"),
        ),
        (
            json!({"containers": [
                {"name": "c", "image": "i", "resources": {"limits": {"cpu": "1"}}},
                {"name": "d", "image": "i", "resources": {"limits": {"cpu": "1"}}},
            ]}),
            "maximum cpu usage per Pod is 1500m, but limit is 2",
        ),
    ];
    for (spec, want) in cases {
        assert_eq!(
            refused(&world, spec).await,
            format!("403 pods \"p\" is forbidden: {want}")
        );
    }
    let claim = |size: &str| json!({"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}});
    let claims = "/api/v1/namespaces/ns/persistentvolumeclaims";
    let cases = [
        (
            "512Mi",
            "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi",
        ),
        (
            "3Gi",
            "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi",
        ),
    ];
    for (size, want) in cases {
        let refused = refusal(world.create(claims, claim(size)).await);
        assert_eq!(
            refused,
            format!("403 persistentvolumeclaims \"c\" is forbidden: {want}")
        );
    }
}

#[tokio::test]
async fn priorities_come_from_classes() {
    let world = world().await;
    let classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
    let made = world.make(PODS, pod("none", Value::Null)).await;
    assert_eq!(
        made.at(&["spec", "priority"]).and_then(Value::as_i64),
        Some(0)
    );
    assert_eq!(
        made.str_at(&["spec", "preemptionPolicy"]),
        Some("PreemptLowerPriority")
    );
    let class = |name: &str, value: i64, default: bool| json!({"metadata": {"name": name}, "value": value, "globalDefault": default, "preemptionPolicy": "Never"});
    world.make(classes, class("high", 1000, false)).await;
    let made = world
        .make(PODS, pod("high", json!({"priorityClassName": "high"})))
        .await;
    assert_eq!(
        made.at(&["spec", "priority"]).and_then(Value::as_i64),
        Some(1000)
    );
    assert_eq!(made.str_at(&["spec", "preemptionPolicy"]), Some("Never"));
    let computed = "must not be provided in pod spec; priority admission controller computed";
    let cases = [
        (
            json!({"priorityClassName": "nope"}),
            "no PriorityClass with name nope was found".to_owned(),
        ),
        (
            json!({"priorityClassName": "high", "priority": 7}),
            format!(
                "the integer value of priority (7) {computed} 1000 from the given PriorityClass name"
            ),
        ),
        (
            json!({"priorityClassName": "high", "preemptionPolicy": "PreemptLowerPriority"}),
            format!(
                "the string value of PreemptionPolicy (PreemptLowerPriority) {computed} Never from the given PriorityClass name"
            ),
        ),
    ];
    for (spec, want) in cases {
        assert_eq!(
            refused(&world, spec).await,
            format!("403 pods \"p\" is forbidden: {want}")
        );
    }
    world.make(classes, class("usual", 5, true)).await;
    let made = world.make(PODS, pod("usual", Value::Null)).await;
    assert_eq!(made.str_at(&["spec", "priorityClassName"]), Some("usual"));
    assert_eq!(
        refusal(world.create(classes, class("second", 6, true)).await),
        "403 priorityclasses.scheduling.k8s.io \"second\" is forbidden: PriorityClass usual is already marked as default. Only one default can exist"
    );
}

#[tokio::test]
async fn runtime_classes_cost_and_place() {
    let world = world().await;
    let class = json!({
        "metadata": {"name": "kata"},
        "handler": "kata",
        "overhead": {"podFixed": {"cpu": "100m"}},
        "scheduling": {"nodeSelector": {"kata": "yes"}, "tolerations": [{"key": "kata", "operator": "Exists"}]},
    });
    world
        .make("/apis/node.k8s.io/v1/runtimeclasses", class)
        .await;
    let made = world
        .make(PODS, pod("one", json!({"runtimeClassName": "kata"})))
        .await;
    assert_eq!(
        made.at(&["spec", "overhead"]),
        Some(&json!({"cpu": "100m"}))
    );
    assert_eq!(made.str_at(&["spec", "nodeSelector", "kata"]), Some("yes"));
    let tolerations = made.at(&["spec", "tolerations"]).and_then(Value::as_array);
    let keys = tolerations
        .expect("tolerations")
        .iter()
        .filter_map(|it| it.str_at(&["key"]));
    assert_eq!(
        keys.collect::<Vec<_>>(),
        [
            "node.kubernetes.io/not-ready",
            "node.kubernetes.io/unreachable",
            "kata"
        ]
    );
    let cases = [
        (
            json!({"runtimeClassName": "nope"}),
            "pod rejected: RuntimeClass \"nope\" not found",
        ),
        (
            json!({"runtimeClassName": "kata", "overhead": {"cpu": "1"}}),
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
        ),
        (
            json!({"overhead": {"cpu": "1"}}),
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
        (
            json!({"runtimeClassName": "kata", "nodeSelector": {"kata": "no"}}),
            "conflict: runtimeClass.scheduling.nodeSelector[kata] = yes; pod.spec.nodeSelector[kata] = no",
        ),
    ];
    for (spec, want) in cases {
        assert_eq!(
            refused(&world, spec).await,
            format!("403 pods \"p\" is forbidden: {want}")
        );
    }
}

#[tokio::test]
async fn classes_and_marks_that_others_rely_on() {
    let world = world().await;
    let claims = "/api/v1/namespaces/ns/persistentvolumeclaims";
    let class = json!({
        "metadata": {"name": "fast", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "p",
    });
    world
        .make("/apis/storage.k8s.io/v1/storageclasses", class)
        .await;
    let claim = json!({"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    let made = world.make(claims, claim).await;
    assert_eq!(made.str_at(&["spec", "storageClassName"]), Some("fast"));
    assert!(meta::object::has_finalizer(
        &made,
        "kubernetes.io/pvc-protection"
    ));
    let grow = json!({"spec": {"resources": {"requests": {"storage": "2Gi"}}}});
    let status = format!("{claims}/c/status");
    let bound = world
        .client
        .merge_patch(&status, &json!({"status": {"phase": "Bound"}}))
        .await;
    bound.expect("bound");
    let grown = world
        .client
        .merge_patch(&format!("{claims}/c"), &grow)
        .await;
    assert_eq!(
        refusal(grown),
        "403 persistentvolumeclaims \"c\" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
    );
    let ingress_class = json!({
        "metadata": {"name": "edge", "annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}},
        "spec": {"controller": "example.com/edge"},
    });
    world
        .make("/apis/networking.k8s.io/v1/ingressclasses", ingress_class)
        .await;
    let ingress = json!({
        "metadata": {"name": "i"},
        "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}},
    });
    let made = world
        .make(
            "/apis/networking.k8s.io/v1/namespaces/ns/ingresses",
            ingress,
        )
        .await;
    assert_eq!(made.str_at(&["spec", "ingressClassName"]), Some("edge"));
    let made = world
        .make("/api/v1/nodes", json!({"metadata": {"name": "n"}}))
        .await;
    let taint = json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]);
    assert_eq!(made.at(&["spec", "taints"]), Some(&taint));
}

#[tokio::test]
async fn plugins_can_be_left_out() {
    let disabled = [
        "ServiceAccount".to_owned(),
        "DefaultTolerationSeconds".to_owned(),
    ];
    let plugins = Plugins::new(&[], &disabled).expect("known names");
    let world = World::with(|options| options.admission = plugins).await;
    let made = world
        .make("/api/v1/namespaces/default/pods", pod("one", Value::Null))
        .await;
    assert_eq!(made.at(&["spec", "volumes"]), None);
    assert_eq!(made.at(&["spec", "tolerations"]), None);
    assert_eq!(
        made.at(&["spec", "priority"]).and_then(Value::as_i64),
        Some(0)
    );
}

#[tokio::test]
async fn pods_keep_to_the_security_level_of_their_namespace() {
    let world = World::start().await;
    let label = |mode: &str, value: &str| {
        let mut labels = json::Object::new();
        labels.insert(format!("pod-security.kubernetes.io/{mode}"), value);
        Value::from(labels)
    };
    world.namespace("base", label("enforce", "baseline")).await;
    world
        .namespace("strict", label("enforce", "restricted"))
        .await;
    world.namespace("warned", label("warn", "restricted")).await;
    let privileged = || json!({"hostNetwork": true, "containers": [{"name": "c", "image": "i", "securityContext": {"privileged": true}}]});
    let restricted = "allowPrivilegeEscalation != false (container \"c\" must set securityContext.allowPrivilegeEscalation=false), \
        unrestricted capabilities (container \"c\" must set securityContext.capabilities.drop=[\"ALL\"]), \
        runAsNonRoot != true (pod or container \"c\" must set securityContext.runAsNonRoot=true), \
        seccompProfile (pod or container \"c\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")";
    let pods = |namespace: &str| format!("/api/v1/namespaces/{namespace}/pods");
    assert_eq!(
        refusal(world.create(&pods("base"), pod("p", privileged())).await),
        "403 pods \"p\" is forbidden: violates PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true), privileged (container \"c\" must not set securityContext.privileged=true)"
    );
    world.make(&pods("base"), pod("plain", Value::Null)).await;
    assert_eq!(
        refusal(world.create(&pods("strict"), pod("p", Value::Null)).await),
        format!(
            "403 pods \"p\" is forbidden: violates PodSecurity \"restricted:latest\": {restricted}"
        )
    );
    let good = json!({
        "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{"name": "c", "image": "i", "securityContext": {
            "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]},
        }}],
    });
    world.make(&pods("strict"), pod("good", good)).await;
    let warnings = world
        .warnings(Method::POST, &pods("warned"), &pod("p", Value::Null))
        .await;
    let want = format!("would violate PodSecurity \"restricted:latest\": {restricted}");
    assert_eq!(
        warnings,
        [format!("299 - \"{}\"", want.replace('"', "\\\""))]
    );
    // What makes pods is not refused, but its author is warned.
    let deployment = json!({"metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": (privileged())},
    }});
    let deployments = "/apis/apps/v1/namespaces/base/deployments";
    let warnings = world.warnings(Method::POST, deployments, &deployment).await;
    assert!(
        warnings[0].contains("would violate PodSecurity"),
        "{warnings:?}"
    );
    // Pods that are there stay, with a warning; labels must make sense.
    let relabel = json!({"metadata": {"labels": (label("enforce", "restricted"))}});
    let path = "/api/v1/namespaces/base";
    let mut namespace = world.client.get(path).await.expect("a namespace");
    let labels = relabel
        .at(&["metadata", "labels"])
        .cloned()
        .expect("labels");
    namespace
        .get_mut("metadata")
        .and_then(Value::as_object_mut)
        .expect("metadata")
        .insert("labels", labels);
    let warnings = world.warnings(Method::PUT, path, &namespace).await;
    assert_eq!(
        warnings,
        [
            "299 - \"existing pods in namespace \\\"base\\\" violate the new PodSecurity enforce level \\\"restricted:latest\\\"\"",
            "299 - \"plain: allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile\"",
        ]
    );
    let wrong = json!({"metadata": {"name": "odd", "labels": (label("enforce", "strict"))}});
    assert_eq!(
        refusal(world.create("/api/v1/namespaces", wrong).await),
        "422 Namespace \"odd\" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"strict\": must be one of privileged, baseline, restricted"
    );
}

#[tokio::test]
async fn pods_grow_as_far_as_their_node() {
    let world = world().await;
    let spec = json!({"nodeName": "n", "automountServiceAccountToken": false, "containers": [{
        "name": "c", "image": "i", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}},
    }]});
    world.make(PODS, pod("p", spec)).await;
    let resize = async |cpu: &str| {
        let path = "/spec/containers/0/resources/requests/cpu";
        let change = json!([{"op": "replace", "path": path, "value": cpu}]);
        let path = format!("{PODS}/p/resize");
        world.client.json_patch(&path, &change).await
    };
    assert_eq!(
        refusal(resize("2").await),
        "403 pods \"p\" is forbidden: node \"n\" not found"
    );
    let node = json!({
        "metadata": {"name": "n"},
        "status": {"allocatable": {"cpu": "4", "memory": "2Gi"}},
    });
    world.make("/api/v1/nodes", node).await;
    let large = resize("5").await.expect_err("too large");
    assert_eq!(
        large.message,
        "pods \"p\" is forbidden: node didn't have enough allocatable resources: cpu, requested: 5000, allocatable: 4000"
    );
    assert_eq!(
        large.details.expect("details").causes[0].reason,
        "NodeCapacity"
    );
    resize("4").await.expect("room");
    let os = json!({"metadata": {"labels": {"kubernetes.io/os": "windows"}}});
    let node = world.client.merge_patch("/api/v1/nodes/n", &os).await;
    node.expect("a node");
    assert_eq!(
        refusal(resize("3").await),
        "403 pods \"p\" is forbidden: pod resize is only supported on linux nodes, node \"n\" is \"windows\""
    );
    // What asks for nothing new needs no node.
    world
        .client
        .delete("/api/v1/nodes/n", &Value::Null)
        .await
        .expect("gone");
    resize("4").await.expect("no change");
}

#[tokio::test]
async fn pods_change_as_their_node_can() {
    let world = world().await;
    let requests = json!({"requests": {"cpu": "1"}});
    let spec = json!({
        "nodeName": "n", "automountServiceAccountToken": false,
        "resources": (requests.clone()),
        "initContainers": [{"name": "a", "image": "i", "resources": (requests.clone())}],
        "containers": [{"name": "c", "image": "i"}],
    });
    world.make(PODS, pod("p", spec)).await;
    let node = json!({
        "metadata": {"name": "n"},
        "status": {"allocatable": {"cpu": "4", "memory": "2Gi"}, "declaredFeatures": ["Other"]},
    });
    world.make("/api/v1/nodes", node).await;
    let resize = async |place: &str| {
        let path = format!("/spec/{place}/requests/cpu");
        let change = json!([{"op": "replace", "path": path, "value": "2"}]);
        let path = format!("{PODS}/p/resize");
        world.client.json_patch(&path, &change).await
    };
    let missing = |feature: &str| {
        format!(
            "403 pods \"p\" is forbidden: pod update requires features {feature} which are not available on node \"n\""
        )
    };
    let whole = "InPlacePodLevelResourcesVerticalScaling";
    assert_eq!(refusal(resize("resources").await), missing(whole));
    let features = json!({"status": {"declaredFeatures": [whole]}});
    let node = "/api/v1/nodes/n/status";
    let changed = world.client.merge_patch(node, &features).await;
    changed.expect("a node");
    resize("resources").await.expect("the node can");
    assert_eq!(
        refusal(resize("initContainers/0/resources").await),
        missing("InPlacePodVerticalScalingInitContainers")
    );
}
