//! For each row of the table of fields whose type is part of a served kind: an object that uses the field.

use features::GatedField;

/// A use of a field.
#[derive(Debug)]
pub(crate) struct Use {
    pub type_name: &'static str,
    pub field: &'static str,
    pub kind: &'static str,
    /// Where the field is.
    pub at: &'static str,
    pub value: &'static str,
    /// What must be there as well: set before it.
    pub with: &'static [(&'static str, &'static str)],
    /// Whether this is a value of an enum.
    pub is_value: bool,
    /// Whether validation refuses what is left without the field.
    pub is_only_member: bool,
}

impl Use {
    const fn new(
        type_name: &'static str,
        field: &'static str,
        kind: &'static str,
        at: &'static str,
        value: &'static str,
    ) -> Self {
        Self {
            type_name,
            field,
            kind,
            at,
            value,
            with: &[],
            is_value: false,
            is_only_member: false,
        }
    }

    const fn with(mut self, with: &'static [(&'static str, &'static str)]) -> Self {
        self.with = with;
        self
    }

    const fn of_enum(mut self) -> Self {
        self.is_value = true;
        self
    }

    const fn only_member(mut self) -> Self {
        self.is_only_member = true;
        self
    }

    /// What is set, in order.
    pub(crate) fn values(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let this = (!self.is_value).then_some((self.at, self.value));
        self.with.iter().copied().chain(this)
    }

    /// The type whose schema has the field: some are only parts of others.
    pub(crate) fn published_type(&self) -> &'static str {
        match self.type_name {
            "StatefulSetUpdateStrategyType" => "StatefulSetUpdateStrategy",
            other => other,
        }
    }

    /// Whether another field of the object has the same name.
    pub(crate) fn is_elsewhere(&self) -> bool {
        matches!(
            self.field,
            "image" | "resources" | "devices" | "nodeName" | "allNodes" | "nodeSelector" | "user"
        )
    }
}

/// Whether an object of a kind that is served may have what a row is about. Options of requests and lists are no part of
/// objects; what ephemeral containers share with others, they may not have.
pub(crate) fn is_served(row: &GatedField) -> bool {
    let packages = [
        "apiextensions/v1",
        "apps/v1",
        "autoscaling/v2",
        "batch/v1",
        "coordination/v1",
        "core/v1",
        "resource/v1",
        "storage/v1",
    ];
    let others = ["EphemeralContainerCommon", "PodLogOptions"];
    packages.contains(&row.package) && !others.contains(&row.type_name)
}

const CONTAINER_STATUS: (&str, &str) = (
    "/status/containerStatuses",
    r#"[{"name":"c","ready":true,"restartCount":0,"image":"i","imageID":"x","state":{"running":{}}}]"#,
);
const ALLOCATION: (&str, &str) = (
    "/status/allocation",
    r#"{"devices":{"results":[{"request":"r","driver":"d.example.com","pool":"p","device":"dev"}]}}"#,
);
const DEVICES: (&str, &str) = (
    "/status/devices",
    r#"[{"driver":"d.example.com","pool":"p","device":"dev"}]"#,
);
const FIRST_AVAILABLE: (&str, &str) = (
    "/spec/devices/requests/0",
    r#"{"name":"r","firstAvailable":[{"name":"s","deviceClassName":"c"}]}"#,
);
const NO_DEVICES: (&str, &str) = ("/spec/devices", "[]");
const NO_NODE: (&str, &str) = ("/spec/nodeName", "null");
const PER_DEVICE: (&str, &str) = ("/spec/perDeviceNodeSelection", "true");
const TOLERATIONS: &str = r#"[{"key":"k","operator":"Exists","effect":"NoSchedule"}]"#;

