use json::{Number, Value};

use super::{Query, refuse, validate_dry_run};
use crate::Status;
use crate::field::{Error, Path};
use crate::go::quote;
use crate::object;

/// What happens to the dependents of an object that is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    Orphan,
    Background,
    Foreground,
}

/// What the object must be for the delete to happen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    pub uid: Option<String>,
    pub resource_version: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    pub grace_period_seconds: Option<i64>,
    pub preconditions: Option<Preconditions>,
    /// Older than `propagation_policy`, and not to be used with it.
    pub orphan_dependents: Option<bool>,
    pub propagation_policy: Option<Propagation>,
    pub dry_run: bool,
    pub ignore_store_read_error: Option<bool>,
}

const IGNORE: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

impl DeleteOptions {
    pub fn from_query<S: AsRef<str>>(query: &Query<'_, S>) -> Result<Self, Status> {
        let text = |name| {
            query
                .first(name)
                .filter(|it| !it.is_empty())
                .map(Into::into)
        };
        let preconditions = Preconditions {
            uid: text("uid"),
            resource_version: text("resourceVersion"),
        };
        let options = Self {
            grace_period_seconds: query.number("gracePeriodSeconds")?,
            preconditions: (preconditions != Preconditions::default()).then_some(preconditions),
            orphan_dependents: query.flag("orphanDependents"),
            ignore_store_read_error: query.flag(IGNORE),
            ..Self::default()
        };
        options.checked(query.first("propagationPolicy"), &query.texts("dryRun"))
    }

    /// A body, which may be of any group that once had such options. The first field of a wrong type is named.
    pub fn from_value(body: &Value) -> Result<Self, Status> {
        let unread = "couldn't get version/kind; json parse error: json: cannot unmarshal";
        let fields = match body {
            Value::Null => return Ok(Self::default()),
            Value::Object(fields) => fields,
            other => {
                return Err(Status::bad_request(format!(
                    "{unread} {} into Go value of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
                    go_type(other)
                )));
            }
        };
        for key in ["apiVersion", "kind"] {
            if let Some(it) = body
                .get(key)
                .filter(|it| !it.is_null() && it.as_str().is_none())
            {
                let found = go_type(it);
                return Err(Status::bad_request(format!(
                    "{unread} {found} into Go struct field .{key} of type string"
                )));
            }
        }
        if !matches!(object::kind(body), "" | "DeleteOptions") {
            let version = match object::api_version(body) {
                "" => "meta.k8s.io/v1",
                version => version,
            };
            let (kind, version) = (quote(object::kind(body)), quote(version));
            let message = format!(
                "no kind {kind} is registered for version {version} in scheme \
                 \"pkg/apis/meta/internalversion/scheme/register.go:27\""
            );
            return Err(Status::bad_request(message));
        }
        let mut options = Self::default();
        let (mut policy, mut dry_run) = (None, Vec::new());
        for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            let field = format!("DeleteOptions.{key}");
            match &**key {
                "gracePeriodSeconds" => options.grace_period_seconds = Some(number(value, &field)?),
                "preconditions" => options.preconditions = Some(preconditions(value, &field)?),
                "orphanDependents" => options.orphan_dependents = Some(flag(value, &field)?),
                "propagationPolicy" => {
                    policy = Some(text(value, &field, "v1.DeletionPropagation")?);
                }
                "dryRun" => dry_run = texts(value, &field)?,
                IGNORE => options.ignore_store_read_error = Some(flag(value, &field)?),
                _ => {}
            }
        }
        options.checked(policy, &dry_run)
    }

    fn checked(mut self, policy: Option<&str>, dry_run: &[String]) -> Result<Self, Status> {
        let mut errors = Vec::new();
        let path = Path::new("propagationPolicy");
        if let (Some(policy), Some(_)) = (policy, self.orphan_dependents) {
            let detail = "orphanDependents and deletionPropagation cannot be both set";
            errors.push(Error::invalid(path, policy, detail));
        }
        self.propagation_policy = match policy {
            None => None,
            Some("Orphan") => Some(Propagation::Orphan),
            Some("Background") => Some(Propagation::Background),
            Some("Foreground") => Some(Propagation::Foreground),
            Some(other) => {
                let all = ["Foreground", "Background", "Orphan", "nil"];
                errors.push(Error::not_supported(path, other, all));
                None
            }
        };
        errors.extend(validate_dry_run(dry_run));
        self.dry_run = !dry_run.is_empty();
        errors.extend(self.ignoring_excludes(policy.is_some()));
        refuse(self, "DeleteOptions", &errors)
    }

    /// An object that cannot be read has nothing that other options could look at.
    fn ignoring_excludes(&self, policy: bool) -> Vec<Error> {
        if self.ignore_store_read_error != Some(true) {
            return Vec::new();
        }
        let others = [
            (policy, "propagationPolicy"),
            (self.orphan_dependents.is_some(), "orphanDependents"),
            (self.grace_period_seconds.is_some(), "gracePeriodSeconds"),
            (self.preconditions.is_some(), "preconditions"),
        ];
        let set = others.into_iter().filter(|(set, _)| *set);
        set.map(|(_, name)| {
            let detail = format!("cannot be set together with .{name}");
            Error::invalid(Path::new(IGNORE), true, detail)
        })
        .collect()
    }
}

/// What Go says of a value of another type.
fn mismatch(value: &Value, field: &str, wanted: &str) -> Status {
    let found = go_type(value);
    Status::bad_request(format!(
        "json: cannot unmarshal {found} into Go struct field {field} of type {wanted}"
    ))
}

fn go_type(value: &Value) -> String {
    match value {
        Value::Bool(_) => "bool".into(),
        Value::Number(_) => "number".into(),
        other => other.type_name().into(),
    }
}

fn preconditions(value: &Value, field: &str) -> Result<Preconditions, Status> {
    let Value::Object(fields) = value else {
        return Err(mismatch(value, field, "v1.Preconditions"));
    };
    let mut conditions = Preconditions::default();
    for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        let field = format!("Preconditions.preconditions.{key}");
        match &**key {
            "uid" => conditions.uid = Some(text(value, &field, "types.UID")?.into()),
            "resourceVersion" => {
                conditions.resource_version = Some(text(value, &field, "string")?.into());
            }
            _ => {}
        }
    }
    Ok(conditions)
}

fn text<'a>(value: &'a Value, field: &str, wanted: &str) -> Result<&'a str, Status> {
    value.as_str().ok_or_else(|| mismatch(value, field, wanted))
}

fn flag(value: &Value, field: &str) -> Result<bool, Status> {
    value
        .as_bool()
        .ok_or_else(|| mismatch(value, field, "bool"))
}

fn number(value: &Value, field: &str) -> Result<i64, Status> {
    match value {
        Value::Number(Number::Int(number)) => Ok(*number),
        Value::Number(Number::Float(_)) => Err(Status::bad_request(format!(
            "json: cannot unmarshal number {value} into Go struct field {field} of type int64"
        ))),
        other => Err(mismatch(other, field, "int64")),
    }
}

fn texts(value: &Value, field: &str) -> Result<Vec<String>, Status> {
    let Value::Array(items) = value else {
        return Err(mismatch(value, field, "[]string"));
    };
    let texts = items
        .iter()
        .map(|it| text(it, field, "string").map(Into::into));
    texts.collect()
}
