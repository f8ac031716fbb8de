//! Upstream's tables of printed rows.

mod pods;

use json::{Value, parse};
use meta::time::Time;

use super::{Custom, definitions, row, row_conditions, rows};

/// 2026-01-01T00:00:00Z
fn now() -> Time {
    Time::from_unix(1_767_225_600, 0)
}

/// `group/version Kind`, the object, its cells as JSON without the brackets.
const CASES: &[(&str, &str, &str)] = &[
    (
        "v1 Event",
        r#"{"metadata":{"name":"event1"},"source":{"component":"kubelet"},"involvedObject":{"kind":"Pod","name":"Pod Name","fieldPath":"spec.containers{foo}"},
            "reason":"Event Reason","message":"Message Data ","firstTimestamp":"2025-12-29T00:00:00Z","lastTimestamp":"2025-12-30T00:00:00Z","count":6,"type":"Warning"}"#,
        r#""2d","Warning","Event Reason","pod/Pod Name","spec.containers{foo}","kubelet","Message Data","3d",6,"event1""#,
    ),
    (
        "v1 Event",
        r#"{"metadata":{"name":"event2"},"source":{"component":"kubelet","host":"Node1"},"involvedObject":{"kind":"Deployment"},"eventTime":"2025-12-30T00:00:00.000000Z","reportingComponent":"x"}"#,
        r#""2d","","","deployment","","kubelet, Node1","","2d",1,"event2""#,
    ),
    (
        "v1 Event",
        r#"{"involvedObject":{"kind":"Pod"},"eventTime":"2025-12-30T00:00:00.000000Z","series":{"count":5,"lastObservedTime":"2025-12-31T23:59:00.000000Z"},"reportingComponent":"c","reportingInstance":"i"}"#,
        r#""60s","","","pod","","c, i","","2d",5,"""#,
    ),
    (
        "events.k8s.io/v1 Event",
        r#"{"metadata":{"name":"e"},"regarding":{"kind":"Pod","name":"p"},"note":"n","eventTime":"2025-12-31T23:59:30.000000Z","reportingController":"c","reportingInstance":"i","type":"Normal"}"#,
        r#""30s","Normal","","pod/p","","c, i","n","30s",1,"e""#,
    ),
    (
        "v1 Namespace",
        r#"{"metadata":{"name":"x","creationTimestamp":"2025-12-22T00:00:00Z"},"status":{"phase":"Active"}}"#,
        r#""x","Active","10d""#,
    ),
    (
        "v1 Namespace",
        r#"{"metadata":{"name":"x"},"status":{"phase":"Terminating"}}"#,
        r#""x","Terminating","<unknown>""#,
    ),
    (
        "v1 Secret",
        r#"{"metadata":{"name":"s"},"type":"kubernetes.io/tls","data":{"a":"","b":""}}"#,
        r#""s","kubernetes.io/tls",2,"<unknown>""#,
    ),
    (
        "v1 ConfigMap",
        r#"{"metadata":{"name":"c"},"data":{"a":""},"binaryData":{"b":"","c":""}}"#,
        r#""c",3,"<unknown>""#,
    ),
    (
        "v1 ServiceAccount",
        r#"{"metadata":{"name":"a"}}"#,
        r#""a","<unknown>""#,
    ),
    (
        "v1 Node",
        r#"{"metadata":{"name":"n","labels":{"node-role.kubernetes.io/master":"","node-role.kubernetes.io":"","kubernetes.io/role":"worker","node-role.kubernetes.io/":""}},
            "spec":{"unschedulable":true},
            "status":{"conditions":[{"type":"Ready","status":"True"}],"addresses":[{"type":"ExternalIP","address":"1.1.1.1"},{"type":"InternalIP","address":"2.2.2.2"}],
            "nodeInfo":{"kubeletVersion":"v1.37.0","osImage":"os","kernelVersion":"6","architecture":"amd64","containerRuntimeVersion":"cr"}}}"#,
        r#""n","Ready,SchedulingDisabled","master,worker","<unknown>","v1.37.0","2.2.2.2","1.1.1.1","os","6 (amd64)","cr""#,
    ),
    (
        "v1 Node",
        r#"{"metadata":{"name":"n"},"status":{"conditions":[{"type":"Ready","status":"False"}]}}"#,
        r#""n","NotReady","<none>","<unknown>","","<none>","<none>","<unknown>","<unknown>","<unknown>""#,
    ),
    (
        "v1 Node",
        r#"{"metadata":{"name":"n"},"spec":{"unschedulable":true}}"#,
        r#""n","Unknown,SchedulingDisabled","<none>","<unknown>","","<none>","<none>","<unknown>","<unknown>","<unknown>""#,
    ),
    // Services.
    (
        "v1 Service",
        r#"{"metadata":{"name":"a"},"spec":{"type":"ClusterIP","clusterIPs":["1.2.3.4","::"],"ports":[{"port":2233,"protocol":"tcp"}],"selector":{"b":"c","a":"b"}}}"#,
        r#""a","ClusterIP","1.2.3.4","<none>","2233/tcp","<unknown>","a=b,b=c""#,
    ),
    (
        "v1 Service",
        r#"{"metadata":{"name":"a"},"spec":{"type":"NodePort","clusterIPs":["1.2.3.4"],"externalIPs":["9.9.9.9"],"ports":[{"port":8888,"nodePort":9999,"protocol":"tcp"},{"port":1,"protocol":"UDP"}]}}"#,
        r#""a","NodePort","1.2.3.4","9.9.9.9","8888:9999/tcp,1/UDP","<unknown>","<none>""#,
    ),
    (
        "v1 Service",
        r#"{"metadata":{"name":"a"},"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{}}}"#,
        r#""a","LoadBalancer","<none>","<pending>","<none>","<unknown>","<none>""#,
    ),
    (
        "v1 Service",
        r#"{"metadata":{"name":"a"},"spec":{"type":"LoadBalancer","clusterIPs":["None"],"externalIPs":["3.4.5.6"]},"status":{"loadBalancer":{"ingress":[{"ip":"2.3.4.5"},{"hostname":"host.example.very.long.name"},{"ip":"2.3.4.5"}]}}}"#,
        r#""a","LoadBalancer","None","2.3.4.5,host.example.very.long.name,3.4.5.6","<none>","<unknown>","<none>""#,
    ),
    (
        "v1 Service",
        r#"{"metadata":{"name":"a"},"spec":{"type":"ExternalName","externalName":"my.database"}}"#,
        r#""a","ExternalName","<none>","my.database","<none>","<unknown>","<none>""#,
    ),
    (
        "v1 Endpoints",
        r#"{"metadata":{"name":"e"}}"#,
        r#""e","<none>","<unknown>""#,
    ),
    (
        "v1 Endpoints",
        r#"{"metadata":{"name":"e"},"subsets":[{"addresses":[{"ip":"1.2.3.4"},{"ip":"::1"}],"ports":[{"port":8001},{"port":8002}]}]}"#,
        r#""e","1.2.3.4:8001,[::1]:8001,1.2.3.4:8002 + 1 more...","<unknown>""#,
    ),
    (
        "v1 Endpoints",
        r#"{"metadata":{"name":"e"},"subsets":[{"addresses":[{"ip":"1.2.3.4"},{"ip":"5.6.7.8"}]}]}"#,
        r#""e","1.2.3.4,5.6.7.8","<unknown>""#,
    ),
    (
        "discovery.k8s.io/v1 EndpointSlice",
        r#"{"metadata":{"name":"abcslice.123"},"addressType":"IPv4","ports":[{"port":80,"name":"http"},{"name":"x"},{},{"port":1},{"port":2}],
            "endpoints":[{"addresses":["10.1.2.3","2001:db8::1234:5678"]},{"addresses":["10.2.3.4","10.2.3.5"]}]}"#,
        r#""abcslice.123","IPv4","80,x,* + 2 more...","10.1.2.3,2001:db8::1234:5678,10.2.3.4 + 1 more...","<unknown>""#,
    ),
    (
        "discovery.k8s.io/v1 EndpointSlice",
        r#"{"metadata":{"name":"e"},"addressType":"IPv4"}"#,
        r#""e","IPv4","<unset>","<unset>","<unknown>""#,
    ),
    (
        "networking.k8s.io/v1 Ingress",
        r#"{"metadata":{"name":"i","creationTimestamp":"2025-12-22T00:00:00Z"},"spec":{"ingressClassName":"foo","tls":[{}],"rules":[{"host":"a"},{"host":"b"},{"host":"c"},{"host":"d"}]},"status":{"loadBalancer":{"ingress":[{"ip":"2.3.4.5"},{"hostname":"localhost.localdomain"}]}}}"#,
        r#""i","foo","a,b,c + 1 more...","2.3.4.5,localhost.localdomain","80, 443","10d""#,
    ),
    (
        "networking.k8s.io/v1 Ingress",
        r#"{"metadata":{"name":"i"},"spec":{"rules":[{}]}}"#,
        r#""i","<none>","*","","80","<unknown>""#,
    ),
    (
        "networking.k8s.io/v1 IngressClass",
        r#"{"metadata":{"name":"c","annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}},"spec":{"controller":"example.com/controller","parameters":{"kind":"customgroup","name":"example","apiGroup":"g"}}}"#,
        r#""c (default)","example.com/controller","customgroup.g/example","<unknown>""#,
    ),
    (
        "networking.k8s.io/v1 NetworkPolicy",
        r#"{"metadata":{"name":"p"},"spec":{"podSelector":{}}}"#,
        r#""p","<none>","<unknown>""#,
    ),
    (
        "networking.k8s.io/v1 NetworkPolicy",
        r#"{"metadata":{"name":"p"},"spec":{"podSelector":{"matchLabels":{"foo":"bar"},"matchExpressions":[{"key":"a","operator":"In","values":["z","y"]},{"key":"b","operator":"DoesNotExist"}]}}}"#,
        r#""p","a in (y,z),!b,foo=bar","<unknown>""#,
    ),
    (
        "networking.k8s.io/v1 IPAddress",
        r#"{"metadata":{"name":"1.2.3.4"},"spec":{"parentRef":{"resource":"services","namespace":"ns","name":"s","group":"mygroup"}}}"#,
        r#""1.2.3.4","services.mygroup/ns/s","<unknown>""#,
    ),
    (
        "networking.k8s.io/v1 ServiceCIDR",
        r#"{"metadata":{"name":"s"},"spec":{"cidrs":["a","b"]}}"#,
        r#""s","a,b","<unknown>""#,
    ),
    // Workloads.
    (
        "apps/v1 Deployment",
        r#"{"metadata":{"name":"d"},"spec":{"replicas":5,"selector":{"matchLabels":{"foo":"bar"}},"template":{"spec":{"containers":[{"name":"fake-container1","image":"fake-image1"},{"name":"fake-container2","image":"fake-image2"}]}}},"status":{"updatedReplicas":2,"availableReplicas":1,"readyReplicas":4}}"#,
        r#""d","4/5",2,1,"<unknown>","fake-container1,fake-container2","fake-image1,fake-image2","foo=bar""#,
    ),
    (
        "apps/v1 Deployment",
        r#"{"metadata":{"name":"d"},"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Nope"}]}}}"#,
        r#""d","0/0",0,0,"<unknown>","","","<invalid>""#,
    ),
    (
        "apps/v1 ReplicaSet",
        r#"{"metadata":{"name":"r"},"spec":{"replicas":5,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}},"selector":{"matchLabels":{"foo":"bar"}}},"status":{"replicas":5,"readyReplicas":2}}"#,
        r#""r",5,5,2,"<unknown>","c","i","foo=bar""#,
    ),
    (
        "v1 ReplicationController",
        r#"{"metadata":{"name":"r"},"spec":{"replicas":5,"selector":{"a":"b"}},"status":{"replicas":4,"readyReplicas":2}}"#,
        r#""r",5,4,2,"<unknown>","","","a=b""#,
    ),
    (
        "apps/v1 StatefulSet",
        r#"{"metadata":{"name":"s"},"spec":{"replicas":5,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}},"status":{"readyReplicas":2}}"#,
        r#""s","2/5","<unknown>","c","i""#,
    ),
    (
        "apps/v1 DaemonSet",
        r#"{"metadata":{"name":"d"},"spec":{"selector":{},"template":{"spec":{"nodeSelector":{"a":"b"},"containers":[{"name":"c","image":"i"}]}}},"status":{"currentNumberScheduled":2,"desiredNumberScheduled":3,"numberReady":1,"updatedNumberScheduled":2,"numberAvailable":0}}"#,
        r#""d",3,2,1,2,0,"a=b","<unknown>","c","i","<none>""#,
    ),
    (
        "batch/v1 Job",
        r#"{"metadata":{"name":"j"},"spec":{"completions":2},"status":{"succeeded":1,"startTime":"2025-12-31T23:58:50Z"}}"#,
        r#""j","Running","1/2","70s","<unknown>","","","<none>""#,
    ),
    (
        "batch/v1 Job",
        r#"{"metadata":{"name":"j"},"spec":{"parallelism":20},"status":{"startTime":"2025-12-31T00:00:00Z","completionTime":"2025-12-31T00:33:20Z","conditions":[{"type":"Complete","status":"True"}]}}"#,
        r#""j","Complete","0/1 of 20","33m","<unknown>","","","<none>""#,
    ),
    (
        "batch/v1 Job",
        r#"{"metadata":{"name":"j","deletionTimestamp":"x"},"status":{"conditions":[{"type":"Suspended","status":"True"}]}}"#,
        r#""j","Terminating","0/1","","<unknown>","","","<none>""#,
    ),
    (
        "batch/v1 Job",
        r#"{"metadata":{"name":"j"},"status":{"conditions":[{"type":"FailureTarget","status":"True"},{"type":"Failed","status":"False"}]}}"#,
        r#""j","FailureTarget","0/1","","<unknown>","","","<none>""#,
    ),
    (
        "batch/v1 Job",
        r#"{"metadata":{"name":"j"},"spec":{"parallelism":1}}"#,
        r#""j","Running","0/1","","<unknown>","","","<none>""#,
    ),
    (
        "batch/v1 CronJob",
        r#"{"metadata":{"name":"c"},"spec":{"schedule":"0/5 * * * ?","suspend":false,"jobTemplate":{"spec":{"selector":{"matchLabels":{"a":"b"}}}}},"status":{"lastScheduleTime":"2025-12-22T00:00:00Z","active":[{}]}}"#,
        r#""c","0/5 * * * ?","<none>","False",1,"10d","<unknown>","","","a=b""#,
    ),
    (
        "batch/v1 CronJob",
        r#"{"metadata":{"name":"c"},"spec":{"schedule":"s","timeZone":"Fake/Time"}}"#,
        r#""c","s","Fake/Time","<unset>",0,"<none>","<unknown>","","","<none>""#,
    ),
    (
        "apps/v1 ControllerRevision",
        r#"{"metadata":{"name":"r","ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"foo","controller":true}]},"revision":3}"#,
        r#""r","daemonset.apps/foo",3,"<unknown>""#,
    ),
    (
        "policy/v1 PodDisruptionBudget",
        r#"{"metadata":{"name":"p"},"spec":{"minAvailable":22},"status":{"disruptionsAllowed":5}}"#,
        r#""p","22","N/A",5,"<unknown>""#,
    ),
    (
        "policy/v1 PodDisruptionBudget",
        r#"{"metadata":{"name":"p"},"spec":{"maxUnavailable":"20%"}}"#,
        r#""p","N/A","20%",0,"<unknown>""#,
    ),
    (
        "v1 PodTemplate",
        r#"{"metadata":{"name":"t"},"template":{"metadata":{"labels":{"foo":"bar"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}"#,
        r#""t","c","i","foo=bar""#,
    ),
    // Autoscalers.
    (
        "autoscaling/v2 HorizontalPodAutoscaler",
        r#"{"metadata":{"name":"h"},"spec":{"scaleTargetRef":{"name":"some-rc","kind":"ReplicationController"},"minReplicas":2,"maxReplicas":10},"status":{"currentReplicas":4}}"#,
        r#""h","ReplicationController/some-rc","<none>","2",10,4,"<unknown>""#,
    ),
    (
        "autoscaling/v2 HorizontalPodAutoscaler",
        r#"{"metadata":{"name":"h"},"spec":{"scaleTargetRef":{"name":"r","kind":"K"},"maxReplicas":10,"metrics":[
            {"type":"Resource","resource":{"name":"cpu","target":{"averageUtilization":80}}},{"type":"Pods","pods":{"target":{"averageValue":"100m"}}},{"type":"Object"},{"type":"Object"}]},
            "status":{"currentMetrics":[{"type":"Resource","resource":{"current":{"averageUtilization":50}}}]}}"#,
        r#""h","K/r","cpu: 50%/80%, <unknown>/100m + 2 more...","<unset>",10,0,"<unknown>""#,
    ),
    (
        "autoscaling/v2 HorizontalPodAutoscaler",
        r#"{"metadata":{"name":"h"},"spec":{"scaleTargetRef":{"name":"r","kind":"K"},"metrics":[
            {"type":"External","external":{"target":{"averageValue":"100"}}},{"type":"Object","object":{"target":{"value":"100m"}}}]},
            "status":{"currentMetrics":[{"type":"External","external":{"current":{"averageValue":"0.05"}}},{"type":"Object","object":{"current":{"value":"50m"}}}]}}"#,
        r#""h","K/r","50m/100 (avg), 50m/100m","<unset>",0,0,"<unknown>""#,
    ),
    (
        "autoscaling/v2 HorizontalPodAutoscaler",
        r#"{"metadata":{"name":"h"},"spec":{"scaleTargetRef":{"name":"r","kind":"K"},"metrics":[
            {"type":"Resource","resource":{"name":"cpu","target":{}}},{"type":"ContainerResource","containerResource":{"name":"memory","target":{"averageValue":"1Gi"}}}]}}"#,
        r#""h","K/r","cpu: <unknown>/<auto>, memory: <unknown>/1Gi","<unset>",0,0,"<unknown>""#,
    ),
    (
        "autoscaling/v1 HorizontalPodAutoscaler",
        r#"{"metadata":{"name":"h"},"spec":{"scaleTargetRef":{"name":"r","kind":"K"},"minReplicas":1,"maxReplicas":3,"targetCPUUtilizationPercentage":70},"status":{"currentCPUUtilizationPercentage":20}}"#,
        r#""h","K/r","cpu: 20%/70%","1",3,0,"<unknown>""#,
    ),
    (
        "autoscaling/v1 Scale",
        r#"{"metadata":{"name":"s"},"spec":{"replicas":2},"status":{"replicas":1}}"#,
        r#""s",2,1,"<unknown>""#,
    ),
    // Storage.
    (
        "v1 PersistentVolume",
        r#"{"metadata":{"name":"p"},"spec":{"accessModes":["ReadOnlyMany"],"capacity":{"storage":"4Gi"},"claimRef":{"name":"test","namespace":"default"},"persistentVolumeReclaimPolicy":"Retain","storageClassName":"my-scn","volumeMode":"Filesystem"},"status":{"phase":"Bound"}}"#,
        r#""p","4Gi","ROX","Retain","Bound","default/test","my-scn","<unset>","","<unknown>","Filesystem""#,
    ),
    (
        "v1 PersistentVolumeClaim",
        r#"{"metadata":{"name":"p"},"spec":{"volumeName":"my-volume","storageClassName":"c","volumeMode":"Block"},"status":{"phase":"Lost","accessModes":["ReadWriteOnce","ReadWriteOncePod","ReadWriteOnce"],"capacity":{"storage":"4Gi"}}}"#,
        r#""p","Lost","my-volume","4Gi","RWO,RWOP","c","<unset>","<unknown>","Block""#,
    ),
    (
        "v1 PersistentVolumeClaim",
        r#"{"metadata":{"name":"p","deletionTimestamp":"x","annotations":{"volume.beta.kubernetes.io/storage-class":"old"}},"spec":{"volumeAttributesClassName":"v"},"status":{"phase":"Pending"}}"#,
        r#""p","Terminating","","","","old","v","<unknown>","<unset>""#,
    ),
    (
        "storage.k8s.io/v1 StorageClass",
        r#"{"metadata":{"name":"s"},"provisioner":"p"}"#,
        r#""s","p","Delete","Immediate",false,"<unknown>""#,
    ),
    (
        "storage.k8s.io/v1 CSIDriver",
        r#"{"metadata":{"name":"d"},"spec":{"tokenRequests":[{"audience":"a"},{"audience":"b"}],"volumeLifecycleModes":["Persistent"]}}"#,
        r#""d",true,false,false,"a,b",false,"Persistent","<unknown>""#,
    ),
    (
        "storage.k8s.io/v1 VolumeAttachment",
        r#"{"metadata":{"name":"v"},"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"p"}},"status":{"attached":true}}"#,
        r#""v","a","p","n",true,"<unknown>""#,
    ),
    (
        "storage.k8s.io/v1 CSIStorageCapacity",
        r#"{"metadata":{"name":"c","creationTimestamp":"2025-12-22T00:00:00Z"}}"#,
        r#""c","2025-12-22T00:00:00Z""#,
    ),
    // The rest.
    (
        "rbac.authorization.k8s.io/v1 Role",
        r#"{"metadata":{"name":"r","creationTimestamp":"2025-12-22T00:00:00Z"}}"#,
        r#""r","2025-12-22T00:00:00Z""#,
    ),
    (
        "rbac.authorization.k8s.io/v1 RoleBinding",
        r#"{"metadata":{"name":"b"},"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u1"},{"kind":"User","name":"u2"},{"kind":"Group","name":"g"},{"kind":"ServiceAccount","namespace":"ns","name":"s"}]}"#,
        r#""b","Role/r","<unknown>","u1, u2","g","ns/s""#,
    ),
    (
        "certificates.k8s.io/v1 CertificateSigningRequest",
        r#"{"metadata":{"name":"c"},"spec":{"username":"u","signerName":"s","expirationSeconds":7230},"status":{"conditions":[{"type":"Approved"}],"certificate":"Y2VydA=="}}"#,
        r#""c","<unknown>","s","u","120m","Approved,Issued""#,
    ),
    (
        "certificates.k8s.io/v1 CertificateSigningRequest",
        r#"{"metadata":{"name":"c"},"spec":{},"status":{"conditions":[{"type":"Denied"},{"type":"Failed"}]}}"#,
        r#""c","<unknown>","<none>","","<none>","Denied,Failed""#,
    ),
    (
        "scheduling.k8s.io/v1 PriorityClass",
        r#"{"metadata":{"name":"p"},"value":1,"preemptionPolicy":"Never"}"#,
        r#""p",1,false,"<unknown>","Never""#,
    ),
    (
        "coordination.k8s.io/v1 Lease",
        r#"{"metadata":{"name":"l"},"spec":{"holderIdentity":"holder"}}"#,
        r#""l","holder","<unknown>""#,
    ),
    (
        "flowcontrol.apiserver.k8s.io/v1 FlowSchema",
        r#"{"metadata":{"name":"f"},"spec":{"priorityLevelConfiguration":{"name":"system"},"matchingPrecedence":1500,"distinguisherMethod":{"type":"ByUser"}},"status":{"conditions":[{"type":"Dangling","status":"True"}]}}"#,
        r#""f","system",1500,"ByUser","<unknown>","True""#,
    ),
    (
        "flowcontrol.apiserver.k8s.io/v1 FlowSchema",
        r#"{"metadata":{"name":"f"},"spec":{"matchingPrecedence":1}}"#,
        r#""f","",1,"<none>","<unknown>","?""#,
    ),
    (
        "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration",
        r#"{"metadata":{"name":"p"},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":47,"limitResponse":{"queuing":{"queues":8,"handSize":3,"queueLengthLimit":4}}}}}"#,
        r#""p","Limited",47,8,3,4,"<unknown>""#,
    ),
    (
        "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration",
        r#"{"metadata":{"name":"p"},"spec":{"type":"Exempt"}}"#,
        r#""p","Exempt","<none>","<none>","<none>","<none>","<unknown>""#,
    ),
    (
        "v1 ResourceQuota",
        r#"{"metadata":{"name":"q"},"status":{"hard":{"limits.cpu":"2","requests.storage":"2G","pods":"3"},"used":{"limits.cpu":"1"}}}"#,
        r#""q","pods: 0/3, requests.storage: 0/2G","limits.cpu: 1/2","<unknown>""#,
    ),
    (
        "resource.k8s.io/v1 ResourceClaim",
        r#"{"metadata":{"name":"r","deletionTimestamp":"x"},"status":{"allocation":{},"reservedFor":[{}]}}"#,
        r#""r","deleted,allocated,reserved","<unknown>""#,
    ),
    (
        "resource.k8s.io/v1 ResourceClaim",
        r#"{"metadata":{"name":"r"}}"#,
        r#""r","pending","<unknown>""#,
    ),
    (
        "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding",
        r#"{"metadata":{"name":"b"},"spec":{"policyName":"p","paramRef":{"name":"n"}}}"#,
        r#""b","p","*/n","<unknown>""#,
    ),
    (
        "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding",
        r#"{"metadata":{"name":"b"},"spec":{"policyName":"p","paramRef":{"selector":{"matchLabels":{"a":"b"}}}}}"#,
        r#""b","p","&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}","<unknown>""#,
    ),
    (
        "apiregistration.k8s.io/v1 APIService",
        r#"{"metadata":{"name":"v1.x"},"spec":{"service":{"namespace":"n","name":"s"}},"status":{"conditions":[{"type":"Available","status":"False","reason":"MissingEndpoints"}]}}"#,
        r#""v1.x","n/s","False (MissingEndpoints)","<unknown>""#,
    ),
    (
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        r#"{"metadata":{"name":"a.b","creationTimestamp":"2025-12-22T00:00:00Z"},"spec":{"group":"b","scope":"Namespaced","names":{"kind":"A","shortNames":["x","y"]},"versions":[{"name":"v2","served":true},{"name":"v1","served":true,"storage":true},{"name":"v0"}]},"status":{"conditions":[{"type":"Established","status":"True"}]}}"#,
        r#""a.b","Namespaced","v1(storage),v2","2025-12-22T00:00:00Z","b","A","x,y",true"#,
    ),
    (
        "lifecycle.k8s.io/v1alpha1 Eviction",
        r#"{"metadata":{"name":"e"},"spec":{"target":{"pod":{"name":"p"}}},"status":{"observedGeneration":1,
            "targetResponders":[{"name":"a","state":"Completed"},{"name":"b","state":"Active"},{"name":"c","state":"Inactive"}],
            "responders":[{"name":"b","startTime":"2025-12-31T23:59:00Z","expectedCompletionTime":"2026-01-01T00:01:00Z","heartbeatTime":"2025-12-31T23:59:50Z","message":" hi "}],
            "requesters":[{"name":"y","intent":"Eviction"},{"name":"x","intent":"Eviction"},{"name":"w","intent":"Withdrawn"}]}}"#,
        r#""e","p","Pod","Progressing","b (2/3)","Started (60s ago)","in 60s","x + 1 more...","<unknown>","10s ago","hi""#,
    ),
    // What makes no sense is printed as what is not there.
    (
        "v1 Pod",
        "[]",
        r#""","0/0","","0","<unknown>","<none>","<none>","<none>","<none>""#,
    ),
    (
        "v1 Service",
        r#"{"spec":{"ports":[1],"clusterIPs":"x"},"metadata":7}"#,
        r#""","","<none>","<unknown>","0/","<unknown>","<none>""#,
    ),
];

