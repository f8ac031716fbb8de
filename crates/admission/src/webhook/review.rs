//! The `AdmissionReview` that is sent, and what may come back.

use base64::Engine as _;
use json::{Object, Value, json};
use meta::Status;

use super::hook::Version;
use super::matching::Invocation;
use crate::Request;
use crate::client::Answer;
use crate::read::{items, pairs, text};

/// The objects of a request, at the version a webhook wants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Objects<'a> {
    pub new: &'a Value,
    pub old: Option<&'a Value>,
}

pub(super) fn request(
    version: Version,
    uid: &str,
    invocation: &Invocation<'_>,
    request: &Request<'_>,
    objects: Objects<'_>,
) -> Value {
    let mut out = Object::new();
    let mut put = |key: &str, value: &str| {
        if !value.is_empty() {
            out.insert(key, value);
        }
    };
    put("uid", uid);
    let (kind, resource) = (&invocation.kind, &invocation.resource);
    out.insert("kind", gvk(&kind.group, &kind.version, &kind.kind));
    out.insert(
        "resource",
        gvr(&resource.group, &resource.version, &resource.resource),
    );
    if !request.subresource.is_empty() {
        out.insert("subResource", request.subresource);
    }
    let (kind, resource) = (request.kind, request.resource);
    out.insert("requestKind", gvk(&kind.group, &kind.version, &kind.kind));
    out.insert(
        "requestResource",
        gvr(&resource.group, &resource.version, &resource.resource),
    );
    for (key, value) in [
        ("requestSubResource", request.subresource),
        ("name", request.name),
        ("namespace", request.namespace),
    ] {
        if !value.is_empty() {
            out.insert(key, value);
        }
    }
    out.insert("operation", request.operation.as_str());
    out.insert("userInfo", request.user.to_value());
    out.insert("object", objects.new.clone());
    out.insert("oldObject", objects.old.cloned());
    out.insert("dryRun", request.dry_run);
    out.insert("options", request.options.clone());
    json!({
        "kind": "AdmissionReview",
        "apiVersion": (version.api_version()),
        "request": out,
    })
}

fn gvk(group: &str, version: &str, kind: &str) -> Value {
    json!({"group": group, "version": version, "kind": kind})
}

fn gvr(group: &str, version: &str, resource: &str) -> Value {
    json!({"group": group, "version": version, "resource": resource})
}

/// What a webhook decided.
#[derive(Debug, Default)]
pub(super) struct Response {
    pub allowed: bool,
    /// Null if it says nothing.
    pub status: Value,
    /// Bytes of a patch, empty for none.
    pub patch: Vec<u8>,
    pub patch_type: String,
    pub warnings: Vec<String>,
    pub audit_annotations: Vec<(String, String)>,
}

/// What Go's decoder reads first, as it prints it.
const TYPE_META: &str = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }";

/// Reads the body of an answer as a review, or says why it is none.
pub(crate) fn decode(answer: &Answer) -> Result<Value, String> {
    if answer.refusal().is_some() {
        return Err(refused(answer));
    }
    if answer.body.is_empty() {
        let (code, kind) = (answer.code, &answer.content_type);
        return Err(format!(
            "0-length response with status code: {code} and content type: {kind}"
        ));
    }
    let said = |why: String| format!("couldn't get version/kind; json parse error: {why}");
    let wrong = |kind: &str| {
        said(format!(
            "json: cannot unmarshal {kind} into Go value of type {TYPE_META}"
        ))
    };
    match json::parse(&answer.body) {
        Ok(Value::Object(fields)) => Ok(fields.into()),
        Ok(other) => Err(wrong(go_kind(&other))),
        // Upstream takes it for YAML then, and finds a text.
        Err(_) if !answer.body.trim_ascii_start().starts_with(b"{") => Err(wrong("string")),
        Err(error) => Err(said(error.to_string())),
    }
}

/// The text of an answer that is an error: of the Status in it, or by its code.
fn refused(answer: &Answer) -> String {
    const MOST: usize = 2048;
    if let Ok(value) = json::parse(&answer.body)
        && text(&value, &["kind"]) == "Status"
        && text(&value, &["status"]) != "Success"
        && !text(&value, &["message"]).is_empty()
    {
        return text(&value, &["message"]).to_owned();
    }
    let is_text = answer.content_type.is_empty() || answer.content_type.starts_with("text/");
    let body = &answer.body[..answer.body.len().min(MOST)];
    let said = if is_text {
        String::from_utf8_lossy(body).trim().to_owned()
    } else {
        "unknown".to_owned()
    };
    let none = meta::gvk::GroupResource::new("", "");
    let retry = answer.retry_after;
    Status::generic_server_response(answer.code, "POST", &none, "", &said, retry, true).message
}

