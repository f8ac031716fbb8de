//! DELETE: at once, after a grace period, or when the last finalizer is gone.

mod options;

use std::sync::Arc;

use admission::{Admitting, Operation};
use bytes::Bytes;
use http::{Response, StatusCode};
use json::{Object, Value, json};
use meta::Status;
use meta::options::{DeleteOptions, Propagation};
use store::{Condition, Entry, Txn};
use telemetry::trace::{self, Span};

use crate::catalog::convert;
use crate::catalog::object;
use crate::handler::context::RequestContext;
use crate::handler::render::Renderer;
use crate::handler::respond;
use crate::handler::serialize;
use crate::handler::table::Include;
use crate::instruments::row::Operation as Stored;
use crate::observe::traced;
use crate::read::continue_token::Continue;
use crate::read::filter::Filter;
use crate::runtime::clock;
use crate::runtime::join;
use crate::state::Api;
use crate::state::failure;
use crate::transport::body::Body;
use crate::transport::incoming::RequestBody;
use crate::write::allocate;
use crate::write::feature_rules;
use crate::write::strategy;
use crate::write::{AdmissionView, Write, commit, transact};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";
/// How many objects of a collection are deleted at the same time.
const TOGETHER: usize = 64;

pub(crate) async fn one(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let options = options::read(api, ctx, body).await?;
    let accepted = respond::accept(ctx, true)?;
    let write = Write::new(api, ctx, options::for_write(&options));
    trace::event("About to delete object from database");
    let deleted = delete(&write, &ctx.info.name, &options).await?;
    trace::event("Object deleted from database");
    let renderer = Renderer::new(&ctx.resource, accepted, Include::of(ctx.query, accepted)?);
    let whole = !deleted.gone || strategy::returns_deleted(&ctx.resource);
    let body = serialize::serialize(|| {
        if whole {
            return renderer.one(&deleted.entry);
        }
        let object = convert::decode(&ctx.resource, &deleted.entry.value, 0)?;
        renderer.encode(&object::deleted(&ctx.resource, &object))
    })?;
    let policy = options.propagation_policy.is_some() || options.orphan_dependents.is_some();
    if !policy && let Some(warning) = ctx.resource.strategy.deletion.warning {
        ctx.warnings.add([warning.to_owned()]);
    }
    // Only to whom asks in this old way, as upstream.
    let code = if !deleted.gone && options.orphan_dependents == Some(false) {
        StatusCode::ACCEPTED
    } else {
        StatusCode::OK
    };
    let media = accepted.format.content_type();
    Ok(respond::with_code(code, media, body))
}

