//! `SubjectAccessReview`, `SelfSubjectAccessReview` and `LocalSubjectAccessReview`.

use std::borrow::Cow;

use json::{Object, Value};
use meta::field::Error;
use meta::selector::{FieldSelector, LabelSelector};

use crate::authorizer::{Decision, Verdict};
use crate::rbac::strings;
use crate::{Attributes, User};

/// A review that has been read: whose access to what it asks about.
#[derive(Clone, Debug)]
pub struct AccessReview<'a> {
    user: Cow<'a, User>,
    spec: &'a Value,
    field_selector: String,
    label_selector: String,
    /// Selectors that could not be read, for `status.evaluationError`.
    ignored: Vec<String>,
}

impl<'a> AccessReview<'a> {
    /// Of a `SelfSubjectAccessReview`: about the user of the request.
    pub fn of_self(review: &'a Value, user: &'a User) -> Self {
        Self::new(review, Cow::Borrowed(user))
    }

    /// Of a `SubjectAccessReview` or `LocalSubjectAccessReview`: about whom it names.
    pub fn of_subject(review: &'a Value) -> Self {
        let spec = review.get("spec").unwrap_or(&Value::Null);
        let text = |key| spec.str_at(&[key]).unwrap_or_default().to_owned();
        let extra = spec.get("extra").and_then(Value::as_object);
        let extra = extra.into_iter().flat_map(Object::iter);
        let user = User {
            name: text("user"),
            uid: text("uid"),
            groups: strings(spec.get("groups")),
            extra: extra
                .map(|(key, values)| (key.to_string(), strings(Some(values))))
                .collect(),
        };
        Self::new(review, Cow::Owned(user))
    }

    fn new(review: &'a Value, user: Cow<'a, User>) -> Self {
        let spec = review.get("spec").unwrap_or(&Value::Null);
        let mut ignored = Vec::new();
        let mut selector = |key: &str| {
            let selector = spec.at(&["resourceAttributes", key]);
            let (text, complete) =
                selector.map_or((String::new(), true), |it| selector_text(it, key));
            if !complete {
                let part = if text.is_empty() { "" } else { "partially " };
                ignored.push(format!(
                    "spec.resourceAttributes.{key} {part}ignored due to parse error"
                ));
            }
            text
        };
        Self {
            field_selector: selector("fieldSelector"),
            label_selector: selector("labelSelector"),
            user,
            spec,
            ignored,
        }
    }

    /// The question for the authorizer.
    pub fn attributes(&self) -> Attributes<'_> {
        let Some(resource) = self
            .spec
            .get("resourceAttributes")
            .filter(|it| !it.is_null())
        else {
            let text = |key| {
                self.spec
                    .str_at(&["nonResourceAttributes", key])
                    .unwrap_or_default()
            };
            return Attributes::path(&self.user, text("verb"), text("path"));
        };
        let text = |key| resource.str_at(&[key]).unwrap_or_default();
        let version = match text("version") {
            "" => "*",
            version => version,
        };
        Attributes {
            field_selector: &self.field_selector,
            label_selector: &self.label_selector,
            ..Attributes::resource(&self.user, text("verb"), text("group"), text("resource"))
                .version(version)
                .subresource(text("subresource"))
                .namespace(text("namespace"))
                .name(text("name"))
        }
    }

    /// The `status` with the answer.
    pub fn status(&self, decision: &Decision) -> Value {
        let errors = decision.error.iter().chain(&self.ignored);
        let errors: Vec<_> = errors.map(String::as_str).collect();
        access_status(decision, &errors.join("; "))
    }
}

/// `allowed` is always written, the rest where it is not empty.
pub fn access_status(decision: &Decision, evaluation_error: &str) -> Value {
    let mut status = Object::new();
    status.insert("allowed", decision.allowed());
    if decision.verdict == Verdict::Deny {
        status.insert("denied", true);
    }
    for (key, text) in [
        ("reason", &*decision.reason),
        ("evaluationError", evaluation_error),
    ] {
        if !text.is_empty() {
            status.insert(key, text);
        }
    }
    status.into()
}

