//! Brings a default role or binding up to date without taking away what an administrator added.

use json::{Object, Value};

use crate::rbac::{RoleRef, Rule, missing};

/// What must be written so that an object has at least what is expected of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Reconciled {
    /// Nothing is missing.
    Unchanged,
    /// Something is missing, but `rbac.authorization.kubernetes.io/autoupdate: "false"` says hands off.
    Protected,
    Create(Value),
    Update(Value),
    /// The role a binding refers to cannot be changed: delete the old one, then create this.
    Recreate(Value),
}

/// For the four kinds of RBAC; `expected` as [`bootstrap`](super::bootstrap) gives it.
pub fn reconcile(existing: Option<&Value>, expected: &Value) -> Reconciled {
    let Some(existing) = existing else {
        return Reconciled::Create(expected.clone());
    };
    let annotation = existing.str_at(&[
        "metadata",
        "annotations",
        "rbac.authorization.kubernetes.io/autoupdate",
    ]);
    let outcome = if expected.get("roleRef").is_some() {
        binding(existing, expected)
    } else {
        role(existing, expected)
    };
    match outcome {
        Reconciled::Update(_) | Reconciled::Recreate(_) if annotation == Some("false") => {
            Reconciled::Protected
        }
        outcome => outcome,
    }
}

fn role(existing: &Value, expected: &Value) -> Reconciled {
    let mut updated = existing.clone();
    let mut changed = merge_metadata(&mut updated, expected);
    let missing = missing(&Rule::all_of(existing), &Rule::all_of(expected));
    changed |= append(&mut updated, "rules", missing.iter().map(Rule::to_value));

    let aggregation = |it: &Value| {
        it.get("aggregationRule")
            .filter(|it| !it.is_null())
            .cloned()
    };
    match (aggregation(existing), aggregation(expected)) {
        (Some(_), None) => {
            if let Some(updated) = updated.as_object_mut() {
                updated.remove("aggregationRule");
            }
            changed = true;
        }
        (had, Some(wanted)) => {
            let mut rule = had.unwrap_or_else(|| Object::new().into());
            let has = rule.get("clusterRoleSelectors").and_then(Value::as_array);
            let has = has.cloned().unwrap_or_default();
            let wanted = wanted.get("clusterRoleSelectors").and_then(Value::as_array);
            let lacking = wanted.into_iter().flatten().filter(|it| !has.contains(it));
            let lacking: Vec<_> = lacking.cloned().collect();
            if append(&mut rule, "clusterRoleSelectors", lacking) {
                if let Some(updated) = updated.as_object_mut() {
                    updated.insert("aggregationRule", rule);
                }
                changed = true;
            }
        }
        (None, None) => {}
    }
    outcome(changed, updated)
}

fn binding(existing: &Value, expected: &Value) -> Reconciled {
    if RoleRef::of(existing) != RoleRef::of(expected) {
        return Reconciled::Recreate(expected.clone());
    }
    let mut updated = existing.clone();
    let mut changed = merge_metadata(&mut updated, expected);
    let list = |it: &Value| it.get("subjects").and_then(Value::as_array).cloned();
    let has = list(existing).unwrap_or_default();
    let mut lacking: Vec<Value> = Vec::new();
    for subject in list(expected).unwrap_or_default() {
        if !has
            .iter()
            .chain(&lacking)
            .any(|it| same_subject(it, &subject))
        {
            lacking.push(subject);
        }
    }
    changed |= append(&mut updated, "subjects", lacking);
    outcome(changed, updated)
}

/// Left out and empty are the same.
fn same_subject(a: &Value, b: &Value) -> bool {
    let fields = ["kind", "apiGroup", "namespace", "name"];
    let text = |it: &Value, field| it.str_at(&[field]).unwrap_or_default().to_owned();
    fields.iter().all(|field| text(a, field) == text(b, field))
}

fn outcome(changed: bool, updated: Value) -> Reconciled {
    if changed {
        Reconciled::Update(updated)
    } else {
        Reconciled::Unchanged
    }
}

/// Adds expected labels and annotations where the object has none of that name.
fn merge_metadata(object: &mut Value, expected: &Value) -> bool {
    let mut changed = false;
    for field in ["labels", "annotations"] {
        let wanted = expected.at(&["metadata", field]).and_then(Value::as_object);
        let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
        let (Some(wanted), Some(metadata)) = (wanted, metadata) else {
            continue;
        };
        let map = metadata.get_or_insert(field);
        if map.is_null() {
            *map = Object::new().into();
        }
        let Some(map) = map.as_object_mut() else {
            continue;
        };
        for (key, value) in wanted.iter() {
            if !map.contains_key(key) {
                map.insert(key.clone(), value.clone());
                changed = true;
            }
        }
    }
    changed
}

/// Whether there was anything to append to the list under the key.
fn append(object: &mut Value, key: &str, items: impl IntoIterator<Item = Value>) -> bool {
    let mut items = items.into_iter().peekable();
    let Some(object) = object.as_object_mut().filter(|_| items.peek().is_some()) else {
        return false;
    };
    let list = object.get_or_insert(key);
    match list {
        Value::Array(list) => list.extend(items),
        list => *list = items.collect(),
    }
    true
}
