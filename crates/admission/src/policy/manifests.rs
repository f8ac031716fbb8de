//! Policies and bindings from files (`staticManifestsDir` of the plugin's configuration): in force before the API is
//! served, and not to be changed through it. Reading the files is for others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use json::Value;

use crate::read::{has, text};

/// Names of objects from files end in this, and no others do.
pub const STATIC_SUFFIX: &str = ".static.k8s.io";

/// Policies and bindings of one plugin, each in the order of their names.
#[derive(Debug, Default)]
pub struct Manifests {
    pub policies: Vec<Value>,
    pub bindings: Vec<Value>,
}

/// What the files of a plugin said when they were last read.
#[derive(Debug, Default)]
pub struct StaticPolicies(Mutex<(u64, Arc<Manifests>)>);

impl StaticPolicies {
    /// Puts these in the place of those that are in force.
    pub fn replace(&self, manifests: Manifests) {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *current = (current.0 + 1, Arc::new(manifests));
    }

    /// With a number that grows when they are replaced; zero if there never were any.
    pub(crate) fn current(&self) -> (u64, Arc<Manifests>) {
        let current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (current.0, current.1.clone())
    }
}

impl Manifests {
    /// Takes objects of one plugin with the files that they are in, after they were read, defaulted and validated one by
    /// one. Texts are upstream's.
    pub fn new(plugin: &str, objects: Vec<(String, Value)>) -> Result<Self, String> {
        let binding_kind = format!("{plugin}Binding");
        let mut policies = BTreeMap::new();
        let mut bindings = BTreeMap::new();
        let mut files: BTreeMap<(bool, String), String> = BTreeMap::new();
        for (file, object) in objects {
            let kind = text(&object, &["kind"]);
            let is_binding = kind == binding_kind;
            let failed = |why: String| format!("error loading {file}: {why}");
            if !is_binding && kind != plugin {
                return Err(failed(format!("unsupported resource type {kind}")));
            }
            let name = meta::object::name(&object).to_owned();
            check_name(&name, &file).map_err(failed)?;
            if let Some(other) = files.insert((is_binding, name.clone()), file.clone()) {
                return Err(failed(format!(
                    "duplicate name {name:?} found in file {file:?} (previously seen in {other:?})"
                )));
            }
            if is_binding {
                check_binding(&object, &name).map_err(failed)?;
                bindings.insert(name, object);
            } else {
                if has(&object, &["spec", "paramKind"]) {
                    return Err(failed(format!(
                        "{plugin} {name:?}: spec.paramKind is not supported for static manifests"
                    )));
                }
                policies.insert(name, object);
            }
        }
        let names: BTreeSet<&String> = policies.keys().collect();
        for (name, binding) in &bindings {
            let policy = text(binding, &["spec", "policyName"]);
            if !names.contains(&policy.to_owned()) {
                return Err(format!(
                    "binding {name:?} references policy {policy:?} which does not exist in the manifest directory"
                ));
            }
        }
        Ok(Self {
            policies: policies.into_values().collect(),
            bindings: bindings.into_values().collect(),
        })
    }
}

fn check_name(name: &str, file: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err(format!("resource in file {file:?} must have a name"));
    }
    if !name.ends_with(STATIC_SUFFIX) {
        return Err(format!(
            "{name:?} in file {file:?} must have a name ending with {STATIC_SUFFIX:?}"
        ));
    }
    Ok(())
}

fn check_binding(binding: &Value, name: &str) -> Result<(), String> {
    let policy = text(binding, &["spec", "policyName"]);
    if policy.is_empty() {
        return Err(format!(
            "binding {name:?} must reference a policy (spec.policyName)"
        ));
    }
    if !policy.ends_with(STATIC_SUFFIX) {
        return Err(format!(
            "binding {name:?}: spec.policyName {policy:?} must end with {STATIC_SUFFIX:?}"
        ));
    }
    if has(binding, &["spec", "paramRef"]) {
        return Err(format!(
            "binding {name:?}: spec.paramRef is not supported for static manifests"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    fn object(kind: &str, name: &str, spec: Value) -> (String, Value) {
        let object = json!({"kind": kind, "metadata": {"name": name}, "spec": spec});
        ("/m/a.yaml".to_owned(), object)
    }

    #[test]
    fn what_files_may_say() {
        const POLICY: &str = "ValidatingAdmissionPolicy";
        const BINDING: &str = "ValidatingAdmissionPolicyBinding";
        let policy = |name| object(POLICY, name, json!({}));
        let bound = |name, to: &str| object(BINDING, name, json!({"policyName": to}));
        let cases = [
            (
                vec![policy("")],
                r#"error loading /m/a.yaml: resource in file "/m/a.yaml" must have a name"#,
            ),
            (
                vec![policy("a")],
                r#"error loading /m/a.yaml: "a" in file "/m/a.yaml" must have a name ending with ".static.k8s.io""#,
            ),
            (
                vec![policy("a.static.k8s.io"), policy("a.static.k8s.io")],
                r#"error loading /m/a.yaml: duplicate name "a.static.k8s.io" found in file "/m/a.yaml" (previously seen in "/m/a.yaml")"#,
            ),
            (
                vec![object(
                    POLICY,
                    "a.static.k8s.io",
                    json!({"paramKind": {"kind": "ConfigMap"}}),
                )],
                r#"error loading /m/a.yaml: ValidatingAdmissionPolicy "a.static.k8s.io": spec.paramKind is not supported for static manifests"#,
            ),
            (
                vec![bound("a.static.k8s.io", "")],
                r#"error loading /m/a.yaml: binding "a.static.k8s.io" must reference a policy (spec.policyName)"#,
            ),
            (
                vec![bound("a.static.k8s.io", "b")],
                r#"error loading /m/a.yaml: binding "a.static.k8s.io": spec.policyName "b" must end with ".static.k8s.io""#,
            ),
            (
                vec![bound("a.static.k8s.io", "b.static.k8s.io")],
                r#"binding "a.static.k8s.io" references policy "b.static.k8s.io" which does not exist in the manifest directory"#,
            ),
            (
                vec![object("ConfigMap", "a.static.k8s.io", json!({}))],
                "error loading /m/a.yaml: unsupported resource type ConfigMap",
            ),
        ];
        for (objects, wanted) in cases {
            assert_eq!(Manifests::new(POLICY, objects).unwrap_err(), wanted);
        }
        let name = "a.static.k8s.io";
        let both = Manifests::new(POLICY, vec![bound(name, name), policy(name)]).unwrap();
        assert_eq!((both.policies.len(), both.bindings.len()), (1, 1));
    }
}
