//! Hot path. A seat, and the wait for one.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use auth::User;
use flowcontrol::{Nanos, Rejection, Started, Ticket, WorkEstimate};
use http::Method;
use http::uri::PathAndQuery;

use super::level::EntryRef;

/// A request that wants to be served.
#[derive(Clone, Debug)]
pub(crate) struct Arriving {
    pub(crate) work: WorkEstimate,
    pub(crate) hash: u64,
    /// It changes nothing.
    pub(crate) reads: bool,
    pub(crate) is_watch: bool,
    /// For the debug endpoints.
    pub(crate) user: Arc<User>,
    pub(crate) method: Method,
    pub(crate) target: Option<PathAndQuery>,
}

/// What a request has with it in its queue.
#[derive(Debug)]
pub(crate) struct Carried {
    pub(super) waker: Option<Waker>,
    pub(super) entry: EntryRef,
    pub(super) arriving: Arriving,
}

/// What becomes of a request at first.
#[derive(Debug)]
pub(crate) enum Outcome {
    Seated(FlowSeat),
    Waits(Waiting),
    Rejected,
}

/// Seats that a request holds until this is dropped.
#[derive(Debug)]
pub(crate) struct FlowSeat {
    entry: EntryRef,
    held: Held,
    reads: bool,
    is_watch: bool,
    since: Nanos,
    /// Its number among the exempt requests that are listed.
    listed: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Held {
    /// So many seats of a level whose queues are empty.
    Exempt(u32),
    Limited(Ticket),
    /// They are back already.
    Nothing,
}

impl EntryRef {
    /// Takes seats, or a place in a queue.
    pub(crate) fn start(&self, arriving: Arriving) -> Outcome {
        let (reads, is_watch) = (arriving.reads, arriving.is_watch);
        let level = &self.level;
        let work = arriving.work;
        if level.is_exempt {
            return Outcome::Seated(self.start_exempt(work, reads, is_watch));
        }
        let seats = work.max_seats();
        self.series().seats.observe_value(seats.into());
        let (started, length, now) = level.change(|queues, now, woken| {
            let carried = Carried {
                waker: None,
                entry: self.clone(),
                arriving,
            };
            let hash = carried.arriving.hash;
            let started = queues.start(work, hash, self.number.into(), carried, now, woken);
            (started, queues.gauges().queue_length.take(), now)
        });
        if let Some(length) = length {
            self.series().queue_length.observe_value(length.into());
        }
        match started {
            Started::Executing(ticket) => {
                self.series().waited.observe_value(0);
                Outcome::Seated(self.seated(Held::Limited(ticket), reads, is_watch, now))
            }
            Started::Waiting(ticket) => {
                level.shared.meters.waiting(reads).add(now);
                Outcome::Waits(Waiting {
                    entry: self.clone(),
                    ticket,
                    reads,
                    is_watch,
                    since: now,
                    is_over: false,
                })
            }
            Started::Rejected(rejection) => {
                self.series().refused.observe_value(0);
                self.count_rejected(rejection);
                Outcome::Rejected
            }
        }
    }

    /// Takes seats of a level whose queues are empty.
    pub(crate) fn start_exempt(&self, work: WorkEstimate, reads: bool, is_watch: bool) -> FlowSeat {
        let level = &self.level;
        let seats = work.max_seats();
        self.series().seats.observe_value(seats.into());
        let now = level.shared.now();
        level.exempt.start(self.number, seats, now);
        self.seated(Held::Exempt(seats), reads, is_watch, now)
    }

    /// Takes the seats again that [`FlowSeat::give_back`] gave back, also if others have them now.
    pub(crate) fn resume(&self, arriving: Arriving) -> FlowSeat {
        let (reads, is_watch) = (arriving.reads, arriving.is_watch);
        let work = arriving.work;
        let (ticket, now) = self.level.change(|queues, now, _| {
            let carried = Carried {
                waker: None,
                entry: self.clone(),
                arriving,
            };
            (queues.resume(work, self.number.into(), carried, now), now)
        });
        self.seated(Held::Limited(ticket), reads, is_watch, now)
    }

    fn seated(&self, held: Held, reads: bool, is_watch: bool, since: Nanos) -> FlowSeat {
        self.series().dispatched.inc();
        self.level.shared.meters.executing(reads).add(since);
        FlowSeat {
            entry: self.clone(),
            held,
            reads,
            is_watch,
            since,
            listed: None,
        }
    }

