//! Hot path. GET: one object.

use http::Response;
use meta::Status;
use telemetry::trace;

use crate::catalog::object;
use crate::handler::context::RequestContext;
use crate::handler::render::Show;
use crate::handler::table::Include;
use crate::handler::{respond, serialize};
use crate::observe::traced;
use crate::state::Api;
use crate::transport::body::Body;

pub(crate) async fn get(api: &Api, ask: &RequestContext<'_>) -> Result<Response<Body>, Status> {
    let accepted = respond::accept(ask, true)?;
    respond::fits(ask, accepted, false)?;
    let include = Include::of(ask.query, accepted)?;
    if ask.query.flag("export") {
        let text = "the export parameter, deprecated since v1.14, is no longer supported";
        return Err(Status::bad_request(text));
    }
    let asked = object::asked_version(ask.query.get("resourceVersion").unwrap_or_default())?;
    let key = ask.resource.key(&ask.info.namespace, &ask.info.name);
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
    let entry = entry.ok_or_else(|| ask.not_found())?;
    let show = Show::new(&ask.resource, accepted, include);
    if !show.is_spliced(&entry.value, entry.modified) {
        ask.heavy(entry.value.len()).await?;
    }
    let body = serialize::serialize(|| show.one(entry))?;
    Ok(respond::ok(accepted.format.content_type(), body))
}
