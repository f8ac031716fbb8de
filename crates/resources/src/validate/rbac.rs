//! Roles and their bindings.

use meta::names;

use super::errors::Errors;
use super::field::Field;
use super::object_meta::{self, Named};
use super::words::IMMUTABLE;

const GROUP: &str = "rbac.authorization.k8s.io";

fn name(name: &str, _: bool) -> Vec<String> {
    names::path_segment_name(name)
}

const NAMESPACED: Named = Named::namespaced(name);
const CLUSTER: Named = Named::cluster(name);

fn rules(e: &mut Errors, all: &Field, namespaced: bool) {
    for it in all.items() {
        let (verbs, urls) = (it.child("verbs"), it.child("nonResourceURLs"));
        if verbs.is_empty() {
            e.late(|e| e.required(&verbs, ""));
        }
        let (groups, resources) = (it.child("apiGroups"), it.child("resources"));
        if !urls.is_empty() {
            if namespaced {
                e.invalid(&urls, "namespaced rules cannot apply to non-resource URLs");
            }
            if !groups.is_empty() || !resources.is_empty() || !it.child("resourceNames").is_empty()
            {
                let text = "rules cannot apply to both regular resources and non-resource URLs";
                e.invalid(&urls, text);
            }
            continue;
        }
        if groups.is_empty() {
            e.required(&groups, "resource rules must supply at least one api group");
        }
        if resources.is_empty() {
            e.required(
                &resources,
                "resource rules must supply at least one resource",
            );
        }
    }
}

fn binding(e: &mut Errors, it: &Field, kinds: &[&str], namespaced: bool) {
    let role = it.child("roleRef");
    e.one_of(&role.child("apiGroup"), &[GROUP]);
    e.one_of(&role.child("kind"), kinds);
    let name = role.child("name");
    let subjects = it.child("subjects");
    // The order of the struct's fields: subjects come before the role.
    for subject in subjects.items() {
        let name = subject.child("name");
        if name.is_empty() {
            e.late(|e| e.required(&name, ""));
        }
    }
    if name.is_empty() {
        e.late(|e| e.required(&name, ""));
    } else {
        e.path_segment(&name);
    }
    for subject in subjects.items() {
        self::subject(e, &subject, namespaced);
    }
}

fn subject(e: &mut Errors, it: &Field, namespaced: bool) {
    let (kind, group) = (it.child("kind"), it.child("apiGroup"));
    match kind.str() {
        "ServiceAccount" => {
            let name = it.child("name");
            if !name.is_empty() {
                e.dns_subdomain(&name);
            }
            if !group.is_empty() {
                e.not_supported(&group, &[""]);
            }
            if !namespaced {
                e.required_text(&it.child("namespace"));
            }
        }
        "User" | "Group" => e.one_of(&group, &[GROUP]),
        _ => e.not_supported(&kind, &["ServiceAccount", "User", "Group"]),
    }
}

fn role_is_immutable(e: &mut Errors, new: &Field, old: &Field) {
    let role = new.child("roleRef");
    if !e.same(&role, &old.child("roleRef")) {
        e.invalid_as("RoleRef", &role, IMMUTABLE);
    }
}

pub(crate) mod roles {
    //! `Role`

    use super::{Errors, Field, NAMESPACED, object_meta, rules};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, NAMESPACED);
        rules(e, &it.child("rules"), true);
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        create(e, new);
        object_meta::update(e, new, old);
    }
}

pub(crate) mod cluster_roles {
    //! `ClusterRole`

    use super::{CLUSTER, Errors, Field, object_meta, rules};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, CLUSTER);
        rules(e, &it.child("rules"), false);
        let aggregation = it.child("aggregationRule");
        if !aggregation.is_set() {
            return;
        }
        let selectors = aggregation.child("clusterRoleSelectors");
        if selectors.is_empty() {
            let text = "at least one clusterRoleSelector required if aggregationRule is non-nil";
            e.required(&selectors, text);
        }
        for selector in selectors.items() {
            let before = e.len();
            e.label_selector(&selector);
            if e.len() > before {
                e.invalid_value(&selector, json::Value::Null, "invalid label selector.");
            }
        }
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        create(e, new);
        object_meta::update(e, new, old);
    }
}

pub(crate) mod bindings {
    //! `RoleBinding`

    use super::{Errors, Field, NAMESPACED, binding, object_meta, role_is_immutable};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, NAMESPACED);
        binding(e, it, &["Role", "ClusterRole"], true);
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        create(e, new);
        object_meta::update(e, new, old);
        role_is_immutable(e, new, old);
    }
}

pub(crate) mod cluster_bindings {
    //! `ClusterRoleBinding`

    use super::{CLUSTER, Errors, Field, binding, object_meta, role_is_immutable};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, CLUSTER);
        binding(e, it, &["ClusterRole"], false);
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        create(e, new);
        object_meta::update(e, new, old);
        role_is_immutable(e, new, old);
    }
}
