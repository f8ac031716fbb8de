//! Deletion of the objects of a definition that serves no version: no client can delete them.

use std::borrow::Cow;
use std::sync::Arc;

use auth::User;
use http::{HeaderMap, Method};
use json::Value;
use meta::Status;
use meta::object::{name, namespace};
use meta::options::DeleteOptions;

use crate::catalog::convert;
use crate::catalog::custom;
use crate::flow::seat_slot::SeatSlot;
use crate::handler::context::RequestContext;
use crate::request::warnings::Warnings;
use crate::request::{Query, ResourceRequest, Verb};
use crate::state::Api;
use crate::write::delete;
use crate::write::{AdmissionView, Options, Write};

/// Deletes them in the version they are stored in. Says how many are left.
pub(crate) async fn delete_all(
    api: &Arc<Api>,
    user: &User,
    definition: &Value,
) -> Result<usize, Status> {
    let Some(resource) = custom::stored(definition) else {
        return Ok(0);
    };
    let snapshot = api.fresh_snapshot().await?;
    let entries: Vec<_> = snapshot
        .range(resource.prefix.as_bytes())
        .cloned()
        .collect();
    drop(snapshot);
    let mut left = 0;
    for entry in entries {
        let object = convert::parse(&resource, &entry.value)?;
        let info = ResourceRequest {
            verb: Verb::Delete,
            group: Cow::Borrowed(&resource.group),
            version: Cow::Borrowed(&resource.version),
            namespace: Cow::Borrowed(namespace(&object)),
            resource: Cow::Borrowed(&resource.plural),
            subresource: Cow::Borrowed(""),
            name: Cow::Borrowed(name(&object)),
            by_prefix: false,
            rest: Vec::new(),
        };
        let ctx = RequestContext {
            user,
            info: &info,
            resource: resource.clone(),
            query: &Query::parse(None),
            headers: &HeaderMap::new(),
            method: &Method::DELETE,
            warnings: &Warnings::default(),
            deadline: None,
            seat: &SeatSlot::empty(),
            limiter: api.limiter(),
        };
        let mut write = Write::new(api, &ctx, Options::default());
        write.view = AdmissionView::Nothing;
        match delete::delete(&write, name(&object), &DeleteOptions::default()).await {
            Ok(deleted) => left += usize::from(!deleted.gone),
            Err(status) if status.is_not_found() => {}
            Err(status) => return Err(status),
        }
    }
    Ok(left)
}
