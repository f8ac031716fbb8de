//! A patch as it was sent, and what it makes of an object.

use json::{ParseErrorKind, Value};
use meta::Status;
use meta::gvk::{GroupKind, GroupResource};
use schema::{DecodeError, Found, Schema, TypeError};

use super::kind::Kind;
use super::shape;
use crate::handler::context::RequestContext;
use crate::handler::decode::{self, Expected, Validation, Why};
use crate::handler::strict::{self, StrictError};
use crate::write::managed;

/// A patch as it was sent.
#[derive(Debug)]
pub(crate) struct Document {
    pub kind: Kind,
    pub value: Value,
    /// Objects without a Go type are written with sorted keys.
    is_custom: bool,
    /// Keys that came more than once, and such that steps do not have.
    pub(super) duplicates: Vec<StrictError>,
}

impl Document {
    pub(crate) fn read(ctx: &RequestContext<'_>, bytes: &[u8]) -> Result<Self, Status> {
        let kind = Kind::of(ctx)?;
        let is_custom = ctx.resource.custom.is_some();
        if kind == Kind::Apply {
            let is_json = bytes.trim_ascii_start().starts_with(b"{");
            let value = yaml::to_json(bytes).map_err(|error| {
                Status::bad_request(if is_json {
                    format!("error decoding patch: error converting YAML to JSON: {error}")
                } else {
                    format!("error encoding patch: {error}")
                })
            })?;
            if !matches!(value, Value::Object(_) | Value::Null) {
                let found = decode::go_type(&value);
                return Err(Status::bad_request(format!(
                    "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
                )));
            }
            return Ok(Self {
                kind,
                value,
                is_custom,
                duplicates: strict::yaml_duplicates(bytes).into_iter().collect(),
            });
        }
        let parsed = json::parse_with(bytes, json::Limits::default()).map_err(|error| {
            Status::bad_request(match error.kind {
                ParseErrorKind::TooDeep => format!("error decoding patch: {error}"),
                ParseErrorKind::Syntax => "invalid JSON patch".to_owned(),
            })
        })?;
        let what = if kind == Kind::Json {
            "json patch duplicate field"
        } else {
            "duplicate field"
        };
        let duplicates = parsed.duplicates.iter();
        let duplicates = duplicates.map(|path| StrictError::field(path, what));
        let mut strict: Vec<StrictError> = duplicates.collect();
        if kind == Kind::Json {
            let unknown = unknown_in_steps(&parsed.value);
            strict.retain(|it| !unknown.iter().any(|unknown| it.is_within(unknown)));
            strict.extend(unknown);
            strict::in_document_order(&parsed.value, &mut strict);
        }
        Ok(Self {
            kind,
            value: parsed.value,
            is_custom,
            duplicates: strict,
        })
    }

    /// What the patch makes of an object; not for server-side apply.
    pub(crate) fn apply(
        &self,
        live: &Value,
        schema: Option<&Schema>,
        validation: Validation,
    ) -> Result<Value, Status> {
        shape::check(self.kind, &self.value, validation)?;
        let (live, patch) = (live.clone(), self.value.clone());
        let patched = match self.kind {
            Kind::Json => merge::json_patch(live, patch),
            Kind::Merge => merge::merge_patch(live, patch),
            // Go reads it as a map with nothing in it.
            Kind::Strategic if patch.is_null() => Ok(live),
            Kind::Strategic | Kind::Apply => {
                let schema = schema.ok_or_else(|| Status::internal("no schema for the patch"))?;
                merge::strategic_merge_patch(schema.place(), live, patch)
            }
        };
        patched.map_err(|error| match error {
            // What is wrong stays between the patch and its author.
            merge::Error::Unprocessable(_) if self.kind == Kind::Json => {
                Status::generic_server_response(
                    422,
                    "",
                    &GroupResource::default(),
                    "",
                    "",
                    0,
                    false,
                )
            }
            other => managed::refused(other),
        })
    }

