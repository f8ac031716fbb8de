//! From a request's body to an object: JSON, YAML or protobuf; strict, with warnings, or forgiving.

use std::fmt;

use http::header::CONTENT_TYPE;
use json::Value;
use meta::Status;
use meta::gvk::{GroupVersion, GroupVersionKind};
use schema::Schema;

use crate::catalog::custom::Custom;
use crate::catalog::structural;
use crate::handler::context::RequestContext;
use crate::handler::respond::text;
use crate::handler::strict::{self, StrictError};
use crate::request::negotiate::{FORMATS, Format};

/// `fieldValidation`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Validation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

impl Validation {
    /// The query's options were checked before.
    pub(crate) fn of(ctx: &RequestContext<'_>) -> Self {
        match ctx.query.get("fieldValidation") {
            Some("Ignore") => Self::Ignore,
            Some("Strict") => Self::Strict,
            _ => Self::Warn,
        }
    }
}

/// An object as the client sent it, with what a strict reader had to say.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub object: Value,
    pub warnings: Vec<String>,
}

/// What a body should be.
#[derive(Clone, Debug)]
pub(crate) struct Expected<'a> {
    pub kind: &'a GroupVersionKind,
    pub schema: Option<&'a Schema>,
    pub custom: Option<&'a Custom>,
}

pub(crate) fn format(ctx: &RequestContext<'_>) -> Result<Format, Status> {
    let header = text(ctx.headers, &CONTENT_TYPE).unwrap_or_default();
    let media = header.split(';').next().unwrap_or_default().trim();
    match media {
        "application/json" => Ok(Format::Json),
        "" if header.is_empty() => Ok(Format::Json),
        "application/yaml" => Ok(Format::Yaml),
        "application/vnd.kubernetes.protobuf" => Ok(Format::Protobuf),
        _ => Err(Status::unsupported_media_type(FORMATS)),
    }
}

/// Reads an object and checks that it is of the kind that belongs here.
pub(crate) fn object(
    body: &[u8],
    format: Format,
    validation: Validation,
    expected: &Expected<'_>,
) -> Result<Decoded, Status> {
    let mut strict: Vec<StrictError> = Vec::new();
    let mut object = match format {
        Format::Json => {
            let parsed = json::parse_with(body, json::Limits::default());
            let parsed =
                parsed.map_err(|error| unreadable(expected.kind, body, &error.to_string()))?;
            let duplicates = parsed.duplicates.iter();
            strict.extend(duplicates.map(|path| StrictError::duplicate(path)));
            parsed.value
        }
        Format::Yaml => {
            strict.extend(strict::yaml_duplicates(body));
            yaml::to_json(body)
                .map_err(|error| unrecognized(expected.kind, body, &error.to_string()))?
        }
        Format::Protobuf => {
            if expected.custom.is_some() {
                return Err(Status::unsupported_media_type(&[
                    "application/json",
                    "application/yaml",
                ]));
            }
            if body.is_empty() {
                return Err(unrecognized(expected.kind, body, "empty data"));
            }
            schema::protobuf::decode_object(body)
                .map_err(|error| unrecognized(expected.kind, body, &error.to_string()))?
        }
    };
    if object.is_null() {
        object = json::Object::new().into();
    }
    check_kind(&mut object, body, expected)?;
    let origin = match format {
        Format::Protobuf => Origin::Protobuf,
        Format::Json | Format::Yaml => Origin::Text,
    };
    Ok(finish(object, strict, origin, validation, expected)?)
}

/// Where an object comes from.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    Text,
    /// Has fields of its type only.
    Protobuf,
    Patch,
}

/// The same for an object that a patch has made, or a patch that is an object. A refusal says why, and no more.
pub(crate) fn patched(
    mut object: Value,
    strict: Vec<StrictError>,
    validation: Validation,
    expected: &Expected<'_>,
) -> Result<Decoded, Unfit> {
    let said = said(&object).map_err(Status::bad_request)?;
    belongs(&mut object, said, expected)?;
    finish(object, strict, Origin::Patch, validation, expected)
}

