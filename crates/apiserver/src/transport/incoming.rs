//! The body of a request: read late, bounded in size.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use meta::Status;

#[derive(Debug)]
pub enum RequestBody {
    Incoming(Incoming),
    Bytes(Bytes),
}

impl RequestBody {
    /// All of it, or a refusal before more than `limit` bytes are held.
    pub async fn read(self, limit: usize) -> Result<Bytes, Status> {
        self.read_with(limit, |_| Ok(())).await
    }

    /// The same. `waits` is told how many bytes are held whenever the next ones are not there yet, and may end it.
    pub(crate) async fn read_with(
        self,
        limit: usize,
        mut waits: impl FnMut(usize) -> Result<(), Status>,
    ) -> Result<Bytes, Status> {
        let too_large = || Status::request_entity_too_large(format!("limit is {limit}"));
        let mut body = match self {
            Self::Bytes(bytes) if bytes.len() > limit => return Err(too_large()),
            Self::Bytes(bytes) => return Ok(bytes),
            Self::Incoming(body) => body,
        };
        if body.size_hint().lower() > limit as u64 {
            waits(0)?;
            drain(body, limit).await;
            return Err(too_large());
        }
        let mut first: Option<Bytes> = None;
        let mut all = BytesMut::new();
        loop {
            let next = poll_fn(|context| Poll::Ready(Pin::new(&mut body).poll_frame(context)));
            let next = if let Poll::Ready(next) = next.await {
                next
            } else {
                waits(first.as_ref().map_or(0, Bytes::len) + all.len())?;
                body.frame().await
            };
            let Some(frame) = next else {
                break;
            };
            let frame = frame.map_err(|error| {
                Status::bad_request(format!("unable to read the request body: {error}"))
            })?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            let held = first.as_ref().map_or(0, Bytes::len) + all.len();
            if held + data.len() > limit {
                waits(0)?;
                drain(body, limit).await;
                return Err(too_large());
            }
            // Most bodies come in one piece, which then is not copied.
            if first.is_none() && all.is_empty() {
                first = Some(data);
                continue;
            }
            if let Some(first) = first.take() {
                all.extend_from_slice(&first);
            }
            all.extend_from_slice(&data);
        }
        Ok(first.unwrap_or_else(|| all.freeze()))
    }
}

/// A client that is still sending would not see the answer: reads on for a while, and keeps nothing.
async fn drain(mut body: Incoming, limit: usize) {
    let mut left = 4 * limit;
    while let Some(Ok(frame)) = body.frame().await {
        let taken = frame.data_ref().map_or(0, Bytes::len);
        match left.checked_sub(taken) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}