    /// The object that the patch has made, read as its kind.
    pub(crate) fn decode(
        &self,
        patched: Value,
        validation: Validation,
        expected: &Expected<'_>,
    ) -> Result<decode::Decoded, Status> {
        let strict = self.duplicates.clone();
        if expected.custom.is_some() {
            self.keeps_kind(&patched, expected)?;
        }
        let patched = match self.kind {
            Kind::Strategic => self.typed(patched, expected)?,
            _ if expected.custom.is_none() && says_no_version(&patched) => {
                json::Object::new().into()
            }
            _ => patched,
        };
        let lenient = match validation {
            Validation::Strict => Validation::Warn,
            other => other,
        };
        let decoded = decode::patched(patched.clone(), strict, lenient, expected);
        let decoded = decoded.map_err(|unfit| {
            let text = match unfit.why() {
                Why::Type(DecodeError::Type(error)) if self.kind == Kind::Strategic => {
                    unconverted(&error)
                }
                why => why.to_string(),
            };
            self.unreadable(&patched, &text)
        })?;
        if validation == Validation::Strict && !decoded.warnings.is_empty() {
            let text = format!("strict decoding error: {}", decoded.warnings.join(", "));
            return Err(self.unreadable(&patched, &text));
        }
        Ok(decoded)
    }

    /// A strategic patch makes an object of its own type, whatever it calls it.
    fn typed(&self, mut patched: Value, expected: &Expected<'_>) -> Result<Value, Status> {
        for name in ["kind", "apiVersion"] {
            let found = patched.get(name).unwrap_or(&Value::Null);
            if !matches!(found, Value::String(_) | Value::Null) {
                return Err(self.unreadable(&patched, &unconvertible(found, "string")));
            }
        }
        if let Some(fields) = patched.as_object_mut() {
            fields.insert("kind", &*expected.kind.kind);
            fields.insert("apiVersion", expected.kind.api_version());
        }
        Ok(patched)
    }

    /// A custom resource says of itself what it is, after a patch as before it.
    fn keeps_kind(&self, patched: &Value, expected: &Expected<'_>) -> Result<(), Status> {
        if patched.as_object().is_none() {
            return Ok(());
        }
        let mut said = [("apiVersion", ""), ("kind", "")];
        for (field, text) in &mut said {
            *text = match patched.get(field) {
                None | Some(Value::Null) => "",
                Some(Value::String(it)) => it,
                Some(other) => {
                    let found = decode::go_type(other);
                    let text = format!(
                        "couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go struct field .{field} of type string"
                    );
                    return Err(self.unreadable(patched, &text));
                }
            };
        }
        let [(_, version), (_, kind)] = said;
        if kind.is_empty() {
            let text = format!("Object 'Kind' is missing in '{}'", self.written(patched));
            return Err(self.unreadable(patched, &text));
        }
        if version.is_empty() {
            let text = "Object 'apiVersion' is missing in 'object has no apiVersion field'";
            return Err(Status::internal(text));
        }
        let group = version.split_once('/').map_or("", |it| it.0);
        if version.matches('/').count() > 1 {
            let text = format!("unexpected GroupVersion string: {version}");
            return Err(self.unreadable(patched, &text));
        }
        let (want_kind, want_version) = (&*expected.kind.kind, expected.kind.api_version());
        let pairs = [
            ("kind", kind, want_kind),
            ("apiVersion", version, &*want_version),
        ];
        let wrong: Vec<_> = (pairs.into_iter())
            .filter(|(_, found, want)| found != want)
            .map(|(field, found, want)| {
                meta::field::Error::invalid(field, found, format!("must be {want}"))
            })
            .collect();
        if wrong.is_empty() {
            return Ok(());
        }
        let name = meta::object::name(patched);
        Err(Status::invalid(&GroupKind::new(group, kind), name, &wrong))
    }

