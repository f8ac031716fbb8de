//! Hot path. Responses on their way to a client, bounded in time and in memory.
//!
//! hyper takes frames of a body as long as it has room to queue them, whether the client reads or not. Here the next
//! frame of a large response is made when the connection has written the last one, all that waits is charged to the
//! connection and to the user, and the task of the connection knows by when it must be gone.

mod state;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use auth::User;
use bytes::Bytes;
use futures_util::task::AtomicWaker;
use http::request::Parts;
use http::{HeaderValue, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use telemetry::logs::{self, Field, Record, Severity};

use crate::instruments::requests::Series;
use crate::transport::body::{Body, Frames};
use crate::transport::unread::{Account, Charge};

pub(crate) use state::ConnectionState;

/// Goes out as one frame that ends the response.
const SMALL: usize = 16 << 10;
/// Of a larger response this much is handed over at a time.
const FRAME: usize = 128 << 10;
/// A watch event up to this size is not charged: it is shared by all watches, and at most one waits.
const SMALL_EVENT: usize = 4 << 10;

/// A response, and what its delivery must keep to.
#[derive(Debug)]
pub struct Answer {
    pub response: Response<Body>,
    pub(crate) terms: DeliveryTerms,
}

impl From<Response<Body>> for Answer {
    fn from(response: Response<Body>) -> Self {
        Self {
            response,
            terms: DeliveryTerms::default(),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct DeliveryTerms {
    /// When it is cut off. Watches and other long-running requests have none.
    pub(crate) deadline: Option<Instant>,
    /// The account that is charged.
    pub(crate) user: Option<Arc<User>>,
    /// Where it is counted.
    pub(crate) series: Option<Arc<Series>>,
    /// Only of what may take long.
    pub(crate) request: Option<Box<Described>>,
}

/// What the log says of a request whose response was cut off.
#[derive(Debug)]
pub(crate) struct Described {
    method: String,
    uri: String,
    audit_id: String,
}

impl Described {
    pub(crate) fn new(parts: &Parts, audit_id: Option<&HeaderValue>) -> Self {
        let audit_id = audit_id.and_then(|it| it.to_str().ok());
        Self {
            method: parts.method.to_string(),
            uri: parts.uri.to_string(),
            audit_id: audit_id.unwrap_or_default().to_owned(),
        }
    }
}

/// Whether the delivery of a body takes more than one frame.
pub(crate) fn is_large(body: &Body) -> bool {
    match body {
        Body::Full(bytes) => bytes.len() > SMALL,
        Body::Chunks(_) | Body::Stream(_) => true,
    }
}

/// The body that hyper gets.
pub(crate) enum Delivery {
    Small(Bytes),
    Large(Box<Large>),
    Watch(Box<Watch>),
}

impl Delivery {
    pub(crate) fn of(answer: Answer, state: &Arc<ConnectionState>) -> Response<Self> {
        let Answer { response, terms } = answer;
        if let Some(deadline) = terms.deadline {
            state.begin(deadline);
        }
        response.map(|body| match body {
            Body::Full(bytes) if bytes.len() <= SMALL => Self::small(bytes, &terms, state),
            Body::Full(bytes) => Self::Large(Box::new(Large::whole(bytes, terms, state))),
            Body::Chunks(frames) => Self::Large(Box::new(Large::chunks(frames, terms, state))),
            Body::Stream(frames) => Self::Watch(Box::new(Watch {
                frames,
                user: terms.user,
                account: None,
                state: state.clone(),
                in_flight: None,
            })),
        })
    }

    fn small(bytes: Bytes, terms: &DeliveryTerms, state: &ConnectionState) -> Self {
        if bytes.is_empty() {
            return Self::Small(bytes);
        }
        let (memory, length) = (&state.memory, bytes.len());
        let account = memory.is_charged(length).then(|| {
            let user = terms.user.as_deref();
            memory.account(user)
        });
        let period = terms.deadline.map(|it| state.period(it));
        let charge = memory.charge(account, length, period);
        Self::Small(Bytes::from_owner(Charged {
            bytes,
            _charge: charge,
        }))
    }
}

struct Charged {
    bytes: Bytes,
    _charge: Charge,
}

impl AsRef<[u8]> for Charged {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A part of a response that was handed over; the next waits until it is dropped.
struct Handed {
    bytes: Bytes,
    in_flight: Arc<InFlight>,
    /// Dropped before the next part is made.
    charge: Option<Charge>,
}

impl AsRef<[u8]> for Handed {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Handed {
    fn drop(&mut self) {
        self.charge = None;
        self.in_flight.taken(self.bytes.len());
    }
}

/// Bytes that were handed over and that the connection has not written yet.
#[derive(Default)]
struct InFlight {
    bytes: AtomicUsize,
    waker: AtomicWaker,
}

impl InFlight {
    fn hand_over(self: &Arc<Self>, bytes: Bytes, charge: Option<Charge>) -> Bytes {
        self.bytes.fetch_add(bytes.len(), Ordering::AcqRel);
        Bytes::from_owner(Handed {
            bytes,
            in_flight: self.clone(),
            charge,
        })
    }

    fn taken(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::AcqRel);
        self.waker.wake();
    }

    /// Ready when all that was handed over is written.
    fn poll_taken(&self, context: &Context<'_>) -> Poll<()> {
        if self.bytes.load(Ordering::Acquire) == 0 {
            return Poll::Ready(());
        }
        self.waker.register(context.waker());
        match self.bytes.load(Ordering::Acquire) {
            0 => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }
}

/// A response that takes more than one frame. It ends when its last frame is written: until then it can be cut off.
pub(crate) struct Large {
    source: Source,
    account: Arc<Account>,
    state: Arc<ConnectionState>,
    in_flight: Arc<InFlight>,
    /// For memory of this response beside the frame that was handed over.
    held: Option<(usize, Charge)>,
    terms: DeliveryTerms,
}

enum Source {
    Whole(Bytes),
    Chunks(Pin<Box<dyn Frames>>),
    Ended,
}

impl Large {
    fn new(source: Source, terms: DeliveryTerms, state: &Arc<ConnectionState>) -> Self {
        state.open(terms.deadline);
        Self {
            source,
            account: state.memory.account(terms.user.as_deref()),
            state: state.clone(),
            in_flight: Arc::default(),
            held: None,
            terms,
        }
    }

    fn whole(bytes: Bytes, terms: DeliveryTerms, state: &Arc<ConnectionState>) -> Self {
        // What others have, too, is a document that is kept anyway.
        let own = if bytes.is_unique() { bytes.len() } else { 0 };
        let mut large = Self::new(Source::Whole(bytes), terms, state);
        large.hold(own);
        large
    }

    fn chunks(
        frames: Pin<Box<dyn Frames>>,
        terms: DeliveryTerms,
        state: &Arc<ConnectionState>,
    ) -> Self {
        let held = frames.upcoming().held;
        let mut large = Self::new(Source::Chunks(frames), terms, state);
        large.hold(held);
        large
    }

    /// So many bytes are there beside what was handed over.
    fn hold(&mut self, bytes: usize) {
        let held = self.held.as_ref().map_or(0, |it| it.0);
        if held != bytes {
            self.held = (bytes > 0).then(|| (bytes, self.charge(bytes)));
        }
    }

    fn charge(&self, bytes: usize) -> Charge {
        let period = self.terms.deadline.map(|it| self.state.period(it));
        let account = Some(self.account.clone());
        self.state.memory.charge(account, bytes, period)
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        ready!(self.in_flight.poll_taken(context));
        let (frame, is_held) = match &mut self.source {
            Source::Whole(rest) => {
                let next = rest.split_to(rest.len().min(FRAME));
                let next = (!next.is_empty()).then_some(next);
                (next, self.held.is_some())
            }
            Source::Chunks(frames) => {
                let expected = frames.upcoming().next;
                if expected > 0 {
                    let memory = &self.state.memory;
                    ready!(memory.poll_room(context, &self.account, expected));
                }
                let next = ready!(frames.as_mut().poll_next(context));
                let held = frames.upcoming().held;
                self.hold(held);
                (next, false)
            }
            Source::Ended => (None, false),
        };
        let Some(frame) = frame else {
            self.source = Source::Ended;
            return Poll::Ready(None);
        };
        let charge = (!is_held).then(|| self.charge(frame.len()));
        Poll::Ready(Some(self.in_flight.hand_over(frame, charge)))
    }

    /// Everything was handed over: with HTTP/1 nobody asks for the end of a body whose length was told.
    fn is_over(&self) -> bool {
        match &self.source {
            Source::Whole(rest) => rest.is_empty(),
            Source::Chunks(_) => false,
            Source::Ended => true,
        }
    }

    /// Counts and logs a response that was cut off, as upstream does.
    fn cut_off(&self) {
        if let Some(series) = &self.terms.series {
            series.aborted();
        }
        let Some(request) = &self.terms.request else {
            return;
        };
        logs::tell(&Record {
            target: &logs::SERVER,
            severity: Severity::Error,
            level: 0,
            message: "Timeout or abort while handling",
            fields: &[
                ("method", Field::Text(&request.method)),
                ("URI", Field::Text(&request.uri)),
            ],
            ids: None,
            audit_id: &request.audit_id,
        });
    }
}

impl Drop for Large {
    fn drop(&mut self) {
        self.state.close();
        let is_late = |it: Instant| it <= Instant::now();
        if !self.is_over() && self.terms.deadline.is_some_and(is_late) {
            self.cut_off();
        }
    }
}

/// A watch: it has no deadline, and what its client does not take is not made.
pub(crate) struct Watch {
    frames: Pin<Box<dyn Frames>>,
    user: Option<Arc<User>>,
    account: Option<Arc<Account>>,
    state: Arc<ConnectionState>,
    /// Once a large frame was sent.
    in_flight: Option<Arc<InFlight>>,
}

impl Watch {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        // Events wait in the store, where they are kept once for all, and not here.
        ready!(self.state.poll_writable(context));
        if let (Some(in_flight), Some(account)) = (&self.in_flight, &self.account) {
            ready!(in_flight.poll_taken(context));
            let memory = &self.state.memory;
            ready!(memory.poll_room(context, account, FRAME));
        }
        let Some(frame) = ready!(self.frames.as_mut().poll_next(context)) else {
            return Poll::Ready(None);
        };
        if frame.len() <= SMALL_EVENT {
            return Poll::Ready(Some(frame));
        }
        let memory = &self.state.memory;
        let user = self.user.as_deref();
        let account = self.account.get_or_insert_with(|| memory.account(user));
        let charge = memory.charge(Some(account.clone()), frame.len(), None);
        let in_flight = self.in_flight.get_or_insert_default();
        Poll::Ready(Some(in_flight.hand_over(frame, Some(charge))))
    }
}

impl HttpBody for Delivery {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = match &mut *self {
            Self::Small(bytes) if bytes.is_empty() => None,
            Self::Small(bytes) => Some(std::mem::take(bytes)),
            Self::Large(large) => ready!(large.poll_next(context)),
            Self::Watch(watch) => ready!(watch.poll_next(context)),
        };
        Poll::Ready(frame.map(|it| Ok(Frame::data(it))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Small(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        let exact = |bytes: &Bytes| SizeHint::with_exact(bytes.len() as u64);
        match self {
            Self::Small(bytes) => exact(bytes),
            Self::Large(large) => match &large.source {
                Source::Whole(rest) => exact(rest),
                Source::Chunks(_) | Source::Ended => SizeHint::default(),
            },
            Self::Watch(_) => SizeHint::default(),
        }
    }
}
