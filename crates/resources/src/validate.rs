//! What an object must be to be stored, beyond what its schema says: upstream's rules, sentences and order.
//!
//! Objects come decoded and defaulted. What upstream lets pass because an old object already had it is only allowed
//! where a comment says so.

mod autoscaling;
mod batch;
mod certificates;
mod claims;
mod cluster;
mod config;
mod core;
mod definitions;
mod devices;
mod diff;
mod endpoints;
mod errors;
mod events;
mod expressions;
mod field;
mod flowcontrol;
mod go_form;
mod ip;
mod mutating;
mod networking;
mod node;
mod object_meta;
mod paths;
mod pod;
mod policy;
mod quota_names;
mod quotas;
mod rbac;
mod same;
mod seen;
mod service;
mod sources;
mod storage;
mod volumes;
mod webhooks;
mod words;
mod workloads;

use json::Value;
use meta::field::Error;

use errors::Errors;
use field::Field;
pub(crate) use webhooks::{STATIC_NAMES, STATIC_SUFFIX};

/// The rules of one kind.
#[derive(Clone, Copy)]
struct Rules {
    create: fn(&mut Errors, &Field),
    update: fn(&mut Errors, &Field, &Field),
    status: fn(&mut Errors, &Field, &Field),
}

/// What feature gates allow that is refused by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The gate `StatefulSetRecreateStrategy`.
    pub stateful_set_recreate: bool,
}

/// What is wrong with a new object; nothing for a kind without rules.
pub fn create(group: &str, version: &str, kind: &str, object: &Value) -> Vec<Error> {
    create_with(group, version, kind, object, Options::default())
}

/// The same where feature gates are on that are off by default.
pub fn create_with(
    group: &str,
    version: &str,
    kind: &str,
    object: &Value,
    options: Options,
) -> Vec<Error> {
    let _ = version;
    let mut e = Errors::with(options);
    if let Some(rules) = rules(group, kind) {
        (rules.create)(&mut e, &Field::root(object));
    }
    if group == "admissionregistration.k8s.io" {
        webhooks::not_static(&mut e, &Field::root(object).child("metadata").child("name"));
    }
    list(group, e)
}

pub fn update(group: &str, version: &str, kind: &str, new: &Value, old: &Value) -> Vec<Error> {
    update_with(group, version, kind, new, old, Options::default())
}

/// The same where feature gates are on that are off by default.
pub fn update_with(
    group: &str,
    version: &str,
    kind: &str,
    new: &Value,
    old: &Value,
    options: Options,
) -> Vec<Error> {
    let _ = version;
    let mut e = Errors::with(options);
    if let Some(rules) = rules(group, kind) {
        (rules.update)(&mut e, &Field::root(new), &Field::root(old));
    }
    list(group, e)
}

/// What is wrong with the addresses of a Service, before it gets some.
pub fn service_ips(service: &Value, old: Option<&Value>) -> Vec<Error> {
    let mut e = Errors::default();
    let (it, old) = (Field::root(service), old.map(Field::root));
    service::cluster_ips(&mut e, &it.child("spec"), old.as_ref());
    e.into_list()
}

pub fn update_status(
    group: &str,
    version: &str,
    kind: &str,
    new: &Value,
    old: &Value,
) -> Vec<Error> {
    let _ = version;
    let mut e = Errors::default();
    if let Some(rules) = rules(group, kind) {
        (rules.status)(&mut e, &Field::root(new), &Field::root(old));
    }
    list(group, e)
}

/// A change through a subresource. A `scale` is itself the new object; all others are objects of the kind.
pub fn update_subresource(
    group: &str,
    version: &str,
    kind: &str,
    subresource: &str,
    new: &Value,
    old: &Value,
) -> Vec<Error> {
    let mut e = Errors::default();
    let (at, was) = (Field::root(new), Field::root(old));
    match (group, kind, subresource) {
        (_, _, "scale") => autoscaling::scale(&mut e, &at),
        ("", "Pod", "ephemeralcontainers") => pod::update_ephemeral_containers(&mut e, &at, &was),
        ("", "Pod", "resize") => pod::resize(&mut e, &at, &was),
        ("", "Namespace", "finalize") => core::namespaces::finalize(&mut e, &at, &was),
        ("certificates.k8s.io", _, "approval") => {
            certificates::requests::approve(&mut e, &at, &was);
        }
        (_, _, "status") => return update_status(group, version, kind, new, old),
        _ => return update(group, version, kind, new, old),
    }
    list(group, e)
}

/// Definitions and API services are served by code of its own upstream, without declarative rules.
fn list(group: &str, e: Errors) -> Vec<Error> {
    match group {
        "apiextensions.k8s.io" | "apiregistration.k8s.io" => e.into_list(),
        _ => e.into_told_once(),
    }
}

/// What is sent to a subresource and not stored: `binding` of pods, `token` of service accounts.
pub fn create_subresource(
    group: &str,
    kind: &str,
    subresource: &str,
    object: &Value,
) -> Vec<Error> {
    let mut e = Errors::default();
    let at = Field::root(object);
    match (group, kind, subresource) {
        ("", "Pod", "binding") => pod::binding(&mut e, &at),
        ("", "ServiceAccount", "token") => core::service_accounts::token_request(&mut e, &at),
        _ => {}
    }
    e.into_list()
}

