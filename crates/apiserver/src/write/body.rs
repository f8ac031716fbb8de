//! The body of a write.

use bytes::Bytes;
use meta::Status;
use telemetry::trace;

use crate::handler::context::RequestContext;
use crate::handler::unseated::Unseated;
use crate::state::Api;
use crate::transport::incoming::RequestBody;

/// The body of a request that is read whole.
pub(crate) async fn read(
    api: &Api,
    ask: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Bytes, Status> {
    let mut unseated = Unseated::new(ask);
    let limit = api.settings.max_body_bytes;
    let read = body.read_with(limit, |received| unseated.waits(received));
    let read = read.await;
    let length = read.as_ref().map_or(0, Bytes::len);
    let seated = unseated.received(length, || api.metrics.requests.dropped_late(ask));
    let seated = seated.await;
    let read = read.and_then(|bytes| seated.map(|()| bytes));
    match &read {
        Ok(bytes) => {
            trace::event_with("limitedReadBody succeeded", "len", bytes.len());
            api.metrics.objects.body_read(ask, bytes.len());
        }
        Err(_) => trace::event("limitedReadBody failed"),
    }
    read
}
