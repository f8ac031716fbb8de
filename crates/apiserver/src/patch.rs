//! PATCH in its four forms.

use std::sync::Arc;

use http::Response;
use http::header::CONTENT_TYPE;
use json::Value;
use meta::Status;
use meta::gvk::{GroupKind, GroupResource};
use schema::Schema;
use telemetry::trace;

use crate::body::Body;
use crate::decode::{self, Expected, Validation};
use crate::incoming::RequestBody;
use crate::managed;
use crate::object;
use crate::pipeline::{Api, Ask};
use crate::respond;
use crate::traced;
use crate::verbs;
use crate::write::{Change, Changed, Write};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Json,
    Merge,
    Strategic,
    Apply,
}

impl Kind {
    pub(crate) fn of(ask: &Ask<'_>) -> Result<Self, Status> {
        let header = respond::text(ask.headers, &CONTENT_TYPE).unwrap_or_default();
        let media = header.split(';').next().unwrap_or_default().trim();
        let custom = ask.resource.custom.is_some();
        match media {
            "application/json-patch+json" => Ok(Self::Json),
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/strategic-merge-patch+json" if !custom => Ok(Self::Strategic),
            "application/apply-patch+yaml" => Ok(Self::Apply),
            _ if custom => Err(Status::unsupported_media_type(&[
                "application/json-patch+json",
                "application/merge-patch+json",
                "application/apply-patch+yaml",
            ])),
            _ => {
                let reason = meta::status::Reason::UnsupportedMediaType;
                let mut status = Status::failure(415, reason, "415: Unsupported Media Type");
                status.details = Some(Box::default());
                Err(status)
            }
        }
    }
}

pub(crate) async fn patch(
    api: &Arc<Api>,
    ask: &Ask<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let options = verbs::write_options(ask, "PatchOptions")?;
    let validation = Validation::of(ask);
    let bytes = traced::body(api, ask, body).await?;
    trace::event("Recorded the audit event");
    let write = Write::new(api, ask, options);
    let mut change = Patch {
        ask,
        write: &write,
        body: Document::read(ask, &bytes)?,
        validation,
        force: ask.query.flag("force"),
    };
    let written = write.update(&ask.info.name, &mut change).await?;
    trace::event("Object stored in database");
    verbs::show(ask, &written)
}

/// A patch as it was sent.
#[derive(Debug)]
pub(crate) struct Document {
    pub kind: Kind,
    pub value: Value,
    /// Keys that came more than once, and such that steps do not have.
    duplicates: Vec<String>,
}

impl Document {
    pub(crate) fn read(ask: &Ask<'_>, bytes: &[u8]) -> Result<Self, Status> {
        let kind = Kind::of(ask)?;
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
                duplicates: decode::yaml_duplicates(bytes),
            });
        }
        let parsed = json::parse_with(bytes, json::Limits::default()).map_err(|error| {
            Status::bad_request(match kind {
                Kind::Merge if ask.resource.custom.is_none() => "invalid JSON patch".to_owned(),
                _ => format!("error decoding patch: {error}"),
            })
        })?;
        let wanted = match (kind, &parsed.value) {
            (Kind::Json, Value::Array(_) | Value::Null)
            | (Kind::Merge | Kind::Strategic | Kind::Apply, Value::Object(_)) => None,
            (Kind::Json, _) => Some("[]handlers.jsonPatchOp"),
            _ => Some("map[string]interface {}"),
        };
        if let Some(wanted) = wanted {
            let found = parsed.value.type_name();
            return Err(Status::bad_request(format!(
                "error decoding patch: json: cannot unmarshal {found} into Go value of type {wanted}"
            )));
        }
        let of = if kind == Kind::Json {
            "json patch "
        } else {
            ""
        };
        let duplicates = parsed.duplicates.iter();
        let duplicates = duplicates.map(|path| format!("{of}duplicate field \"{path}\""));
        let mut strict: Vec<String> = duplicates.collect();
        if kind == Kind::Json {
            strict.extend(unknown_in_steps(&parsed.value));
        }
        Ok(Self {
            kind,
            value: parsed.value,
            duplicates: strict,
        })
    }

    /// What the patch makes of an object; not for server-side apply.
    pub(crate) fn apply(&self, live: &Value, schema: Option<&Schema>) -> Result<Value, Status> {
        let (live, patch) = (live.clone(), self.value.clone());
        let patched = match self.kind {
            Kind::Json => merge::json_patch(live, patch),
            Kind::Merge => merge::merge_patch(live, patch),
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
            return decode::patched(patched, strict, validation, expected);
        }
        let lenient = match validation {
            Validation::Strict => Validation::Warn,
            other => other,
        };
        let decoded = decode::patched(patched.clone(), strict, lenient, expected);
        let decoded = decoded.map_err(|status| {
            // Only what is wrong, not what was expected instead.
            let said = status.message.split_once(": ").map_or("", |it| it.1);
            let converted = (self.kind == Kind::Strategic).then(|| unconverted(said));
            self.unreadable(&patched, converted.flatten().as_deref().unwrap_or(said))
        })?;
        if validation == Validation::Strict && !decoded.warnings.is_empty() {
            let text = format!("strict decoding error: {}", decoded.warnings.join(", "));
            return Err(self.unreadable(&patched, &text));
        }
        Ok(decoded)
    }

    /// A custom resource says of itself what it is, after a patch as before it.
    fn keeps_kind(&self, patched: &Value, expected: &Expected<'_>) -> Result<(), Status> {
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
            let mut whole = patched.clone();
            sort_along(&mut whole, &self.value);
            let text = format!("Object 'Kind' is missing in '{}'", json::to_string(&whole));
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

    /// What is said of an object that a patch has made, and that cannot be read: upstream shows the patch to a typed
    /// object as Go's map, and of others the whole result.
    fn unreadable(&self, patched: &Value, text: &str) -> Status {
        let shown = if self.kind == Kind::Strategic {
            merge::go_text(&self.value)
        } else {
            let mut patched = patched.clone();
            sort_along(&mut patched, &self.value);
            json::to_string(&patched)
        };
        let error = meta::field::Error::invalid("patch", shown, text);
        Status::invalid(&GroupKind::new("", ""), "", &[error])
    }
}

