//! What is sent at once, in the pieces in which it was encoded.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

/// A message of OTLP. To clone it copies none of its bytes.
#[derive(Clone, Debug)]
pub(super) struct Message {
    head: Vec<u8>,
    pieces: Vec<Bytes>,
}

impl Message {
    /// What stands before the pieces, and those.
    pub(super) fn new(head: Vec<u8>, pieces: Vec<Bytes>) -> Self {
        Self { head, pieces }
    }

    pub(super) fn len(&self) -> usize {
        let pieces = self.pieces.iter().map(Bytes::len);
        self.head.len() + pieces.sum::<usize>()
    }

    pub(super) fn concat(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.len());
        all.extend_from_slice(&self.head);
        self.pieces.iter().for_each(|it| all.extend_from_slice(it));
        all
    }

    /// As a request carries it, behind `frame`.
    pub(super) fn body(&self, mut frame: Vec<u8>) -> Pieces {
        frame.extend_from_slice(&self.head);
        let pieces = self.pieces.iter().filter(|it| !it.is_empty());
        Pieces(
            std::iter::once(frame.into())
                .chain(pieces.cloned())
                .collect(),
        )
    }
}

impl From<Bytes> for Message {
    fn from(message: Bytes) -> Self {
        Self::new(Vec::new(), vec![message])
    }
}

/// The body of a request.
#[derive(Clone, Debug)]
pub(super) struct Pieces(VecDeque<Bytes>);

impl Pieces {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Bytes> {
        self.0.iter()
    }
}

impl From<Vec<u8>> for Pieces {
    fn from(body: Vec<u8>) -> Self {
        Self(VecDeque::from([body.into()]))
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|it| Ok(Frame::data(it))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|it| it.len() as u64).sum())
    }
}
