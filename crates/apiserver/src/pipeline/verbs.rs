//! From the verb to its function.

use std::sync::Arc;

use http::Response;
use meta::Status;
use resources::Verb as Allowed;

use crate::handler::context::RequestContext;
use crate::handler::respond;
use crate::observe::traced;
use crate::read::{get, list, watch};
use crate::request::Verb;
use crate::state::Api;
use crate::subresources;
use crate::transport::body::Body;
use crate::transport::incoming::RequestBody;
use crate::write::{self, delete, patch};

pub(crate) async fn answer(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Response<Body> {
    let is_custom = ctx.resource.custom.is_some();
    if !is_custom && let Err(status) = check(ctx) {
        return respond::refused(&status, ctx.headers, ctx.query);
    }
    let _handler = traced::handler(ctx);
    let answered = if is_custom {
        custom(api, ctx, body).await
    } else if !ctx.info.subresource.is_empty() {
        Box::pin(subresource(api, ctx, body)).await
    } else if ctx.resource.prefix.is_empty() {
        Box::pin(subresources::unstored(api, ctx, body)).await
    } else {
        object(api, ctx, body).await
    };
    answered.unwrap_or_else(|status| respond::failed(&status, ctx.headers, ctx.query))
}

/// Whether a handler exists for this request.
fn check(ctx: &RequestContext<'_>) -> Result<(), Status> {
    if !ctx.info.subresource.is_empty() {
        return subresources::check(ctx);
    }
    if !ctx.exists() {
        return Err(respond::no_resource());
    }
    ctx.check_name()?;
    if !allows(ctx) {
        return Err(respond::not_allowed());
    }
    Ok(())
}

/// Upstream serves custom resources by a handler of its own, with other words for what is not there.
async fn custom(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let info = ctx.info;
    let reads = matches!(info.verb, Verb::List | Verb::Watch);
    let is_placed = match (ctx.resource.namespaced, info.namespace.is_empty()) {
        (true, true) => reads,
        (namespaced, whole) => namespaced != whole,
    };
    if !is_placed {
        return Ok(respond::page_not_found());
    }
    let unsupported = || {
        let resource = ctx.resource.group_resource();
        Status::method_not_supported(&resource, info.verb.as_str())
    };
    if !info.subresource.is_empty() {
        if ctx.resource.subresource(&info.subresource).is_none() {
            return Err(ctx.not_found());
        }
        if !matches!(info.verb, Verb::Get | Verb::Update | Verb::Patch) {
            return Err(unsupported());
        }
        subresources::check(ctx)?;
        return Box::pin(subresource(api, ctx, body)).await;
    }
    ctx.check_name()?;
    match info.verb {
        Verb::Proxy | Verb::None => Err(unsupported()),
        // Upstream makes whatever the body names: a right to make one by name would be a right to make any.
        Verb::Create if !info.name.is_empty() => Err(unsupported()),
        Verb::Update | Verb::Patch if info.name.is_empty() => {
            Err(Status::bad_request("name must be provided"))
        }
        _ => object(api, ctx, body).await,
    }
}

async fn subresource(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    if subresources::is_part(&ctx.info.subresource) {
        return object(api, ctx, body).await;
    }
    subresources::answer(api, ctx, body).await
}

/// The verbs on whole objects and their collections. What holds much while it waits is boxed: a read's future, which
/// is moved about with every request, stays small.
async fn object(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    match ctx.info.verb {
        Verb::Get => get::get(api, ctx).await,
        Verb::List => Box::pin(list::list(api, ctx)).await,
        Verb::Watch => Box::pin(watch::watch(api, ctx)).await,
        Verb::Create => Box::pin(write::verbs::create(api, ctx, body)).await,
        Verb::Update => Box::pin(write::verbs::update(api, ctx, body)).await,
        Verb::Patch => Box::pin(patch::patch(api, ctx, body)).await,
        Verb::Delete => Box::pin(delete::one(api, ctx, body)).await,
        Verb::DeleteCollection => Box::pin(delete::collection(api, ctx, body)).await,
        Verb::Proxy | Verb::None => Err(respond::not_allowed()),
    }
}

fn allows(ctx: &RequestContext<'_>) -> bool {
    let verbs = ctx.resource.verbs;
    let verb = match ctx.info.verb {
        Verb::Get => Allowed::Get,
        Verb::List => Allowed::List,
        Verb::Watch => Allowed::Watch,
        Verb::Create => Allowed::Create,
        Verb::Update => Allowed::Update,
        Verb::Patch => Allowed::Patch,
        Verb::Delete => Allowed::Delete,
        Verb::DeleteCollection => Allowed::DeleteCollection,
        Verb::Proxy | Verb::None => return false,
    };
    // A name belongs to some verbs, and to others not.
    let named = !ctx.info.name.is_empty();
    let fits = match ctx.info.verb {
        Verb::Create => !named,
        Verb::Update | Verb::Patch => named,
        _ => true,
    };
    // All namespaces can be read at once, and not written.
    let reads = matches!(ctx.info.verb, Verb::List | Verb::Watch);
    let placed = reads || !ctx.resource.namespaced || !ctx.info.namespace.is_empty();
    verbs.contains(verb) && fits && placed && ctx.method != http::Method::HEAD
}