#[test]
fn rows_of_upstream_tables() {
    for (kind, object, cells) in CASES {
        let (api, kind) = kind.split_once(' ').unwrap();
        let (group, version) = api.split_once('/').unwrap_or(("", api));
        let object = parse(object.as_bytes()).unwrap();
        let cells = parse(format!("[{cells}]").as_bytes()).unwrap();
        let found = row(group, version, kind, &object, now());
        assert_eq!(Value::Array(found.clone()), cells, "{kind} {object}");
        let columns = definitions(group, version, kind);
        if kind != "IPAddress" {
            assert_eq!(found.len(), columns.len(), "{kind}");
        }
    }
}

#[test]
fn the_newest_default_class_is_marked() {
    let class = |name: &str, created: &str, default: &str| {
        let text = format!(
            r#"{{"metadata":{{"name":"{name}","creationTimestamp":"{created}","annotations":{{"storageclass.kubernetes.io/is-default-class":"{default}"}}}}}}"#
        );
        parse(text.as_bytes()).unwrap()
    };
    let classes = [
        class("c", "2025-01-01T00:00:00Z", "true"),
        class("b", "2025-06-01T00:00:00Z", "true"),
        class("a", "2025-06-01T00:00:00Z", "true"),
        class("d", "2025-07-01T00:00:00Z", "false"),
    ];
    let names: Vec<_> = rows("storage.k8s.io", "v1", "StorageClass", &classes, now())
        .into_iter()
        .map(|it| it[0].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["c", "b", "a (default)", "d"]);
}

