//! Responses that are streamed are counted when they end.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use telemetry::metrics::Gauge;

use super::requests::Ending;
use crate::transport::body::{Body, Frames, Upcoming};

/// Counts the request when all of its body was sent, or when the connection dropped it.
pub(super) fn count(body: &mut Body, ending: Ending) {
    let is_stream = matches!(body, Body::Stream(_));
    let (Body::Chunks(frames) | Body::Stream(frames)) = std::mem::replace(body, Body::empty())
    else {
        return;
    };
    let long = ending.series().long().filter(|_| is_stream);
    if let Some(long) = &long {
        long.inc();
    }
    let frames: Pin<Box<dyn Frames>> = Box::pin(Counted {
        frames,
        size: 0,
        long,
        ending,
    });
    *body = if is_stream {
        Body::Stream(frames)
    } else {
        Body::Chunks(frames)
    };
}

struct Counted {
    frames: Pin<Box<dyn Frames>>,
    size: usize,
    long: Option<Gauge>,
    ending: Ending,
}

impl Frames for Counted {
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let next = self.frames.as_mut().poll_next(context);
        if let Poll::Ready(Some(frame)) = &next {
            self.size += frame.len();
        }
        next
    }

    fn upcoming(&self) -> Upcoming {
        self.frames.upcoming()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if let Some(long) = &self.long {
            long.dec();
        }
        self.ending.record(self.size);
    }
}
