//! Upstream's tables of cases, as rows: group/version, kind, what comes, and what must be found in the result.

use json::{Value, parse};

use super::apply;

/// `group/version Kind`, the object, then parts of the result: `path=json`, or `path!` for what must not be there.
const CASES: &[(&str, &str, &[&str])] = &[
    // Pods.
    (
        "v1 Pod",
        r#"{"spec":{"containers":[{"name":"a","image":"nginx"}],"volumes":[{"name":"v"}]}}"#,
        &[
            r#"spec.dnsPolicy="ClusterFirst""#,
            r#"spec.restartPolicy="Always""#,
            "spec.securityContext={}",
            "spec.terminationGracePeriodSeconds=30",
            r#"spec.schedulerName="default-scheduler""#,
            "spec.enableServiceLinks=true",
            r#"spec.containers.0={"name":"a","image":"nginx","imagePullPolicy":"Always","terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","resources":{}}"#,
            r#"spec.volumes.0={"name":"v","emptyDir":{}}"#,
            "status={}",
            "spec.serviceAccountName!",
        ],
    ),
    (
        "v1 Pod",
        r#"{"spec":{"terminationGracePeriodSeconds":-5,"serviceAccount":"x","hostNetwork":true,
            "containers":[{"ports":[{"containerPort":80},{"containerPort":81,"hostPort":9,"protocol":"UDP"}],"image":"a:1"}],
            "initContainers":[{"ports":[{"containerPort":7}]}]}}"#,
        &[
            "spec.terminationGracePeriodSeconds=1",
            r#"spec.serviceAccountName="x""#,
            r#"spec.serviceAccount="x""#,
            r#"spec.containers.0.ports=[{"containerPort":80,"hostPort":80,"protocol":"TCP"},{"containerPort":81,"hostPort":9,"protocol":"UDP"}]"#,
            "spec.initContainers.0.ports.0.hostPort=7",
            r#"spec.containers.0.imagePullPolicy="IfNotPresent""#,
            r#"spec.initContainers.0.imagePullPolicy="IfNotPresent""#,
        ],
    ),
    (
        "v1 Pod",
        r#"{"spec":{"serviceAccountName":"new","serviceAccount":"old"}}"#,
        &[r#"spec.serviceAccount="new""#],
    ),
    (
        "v1 Pod",
        r#"{"spec":{"containers":[{"resources":{"limits":{"cpu":"0.0005","memory":"2048Mi"},"requests":{"memory":"100m"}}}],
            "initContainers":[{"resources":{"limits":{"cpu":1}}}],"overhead":{"cpu":"1000m"}}}"#,
        &[
            r#"spec.containers.0.resources={"limits":{"cpu":"1m","memory":"2Gi"},"requests":{"memory":"100m","cpu":"1m"}}"#,
            r#"spec.initContainers.0.resources.requests={"cpu":"1"}"#,
            r#"spec.overhead.cpu="1""#,
        ],
    ),
    (
        "v1 Pod",
        r#"{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":80}},"readinessProbe":{"grpc":{"port":1},"periodSeconds":5},
            "lifecycle":{"preStop":{"httpGet":{"path":"/x"}}},
            "env":[{"name":"a","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},
                   {"name":"b","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu"}}},
                   {"name":"c","valueFrom":{"fileKeyRef":{"key":"k"}}}]}]}}"#,
        &[
            r#"spec.containers.0.livenessProbe={"httpGet":{"port":80,"path":"/","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3}"#,
            r#"spec.containers.0.readinessProbe.grpc.service="""#,
            "spec.containers.0.readinessProbe.periodSeconds=5",
            r#"spec.containers.0.lifecycle.preStop.httpGet={"path":"/x","scheme":"HTTP"}"#,
            r#"spec.containers.0.env.0.valueFrom.fieldRef.apiVersion="v1""#,
            r#"spec.containers.0.env.1.valueFrom.resourceFieldRef.divisor="0""#,
            "spec.containers.0.env.2.valueFrom.fileKeyRef.optional=false",
        ],
    ),
    (
        "v1 Pod",
        r#"{"spec":{"volumes":[{"secret":{"secretName":"a"}},{"configMap":{"defaultMode":0}},{"hostPath":{"path":"/"}},
            {"projected":{"sources":[{"serviceAccountToken":{"path":"t"}},{"downwardAPI":{"items":[{"fieldRef":{}}]}}]}},
            {"rbd":{"image":"i"}},{"iscsi":{}},{"azureDisk":{}},{"scaleIO":{}},
            {"ephemeral":{"volumeClaimTemplate":{"spec":{"resources":{"requests":{"storage":"1024Mi"}}}}}},
            {"image":{"reference":"r:latest"}},{"image":{"reference":"r:1"}},{"downwardAPI":{}}]}}"#,
        &[
            "spec.volumes.0.secret.defaultMode=420",
            "spec.volumes.1.configMap.defaultMode=0",
            r#"spec.volumes.2.hostPath.type="""#,
            "spec.volumes.3.projected.defaultMode=420",
            "spec.volumes.3.projected.sources.0.serviceAccountToken.expirationSeconds=3600",
            r#"spec.volumes.3.projected.sources.1.downwardAPI.items.0.fieldRef.apiVersion="v1""#,
            r#"spec.volumes.4.rbd={"image":"i","pool":"rbd","user":"admin","keyring":"/etc/ceph/keyring"}"#,
            r#"spec.volumes.5.iscsi.iscsiInterface="default""#,
            r#"spec.volumes.6.azureDisk={"cachingMode":"ReadWrite","fsType":"ext4","readOnly":false,"kind":"Shared"}"#,
            r#"spec.volumes.7.scaleIO={"storageMode":"ThinProvisioned","fsType":"xfs"}"#,
            r#"spec.volumes.8.ephemeral.volumeClaimTemplate.spec={"resources":{"requests":{"storage":"1Gi"}},"volumeMode":"Filesystem"}"#,
            r#"spec.volumes.9.image.pullPolicy="Always""#,
            r#"spec.volumes.10.image.pullPolicy="IfNotPresent""#,
            "spec.volumes.11.downwardAPI.defaultMode=420",
        ],
    ),
    (
        "v1 Pod",
        r#"{"status":{"podIP":"1.1.1.1"}}"#,
        &[r#"status.podIPs=[{"ip":"1.1.1.1"}]"#],
    ),
    (
        "v1 Pod",
        r#"{"status":{"podIPs":[{"ip":"1.1.1.1"},{"ip":"::1"}]}}"#,
        &[r#"status.podIP="1.1.1.1""#],
    ),
    (
        "v1 Pod",
        r#"{"status":{"podIP":"2.2.2.2","podIPs":[{"ip":"1.1.1.1"},{"ip":"::1"}]}}"#,
        &[r#"status.podIPs=[{"ip":"2.2.2.2"}]"#],
    ),
    (
        "v1 Pod",
        r#"{"status":{"podIP":"1.1.1.1","podIPs":[{"ip":"1.1.1.1"},{"ip":"::1"}]}}"#,
        &[r#"status.podIPs=[{"ip":"1.1.1.1"},{"ip":"::1"}]"#],
    ),
    // A zero is as good as nothing in a plain field, but not behind a pointer.
    (
        "v1 Pod",
        r#"{"spec":{"dnsPolicy":"","restartPolicy":null,"containers":[{"imagePullPolicy":"","livenessProbe":{"periodSeconds":0}}],"volumes":[{"secret":{"defaultMode":0}}]}}"#,
        &[
            r#"spec.dnsPolicy="ClusterFirst""#,
            r#"spec.restartPolicy="Always""#,
            r#"spec.containers.0.imagePullPolicy="IfNotPresent""#,
            "spec.containers.0.livenessProbe.periodSeconds=10",
            "spec.volumes.0.secret.defaultMode=0",
        ],
    ),
    // A template is no pod.
    (
        "apps/v1 Deployment",
        r#"{"spec":{"template":{"spec":{"hostNetwork":true,"containers":[{"ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1"}}}]}}}}"#,
        &[
            "spec.replicas=1",
            r#"spec.strategy={"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}}"#,
            "spec.revisionHistoryLimit=10",
            "spec.progressDeadlineSeconds=600",
            "spec.template.spec.enableServiceLinks!",
            "spec.template.spec.containers.0.ports.0.hostPort!",
            "spec.template.spec.containers.0.resources.requests!",
            r#"spec.template.spec.restartPolicy="Always""#,
        ],
    ),
    (
        "apps/v1 Deployment",
        r#"{"spec":{"replicas":0,"strategy":{"type":"Recreate"}}}"#,
        &["spec.replicas=0", r#"spec.strategy={"type":"Recreate"}"#],
    ),
    ("apps/v1 ReplicaSet", r#"{"spec":{}}"#, &["spec.replicas=1"]),
    (
        "apps/v1 DaemonSet",
        r#"{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":"10%"}}}}"#,
        &[
            r#"spec.updateStrategy={"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1,"maxSurge":"10%"}}"#,
            "spec.revisionHistoryLimit=10",
        ],
    ),
    (
        "apps/v1 StatefulSet",
        r#"{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"a"}}]}}"#,
        &[
            r#"spec.podManagementPolicy="OrderedReady""#,
            r#"spec.updateStrategy={"type":"RollingUpdate","rollingUpdate":{"partition":0,"maxUnavailable":1}}"#,
            r#"spec.persistentVolumeClaimRetentionPolicy={"whenDeleted":"Retain","whenScaled":"Retain"}"#,
            r#"spec.volumeClaimTemplates.0.spec.volumeMode="Filesystem""#,
            r#"spec.volumeClaimTemplates.0.status.phase="Pending""#,
        ],
    ),
    (
        "apps/v1 StatefulSet",
        r#"{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}"#,
        &[r#"spec.updateStrategy={"type":"RollingUpdate"}"#],
    ),
    (
        "apps/v1 StatefulSet",
        r#"{"spec":{"updateStrategy":{"type":"OnDelete"}}}"#,
        &[r#"spec.updateStrategy={"type":"OnDelete"}"#],
    ),
    // Jobs.
    (
        "batch/v1 Job",
        r#"{"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}}"#,
        &[
            "spec.completions=1",
            "spec.parallelism=1",
            "spec.backoffLimit=6",
            r#"spec.completionMode="NonIndexed""#,
            "spec.suspend=false",
            r#"spec.podReplacementPolicy="TerminatingOrFailed""#,
            "spec.manualSelector=false",
            r#"metadata.labels={"a":"b"}"#,
        ],
    ),
    (
        "batch/v1 Job",
        r#"{"metadata":{"labels":{"c":"d"}},"spec":{"parallelism":0,"backoffLimitPerIndex":1,
            "podFailurePolicy":{"rules":[{"onPodConditions":[{"type":"X"}]}]},"template":{"metadata":{"labels":{"a":"b"}}}}}"#,
        &[
            "spec.completions!",
            "spec.parallelism=0",
            "spec.backoffLimit=2147483647",
            r#"spec.podReplacementPolicy="Failed""#,
            r#"spec.podFailurePolicy.rules.0.onPodConditions.0.status="True""#,
            r#"metadata.labels={"c":"d"}"#,
        ],
    ),
    (
        "batch/v1 CronJob",
        r#"{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"image":"a"}]}}}}}}"#,
        &[
            r#"spec.concurrencyPolicy="Allow""#,
            "spec.suspend=false",
            "spec.successfulJobsHistoryLimit=3",
            "spec.failedJobsHistoryLimit=1",
            r#"spec.jobTemplate.spec.template.spec.containers.0.imagePullPolicy="Always""#,
            "spec.jobTemplate.spec.backoffLimit!",
        ],
    ),
    // Other core kinds.
    (
        "v1 ReplicationController",
        r#"{"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}}"#,
        &[
            "spec.replicas=1",
            r#"spec.selector={"a":"b"}"#,
            r#"metadata.labels={"a":"b"}"#,
        ],
    ),
    (
        "v1 ReplicationController",
        r#"{"metadata":{"labels":{"x":"y"}},"spec":{"selector":{"s":"t"},"template":{"metadata":{"labels":{"a":"b"}}}}}"#,
        &[r#"spec.selector={"s":"t"}"#, r#"metadata.labels={"x":"y"}"#],
    ),
    (
        "v1 Service",
        r#"{"spec":{"sessionAffinityConfig":{"clientIP":{"timeoutSeconds":5}},"ports":[{"port":80},{"port":81,"targetPort":""},{"port":82,"targetPort":"web","protocol":"UDP"}]}}"#,
        &[
            r#"spec.sessionAffinity="None""#,
            "spec.sessionAffinityConfig!",
            r#"spec.type="ClusterIP""#,
            r#"spec.ports=[{"port":80,"targetPort":80,"protocol":"TCP"},{"port":81,"targetPort":81,"protocol":"TCP"},{"port":82,"targetPort":"web","protocol":"UDP"}]"#,
            r#"spec.internalTrafficPolicy="Cluster""#,
            "spec.externalTrafficPolicy!",
            "status.loadBalancer={}",
        ],
    ),
    (
        "v1 Service",
        r#"{"spec":{"type":"LoadBalancer","sessionAffinity":"ClientIP"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"},{"hostname":"x"}]}}}"#,
        &[
            "spec.sessionAffinityConfig.clientIP.timeoutSeconds=10800",
            r#"spec.externalTrafficPolicy="Cluster""#,
            "spec.allocateLoadBalancerNodePorts=true",
            r#"status.loadBalancer.ingress=[{"ip":"1.2.3.4","ipMode":"VIP"},{"hostname":"x"}]"#,
        ],
    ),
    (
        "v1 Service",
        r#"{"spec":{"type":"ExternalName"}}"#,
        &["spec.internalTrafficPolicy!"],
    ),
    (
        "v1 Service",
        r#"{"spec":{"externalIPs":["1.2.3.4"]}}"#,
        &[r#"spec.externalTrafficPolicy="Cluster""#],
    ),
    (
        "v1 Endpoints",
        r#"{"subsets":[{"ports":[{"port":1}]}]}"#,
        &[r#"subsets.0.ports.0.protocol="TCP""#],
    ),
    (
        "v1 Namespace",
        r#"{"metadata":{"name":"x"}}"#,
        &[
            r#"metadata.labels={"kubernetes.io/metadata.name":"x"}"#,
            r#"status.phase="Active""#,
            "spec={}",
        ],
    ),
    (
        "v1 Namespace",
        r#"{"metadata":{"generateName":"x"}}"#,
        &["metadata.labels!"],
    ),
    ("v1 Secret", r#"{"data":{}}"#, &[r#"type="Opaque""#]),
    (
        "v1 Node",
        r#"{"status":{"capacity":{"cpu":"1000m"}}}"#,
        &[
            r#"status.allocatable={"cpu":"1"}"#,
            r#"status.capacity={"cpu":"1"}"#,
        ],
    ),
    (
        "v1 PersistentVolume",
        r#"{"spec":{"hostPath":{}}}"#,
        &[
            r#"spec.persistentVolumeReclaimPolicy="Retain""#,
            r#"spec.volumeMode="Filesystem""#,
            r#"spec.hostPath.type="""#,
            r#"status.phase="Pending""#,
        ],
    ),
    (
        "v1 PersistentVolumeClaim",
        r#"{"spec":{"volumeMode":"Block"}}"#,
        &[
            r#"spec={"volumeMode":"Block","resources":{}}"#,
            r#"status={"phase":"Pending"}"#,
        ],
    ),
    (
        "v1 LimitRange",
        r#"{"spec":{"limits":[{"type":"Container","max":{"cpu":"100m","memory":"100M"},"min":{"cpu":"1m","pods":"2"},"default":{"cpu":"50m"},"defaultRequest":{}},{"type":"Pod","max":{"cpu":"1"}}]}}"#,
        &[
            r#"spec.limits.0.default={"cpu":"50m","memory":"100M"}"#,
            r#"spec.limits.0.defaultRequest={"cpu":"50m","memory":"100M","pods":"2"}"#,
            "spec.limits.1.default!",
        ],
    ),
    // The other groups.
    (
        "autoscaling/v2 HorizontalPodAutoscaler",
        r#"{"spec":{"behavior":{"scaleDown":{"policies":[{"type":"Pods","value":1,"periodSeconds":2}]}}}}"#,
        &[
            "spec.minReplicas=1",
            r#"spec.metrics=[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]"#,
            r#"spec.behavior.scaleUp={"stabilizationWindowSeconds":0,"selectPolicy":"Max","policies":[{"type":"Pods","value":4,"periodSeconds":15},{"type":"Percent","value":100,"periodSeconds":15}]}"#,
            r#"spec.behavior.scaleDown={"selectPolicy":"Max","policies":[{"type":"Pods","value":1,"periodSeconds":2}]}"#,
        ],
    ),
    (
        "autoscaling/v2 HorizontalPodAutoscaler",
        r#"{"spec":{}}"#,
        &["spec.behavior!"],
    ),
    (
        "autoscaling/v1 HorizontalPodAutoscaler",
        r#"{"spec":{}}"#,
        &["spec.minReplicas=1", "spec.metrics!"],
    ),
    (
        "discovery.k8s.io/v1 EndpointSlice",
        r#"{"ports":[{"port":80}]}"#,
        &[r#"ports.0={"port":80,"name":"","protocol":"TCP"}"#],
    ),
    (
        "networking.k8s.io/v1 NetworkPolicy",
        r#"{"spec":{"egress":[]}}"#,
        &[r#"spec.policyTypes=["Ingress"]"#],
    ),
    (
        "networking.k8s.io/v1 NetworkPolicy",
        r#"{"spec":{"egress":[{}],"ingress":[{"ports":[{"port":1}]}]}}"#,
        &[
            r#"spec.policyTypes=["Ingress","Egress"]"#,
            r#"spec.ingress.0.ports.0.protocol="TCP""#,
        ],
    ),
    (
        "networking.k8s.io/v1 IngressClass",
        r#"{"spec":{"parameters":{"kind":"k"}}}"#,
        &[r#"spec.parameters.scope="Cluster""#],
    ),
    (
        "storage.k8s.io/v1 StorageClass",
        "{}",
        &[
            r#"reclaimPolicy="Delete""#,
            r#"volumeBindingMode="Immediate""#,
        ],
    ),
    (
        "storage.k8s.io/v1 CSIDriver",
        r#"{"spec":{"attachRequired":false}}"#,
        &[
            r#"spec={"attachRequired":false,"podInfoOnMount":false,"storageCapacity":false,"fsGroupPolicy":"ReadWriteOnceWithFSType","volumeLifecycleModes":["Persistent"],"requiresRepublish":false,"seLinuxMount":false,"preventPodSchedulingIfMissing":false}"#,
        ],
    ),
    (
        "rbac.authorization.k8s.io/v1 RoleBinding",
        r#"{"subjects":[{"kind":"User","name":"u"},{"kind":"ServiceAccount","name":"s"},{"kind":"Group","apiGroup":"x"}],"roleRef":{"kind":"Role"}}"#,
        &[
            r#"subjects.0.apiGroup="rbac.authorization.k8s.io""#,
            "subjects.1.apiGroup!",
            r#"subjects.2.apiGroup="x""#,
            r#"roleRef.apiGroup="rbac.authorization.k8s.io""#,
        ],
    ),
    (
        "scheduling.k8s.io/v1 PriorityClass",
        "{}",
        &[r#"preemptionPolicy="PreemptLowerPriority""#],
    ),
    (
        "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration",
        r#"{"spec":{"limited":{"nominalConcurrencyShares":0,"limitResponse":{"queuing":{}}}}}"#,
        &[
            r#"spec.limited={"nominalConcurrencyShares":0,"lendablePercent":0,"limitResponse":{"queuing":{"handSize":8,"queues":64,"queueLengthLimit":50}}}"#,
        ],
    ),
    (
        "flowcontrol.apiserver.k8s.io/v1 FlowSchema",
        "{}",
        &["spec.matchingPrecedence=1000"],
    ),
    (
        "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration",
        r#"{"webhooks":[{"clientConfig":{"service":{}},"rules":[{}]}]}"#,
        &[
            r#"webhooks.0={"clientConfig":{"service":{"port":443}},"rules":[{"scope":"*"}],"failurePolicy":"Fail","matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},"timeoutSeconds":10,"reinvocationPolicy":"Never"}"#,
        ],
    ),
    (
        "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy",
        r#"{"spec":{"matchConstraints":{"resourceRules":[{}]}}}"#,
        &[
            r#"spec.failurePolicy="Fail""#,
            r#"spec.matchConstraints={"resourceRules":[{"scope":"*"}],"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{}}"#,
        ],
    ),
    (
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        r#"{"spec":{"names":{"kind":"FooBar"},"versions":[{"name":"v1"},{"name":"v2","storage":true}]}}"#,
        &[
            r#"spec.names={"kind":"FooBar","singular":"foobar","listKind":"FooBarList"}"#,
            r#"spec.conversion={"strategy":"None"}"#,
            r#"status.storedVersions=["v2"]"#,
        ],
    ),
    (
        "apiregistration.k8s.io/v1 APIService",
        r#"{"spec":{"service":{}}}"#,
        &["spec.service.port=443"],
    ),
    (
        "resource.k8s.io/v1 ResourceClaim",
        r#"{"spec":{"devices":{"requests":[{"exactly":{"tolerations":[{}]}},{"exactly":{"allocationMode":"All"}},{"firstAvailable":[{}]}]}}}"#,
        &[
            r#"spec.devices.requests.0.exactly={"allocationMode":"ExactCount","count":1,"tolerations":[{"operator":"Equal"}]}"#,
            r#"spec.devices.requests.1.exactly={"allocationMode":"All"}"#,
            r#"spec.devices.requests.2.firstAvailable.0={"allocationMode":"ExactCount","count":1}"#,
        ],
    ),
    (
        "resource.k8s.io/v1beta1 ResourceClaim",
        r#"{"spec":{"devices":{"requests":[{"deviceClassName":"c"},{"firstAvailable":[{}]}]}}}"#,
        &[
            "spec.devices.requests.0.count=1",
            "spec.devices.requests.1.count!",
            "spec.devices.requests.1.firstAvailable.0.count=1",
        ],
    ),
    // What is no object anywhere is left to validation.
    (
        "v1 Pod",
        r#"{"spec":"x","status":[],"metadata":5}"#,
        &[r#"spec="x""#],
    ),
    (
        "apps/v1 Deployment",
        r#"{"spec":{"template":[1],"strategy":null}}"#,
        &["spec.template=[1]"],
    ),
];

fn find<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => value.get(key),
    })
}

#[test]
fn defaults_of_upstream_tables() {
    for (kind, object, expected) in CASES {
        let (api, kind) = kind.split_once(' ').unwrap();
        let (group, version) = api.split_once('/').unwrap_or(("", api));
        let mut value = parse(object.as_bytes()).unwrap();
        apply(group, version, kind, &mut value);
        for part in *expected {
            if let Some(path) = part.strip_suffix('!') {
                assert_eq!(find(&value, path), None, "{kind} {object}: {path}");
            } else {
                let (path, wanted) = part.split_once('=').unwrap();
                let wanted = parse(wanted.as_bytes()).unwrap();
                assert_eq!(
                    find(&value, path),
                    Some(&wanted),
                    "{kind} {object}: {path}\n{value}"
                );
            }
        }
        let once = value.clone();
        apply(group, version, kind, &mut value);
        assert_eq!(value, once, "{kind} {object} is defaulted twice");
    }
}

#[test]
fn a_taint_is_stamped_once() {
    let mut value =
        parse(br#"{"spec":{"devices":[{"taints":[{"key":"a"},{"timeAdded":"x"}]}]}}"#).unwrap();
    super::stamp(
        "resource.k8s.io",
        "ResourceSlice",
        &mut value,
        "2026-01-01T00:00:00Z",
    );
    super::stamp(
        "resource.k8s.io",
        "ResourceSlice",
        &mut value,
        "2027-01-01T00:00:00Z",
    );
    let taints = find(&value, "spec.devices.0.taints").unwrap().to_string();
    assert_eq!(
        taints,
        r#"[{"key":"a","timeAdded":"2026-01-01T00:00:00Z"},{"timeAdded":"x"}]"#
    );
}
