//! Hot path. Fair queuing for server requests: the queues and the seats of one priority level.
//!
//! Fair queuing, as routers do it for packets, differs in three ways here: requests are executed, several at a time, and
//! how long one takes is only known when it ends. Virtual time R counts the seat-seconds that each active queue would
//! have got so far if all had got the same. A queue is active while any of its requests waits or executes. With `C` seats,
//! `N` active queues and enough requests, R advances by `C / N` a second; with fewer, by what they take. Each queue has
//! the R at which its next request is to be dispatched; the queue whose next request would end first goes first. A
//! request is taken to last for `ESTIMATE`, and the queue's R is corrected when it ends.

mod dump;
mod gauges;
mod queue;
mod request;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod tests;

use crate::config::Queuing;
use crate::shuffle::Dealer;
use crate::{Nanos, SeatSeconds, WorkEstimate};

pub use dump::{QueueDump, RequestDump};
pub use gauges::Gauges;
pub use request::Ticket;

use queue::{Queue, Waiting};
use request::{Request, Requests, State};

/// How long a request is expected to execute.
const ESTIMATE: Nanos = 3_000_000;
/// When R is this high, it is set back by `EPOCH`, so that it never overflows.
const HIGH: SeatSeconds = SeatSeconds::part_of_max(4).times(3);
const EPOCH: SeatSeconds = SeatSeconds::part_of_max(2);

/// The requests of a priority level that wait and that execute. `W` is what each carries.
#[derive(Debug)]
pub struct QueueSet<W> {
    /// `None`: what finds no seat is rejected. Queues may be left from before, until they are empty.
    queuing: Option<(Queuing, Dealer)>,
    limit: u32,
    queues: Vec<Queue>,
    /// Queues with a request that waits.
    waiting: Waiting,
    requests: Requests<W>,
    /// Virtual time, and the real time that it belongs to.
    current_r: SeatSeconds,
    last: Nanos,
    /// The queue that was last dispatched from: of queues that are equal, the next one after it goes first.
    robin: usize,
    active_queues: u32,
    /// What all queues could use.
    seats_requested: u64,
    enqueued: u64,
    totals: Totals,
    schemas: Vec<Counts>,
    /// `None` before the first.
    dispatch: Option<DispatchState>,
    gauges: Gauges,
}

/// Sums over all requests of a set, now and since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub waiting: u32,
    pub executing: u32,
    /// Also of those that have ended and keep their seats for a while.
    pub seats_in_use: u32,
    pub seats_waiting: u32,
    pub dispatched: u64,
    pub rejected: u64,
    pub cancelled: u64,
    /// How often virtual time was set back, and how often something did not fit then.
    pub epochs: u64,
    pub failed_epochs: u64,
}

/// The same for the requests of one `FlowSchema`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub waiting: u32,
    pub seats_waiting: u32,
    pub executing: u32,
    pub seats_executing: u32,
    /// How often its request was next and there were not enough seats for it.
    pub no_accommodation: u64,
}

/// Virtual time at the last dispatch.
#[derive(Clone, Copy, Debug, Default)]
pub struct DispatchState {
    pub r: SeatSeconds,
    /// Of the request that was dispatched.
    pub s: SeatSeconds,
    /// The least and the most of all queues where one waits.
    pub s_bounds: (SeatSeconds, SeatSeconds),
    /// The same less what their executing requests are expected to take.
    pub discounted_s_bounds: (SeatSeconds, SeatSeconds),
}

/// What becomes of a request that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Started {
    /// It has its seats, and must be finished.
    Executing(Ticket),
    /// It waits, until it is dispatched or cancelled.
    Waiting(Ticket),
    Rejected(Rejection),
}

/// Why a request gets no seat, in the words of the metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    QueueFull,
    ConcurrencyLimit,
    TimeOut,
}

impl Rejection {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::QueueFull => "queue-full",
            Self::ConcurrencyLimit => "concurrency-limit",
            Self::TimeOut => "time-out",
        }
    }
}

/// What is left to do for a request that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    Done,
    /// Its seats stay taken for so long; then they must be released.
    Lingering(Nanos),
}

