//! What hangs below an object: parts of it, other faces of it, and things that can be done to it.
//!
//! **Room.** Subresources and kinds that are not stored, on top of `read` and `write`.

mod actions;
mod eviction;
mod kubelet;
mod review;
mod scale;
mod token;

use std::sync::Arc;

use http::Response;
use json::Value;
use meta::Status;
use resources::Verb as Allowed;

use crate::nonresource;
use crate::observe::traced;
use crate::pipeline::Ask;
use crate::pipeline::verbs;
use crate::request::Verb;
use crate::state::Api;
use crate::transport::body::Body;
use crate::transport::incoming::RequestBody;

/// Whether there is one of this name, for this verb.
pub(crate) fn check(ask: &Ask<'_>) -> Result<(), Status> {
    let name = &*ask.info.subresource;
    let Some(sub) = ask.resource.subresource(name) else {
        return Err(nonresource::no_resource());
    };
    verbs::check_name(&ask.info.name)?;
    if name == "proxy" && verbs::exists(ask) {
        // By whatever method: it is for another server.
        return Ok(());
    }
    let verb = match ask.info.verb {
        Verb::Get => Allowed::Get,
        Verb::Create => Allowed::Create,
        Verb::Update => Allowed::Update,
        Verb::Patch => Allowed::Patch,
        Verb::Delete => Allowed::Delete,
        _ if ask.info.rest.is_empty() => return Err(verbs::not_allowed()),
        _ => return Err(nonresource::no_resource()),
    };
    let ends = ask.info.rest.is_empty() || ask.resource.custom.is_some();
    if !ends || !verbs::exists(ask) {
        return Err(nonresource::no_resource());
    }
    let is_head = *ask.method == http::Method::HEAD && ask.resource.custom.is_none();
    if is_head || !sub.verbs.contains(verb) {
        return Err(verbs::not_allowed());
    }
    Ok(())
}

pub(crate) async fn answer(
    api: &Arc<Api>,
    ask: &Ask<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    match &*ask.info.subresource {
        "status" | "approval" | "finalize" | "ephemeralcontainers" | "resize" => {
            verbs::object(api, ask, body).await
        }
        "scale" => scale::answer(api, ask, body).await,
        "binding" => actions::bind(api, ask, body).await,
        "eviction" => eviction::evict(api, ask, body).await,
        "token" => token::create(api, ask, body).await,
        _ => kubelet::answer(api, ask).await,
    }
}

/// Resources that nothing is stored of: asked, answered, forgotten.
pub(crate) async fn unstored(
    api: &Arc<Api>,
    ask: &Ask<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    match &*ask.resource.plural {
        "bindings" => actions::bind(api, ask, body).await,
        "componentstatuses" => review::component_statuses(api, ask),
        _ => review::create(api, ask, body).await,
    }
}

/// The object that something is done to.
fn target(api: &Api, ask: &Ask<'_>) -> Result<Value, Status> {
    let resource = &ask.resource;
    let (namespace, name) = (&*ask.info.namespace, &*ask.info.name);
    let key = resource.key(namespace, name);
    let storage = traced::storage("Get etcd3");
    let length = api
        .store
        .latest()
        .get(key.as_bytes())
        .map(|it| it.value.len());
    let found = api.find(&resource.group, &resource.plural, namespace, name);
    traced::got(&storage, &key, false, length);
    found.ok_or_else(|| ask.not_found())
}
