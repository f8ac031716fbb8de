//! Fields by which objects can be selected.

use json::Value;

use crate::read::Read;
use crate::strategy;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldLabelError {
    #[error("field label not supported: {0}")]
    NotSupported(String),
    #[error("field label {label:?} not supported for {kind}")]
    NotSupportedFor { label: String, kind: String },
    #[error("field label not supported for {group}/{version}, Kind={kind}: {label}")]
    NotSupportedForVersion {
        group: String,
        version: String,
        kind: String,
        label: String,
    },
    #[error("{0:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")]
    NotKnown(String),
}

const META: &[&str] = &["metadata.name", "metadata.namespace"];

/// The fields that objects of a kind can be selected by, besides those of metadata.
#[derive(Clone, Copy)]
pub(crate) struct SelectableFields {
    pub(crate) labels: &'static [&'static str],
    /// Whether `metadata.namespace` is one.
    pub(crate) namespace: bool,
    /// A label of an old client, and what it means.
    pub(crate) alias: Option<(&'static str, &'static str)>,
    pub(crate) unsupported: Unsupported,
    /// Values that are not just those of the field; `None` for all others.
    pub(crate) value: fn(&Value, &str) -> Option<String>,
}

/// How a refusal reads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unsupported {
    Label,
    LabelAndKind,
    LabelAndVersion,
}

impl SelectableFields {
    pub(crate) const fn new(labels: &'static [&'static str], namespace: bool) -> Self {
        Self {
            labels,
            namespace,
            alias: None,
            unsupported: Unsupported::Label,
            value: |_, _| None,
        }
    }
}

/// The label as [`field_value`] takes it, or why it cannot select.
pub fn field_label(
    group: &str,
    version: &str,
    kind: &str,
    label: &str,
) -> Result<&'static str, FieldLabelError> {
    let known = strategy::find(group, kind).fields;
    let metadata = match known {
        Some(fields) if !fields.namespace => &META[..1],
        _ => META,
    };
    let label = match known.and_then(|it| it.alias) {
        Some((old, new)) if old == label => new,
        _ => label,
    };
    let all = metadata.iter().chain(known.map_or(&[][..], |it| it.labels));
    if let Some(found) = all.copied().find(|it| *it == label) {
        return Ok(found);
    }
    let label = label.to_owned();
    Err(match known.map(|it| it.unsupported) {
        None => FieldLabelError::NotKnown(label),
        Some(Unsupported::Label) => FieldLabelError::NotSupported(label),
        Some(Unsupported::LabelAndKind) => FieldLabelError::NotSupportedFor {
            label,
            kind: kind.into(),
        },
        Some(Unsupported::LabelAndVersion) => FieldLabelError::NotSupportedForVersion {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
            label,
        },
    })
}

/// The same for a custom kind, whose version may name more fields (`selectableFields`, as `.spec.color`).
pub fn custom_field_label<'a>(
    selectable: &[&'a str],
    label: &'a str,
) -> Result<&'a str, FieldLabelError> {
    let named = || {
        selectable
            .iter()
            .any(|it| it.strip_prefix('.') == Some(label))
    };
    if META.contains(&label) || named() {
        return Ok(label);
    }
    Err(FieldLabelError::NotSupported(label.into()))
}

/// What an object has in a field, as selectors compare it.
pub fn field_value(group: &str, kind: &str, object: &Value, label: &str) -> String {
    let own = strategy::find(group, kind).fields;
    if let Some(value) = own.and_then(|it| (it.value)(object, label)) {
        return value;
    }
    match object.find(label) {
        Some(Value::String(it)) => it.to_string(),
        Some(it @ (Value::Bool(_) | Value::Number(_))) => it.to_string(),
        _ => String::new(),
    }
}

pub(crate) fn pod_value(pod: &Value, label: &str) -> Option<String> {
    match label {
        "status.podIP" => {
            let first = pod.list("status.podIPs").first();
            Some(first.map_or("", |it| it.text("ip")).to_owned())
        }
        // Known as a label, but never a field that objects have.
        "status.podIPs" => Some(String::new()),
        "spec.hostNetwork" => Some(pod.flag(label).to_string()),
        _ => None,
    }
}

pub(crate) fn event_value(event: &Value, label: &str) -> Option<String> {
    (label == "source").then(|| match event.text("source.component") {
        "" => event.text("reportingComponent").to_owned(),
        some => some.to_owned(),
    })
}
