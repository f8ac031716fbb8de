//! POST and PUT of whole objects, and how every write answers.

use std::sync::Arc;

use http::{Response, StatusCode};
use json::Value;
use meta::Status;

use crate::catalog::{convert, object};
use crate::handler::context::RequestContext;
use crate::handler::render::Renderer;
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
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let options = from_query(ctx, OptionsKind::Create)?;
    let (object, length) = body::object(api, ctx, body).await?;
    let write = Write::new(api, ctx, options);
    let written = traced::stored(length, write.create(object, false)).await?;
    written_response(ctx, &written)
}

pub(crate) async fn update(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let options = from_query(ctx, OptionsKind::Update)?;
    let (object, length) = body::object(api, ctx, body).await?;
    check_named(ctx, &object)?;
    let write = Write::new(api, ctx, options);
    let mut replace = Replace { ctx, object };
    let update = write.update(&ctx.info.name, &mut replace);
    let written = traced::stored(length, update).await?;
    written_response(ctx, &written)
}

/// What takes the place of an object says which.
pub(crate) fn check_named(ctx: &RequestContext<'_>, object: &Value) -> Result<(), Status> {
    if object::name(object).is_empty() {
        return Err(Status::bad_request(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            ctx.info.name
        )));
    }
    object::check_name(object, &ctx.info.name)
}

/// PUT: the client's object takes the place of what is there.
struct Replace<'a> {
    ctx: &'a RequestContext<'a>,
    object: Value,
}

impl Change for Replace<'_> {
    fn apply(&mut self, live: Option<&Value>) -> Result<Changed, Status> {
        let Some(live) = live else {
            if !strategy::allows_create_on_update(&self.ctx.resource) {
                return Err(self.ctx.not_found());
            }
            return Ok(Changed {
                object: self.object.clone(),
                managed: false,
                exact: true,
            });
        };
        self.ctx.check_uid(&self.object, live)?;
        let version = self.object.str_at(&["metadata", "resourceVersion"]);
        Ok(Changed {
            object: self.object.clone(),
            managed: false,
            exact: version.is_some_and(|it| !it.is_empty()),
        })
    }
}

pub(crate) fn written_response(
    ctx: &RequestContext<'_>,
    written: &Written,
) -> Result<Response<Body>, Status> {
    let accepted = respond::accept(ctx, true)?;
    let renderer = Renderer::new(&ctx.resource, accepted, Include::of(ctx.query, accepted)?);
    let body = serialize::serialize(|| {
        if written.entry.modified == 0 {
            let mut object = convert::decode(&ctx.resource, &written.entry.value, 0)?;
            if let Some(given) = &written.given_version {
                object::metadata(&mut object)?.insert("resourceVersion", given);
            } else {
                object::forget_version(&mut object);
            }
            renderer.value(object)
        } else {
            renderer.one(&written.entry)
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