    fn written(&self, patched: &Value) -> String {
        let mut patched = patched.clone();
        if self.is_custom {
            patched.sort_keys();
        } else {
            sort_along(&mut patched, &self.value);
        }
        json::to_string(&patched)
    }

    /// What is said of an object that a patch has made, and that cannot be read: upstream shows the patch to a typed
    /// object as Go's map, and of others the whole result.
    fn unreadable(&self, patched: &Value, text: &str) -> Status {
        let shown = if self.kind == Kind::Strategic {
            merge::go_text(&self.value)
        } else {
            self.written(patched)
        };
        let error = meta::field::Error::invalid("patch", shown, text);
        Status::invalid(&GroupKind::new("", ""), "", &[error])
    }
}

/// At most so many unknown fields of operations are reported, as upstream; and none after their names have reached this size.
const MOST_UNKNOWN: usize = 100;
const MOST_UNKNOWN_BYTES: usize = 1 << 16;

/// What steps of a JSON patch say beside what they may.
fn unknown_in_steps(patch: &Value) -> Vec<StrictError> {
    let mut bytes = 0;
    let steps = patch.as_array().into_iter().flatten().enumerate();
    let fields = steps.flat_map(|(index, step)| {
        let fields = step.as_object().into_iter().flat_map(json::Object::iter);
        fields.map(move |(name, _)| (index, name))
    });
    fields
        .filter(|(_, name)| !matches!(&***name, "op" | "from" | "path" | "value"))
        .take(MOST_UNKNOWN)
        .take_while(|(_, name)| {
            let fits = bytes < MOST_UNKNOWN_BYTES;
            bytes += name.len();
            fits
        })
        .map(|(index, name)| {
            StrictError::field(&format!("[{index}].{name}"), "json patch unknown field")
        })
        .collect()
}

/// Upstream reads such an object as one of its own types within, where none of the fields has this name.
fn says_no_version(patched: &Value) -> bool {
    let empty = |name: &str| match patched.get(name) {
        None | Some(Value::Null) => true,
        Some(other) => other.as_str() == Some(""),
    };
    patched.as_object().is_some() && empty("apiVersion") && !empty("kind")
}

/// Upstream reads what a strategic patch has made by another way than other objects, which has other words for what
/// does not fit.
fn unconverted(error: &TypeError) -> String {
    let wanted = &*error.wanted;
    let found = match error.found {
        Found::Array => "slice",
        Found::Object => "map",
        Found::Number(Some(digits)) if json::to_string(&digits.into()).contains('.') => "float64",
        Found::Number(_) => "int64",
        Found::Null => "null",
        Found::Bool => "bool",
        Found::String => "string",
    };
    match wanted {
        "string" if found == "int64" => "cannot convert int64 to string".into(),
        "int32" | "int64" if found == "float64" => format!("cannot convert float64 to {wanted}"),
        "int32" | "int64" | "bool" | "string" => format!("unrecognized type: {wanted}"),
        it if it.starts_with("[]") => format!("cannot restore slice from {found}"),
        it if it.starts_with("map[") => format!("cannot restore map from {found}"),
        it if ["ObjectMeta", "Spec", "Status"]
            .iter()
            .any(|end| it.ends_with(end)) =>
        {
            format!("cannot restore struct from: {found}")
        }
        _ => error.to_string(),
    }
}

fn unconvertible(found: &Value, wanted: &str) -> String {
    unconverted(&TypeError {
        found: Found::of(found),
        field: None,
        wanted: wanted.to_owned(),
    })
}

/// A merge writes the objects that it looks into with sorted keys.
fn sort_along(value: &mut Value, patch: &Value) {
    let Some(fields) = value.as_object_mut() else {
        return;
    };
    fields.sort_keys();
    for (key, patch) in patch.as_object().into_iter().flat_map(json::Object::iter) {
        if let (Some(below), Value::Object(_)) = (fields.get_mut(key), patch) {
            sort_along(below, patch);
        }
    }
}
