//! Which kind shows what.

mod machinery;
mod make;
mod objects;
mod pods;

use json::Value;

use super::Column;
use super::{cluster, core, device, network, pod, scaling, storage, workload};
use crate::clock::Now;

use machinery::{
    API_SERVICE, ATTACHMENT, COMPOSITE_POD_GROUP, CONTROLLER_REVISION, CSI_DRIVER, CSI_NODE,
    DEFINITION, ENDPOINT_SLICE, EVICTION, EVICTION_REQUEST, FLOW_SCHEMA, IP_ADDRESS, MIGRATION,
    MUTATING_POLICY, POD_GROUP, POLICY_BINDING, POOL_STATUS, PRIORITY_CLASS, PRIORITY_LEVEL,
    RESOURCE_CLAIM, RESOURCE_QUOTA, RESOURCE_SLICE, RUNTIME_CLASS, SCALE, SERVICE_CIDR, STATUS,
    STORAGE_VERSION, TAINT_RULE, VALIDATING_POLICY, WEBHOOKS,
};
use make::PLAIN;
pub(super) use make::{DEFAULT, NAME};
use objects::{
    ATTRIBUTES_CLASS, AUTOSCALER, CLAIM, COMPONENT_STATUS, CONFIG_MAP, DEPLOYMENT, LEASE,
    LEASE_CANDIDATE, NAMESPACE, NETWORK_POLICY, POD_CERTIFICATE, ROLE_BINDING, SECRET,
    SIGNING_REQUEST, STORAGE_CLASS, TRUST_BUNDLE, VOLUME,
};
use pods::{
    CRON_JOB, DAEMON_SET, DISRUPTION_BUDGET, ENDPOINTS, EVENT, INGRESS, INGRESS_CLASS, JOB, NODE,
    POD, POD_TEMPLATE, REPLICAS, SERVICE, STATEFUL_SET,
};

type Cells = fn(&Value, Now) -> Vec<Value>;