impl<W> QueueSet<W> {
    /// Without queues and without seats, until it is configured.
    pub fn new(now: Nanos) -> Self {
        Self {
            queuing: None,
            limit: 0,
            queues: Vec::new(),
            waiting: Waiting::default(),
            requests: Requests::default(),
            current_r: SeatSeconds::ZERO,
            last: now,
            robin: 0,
            active_queues: 0,
            seats_requested: 0,
            enqueued: 0,
            totals: Totals::default(),
            schemas: Vec::new(),
            dispatch: None,
            gauges: Gauges::new(now),
        }
    }

    /// Gives it other queues and seats. Requests that wait stay where they are; `denominator` is what metrics relate to.
    pub fn configure(
        &mut self,
        queuing: Option<(Queuing, Dealer)>,
        limit: u32,
        denominator: u32,
        now: Nanos,
        dispatched: &mut dyn FnMut(&mut W),
    ) {
        self.sync(now);
        let wanted = queuing.map_or(0, |(it, _)| it.queues as usize);
        if wanted > self.queues.len() {
            self.queues.resize_with(wanted, Queue::default);
        }
        while self.queues.len() > wanted && self.queues.last().is_some_and(Queue::is_unused) {
            self.queues.pop();
        }
        self.waiting.resize(self.queues.len());
        (self.queuing, self.limit) = (queuing, limit);
        let queued = queuing.map_or(1, |(it, _)| it.queue_length_limit.max(1) * it.queues.max(1));
        self.gauges.set_limits(queued, denominator, now);
        self.dispatch_all(now, dispatched);
        self.observe(now);
    }

    /// A request arrives. `schema` counts it, `hash` picks its queues. `dispatched` is told of what executes from now on
    /// and waited before.
    pub fn start(
        &mut self,
        work: WorkEstimate,
        hash: u64,
        schema: usize,
        data: W,
        now: Nanos,
        dispatched: &mut dyn FnMut(&mut W),
    ) -> Started {
        self.sync(now);
        if schema >= self.schemas.len() {
            self.schemas.resize(schema + 1, Counts::default());
        }
        let Some((queuing, dealer)) = self.queuing else {
            return self.start_without_queue(work, schema, data, now);
        };
        let at = self.shuffle_shard(dealer, hash);
        if self.totals.seats_in_use >= self.limit
            && self.queues[at].waiting >= queuing.queue_length_limit
        {
            self.totals.rejected += 1;
            self.bound(at);
            return Started::Rejected(Rejection::QueueFull);
        }
        let request = Request::new(work, Some(at), schema, data, self.current_r, now);
        let ticket = self.enqueue(request, at);
        self.bound(at);
        self.dispatch_all(now, dispatched);
        self.observe(now);
        if self.requests.is_executing(ticket) {
            Started::Executing(ticket)
        } else {
            Started::Waiting(ticket)
        }
    }

    fn start_without_queue(
        &mut self,
        work: WorkEstimate,
        schema: usize,
        data: W,
        now: Nanos,
    ) -> Started {
        if !self.can_accommodate(work.max_seats()) {
            self.totals.rejected += 1;
            return Started::Rejected(Rejection::ConcurrencyLimit);
        }
        Started::Executing(self.execute(work, schema, data, now))
    }

    /// A request that has given its seats back goes on, whoever has them now: few may do so at a time.
    pub fn resume(&mut self, work: WorkEstimate, schema: usize, data: W, now: Nanos) -> Ticket {
        self.sync(now);
        self.execute(work, schema, data, now)
    }

    fn execute(&mut self, work: WorkEstimate, schema: usize, data: W, now: Nanos) -> Ticket {
        let mut request = Request::new(work, None, schema, data, self.current_r, now);
        request.state = State::Executing;
        self.occupy(schema, work.max_seats());
        let ticket = self.requests.insert(request);
        self.observe(now);
        ticket
    }

    /// What a request that waits, or has been dispatched, carries.
    pub fn get_mut(&mut self, ticket: Ticket) -> Option<&mut W> {
        self.requests.get_mut(ticket).map(|it| &mut it.data)
    }

    pub fn is_executing(&self, ticket: Ticket) -> bool {
        self.requests.is_executing(ticket)
    }

