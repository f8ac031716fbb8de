//! The contents of a queue set, for the debug endpoints.

use super::QueueSet;
use super::request::{Request, State};
use crate::{Nanos, SeatSeconds, WorkEstimate};

#[derive(Debug)]
pub struct QueueDump<'a, W> {
    pub waiting: Vec<RequestDump<'a, W>>,
    pub executing: Vec<RequestDump<'a, W>>,
    pub seats_in_use: u32,
    pub next_r: SeatSeconds,
    /// Sums over the requests that wait.
    pub initial_seats: u32,
    pub max_seats: u32,
    pub work: SeatSeconds,
}

#[derive(Debug)]
pub struct RequestDump<'a, W> {
    pub arrived: Nanos,
    /// `None` while it waits.
    pub started: Option<Nanos>,
    pub work: WorkEstimate,
    pub data: &'a W,
}

impl<'a, W> RequestDump<'a, W> {
    fn of(request: &'a Request<W>) -> Self {
        Self {
            arrived: request.arrived,
            started: (request.state == State::Executing).then_some(request.started),
            work: request.work,
            data: &request.data,
        }
    }
}

impl<W> QueueSet<W> {
    pub fn dump(&self) -> Vec<QueueDump<'_, W>> {
        let mut queues: Vec<_> = (self.queues.iter())
            .map(|queue| QueueDump {
                waiting: queue
                    .iter(&self.requests)
                    .filter_map(|it| self.requests.get(it))
                    .map(RequestDump::of)
                    .collect(),
                executing: Vec::new(),
                seats_in_use: queue.seats_in_use,
                next_r: queue.next_r,
                initial_seats: queue.initial_seats,
                max_seats: queue.max_seats,
                work: queue.work_waiting,
            })
            .collect();
        for request in self
            .requests
            .iter()
            .filter(|it| it.state == State::Executing)
        {
            if let Some(at) = request.queue {
                queues[at].executing.push(RequestDump::of(request));
            }
        }
        queues
    }

    /// Those that execute and never were in a queue.
    pub fn dump_without_queue(&self) -> Vec<RequestDump<'_, W>> {
        let executing = self.requests.iter();
        let executing = executing.filter(|it| it.state == State::Executing && it.queue.is_none());
        executing.map(RequestDump::of).collect()
    }
}
