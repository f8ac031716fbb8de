//! Data, storage and access.

use super::make::{AGE, CONTAINERS, IMAGES, NAME, SELECTOR, SIGNER, text, wide};
use crate::columns::Column;

pub(crate) const NAMESPACE: &[Column] = &[NAME, text("Status", "Phase of the namespace."), AGE];
pub(crate) const SECRET: &[Column] = &[
    NAME,
    text("Type", "What the secret is for."),
    text("Data", "Number of entries."),
    AGE,
];
pub(crate) const CONFIG_MAP: &[Column] = &[NAME, text("Data", "Number of entries."), AGE];
pub(crate) const VOLUME: &[Column] = &[
    NAME,
    text("Capacity", "Size of the volume."),
    text("Access Modes", "Ways the volume can be mounted."),
    text("Reclaim Policy", "What happens when its claim goes."),
    text("Status", "Phase of the volume."),
    text("Claim", "Claim that holds the volume."),
    text("StorageClass", "Storage class of the volume."),
    text("VolumeAttributesClass", "Attributes class of the volume."),
    text("Reason", "Why it is in this phase."),
    AGE,
    wide("VolumeMode", "File system or block device."),
];
pub(crate) const CLAIM: &[Column] = &[
    NAME,
    text("Status", "Phase of the claim."),
    text("Volume", "Volume the claim is bound to."),
    text("Capacity", "Size of that volume."),
    text("Access Modes", "Ways the volume can be mounted."),
    text("StorageClass", "Storage class of the claim."),
    text("VolumeAttributesClass", "Attributes class of the claim."),
    AGE,
    wide("VolumeMode", "File system or block device."),
];
pub(crate) const COMPONENT_STATUS: &[Column] = &[
    NAME,
    text("Status", "Whether the component is healthy."),
    text("Message", "What its check said."),
    text("Error", "What its check failed with."),
];
pub(crate) const DEPLOYMENT: &[Column] = &[
    NAME,
    text("Ready", "Pods that are ready, of those wanted."),
    text("Up-to-date", "Pods of the current template."),
    text("Available", "Pods that are available."),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];
pub(crate) const AUTOSCALER: &[Column] = &[
    NAME,
    text("Reference", "What is scaled."),
    text("Targets", "Metrics, now and as wanted."),
    text("MinPods", "Fewest pods."),
    text("MaxPods", "Most pods."),
    text("Replicas", "Pods there are."),
    AGE,
];
pub(crate) const NETWORK_POLICY: &[Column] = &[
    NAME,
    text("Pod-Selector", "Which pods the policy is for."),
    AGE,
];
pub(crate) const ROLE_BINDING: &[Column] = &[
    NAME,
    text("Role", "Role that is granted."),
    AGE,
    wide("Users", "Users that get it."),
    wide("Groups", "Groups that get it."),
    wide("ServiceAccounts", "Service accounts that get it."),
];
pub(crate) const SIGNING_REQUEST: &[Column] = &[
    NAME,
    AGE,
    SIGNER,
    text("Requestor", "User that asked."),
    text(
        "RequestedDuration",
        "How long the certificate should be valid.",
    ),
    text("Condition", "What became of the request."),
];
pub(crate) const TRUST_BUNDLE: &[Column] =
    &[NAME, text("SignerName", "Signer the bundle belongs to.")];
pub(crate) const POD_CERTIFICATE: &[Column] = &[
    NAME,
    text("PodName", "Pod the certificate is for."),
    text("ServiceAccountName", "Service account of the pod."),
    text("NodeName", "Node of the pod."),
    SIGNER,
    text("State", "Pending, Issued, Denied or Failed."),
    text(
        "UnverifiedUserAnnotations",
        "What the pod's author adds, unchecked.",
    ),
];
pub(crate) const LEASE: &[Column] = &[NAME, text("Holder", "Who holds the lease."), AGE];
pub(crate) const LEASE_CANDIDATE: &[Column] = &[
    NAME,
    text("LeaseName", "Lease it stands for."),
    text("BinaryVersion", "Version of the program."),
    text("EmulationVersion", "Version the program acts as."),
    AGE,
];
pub(crate) const STORAGE_CLASS: &[Column] = &[
    NAME,
    text("Provisioner", "Who makes the volumes."),
    text("ReclaimPolicy", "What happens when a claim goes."),
    text("VolumeBindingMode", "When volumes are made and bound."),
    text("AllowVolumeExpansion", "Whether volumes may grow."),
    AGE,
];
pub(crate) const ATTRIBUTES_CLASS: &[Column] =
    &[NAME, text("DriverName", "CSI driver of the class."), AGE];