/// One arm per kind; the compiler makes it a search tree.
pub(super) fn find(group: &str, kind: &str) -> Option<(&'static [Column], Cells)> {
    let found: (&'static [Column], Cells) = match (group, kind) {
        ("", "Pod") => (POD, pod::pod),
        ("", "PodTemplate") => (POD_TEMPLATE, pod::template),
        ("", "ReplicationController") => (REPLICAS, workload::replication_controller),
        ("", "Service") => (SERVICE, network::service),
        ("", "Endpoints") => (ENDPOINTS, network::endpoints),
        ("", "Node") => (NODE, core::node),
        ("" | "events.k8s.io", "Event") => (EVENT, core::event),
        ("", "Namespace") => (NAMESPACE, core::namespace),
        ("", "Secret") => (SECRET, core::secret),
        ("", "ConfigMap") => (CONFIG_MAP, core::config_map),
        ("", "PersistentVolume") => (VOLUME, storage::volume),
        ("", "PersistentVolumeClaim") => (CLAIM, storage::claim),
        ("", "ComponentStatus") => (COMPONENT_STATUS, core::component_status),
        ("", "ResourceQuota") => (RESOURCE_QUOTA, core::resource_quota),
        ("", "Status") => (STATUS, core::status),
        ("apps", "Deployment") => (DEPLOYMENT, workload::deployment),
        ("apps", "ReplicaSet") => (REPLICAS, workload::replica_set),
        ("apps", "StatefulSet") => (STATEFUL_SET, workload::stateful_set),
        ("apps", "DaemonSet") => (DAEMON_SET, workload::daemon_set),
        ("apps", "ControllerRevision") => (CONTROLLER_REVISION, workload::controller_revision),
        ("batch", "Job") => (JOB, workload::job),
        ("batch", "CronJob") => (CRON_JOB, workload::cron_job),
        ("autoscaling", "HorizontalPodAutoscaler") => (AUTOSCALER, scaling::autoscaler),
        ("autoscaling", "Scale") => (SCALE, workload::scale),
        ("policy", "PodDisruptionBudget") => (DISRUPTION_BUDGET, workload::disruption_budget),
        ("discovery.k8s.io", "EndpointSlice") => (ENDPOINT_SLICE, network::endpoint_slice),
        ("networking.k8s.io", "Ingress") => (INGRESS, network::ingress),
        ("networking.k8s.io", "IngressClass") => (INGRESS_CLASS, network::ingress_class),
        ("networking.k8s.io", "NetworkPolicy") => (NETWORK_POLICY, network::network_policy),
        ("networking.k8s.io", "ServiceCIDR") => (SERVICE_CIDR, network::service_cidr),
        ("networking.k8s.io", "IPAddress") => (IP_ADDRESS, network::ip_address),
        ("storage.k8s.io", "StorageClass") => (STORAGE_CLASS, storage::storage_class),
        ("storage.k8s.io", "VolumeAttributesClass") => {
            (ATTRIBUTES_CLASS, storage::attributes_class)
        }
        ("storage.k8s.io", "VolumeAttachment") => (ATTACHMENT, storage::attachment),
        ("storage.k8s.io", "CSINode") => (CSI_NODE, storage::csi_node),
        ("storage.k8s.io", "CSIDriver") => (CSI_DRIVER, storage::csi_driver),
        ("coordination.k8s.io", "Lease") => (LEASE, core::lease),
        ("coordination.k8s.io", "LeaseCandidate") => (LEASE_CANDIDATE, core::lease_candidate),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            (ROLE_BINDING, cluster::role_binding)
        }
        ("certificates.k8s.io", "CertificateSigningRequest") => {
            (SIGNING_REQUEST, cluster::signing_request)
        }
        ("certificates.k8s.io", "ClusterTrustBundle") => (TRUST_BUNDLE, cluster::trust_bundle),
        ("certificates.k8s.io", "PodCertificateRequest") => {
            (POD_CERTIFICATE, cluster::pod_certificate_request)
        }
        ("scheduling.k8s.io", "PriorityClass") => (PRIORITY_CLASS, workload::priority_class),
        ("scheduling.k8s.io", "PodGroup") => (POD_GROUP, workload::pod_group),
        ("scheduling.k8s.io", "CompositePodGroup") => {
            (COMPOSITE_POD_GROUP, workload::composite_pod_group)
        }
        ("node.k8s.io", "RuntimeClass") => (RUNTIME_CLASS, core::runtime_class),
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
        ) => (WEBHOOKS, core::webhooks),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy") => {
            (VALIDATING_POLICY, cluster::validating_policy)
        }
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy") => {
            (MUTATING_POLICY, cluster::mutating_policy)
        }
        (
            "admissionregistration.k8s.io",
            "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding",
        ) => (POLICY_BINDING, cluster::policy_binding),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema") => (FLOW_SCHEMA, cluster::flow_schema),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration") => {
            (PRIORITY_LEVEL, cluster::priority_level)
        }
        ("internal.apiserver.k8s.io", "StorageVersion") => {
            (STORAGE_VERSION, cluster::storage_version)
        }
        ("storagemigration.k8s.io", "StorageVersionMigration") => (MIGRATION, cluster::migration),
        ("", "ServiceAccount")
        | ("scheduling.k8s.io", "Workload")
        | ("resource.k8s.io", "DeviceClass" | "ResourceClaimTemplate") => (PLAIN, core::plain),
        ("resource.k8s.io", "ResourceClaim") => (RESOURCE_CLAIM, device::resource_claim),
        ("resource.k8s.io", "ResourceSlice") => (RESOURCE_SLICE, device::resource_slice),
        ("resource.k8s.io", "ResourcePoolStatusRequest") => {
            (POOL_STATUS, device::pool_status_request)
        }
        ("resource.k8s.io", "DeviceTaintRule") => (TAINT_RULE, device::taint_rule),
        ("lifecycle.k8s.io", "EvictionRequest") => (EVICTION_REQUEST, device::eviction_request),
        ("lifecycle.k8s.io", "Eviction") => (EVICTION, device::eviction),
        ("apiregistration.k8s.io", "APIService") => (API_SERVICE, cluster::api_service),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => (DEFINITION, cluster::definition),
        _ => return None,
    };
    Some(found)
}
