//! The one write path: whatever the verb, an object becomes durable here and nowhere else.
//!
//! live object, change, drop disabled fields, default, managed fields, mutate admission, prepare, validate, validate admission, canonical
//! bytes, store.
//!
//! **Belongs here:** create, update, patch, apply and delete, and the steps of a write: strategies of kinds, managed
//! fields, allocation, escalation checks.
//! **May use:** `catalog`, `flow`, `handler`, `instruments`, `observe`, `read`, `request`, `runtime`, `state`,
//! `transport`.

pub mod allocate;
pub(crate) mod body;
mod create;
pub(crate) mod definition;
pub(crate) mod delete;
mod disabled;
pub(crate) mod escalation;
mod feature_rules;
pub mod feature_uses;
pub(crate) mod managed;
pub(crate) mod options;
pub(crate) mod patch;
pub(crate) mod strategy;
pub mod unenforced;
pub(crate) mod unserved;
mod update;
pub(crate) mod verbs;

use std::sync::Arc;

use admission::{Admitting, Operation, Request};
use bytes::Bytes;
use json::Value;
use meta::Status;
use meta::gvk::GroupVersionKind;
use resources::Action;
use store::{Entry, Txn};
use telemetry::trace::{self, Role, Scope};

use crate::catalog::Resource;
use crate::catalog::convert;
use crate::catalog::object;
use crate::handler::context::RequestContext;
use crate::handler::respond;
use crate::instruments::row::Operation as Stored;
use crate::observe::traced;
use crate::request::Verb;
use crate::runtime::write_barrier::WriteGuard;
use crate::state::Api;

use managed::FieldManager;

/// When owners were found that are named twice: a patch is looked at no sooner.
const ADMITTED: &str = " after mutating admission happens";

/// What the query says about a write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub dry_run: bool,
    pub field_manager: String,
    /// As admission webhooks see them.
    pub value: Value,
}

/// An object after its write.
#[derive(Debug)]
pub(crate) struct Written {
    /// At rest; on a dry run, what would be.
    pub entry: Entry,
    pub created: bool,
    /// It was not written, or it is gone.
    pub is_stored: bool,
    /// The `resourceVersion` that a client gave to an object which a dry run would create: upstream answers it as it came.
    pub given_version: Option<String>,
}

/// What a write is about.
#[derive(Debug)]
pub(crate) struct Write<'a> {
    pub api: &'a Arc<Api>,
    pub ctx: &'a RequestContext<'a>,
    pub options: Options,
    pub kind: GroupVersionKind,
    pub view: AdmissionView<'a>,
    /// A change by the server itself: no client owns its fields, and nothing of it is reset or validated.
    pub is_internal: bool,
    /// The kind with the feature gates of now, not of when the request came: they may have changed while its body was read.
    resource: Arc<Resource>,
    /// Whoever closes the admission of a feature waits for it.
    _under_way: WriteGuard,
}

/// What admission sees of a change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AdmissionView<'a> {
    Whole,
    /// A part of the object that is a kind of its own, as its Scale.
    Subresource(&'a dyn SubresourceView),
    /// Nothing: it has seen what led to it.
    Nothing,
}

pub(crate) trait SubresourceView: std::fmt::Debug + Send + Sync {
    fn of(&self, object: &Value) -> Value;

    /// What admission made of it.
    fn put_back(&self, face: &Value, object: &mut Value);
}

impl AdmissionView<'_> {
    fn take(self, object: &mut Value) -> Value {
        match self {
            Self::Whole => object.take(),
            Self::Subresource(face) => face.of(object),
            Self::Nothing => Value::Null,
        }
    }

    fn put_back(self, seen: Value, object: &mut Value) {
        match self {
            Self::Whole => *object = seen,
            Self::Subresource(face) => face.put_back(&seen, object),
            Self::Nothing => {}
        }
    }
}

/// What a verb makes of the live object. Called again after a conflict.
pub(crate) trait Change: Send {
    /// `live` has its resource version. `None` if there is nothing: then the result is created.
    fn apply(&mut self, live: Option<&Value>) -> Result<Changed, Status>;
}

