//! Names of resources, and which of them are meant for what.

const CONTAINER: &[&str] = &["cpu", "memory", "ephemeral-storage"];
const INTEGER: &[&str] = &[
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];
const COMPUTE: &[&str] = &[
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
];

pub(super) fn is_huge_pages(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// Without a domain, or with that of Kubernetes.
pub(super) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

pub(super) fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with("requests.")
        && meta::names::qualified_name(&format!("requests.{name}")).is_empty()
}

pub(super) fn overcommit_allowed(name: &str) -> bool {
    is_native(name) && !is_huge_pages(name)
}

pub(super) fn is_standard_for_containers(name: &str) -> bool {
    CONTAINER.contains(&name) || is_huge_pages(name)
}

pub(super) fn is_standard_for_quota(name: &str) -> bool {
    CONTAINER.contains(&name)
        || COMPUTE.contains(&name)
        || INTEGER.contains(&name)
        || is_huge_pages(name)
        || name.starts_with("requests.hugepages-")
}

pub(super) fn is_standard(name: &str) -> bool {
    name == "storage" || is_standard_for_quota(name)
}

pub(super) fn is_integer(name: &str) -> bool {
    INTEGER.contains(&name) || is_extended(name)
}