#[rustfmt::skip]
pub(crate) const USES: &[Use] = &[
    Use::new("StatefulSetUpdateStrategyType", "Recreate", "StatefulSet", "/spec/updateStrategy/type", "").with(&[("/spec/updateStrategy", r#"{"type":"Recreate"}"#)]).of_enum(),
    Use::new("RollingUpdateStatefulSetStrategy", "maxUnavailable", "StatefulSet", "/spec/updateStrategy/rollingUpdate/maxUnavailable", "2").with(&[("/spec/updateStrategy", r#"{"type":"RollingUpdate"}"#)]),
    Use::new("HPAScalingRules", "tolerance", "HorizontalPodAutoscaler", "/spec/behavior/scaleUp/tolerance", r#""100m""#),
    Use::new("JobSpec", "scheduling", "Job", "/spec/scheduling", r#"{"schedulingPolicy":{"basic":{}}}"#),
    Use::new("LeaseSpec", "strategy", "Lease", "/spec/strategy", r#""OldestEmulationVersion""#),
    Use::new("LeaseSpec", "preferredHolder", "Lease", "/spec/preferredHolder", r#""h""#).with(&[("/spec/strategy", r#""OldestEmulationVersion""#)]),
    Use::new("PersistentVolumeSpec", "volumeAttributesClassName", "PersistentVolume", "/spec/volumeAttributesClassName", r#""gold""#),
    Use::new("PersistentVolumeClaimSpec", "volumeAttributesClassName", "PersistentVolumeClaim", "/spec/volumeAttributesClassName", r#""gold""#),
    Use::new("TypedObjectReference", "namespace", "PersistentVolumeClaim", "/spec/dataSourceRef/namespace", r#""other""#).with(&[("/spec/dataSourceRef", r#"{"apiGroup":"example.com","kind":"Source","name":"s"}"#)]),
    Use::new("PersistentVolumeClaimStatus", "currentVolumeAttributesClassName", "PersistentVolumeClaim", "/status/currentVolumeAttributesClassName", r#""gold""#),
    Use::new("PersistentVolumeClaimStatus", "modifyVolumeStatus", "PersistentVolumeClaim", "/status/modifyVolumeStatus", r#"{"status":"Pending","targetVolumeAttributesClassName":"gold"}"#),
    Use::new("PersistentVolumeClaimStatus", "healthStatus", "PersistentVolumeClaim", "/status/healthStatus", r#"{"lastTransitionTime":"2026-01-01T00:00:00Z"}"#),
    Use::new("EmptyDirVolumeSource", "mode", "Pod", "/spec/volumes/0/emptyDir/mode", "511"),
    Use::new("SecretVolumeSource", "defaultUser", "Pod", "/spec/volumes/1/secret/defaultUser", "7"),
    Use::new("KeyToPath", "user", "Pod", "/spec/volumes/1/secret/items/0/user", "7"),
    Use::new("ConfigMapVolumeSource", "defaultUser", "Pod", "/spec/volumes/2/configMap/defaultUser", "7"),
    Use::new("DownwardAPIVolumeSource", "defaultUser", "Pod", "/spec/volumes/3/downwardAPI/defaultUser", "7"),
    Use::new("DownwardAPIVolumeFile", "user", "Pod", "/spec/volumes/3/downwardAPI/items/0/user", "7"),
    Use::new("ProjectedVolumeSource", "defaultUser", "Pod", "/spec/volumes/4/projected/defaultUser", "7"),
    Use::new("ServiceAccountTokenProjection", "user", "Pod", "/spec/volumes/4/projected/sources/0/serviceAccountToken/user", "7"),
    Use::new("ClusterTrustBundleProjection", "user", "Pod", "/spec/volumes/4/projected/sources/1/clusterTrustBundle/user", "7"),
    Use::new("PodCertificateProjection", "user", "Pod", "/spec/volumes/4/projected/sources/2/podCertificate/user", "7"),
    Use::new("VolumeProjection", "clusterTrustBundle", "Pod", "/spec/volumes/4/projected/sources/1/clusterTrustBundle", r#"{"name":"b","path":"q"}"#),
    Use::new("VolumeMount", "bindMountOptions", "Pod", "/spec/containers/0/volumeMounts/0/bindMountOptions", r#"["noexec"]"#),
    Use::new("EnvVarSource", "fileKeyRef", "Pod", "/spec/containers/0/env/0/valueFrom/fileKeyRef", r#"{"volumeName":"empty","path":"p","key":"K","optional":false}"#).with(&[("/spec/containers/0/env/0", r#"{"name":"A"}"#)]).only_member(),
    Use::new("HTTPGetAction", "protocol", "Pod", "/spec/containers/0/livenessProbe/httpGet/protocol", r#""HTTP2""#),
    Use::new("GRPCAction", "mode", "Pod", "/spec/containers/0/readinessProbe/grpc/mode", r#""TLS""#),
    Use::new("PodSpec", "resourceClaims", "Pod", "/spec/resourceClaims", r#"[{"name":"r","resourceClaimName":"c"}]"#),
    Use::new("ResourceRequirements", "claims", "Pod", "/spec/containers/0/resources/claims", r#"[{"name":"r"}]"#).with(&[("/spec/resourceClaims", r#"[{"name":"r","resourceClaimName":"c"}]"#)]),
    Use::new("Container", "resizePolicy", "Pod", "/spec/containers/0/resizePolicy", r#"[{"resourceName":"cpu","restartPolicy":"NotRequired"}]"#),
    Use::new("Container", "restartPolicyRules", "Pod", "/spec/containers/0/restartPolicyRules", r#"[{"action":"Restart","exitCodes":{"operator":"In","values":[1]}}]"#).with(&[("/spec/containers/0/restartPolicy", r#""Never""#)]),
    Use::new("PodSpec", "resources", "Pod", "/spec/resources", r#"{"requests":{"cpu":"2"}}"#),
    Use::new("PodSpec", "hostnameOverride", "Pod", "/spec/hostnameOverride", r#""h""#),
    Use::new("PodSpec", "schedulingGroup", "Pod", "/spec/schedulingGroup", r#"{"podGroupName":"g"}"#),
    Use::new("PodSpec", "evictionResponders", "Pod", "/spec/evictionResponders", r#"[{"name":"r.example.com/x","priority":1}]"#),
    Use::new("PodSecurityContext", "supplementalGroupsPolicy", "Pod", "/spec/securityContext/supplementalGroupsPolicy", r#""Strict""#),
    Use::new("PodSecurityContext", "seLinuxChangePolicy", "Pod", "/spec/securityContext/seLinuxChangePolicy", r#""Recursive""#),
    Use::new("ContainerStatus", "resources", "Pod", "/status/containerStatuses/0/resources", r#"{"requests":{"cpu":"1"}}"#).with(&[CONTAINER_STATUS]),
    Use::new("ContainerStatus", "user", "Pod", "/status/containerStatuses/0/user", r#"{"linux":{"uid":1,"gid":1}}"#).with(&[CONTAINER_STATUS]),
    Use::new("ContainerStatus", "allocatedResourcesStatus", "Pod", "/status/containerStatuses/0/allocatedResourcesStatus", r#"[{"name":"example.com/gpu","resources":[{"resourceID":"x","health":"Healthy"}]}]"#).with(&[("/spec/containers/0/resources", "{}"), CONTAINER_STATUS]),
    Use::new("ContainerStatus", "stopSignal", "Pod", "/status/containerStatuses/0/stopSignal", r#""SIGTERM""#).with(&[CONTAINER_STATUS]),
    Use::new("ResourceHealth", "message", "Pod", "/status/containerStatuses/0/allocatedResourcesStatus/0/resources/0/message", r#""m""#).with(&[CONTAINER_STATUS, ("/status/containerStatuses/0/allocatedResourcesStatus", r#"[{"name":"example.com/gpu","resources":[{"resourceID":"x","health":"Healthy"}]}]"#)]),
    Use::new("VolumeStatus", "image", "Pod", "/status/containerStatuses/0/volumeMounts/0/volumeStatus/image", r#"{"imageRef":"r"}"#).with(&[CONTAINER_STATUS, ("/status/containerStatuses/0/volumeMounts", r#"[{"name":"empty","mountPath":"/e","volumeStatus":{}}]"#)]),
    Use::new("PodStatus", "resize", "Pod", "/status/resize", r#""Proposed""#),
    Use::new("PodStatus", "resourceClaimStatuses", "Pod", "/status/resourceClaimStatuses", r#"[{"name":"r","resourceClaimName":"c"}]"#).with(&[("/spec/resourceClaims", r#"[{"name":"r","resourceClaimTemplateName":"t"}]"#)]),
    Use::new("PodStatus", "extendedResourceClaimStatus", "Pod", "/status/extendedResourceClaimStatus", r#"{"resourceClaimName":"c","requestMappings":[{"containerName":"c","resourceName":"example.com/gpu","requestName":"r"}]}"#),
    Use::new("PodStatus", "allocatedResources", "Pod", "/status/allocatedResources", r#"{"cpu":"1"}"#),
    Use::new("PodStatus", "resources", "Pod", "/status/resources", r#"{"requests":{"cpu":"1"}}"#),
    Use::new("PodStatus", "nodeAllocatableResourceClaimStatuses", "Pod", "/status/nodeAllocatableResourceClaimStatuses", r#"[{"resourceClaimName":"c","mapping":[{"name":"cpu","quantity":"1"}]}]"#),
    Use::new("PodStatus", "volumeHealth", "Pod", "/status/volumeHealth", r#"[{"name":"empty","lastTransitionTime":"2026-01-01T00:00:00Z"}]"#),
    Use::new("NodeSpec", "podPreemptionPolicy", "Node", "/spec/podPreemptionPolicy", r#"{"disableResizePreemption":["a"]}"#),
    Use::new("NodeSystemInfo", "runningInUserNamespace", "Node", "/status/nodeInfo/runningInUserNamespace", "true"),
    Use::new("NodeStatus", "features", "Node", "/status/features", r#"{"supplementalGroupsPolicy":true}"#),
    Use::new("NodeStatus", "declaredFeatures", "Node", "/status/declaredFeatures", r#"["A"]"#),
    Use::new("ResourceSliceSpec", "perDeviceNodeSelection", "ResourceSlice", "/spec/perDeviceNodeSelection", "true").with(&[NO_NODE, ("/spec/devices/0/nodeName", r#""node""#)]).only_member(),
    Use::new("Device", "nodeName", "ResourceSlice", "/spec/devices/0/nodeName", r#""node""#).with(&[NO_NODE, PER_DEVICE]).only_member(),
    Use::new("Device", "allNodes", "ResourceSlice", "/spec/devices/0/allNodes", "true").with(&[NO_NODE, PER_DEVICE]).only_member(),
    Use::new("Device", "nodeSelector", "ResourceSlice", "/spec/devices/0/nodeSelector", r#"{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}"#).with(&[NO_NODE, PER_DEVICE]).only_member(),
    Use::new("ResourceSliceSpec", "sharedCounters", "ResourceSlice", "/spec/sharedCounters", r#"[{"name":"s","counters":{"c":{"value":"1"}}}]"#).with(&[NO_DEVICES]),
    Use::new("ResourceSliceSpec", "partitionTypeAttribute", "ResourceSlice", "/spec/partitionTypeAttribute", r#""d.example.com/t""#),
    Use::new("ResourceSliceSpec", "skipNodeOperations", "ResourceSlice", "/spec/skipNodeOperations", r#"["*"]"#),
    Use::new("Device", "consumesCounters", "ResourceSlice", "/spec/devices/0/consumesCounters", r#"[{"counterSet":"s","counters":{"c":{"value":"1"}}}]"#),
    Use::new("DeviceCounterConsumption", "compatibilityGroups", "ResourceSlice", "/spec/devices/0/consumesCounters/0/compatibilityGroups", r#"["g"]"#).with(&[("/spec/devices/0/consumesCounters", r#"[{"counterSet":"s","counters":{"c":{"value":"1"}}}]"#)]),
    Use::new("Device", "taints", "ResourceSlice", "/spec/devices/0/taints", r#"[{"key":"k","effect":"NoSchedule"}]"#),
    Use::new("Device", "bindsToNode", "ResourceSlice", "/spec/devices/0/bindsToNode", "true"),
    Use::new("Device", "bindingConditions", "ResourceSlice", "/spec/devices/0/bindingConditions", r#"["Ready"]"#).with(&[("/spec/devices/0/bindingFailureConditions", r#"["Failed"]"#)]),
    Use::new("Device", "bindingFailureConditions", "ResourceSlice", "/spec/devices/0/bindingFailureConditions", r#"["Failed"]"#).with(&[("/spec/devices/0/bindingConditions", r#"["Ready"]"#)]),
    Use::new("Device", "allowMultipleAllocations", "ResourceSlice", "/spec/devices/0/allowMultipleAllocations", "true"),
    Use::new("Device", "nodeAllocatableResources", "ResourceSlice", "/spec/devices/0/nodeAllocatableResources", r#"{"cpu":{"mapping":{"deviceMultiplier":"1"}}}"#),
    Use::new("DeviceCapacity", "requestPolicy", "ResourceSlice", "/spec/devices/0/capacity/size/requestPolicy", r#"{"default":"1","validValues":["1"]}"#).with(&[("/spec/devices/0/allowMultipleAllocations", "true")]),
    Use::new("DeviceAttribute", "ints", "ResourceSlice", "/spec/devices/0/attributes/a/ints", "[1]").only_member(),
    Use::new("DeviceAttribute", "bools", "ResourceSlice", "/spec/devices/0/attributes/a/bools", "[true]").only_member(),
    Use::new("DeviceAttribute", "strings", "ResourceSlice", "/spec/devices/0/attributes/a/strings", r#"["s"]"#).only_member(),
    Use::new("DeviceAttribute", "versions", "ResourceSlice", "/spec/devices/0/attributes/a/versions", r#"["1.0.0"]"#).only_member(),
    Use::new("DeviceRequest", "firstAvailable", "ResourceClaim", "/spec/devices/requests/0/firstAvailable", r#"[{"name":"s","deviceClassName":"c"}]"#).with(&[("/spec/devices/requests/0", r#"{"name":"r"}"#)]).only_member(),
    Use::new("ExactDeviceRequest", "adminAccess", "ResourceClaim", "/spec/devices/requests/0/exactly/adminAccess", "true"),
    Use::new("ExactDeviceRequest", "tolerations", "ResourceClaim", "/spec/devices/requests/0/exactly/tolerations", TOLERATIONS),
    Use::new("ExactDeviceRequest", "capacity", "ResourceClaim", "/spec/devices/requests/0/exactly/capacity", r#"{"requests":{"size":"1"}}"#),
    Use::new("ExactDeviceRequest", "derivedAttributes", "ResourceClaim", "/spec/devices/requests/0/exactly/derivedAttributes", r#"[{"name":"example.com/a","expression":"1"}]"#),
    Use::new("DeviceSubRequest", "tolerations", "ResourceClaim", "/spec/devices/requests/0/firstAvailable/0/tolerations", TOLERATIONS).with(&[FIRST_AVAILABLE]),
    Use::new("DeviceSubRequest", "capacity", "ResourceClaim", "/spec/devices/requests/0/firstAvailable/0/capacity", r#"{"requests":{"size":"1"}}"#).with(&[FIRST_AVAILABLE]),
    Use::new("DeviceSubRequest", "derivedAttributes", "ResourceClaim", "/spec/devices/requests/0/firstAvailable/0/derivedAttributes", r#"[{"name":"example.com/a","expression":"1"}]"#).with(&[FIRST_AVAILABLE]),
    Use::new("DeviceConstraint", "distinctAttribute", "ResourceClaim", "/spec/devices/constraints/0/distinctAttribute", r#""example.com/a""#).only_member(),
    Use::new("AllocationResult", "allocationTimestamp", "ResourceClaim", "/status/allocation/allocationTimestamp", r#""2026-01-01T00:00:00Z""#).with(&[ALLOCATION]),
    Use::new("DeviceRequestAllocationResult", "adminAccess", "ResourceClaim", "/status/allocation/devices/results/0/adminAccess", "true").with(&[ALLOCATION]),
    Use::new("DeviceRequestAllocationResult", "tolerations", "ResourceClaim", "/status/allocation/devices/results/0/tolerations", TOLERATIONS).with(&[ALLOCATION]),
    Use::new("DeviceRequestAllocationResult", "bindingConditions", "ResourceClaim", "/status/allocation/devices/results/0/bindingConditions", r#"["Ready"]"#).with(&[ALLOCATION, ("/status/allocation/devices/results/0/bindingFailureConditions", r#"["Failed"]"#)]),
    Use::new("DeviceRequestAllocationResult", "bindingFailureConditions", "ResourceClaim", "/status/allocation/devices/results/0/bindingFailureConditions", r#"["Failed"]"#).with(&[ALLOCATION, ("/status/allocation/devices/results/0/bindingConditions", r#"["Ready"]"#)]),
    Use::new("DeviceRequestAllocationResult", "shareID", "ResourceClaim", "/status/allocation/devices/results/0/shareID", r#""a671734a-e8e5-11e4-8fde-42010af09327""#).with(&[ALLOCATION]),
    Use::new("DeviceRequestAllocationResult", "consumedCapacity", "ResourceClaim", "/status/allocation/devices/results/0/consumedCapacity", r#"{"size":"1"}"#).with(&[ALLOCATION]),
    Use::new("DeviceRequestAllocationResult", "skipNodeOperations", "ResourceClaim", "/status/allocation/devices/results/0/skipNodeOperations", r#"["*"]"#).with(&[ALLOCATION]),
    Use::new("ResourceClaimStatus", "devices", "ResourceClaim", "/status/devices", r#"[{"driver":"d.example.com","pool":"p","device":"dev"}]"#).with(&[ALLOCATION]),
    Use::new("AllocatedDeviceStatus", "shareID", "ResourceClaim", "/status/devices/0/shareID", r#""a671734a-e8e5-11e4-8fde-42010af09327""#).with(&[ALLOCATION, ("/status/allocation/devices/results/0/shareID", r#""a671734a-e8e5-11e4-8fde-42010af09327""#), DEVICES]),
    Use::new("DeviceClassSpec", "extendedResourceName", "DeviceClass", "/spec/extendedResourceName", r#""example.com/gpu""#),
    Use::new("VolumeError", "errorCode", "VolumeAttachment", "/status/attachError/errorCode", "8").with(&[("/status", r#"{"attached":false,"attachError":{"message":"m"}}"#)]),
    Use::new("CSIDriverSpec", "seLinuxMount", "CSIDriver", "/spec/seLinuxMount", "true"),
    Use::new("CSIDriverSpec", "nodeAllocatableUpdatePeriodSeconds", "CSIDriver", "/spec/nodeAllocatableUpdatePeriodSeconds", "60"),
    Use::new("CSIDriverSpec", "serviceAccountTokenInSecrets", "CSIDriver", "/spec/serviceAccountTokenInSecrets", "true").with(&[("/spec/tokenRequests", r#"[{"audience":"a"}]"#)]),
    Use::new("CSIDriverSpec", "preventPodSchedulingIfMissing", "CSIDriver", "/spec/preventPodSchedulingIfMissing", "true"),
    Use::new("CSINodeStatus", "storageHealth", "CSINode", "/status/storageHealth", r#"[{"name":"d.example.com","healthConditions":[{"status":"Healthy","reason":"R"}]}]"#),
    Use::new("CustomResourceDefinitionVersion", "selectableFields", "CustomResourceDefinition", "/spec/versions/0/selectableFields", r#"[{"jsonPath":".spec.a"}]"#),
    Use::new("CustomResourceDefinitionCondition", "observedGeneration", "CustomResourceDefinition", "/status/conditions/0/observedGeneration", "1"),
    Use::new("CustomResourceDefinitionStatus", "observedGeneration", "CustomResourceDefinition", "/status/observedGeneration", "1"),
    Use::new("ValidationRule", "optionalOldSelf", "CustomResourceDefinition", "/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations/0/optionalOldSelf", "true").with(&[("/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations", r#"[{"rule":"!oldSelf.hasValue() || true"}]"#)]).only_member(),
    Use::new("Lifecycle", "stopSignal", "Pod", "/spec/containers/0/lifecycle/stopSignal", r#""SIGUSR1""#).with(&[("/spec/os", r#"{"name":"linux"}"#)]),
];
