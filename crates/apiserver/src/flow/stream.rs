//! The seats of an answer that goes on after its head: a list in pieces, and the objects that a watch begins with. They
//! are held as long as the client takes what is made. One that takes nothing for a while gives them back, and waits for
//! them again before more is made.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use flowcontrol::Nanos;

use super::Shared;
use super::level::EntryRef;
use super::seat::{Arriving, FlowSeat, Outcome};
use crate::transport::body::{Body, Frames, Upcoming};

/// A client that has taken nothing for so long holds no seats.
const STALLED: Nanos = 1_000_000_000;
/// Between two tries of one that finds its queue full.
const PAUSE: Duration = Duration::from_secs(1);

/// All that hold seats now.
#[derive(Debug, Default)]
pub(super) struct Streams(Mutex<Vec<Weak<Held>>>);

#[derive(Debug)]
struct Held {
    seat: Mutex<State>,
    /// When the client last took something.
    taken: AtomicU64,
}

#[derive(Debug)]
enum State {
    Seated(FlowSeat),
    /// What to start with again.
    Stalled(EntryRef, Arriving),
    Nothing,
}

impl Held {
    fn state(&self) -> MutexGuard<'_, State> {
        self.seat.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Streams {
    /// Takes the seats from streams that do not use them.
    pub(super) fn sweep(&self, now: Nanos) {
        let mut stalled = Vec::new();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|it| {
            let Some(held) = it.upgrade() else {
                return false;
            };
            let quiet = now.saturating_sub(held.taken.load(Ordering::Relaxed));
            if quiet < STALLED {
                return true;
            }
            stalled.push(held);
            false
        });
        drop(all);
        for held in stalled {
            let mut state = held.state();
            let seat = std::mem::replace(&mut *state, State::Nothing);
            *state = match seat {
                State::Seated(seat) => match seat.give_back() {
                    Ok((entry, arriving)) => State::Stalled(entry, arriving),
                    Err(seat) => State::Seated(seat),
                },
                other => other,
            };
        }
    }

    fn add(&self, held: &Arc<Held>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(Arc::downgrade(held));
    }
}

/// Seats that go with a stream, until it ends or this is dropped.
pub(crate) struct StreamSeat {
    shared: Arc<Shared>,
    held: Arc<Held>,
    again: Option<Pin<Box<dyn Future<Output = FlowSeat> + Send>>>,
}

impl StreamSeat {
    pub(crate) fn new(shared: Arc<Shared>, seat: FlowSeat) -> Self {
        let held = Arc::new(Held {
            taken: AtomicU64::new(shared.now()),
            seat: Mutex::new(State::Seated(seat)),
        });
        shared.streams.add(&held);
        Self {
            shared,
            held,
            again: None,
        }
    }

    /// Ready when more may be made.
    pub(crate) fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.held.taken.store(self.shared.now(), Ordering::Relaxed);
        if self.again.is_none() {
            let mut state = self.held.state();
            let State::Stalled(..) = *state else {
                return Poll::Ready(());
            };
            if let State::Stalled(entry, arriving) = std::mem::replace(&mut *state, State::Nothing)
            {
                self.again = Some(Box::pin(seat_again(entry, arriving)));
            }
        }
        if let Some(again) = &mut self.again {
            let seat = std::task::ready!(again.as_mut().poll(context));
            self.again = None;
            *self.held.state() = State::Seated(seat);
            self.shared.streams.add(&self.held);
        }
        Poll::Ready(())
    }

    /// Has a body that comes in pieces hold the seats while it is taken.
    pub(crate) fn follow(self, body: &mut Body) {
        if let Body::Chunks(frames) = std::mem::replace(body, Body::empty()) {
            *body = Body::Chunks(Box::pin(Seated {
                frames,
                seat: Some(self),
            }));
        }
    }
}

impl std::fmt::Debug for StreamSeat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.held.fmt(f)
    }
}

/// The answer has begun: it cannot be turned away any more, only wait.
async fn seat_again(entry: EntryRef, arriving: Arriving) -> FlowSeat {
    loop {
        match entry.start(arriving.clone()) {
            Outcome::Seated(seat) => return seat,
            Outcome::Waits(waiting) => return waiting.await,
            Outcome::Rejected => tokio::time::sleep(PAUSE).await,
        }
    }
}

struct Seated {
    frames: Pin<Box<dyn Frames>>,
    seat: Option<StreamSeat>,
}

impl Frames for Seated {
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(seat) = &mut self.seat {
            std::task::ready!(seat.poll_ready(context));
        }
        let next = self.frames.as_mut().poll_next(context);
        if let Poll::Ready(None) = next {
            self.seat = None;
        }
        next
    }

    fn upcoming(&self) -> Upcoming {
        self.frames.upcoming()
    }
}
