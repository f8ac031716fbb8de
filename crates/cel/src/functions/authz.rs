//! Questions to the authorizer: a chain of calls describes them, `check()` asks.

use std::sync::Arc;

use super::{Context, Function, Result};
use crate::error::Error;
use crate::value::{Opaque, Str, Value};

/// Whoever decides what is allowed.
pub trait Authorizer: Send + Sync {
    fn authorize(&self, attributes: &Attributes) -> Decision;
}

/// What is asked.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Attributes {
    pub verb: String,
    /// A service account (namespace and name) that is asked for instead of the user of the request.
    pub service_account: Option<(String, String)>,
    /// Set for a path that is no resource.
    pub path: Option<String>,
    pub group: String,
    pub resource: String,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
    pub field_selector: Option<String>,
    pub label_selector: Option<String>,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Decision {
    pub allowed: bool,
    pub reason: String,
    pub error: Option<String>,
}

/// A value of the library.
#[derive(Clone)]
pub struct Authz<'a> {
    authorizer: &'a dyn Authorizer,
    attributes: Attributes,
    stage: Stage,
}

#[derive(Clone, Debug)]
enum Stage {
    Authorizer,
    Path,
    Group,
    Resource,
    Decision(Decision),
}

impl std::fmt::Debug for Authz<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Authz({:?})", self.stage)
    }
}

impl<'a> Authz<'a> {
    pub(crate) fn type_name(&self) -> &'static str {
        match self.stage {
            Stage::Authorizer => "kubernetes.authorization.Authorizer",
            Stage::Path => "kubernetes.authorization.PathCheck",
            Stage::Group => "kubernetes.authorization.GroupCheck",
            Stage::Resource => "kubernetes.authorization.ResourceCheck",
            Stage::Decision(_) => "kubernetes.authorization.Decision",
        }
    }

    fn with(&self, stage: Stage, change: impl FnOnce(&mut Attributes)) -> Value<'a> {
        let mut attributes = self.attributes.clone();
        change(&mut attributes);
        Value::Opaque(Opaque::Authz(Arc::new(Self {
            authorizer: self.authorizer,
            attributes,
            stage,
        })))
    }
}

/// The value of the variable `authorizer`.
pub(crate) fn authorizer(authorizer: &dyn Authorizer) -> Value<'_> {
    Value::Opaque(Opaque::Authz(Arc::new(Authz {
        authorizer,
        attributes: Attributes::default(),
        stage: Stage::Authorizer,
    })))
}

/// The value of the variable `authorizer.requestResource`.
pub(crate) fn request_resource(authorizer: &dyn Authorizer, attributes: Attributes) -> Value<'_> {
    Value::Opaque(Opaque::Authz(Arc::new(Authz {
        authorizer,
        attributes,
        stage: Stage::Resource,
    })))
}

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "path" | "group" | "serviceAccount" | "resource" | "subresource" | "namespace" | "name"
        | "fieldSelector" | "labelSelector" | "check" | "allowed" | "reason" | "errored"
        | "error" => call,
        _ => return None,
    })
}

fn call<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let Some(Value::Opaque(Opaque::Authz(it))) = args.first() else {
        return Err(context.mismatch(args));
    };
    let mut texts = Vec::new();
    for arg in &args[1..] {
        match arg {
            Value::String(text) => texts.push(text.to_string()),
            _ => return Err(context.mismatch(args)),
        }
    }
    let text = texts.first().cloned().unwrap_or_default();
    Ok(match (&it.stage, context.name, texts.len()) {
        (Stage::Authorizer, "path", 1) if text.is_empty() => {
            return Err(Error::new("path must not be empty"));
        }
        (Stage::Authorizer, "path", 1) => it.with(Stage::Path, |to| to.path = Some(text)),
        (Stage::Authorizer, "group", 1) => it.with(Stage::Group, |to| to.group = text),
        (Stage::Authorizer, "serviceAccount", 2) => {
            if !super::formats::is_label(&text) {
                return Err(Error::new("Invalid service account namespace"));
            }
            if !super::formats::is_subdomain(&texts[1]) {
                return Err(Error::new("Invalid service account name"));
            }
            let name = texts[1].clone();
            it.with(Stage::Authorizer, |to| {
                to.service_account = Some((text, name));
            })
        }
        (Stage::Group, "resource", 1) => it.with(Stage::Resource, |to| to.resource = text),
        (Stage::Resource, "subresource", 1) => it.with(Stage::Resource, |to| to.subresource = text),
        (Stage::Resource, "namespace", 1) => it.with(Stage::Resource, |to| to.namespace = text),
        (Stage::Resource, "name", 1) => it.with(Stage::Resource, |to| to.name = text),
        (Stage::Resource, "fieldSelector", 1) => {
            it.with(Stage::Resource, |to| to.field_selector = Some(text))
        }
        (Stage::Resource, "labelSelector", 1) => {
            it.with(Stage::Resource, |to| to.label_selector = Some(text))
        }
        (Stage::Path | Stage::Resource, "check", 1) => {
            let mut attributes = it.attributes.clone();
            attributes.verb = text;
            let decision = it.authorizer.authorize(&attributes);
            it.with(Stage::Decision(decision), |_| {})
        }
        (Stage::Decision(decision), "allowed", 0) => Value::Bool(decision.allowed),
        (Stage::Decision(decision), "reason", 0) => {
            Value::String(Str::from(decision.reason.clone()))
        }
        (Stage::Decision(decision), "errored", 0) => Value::Bool(decision.error.is_some()),
        (Stage::Decision(decision), "error", 0) => {
            Value::String(Str::from(decision.error.clone().unwrap_or_default()))
        }
        _ => return Err(context.mismatch(args)),
    })
}
