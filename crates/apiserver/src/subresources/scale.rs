//! `scale`: the view that all kinds with replicas share.

mod owners;

use std::sync::Arc;
use std::time::SystemTime;

use http::{Response, StatusCode};
use json::{Object, Value, json};
use meta::Status;
use meta::gvk::{GroupKind, GroupVersionKind};
use meta::time::Time;
use schema::Schema;
use telemetry::trace;

use crate::catalog::convert;
use crate::catalog::object;
use crate::handler::context::RequestContext;
use crate::handler::decode::{Expected, Validation};
use crate::handler::render;
use crate::handler::respond;
use crate::handler::serialize;
use crate::handler::table::Include;
use crate::observe::traced;
use crate::request::Verb;
use crate::request::negotiate::View;
use crate::state::Api;
use crate::transport::body::Body;
use crate::transport::incoming::RequestBody;
use crate::write::body;
use crate::write::options;
use crate::write::patch;
use crate::write::verbs;
use crate::write::{AdmissionView, Change, Changed, SubresourceView, Write};
use owners::Owners;

pub(super) async fn answer(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    match ctx.info.verb {
        Verb::Get => get(api, ctx).await,
        _ => put(api, ctx, body).await,
    }
}

async fn get(api: &Api, ctx: &RequestContext<'_>) -> Result<Response<Body>, Status> {
    let key = ctx.resource.key(&ctx.info.namespace, &ctx.info.name);
    trace::event("About to Get from storage");
    let storage = traced::storage("Get etcd3");
    let snapshot = api.fresh_snapshot().await?;
    let entry = snapshot.get(key.as_bytes());
    traced::record_get(&storage, &key, false, entry.map(|it| it.value.len()));
    drop(storage);
    let entry = entry.ok_or_else(|| ctx.not_found())?;
    let object = convert::decode(&ctx.resource, &entry.value, entry.modified)?;
    let replicas = path(ctx, Part::Spec);
    let parts: Vec<&str> = replicas.iter().map(String::as_str).collect();
    if ctx.resource.custom.is_some() && object.at(&parts).is_none() {
        return Err(Status::internal(format!(
            "the spec replicas field {:?} does not exist",
            format!(".{}", replicas.join("."))
        )));
    }
    shown(ctx, &of(ctx, &object))
}

fn shown(ctx: &RequestContext<'_>, scale: &Value) -> Result<Response<Body>, Status> {
    let accepted = respond::accept(ctx, true)?;
    let body = serialize::serialize(|| match accepted.view {
        View::Table(version) => {
            let include = Include::of(ctx.query, accepted)?;
            render::encode(&table(include, version, scale), accepted)
        }
        _ => render::encode(scale, accepted),
    })?;
    Ok(respond::with_code(
        StatusCode::OK,
        accepted.format.content_type(),
        body,
    ))
}

/// For `kubectl get --subresource=scale`.
fn table(include: Include, version: &'static str, scale: &Value) -> Value {
    let (group, of, kind) = ("autoscaling", "v1", "Scale");
    let now = Time::from(SystemTime::now());
    let columns = resources::columns::definitions(group, of, kind);
    let columns = columns.iter().map(|it| meta::table::Column::from(*it));
    let object = match include {
        Include::None => Value::Null,
        Include::Metadata => render::partial(version, scale.clone()),
        Include::Object => scale.clone(),
    };
    let row = json!({
        "cells": (resources::columns::row(group, of, kind, scale, now)),
        "object": object,
    });
    let revision = scale.at(&["metadata", "resourceVersion"]).cloned();
    json!({
        "kind": "Table",
        "apiVersion": (format!("meta.k8s.io/{version}")),
        "metadata": {"resourceVersion": (revision.unwrap_or_default())},
        "columnDefinitions": (columns.map(|it| it.to_value()).collect::<Value>()),
        "rows": [row],
    })
}

async fn put(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let patches = ctx.info.verb == Verb::Patch;
    let options = options::from_query(
        ctx,
        if patches {
            options::OptionsKind::Patch
        } else {
            options::OptionsKind::Update
        },
    )?;
    let kind = GroupVersionKind::new("autoscaling", "v1", "Scale");
    let schema = schema::builtin().kind("autoscaling", "v1", "Scale");
    let (how, length) = if patches {
        let bytes = crate::write::body::read(api, ctx, body).await?;
        trace::event("Recorded the audit event");
        (
            ScaleChange::Patch(patch::Document::read(ctx, &bytes)?),
            bytes.len(),
        )
    } else {
        let expected = Expected {
            kind: &kind,
            schema: schema.as_ref(),
            custom: None,
        };
        let (scale, length) = body::object_as(api, ctx, body, &expected).await?;
        verbs::check_named(ctx, &scale)?;
        (ScaleChange::Replace(scale), length)
    };
    let manager = options.field_manager.clone();
    let mut write = Write::new(api, ctx, options);
    write.kind = kind.clone();
    let face = ScaleOf(ctx);
    write.view = AdmissionView::Subresource(&face);
    let mut change = SetScale {
        ctx,
        kind: &kind,
        schema: schema.as_ref(),
        owners: Owners::new(api, ctx, &kind, schema.as_ref(), &manager),
        how,
        validation: Validation::of(ctx),
    };
    let update = write.update(&ctx.info.name, &mut change);
    let written = if patches {
        let written = update.await?;
        trace::event("Object stored in database");
        written
    } else {
        traced::stored(length, update).await?
    };
    let object = convert::decode(&ctx.resource, &written.entry.value, written.entry.modified)?;
    shown(ctx, &of(ctx, &object))
}

/// What admission sees: the Scale, not what it scales.
#[derive(Debug)]
struct ScaleOf<'a>(&'a RequestContext<'a>);

