//! Objects of a definition that serves no version: nobody can ask for them, and they go with it all the same.

use std::borrow::Cow;
use std::sync::Arc;

use auth::User;
use http::{HeaderMap, Method};
use json::Value;
use meta::Status;
use meta::object::{name, namespace};
use meta::options::DeleteOptions;

use crate::access::gate::SeatSlot;
use crate::catalog::convert;
use crate::catalog::custom;
use crate::pipeline::Ask;
use crate::request::warnings::Warnings;
use crate::request::{Query, ResourceRequest, Verb};
use crate::state::Api;
use crate::write::delete;
use crate::write::{Options, Seen, Write};

/// Deletes them in the version they are stored in. Says how many are left.
pub(crate) async fn delete_all(
    api: &Arc<Api>,
    user: &User,
    definition: &Value,
) -> Result<usize, Status> {
    let Some(resource) = custom::stored(definition) else {
        return Ok(0);
    };
    let snapshot = api.latest().await?;
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
        let ask = Ask {
            user,
            info: &info,
            resource: resource.clone(),
            query: &Query::parse(None),
            headers: &HeaderMap::new(),
            method: &Method::DELETE,
            warnings: &Warnings::default(),
            deadline: None,
            seat: &SeatSlot::empty(),
        };
        let mut write = Write::new(api, &ask, Options::default());
        write.seen = Seen::Nothing;
        match delete::delete(&write, name(&object), &DeleteOptions::default()).await {
            Ok(deleted) => left += usize::from(!deleted.gone),
            Err(status) if status.is_not_found() => {}
            Err(status) => return Err(status),
        }
    }
    Ok(left)
}