/// What steps of a JSON patch say beside what they may.
fn unknown_in_steps(patch: &Value) -> Vec<String> {
    let steps = patch.as_array().into_iter().flatten().enumerate();
    let fields = steps.flat_map(|(index, step)| {
        let fields = step.as_object().into_iter().flat_map(json::Object::iter);
        fields.map(move |(name, _)| (index, name))
    });
    fields
        .filter(|(_, name)| !matches!(&***name, "op" | "from" | "path" | "value"))
        .map(|(index, name)| format!("json patch unknown field \"[{index}].{name}\""))
        .collect()
}

/// Upstream reads what a strategic patch has made by another way than other objects, which has other words for what
/// does not fit.
fn unconverted(said: &str) -> Option<String> {
    let rest = said.strip_prefix("json: cannot unmarshal ")?;
    let (found, wanted) = (rest.split(' ').next()?, rest.rsplit(" of type ").next()?);
    let found = match found {
        "array" => "slice",
        "object" => "map",
        "number" => "int64",
        other => other,
    };
    Some(match wanted {
        "int32" | "int64" | "bool" | "string" => format!("unrecognized type: {wanted}"),
        it if it.starts_with("[]") => format!("cannot restore slice from {found}"),
        it if it.starts_with("map[") => format!("cannot restore map from {found}"),
        _ => return None,
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

struct Patch<'a> {
    ask: &'a Ask<'a>,
    write: &'a Write<'a>,
    body: Document,
    validation: Validation,
    force: bool,
}

impl Patch<'_> {
    /// What is applied where nothing is must name itself, and nothing that was.
    fn check_new(&self, object: &Value) -> Result<(), Status> {
        let uid = meta::object::uid(object);
        if uid.is_empty() {
            return verbs::check_named(self.ask, object);
        }
        let text = format!(
            "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        );
        let resource = self.ask.resource.group_resource();
        Err(Status::conflict(&resource, &self.ask.info.name, text))
    }
}

impl Change for Patch<'_> {
    fn apply(&mut self, live: Option<&Value>) -> Result<Changed, Status> {
        if live.is_some() || self.body.kind == Kind::Apply {
            trace::handler_event("About to apply patch");
        }
        let version = self.body.value.str_at(&["metadata", "resourceVersion"]);
        let exact = version.is_some_and(|it| !matches!(it, "" | "0"));
        let expected = Expected {
            kind: &self.ask.resource.gvk(),
            schema: self.ask.resource.schema.as_ref(),
            custom: self.ask.resource.custom.as_deref(),
        };
        if self.body.kind == Kind::Apply {
            if live.is_none() && !self.ask.info.subresource.is_empty() {
                return Err(self.ask.not_found());
            }
            // What the schema does not know, the merge refuses by itself.
            let strict = self.body.duplicates.clone();
            if let (Validation::Strict, Some(first)) = (self.validation, strict.first()) {
                return Err(Status::bad_request(format!(
                    "error strict decoding patch: error converting YAML to JSON: {first}"
                )));
            }
            let warnings = decode::strict(strict, self.validation, &expected)?;
            self.ask.warnings.add(warnings);
            let mut object = managed::apply(self.write, live, &self.body.value, self.force)?;
            object::check_name(&object, &self.ask.info.name)?;
            if live.is_none() {
                self.check_new(&object)?;
                object::forget_version(&mut object);
            }
            return Ok(Changed {
                object,
                managed: true,
                exact,
            });
        }
        let Some(live) = live else {
            return Err(self.ask.not_found());
        };
        let patched = self.body.apply(live, self.ask.resource.schema.as_ref())?;
        let decoded = self.body.decode(patched, self.validation, &expected)?;
        self.ask.warnings.add(decoded.warnings);
        object::check_name(&decoded.object, &self.ask.info.name)?;
        Ok(Changed {
            object: decoded.object,
            managed: false,
            exact,
        })
    }
}
