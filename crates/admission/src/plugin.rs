//! The seam for plugins.

use std::fmt;
use std::pin::Pin;
use std::time::{Duration, Instant};

use auth::User;
use json::Value;
use meta::Status;
use meta::gvk::{GroupResource, GroupVersionKind, GroupVersionResource};

use crate::policy::PolicyReinvocation;
use crate::webhook::Reinvocation;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Create,
    Update,
    Delete,
    Connect,
}

impl Operation {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        }
    }
}

/// What is about to happen.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub operation: Operation,
    /// Of the object, which for a subresource is not the resource's own.
    pub kind: &'a GroupVersionKind,
    pub resource: &'a GroupVersionResource,
    pub subresource: &'a str,
    pub namespace: &'a str,
    pub name: &'a str,
    pub user: &'a User,
    pub dry_run: bool,
    /// `CreateOptions` and the like, as upstream hands them to webhooks.
    pub options: &'a Value,
    /// What is there now: on update and delete.
    pub old: Option<&'a Value>,
    pub lookup: &'a dyn Lookup,
    pub kinds: &'a dyn Kinds,
    /// When whoever sent it stops waiting.
    pub deadline: Option<Instant>,
}

impl Request<'_> {
    pub fn is(&self, group: &str, resource: &str) -> bool {
        self.resource.group == group && self.resource.resource == resource
    }

    /// As `is`, and no subresource of it.
    pub fn is_whole(&self, group: &str, resource: &str) -> bool {
        self.subresource.is_empty() && self.is(group, resource)
    }

    /// A plugin's refusal. A name that is not known yet is what the object says of it.
    pub fn forbidden(&self, object: &Value, why: impl fmt::Display) -> Status {
        let generated = meta::object::generate_name_prefix(object);
        let names = [self.name, meta::object::name(object), generated];
        let name = names.into_iter().find(|it| !it.is_empty());
        let resource = GroupResource::new(&*self.resource.group, &*self.resource.resource);
        Status::forbidden(&resource, name.unwrap_or("Unknown"), why)
    }
}

/// The object on its way, with what plugins have to say beside it.
#[derive(Debug, Default)]
pub struct Admitting {
    /// Null on delete.
    pub object: Value,
    pub warnings: Vec<String>,
    pub audit_annotations: Vec<(String, String)>,
    /// How long webhooks were waited for.
    pub waited: Duration,
    pub(crate) reinvocation: Reinvocation,
    pub(crate) policy_reinvocation: PolicyReinvocation,
}

impl Admitting {
    pub fn new(object: Value) -> Self {
        Self {
            object,
            ..Self::default()
        }
    }
}

/// Other objects, as they are now.
pub trait Lookup: Send + Sync + fmt::Debug {
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<Value>;

    fn list(&self, group: &str, resource: &str, namespace: &str) -> Vec<Value>;

    /// Another number whenever an object of the resource came, went or changed; zero if there is none. Cheap: no
    /// object is read for it.
    fn stamp(&self, group: &str, resource: &str) -> u64;

    /// The names of all objects of a resource without namespaces, in order, each with a number that changes with the
    /// object. No object is read for it.
    fn versions(&self, group: &str, resource: &str) -> Vec<(String, u64)>;
}

/// What is known of kinds: under which names the same objects are served, and how they look there.
pub trait Kinds: Send + Sync + fmt::Debug {
    fn is_namespaced(&self, resource: &GroupVersionResource) -> bool;

    /// The resource whose objects are of this kind.
    fn resource_for(&self, kind: &GroupVersionKind) -> Option<GroupVersionResource>;

    /// The object as kube-apiserver writes it: with the empty fields that its Go types always write, without those that
    /// they leave out.
    fn written(&self, object: Value, kind: &GroupVersionKind) -> Value;

    /// Whether objects of the kind are Go structs in kube-apiserver: those of built-in kinds are.
    fn is_struct(&self, kind: &GroupVersionKind) -> bool;

    /// All names under which a resource's objects are served, its own among them, with the kind that its
    /// subresource, or the resource itself, takes there.
    fn equivalents(
        &self,
        resource: &GroupVersionResource,
        subresource: &str,
    ) -> Vec<(GroupVersionResource, GroupVersionKind)>;

    /// The object as another of its versions shows it.
    fn convert<'a>(
        &'a self,
        object: Value,
        to: &'a GroupVersionKind,
    ) -> BoxFuture<'a, Result<Value, Status>>;

    /// The object with a partial one of the same kind laid over it, by somebody who owns none of its fields.
    fn apply_configuration(
        &self,
        object: Value,
        patch: &Value,
        kind: &GroupVersionKind,
    ) -> Result<Value, ApplyError>;

    /// A line for each field that the kind does not have: `unknown field "spec.x"`. None for custom kinds.
    fn unknown_fields(&self, object: &Value, kind: &GroupVersionKind) -> Vec<String>;

    /// Reads an object as if a client had sent it: unknown fields are dropped, defaults are set.
    fn read(&self, object: Value, kind: &GroupVersionKind) -> Result<Value, Status>;
}

/// Why a partial object is not applied.
#[derive(Clone, Debug)]
pub enum ApplyError {
    UnknownKind,
    Failed(String),
}

/// What a plugin says: mostly at once, sometimes after asking others.
pub enum Outcome<'a> {
    /// It has nothing to say in this phase.
    Nothing,
    Now(Result<(), Status>),
    Later(BoxFuture<'a, Result<(), Status>>),
}

impl From<Result<(), Status>> for Outcome<'_> {
    fn from(result: Result<(), Status>) -> Self {
        Self::Now(result)
    }
}

impl fmt::Debug for Outcome<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("Nothing"),
            Self::Now(result) => f.debug_tuple("Now").field(result).finish(),
            Self::Later(_) => f.write_str("Later"),
        }
    }
}

/// One rule about objects. Implement the phase it belongs to.
pub trait Plugin: Send + Sync + fmt::Debug {
    fn name(&self) -> &'static str;

    /// Whether it has anything to say about such a request: most have not, and cost nothing then.
    fn handles(&self, request: &Request<'_>) -> bool;

    /// May change the object.
    fn admit<'a>(&'a self, _: &'a Request<'a>, _: &'a mut Admitting) -> Outcome<'a> {
        Outcome::Nothing
    }

    /// May only refuse it.
    fn validate<'a>(&'a self, _: &'a Request<'a>, _: &'a mut Admitting) -> Outcome<'a> {
        Outcome::Nothing
    }
}