impl SubresourceView for ScaleOf<'_> {
    fn of(&self, object: &Value) -> Value {
        of(self.0, object)
    }

    fn put_back(&self, face: &Value, object: &mut Value) {
        let replicas = face.at(&["spec", "replicas"]).and_then(Value::as_i64);
        let replicas = replicas.unwrap_or(0).into();
        set(object, &path(self.0, Part::Spec), replicas);
    }
}

enum ScaleChange {
    Replace(Value),
    Patch(patch::Document),
}

struct SetScale<'a> {
    ctx: &'a RequestContext<'a>,
    kind: &'a GroupVersionKind,
    schema: Option<&'a Schema>,
    owners: Owners<'a>,
    how: ScaleChange,
    validation: Validation,
}

impl Change for SetScale<'_> {
    fn apply(&mut self, live: Option<&Value>) -> Result<Changed, Status> {
        let Some(live) = live else {
            return Err(self.ctx.not_found());
        };
        if matches!(self.how, ScaleChange::Patch(_)) {
            trace::handler_event("About to apply patch");
        }
        let mut before = of(self.ctx, live);
        self.owners.show(live, &mut before)?;
        let expected = Expected {
            kind: self.kind,
            schema: self.schema,
            custom: None,
        };
        let mut scale = match &self.how {
            ScaleChange::Replace(scale) => scale.clone(),
            ScaleChange::Patch(body) if body.kind == patch::kind::Kind::Apply => {
                let force = self.ctx.query.flag("force");
                self.owners.apply(&before, &body.value, force)?
            }
            ScaleChange::Patch(body) => {
                let patched = body.apply(&before, self.schema, self.validation)?;
                body.decode(patched, self.validation, &expected)?.object
            }
        };
        object::check_name(&scale, &self.ctx.info.name)?;
        self.ctx.check_uid(&scale, live)?;
        let replicas = scale
            .at(&["spec", "replicas"])
            .and_then(Value::as_i64)
            .unwrap_or(0);
        // Of a custom resource, its own rules say so.
        if replicas < 0 && self.ctx.resource.custom.is_none() {
            let error = meta::field::Error::invalid(
                "spec.replicas",
                replicas,
                "must be greater than or equal to 0",
            );
            let kind = GroupKind::new("autoscaling", "Scale");
            return Err(Status::invalid(&kind, &self.ctx.info.name, &[error]));
        }
        if !matches!(&self.how, ScaleChange::Patch(body) if body.kind == patch::kind::Kind::Apply) {
            self.owners.track(&before, &mut scale);
        }
        let mut new = live.clone();
        self.owners.put_back(&scale, &mut new)?;
        set(&mut new, &path(self.ctx, Part::Spec), replicas.into());
        let version = scale
            .str_at(&["metadata", "resourceVersion"])
            .unwrap_or_default();
        let named = !matches!(version, "" | "0");
        if named {
            object::metadata(&mut new)?.insert("resourceVersion", version);
        }
        let exact = named && matches!(self.how, ScaleChange::Replace(_));
        Ok(Changed {
            object: new,
            managed: true,
            exact,
        })
    }
}

#[derive(Clone, Copy)]
enum Part {
    Spec,
    Status,
}

fn path(ctx: &RequestContext<'_>, part: Part) -> Vec<String> {
    let custom = ctx
        .resource
        .custom
        .as_ref()
        .and_then(|it| it.scale.as_ref());
    let text = match (custom, part) {
        (Some(scale), Part::Spec) => &*scale.spec,
        (Some(scale), Part::Status) => &*scale.status,
        (None, Part::Spec) => "spec.replicas",
        (None, Part::Status) => "status.replicas",
    };
    let parts = text.split('.').filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

fn set(object: &mut Value, path: &[String], value: Value) {
    let Some((last, parents)) = path.split_last() else {
        return;
    };
    let mut at = object;
    for parent in parents {
        let Some(fields) = at.as_object_mut() else {
            return;
        };
        at = fields.get_or_insert(parent);
        if at.is_null() {
            *at = Object::new().into();
        }
    }
    if let Some(fields) = at.as_object_mut() {
        fields.insert(&**last, value);
    }
}

/// The Scale of an object.
fn of(ctx: &RequestContext<'_>, object: &Value) -> Value {
    let number = |part| {
        let path = path(ctx, part);
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        object.at(&path).and_then(Value::as_i64).unwrap_or(0)
    };
    let mut metadata = Object::new();
    for field in [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ] {
        if let Some(value) = object.at(&["metadata", field]) {
            metadata.insert(field, value.clone());
        }
    }
    let mut spec = Object::new();
    if number(Part::Spec) != 0 {
        spec.insert("replicas", number(Part::Spec));
    }
    let mut status = Object::new();
    status.insert("replicas", number(Part::Status));
    if let Some(selector) = selector(ctx, object).filter(|it| !it.is_empty()) {
        status.insert("selector", selector);
    }
    json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    })
}

fn selector(ctx: &RequestContext<'_>, object: &Value) -> Option<String> {
    if let Some(custom) = &ctx.resource.custom {
        let path = custom.scale.as_ref()?.selector.as_ref()?;
        let path: Vec<&str> = path.split('.').filter(|part| !part.is_empty()).collect();
        return object.str_at(&path).map(str::to_owned);
    }
    let selector = object.at(&["spec", "selector"])?;
    if ctx.resource.is("", "replicationcontrollers") {
        let labels = selector.as_object()?.iter();
        let mut terms: Vec<String> = labels
            .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
            .collect();
        terms.sort();
        return Some(terms.join(","));
    }
    let parsed = meta::selector::LabelSelector::from_value(Some(selector)).ok()?;
    Some(parsed.to_string())
}
