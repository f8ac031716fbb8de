//! Subresources: parts of an object, other views of it, and actions on it.
//!
//! **Belongs here:** subresources, and kinds that are not stored.
//! **May use:** `catalog`, `handler`, `observe`, `read`, `request`, `runtime`, `state`, `transport`, `write`.

mod actions;
mod eviction;
mod kubelet;
mod review;
mod scale;
mod target;
mod token;
mod upgrade_review;

use std::sync::Arc;

use http::Response;
use meta::Status;
use resources::Verb as Allowed;

use crate::handler::context::RequestContext;
use crate::handler::respond;
use crate::request::Verb;
use crate::state::Api;
use crate::transport::body::Body;
use crate::transport::incoming::RequestBody;

/// Whether there is one of this name, for this verb.
pub(crate) fn check(ctx: &RequestContext<'_>) -> Result<(), Status> {
    let name = &*ctx.info.subresource;
    let Some(sub) = ctx.resource.subresource(name) else {
        return Err(respond::no_resource());
    };
    ctx.check_name()?;
    if name == "proxy" && ctx.exists() {
        // By whatever method: it is for another server.
        return Ok(());
    }
    let verb = match ctx.info.verb {
        Verb::Get => Allowed::Get,
        Verb::Create => Allowed::Create,
        Verb::Update => Allowed::Update,
        Verb::Patch => Allowed::Patch,
        Verb::Delete => Allowed::Delete,
        _ if ctx.info.rest.is_empty() => return Err(respond::not_allowed()),
        _ => return Err(respond::no_resource()),
    };
    let ends = ctx.info.rest.is_empty() || ctx.resource.custom.is_some();
    if !ends || !ctx.exists() {
        return Err(respond::no_resource());
    }
    let is_head = *ctx.method == http::Method::HEAD && ctx.resource.custom.is_none();
    if is_head || !sub.verbs.contains(verb) {
        return Err(respond::not_allowed());
    }
    Ok(())
}

/// Whether a subresource is a part of its object: the verbs of objects read and write it.
pub(crate) fn is_part(name: &str) -> bool {
    matches!(
        name,
        "status" | "approval" | "desired" | "finalize" | "ephemeralcontainers" | "resize"
    )
}

pub(crate) async fn answer(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    match &*ctx.info.subresource {
        "scale" => scale::answer(api, ctx, body).await,
        "binding" => actions::bind(api, ctx, body).await,
        "eviction" => eviction::evict(api, ctx, body).await,
        "token" => token::create(api, ctx, body).await,
        _ => kubelet::answer(api, ctx).await,
    }
}

/// Resources that nothing is stored of: asked, answered, forgotten.
pub(crate) async fn unstored(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    match &*ctx.resource.plural {
        "bindings" => actions::bind(api, ctx, body).await,
        "componentstatuses" => review::component_statuses(api, ctx),
        _ => review::create(api, ctx, body).await,
    }
}
