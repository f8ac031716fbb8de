//! Reviews: kinds that are answered and not stored.

use std::sync::Arc;

use auth::review::{self, AccessReview};
use http::{Response, StatusCode};
use json::{Value, json};
use meta::Status;
use telemetry::trace;

use crate::catalog::object;
use crate::handler::context::RequestContext;
use crate::handler::render;
use crate::handler::render::Renderer;
use crate::handler::respond;
use crate::handler::serialize;
use crate::handler::table::Include;
use crate::observe::traced;
use crate::runtime::clock;
use crate::state::Api;
use crate::subresources::upgrade_review;
use crate::transport::body::Body;
use crate::transport::incoming::RequestBody;
use crate::write::body;
use crate::write::options;
use crate::write::{Options, Write};

pub(super) async fn create(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let accepted = respond::accept(ctx, false)?;
    let options = options::from_query(ctx, options::OptionsKind::Create)?;
    let (review, length) = body::object(api, ctx, body).await?;
    let review = traced::stored(length, reviewed(api, ctx, options, review)).await?;
    let body = serialize::serialize(|| render::encode(&review, accepted))?;
    let media = accepted.format.content_type();
    Ok(respond::with_code(StatusCode::CREATED, media, body))
}

/// The review with its answer.
async fn reviewed(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    options: Options,
    mut review: Value,
) -> Result<Value, Status> {
    let kind = &*ctx.resource.kind;
    let metadata = object::metadata(&mut review)?;
    if kind == "LocalSubjectAccessReview" {
        let namespace = metadata.get("namespace").and_then(Value::as_str);
        object::check_namespace(namespace.unwrap_or_default(), &ctx.info.namespace)?;
    }
    metadata.remove("namespace");
    object::forget_system_fields(metadata);
    if kind == "LocalSubjectAccessReview" {
        metadata.insert("namespace", &*ctx.info.namespace);
    }
    crate::catalog::defaults::apply(&ctx.resource, &mut review);
    let write = Write::new(api, ctx, options);
    crate::write::managed::update(write.field_manager(), None, &mut review);
    if kind == "SelfSubjectReview" {
        // Nothing of the question but when it was asked.
        let metadata = object::metadata(&mut review)?;
        *metadata = json::Object::new();
        metadata.insert("creationTimestamp", clock::now());
    }
    let status = match kind {
        "TokenReview" => {
            let asked = review::token_asked(&review).map_err(Status::bad_request)?;
            let ways = &api.authentication().ways;
            let audiences = asked.audiences.as_deref();
            let found = ways.token(asked.token, audiences, clock::unix(), &**api);
            review::token_status(&found)
        }
        "SelfSubjectReview" => review::self_subject_status(ctx.user),
        "SelfSubjectRulesReview" => {
            review::rules_status(api.rbac(), ctx.user, &review, api.settings().node_mode)
                .map_err(Status::bad_request)?
        }
        "SelfSubjectAccessReview" | "SubjectAccessReview" | "LocalSubjectAccessReview" => {
            access(api, ctx, &review, kind).await?
        }
        "FeatureUpgradeReview" => upgrade_review::status(api, &ctx.resource, &review).await?,
        _ => return Err(respond::not_allowed()),
    };
    if kind == "SelfSubjectRulesReview" {
        // Nothing of the question comes back.
        *object::metadata(&mut review)? = json::Object::new();
    }
    if let Some(fields) = review.as_object_mut() {
        if kind == "SelfSubjectRulesReview" {
            fields.insert("spec", json::Object::new());
        }
        fields.insert("status", status);
    }
    Ok(review)
}

async fn access(
    api: &Api,
    ctx: &RequestContext<'_>,
    review: &Value,
    kind: &str,
) -> Result<Value, Status> {
    let errors = review::validate_access(kind, review);
    if !errors.is_empty() {
        // Upstream names the group alone.
        let group = meta::gvk::GroupKind::new(&*ctx.resource.group, "");
        return Err(Status::invalid(&group, "", &errors));
    }
    if kind == "LocalSubjectAccessReview" {
        let asked = review
            .str_at(&["spec", "resourceAttributes", "namespace"])
            .unwrap_or_default();
        if asked != ctx.info.namespace {
            return Err(Status::bad_request(format!(
                "spec.resourceAttributes.namespace must match namespace: {}",
                ctx.info.namespace
            )));
        }
    }
    let asked = if kind == "SelfSubjectAccessReview" {
        AccessReview::of_self(review, ctx.user)
    } else {
        AccessReview::of_subject(review)
    };
    let decision = api.authorize(asked.attributes()).await;
    Ok(asked.status(&decision))
}

/// Deprecated upstream, and still asked for: the store is what there is.
pub(super) fn component_statuses(
    api: &Api,
    ctx: &RequestContext<'_>,
) -> Result<Response<Body>, Status> {
    let accepted = respond::accept(ctx, true)?;
    if !ctx.info.name.is_empty() {
        trace::event("About to Get from storage");
    }
    let renderer = Renderer::new(&ctx.resource, accepted, Include::of(ctx.query, accepted)?);
    let refusing = api.store().stats().1.refusing;
    let (status, message) = match &refusing {
        None => ("True", "ok".to_owned()),
        Some(reason) => ("False", reason.to_string()),
    };
    let one = json!({
        "kind": "ComponentStatus",
        "apiVersion": "v1",
        "metadata": {"name": "etcd-0"},
        "conditions": [{"type": "Healthy", "status": status, "message": message}],
    });
    let body = serialize::serialize(|| match &*ctx.info.name {
        "" => {
            let (mut list, end) = renderer.list_frame(json::Object::new());
            json::write(&mut list, &renderer.item_value(one));
            list.extend_from_slice(end);
            renderer.encode(&json::parse(&list).map_err(Status::internal)?)
        }
        "etcd-0" => renderer.value(one),
        _ => Err(ctx.not_found()),
    })?;
    Ok(respond::ok(accepted.format.content_type(), body))
}