fn finish(
    mut object: Value,
    mut strict: Vec<StrictError>,
    origin: Origin,
    validation: Validation,
    expected: &Expected<'_>,
) -> Result<Decoded, Unfit> {
    if let Some(custom) = expected.custom {
        let unknown = structural::read(custom, &mut object).map_err(|error| {
            // The object's own metadata is read before there are paths.
            let is_own = error.field == "metadata";
            let text = if is_own {
                error.detail
            } else {
                error.to_string()
            };
            Unfit::of(expected.kind, Why::Text(text))
        })?;
        strict.extend(unknown.iter().map(|path| StrictError::unknown(path)));
    } else if let Some(schema) = expected.schema
        && origin != Origin::Protobuf
    {
        let unknown = schema::unknown_paths(schema.place(), &object);
        let unknown: Vec<_> = (unknown.iter())
            .map(|path| StrictError::unknown_in_type(path))
            .collect();
        if origin == Origin::Text {
            // What is below an unknown field is not looked at.
            strict.retain(|it| !unknown.iter().any(|unknown| it.is_within(unknown)));
        }
        strict.extend(unknown);
        // A patch was read before what it has made.
        if origin == Origin::Text && strict.len() > 1 {
            strict::in_document_order(&object, &mut strict);
        }
        schema::check_types(schema.place(), &object)
            .map_err(|error| Unfit::of(expected.kind, Why::Type(error)))?;
        schema::prune(schema.place(), &mut object);
        let managers = object.at(&["metadata", "managedFields"]);
        let forgets = managers
            .and_then(Value::as_array)
            .is_some_and(Vec::is_empty);
        schema::canonical(schema.place(), &mut object);
        // An explicit empty `managedFields` list resets ownership; elsewhere an empty list means unset.
        if forgets && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        {
            metadata.insert("managedFields", vec![json::Object::new().into()]);
        }
    }
    let warnings = self::strict(strict, validation, expected)?;
    Ok(Decoded { object, warnings })
}

/// What a strict reader found becomes a refusal, warnings, or nothing.
pub(crate) fn strict(
    found: Vec<StrictError>,
    validation: Validation,
    expected: &Expected<'_>,
) -> Result<Vec<String>, Unfit> {
    match validation {
        Validation::Strict if !found.is_empty() => {
            Err(Unfit::of(expected.kind, Why::Text(strict::told(&found))))
        }
        Validation::Ignore => Ok(Vec::new()),
        Validation::Strict | Validation::Warn => {
            let warnings = found.into_iter().flat_map(StrictError::into_warnings);
            Ok(warnings.collect())
        }
    }
}

fn check_kind(object: &mut Value, body: &[u8], expected: &Expected<'_>) -> Result<(), Status> {
    let mut said = said(object).map_err(|text| unrecognized(expected.kind, body, &text))?;
    let want = expected.kind;
    if expected.custom.is_some() {
        // Custom objects must say what they are.
        if said.kind.is_empty() {
            let body_text = String::from_utf8_lossy(body);
            let text = format!("Object 'Kind' is missing in '{body_text}'");
            return Err(unrecognized(want, body, &text));
        }
        if object.get("apiVersion").is_some_and(Value::is_null) {
            let text = ".apiVersion accessor error: <nil> is of the type <nil>, expected string";
            return Err(handled_as(&said.kind, "", &want.kind, text));
        }
    } else {
        said.fill(want);
        if said.version.is_empty() {
            let body = String::from_utf8_lossy(body);
            let text = format!("Object 'apiVersion' is missing in '{body}'");
            return Err(handled_as(&said.kind, "", &want.kind, &text));
        }
    }
    Ok(belongs(object, said, expected)?)
}

/// What an object says it is.
struct TypeMeta {
    group: String,
    version: String,
    kind: String,
}

impl TypeMeta {
    /// What is left out is what belongs here.
    fn fill(&mut self, want: &GroupVersionKind) {
        if self.kind.is_empty() {
            self.kind.clone_from(&want.kind);
        }
        if self.version.is_empty() && (self.group.is_empty() || self.group == want.group) {
            self.group.clone_from(&want.group);
            self.version.clone_from(&want.version);
        }
    }
}

/// Fails as Go does that looks for nothing else in the text.
fn said(object: &Value) -> Result<TypeMeta, String> {
    let unfit = |found: &Value, wanted: &str| {
        let found = go_type(found);
        format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {found} into {wanted}"
        )
    };
    let Some(fields) = object.as_object() else {
        let go = "Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
                  \"json:\\\"kind,omitempty\\\"\" }";
        return Err(unfit(object, go));
    };
    let (mut api_version, mut kind) = ("", "");
    for (name, value) in fields.iter() {
        let text = match &**name {
            "apiVersion" => &mut api_version,
            "kind" => &mut kind,
            _ => continue,
        };
        match value {
            Value::String(it) => *text = it,
            Value::Null => {}
            other => {
                let wanted = format!("Go struct field .{name} of type string");
                return Err(unfit(other, &wanted));
            }
        }
    }
    let parsed = GroupVersion::parse(api_version).map_err(|error| error.to_string())?;
    Ok(TypeMeta {
        group: parsed.group,
        version: parsed.version,
        kind: kind.to_owned(),
    })
}