pub(crate) async fn collection(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let options = options::read(api, ctx, body).await?;
    let list = ctx.list_options()?;
    let filter = Filter::new(ctx, &list)?;
    let accepted = respond::accept(ctx, false)?;
    let write = Write::new(api, ctx, options::for_write(&options));
    let range = ctx.resource.range(&ctx.info.namespace);
    let after = match &*list.continue_token {
        "" => Vec::new(),
        token => Continue::parse(token, &range)?.after,
    };
    let storage = traced::listing(&ctx.resource);
    let snapshot = api.fresh_snapshot().await?;
    traced::fresh(true);
    trace::event("GetLatestSnapshotOrBuildLocked success");
    let limit = match usize::try_from(list.limit) {
        Ok(limit) if limit > 0 => limit,
        _ => usize::MAX,
    };
    let taken = snapshot.range(range.as_bytes());
    let taken = taken.filter(|entry| entry.key[..] > after[..]);
    let mut taken = taken.filter(|entry| filter.takes(&ctx.resource, entry));
    let page: Vec<Arc<Entry>> = taken.by_ref().take(limit).cloned().collect();
    let mut metadata = Object::new();
    metadata.insert("resourceVersion", snapshot.revision().to_string());
    if let (Some(_), Some(last)) = (taken.next(), page.last()) {
        let next = Continue::write(snapshot.revision(), range.as_bytes(), &last.key);
        metadata.insert("continue", next);
        if filter.is_empty() {
            let remaining = i64::try_from(taken.by_ref().count()).unwrap_or(i64::MAX);
            metadata.insert("remainingItemCount", remaining.saturating_add(1));
        }
    }
    if ctx.resource.custom.is_some() && !metadata.contains_key("continue") {
        metadata.insert("continue", "");
    }
    drop(taken);
    drop(snapshot);
    traced::listed(Some(page.len()));
    drop(storage);
    let mut items = Vec::new();
    // Together, so that the store makes them durable together.
    for some in page.chunks(TOGETHER) {
        let work = some.iter().map(|entry| {
            trace::apart(async {
                let found = convert::decode(&ctx.resource, &entry.value, entry.modified)?;
                match delete(&write, object::name(&found), &options).await {
                    Ok(_) => Ok(Some(bare(ctx, found))),
                    Err(status) if status.is_not_found() => Ok(None),
                    Err(status) => Err(status),
                }
            })
        });
        for done in join::all(work).await {
            items.extend(done?);
        }
    }
    let list = json!({
        "kind": (ctx.resource.list_kind.clone()),
        "apiVersion": (ctx.resource.api_version()),
        "metadata": metadata,
        "items": items,
    });
    let body = serialize::serialize(|| crate::handler::render::encode(&list, accepted))?;
    Ok(respond::ok(accepted.format.content_type(), body))
}

/// As an item of a list.
fn bare(ctx: &RequestContext<'_>, mut object: Value) -> Value {
    if ctx.resource.custom.is_none()
        && let Some(fields) = object.as_object_mut()
    {
        fields.remove("kind");
        fields.remove("apiVersion");
    }
    object
}

/// The object as it was last.
#[derive(Debug)]
pub(crate) struct Deleted {
    pub entry: Entry,
    pub gone: bool,
}

/// Begins or ends the deletion of one object.
pub(crate) async fn delete(
    write: &Write<'_>,
    name: &str,
    options: &DeleteOptions,
) -> Result<Deleted, Status> {
    let resource = &write.ctx.resource;
    let key = resource.key(&write.ctx.info.namespace, name);
    feature_rules::check_delete(write.ctx, name)?;
    let mut options = options.clone();
    // Each conflict means that another write succeeded: this ends, at the latest with the deadline of the request.
    loop {
        let storage = traced::storage("Get etcd3");
        let snapshot = write.api.fresh_snapshot().await?;
        let entry = snapshot.get(key.as_bytes()).cloned();
        drop(snapshot);
        let length = entry.as_ref().map(|it| it.value.len());
        traced::record_get(&storage, &key, false, length);
        drop(storage);
        let Some(entry) = entry else {
            return Err(Status::not_found(&resource.group_resource(), name));
        };
        let live = convert::decode(resource, &entry.value, entry.modified)?;
        check(write.ctx, &options, &live)?;
        let mut admitting = Admitting::default();
        if !matches!(write.view, AdmissionView::Nothing) {
            let gvr = resource.gvr();
            // One of many is not named, as upstream.
            let named = &write.ctx.info.name;
            let request = write.request(Operation::Delete, &gvr, named, Some(&live));
            write.admit(&request, &mut admitting).await?;
            write.validate(&request, &mut admitting).await?;
        }
        let next = step(write, &options, live)?;
        let deleted = |value: Bytes, revision, gone| Deleted {
            entry: Entry {
                key: key.clone().into(),
                value,
                created: entry.created,
                modified: revision,
                lease: 0,
            },
            gone,
        };
        let txn = Txn::new().when(Condition::Unchanged(key.clone().into(), entry.modified));
        let (txn, value, storage) = match next {
            Step::Remove => {
                let last = convert::parse(resource, &entry.value)?;
                let beside = allocate::release(write.api, resource, &last);
                let txn = beside.add_to(txn.delete(key.clone()));
                (txn, entry.value.clone(), None)
            }
            Step::MarkThenRemove(object) => {
                let _storage = marking(write, &key);
                let value = write.encode(&object)?;
                if write.options.dry_run {
                    return Ok(deleted(value, entry.modified, true));
                }
                let length = value.len();
                let txn = txn.put_leased(key.clone(), value, entry.lease);
                match transact(write.api, Stored::Update, resource, txn, length).await {
                    Ok(done) => {
                        // Now it is removed. We changed it ourselves.
                        let wanted = options.preconditions.as_mut();
                        if let Some(version) = wanted.and_then(|it| it.resource_version.as_mut()) {
                            *version = done.revision.to_string();
                        }
                        continue;
                    }
                    Err(store::Error::Conflict { .. }) => continue,
                    Err(error) => return Err(failure::of_store(&error)),
                }
            }
            Step::Keep => return Ok(deleted(entry.value.clone(), entry.modified, false)),
            Step::Mark(object) => {
                let storage = marking(write, &key);
                let value = write.encode(&object)?;
                let txn = txn.put_leased(key.clone(), value.clone(), entry.lease);
                (txn, value, Some(storage))
            }
        };
        let gone = storage.is_none();
        if write.options.dry_run {
            return Ok(deleted(value, entry.modified, gone));
        }
        let done = if gone {
            commit(write.api, Stored::Delete, resource, txn).await
        } else {
            transact(write.api, Stored::Update, resource, txn, value.len()).await
        };
        match done {
            Ok(done) => return Ok(deleted(value, done.revision, gone)),
            Err(store::Error::Conflict { .. }) => {}
            Err(error) => return Err(failure::of_store(&error)),
        }
    }
}

