//! Fields by which objects can be selected.

use json::Value;

use crate::read::Read;

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

/// The labels of a kind besides metadata's, and whether it has a namespace. A kind without a row takes metadata only.
fn labels(group: &str, kind: &str) -> Option<(&'static [&'static str], bool)> {
    Some(match (group, kind) {
        ("", "Pod") => (
            &[
                "spec.nodeName",
                "spec.restartPolicy",
                "spec.schedulerName",
                "spec.serviceAccountName",
                "spec.hostNetwork",
                "status.phase",
                "status.podIP",
                "status.podIPs",
                "status.nominatedNodeName",
            ],
            true,
        ),
        ("", "Node") => (&["spec.unschedulable"], false),
        ("", "ReplicationController") => (&["status.replicas"], true),
        ("", "Event") => (
            &[
                "involvedObject.kind",
                "involvedObject.namespace",
                "involvedObject.name",
                "involvedObject.uid",
                "involvedObject.apiVersion",
                "involvedObject.resourceVersion",
                "involvedObject.fieldPath",
                "reason",
                "reportingComponent",
                "source",
                "type",
            ],
            true,
        ),
        ("events.k8s.io", "Event") => (
            &[
                "regarding.kind",
                "regarding.namespace",
                "regarding.name",
                "regarding.uid",
                "regarding.apiVersion",
                "regarding.resourceVersion",
                "regarding.fieldPath",
                "reason",
                "reportingController",
                "type",
            ],
            true,
        ),
        ("", "Namespace") => (&["status.phase"], false),
        ("", "Secret") => (&["type"], true),
        ("", "Service") => (&["spec.clusterIP", "spec.type"], true),
        ("batch", "Job") => (&["status.successful"], true),
        ("certificates.k8s.io", "CertificateSigningRequest" | "ClusterTrustBundle") => {
            (&["spec.signerName"], false)
        }
        ("certificates.k8s.io", "PodCertificateRequest") => {
            (&["spec.signerName", "spec.podName", "spec.nodeName"], false)
        }
        ("resource.k8s.io", "ResourceSlice") => {
            (&["spec.nodeName", "spec.driver", "spec.pool.name"], false)
        }
        _ => return None,
    })
}

/// The label as [`field_value`] takes it, or why it cannot select.
pub fn field_label(
    group: &str,
    version: &str,
    kind: &str,
    label: &str,
) -> Result<&'static str, FieldLabelError> {
    let known = labels(group, kind);
    let metadata = match known {
        Some((_, false)) => &META[..1],
        _ => META,
    };
    // What old clients of v1 send.
    let label = match (group, kind, label) {
        ("", "Pod", "spec.host") => "spec.nodeName",
        _ => label,
    };
    let all = metadata
        .iter()
        .chain(known.map_or(&[][..], |(labels, _)| labels));
    if let Some(found) = all.copied().find(|it| *it == label) {
        return Ok(found);
    }
    let label = label.to_owned();
    Err(match (group, kind) {
        _ if known.is_none() => FieldLabelError::NotKnown(label),
        ("batch", "Job") => FieldLabelError::NotSupportedFor {
            label,
            kind: kind.into(),
        },
        ("resource.k8s.io", "ResourceSlice") => FieldLabelError::NotSupportedForVersion {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
            label,
        },
        _ => FieldLabelError::NotSupported(label),
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
    let text = match (group, kind, label) {
        ("", "Pod", "status.podIP") => object
            .list("status.podIPs")
            .first()
            .map_or("", |it| it.text("ip")),
        // Known as a label, but never a field that objects have.
        ("", "Pod", "status.podIPs") => "",
        ("", "Pod", "spec.hostNetwork") | ("", "Node", "spec.unschedulable") => {
            return object.flag(label).to_string();
        }
        ("", "ReplicationController", "status.replicas") => return object.int(label).to_string(),
        ("batch", "Job", "status.successful") => return object.int("status.succeeded").to_string(),
        ("", "Event", "source") => match object.text("source.component") {
            "" => object.text("reportingComponent"),
            some => some,
        },
        _ => match object.find(label) {
            Some(Value::String(it)) => it,
            Some(it @ (Value::Bool(_) | Value::Number(_))) => return it.to_string(),
            _ => "",
        },
    };
    text.to_owned()
}
