//! `CustomResourceDefinitions`, as they are written: what they are called, and whether they can be served.
//!
//! Upstream decides this in controllers a moment after the write; here it is part of the write, so that a definition is
//! served as soon as it is acknowledged.

use std::collections::HashSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use json::{Object, Text, Value, json};
use meta::field::Error;

use crate::catalog::Catalog;
use crate::catalog::custom::is_true;
use crate::runtime::clock;

/// Says that the deletion has begun.
pub(crate) fn terminate(definition: &mut Value) {
    let mut conditions = existing(definition);
    set(
        &mut conditions,
        "Terminating",
        "True",
        "InstanceDeletionPending",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        &clock::now(),
    );
    if let Some(fields) = definition.as_object_mut() {
        let status = fields.get_or_insert("status");
        if !matches!(status, Value::Object(_)) {
            *status = Object::new().into();
        }
        if let Some(status) = status.as_object_mut() {
            status.insert("conditions", conditions);
        }
    }
}

/// Fills in `status` after the spec was prepared and validated.
pub(crate) fn accept(catalog: &Catalog, definition: &mut Value) {
    let (names, conflict) = names(catalog, definition);
    let now = clock::now();
    let was_established = is_true(definition, "Established");
    let mut conditions = existing(definition);
    if let Some((status, reason, message)) = approval(definition) {
        let kind = "KubernetesAPIApprovalPolicyConformant";
        set(&mut conditions, kind, status, reason, &message, &now);
    }
    let (status, reason, message) = match &conflict {
        None => ("True", "NoConflicts", "no conflicts found"),
        Some((reason, message)) => ("False", *reason, &**message),
    };
    let kind = "NamesAccepted";
    set(&mut conditions, kind, status, reason, message, &now);
    if !was_established {
        let (status, reason, message) = if conflict.is_some() {
            ("False", "NotAccepted", "not all names are accepted")
        } else if bundle(definition).is_some_and(|it| auth::pki::check_authorities(&it).is_err()) {
            let message = "The conversion webhook CABundle is invalid";
            ("False", "InvalidCABundle", message)
        } else {
            let message = "the initial names have been accepted";
            ("True", "InitialNamesAccepted", message)
        };
        let kind = "Established";
        set(&mut conditions, kind, status, reason, message, &now);
    }
    let Some(fields) = definition.as_object_mut() else {
        return;
    };
    let status = fields.get_or_insert("status");
    if !matches!(status, Value::Object(_)) {
        *status = Object::new().into();
    }
    if let Some(status) = status.as_object_mut() {
        status.insert("conditions", conditions);
        status.insert("acceptedNames", names);
    }
}

const APPROVED: &str = "api-approved.kubernetes.io";

/// Whether the community has approved of a definition in a group of its own.
fn approval(definition: &Value) -> Option<(&'static str, &'static str, String)> {
    let group = definition.str_at(&["spec", "group"])?;
    let is_protected = ["k8s.io", "kubernetes.io"].iter().any(|domain| {
        let rest = group.strip_suffix(domain);
        rest.is_some_and(|it| it.is_empty() || it.ends_with('.'))
    });
    if !is_protected {
        return None;
    }
    let said = definition.str_at(&["metadata", "annotations", APPROVED]);
    let said = said.unwrap_or_default();
    let must = format!("protected groups must have approval annotation \"{APPROVED}\"");
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    Some(if said.is_empty() {
        ("False", "MissingAnnotation", format!("{must}, {see}"))
    } else if said.starts_with("unapproved") {
        let message = format!("not approved: {}", meta::go::quote(said));
        ("False", "UnapprovedAnnotation", message)
    } else if is_url(said) {
        ("True", "ApprovedAnnotation", format!("approved in {said}"))
    } else {
        let message =
            format!("{must} with either a URL or a reason starting with \"unapproved\", {see}");
        ("False", "InvalidAnnotation", message)
    })
}

fn is_url(text: &str) -> bool {
    let url = text.parse::<http::Uri>();
    url.is_ok_and(|it| it.scheme().is_some() && it.host().is_some_and(|it| !it.is_empty()))
}

/// What the webhook that converts must be signed by.
fn bundle(definition: &Value) -> Option<Vec<u8>> {
    let encoded =
        definition.str_at(&["spec", "conversion", "webhook", "clientConfig", "caBundle"])?;
    let decoded = BASE64_STANDARD.decode(encoded).ok()?;
    (!decoded.is_empty()).then_some(decoded)
}

