//! Cases of upstream's tables: kind, object, warnings.

use json::parse;

use super::{on_create, on_update};

const CASES: &[(&str, &str, &[&str])] = &[
    ("Pod", r#"{"metadata":{"name":"foo"},"spec":{}}"#, &[]),
    (
        "Pod",
        r#"{"metadata":{"name":"foo.bar"}}"#,
        &[
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
        ],
    ),
    (
        "Pod",
        r#"{"metadata":{"name":"p"},"spec":{"nodeSelector":{"beta.kubernetes.io/os":"linux"},"hostAliases":[{"ip":"1.1.1.1"},{"ip":"1.1.1.1"},{"ip":"1.1.1.1"}],"imagePullSecrets":[{"name":"a"},{"name":"a"},{}]}}"#,
        &[
            "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use \"kubernetes.io/os\" instead",
            "spec.hostAliases[1].ip: duplicate ip \"1.1.1.1\"",
            "spec.hostAliases[2].ip: duplicate ip \"1.1.1.1\"",
            "spec.imagePullSecrets[1].name: duplicate name \"a\"",
            "spec.imagePullSecrets[2].name: invalid empty name \"\"",
        ],
    ),
    (
        "Pod",
        r#"{"metadata":{"name":"p"},"spec":{"containers":[{"env":[{"name":"a","value":"a"},{"name":"a","value":"a"},{"name":"b","value":"x"},{"name":"b","value":"$(b)y"},{"name":"b","value":"$(b)"},{"name":"b","valueFrom":{}}]}]}}"#,
        &[
            "spec.containers[0].env[1]: hides previous definition of \"a\", which may be dropped when using apply",
            "spec.containers[0].env[4]: hides previous definition of \"b\", which may be dropped when using apply",
            "spec.containers[0].env[5]: hides previous definition of \"b\", which may be dropped when using apply",
        ],
    ),
    (
        "Pod",
        r#"{"metadata":{"name":"p","annotations":{"scheduler.alpha.kubernetes.io/critical-pod":"","seccomp.security.alpha.kubernetes.io/pod":"x"}},"spec":{"volumes":[{"gitRepo":{}},{"rbd":{}}],"overhead":{"memory":"0.1"},"containers":[{"resources":{"limits":{"memory":"1m"}}}]}}"#,
        &[
            "metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the \"priorityClassName\" field instead",
            "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
            "spec.volumes[1].rbd: deprecated in v1.28, non-functional in v1.31+",
            "spec.overhead[memory]: fractional byte value \"100m\" is invalid, must be an integer",
            "metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the \"seccompProfile\" field instead",
            "spec.containers[0].resources.limits[memory]: fractional byte value \"1m\" is invalid, must be an integer",
        ],
    ),
    (
        "Pod",
        r#"{"metadata":{"name":"p"},"spec":{"containers":[{"ports":[{"containerPort":80,"protocol":"UDP","name":"a"},{"containerPort":80,"protocol":"UDP","name":"a"}]},{"ports":[{"containerPort":81,"protocol":"TCP","hostPort":80,"hostIP":"x"},{"containerPort":81,"protocol":"TCP","hostPort":80}]}]}}"#,
        &[
            "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]",
            "spec.containers[1].ports[1]: dangerously ambiguous port definition with spec.containers[1].ports[0]",
            "spec.containers[0].ports[1]: duplicate port name \"a\" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]",
        ],
    ),
    (
        "Pod",
        r#"{"metadata":{"name":"p"},"spec":{"topologySpreadConstraints":[{"topologyKey":"failure-domain.beta.kubernetes.io/zone"}],"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"podAffinityTerm":{}}]}},"dnsConfig":{"nameservers":["1.2.3.4","05.06.07.08","fd12:0::1"]}}}"#,
        &[
            "spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
            "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod",
            "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector: a null labelSelector results in matching no pod",
            "spec.dnsConfig.nameservers[1]: non-standard IP address \"05.06.07.08\" is invalid: use \"5.6.7.8\"",
            "spec.dnsConfig.nameservers[2]: IPv6 address \"fd12:0::1\" should be in RFC 5952 canonical format (\"fd12::1\")",
        ],
    ),
    (
        "Pod",
        r#"{"metadata":{"name":"p"},"spec":{"volumes":[{"name":"v","configMap":{"name":"c","items":[{"path":"foo"},{"path":"foo/bar"},{"path":"foobar"},{"path":"foo/"}]}},
            {"name":"w","projected":{"sources":[{"secret":{"name":"s","items":[{"path":"a/b"}]}},{"serviceAccountToken":{"path":"a"}},{}]}}]}}"#,
        &[
            "volume \"v\" (ConfigMap \"c\"): overlapping paths: \"foo/bar\" with \"foo\"",
            "volume \"v\" (ConfigMap \"c\"): overlapping paths: \"foo\" with \"foo\"",
            "volume \"v\" (ConfigMap \"c\"): overlapping paths: \"foo\" with \"foo/bar\"",
            "volume \"w\" (Projected) has no sources provided",
            "volume \"w\" (Projected): overlapping paths: \"a\" (ServiceAccountToken) with \"a/b\" (Secret \"s\")",
        ],
    ),
    (
        "apps Deployment",
        r#"{"metadata":{"name":"d"},"spec":{"template":{"spec":{"terminationGracePeriodSeconds":-1}}}}"#,
        &[
            "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1",
        ],
    ),
    (
        "apps Deployment",
        r#"{"metadata":{"name":"A"}}"#,
        &[
            "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')]",
        ],
    ),
    (
        "Service",
        r#"{"spec":{"type":"ClusterIP","clusterIP":"None","sessionAffinity":"ClientIP","externalIPs":["1.1.1.1"]}}"#,
        &[
            "spec.externalIPs is ignored for headless services",
            "spec.SessionAffinity is ignored for headless services",
        ],
    ),
    (
        "Service",
        r#"{"metadata":{"annotations":{"service.kubernetes.io/topology-aware-hints":"x"}},"spec":{"type":"ClusterIP","externalIPs":["::ffff:1.2.3.4"],"externalName":"x","trafficDistribution":"PreferClose","sessionAffinity":"None"}}"#,
        &[
            "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead",
            "spec.externalIPs[0]: non-standard IP address \"::ffff:1.2.3.4\" is invalid: use \"1.2.3.4\"",
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
            "spec.externalName is ignored when spec.type is not \"ExternalName\"",
            "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"",
        ],
    ),
    (
        "networking.k8s.io Ingress",
        r#"{"metadata":{"annotations":{"kubernetes.io/ingress.class":"x"}}}"#,
        &[
            "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead",
        ],
    ),
    (
        "PersistentVolume",
        r#"{"metadata":{"annotations":{"volume.beta.kubernetes.io/mount-options":"x"}},"spec":{"persistentVolumeReclaimPolicy":"Recycle","glusterfs":{}}}"#,
        &[
            "metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; use \"mountOptions\" attribute instead",
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.",
            "spec.glusterfs: deprecated in v1.25, non-functional in v1.26+",
        ],
    ),
    (
        "storage.k8s.io StorageClass",
        r#"{"allowedTopologies":[{"matchLabelExpressions":[{"key":"a"},{"key":"failure-domain.beta.kubernetes.io/zone"}]}]}"#,
        &[
            "allowedTopologies[0].matchLabelExpressions[1].key: deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
        ],
    ),
    (
        "discovery.k8s.io EndpointSlice",
        r#"{"addressType":"FQDN"}"#,
        &["spec.addressType: FQDN endpoints are deprecated"],
    ),
    (
        "PersistentVolumeClaim",
        r#"{"metadata":{"annotations":{"volume.beta.kubernetes.io/storage-class":"x"}},"spec":{"resources":{"requests":{"storage":"0.5"}}}}"#,
        &[
            "metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use \"storageClassName\" attribute instead",
            "spec.resources.requests[storage]: fractional byte value \"500m\" is invalid, must be an integer",
        ],
    ),
    (
        "apiextensions.k8s.io CustomResourceDefinition",
        r#"{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"string","format":"foo"},"b":{"type":"integer","format":"date"},"c":{"type":"string","format":"date-time"},
            "d":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"array","items":{"anyOf":[{"format":"foo"}]}}}}}}}]}}"#,
        &[
            "unrecognized format \"foo\"",
            "unrecognized format \"date\"",
            "x-kubernetes-list-type: set for items of type \"array\" is not supported by server-side apply or CEL validation rules",
        ],
    ),
];