    /// Takes a request out of its queue. False if it does not wait there any more: then it executes, and must be finished.
    pub fn cancel(&mut self, ticket: Ticket, now: Nanos) -> bool {
        self.sync(now);
        let Some(request) = self.requests.get(ticket) else {
            return false;
        };
        let (State::Waiting, Some(at)) = (request.state, request.queue) else {
            return false;
        };
        let (schema, seats) = (request.schema, request.max_seats());
        self.dequeue(ticket, at);
        self.leave_queue(schema, seats);
        self.bound(at);
        self.requests.remove(ticket);
        self.totals.rejected += 1;
        self.totals.cancelled += 1;
        self.observe(now);
        true
    }

    /// A request has been executed.
    pub fn finish(
        &mut self,
        ticket: Ticket,
        now: Nanos,
        dispatched: &mut dyn FnMut(&mut W),
    ) -> Finished {
        self.sync(now);
        let Some(request) = self.requests.get_mut(ticket) else {
            return Finished::Done;
        };
        if request.state != State::Executing {
            return Finished::Done;
        }
        request.state = State::Lingering;
        let (queue, work) = (request.queue, request.work);
        let (schema, took) = (request.schema, now.saturating_sub(request.started));
        self.totals.executing -= 1;
        self.schemas[schema].executing -= 1;
        if let Some(at) = queue {
            let queue = &mut self.queues[at];
            queue.executing -= 1;
            if !queue.is_active() {
                self.active_queues -= 1;
            }
            // It was charged for what was expected.
            let seats = f64::from(work.initial_seats);
            queue.next_r = queue.next_r.minus(SeatSeconds::new(seats, ESTIMATE));
            queue.next_r = queue.next_r.plus(SeatSeconds::new(seats, took));
            self.bound(at);
        }
        let finished = match work.additional_latency {
            0 => {
                self.vacate(ticket);
                Finished::Done
            }
            longer => Finished::Lingering(longer),
        };
        self.dispatch_all(now, dispatched);
        self.observe(now);
        finished
    }

    /// Gives back the seats of a request that has not done its work, and will ask for them again.
    pub fn give_back(&mut self, ticket: Ticket, now: Nanos, dispatched: &mut dyn FnMut(&mut W)) {
        if let Some(request) = self.requests.get_mut(ticket) {
            request.work.additional_latency = 0;
        }
        self.finish(ticket, now, dispatched);
    }

    /// Gives back the seats of a request that ended a while ago.
    pub fn release(&mut self, ticket: Ticket, now: Nanos, dispatched: &mut dyn FnMut(&mut W)) {
        self.sync(now);
        if (self.requests.get(ticket)).is_some_and(|it| it.state == State::Lingering) {
            self.vacate(ticket);
            self.dispatch_all(now, dispatched);
            self.observe(now);
        }
    }

    /// Nothing waits, and nothing executes.
    pub fn is_idle(&self) -> bool {
        self.totals.waiting == 0 && self.totals.executing == 0
    }

    pub fn totals(&self) -> Totals {
        self.totals
    }

    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// By the number that requests were started with.
    pub fn counts(&self, schema: usize) -> Counts {
        self.schemas.get(schema).copied().unwrap_or_default()
    }

    /// Virtual time when it was last looked at.
    pub fn current_r(&self) -> SeatSeconds {
        self.current_r
    }

    pub fn dispatch_state(&self) -> Option<DispatchState> {
        self.dispatch
    }

    pub fn gauges(&mut self) -> &mut Gauges {
        &mut self.gauges
    }

