//! What hangs below an object: parts of it, other faces of it, and things that can be done to it.

mod actions;
mod eviction;
mod kubelet;
mod review;
mod scale;
mod token;

use std::sync::Arc;

use http::Response;
use meta::Status;
use resources::Verb as Allowed;

use crate::body::Body;
use crate::documents;
use crate::incoming::RequestBody;
use crate::pipeline::{Api, Ask};
use crate::request::Verb;
use crate::verbs;

pub(crate) async fn answer(
    api: &Arc<Api>,
    ask: &Ask<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let name = &*ask.info.subresource;
    let Some(sub) = ask.resource.subresource(name) else {
        return Err(documents::no_resource());
    };
    verbs::check_name(&ask.info.name)?;
    let verb = match ask.info.verb {
        Verb::Get => Allowed::Get,
        Verb::Create => Allowed::Create,
        Verb::Update => Allowed::Update,
        Verb::Patch => Allowed::Patch,
        Verb::Delete => Allowed::Delete,
        _ if ask.info.rest.is_empty() => return Err(verbs::not_allowed()),
        _ => return Err(documents::no_resource()),
    };
    let ends = name == "proxy" || ask.info.rest.is_empty() || ask.resource.custom.is_some();
    if !ends || !verbs::exists(ask) {
        return Err(documents::no_resource());
    }
    let is_head = *ask.method == http::Method::HEAD && ask.resource.custom.is_none();
    if is_head || !sub.verbs.contains(verb) {
        return Err(verbs::not_allowed());
    }
    match name {
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