/// The changed object, at the version asked for.
#[derive(Debug)]
pub(crate) struct Changed {
    pub object: Value,
    /// The managed fields are computed already (server-side apply).
    pub managed: bool,
    /// The client's object names the version it is based on: no second try.
    pub exact: bool,
}

impl Changed {
    /// The object gets no managed fields.
    fn untrack(&mut self) {
        object::forget_managers(&mut self.object);
        self.managed = true;
    }
}

/// Admission did not change the object: it still has its defaults.
fn is_same(before: &Value, after: &Value) -> bool {
    let (before, after) = (before.as_object(), after.as_object());
    before
        .zip(after)
        .is_some_and(|(before, after)| before.is_same(after))
}

/// A kind as the newest catalog has it. One that is not served any more stays as it was when the request came.
fn with_gates_of_now(api: &Api, resource: &Arc<Resource>) -> Arc<Resource> {
    if resource.custom.is_some() || !resource.may_be_gated {
        return resource.clone();
    }
    let catalog = api.catalog().load();
    let now = catalog.get(&resource.group, &resource.version, &resource.plural);
    now.unwrap_or(resource).clone()
}

impl<'a> Write<'a> {
    pub(crate) fn new(api: &'a Arc<Api>, ctx: &'a RequestContext<'a>, options: Options) -> Self {
        // Before the gates are looked at: what closes one waits for writes that have entered.
        let under_way = api.features().enter();
        Self {
            api,
            ctx,
            options,
            kind: ctx.resource.gvk(),
            view: AdmissionView::Whole,
            is_internal: false,
            resource: with_gates_of_now(api, &ctx.resource),
            _under_way: under_way,
        }
    }

    /// Whether this server may admit new uses of features.
    fn check_fence(&self) -> Result<(), Status> {
        let resource = self.resource();
        if resource.custom.is_some() || !resource.may_be_gated {
            return Ok(());
        }
        if !self.api.features().is_open() {
            let text = "this server has not renewed its identity lease in time, please try again";
            return Err(Status::too_many_requests(text, 1));
        }
        Ok(())
    }

    /// What admission has to say to a thing done to an object, before it is done.
    pub(crate) async fn act(
        &self,
        operation: Operation,
        name: &str,
        action: &mut Value,
    ) -> Result<(), Status> {
        let gvr = self.resource().gvr();
        let request = self.request(operation, &gvr, name, None);
        let mut admitting = Admitting::new(action.take());
        self.admit(&request, &mut admitting).await?;
        self.validate(&request, &mut admitting).await?;
        *action = admitting.object;
        Ok(())
    }

    /// Mutating admission. Warnings are kept even if a plugin then refuses the object.
    pub(crate) async fn admit(
        &self,
        request: &Request<'_>,
        admitting: &mut Admitting,
    ) -> Result<(), Status> {
        if self.ctx.info.verb == Verb::Patch {
            trace::handler_event("About to check admission control");
        }
        let before = admitting.object.clone();
        let done = self.api.admission().admit(request, admitting).await;
        self.gather(admitting);
        if !is_same(&before, &admitting.object) {
            self.keep_managers(&before, &mut admitting.object);
        }
        done
    }

    /// Restores managed fields that a webhook has made invalid.
    fn keep_managers(&self, before: &Value, object: &mut Value) {
        let Err(why) = managed::check(object) else {
            return;
        };
        object::set_managers(object, managed::fields(before).cloned());
        self.ctx.warnings.add([format!(
            ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated \
             mutating admission controller; please fix your requests: {why}"
        )]);
    }

    pub(crate) async fn validate(
        &self,
        request: &Request<'_>,
        admitting: &mut Admitting,
    ) -> Result<(), Status> {
        let done = self.api.admission().validate(request, admitting).await;
        self.gather(admitting);
        done
    }

    fn gather(&self, admitting: &mut Admitting) {
        self.ctx.warnings.add(admitting.warnings.drain(..));
        let annotations = std::mem::take(&mut admitting.audit_annotations);
        self.ctx.warnings.annotate(annotations);
        let waited = std::mem::take(&mut admitting.waited);
        self.ctx.warnings.add_wait(waited);
    }