    fn count_rejected(&self, rejection: Rejection) {
        let families = &self.level.shared.families;
        families.rejected(&self.level.name, &self.schema.name, rejection);
    }
}

impl FlowSeat {
    pub(crate) fn is_exempt(&self) -> bool {
        matches!(self.held, Held::Exempt(_))
    }

    /// Shows an exempt request in `dump_requests` until this is dropped. Most exempt requests end at once and are not listed;
    /// requests of other levels are listed from their level's queues.
    pub(crate) fn list(&mut self, arriving: impl FnOnce() -> Arriving) {
        if !self.is_exempt() || self.listed.is_some() {
            return;
        }
        let carried = Carried {
            waker: None,
            entry: self.entry.clone(),
            arriving: arriving(),
        };
        let number = self.entry.level.listed().add(self.since, carried);
        self.listed = Some(number);
    }

    /// Gives the seats back before the work is done. Returns what is needed to get them again; `None` if no request waits for them.
    pub(crate) fn give_back(mut self) -> Result<(EntryRef, Arriving), Self> {
        let Held::Limited(ticket) = self.held else {
            return Err(self);
        };
        let arriving = self.entry.level.change(|queues, now, woken| {
            let carried = queues.get_mut(ticket);
            let arriving = carried.map(|it| it.arriving.clone());
            queues.give_back(ticket, now, woken);
            arriving
        });
        self.held = Held::Nothing;
        match arriving {
            Some(arriving) => Ok((self.entry.clone(), arriving)),
            None => Err(self),
        }
    }
}

impl Drop for FlowSeat {
    fn drop(&mut self) {
        let level = &self.entry.level;
        let now = level.shared.now();
        let took = now.saturating_sub(self.since);
        let series = self.entry.series();
        let executed = if self.is_watch {
            &series.watched
        } else {
            &series.executed
        };
        executed.observe_value(took);
        level.shared.meters.executing(self.reads).subtract(now);
        match self.held {
            Held::Exempt(seats) => {
                level.exempt.finish(self.entry.number, seats, now);
                if let Some(number) = self.listed {
                    level.listed().requests.remove(&number);
                }
            }
            Held::Limited(ticket) => level.finish(ticket),
            Held::Nothing => {}
        }
    }
}

/// A request in a queue. It comes to its turn, or leaves the queue when this is dropped.
#[derive(Debug)]
pub(crate) struct Waiting {
    entry: EntryRef,
    ticket: Ticket,
    reads: bool,
    is_watch: bool,
    since: Nanos,
    is_over: bool,
}

impl Waiting {
    /// Nanoseconds since it began to wait.
    pub(crate) fn waited(&self) -> u64 {
        let now = self.entry.level.shared.now();
        now.saturating_sub(self.since)
    }

    /// It waits for longer than it may.
    pub(crate) fn give_up(mut self) {
        let (series, waited) = (self.entry.series(), self.waited());
        // As upstream: what left its queue, by whichever end, counts as executed.
        series.waited.observe_value(waited);
        self.leave();
    }

    fn leave(&mut self) {
        self.is_over = true;
        let level = &self.entry.level;
        let now = level.shared.now();
        level.shared.meters.waiting(self.reads).subtract(now);
        let cancelled = level.change(|queues, now, _| queues.cancel(self.ticket, now));
        if cancelled {
            self.entry.count_rejected(Rejection::TimeOut);
        } else {
            // It was just dispatched.
            level.change(|queues, now, woken| queues.give_back(self.ticket, now, woken));
        }
    }
}

impl Future for Waiting {
    type Output = FlowSeat;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<FlowSeat> {
        let mut queues = self.entry.level.queues();
        if !queues.is_executing(self.ticket) {
            if let Some(carried) = queues.get_mut(self.ticket) {
                carried.waker = Some(context.waker().clone());
            }
            return Poll::Pending;
        }
        drop(queues);
        self.is_over = true;
        let shared = &self.entry.level.shared;
        let now = shared.now();
        shared.meters.waiting(self.reads).subtract(now);
        let waited = now.saturating_sub(self.since);
        self.entry.series().waited.observe_value(waited);
        let held = Held::Limited(self.ticket);
        Poll::Ready(self.entry.seated(held, self.reads, self.is_watch, now))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.is_over {
            self.leave();
        }
    }
}