fn rules(group: &str, kind: &str) -> Option<Rules> {
    macro_rules! of {
        ($path:path) => {{
            use $path as rules;
            Rules {
                create: rules::create,
                update: rules::update,
                status: rules::update_status,
            }
        }};
        ($path:path, no status) => {{
            use $path as rules;
            Rules {
                create: rules::create,
                update: rules::update,
                status: rules::update,
            }
        }};
    }
    Some(match (group, kind) {
        ("", "Pod") => of!(pod),
        ("", "PodTemplate") => of!(pod::templates, no status),
        ("", "ReplicationController") => of!(workloads::replica_sets::controllers),
        ("", "PersistentVolumeClaim") => of!(claims),
        ("", "Service") => of!(service),
        ("", "ConfigMap") => of!(config::maps, no status),
        ("", "Secret") => of!(config::secrets, no status),
        ("", "Namespace") => of!(core::namespaces),
        ("", "ServiceAccount") => of!(core::service_accounts, no status),
        ("", "Node") => of!(node, no status),
        ("", "PersistentVolume") => of!(volumes),
        ("", "LimitRange") => of!(quotas::limits, no status),
        ("", "ResourceQuota") => of!(quotas),
        ("", "Endpoints") => of!(endpoints, no status),
        ("", "Event") => of!(events::core, no status),
        ("events.k8s.io", "Event") => of!(events, no status),
        ("discovery.k8s.io", "EndpointSlice") => of!(endpoints::slices, no status),
        ("scheduling.k8s.io", "PriorityClass") => of!(core::priority_classes, no status),
        ("batch", "Job") => of!(batch::jobs),
        ("batch", "CronJob") => of!(batch::cron_jobs, no status),
        ("networking.k8s.io", "Ingress") => of!(networking::ingresses),
        ("networking.k8s.io", "IngressClass") => of!(networking::ingress_classes, no status),
        ("networking.k8s.io", "NetworkPolicy") => of!(networking::policies, no status),
        ("networking.k8s.io", "IPAddress") => of!(networking::addresses, no status),
        ("networking.k8s.io", "ServiceCIDR") => of!(networking::ranges),
        ("rbac.authorization.k8s.io", "Role") => of!(rbac::roles, no status),
        ("rbac.authorization.k8s.io", "ClusterRole") => of!(rbac::cluster_roles, no status),
        ("rbac.authorization.k8s.io", "RoleBinding") => of!(rbac::bindings, no status),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding") => {
            of!(rbac::cluster_bindings, no status)
        }
        ("autoscaling", "HorizontalPodAutoscaler") => of!(autoscaling),
        ("policy", "PodDisruptionBudget") => of!(policy),
        ("coordination.k8s.io", "Lease") => of!(cluster::leases, no status),
        ("node.k8s.io", "RuntimeClass") => of!(cluster::runtime_classes, no status),
        ("storage.k8s.io", "StorageClass") => of!(storage::classes, no status),
        ("storage.k8s.io", "VolumeAttachment") => of!(storage::attachments, no status),
        ("storage.k8s.io", "CSINode") => of!(storage::nodes, no status),
        ("storage.k8s.io", "CSIDriver") => of!(storage::drivers, no status),
        ("storage.k8s.io", "CSIStorageCapacity") => of!(storage::capacities, no status),
        ("storage.k8s.io", "VolumeAttributesClass") => of!(storage::attribute_classes, no status),
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
        ) => of!(webhooks, no status),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy") => {
            of!(webhooks::policies, no status)
        }
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding") => {
            of!(webhooks::bindings, no status)
        }
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy") => of!(mutating, no status),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding") => {
            of!(mutating::bindings, no status)
        }
        ("resource.k8s.io", "ResourceClaim") => of!(devices),
        ("resource.k8s.io", "ResourceClaimTemplate") => of!(devices::templates, no status),
        ("resource.k8s.io", "DeviceClass") => of!(devices::classes, no status),
        ("resource.k8s.io", "ResourceSlice") => of!(devices::slices, no status),
        ("resource.k8s.io", "DeviceTaintRule") => of!(devices::taint_rules, no status),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => of!(definitions),
        ("apiregistration.k8s.io", "APIService") => of!(definitions::services),
        ("certificates.k8s.io", "CertificateSigningRequest") => of!(certificates::requests),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema") => of!(flowcontrol::schemas),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration") => of!(flowcontrol::levels),
        ("apps", "Deployment") => of!(workloads::deployments),
        ("apps", "ReplicaSet") => of!(workloads::replica_sets),
        ("apps", "DaemonSet") => of!(workloads::daemon_sets),
        ("apps", "StatefulSet") => of!(workloads::stateful_sets),
        ("apps", "ControllerRevision") => of!(workloads::revisions, no status),
        _ => return None,
    })
}
