//! Hot path. GET: one object.

use http::Response;
use meta::Status;
use telemetry::trace;

use crate::catalog::object;
use crate::handler::context::RequestContext;
use crate::handler::render::Renderer;
use crate::handler::table::Include;
use crate::handler::{respond, serialize};
use crate::observe::traced;
use crate::state::Api;
use crate::transport::body::Body;

pub(crate) async fn get(api: &Api, ctx: &RequestContext<'_>) -> Result<Response<Body>, Status> {
    let accepted = respond::accept(ctx, true)?;
    respond::fits(ctx, accepted, false)?;
    let include = Include::of(ctx.query, accepted)?;
    if ctx.query.flag("export") {
        let text = "the export parameter, deprecated since v1.14, is no longer supported";
        return Err(Status::bad_request(text));
    }
    let asked = object::asked_version(ctx.query.get("resourceVersion").unwrap_or_default())?;
    let key = ctx.resource.key(&ctx.info.namespace, &ctx.info.name);
    trace::event("About to Get from storage");
    let from_cache = asked == Some(0);
    // Upstream's names: it asks etcd where we need not.
    let storage = traced::storage(if from_cache {
        "cacher.Get"
    } else {
        "Get etcd3"
    });
    let snapshot = match asked {
        None => api.fresh_snapshot().await?,
        Some(0) => api.store().latest(),
        Some(revision) => Box::pin(api.not_older(revision)).await?,
    };
    let entry = snapshot.get(key.as_bytes());
    traced::record_get(&storage, &key, from_cache, entry.map(|it| it.value.len()));
    drop(storage);
    let entry = entry.ok_or_else(|| ctx.not_found())?;
    let renderer = Renderer::new(&ctx.resource, accepted, include);
    if !renderer.is_spliced(&entry.value, entry.modified) {
        ctx.acquire_cpu_slot(entry.value.len()).await?;
    }
    let body = serialize::serialize(|| renderer.one(entry))?;
    Ok(respond::ok(accepted.format.content_type(), body))
}