/// An object that is not gone yet is updated.
fn marking(write: &Write<'_>, key: &str) -> Option<Span> {
    if write.options.dry_run {
        return None;
    }
    let storage = write.storage("GuaranteedUpdate etcd3", key);
    trace::event("initial value restored");
    Some(storage)
}

enum Step {
    Remove,
    /// It is on its way already.
    Keep,
    Mark(Value),
    /// A watch of a kind with graceful deletion sees the deletion timestamp before the object is gone.
    MarkThenRemove(Value),
}

/// What the deletion does to the object now.
fn step(write: &Write<'_>, options: &DeleteOptions, mut live: Value) -> Result<Step, Status> {
    let resource = &write.ctx.resource;
    let was_deleting = object::is_being_deleted(&live);
    let grace = strategy::grace_period(resource, options, &live);
    let finalizers = finalizers(write, options, &live);
    let changes = object::finalizers(&live) != finalizers.as_slice();
    let first = !was_deleting && resource.strategy.deletion.in_two_steps;
    let held = first || !finalizers.is_empty() || strategy::is_held(resource, &live);
    if let Some(seconds) = grace.filter(|seconds| *seconds > 0) {
        let old = live
            .at(&["metadata", "deletionGracePeriodSeconds"])
            .and_then(Value::as_i64);
        if was_deleting && old.is_none_or(|old| old <= seconds) {
            return Ok(Step::Keep);
        }
        set_finalizers(&mut live, finalizers)?;
        mark(resource, &mut live, seconds, was_deleting)?;
        return Ok(Step::Mark(live));
    }
    if !held {
        let old = live
            .at(&["metadata", "deletionGracePeriodSeconds"])
            .and_then(Value::as_i64);
        if grace == Some(0) && (!was_deleting || old.is_some_and(|old| old > 0)) {
            mark(resource, &mut live, 0, was_deleting)?;
            return Ok(Step::MarkThenRemove(live));
        }
        return Ok(Step::Remove);
    }
    let old = live
        .at(&["metadata", "deletionGracePeriodSeconds"])
        .and_then(Value::as_i64);
    if was_deleting && !changes && old == Some(0) {
        return Ok(Step::Keep);
    }
    set_finalizers(&mut live, finalizers)?;
    mark(resource, &mut live, 0, was_deleting)?;
    Ok(Step::Mark(live))
}

