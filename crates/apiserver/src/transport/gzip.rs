//! Compressed responses, for clients that accept them and where it pays.

use std::future::poll_fn;

use encoding::gzip::Encoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderValue, VARY};
use http::{HeaderMap, Response};

use crate::transport::body::{Body, Upcoming};

/// As upstream: below this the time is better spent on sending.
const WORTH_IT: usize = 128 << 10;

/// Compresses a large answer if the client takes it so. Watches stay as they are: their events must not wait.
pub(crate) fn negotiate(request: &HeaderMap, response: &mut Response<Body>) {
    let large = match response.body() {
        Body::Full(bytes) => bytes.len() >= WORTH_IT,
        Body::Chunks(_) => true,
        Body::Stream(_) => false,
    };
    if !large || response.headers().contains_key(CONTENT_ENCODING) || !accepts(request) {
        return;
    }
    let body = std::mem::replace(response.body_mut(), Body::empty());
    *response.body_mut() = match body {
        Body::Full(mut bytes) => Body::chunks(held(bytes.len()), |out| async move {
            let mut encoder = Encoder::default();
            while !bytes.is_empty() {
                let piece = bytes.split_to(PIECE.min(bytes.len()));
                let packed = encoder.push(&piece);
                if packed.is_empty() {
                    tokio::task::yield_now().await;
                } else {
                    out.send_before(packed.into(), held(bytes.len())).await;
                }
            }
            out.send(encoder.finish().into()).await;
        }),
        Body::Chunks(mut frames) => Body::chunks(with_state(frames.upcoming()), |out| async move {
            let mut encoder = Encoder::default();
            while let Some(frame) = poll_fn(|context| frames.as_mut().poll_next(context)).await {
                let packed = encoder.push(&frame);
                if !packed.is_empty() {
                    let upcoming = with_state(frames.upcoming());
                    out.send_before(packed.into(), upcoming).await;
                }
            }
            out.send(encoder.finish().into()).await;
        }),
        watch @ Body::Stream(_) => watch,
    };
    mark(response);
}

/// Whether a client takes this many bytes compressed, and it pays.
pub(crate) fn is_wanted(request: &HeaderMap, length: usize) -> bool {
    length >= WORTH_IT && accepts(request)
}

fn accepts(request: &HeaderMap) -> bool {
    request
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|coding| coding.split(';').next().unwrap_or_default().trim() == "gzip")
}

/// Says that the body is compressed.
pub(crate) fn mark(response: &mut Response<Body>) {
    let headers = response.headers_mut();
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
}

/// So much is compressed at a time: others on the same thread wait that long.
const PIECE: usize = 32 << 10;

/// Of an answer that is there, of which so many bytes are left.
fn held(left: usize) -> Upcoming {
    Upcoming {
        next: PIECE,
        held: left + STATE,
    }
}

/// What an encoder takes of memory, about.
const STATE: usize = 320 << 10;

fn with_state(upcoming: Upcoming) -> Upcoming {
    Upcoming {
        held: upcoming.held + STATE,
        ..upcoming
    }
}