/// The selector as text, and whether all of it could be read.
fn selector_text(selector: &Value, key: &str) -> (String, bool) {
    if let Some(raw) = selector
        .str_at(&["rawSelector"])
        .filter(|it| !it.is_empty())
    {
        let reads = match key {
            "fieldSelector" => FieldSelector::parse(raw).is_ok(),
            _ => LabelSelector::parse(raw).is_ok(),
        };
        let text = if reads { raw } else { "" };
        return (text.to_owned(), reads);
    }
    let requirements = selector.get("requirements").and_then(Value::as_array);
    let (mut terms, mut complete) = (Vec::new(), true);
    for requirement in requirements.into_iter().flatten() {
        let text = |key| requirement.str_at(&[key]).unwrap_or_default();
        let (name, values) = (text("key"), strings(requirement.get("values")));
        let term = match (key, text("operator"), &values[..]) {
            ("fieldSelector", "In", [value]) => format!("{name}={value}"),
            ("fieldSelector", "NotIn", [value]) => format!("{name}!={value}"),
            ("labelSelector", "In", [_, ..]) => format!("{name} in ({})", values.join(",")),
            ("labelSelector", "NotIn", [_, ..]) => format!("{name} notin ({})", values.join(",")),
            ("labelSelector", "Exists", []) => name.to_owned(),
            ("labelSelector", "DoesNotExist", []) => format!("!{name}"),
            _ => {
                complete = false;
                continue;
            }
        };
        terms.push(term);
    }
    (terms.join(","), complete)
}

/// A path and a verb as upstream's internal type prints them.
fn printed(attributes: &Value) -> Value {
    let text = |key| attributes.str_at(&[key]).unwrap_or_default();
    json::json!({"Path": (text("path")), "Verb": (text("verb"))})
}

/// What is wrong with a review, by its kind.
pub fn validate_access(kind: &str, review: &Value) -> Vec<Error> {
    let null = Value::Null;
    let spec = review.get("spec").unwrap_or(&null);
    let part = |key| spec.get(key).filter(|it| !it.is_null());
    let (resource, path) = (part("resourceAttributes"), part("nonResourceAttributes"));
    let mut errors = Vec::new();
    if resource.is_some() == path.is_some() {
        errors.push(Error::invalid(
            "spec",
            path.map(printed).unwrap_or_default(),
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        ));
    }
    let text = |value: &Value, key| value.str_at(&[key]).unwrap_or_default().to_owned();
    if kind != "SelfSubjectAccessReview"
        && text(spec, "user").is_empty()
        && strings(spec.get("groups")).is_empty()
    {
        let detail = "at least one of user or group must be specified";
        errors.push(Error::invalid("spec.user", "", detail));
    }
    for key in ["fieldSelector", "labelSelector"] {
        if let Some(selector) = resource
            .and_then(|it| it.get(key))
            .filter(|it| !it.is_null())
        {
            let field = format!("spec.resourceAttributes.{key}");
            let raw = text(selector, "rawSelector");
            let requirements = selector.get("requirements").and_then(Value::as_array);
            match (raw.is_empty(), requirements.is_none_or(Vec::is_empty)) {
                (false, false) => errors.push(Error::invalid(
                    format_args!("{field}.rawSelector"),
                    raw,
                    "may not specified at the same time as requirements",
                )),
                (true, true) => errors.push(Error::required(
                    format_args!("{field}.requirements"),
                    format!("when {field} is specified, requirements or rawSelector is required"),
                )),
                _ => {}
            }
        }
    }
    let local = kind == "LocalSubjectAccessReview";
    let metadata = review.get("metadata").and_then(Value::as_object);
    let filled = |(key, value): (&json::Text, &Value)| {
        let empty = match value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(object) => object.is_empty(),
            _ => false,
        };
        !empty && **key != *"managedFields" && !(local && **key == *"namespace")
    };
    if let Some(metadata) = metadata.filter(|it| it.iter().any(filled)) {
        let detail = if local {
            "must be empty except for namespace"
        } else {
            "must be empty"
        };
        errors.push(Error::invalid("metadata", metadata.clone(), detail));
    }
    if local {
        let own = review
            .str_at(&["metadata", "namespace"])
            .unwrap_or_default();
        if let Some(found) = resource
            .map(|it| text(it, "namespace"))
            .filter(|it| it != own)
        {
            let field = "spec.resourceAttributes.namespace";
            errors.push(Error::invalid(
                field,
                found,
                "must match metadata.namespace",
            ));
        }
        if let Some(path) = path {
            let detail = "disallowed on this kind of request";
            errors.push(Error::invalid(
                "spec.nonResourceAttributes",
                printed(path),
                detail,
            ));
        }
    }
    errors
}