fn belongs(object: &mut Value, mut said: TypeMeta, expected: &Expected<'_>) -> Result<(), Unfit> {
    let want = expected.kind;
    if expected.custom.is_none() {
        said.fill(want);
        // policy/v1beta1 was removed in 1.25, but an Eviction of it is still accepted.
        if said.kind == "Eviction" && (&*said.group, &*said.version) == ("policy", "v1beta1") {
            said.version = "v1".into();
        }
    }
    if said.kind != want.kind || said.group != want.group || said.version != want.version {
        let name = meta::object::name(object);
        return Err(other_kind(expected, name, &said));
    }
    if let Some(fields) = object.as_object_mut() {
        fields.insert("kind", &*want.kind);
        fields.insert("apiVersion", want.api_version());
    }
    Ok(())
}

/// What Go calls a value of JSON.
pub(crate) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        other => other.type_name(),
    }
}

fn other_kind(expected: &Expected<'_>, name: &str, said: &TypeMeta) -> Unfit {
    let want = expected.kind;
    let TypeMeta {
        group,
        version,
        kind,
    } = said;
    let api_version = &GroupVersionKind::new(&**group, &**version, &**kind).api_version();
    let registered = resources::builtin()
        .of_version(group, version)
        .any(|row| row.kind == *kind);
    if !registered && expected.custom.is_none() {
        let text = format!(
            "no kind {} is registered for version {} in scheme \"pkg/api/legacyscheme/scheme.go:30\"",
            meta::go::quote(kind),
            meta::go::quote(api_version)
        );
        return Unfit::handled(kind, version, &want.kind, Why::Text(text));
    }
    if expected.custom.is_some() && *group == want.group && *version == want.version {
        let detail = format!("must be {}", want.kind);
        let error = meta::field::Error::invalid("kind", kind, detail);
        let kind = meta::gvk::GroupKind::new(&**group, &**kind);
        return Status::invalid(&kind, name, &[error]).into();
    }
    if *group != want.group || *version != want.version {
        let text = format!(
            "the API version in the data ({api_version}) does not match the expected API version ({})",
            want.api_version()
        );
        return Status::bad_request(text).into();
    }
    let internal = match want.group.split('.').next() {
        None | Some("") => "core",
        Some(group) => group,
    };
    let text = format!(
        "converting ({version}.{kind}) to ({internal}.{}): unknown conversion",
        want.kind
    );
    Unfit::handled(kind, version, &want.kind, Why::Text(text))
}

fn unreadable(kind: &GroupVersionKind, body: &[u8], error: &str) -> Status {
    let error = format!("couldn't get version/kind; json parse error: {error}");
    unrecognized(kind, body, &error)
}

fn unrecognized(kind: &GroupVersionKind, body: &[u8], error: &str) -> Status {
    Status::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): {error} ({})",
        kind.kind,
        summary(body)
    ))
}

/// The beginning of a body, as upstream shows it: text if it looks like JSON, hexadecimal if not.
fn summary(body: &[u8]) -> String {
    const SHOWN: usize = 30;
    let begin = &body[..body.len().min(SHOWN)];
    let shown = match begin.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(begin).into_owned(),
        Some(_) => encoding::hex::encode(begin),
    };
    let more = if body.len() > SHOWN { " ..." } else { "" };
    format!("{shown}{more}")
}

/// Why an object is not what belongs here.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// Told as `KIND in version "VERSION" cannot be handled as a WANT: WHY`.
    Handled(Box<Handled>),
    Status(Status),
}

#[derive(Debug)]
pub(crate) struct Handled {
    kind: String,
    version: String,
    want: String,
    why: Why,
}

/// What is wrong, without what was expected instead.
#[derive(Debug)]
pub(crate) enum Why {
    Type(schema::DecodeError),
    Text(String),
}

impl Unfit {
    fn of(kind: &GroupVersionKind, why: Why) -> Self {
        Self::handled(&kind.kind, &kind.version, &kind.kind, why)
    }

    fn handled(kind: &str, version: &str, want: &str, why: Why) -> Self {
        Self::Handled(Box::new(Handled {
            kind: kind.to_owned(),
            version: version.to_owned(),
            want: want.to_owned(),
            why,
        }))
    }

    pub(crate) fn why(self) -> Why {
        match self {
            Self::Handled(handled) => handled.why,
            Self::Status(status) => Why::Text(status.message.clone()),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type(error) => error.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl From<Status> for Unfit {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

impl From<Unfit> for Status {
    fn from(unfit: Unfit) -> Self {
        match unfit {
            Unfit::Status(status) => status,
            Unfit::Handled(it) => handled_as(&it.kind, &it.version, &it.want, &it.why.to_string()),
        }
    }
}

fn handled_as(kind: &str, version: &str, want: &str, error: &str) -> Status {
    let version = meta::go::quote(version);
    Status::bad_request(format!(
        "{kind} in version {version} cannot be handled as a {want}: {error}"
    ))
}