    /// Owns the fields that this write sets.
    pub(crate) fn field_manager(&self) -> FieldManager<'_> {
        FieldManager {
            name: &self.options.field_manager,
            resource: &self.ctx.resource,
            subresource: &self.ctx.info.subresource,
            catalog: self.api.catalog(),
        }
    }

    fn resource(&self) -> &Resource {
        &self.resource
    }

    fn namespace(&self) -> &str {
        &self.ctx.info.namespace
    }

    pub(crate) fn storage(&self, name: &'static str, key: &str) -> trace::Span {
        let span = traced::storage(name);
        span.set_text("key", key);
        span.set("type", || respond::go_type(self.resource(), false));
        span
    }

    /// What is there is at hand.
    pub(crate) fn restored(&self, event: &'static str) {
        if !self.options.dry_run {
            trace::event(event);
        }
    }

    pub(crate) fn encode(&self, object: &Value) -> Result<Bytes, Status> {
        if self.options.dry_run {
            return convert::encode(self.resource(), object);
        }
        trace::event("About to Encode");
        let value = convert::encode(self.resource(), object)?;
        trace::event_with("Encode succeeded", "len", value.len());
        // Upstream's station for encryption at rest.
        trace::event("TransformToStorage succeeded");
        Ok(value)
    }

    /// Warns of an owner that is named twice.
    fn distinct_owners(&self, object: &mut Value, when: &str) {
        let twice = object::distinct_owners(object);
        if !twice.is_empty() {
            self.ctx.warnings.add(vec![format!(
                ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, \
                 and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
                twice.join(", ")
            )]);
        }
    }

    fn modified(&self, name: &str) -> Status {
        let text = "the object has been modified; please apply your changes to the latest version and try again";
        Status::conflict(&self.resource().group_resource(), name, text)
    }

    pub(crate) fn request<'b>(
        &'b self,
        operation: Operation,
        gvr: &'b meta::gvk::GroupVersionResource,
        name: &'b str,
        old: Option<&'b Value>,
    ) -> Request<'b> {
        Request {
            operation,
            kind: &self.kind,
            resource: gvr,
            subresource: &self.ctx.info.subresource,
            // A Namespace's own name stands for it, from its first request on.
            namespace: match self.namespace() {
                "" if self.resource().strategy.action == Action::HoldsObjects => name,
                namespace => namespace,
            },
            name,
            user: self.ctx.user,
            dry_run: self.options.dry_run,
            options: &self.options.value,
            old,
            lookup: &**self.api,
            kinds: &**self.api,
            deadline: self.ctx.deadline,
        }
    }

    fn written(&self, key: String, value: Bytes, revision: u64, created: bool) -> Written {
        Written {
            entry: Entry {
                key: key.into(),
                value,
                created: revision,
                modified: revision,
                lease: 0,
            },
            created,
            is_stored: !self.options.dry_run,
            given_version: None,
        }
    }
}

/// With the events of an update, whose new value has this length.
pub(crate) async fn transact(
    api: &Api,
    operation: Stored,
    resource: &Resource,
    txn: Txn,
    length: usize,
) -> Result<store::Committed, store::Error> {
    trace::event("Transaction prepared");
    let done = commit(api, operation, resource, txn).await;
    trace::event("Txn call completed");
    if done.is_ok() {
        trace::event("Transaction committed");
        trace::event_with("Decode succeeded", "len", length);
    }
    done
}

/// One transaction, as a part of what the store makes durable at once.
pub(crate) async fn commit(
    api: &Api,
    operation: Stored,
    resource: &Resource,
    txn: Txn,
) -> Result<store::Committed, store::Error> {
    let span = trace::span_as("store.commit", Scope::Own, Role::Plain);
    let done = api.commit(operation, resource, txn).await;
    match &done {
        Ok(done) => span.set("batch.size", || done.batch),
        Err(store::Error::Conflict { .. }) => span.set("conflict", || true),
        Err(_) => span.fail(),
    }
    done
}
