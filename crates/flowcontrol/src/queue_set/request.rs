//! The requests of a set, each in a slot of its own.

use super::ESTIMATE;
use crate::{Nanos, SeatSeconds, WorkEstimate};

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

/// Names a request of a set. One that has ended is not mistaken for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    index: u32,
    generation: u32,
}

impl Ticket {
    pub(super) fn index(self) -> u32 {
        self.index
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Waiting,
    Executing,
    /// It has ended, and its seats are still taken.
    Lingering,
}

#[derive(Debug)]
pub(super) struct Request<W> {
    pub(super) state: State,
    pub(super) work: WorkEstimate,
    pub(super) total_work: SeatSeconds,
    /// `None` if it never waited in one, or that one is gone.
    pub(super) queue: Option<usize>,
    pub(super) schema: usize,
    pub(super) arrived: Nanos,
    pub(super) arrival_r: SeatSeconds,
    pub(super) started: Nanos,
    pub(super) data: W,
    before: u32,
    after: u32,
}

impl<W> Request<W> {
    pub(super) fn new(
        work: WorkEstimate,
        queue: Option<usize>,
        schema: usize,
        data: W,
        arrival_r: SeatSeconds,
        now: Nanos,
    ) -> Self {
        let initial = SeatSeconds::new(f64::from(work.initial_seats), ESTIMATE);
        Self {
            state: State::Waiting,
            work,
            total_work: initial.plus(final_work(&work)),
            queue,
            schema,
            arrived: now,
            arrival_r,
            started: now,
            data,
            before: NONE,
            after: NONE,
        }
    }

    pub(super) fn max_seats(&self) -> u32 {
        self.work.max_seats()
    }

    /// What it takes after its end is spread over no more seats than there are: the same work, for longer.
    pub(super) fn narrow(&mut self, limit: u32) {
        if self.work.final_seats > limit {
            let work = final_work(&self.work);
            self.work.final_seats = limit;
            self.work.additional_latency = work.duration_per_seat(f64::from(limit));
        }
    }
}

fn final_work(work: &WorkEstimate) -> SeatSeconds {
    SeatSeconds::new(f64::from(work.final_seats), work.additional_latency)
}

#[derive(Debug)]
pub(super) struct Requests<W> {
    slots: Vec<Slot<W>>,
    /// The first of those that are free, each of which knows the next.
    free: u32,
}

#[derive(Debug)]
struct Slot<W> {
    generation: u32,
    next_free: u32,
    request: Option<Request<W>>,
}

impl<W> Default for Requests<W> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: NONE,
        }
    }
}

impl<W> Requests<W> {
    pub(super) fn insert(&mut self, request: Request<W>) -> Ticket {
        if self.free == NONE {
            self.free =
                u32::try_from(self.slots.len()).expect("fewer requests than bytes of memory");
            self.slots.push(Slot {
                generation: 0,
                next_free: NONE,
                request: None,
            });
        }
        let index = self.free;
        let slot = &mut self.slots[index as usize];
        self.free = slot.next_free;
        slot.request = Some(request);
        Ticket {
            index,
            generation: slot.generation,
        }
    }

    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<Request<W>> {
        let slot = self.slots.get_mut(ticket.index as usize)?;
        if slot.generation != ticket.generation {
            return None;
        }
        let request = slot.request.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        slot.next_free = self.free;
        self.free = ticket.index;
        Some(request)
    }

    pub(super) fn get(&self, ticket: Ticket) -> Option<&Request<W>> {
        let slot = self.slots.get(ticket.index as usize)?;
        let same = slot.generation == ticket.generation;
        slot.request.as_ref().filter(|_| same)
    }

    pub(super) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut Request<W>> {
        let slot = self.slots.get_mut(ticket.index as usize)?;
        let same = slot.generation == ticket.generation;
        slot.request.as_mut().filter(|_| same)
    }

    pub(super) fn is_executing(&self, ticket: Ticket) -> bool {
        self.get(ticket)
            .is_some_and(|it| it.state == State::Executing)
    }

    pub(super) fn ticket(&self, index: u32) -> Option<Ticket> {
        let slot = self.slots.get(index as usize)?;
        Some(Ticket {
            index,
            generation: slot.generation,
        })
    }

    #[cfg(test)]
    pub(super) fn ticket_of_executing(&self) -> Option<Ticket> {
        let all = (0..).map_while(|it| self.ticket(it));
        all.into_iter().find(|it| self.is_executing(*it))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Request<W>> {
        self.slots.iter().filter_map(|it| it.request.as_ref())
    }

    pub(super) fn waiting_mut(&mut self) -> impl Iterator<Item = &mut Request<W>> {
        let all = self.slots.iter_mut().filter_map(|it| it.request.as_mut());
        all.filter(|it| it.state == State::Waiting)
    }

    /// A queue is gone, and those behind it have moved up.
    pub(super) fn forget_queue(&mut self, gone: usize) {
        for request in self.slots.iter_mut().filter_map(|it| it.request.as_mut()) {
            request.queue = match request.queue {
                Some(at) if at == gone => None,
                Some(at) if at > gone => Some(at - 1),
                same => same,
            };
        }
    }

    /// The one that waits behind this one.
    pub(super) fn after(&self, ticket: Ticket) -> Option<Ticket> {
        self.ticket(self.get(ticket)?.after)
    }

    /// Puts one behind another in a list.
    pub(super) fn link(&mut self, before: u32, at: u32) {
        if let Some(request) = self.at_mut(before) {
            request.after = at;
        }
        if let Some(request) = self.at_mut(at) {
            (request.before, request.after) = (before, NONE);
        }
    }

    /// Takes one out of its list. Its neighbours there.
    pub(super) fn unlink(&mut self, at: u32) -> (u32, u32) {
        let Some(request) = self.at_mut(at) else {
            return (NONE, NONE);
        };
        let (before, after) = (request.before, request.after);
        (request.before, request.after) = (NONE, NONE);
        if let Some(request) = self.at_mut(before) {
            request.after = after;
        }
        if let Some(request) = self.at_mut(after) {
            request.before = before;
        }
        (before, after)
    }

    fn at_mut(&mut self, at: u32) -> Option<&mut Request<W>> {
        self.slots.get_mut(at as usize)?.request.as_mut()
    }
}