#[test]
fn custom_columns() {
    let columns = parse(
        br#"[{"name":"Replicas","type":"integer","jsonPath":".spec.replicas"},
             {"name":"Size","type":"number","jsonPath":".spec.size"},
             {"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type==\"Ready\")].status","priority":1,"description":"d"},
             {"name":"On","type":"boolean","jsonPath":".spec.on"},
             {"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"},
             {"name":"Map","type":"string","jsonPath":".spec.map"},
             {"name":"Bad","type":"date","jsonPath":".spec.bad"},
             {"name":"None","type":"string","jsonPath":".spec.none"}]"#,
    )
    .unwrap();
    let custom = Custom::new(columns.as_array().unwrap()).unwrap();
    let object = parse(
        br#"{"metadata":{"name":"x","creationTimestamp":"2025-12-22T00:00:00Z"},"spec":{"replicas":2.9,"size":3,"on":"yes","map":{"b":1,"a":[true]},"bad":"soon"},
            "status":{"conditions":[{"type":"Ready","status":"True"}]}}"#,
    )
    .unwrap();
    let expected = br#"["x",2,3,"True",null,"10d","{\"a\":[true],\"b\":1}","<invalid>",null]"#;
    assert_eq!(
        Value::Array(custom.row(&object, now())),
        parse(expected).unwrap()
    );
    let ready = &custom.definitions()[3];
    assert_eq!(
        ready.to_value().to_string(),
        r#"{"name":"Ready","type":"string","format":"","description":"d","priority":1}"#
    );
    let age = Custom::new(&[]).unwrap();
    assert_eq!(
        Value::Array(age.row(&object, now())).to_string(),
        r#"["x","10d"]"#
    );
    let broken = parse(br#"[{"name":"x","jsonPath":".a["}]"#).unwrap();
    assert!(Custom::new(broken.as_array().unwrap()).is_err());
}

#[test]
fn done_pods_say_so() {
    let pod = parse(br#"{"status":{"phase":"Failed"}}"#).unwrap();
    let found = Value::Array(row_conditions("", "Pod", &pod)).to_string();
    assert_eq!(
        found,
        r#"[{"type":"Completed","status":"True","reason":"Failed","message":"The pod failed."}]"#
    );
    assert!(row_conditions("", "Job", &pod).is_empty());
}