/// An established definition keeps a CA bundle that can be read.
pub(crate) fn validate_bundle(definition: &Value, live: &Value) -> Option<Error> {
    let wrong = |it: &Value| bundle(it).and_then(|it| auth::pki::check_authorities(&it).err());
    if !is_true(live, "Established") || wrong(live).is_some() {
        return None;
    }
    let why = wrong(definition)?;
    let shown = definition.at(&["spec", "conversion", "webhook", "clientConfig", "caBundle"])?;
    let path = "spec.conversion.webhookClientConfig.caBundle";
    Some(Error::invalid(path, shown.clone(), why))
}

/// The names that it gets, and the last of those that another resource of the group has already: each name is looked
/// at by itself, as upstream does.
fn names(catalog: &Catalog, definition: &Value) -> (Object, Option<(&'static str, String)>) {
    let used = Used::of(catalog, definition);
    let requested = definition.at(&["spec", "names"]);
    let before = definition.at(&["status", "acceptedNames"]);
    let get = |from: Option<&Value>, field: &str| from.and_then(|it| it.get(field)).cloned();
    let mut conflict = None;
    let mut names = Object::new();
    for (field, reason, among) in [
        ("plural", "PluralConflict", &used.resources),
        ("singular", "SingularConflict", &used.resources),
        ("shortNames", "ShortNamesConflict", &used.resources),
        ("kind", "KindConflict", &used.kinds),
        ("listKind", "ListKindConflict", &used.kinds),
    ] {
        let (asked, had) = (get(requested, field), get(before, field));
        let mut taken: Vec<String> = Vec::new();
        if asked != had {
            let all = match &asked {
                Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
                Some(Value::String(one)) => vec![&**one],
                _ => Vec::new(),
            };
            let ours = had.as_ref().and_then(Value::as_array);
            let is_ours = |name: &str| {
                let mut ours = ours.into_iter().flatten();
                ours.any(|it| it.as_str() == Some(name))
            };
            let all = all
                .into_iter()
                .filter(|it| among.contains(*it) && !is_ours(it));
            taken = all
                .map(|it| format!("\"{it}\" is already in use"))
                .collect();
        }
        let given = if taken.is_empty() { asked } else { had };
        match (given, field) {
            (Some(name), _) => drop(names.insert(field, name)),
            // These two are never left out.
            (None, "plural" | "kind") => drop(names.insert(field, "")),
            (None, _) => {}
        }
        conflict = match taken.as_slice() {
            [] => conflict,
            [one] => Some((reason, one.clone())),
            many => Some((reason, format!("[{}]", many.join(", ")))),
        };
    }
    if let Some(categories) = get(requested, "categories") {
        names.insert("categories", categories);
    }
    (names, conflict)
}

/// Names that others in the group have.
#[derive(Default)]
struct Used {
    resources: HashSet<Text>,
    kinds: HashSet<Text>,
}

impl Used {
    fn of(catalog: &Catalog, definition: &Value) -> Self {
        let group = definition.str_at(&["spec", "group"]).unwrap_or_default();
        let own = definition.str_at(&["metadata", "name"]).unwrap_or_default();
        let mut used = Self::default();
        let versions = catalog.group(group).map_or(&[][..], |it| &it.versions);
        for other in versions.iter().flat_map(|version| &version.resources) {
            if other.custom.as_ref().is_some_and(|it| it.definition == own) {
                continue;
            }
            used.resources.insert(other.plural.clone());
            used.resources.insert(other.singular.clone());
            used.resources.extend(other.short_names.iter().cloned());
            used.kinds.insert(other.kind.clone());
            used.kinds.extend(other.list_kind.clone());
        }
        used
    }
}

fn existing(definition: &Value) -> Vec<Value> {
    let found = definition
        .at(&["status", "conditions"])
        .and_then(Value::as_array);
    found.cloned().unwrap_or_default()
}

fn set(
    conditions: &mut Vec<Value>,
    kind: &str,
    status: &str,
    reason: &str,
    message: &str,
    now: &str,
) {
    let found = conditions
        .iter_mut()
        .find(|it| it.str_at(&["type"]) == Some(kind));
    if let Some(found) = &found
        && found.str_at(&["status"]) == Some(status)
        && found.str_at(&["reason"]) == Some(reason)
    {
        return;
    }
    let condition = json!({
        "type": kind,
        "status": status,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    });
    match found {
        Some(found) => *found = condition,
        None => conditions.push(condition),
    }
}
