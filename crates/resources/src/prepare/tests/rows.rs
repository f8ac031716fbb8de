//! What comes of objects on their way in, by kind.

/// `group/version Kind`, the object, parts of the result.
pub(super) const CREATED: &[(&str, &str, &[&str])] = &[
    (
        "v1 Pod",
        r#"{"spec":{"containers":[{"name":"a"}],"schedulingGates":[{"name":"g"}]},"status":{"phase":"Running"}}"#,
        &[
            "metadata.generation=1",
            r#"status.phase="Pending""#,
            r#"status.qosClass="BestEffort""#,
            r#"status.conditions.0.reason="SchedulingGated""#,
        ],
    ),
    (
        "v1 Pod",
        r#"{"spec":{"containers":[{"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1000m","memory":"1Gi"}}}]}}"#,
        &[r#"status.qosClass="Guaranteed""#, "status.conditions!"],
    ),
    (
        "v1 Pod",
        r#"{"spec":{"containers":[{"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}}},{}]}}"#,
        &[r#"status.qosClass="Burstable""#],
    ),
    (
        "v1 Pod",
        r#"{"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}"#,
        &[r#"status.qosClass="Burstable""#],
    ),
    // The pod's own resources: requests from containers, limits where all have them.
    (
        "v1 Pod",
        r#"{"spec":{"resources":{"requests":{"cpu":"1"}},"containers":[{"resources":{"limits":{"cpu":"500m","hugepages-2Mi":"4Mi"},"requests":{"cpu":"100m","memory":"1Gi","hugepages-2Mi":"4Mi"}}},{"resources":{"limits":{"cpu":"1"},"requests":{"cpu":"1","memory":"1Gi"}}}],
            "initContainers":[{"resources":{"limits":{"cpu":"2"},"requests":{"cpu":"2"}}},{"restartPolicy":"Always","resources":{"limits":{"cpu":"250m"},"requests":{"cpu":"250m"}}}]}}"#,
        &[
            r#"spec.resources={"requests":{"cpu":"1","memory":"2Gi","hugepages-2Mi":"4Mi"},"limits":{"hugepages-2Mi":"4Mi","cpu":"2"}}"#,
            r#"status.qosClass="Burstable""#,
        ],
    ),
    (
        "v1 Pod",
        r#"{"metadata":{"labels":{"app":"x"},"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"localhost/p"}},"spec":{"containers":[{"name":"c"}],"topologySpreadConstraints":[{"matchLabelKeys":["app","none"],"labelSelector":{}}],
            "affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"podAffinityTerm":{"mismatchLabelKeys":["app"],"labelSelector":{}}}]}}}}"#,
        &[
            r#"spec.topologySpreadConstraints.0.labelSelector.matchExpressions=[{"key":"app","operator":"In","values":["x"]}]"#,
            r#"spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.0.podAffinityTerm.labelSelector.matchExpressions=[{"key":"app","operator":"NotIn","values":["x"]}]"#,
            r#"spec.containers.0.securityContext.appArmorProfile={"type":"Localhost","localhostProfile":"p"}"#,
        ],
    ),
    (
        "v1 Pod",
        r#"{"spec":{"resources":{"requests":{"cpu":"1"}},"containers":[{"resources":{"limits":{"cpu":"2"}}},{}]}}"#,
        &["spec.resources.limits!"],
    ),
    (
        "v1 Namespace",
        r#"{"metadata":{"name":"n"},"spec":{"finalizers":["x"]},"status":{"phase":"Terminating"}}"#,
        &[
            r#"spec.finalizers=["x","kubernetes"]"#,
            r#"status.phase="Active""#,
            "metadata.generation!",
        ],
    ),
    (
        "v1 Secret",
        r#"{"data":{"a":"eA==","b":"eQ=="},"stringData":{"b":"hello","c":"","d":"ab"}}"#,
        &[
            "stringData!",
            r#"data={"a":"eA==","b":"aGVsbG8=","c":"","d":"YWI="}"#,
        ],
    ),
    (
        "v1 ServiceAccount",
        r#"{"secrets":[{"name":"a","kind":"x"},{}]}"#,
        &[r#"secrets=[{"name":"a"},{}]"#],
    ),
    (
        "v1 PersistentVolume",
        r#"{"status":{"phase":"Bound"}}"#,
        &[r#"status={"phase":"Pending","lastPhaseTransitionTime":"2026-01-01T00:00:00Z"}"#],
    ),
    (
        "v1 PersistentVolumeClaim",
        r#"{"spec":{"dataSource":{"kind":"PersistentVolumeClaim","name":"n"}},"status":{"phase":"Bound","x":1}}"#,
        &[
            r#"spec.dataSourceRef={"apiGroup":null,"kind":"PersistentVolumeClaim","name":"n"}"#,
            r#"status={"phase":"Pending"}"#,
        ],
    ),
    (
        "v1 PersistentVolumeClaim",
        r#"{"spec":{"dataSource":{"kind":"k","name":"n","apiGroup":"g"}}}"#,
        &["spec.dataSource!", "spec.dataSourceRef!"],
    ),
    (
        "v1 PersistentVolumeClaim",
        r#"{"spec":{"dataSourceRef":{"kind":"k","name":"n","apiGroup":"g"}}}"#,
        &[r#"spec.dataSource={"kind":"k","name":"n","apiGroup":"g"}"#],
    ),
    (
        "v1 PersistentVolumeClaim",
        r#"{"spec":{"dataSourceRef":{"kind":"k","name":"n","apiGroup":"g","namespace":"o"}}}"#,
        &["spec.dataSource!"],
    ),
    (
        "v1 Node",
        r#"{"status":{"phase":"x"},"spec":{"configSource":{}}}"#,
        &[r#"status.phase="x""#, "spec.configSource!"],
    ),
    ("v1 LimitRange", "{}", &[r#"metadata.name="fresh""#]),
    (
        "v1 Service",
        r#"{"status":{"loadBalancer":{"ingress":[{}]}}}"#,
        &["status.loadBalancer={}", "metadata.generation!"],
    ),
    (
        "v1 ConfigMap",
        r#"{"status":1}"#,
        &["status=1", "metadata!"],
    ),
    ("v1 PodTemplate", "{}", &["metadata.generation=1"]),
    (
        "apps/v1 Deployment",
        r#"{"status":{"replicas":3}}"#,
        &["metadata.generation=1", "status={}"],
    ),
    (
        "apps/v1 DaemonSet",
        r#"{"status":{"numberReady":3}}"#,
        &[
            "status.numberReady=0",
            r#"metadata.annotations.deprecated|daemonset|template|generation="1""#,
        ],
    ),
    (
        "batch/v1 Job",
        r#"{"metadata":{"name":"j","uid":"123"},"spec":{"template":{"metadata":{"labels":{"job-name":"mine"}}}}}"#,
        &[
            r#"spec.template.metadata.labels={"job-name":"mine","batch.kubernetes.io/job-name":"j","controller-uid":"123","batch.kubernetes.io/controller-uid":"123"}"#,
            r#"spec.selector.matchLabels={"batch.kubernetes.io/controller-uid":"123"}"#,
        ],
    ),
    (
        "batch/v1 Job",
        r#"{"spec":{"manualSelector":true}}"#,
        &["spec.selector!"],
    ),
    (
        "certificates.k8s.io/v1 CertificateSigningRequest",
        r#"{"spec":{"username":"root","groups":["system:masters"],"request":"x"},"status":{"conditions":[{}]}}"#,
        &[
            r#"spec={"request":"x","username":"jane","uid":"u1"}"#,
            "status={}",
        ],
    ),
    (
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        r#"{"spec":{"versions":[{"name":"v1","storage":true}]},"status":{"storedVersions":["x"]}}"#,
        &["metadata.generation=1", r#"status.storedVersions=["v1"]"#],
    ),
    (
        "apiregistration.k8s.io/v1 APIService",
        "{}",
        &[r#"status.conditions.0.reason="Local""#],
    ),
    (
        "scheduling.k8s.io/v1 PriorityClass",
        "{}",
        &["metadata.generation=1"],
    ),
    (
        "storage.k8s.io/v1 CSIDriver",
        r#"{"spec":{}}"#,
        &["metadata.generation!"],
    ),
    (
        "v1 Service",
        r#"{"spec":{"type":"ExternalName","internalTrafficPolicy":"Cluster"}}"#,
        &["spec.internalTrafficPolicy!"],
    ),
    (
        "v1 Service",
        r#"{"spec":{"type":"ExternalName","internalTrafficPolicy":"wrong"}}"#,
        &[r#"spec.internalTrafficPolicy="wrong""#],
    ),
];

/// `group Kind/subresource`, old, new, expected.
pub(super) const UPDATED: &[(&str, &str, &str, &[&str])] = &[
    (
        "apps Deployment/",
        r#"{"metadata":{"generation":3},"spec":{"replicas":1},"status":{"replicas":1}}"#,
        r#"{"metadata":{"generation":9},"spec":{"replicas":1},"status":{"replicas":5}}"#,
        &["metadata.generation=3", "status.replicas=1"],
    ),
    (
        "apps Deployment/",
        r#"{"metadata":{"generation":3},"spec":{"replicas":1}}"#,
        r#"{"metadata":{},"spec":{"replicas":2},"status":{"replicas":5}}"#,
        &["metadata.generation=4", "status!"],
    ),
    (
        "apps Deployment/",
        r#"{"metadata":{"generation":3},"spec":{}}"#,
        r#"{"metadata":{"annotations":{"a":"b"}},"spec":{}}"#,
        &["metadata.generation=4"],
    ),
    (
        "apps Deployment/status",
        r#"{"metadata":{"generation":3,"labels":{"a":"b"}},"spec":{"replicas":1}}"#,
        r#"{"metadata":{"labels":{"c":"d"},"annotations":{"x":"y"}},"spec":{"replicas":2},"status":{"replicas":5}}"#,
        &[
            "metadata.generation=3",
            r#"metadata.labels={"a":"b"}"#,
            r#"metadata.annotations={"x":"y"}"#,
            "spec.replicas=1",
            "status.replicas=5",
        ],
    ),
    (
        "apps ReplicaSet/",
        r#"{"metadata":{"generation":3},"spec":{"a":[]}}"#,
        r#"{"metadata":{"annotations":{"a":"b"}},"spec":{}}"#,
        &["metadata.generation=3"],
    ),
    (
        "apps DaemonSet/",
        r#"{"metadata":{"generation":3,"annotations":{"deprecated.daemonset.template.generation":"2"}},"spec":{"template":{"a":1}}}"#,
        r#"{"metadata":{},"spec":{"template":{"a":2}}}"#,
        &[
            "metadata.generation=4",
            r#"metadata.annotations.deprecated|daemonset|template|generation="3""#,
        ],
    ),
    (
        " Pod/",
        r#"{"metadata":{"generation":1},"spec":{"containers":[{"image":"a"}],"resources":{"limits":{}}},"status":{"phase":"Running"}}"#,
        r#"{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"image":"b"}]},"status":{}}"#,
        &[
            "metadata.generation=2",
            r#"status.phase="Running""#,
            "spec.resources.limits={}",
        ],
    ),
    (
        " Pod/status",
        r#"{"status":{"resourceClaimStatuses":[{"name":"a"}],"nodeAllocatableResourceClaimStatuses":[{"name":"b"}]}}"#,
        r#"{"status":{"resourceClaimStatuses":[],"nodeAllocatableResourceClaimStatuses":null}}"#,
        &[
            "status.resourceClaimStatuses!",
            r#"status.nodeAllocatableResourceClaimStatuses=[{"name":"b"}]"#,
        ],
    ),
    (
        " Pod/status",
        r#"{"metadata":{"generation":1,"ownerReferences":[1]},"spec":{"a":1},"status":{"qosClass":"Burstable","conditions":[{"type":"Ready","observedGeneration":4}]}}"#,
        r#"{"metadata":{"deletionTimestamp":"x","labels":{"a":"b"}},"spec":{},"status":{"phase":"Running","conditions":[{"type":"Ready"},{"type":"Ready"}]}}"#,
        &[
            "metadata.deletionTimestamp!",
            "metadata.ownerReferences=[1]",
            r#"metadata.labels={"a":"b"}"#,
            "spec.a=1",
            r#"status.qosClass="Burstable""#,
            "status.conditions.0.observedGeneration=4",
            "status.conditions.1.observedGeneration!",
        ],
    ),
    (
        " Pod/status",
        r#"{"metadata":{"deletionTimestamp":"x"},"spec":{},"status":{}}"#,
        r#"{"metadata":{"deletionTimestamp":"x"},"spec":{},"status":{"phase":"Failed"}}"#,
        &[
            r#"metadata.deletionTimestamp="x""#,
            r#"status.phase="Failed""#,
        ],
    ),
    (
        " Pod/ephemeralcontainers",
        r#"{"metadata":{"generation":1,"labels":{"a":"b"}},"spec":{"a":1},"status":{"b":1}}"#,
        r#"{"metadata":{},"spec":{"a":2,"ephemeralContainers":[{"name":"e"}]},"status":{}}"#,
        &[
            "metadata.generation=2",
            r#"metadata.labels={"a":"b"}"#,
            "spec.a=1",
            r#"spec.ephemeralContainers.0.name="e""#,
            "status.b=1",
        ],
    ),
    (
        " Pod/resize",
        r#"{"metadata":{"generation":1},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}]}}"#,
        r#"{"metadata":{},"spec":{"x":1,"containers":[{"name":"c","image":"j","resources":{"limits":{"cpu":"2"}}}]}}"#,
        &[
            "metadata.generation=2",
            "spec.x!",
            r#"spec.containers.0.image="i""#,
            r#"spec.containers.0.resources.limits.cpu="2""#,
        ],
    ),
    (
        " Namespace/",
        r#"{"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}}"#,
        r#"{"spec":{},"status":{"phase":"x"}}"#,
        &[
            r#"spec.finalizers=["kubernetes"]"#,
            r#"status.phase="Active""#,
        ],
    ),
    (
        " Namespace/finalize",
        r#"{"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Terminating"}}"#,
        r#"{"spec":{"finalizers":[]},"status":{}}"#,
        &["spec.finalizers=[]", r#"status.phase="Terminating""#],
    ),
    (
        " Secret/",
        r#"{"type":"x"}"#,
        r#"{"stringData":{"a":"b"}}"#,
        &[r#"type="x""#, r#"data.a="Yg==""#, "stringData!"],
    ),
    (
        " Service/",
        r#"{"spec":{"type":"LoadBalancer","clusterIP":"1.1.1.1","clusterIPs":["1.1.1.1"],"ports":[{"nodePort":30000}],"externalTrafficPolicy":"Local","healthCheckNodePort":31000,"allocateLoadBalancerNodePorts":true},"status":{"loadBalancer":{"ingress":[{}]}}}"#,
        r#"{"spec":{"type":"ClusterIP","clusterIP":"1.1.1.1","clusterIPs":["1.1.1.1"],"ports":[{"nodePort":30000}],"externalTrafficPolicy":"Local","healthCheckNodePort":31000,"allocateLoadBalancerNodePorts":true}}"#,
        &[
            r#"spec={"type":"ClusterIP","clusterIP":"1.1.1.1","clusterIPs":["1.1.1.1"],"ports":[{}]}"#,
            "status.loadBalancer={}",
        ],
    ),
    (
        " Service/",
        r#"{"spec":{"type":"ClusterIP","clusterIP":"1.1.1.1","clusterIPs":["1.1.1.1"],"ipFamilies":["IPv4"]}}"#,
        r#"{"spec":{"type":"ExternalName","clusterIP":"1.1.1.1","clusterIPs":["1.1.1.1"],"ipFamilies":["IPv6"]}}"#,
        &[
            "spec.clusterIP!",
            "spec.clusterIPs!",
            r#"spec.ipFamilies=["IPv6"]"#,
        ],
    ),
    (
        " Service/",
        r#"{"spec":{"type":"NodePort","ports":[{"nodePort":30000}]}}"#,
        r#"{"spec":{"type":"ClusterIP","ports":[{"nodePort":30001}]}}"#,
        &["spec.ports.0.nodePort=30001"],
    ),
    (
        " PersistentVolume/status",
        r#"{"status":{"phase":"Pending","lastPhaseTransitionTime":"old"}}"#,
        r#"{"status":{"phase":"Bound","lastPhaseTransitionTime":"old"}}"#,
        &[r#"status.lastPhaseTransitionTime="2026-01-01T00:00:00Z""#],
    ),
    (
        " PersistentVolume/status",
        r#"{"status":{"phase":"Bound","lastPhaseTransitionTime":"old"}}"#,
        r#"{"status":{"phase":"Bound"}}"#,
        &[r#"status.lastPhaseTransitionTime="old""#],
    ),
    (
        "certificates.k8s.io CertificateSigningRequest/",
        r#"{"spec":{"a":1},"status":{"b":1}}"#,
        r#"{"spec":{"a":2},"status":{}}"#,
        &["spec.a=1", "status.b=1"],
    ),
    (
        "certificates.k8s.io CertificateSigningRequest/approval",
        r#"{"spec":{"a":1},"status":{"certificate":"c"}}"#,
        r#"{"spec":{"a":2},"status":{"conditions":[{"type":"Approved","status":"True"}]}}"#,
        &[
            "spec.a=1",
            r#"status.certificate="c""#,
            r#"status.conditions.0.lastUpdateTime="2026-01-01T00:00:00Z""#,
        ],
    ),
    (
        "certificates.k8s.io CertificateSigningRequest/status",
        r#"{"status":{"conditions":[{"type":"Approved","status":"True","reason":"r","lastTransitionTime":"t","lastUpdateTime":"t"}]}}"#,
        r#"{"status":{"certificate":"c","conditions":[{"type":"Approved","status":"True","reason":"other"}]}}"#,
        &[
            r#"status.conditions.0.reason="r""#,
            r#"status.certificate="c""#,
        ],
    ),
    (
        "discovery.k8s.io EndpointSlice/",
        r#"{"metadata":{"generation":1},"endpoints":[1]}"#,
        r#"{"metadata":{"annotations":{"a":"b"}},"endpoints":[1]}"#,
        &["metadata.generation=1"],
    ),
    (
        "discovery.k8s.io EndpointSlice/",
        r#"{"metadata":{"generation":1},"endpoints":[1]}"#,
        r#"{"metadata":{"labels":{"a":"b"}},"endpoints":[1]}"#,
        &["metadata.generation=2"],
    ),
    (
        "flowcontrol.apiserver.k8s.io FlowSchema/status",
        r#"{"metadata":{"name":"a","generation":2,"annotations":{"a":"b"}},"spec":{"a":1}}"#,
        r#"{"metadata":{"name":"a","managedFields":[1]},"spec":{},"status":{"c":1}}"#,
        &[
            r#"metadata.annotations={"a":"b"}"#,
            "metadata.managedFields=[1]",
            "spec.a=1",
            "status.c=1",
            "metadata.generation=2",
        ],
    ),
    (
        "apiextensions.k8s.io CustomResourceDefinition/",
        r#"{"metadata":{"generation":1},"spec":{"versions":[{"name":"v1","storage":true}]},"status":{"storedVersions":["v1"]}}"#,
        r#"{"metadata":{},"spec":{"versions":[{"name":"v1"},{"name":"v2","storage":true}]}}"#,
        &[
            "metadata.generation=2",
            r#"status.storedVersions=["v1","v2"]"#,
        ],
    ),
];