/// How Go's JSON package calls a value.
pub(crate) fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Checks the types that the answer's fields have in Go.
pub(super) fn check_types(review: &Value, version: Version) -> Result<(), String> {
    let api_version = text(review, &["apiVersion"]);
    let kind = text(review, &["kind"]);
    let known = ["admission.k8s.io/v1", "admission.k8s.io/v1beta1"];
    if !kind.is_empty() && (kind != "AdmissionReview" || !known.contains(&api_version)) {
        let (kind, version) = (meta::go::quote(kind), meta::go::quote(api_version));
        return Err(format!(
            "no kind {kind} is registered for version {version} in the scheme of webhooks"
        ));
    }
    if !api_version.is_empty() && api_version != version.api_version() {
        let short = |it: &str| it.rsplit('/').next().unwrap_or_default().to_owned();
        let (from, to) = (short(api_version), short(version.api_version()));
        return Err(format!(
            "converting ({from}.AdmissionReview) to ({to}.AdmissionReview): unknown conversion"
        ));
    }
    let Some(response) = review.get("response").filter(|it| !it.is_null()) else {
        return Ok(());
    };
    let wrong = |value: &Value, field: &str, kind: &str| {
        let found = go_kind(value);
        Err(format!(
            "json: cannot unmarshal {found} into Go struct field {field} of type {kind}"
        ))
    };
    if response.as_object().is_none() {
        return wrong(response, "AdmissionReview.response", "v1.AdmissionResponse");
    }
    let fields: [(&str, &str, &str); 7] = [
        ("uid", "string", "types.UID"),
        ("allowed", "bool", "bool"),
        ("status", "object", "v1.Status"),
        ("patch", "string", "[]uint8"),
        ("patchType", "string", "v1.PatchType"),
        ("auditAnnotations", "object", "map[string]string"),
        ("warnings", "array", "[]string"),
    ];
    for (field, want, kind) in fields {
        if let Some(value) = response.get(field).filter(|it| !it.is_null())
            && go_kind(value) != want
        {
            return wrong(value, &format!("AdmissionResponse.response.{field}"), kind);
        }
    }
    Ok(())
}

/// What the review says, if it is one that a webhook of this kind may give.
pub(super) fn verify(
    review: &Value,
    version: Version,
    uid: &str,
    mutating: bool,
) -> Result<Response, String> {
    let Some(response) = review.get("response").filter(|it| !it.is_null()) else {
        return Err("webhook response was absent".into());
    };
    let patch = text(response, &["patch"]);
    let patch = base64::prelude::BASE64_STANDARD
        .decode(patch)
        .map_err(|error| format!("response.patch is no base64: {error}"))?;
    let patch_type = response.get("patchType").and_then(Value::as_str);
    if version == Version::V1 {
        let said = text(response, &["uid"]);
        if said != uid {
            let (uid, said) = (meta::go::quote(uid), meta::go::quote(said));
            return Err(format!("expected response.uid={uid}, got {said}"));
        }
        check_gvk(review)?;
        check_patch(&patch, patch_type, mutating)?;
    }
    let annotations = pairs(response, &["auditAnnotations"]);
    let annotations =
        annotations.filter_map(|(key, value)| Some((key.to_owned(), value.as_str()?.to_owned())));
    let warnings = items(response, &["warnings"])
        .iter()
        .filter_map(Value::as_str);
    Ok(Response {
        allowed: crate::read::flag(response, &["allowed"]) == Some(true),
        status: response.get("status").cloned().unwrap_or_default(),
        patch_type: match version {
            Version::V1 => patch_type.unwrap_or_default().to_owned(),
            // Never looked at, and there is but one.
            Version::V1beta1 => "JSONPatch".to_owned(),
        },
        patch: if mutating { patch } else { Vec::new() },
        warnings: warnings.map(str::to_owned).collect(),
        audit_annotations: annotations.collect(),
    })
}

fn check_gvk(review: &Value) -> Result<(), String> {
    let gvk = meta::object::gvk(review).unwrap_or_default();
    let want = meta::gvk::GroupVersionKind::new("admission.k8s.io", "v1", "AdmissionReview");
    if gvk == want {
        return Ok(());
    }
    Err(format!("expected webhook response of {want}, got {gvk}"))
}

fn check_patch(patch: &[u8], kind: Option<&str>, mutating: bool) -> Result<(), String> {
    let why = match (mutating, patch.is_empty(), kind) {
        (true, false, None) => "webhook returned response.patch but not response.patchType",
        (true, true, Some(_)) => "webhook returned response.patchType but not response.patch",
        (true, _, Some("")) => "webhook returned invalid response.patchType of \"\"",
        (false, false, _) => "validating webhook may not return response.patch",
        (false, _, Some(_)) => "validating webhook may not return response.patchType",
        _ => return Ok(()),
    };
    Err(why.into())
}

/// The refusal of a webhook, as clients see it.
pub(super) fn denied(name: &str, result: &Value) -> Status {
    let by = format!(
        "admission webhook {} denied the request",
        meta::go::quote(name)
    );
    let mut status = Status::from_value(result);
    status.success = false;
    status.code = status.code.max(400);
    let reason = status.reason.as_str();
    status.message = if !status.message.is_empty() {
        format!("{by}: {}", status.message)
    } else if !reason.is_empty() {
        format!("{by}: {reason}")
    } else {
        format!("{by} without explanation")
    };
    status
}
