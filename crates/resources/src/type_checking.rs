//! Type checking of a `ValidatingAdmissionPolicy`: what its expressions get wrong about the kinds that it means. It warns,
//! and never refuses.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cel::kubernetes::{Mode, TypeChecker, environment, type_checking_environment};
use json::{Object, Value, json};
use meta::gvk::GroupVersionKind;

/// No more kinds of one rule are looked at.
const MAX_KINDS: usize = 10;
/// The minor version of Kubernetes whose expressions are stored.
const MINOR: u32 = 37;

fn texts<'a>(value: &'a Value, key: &str) -> Vec<&'a str> {
    let all = value.get(key).and_then(Value::as_array);
    all.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

fn items<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    value
        .at(path)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The kinds that a policy names, in order. `kind_of` knows the kind of a resource, by group, version and plural.
pub fn kinds(
    policy: &Value,
    kind_of: impl Fn(&str, &str, &str) -> Option<GroupVersionKind>,
) -> Vec<GroupVersionKind> {
    let mut found = BTreeMap::new();
    for rule in items(policy, &["spec", "matchConstraints", "resourceRules"]) {
        let names = |key| {
            let mut all = texts(rule, key);
            all.sort_unstable();
            all
        };
        let (groups, versions) = (names("apiGroups"), names("apiVersions"));
        if groups.iter().chain(&versions).any(|it| it.contains('*')) {
            continue;
        }
        let mut resources = names("resources");
        resources.retain(|it| !it.contains(['*', '/']));
        let mut count = 0;
        for group in &groups {
            for version in &versions {
                for resource in &resources {
                    if let Some(kind) = kind_of(group, version, resource) {
                        let key = (kind.group.clone(), kind.version.clone(), kind.kind.clone());
                        found.insert(key, kind);
                        count += 1;
                    }
                    if count == MAX_KINDS {
                        return found.into_values().collect();
                    }
                }
            }
        }
    }
    found.into_values().collect()
}

/// The kind of the parameters, if the policy has some.
pub fn param_kind(policy: &Value) -> Option<GroupVersionKind> {
    let kind = policy.at(&["spec", "paramKind"])?;
    let text = |key| kind.str_at(&[key]).unwrap_or_default();
    GroupVersionKind::parse(text("apiVersion"), text("kind")).ok()
}

/// `status.typeChecking.expressionWarnings`. Kinds without a schema are passed over.
pub fn check(
    policy: &Value,
    kinds: &[GroupVersionKind],
    schema_of: impl Fn(&GroupVersionKind) -> Option<Value>,
) -> Vec<Value> {
    let types = |kind: &GroupVersionKind| {
        let schema = cel::Schema::from_open_api(&schema_of(kind)?, true);
        Some(schema.types(&kind.to_string()))
    };
    let params = param_kind(policy).map(|kind| types(&kind).flatten());
    let variables = items(policy, &["spec", "variables"]).iter();
    let variables: Vec<(&str, &str)> = variables
        .filter_map(|it| Some((it.str_at(&["name"])?, it.str_at(&["expression"])?)))
        .collect();
    let checkers = kinds.iter().filter_map(|kind| {
        let base = environment(MINOR, Mode::Stored);
        let env = type_checking_environment(base, types(kind)?, params.clone());
        Some((kind, TypeChecker::new(env, &variables)))
    });
    let checkers: Vec<(&GroupVersionKind, TypeChecker)> = checkers.collect();
    let mut warnings = Vec::new();
    for (index, validation) in items(policy, &["spec", "validations"]).iter().enumerate() {
        for key in ["expression", "messageExpression"] {
            let text = validation.str_at(&[key]).unwrap_or_default();
            if text.is_empty() && key == "messageExpression" {
                continue;
            }
            let wrong = checkers.iter().filter_map(|(kind, checker)| {
                let issues = checker.check(text).err()?;
                Some(format!("{kind}: {issues}\n"))
            });
            let wrong: Vec<String> = wrong.collect();
            if !wrong.is_empty() {
                warnings.push(json!({
                    "fieldRef": (format!("spec.validations[{index}].{key}")),
                    "warning": (wrong.join("\n")),
                }));
            }
        }
    }
    warnings
}

const REFERENCE: &str = "#/components/schemas/";

/// The schema of a kind in an `OpenAPI` v3 document, without references: what refers to itself is an object.
pub fn schema_in(document: &Value, kind: &GroupVersionKind) -> Option<Value> {
    let schemas = document.at(&["components", "schemas"])?.as_object()?;
    let schemas: HashMap<&str, &Value> = schemas.iter().map(|(key, it)| (&**key, it)).collect();
    let (name, schema) = schemas.iter().find(|(_, schema)| {
        let kinds = items(schema, &["x-kubernetes-group-version-kind"]);
        kinds.iter().any(|it| {
            let text = |key| it.str_at(&[key]).unwrap_or_default();
            (text("group"), text("version"), text("kind"))
                == (&*kind.group, &*kind.version, &*kind.kind)
        })
    })?;
    let mut visited = BTreeSet::from([*name]);
    resolve(&schemas, &mut visited, schema)
}

fn resolve<'d>(
    schemas: &HashMap<&'d str, &'d Value>,
    visited: &mut BTreeSet<&'d str>,
    schema: &'d Value,
) -> Option<Value> {
    if let Some(name) = reference(schema) {
        if !visited.insert(name) {
            return Some(json!({"type": "object"}));
        }
        let resolved = resolve(schemas, visited, schemas.get(name)?);
        visited.remove(name);
        return resolved;
    }
    let mut out = Object::new();
    for (key, value) in schema.as_object()?.iter() {
        let value = match &**key {
            "properties" => {
                let mut all = Object::new();
                for (name, schema) in value.as_object()?.iter() {
                    all.insert(&**name, resolve(schemas, visited, schema)?);
                }
                all.into()
            }
            "items" | "additionalProperties" if value.as_object().is_some() => {
                resolve(schemas, visited, value)?
            }
            // Texts are not needed here.
            "description" => continue,
            _ => value.clone(),
        };
        out.insert(&**key, value);
    }
    Some(out.into())
}

/// What a schema refers to, perhaps within `allOf`, which keeps a description beside it.
fn reference(schema: &Value) -> Option<&str> {
    let own = schema.str_at(&["$ref"]);
    let own = own.or_else(|| {
        let all = schema.get("allOf").and_then(Value::as_array)?;
        all.iter().find_map(|it| it.str_at(&["$ref"]))
    });
    own?.strip_prefix(REFERENCE)
}
