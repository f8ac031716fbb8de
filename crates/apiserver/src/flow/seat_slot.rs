//! Hot path. The seat of a request: given back while the request waits for its client, and taken along by a response that is
//! sent in pieces.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::flow::{Arriving, EntryRef, FlowControl, FlowSeat, Outcome, StreamSeat};
use crate::transport::body::Body;

/// A seat, or what it takes to get it again.
#[derive(Debug)]
pub(crate) struct SeatSlot(Mutex<Held>);

#[derive(Debug)]
enum Held {
    Nothing,
    Seat(FlowSeat),
    Place(OwnedSemaphorePermit),
    /// They were given back.
    NoSeat(EntryRef, Arriving),
    NoPlace(Arc<Semaphore>),
}

impl SeatSlot {
    pub(crate) fn empty() -> Self {
        Self(Mutex::new(Held::Nothing))
    }

    pub(crate) fn of(seat: FlowSeat) -> Self {
        Self(Mutex::new(Held::Seat(seat)))
    }

    pub(super) fn place(place: OwnedSemaphorePermit) -> Self {
        Self(Mutex::new(Held::Place(place)))
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_none(&self) -> bool {
        matches!(*self.held(), Held::Nothing)
    }

    /// See [`FlowSeat::list`].
    pub(crate) fn list(&self, arriving: impl FnOnce() -> Arriving) {
        if let Held::Seat(seat) = &mut *self.held() {
            seat.list(arriving);
        }
    }

    /// Gives the seat back while the request waits. False if no other request could use it.
    pub(crate) fn give_back(&self) -> bool {
        let mut held = self.held();
        let (now, done) = match std::mem::replace(&mut *held, Held::Nothing) {
            Held::Seat(seat) => match seat.give_back() {
                Ok((entry, arriving)) => (Held::NoSeat(entry, arriving), true),
                Err(seat) => (Held::Seat(seat), false),
            },
            Held::Place(place) => (Held::NoPlace(place.semaphore().clone()), true),
            other => (other, false),
        };
        *held = now;
        done
    }

    /// Gets it again, within some time. An error is for how many seconds the client is asked to stay away.
    pub(crate) async fn take_again(&self, limit: Duration) -> Result<(), i64> {
        let before = std::mem::replace(&mut *self.held(), Held::Nothing);
        let now = match before {
            Held::NoSeat(entry, arriving) => {
                let seat = Box::pin(seated(&entry, arriving, limit)).await;
                Held::Seat(seat.ok_or_else(|| entry.level.turned_away())?)
            }
            Held::NoPlace(room) => Held::Place(room.try_acquire_owned().map_err(|_| 1)?),
            other => other,
        };
        *self.held() = now;
        Ok(())
    }

    /// Goes on at once, also if others have it now: for the few that have a CPU slot.
    pub(crate) fn resume(&self) {
        let mut held = self.held();
        let now = match std::mem::replace(&mut *held, Held::Nothing) {
            Held::NoSeat(entry, arriving) => Held::Seat(entry.resume(arriving)),
            Held::NoPlace(room) => match room.clone().try_acquire_owned() {
                Ok(place) => Held::Place(place),
                Err(_) => Held::NoPlace(room),
            },
            other => other,
        };
        *held = now;
    }

    /// For an answer that goes on after its head.
    pub(crate) fn take_for_stream(&self, flow: Option<&Arc<FlowControl>>) -> Option<StreamSeat> {
        let flow = flow?;
        let mut held = self.held();
        match std::mem::replace(&mut *held, Held::Nothing) {
            Held::Seat(seat) if !seat.is_exempt() => {
                Some(StreamSeat::new(flow.shared.clone(), seat))
            }
            other => {
                *held = other;
                None
            }
        }
    }

    /// Has a list that is sent in pieces hold the seat until all of it is taken.
    pub(crate) fn follow(&self, flow: Option<&Arc<FlowControl>>, body: &mut Body) {
        if matches!(body, Body::Chunks(_))
            && let Some(seat) = self.take_for_stream(flow)
        {
            seat.follow(body);
        }
    }
}

async fn seated(entry: &EntryRef, arriving: Arriving, limit: Duration) -> Option<FlowSeat> {
    match entry.start(arriving) {
        Outcome::Seated(seat) => Some(seat),
        Outcome::Waits(mut waiting) => {
            let seat = tokio::time::timeout(limit, &mut waiting).await.ok();
            if seat.is_none() {
                waiting.give_up();
            }
            seat
        }
        Outcome::Rejected => None,
    }
}
