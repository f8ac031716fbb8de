//! Who may announce and remove Features, and that their names differ by more than case.

use json::Value;
use meta::Status;
use resources::Action;

use crate::catalog::object;
use crate::handler::context::RequestContext;
use crate::state::Api;
use crate::state::features::NAMESPACE;

/// The user that API servers are to themselves.
const SERVER: &str = "system:apiserver";

pub(super) fn check_create(
    api: &Api,
    ctx: &RequestContext<'_>,
    object: &Value,
) -> Result<(), Status> {
    if !is_feature(ctx) {
        return Ok(());
    }
    let name = object::name(object);
    let resource = &ctx.resource;
    if ctx.info.namespace == NAMESPACE && ctx.user.name != SERVER {
        let text = "features of kube-system are announced by the API servers: use another namespace for your own features";
        return Err(Status::forbidden(&resource.group_resource(), name, text));
    }
    let range = resource.range(&ctx.info.namespace);
    let snapshot = api.store().latest();
    let names = snapshot.range(range.as_bytes());
    let mut names = names.filter_map(|it| std::str::from_utf8(it.key.get(range.len()..)?).ok());
    let same = names.find(|it| *it != name && it.eq_ignore_ascii_case(name));
    match same {
        None => Ok(()),
        Some(same) => {
            let text =
                format!("must differ by more than case from the feature {same} of this namespace");
            let error = meta::field::Error::invalid("metadata.name", name, text);
            Err(Status::invalid(&resource.group_kind(), name, &[error]))
        }
    }
}

pub(super) fn check_delete(ctx: &RequestContext<'_>, name: &str) -> Result<(), Status> {
    if !is_feature(ctx) || ctx.info.namespace != NAMESPACE || ctx.user.name == SERVER {
        return Ok(());
    }
    let text = "features of kube-system are removed by the API servers, three versions after the last one that knows them";
    Err(Status::forbidden(
        &ctx.resource.group_resource(),
        name,
        text,
    ))
}

fn is_feature(ctx: &RequestContext<'_>) -> bool {
    ctx.resource.strategy.action == Action::IsAnnounced
}