fn mark(
    resource: &crate::catalog::Resource,
    live: &mut Value,
    grace: i64,
    again: bool,
) -> Result<(), Status> {
    let metadata = object::metadata(live)?;
    if !again || grace > 0 {
        metadata.insert("deletionTimestamp", clock::after(grace));
    }
    let time_only = resource.strategy.deletion.marks_time_only;
    if !time_only {
        metadata.insert("deletionGracePeriodSeconds", grace);
    }
    if let Some(generation) = metadata.get("generation").and_then(Value::as_i64)
        && generation > 0
        && !again
        && !time_only
    {
        metadata.insert("generation", generation + 1);
    }
    strategy::mark_deleting(resource, live);
    Ok(())
}

fn set_finalizers(live: &mut Value, finalizers: Vec<Value>) -> Result<(), Status> {
    let metadata = object::metadata(live)?;
    if finalizers.is_empty() {
        metadata.remove("finalizers");
    } else {
        metadata.insert("finalizers", finalizers);
    }
    Ok(())
}

/// The finalizers after the propagation policy had its say.
fn finalizers(write: &Write<'_>, options: &DeleteOptions, live: &Value) -> Vec<Value> {
    let has = |name: &str| {
        object::finalizers(live)
            .iter()
            .any(|it| it.as_str() == Some(name))
    };
    let policy = options.propagation_policy;
    let (orphan, foreground) = match (policy, options.orphan_dependents) {
        (Some(Propagation::Orphan), _) | (None, Some(true)) => (true, false),
        (Some(Propagation::Foreground), _) => (false, true),
        (Some(_), _) | (None, Some(false)) => (false, false),
        // Nothing asked: what the object has, else what its kind does.
        (None, None) if has(ORPHAN) || has(FOREGROUND) => (has(ORPHAN), has(FOREGROUND)),
        (None, None) => (strategy::orphans_by_default(&write.ctx.resource), false),
    };
    let mut all: Vec<Value> = object::finalizers(live)
        .iter()
        .filter(|it| !matches!(it.as_str(), Some(ORPHAN | FOREGROUND)))
        .cloned()
        .collect();
    if orphan {
        all.push(ORPHAN.into());
    }
    if foreground {
        all.push(FOREGROUND.into());
    }
    all.extend(strategy::finalizer_on_delete(&write.ctx.resource, live));
    let old = object::finalizers(live);
    let same = old.len() == all.len() && old.iter().all(|it| all.contains(it));
    if same { old.to_vec() } else { all }
}

/// Whether the object is the one that the client means.
pub(crate) fn check(
    ctx: &RequestContext<'_>,
    options: &DeleteOptions,
    live: &Value,
) -> Result<(), Status> {
    // Named by kind, not by resource, as upstream has it.
    let kind = meta::gvk::GroupResource::new(&*ctx.resource.group, &*ctx.resource.kind);
    let name = object::name(live);
    let conflict = |text: String| Err(Status::conflict(&kind, name, text));
    let Some(preconditions) = &options.preconditions else {
        return Ok(());
    };
    if let Some(asked) = &preconditions.uid
        && asked != object::uid(live)
    {
        let found = object::uid(live);
        return conflict(format!(
            "the UID in the precondition ({asked}) does not match the UID in record ({found}). The object might have \
             been deleted and then recreated"
        ));
    }
    if let Some(asked) = &preconditions.resource_version
        && asked != meta::object::resource_version(live)
    {
        let found = meta::object::resource_version(live);
        return conflict(format!(
            "the ResourceVersion in the precondition ({asked}) does not match the ResourceVersion in record \
             ({found}). The object might have been modified"
        ));
    }
    Ok(())
}