    /// Brings virtual time up to date, as if all had been as it is since it was last.
    fn sync(&mut self, now: Nanos) {
        let elapsed = now.saturating_sub(self.last);
        self.last = self.last.max(now);
        if self.active_queues == 0 || elapsed == 0 {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "seats are few")]
        let seats = self.seats_requested.min(u64::from(self.limit)) as f64;
        let rate = seats / f64::from(self.active_queues);
        self.current_r = self.current_r.plus(SeatSeconds::new(rate, elapsed));
        if self.current_r >= HIGH {
            self.advance_epoch();
        }
    }

    /// Sets back virtual time, and all that was read from it.
    fn advance_epoch(&mut self) {
        let mut fits = true;
        let mut set_back = |meter: &mut SeatSeconds| {
            fits &= *meter >= EPOCH;
            *meter = meter.minus(EPOCH);
        };
        set_back(&mut self.current_r);
        for queue in &mut self.queues {
            if queue.is_active() {
                set_back(&mut queue.next_r);
            } else {
                // It may be old. The next request sets it.
                queue.next_r = SeatSeconds::ZERO;
            }
        }
        for request in self.requests.waiting_mut() {
            set_back(&mut request.arrival_r);
        }
        self.totals.epochs += 1;
        self.totals.failed_epochs += u64::from(!fits);
    }

    /// Of the queues in the flow's hand, the one with the least work. Where to look first changes, so that flows whose
    /// hands overlap do not all prefer the same.
    fn shuffle_shard(&mut self, dealer: Dealer, hash: u64) -> usize {
        let hand = dealer.deal(hash);
        #[expect(clippy::cast_possible_truncation, reason = "less than a hand's size")]
        let offset = (self.enqueued % hand.len() as u64) as usize;
        self.enqueued += 1;
        let (first, last) = hand.split_at(offset);
        let all = last.iter().chain(first).copied();
        all.min_by_key(|at| self.queues[*at].work_waiting)
            .unwrap_or_default()
    }

    fn enqueue(&mut self, request: Request<W>, at: usize) -> Ticket {
        let (schema, seats) = (request.schema, request.max_seats());
        let (initial, work) = (request.work.initial_seats, request.total_work);
        let ticket = self.requests.insert(request);
        let queue = &mut self.queues[at];
        if !queue.is_active() {
            queue.next_r = self.current_r;
            self.active_queues += 1;
        }
        queue.push(ticket.index(), &mut self.requests);
        queue.add(initial, seats, work);
        self.waiting.insert(at);
        self.seats_requested += u64::from(seats);
        self.totals.waiting += 1;
        self.totals.seats_waiting += seats;
        let counts = &mut self.schemas[schema];
        counts.waiting += 1;
        counts.seats_waiting += seats;
        let length = self.queues[at].waiting;
        self.gauges.enqueued(length);
        ticket
    }

    /// From the list of its queue, wherever it is there.
    fn dequeue(&mut self, ticket: Ticket, at: usize) {
        let Some(request) = self.requests.get(ticket) else {
            return;
        };
        let (initial, seats) = (request.work.initial_seats, request.max_seats());
        let work = request.total_work;
        let queue = &mut self.queues[at];
        queue.unlink(ticket.index(), &mut self.requests);
        queue.subtract(initial, seats, work);
        if queue.waiting == 0 {
            self.waiting.remove(at);
        }
        if !queue.is_active() {
            self.active_queues -= 1;
        }
        self.seats_requested -= u64::from(seats);
    }

    fn leave_queue(&mut self, schema: usize, seats: u32) {
        self.totals.waiting -= 1;
        self.totals.seats_waiting -= seats;
        let counts = &mut self.schemas[schema];
        counts.waiting -= 1;
        counts.seats_waiting -= seats;
    }

    fn occupy(&mut self, schema: usize, seats: u32) {
        self.totals.executing += 1;
        self.totals.dispatched += 1;
        self.totals.seats_in_use += seats;
        let counts = &mut self.schemas[schema];
        counts.executing += 1;
        counts.seats_executing += seats;
    }

    /// Gives back the seats of a request, and forgets it.
    fn vacate(&mut self, ticket: Ticket) {
        let Some(request) = self.requests.remove(ticket) else {
            return;
        };
        let seats = request.max_seats();
        self.totals.seats_in_use -= seats;
        self.schemas[request.schema].seats_executing -= seats;
        if let Some(at) = request.queue {
            self.queues[at].seats_in_use -= seats;
            self.seats_requested -= u64::from(seats);
            self.remove_if_unwanted(at);
        }
    }

    /// A queue that is more than there are to be goes when it is empty.
    fn remove_if_unwanted(&mut self, at: usize) {
        let wanted = self.queuing.map_or(0, |(it, _)| it.queues as usize);
        if self.queues.len() <= wanted || self.queues[at].is_active() {
            return;
        }
        let gone = self.queues.remove(at);
        self.seats_requested -= u64::from(gone.seats_in_use);
        self.requests.forget_queue(at);
        self.waiting.rebuild(&self.queues);
        if self.robin >= at {
            let last = self.queues.len().saturating_sub(1);
            self.robin = self.robin.checked_sub(1).unwrap_or(last);
        }
    }

    fn dispatch_all(&mut self, now: Nanos, dispatched: &mut dyn FnMut(&mut W)) {
        while self.totals.waiting > 0
            && self.totals.seats_in_use < self.limit
            && self.dispatch_one(now, dispatched)
        {}
    }

    fn dispatch_one(&mut self, now: Nanos, dispatched: &mut dyn FnMut(&mut W)) -> bool {
        let Some((at, state)) = self.next_queue() else {
            return false;
        };
        let Some(ticket) = self.queues[at].first(&self.requests) else {
            return false;
        };
        let Some(request) = self.requests.get(ticket) else {
            return false;
        };
        let (schema, seats) = (request.schema, request.max_seats());
        if !self.can_accommodate(seats) {
            self.schemas[schema].no_accommodation += 1;
            return false;
        }
        self.robin = at;
        self.dispatch = Some(state);
        let was_active = self.active_queues;
        self.dequeue(ticket, at);
        self.leave_queue(schema, seats);
        let limit = self.limit;
        let Some(request) = self.requests.get_mut(ticket) else {
            return false;
        };
        request.state = State::Executing;
        request.started = now;
        request.narrow(limit);
        let (seats, work) = (request.max_seats(), request.total_work);
        dispatched(&mut request.data);
        self.occupy(schema, seats);
        let queue = &mut self.queues[at];
        queue.executing += 1;
        queue.seats_in_use += seats;
        queue.next_r = queue.next_r.plus(work);
        self.active_queues = was_active;
        self.seats_requested += u64::from(seats);
        self.bound(at);
        true
    }

    /// The queue whose oldest request would end first in virtual time.
    fn next_queue(&self) -> Option<(usize, DispatchState)> {
        let mut best: Option<(usize, SeatSeconds)> = None;
        let ends = (SeatSeconds::MAX, SeatSeconds::ZERO);
        let (mut bounds, mut discounted) = (ends, ends);
        let widen = |bounds: &mut (SeatSeconds, SeatSeconds), value: SeatSeconds| {
            *bounds = (bounds.0.min(value), bounds.1.max(value));
        };
        for at in self.waiting.after(self.robin) {
            let queue = &self.queues[at];
            let first = queue.first(&self.requests);
            let Some(first) = first.and_then(|it| self.requests.get(it)) else {
                continue;
            };
            let running = SeatSeconds::new(f64::from(queue.seats_in_use), ESTIMATE);
            widen(&mut bounds, queue.next_r);
            widen(&mut discounted, queue.next_r.minus(running));
            let end = queue.next_r.plus(first.total_work);
            if best.is_none_or(|(_, least)| end < least) {
                best = Some((at, end));
            }
        }
        let (at, _) = best?;
        let state = DispatchState {
            r: self.current_r,
            s: self.queues[at].next_r,
            s_bounds: bounds,
            discounted_s_bounds: discounted,
        };
        Some((at, state))
    }

    /// One that needs more seats than there are gets all of them, when nothing else executes.
    fn can_accommodate(&self, seats: u32) -> bool {
        if seats > self.limit {
            return self.totals.executing == 0;
        }
        self.totals.seats_in_use + seats <= self.limit
    }

    /// No request is dispatched before it arrived, in virtual time: a queue that could not use what it was given does not
    /// save it up.
    fn bound(&mut self, at: usize) {
        let first = self.queues[at].first(&self.requests);
        if let Some(first) = first.and_then(|it| self.requests.get(it)) {
            let queue = &mut self.queues[at];
            queue.next_r = queue.next_r.max(first.arrival_r);
        }
    }

    fn observe(&mut self, now: Nanos) {
        self.gauges.set(&self.totals, now);
    }
}
