//! POST and PUT of whole objects, and how every write answers.

use std::sync::Arc;

use http::{Response, StatusCode};
use json::Value;
use meta::Status;

use crate::catalog::{convert, object};
use crate::handler::context::RequestContext;
use crate::handler::render::Show;
use crate::handler::table::Include;
use crate::handler::{respond, serialize};
use crate::observe::traced;
use crate::state::Api;
use crate::transport::body::Body;
use crate::transport::incoming::RequestBody;
use crate::write::options::{OptionsKind, from_query};
use crate::write::{Change, Changed, Write, Written, body, strategy};

pub(crate) async fn create(
    api: &Arc<Api>,
    ask: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let options = from_query(ask, OptionsKind::Create)?;
    let (object, length) = body::object(api, ask, body).await?;
    let write = Write::new(api, ask, options);
    let written = traced::stored(length, write.create(object, false)).await?;
    show(ask, &written)
}

pub(crate) async fn update(
    api: &Arc<Api>,
    ask: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let options = from_query(ask, OptionsKind::Update)?;
    let (object, length) = body::object(api, ask, body).await?;
    check_named(ask, &object)?;
    let write = Write::new(api, ask, options);
    let mut replace = Replace { ask, object };
    let update = write.update(&ask.info.name, &mut replace);
    let written = traced::stored(length, update).await?;
    show(ask, &written)
}

/// What takes the place of an object says which.
pub(crate) fn check_named(ask: &RequestContext<'_>, object: &Value) -> Result<(), Status> {
    if object::name(object).is_empty() {
        return Err(Status::bad_request(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            ask.info.name
        )));
    }
    object::check_name(object, &ask.info.name)
}

/// PUT: the client's object takes the place of what is there.
struct Replace<'a> {
    ask: &'a RequestContext<'a>,
    object: Value,
}

impl Change for Replace<'_> {
    fn apply(&mut self, live: Option<&Value>) -> Result<Changed, Status> {
        let Some(live) = live else {
            if !strategy::allows_create_on_update(&self.ask.resource) {
                return Err(self.ask.not_found());
            }
            return Ok(Changed {
                object: self.object.clone(),
                managed: false,
                exact: true,
            });
        };
        self.ask.check_uid(&self.object, live)?;
        let version = self.object.str_at(&["metadata", "resourceVersion"]);
        Ok(Changed {
            object: self.object.clone(),
            managed: false,
            exact: version.is_some_and(|it| !it.is_empty()),
        })
    }
}

pub(crate) fn show(ask: &RequestContext<'_>, written: &Written) -> Result<Response<Body>, Status> {
    let accepted = respond::accept(ask, true)?;
    let show = Show::new(&ask.resource, accepted, Include::of(ask.query, accepted)?);
    let body = serialize::serialize(|| {
        if written.entry.modified == 0 {
            let mut object = convert::decode(&ask.resource, &written.entry.value, 0)?;
            if let Some(given) = &written.given_version {
                object::metadata(&mut object)?.insert("resourceVersion", given);
            } else {
                object::forget_version(&mut object);
            }
            show.value(object)
        } else {
            show.one(&written.entry)
        }
    })?;
    let code = if written.created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let media = accepted.format.content_type();
    Ok(respond::with_code(code, media, body))
}