#[test]
fn definitions_are_told_once() {
    let definition = |format: &str| {
        let text = format!(
            r#"{{"spec":{{"versions":[{{"schema":{{"openAPIV3Schema":{{"format":"{format}"}}}}}}]}}}}"#
        );
        parse(text.as_bytes()).unwrap()
    };
    let told = |new: &str, old: &str| {
        let (group, kind) = ("apiextensions.k8s.io", "CustomResourceDefinition");
        on_update(group, kind, &definition(new), &definition(old))
    };
    assert_eq!(told("a", "a"), [""; 0]);
    assert_eq!(told("b", "a"), ["unrecognized format \"b\""]);
}

#[test]
fn warnings_of_upstream() {
    for (kind, object, expected) in CASES {
        let (group, kind) = kind.split_once(' ').unwrap_or(("", kind));
        let object = parse(object.as_bytes()).unwrap();
        assert_eq!(
            on_create(group, kind, &object),
            *expected,
            "{kind} {object}"
        );
    }
}

#[test]
fn a_template_warns_when_it_changes() {
    let object = |generation: i64| {
        let text = format!(
            r#"{{"metadata":{{"name":"d","generation":{generation}}},"spec":{{"template":{{"spec":{{"terminationGracePeriodSeconds":-1}}}}}}}}"#
        );
        parse(text.as_bytes()).unwrap()
    };
    assert_eq!(
        on_update("apps", "Deployment", &object(1), &object(1)),
        [""; 0]
    );
    assert_eq!(
        on_update("apps", "Deployment", &object(2), &object(1)).len(),
        1
    );
}

#[test]
fn an_annotation_is_warned_of_where_it_is_new() {
    let account = |text: &str| parse(text.as_bytes()).unwrap();
    let without = account(r#"{"metadata":{"name":"a"}}"#);
    let with = account(
        r#"{"metadata":{"name":"a","annotations":{"kubernetes.io/enforce-mountable-secrets":"true"}}}"#,
    );
    let text = "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets";
    assert_eq!(on_create("", "ServiceAccount", &with), [text]);
    assert_eq!(on_update("", "ServiceAccount", &with, &without), [text]);
    assert_eq!(on_update("", "ServiceAccount", &with, &with), [""; 0]);
}

#[test]
fn reviews_are_not_for_webhooks() {
    let hooks = parse(
        br#"{"webhooks":[{"rules":[
            {"apiGroups":["*"],"resources":["tokenreviews"]},
            {"apiGroups":["authentication.k8s.io","apps"],"resources":["tokenreviews","deployments"]}
        ]}]}"#,
    )
    .unwrap();
    let kind = "ValidatingWebhookConfiguration";
    assert_eq!(
        on_create("admissionregistration.k8s.io", kind, &hooks),
        [
            "webhooks[0].rules[1]: tokenreviews.authentication.k8s.io is excluded from admission webhooks; this rule will have no effect"
        ]
    );
}
