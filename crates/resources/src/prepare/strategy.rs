//! The rows: who owns what of each kind.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// The kind has none, or it is a field like any other.
    None,
    /// Dropped on create, kept on update.
    Wiped,
    /// Taken on create, kept on update: nodes register with theirs.
    Taken,
}

/// What of metadata a status update may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meta {
    Free,
    /// All but labels.
    Labels,
    /// Neither labels, annotations, finalizers nor owners.
    Reset,
    /// Nothing but managed fields.
    Whole,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Generation {
    None,
    /// One forever.
    Fixed,
    /// Starts at one and counts when one of these changes.
    Of(&'static [&'static [&'static str]]),
    /// Counts, but does not start.
    UpdateOnly(&'static [&'static [&'static str]]),
    /// Everything but metadata, and the labels.
    AllAndLabels,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Strategy {
    pub(super) status: Status,
    pub(super) metadata: Meta,
    pub(super) generation: Generation,
}

const NONE: Generation = Generation::None;
const SPEC: Generation = Generation::Of(&[&["spec"]]);

const fn row(status: Status, metadata: Meta, generation: Generation) -> Strategy {
    Strategy {
        status,
        metadata,
        generation,
    }
}

pub(super) fn find(group: &str, kind: &str) -> &'static Strategy {
    use Meta::{Free, Labels, Reset, Whole};
    use Status::{None as Plain, Taken, Wiped};
    match (group, kind) {
        ("", "Pod" | "ReplicationController")
        | ("apps", "ReplicaSet" | "StatefulSet" | "DaemonSet")
        | ("batch", "Job" | "CronJob")
        | ("autoscaling", "HorizontalPodAutoscaler")
        | ("policy", "PodDisruptionBudget")
        | ("networking.k8s.io", "Ingress")
        | ("apiextensions.k8s.io", "CustomResourceDefinition") => const { &row(Wiped, Free, SPEC) },
        ("apps", "Deployment") => {
            const {
                &row(
                    Wiped,
                    Labels,
                    Generation::Of(&[&["spec"], &["metadata", "annotations"]]),
                )
            }
        }
        (
            "",
            "Service"
            | "Namespace"
            | "PersistentVolume"
            | "PersistentVolumeClaim"
            | "ResourceQuota",
        )
        | ("certificates.k8s.io", "CertificateSigningRequest") => const { &row(Wiped, Free, NONE) },
        ("", "Node") => const { &row(Taken, Free, NONE) },
        ("", "PodTemplate") => const { &row(Plain, Free, Generation::Of(&[&["template"]])) },
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")
        | ("resource.k8s.io", "DeviceTaintRule")
        | ("lifecycle.k8s.io", "Eviction" | "EvictionRequest") => {
            const { &row(Wiped, Reset, SPEC) }
        }
        (
            "admissionregistration.k8s.io",
            "MutatingAdmissionPolicy"
            | "ValidatingAdmissionPolicyBinding"
            | "MutatingAdmissionPolicyBinding",
        )
        | ("networking.k8s.io", "IngressClass" | "NetworkPolicy")
        | ("resource.k8s.io", "DeviceClass" | "ResourceSlice") => const { &row(Plain, Free, SPEC) },
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
        ) => const { &row(Plain, Free, Generation::Of(&[&["webhooks"]])) },
        ("flowcontrol.apiserver.k8s.io", "FlowSchema" | "PriorityLevelConfiguration") => {
            const { &row(Wiped, Whole, SPEC) }
        }
        ("discovery.k8s.io", "EndpointSlice") => {
            const { &row(Plain, Free, Generation::AllAndLabels) }
        }
        ("storage.k8s.io", "CSIDriver") => {
            const { &row(Plain, Free, Generation::UpdateOnly(&[&["spec"]])) }
        }
        ("storage.k8s.io", "CSINode" | "VolumeAttachment")
        | ("networking.k8s.io", "ServiceCIDR")
        | ("resource.k8s.io", "ResourceClaim" | "ResourcePoolStatusRequest")
        | ("scheduling.k8s.io", "PodGroup" | "CompositePodGroup")
        | ("storagemigration.k8s.io", "StorageVersionMigration")
        | ("internal.apiserver.k8s.io", "StorageVersion")
        | ("certificates.k8s.io", "PodCertificateRequest")
        | ("apiregistration.k8s.io", "APIService") => const { &row(Wiped, Reset, NONE) },
        ("scheduling.k8s.io", "PriorityClass") => const { &row(Plain, Free, Generation::Fixed) },
        _ => const { &row(Plain, Free, NONE) },
    }
}

/// Whether a PUT to a name that is not there creates it.
pub fn allow_create_on_update(group: &str, kind: &str) -> bool {
    matches!(
        (group, kind),
        ("", "Event" | "Endpoints" | "LimitRange" | "Service")
            | ("events.k8s.io", "Event")
            | ("coordination.k8s.io", "Lease" | "LeaseCandidate")
            | ("node.k8s.io", "RuntimeClass")
            | (
                "rbac.authorization.k8s.io",
                "Role" | "RoleBinding" | "ClusterRole" | "ClusterRoleBinding"
            )
    )
}

/// Whether a PUT may leave the resource version out. Custom kinds may not.
pub fn allow_unconditional_update(group: &str, kind: &str) -> bool {
    match group {
        "certificates.k8s.io" => kind == "CertificateSigningRequest",
        "policy" => kind != "PodDisruptionBudget",
        "resource.k8s.io" => kind != "ResourcePoolStatusRequest",
        "scheduling.k8s.io" => kind == "PriorityClass",
        "storage.k8s.io" => matches!(kind, "StorageClass" | "VolumeAttributesClass"),
        ""
        | "apps"
        | "autoscaling"
        | "batch"
        | "discovery.k8s.io"
        | "events.k8s.io"
        | "networking.k8s.io"
        | "flowcontrol.apiserver.k8s.io"
        | "rbac.authorization.k8s.io" => true,
        _ => false,
    }
}

/// Fields that an apply through some way in can never own, since that way resets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetFields {
    Paths(&'static [&'static [&'static str]]),
    /// Everything but what starts like this; `*` is any list item.
    AllBut(&'static [&'static [&'static str]]),
}

/// By kind and subresource (empty for the object itself).
pub fn reset_fields(group: &str, kind: &str, subresource: &str) -> ResetFields {
    use ResetFields::{AllBut, Paths};
    match (group, kind, subresource) {
        ("", "Pod", "status") => Paths(&[
            &["spec"],
            &["metadata", "deletionTimestamp"],
            &["metadata", "ownerReferences"],
        ]),
        ("", "Pod", "ephemeralcontainers") => AllBut(&[&["spec", "ephemeralContainers"]]),
        ("", "Pod", "resize") => AllBut(&[
            &["spec", "containers", "*", "resources"],
            &["spec", "containers", "*", "resizePolicy"],
            &["spec", "initContainers", "*", "resources"],
            &["spec", "initContainers", "*", "resizePolicy"],
        ]),
        ("certificates.k8s.io", "CertificateSigningRequest", "") => {
            Paths(&[&["spec"], &["status"]])
        }
        ("certificates.k8s.io", "CertificateSigningRequest", "status") => {
            Paths(&[&["spec"], &["status", "conditions"]])
        }
        ("certificates.k8s.io", "CertificateSigningRequest", "approval") => {
            Paths(&[&["spec"], &["status", "certificate"]])
        }
        ("", "Namespace", "finalize") => Paths(&[&["status"]]),
        _ => {
            let row = find(group, kind);
            match (subresource, row.status, row.metadata) {
                (_, Status::None, _) => Paths(&[]),
                ("", _, _) => Paths(&[&["status"]]),
                ("status", _, Meta::Free) => Paths(&[&["spec"]]),
                ("status", _, Meta::Labels) => Paths(&[&["spec"], &["metadata", "labels"]]),
                ("status", _, Meta::Reset | Meta::Whole) => Paths(&[&["spec"], &["metadata"]]),
                _ => Paths(&[]),
            }
        }
    }
}
