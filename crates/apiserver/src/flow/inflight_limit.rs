//! The inflight limit without priority and fairness: a number of reads and a number of writes at a time.

use std::sync::Arc;

use auth::Attributes;
use auth::user::MASTERS;
use tokio::sync::Semaphore;

use super::limiter::Limits;
use super::seat_slot::SeatSlot;
use crate::instruments::inflight::Inflight;

/// How many requests are served at a time.
#[derive(Debug)]
pub(crate) struct InflightLimit {
    reading: Limit,
    writing: Limit,
}

#[derive(Debug)]
struct Limit {
    room: Arc<Semaphore>,
    most: usize,
}

impl Limit {
    /// Zero is no limit.
    fn new(most: usize) -> Self {
        let most = match most {
            0 => Semaphore::MAX_PERMITS,
            most => most.min(Semaphore::MAX_PERMITS),
        };
        Self {
            room: Arc::new(Semaphore::new(most)),
            most,
        }
    }
}

impl InflightLimit {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            reading: Limit::new(limits.max_requests_inflight),
            writing: Limit::new(limits.max_mutating_requests_inflight),
        }
    }

    /// Watches are not counted, and members of `system:masters` are always served, as in kube-apiserver's `WithMaxInFlightLimit`.
    pub(crate) fn take(
        &self,
        asked: &Attributes<'_>,
        inflight: &Inflight,
        is_watch: bool,
    ) -> Result<SeatSlot, i64> {
        if is_watch {
            return Ok(SeatSlot::empty());
        }
        let reads = matches!(asked.verb, "get" | "list");
        let limit = if reads { &self.reading } else { &self.writing };
        let Ok(place) = limit.room.clone().try_acquire_owned() else {
            if asked.user.in_group(MASTERS) {
                return Ok(SeatSlot::empty());
            }
            return Err(1);
        };
        let used = limit.most.saturating_sub(limit.room.available_permits());
        inflight.executing(reads).note(used as u64);
        Ok(SeatSlot::place(place))
    }
}
