//! The body of a response: all bytes at once, or frames that are made when the client is ready for them.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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

    /// What it takes of memory: a wrapper passes it on.
    fn upcoming(&self) -> Upcoming;
}

impl Body {
    pub fn empty() -> Self {
        Self::Full(Bytes::new())
    }

    /// What `write` sends, piece by piece.
    pub fn chunks<F: Future<Output = ()> + Send + 'static>(
        upcoming: Upcoming,
        write: impl FnOnce(Out) -> F,
    ) -> Self {
        Self::Chunks(Box::pin(Sent::by(upcoming, write)))
    }
}

/// What a body that is made in pieces needs of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upcoming {
    /// About how many bytes will be made for the next frame.
    pub next: usize,
    /// Bytes that are there already, for this response alone.
    pub held: usize,
}

impl Default for Upcoming {
    fn default() -> Self {
        Self {
            next: 128 << 10,
            held: 0,
        }
    }
}

/// Where the writer of a body puts its frames. It goes on when the client has room for more.
#[derive(Debug)]
pub struct Out(Arc<Mutex<Slot>>);

#[derive(Debug)]
struct Slot {
    frame: Option<Bytes>,
    upcoming: Upcoming,
}

impl Out {
    pub async fn send(&self, frame: Bytes) {
        self.send_before(frame, Upcoming::default()).await;
    }

    /// The same, and says what comes then.
    pub async fn send_before(&self, frame: Bytes, upcoming: Upcoming) {
        *slot(&self.0) = Slot {
            frame: Some(frame),
            upcoming,
        };
        std::future::poll_fn(|_| match slot(&self.0).frame {
            Some(_) => Poll::Pending,
            None => Poll::Ready(()),
        })
        .await;
    }
}

fn slot(shared: &Mutex<Slot>) -> MutexGuard<'_, Slot> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Frames as their writer sends them, one at a time.
struct Sent<F> {
    writer: Option<Pin<Box<F>>>,
    slot: Arc<Mutex<Slot>>,
}

impl<F: Future<Output = ()>> Sent<F> {
    fn by(upcoming: Upcoming, write: impl FnOnce(Out) -> F) -> Self {
        let slot = Arc::new(Mutex::new(Slot {
            frame: None,
            upcoming,
        }));
        Self {
            writer: Some(Box::pin(write(Out(Arc::clone(&slot))))),
            slot,
        }
    }
}

impl<F: Future<Output = ()> + Send> Frames for Sent<F> {
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some(writer) = &mut self.writer else {
            return Poll::Ready(None);
        };
        let ended = writer.as_mut().poll(context).is_ready();
        let frame = slot(&self.slot).frame.take();
        match (frame, ended) {
            (None, false) => Poll::Pending,
            (frame, ended) => {
                if ended {
                    self.writer = None;
                }
                Poll::Ready(frame)
            }
        }
    }

    fn upcoming(&self) -> Upcoming {
        slot(&self.slot).upcoming
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
