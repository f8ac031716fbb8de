//! What goes back: bytes at once, or frames made when the client is ready for them.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

pub enum Body {
    Full(Bytes),
    /// A long answer in pieces: it may be compressed.
    Chunks(Pin<Box<dyn Frames>>),
    /// Frames that are worth something one by one.
    Stream(Pin<Box<dyn Frames>>),
}

/// Frames one after the other; `None` ends the body.
pub trait Frames: Send {
    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

impl Body {
    pub fn empty() -> Self {
        Self::Full(Bytes::new())
    }

    /// The same for the pieces of a whole.
    pub fn chunks<S, F, Fut>(state: S, step: F) -> Self
    where
        S: Send + Unpin + 'static,
        F: FnMut(S) -> Fut + Send + Unpin + 'static,
        Fut: Future<Output = Option<(Bytes, S)>> + Send + 'static,
    {
        match Self::unfold(state, step) {
            Self::Stream(frames) => Self::Chunks(frames),
            other => other,
        }
    }

    /// Asks `step` for one frame after the other, passing the state along.
    pub fn unfold<S, F, Fut>(state: S, step: F) -> Self
    where
        S: Send + Unpin + 'static,
        F: FnMut(S) -> Fut + Send + Unpin + 'static,
        Fut: Future<Output = Option<(Bytes, S)>> + Send + 'static,
    {
        Self::Stream(Box::pin(Unfold {
            state: Some(state),
            step,
            running: None,
        }))
    }
}

struct Unfold<S, F, Fut> {
    state: Option<S>,
    step: F,
    running: Option<Pin<Box<Fut>>>,
}

impl<S, F, Fut> Frames for Unfold<S, F, Fut>
where
    S: Send + Unpin,
    F: FnMut(S) -> Fut + Send + Unpin,
    Fut: Future<Output = Option<(Bytes, S)>> + Send,
{
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = &mut *self;
        if let Some(state) = this.state.take() {
            this.running = Some(Box::pin((this.step)(state)));
        }
        let Some(running) = &mut this.running else {
            return Poll::Ready(None);
        };
        let Poll::Ready(done) = running.as_mut().poll(context) else {
            return Poll::Pending;
        };
        this.running = None;
        Poll::Ready(done.map(|(frame, state)| {
            this.state = Some(state);
            frame
        }))
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Self::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Chunks(frames) | Self::Stream(frames) => {
                let next = frames.as_mut().poll_next(context);
                next.map(|frame| frame.map(|frame| Ok(Frame::data(frame))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Full(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Chunks(_) | Self::Stream(_) => SizeHint::default(),
        }
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(bytes: T) -> Self {
        Self::Full(bytes.into())
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(bytes) => write!(f, "Full({} bytes)", bytes.len()),
            Self::Chunks(_) => f.write_str("Chunks"),
            Self::Stream(_) => f.write_str("Stream"),
        }
    }
}
