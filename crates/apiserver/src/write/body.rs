//! The body of a write.

use bytes::Bytes;
use json::Value;
use meta::Status;
use telemetry::trace;

use crate::handler::context::RequestContext;
use crate::handler::decode::{self, Expected, Validation};
use crate::handler::unseated::Unseated;
use crate::state::Api;
use crate::transport::incoming::RequestBody;

/// The body of a request that is read whole.
pub(crate) async fn read(
    api: &Api,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Bytes, Status> {
    let mut unseated = Unseated::new(ctx);
    let limit = api.settings().max_body_bytes;
    let read = body.read_with(limit, |received| unseated.waits(received));
    let read = read.await;
    let length = read.as_ref().map_or(0, Bytes::len);
    let seated = unseated.received(length, || api.metrics().requests.dropped_late(ctx));
    let seated = seated.await;
    let read = read.and_then(|bytes| seated.map(|()| bytes));
    match &read {
        Ok(bytes) => {
            trace::event_with("limitedReadBody succeeded", "len", bytes.len());
            api.metrics().objects.body_read(ctx, bytes.len());
        }
        Err(_) => trace::event("limitedReadBody failed"),
    }
    read
}

/// The object in a request's body, of the resource's kind, and how long the body was.
pub(crate) async fn object(
    api: &Api,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<(Value, usize), Status> {
    let expected = Expected {
        kind: &ctx.resource.gvk(),
        schema: ctx.resource.schema.as_ref(),
        custom: ctx.resource.custom.as_deref(),
    };
    object_as(api, ctx, body, &expected).await
}

/// The same of another kind: what is done to an object has one of its own.
pub(crate) async fn object_as(
    api: &Api,
    ctx: &RequestContext<'_>,
    body: RequestBody,
    expected: &Expected<'_>,
) -> Result<(Value, usize), Status> {
    let format = decode::format(ctx)?;
    let validation = Validation::of(ctx);
    let body = read(api, ctx, body).await?;
    trace::event("About to convert to expected version");
    let decoded = decode::object(&body, format, validation, expected)?;
    ctx.warnings.add(decoded.warnings);
    trace::event("Conversion done");
    Ok((decoded.object, body.len()))
}
