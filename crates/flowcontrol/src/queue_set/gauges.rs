//! Metrics of a queue set over time.

use super::Totals;
use crate::{Integrator, Nanos, RatioHistogram};

/// Numbers that are weighed by how long they stood.
#[derive(Debug)]
pub struct Gauges {
    /// Seats that are taken or waited for. Borrowing goes by it.
    pub demand: Integrator,
    pub demand_ratio: RatioHistogram,
    pub seats: RatioHistogram,
    pub executing: RatioHistogram,
    pub waiting: RatioHistogram,
    /// Of the queue of the request that arrived last, with it, if it came to a queue.
    pub queue_length: Option<u32>,
}

impl Gauges {
    /// Bounds of the histogram of seats in use to seats that there are.
    pub const SEAT_UTILIZATION: &[f64] = &[
        0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0,
    ];
    /// Of requests to the most that there may be.
    pub const REQUEST_UTILIZATION: &[f64] =
        &[0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1.0];
    /// Of seats asked for to seats that there are.
    pub const DEMAND: &[f64] = &[0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0, 2.8, 4.0, 6.0];

    pub(crate) fn new(now: Nanos) -> Self {
        Self {
            demand: Integrator::new(now),
            demand_ratio: RatioHistogram::new(Self::DEMAND, 1.0, now),
            seats: RatioHistogram::new(Self::SEAT_UTILIZATION, 1.0, now),
            executing: RatioHistogram::new(Self::REQUEST_UTILIZATION, 1.0, now),
            waiting: RatioHistogram::new(Self::REQUEST_UTILIZATION, 1.0, now),
            queue_length: None,
        }
    }

    pub(crate) fn set_limits(&mut self, queued: u32, seats: u32, now: Nanos) {
        let seats = f64::from(seats.max(1));
        self.waiting.set_denominator(f64::from(queued), now);
        for ratio in [&mut self.demand_ratio, &mut self.seats, &mut self.executing] {
            ratio.set_denominator(seats, now);
        }
    }

    pub(crate) fn set(&mut self, totals: &Totals, now: Nanos) {
        let demand = f64::from(totals.seats_in_use + totals.seats_waiting);
        self.demand.set(demand, now);
        self.demand_ratio.set(demand, now);
        self.seats.set(f64::from(totals.seats_in_use), now);
        self.executing.set(f64::from(totals.executing), now);
        self.waiting.set(f64::from(totals.waiting), now);
    }

    pub(crate) fn enqueued(&mut self, length: u32) {
        self.queue_length = Some(length);
    }
}
