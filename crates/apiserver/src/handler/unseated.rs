//! A request gives its seat back while it waits for its body or for a CPU slot, so that slow or heavy requests of one user
//! do not keep others waiting. Upstream's requests keep theirs. The bytes of requests without a seat are bounded, by user
//! and in all.

use std::time::{Duration, Instant};

use meta::Status;

use crate::flow::seat_slot::SeatSlot;
use crate::handler::context::RequestContext;
use crate::runtime::cpu_slots;

/// What a request takes besides its body.
const OVERHEAD: usize = 16 << 10;
/// A wait for a seat takes no more of the time that is left than one of so many parts, as upstream.
const PART: u32 = 4;

/// A request that waits without a seat.
#[derive(Debug)]
pub(crate) struct Unseated<'a> {
    ctx: &'a RequestContext<'a>,
    seat: &'a SeatSlot,
    /// Bytes of the budget.
    charged: usize,
    is_exempt: bool,
    is_slow: bool,
}

impl<'a> Unseated<'a> {
    pub(crate) fn new(ctx: &'a RequestContext<'a>) -> Self {
        Self {
            ctx,
            seat: ctx.seat,
            charged: 0,
            is_exempt: false,
            is_slow: false,
        }
    }

    /// The client has sent so many bytes, and the next is not there yet.
    pub(crate) fn waits(&mut self, received: usize) -> Result<(), Status> {
        let Some(flow) = self.ctx.limiter.flow() else {
            self.seat.give_back();
            self.is_slow = true;
            return Ok(());
        };
        if !self.is_slow {
            self.is_slow = true;
            if self.seat.is_none() {
                return Ok(());
            }
            self.is_exempt = !self.seat.give_back();
        } else if self.charged == 0 {
            return Ok(());
        }
        let needed = received + OVERHEAD;
        let user = &self.ctx.user.name;
        if needed > self.charged {
            let more = needed - self.charged;
            let taken = flow.shared.bodies.take(user, more, self.is_exempt);
            taken.map_err(|over| {
                flow.count_refused_body();
                let text = format!(
                    "too many request bodies of user {} are being received: {over}",
                    meta::go::quote(user)
                );
                Status::too_many_requests(text, 1)
            })?;
            self.charged = needed;
        }
        Ok(())
    }

    /// All of it is there: work on it needs a seat, and a CPU slot if it is large.
    /// `dropped` is called if there is no seat in time.
    pub(crate) async fn received(
        &mut self,
        bytes: usize,
        dropped: impl FnOnce(),
    ) -> Result<(), Status> {
        if cpu_slots::needs_cpu_slot(bytes) {
            return self.acquire_cpu_slot(bytes).await;
        }
        if !self.is_slow {
            return Ok(());
        }
        let left = self.ctx.deadline.map_or(Duration::ZERO, |it| {
            it.saturating_duration_since(Instant::now())
        });
        if let Err(seconds) = self.seat.take_again(left / PART).await {
            dropped();
            let text = "Too many requests, please try again later.";
            let seconds = i32::try_from(seconds).unwrap_or(i32::MAX);
            return Err(Status::too_many_requests(text, seconds));
        }
        Ok(())
    }

    /// Waits for a CPU slot, with so many bytes in hand.
    pub(crate) async fn acquire_cpu_slot(&mut self, held: usize) -> Result<(), Status> {
        self.waits(held)?;
        cpu_slots::enter(&self.ctx.user.name, self.is_exempt).await;
        self.seat.resume();
        Ok(())
    }
}

impl RequestContext<'_> {
    /// Called before a step that reads `bytes` bytes: many wait for a CPU slot, so that others are not held up.
    pub(crate) async fn acquire_cpu_slot(&self, bytes: usize) -> Result<(), Status> {
        if !cpu_slots::needs_cpu_slot(bytes) {
            return Ok(());
        }
        Box::pin(async { Unseated::new(self).acquire_cpu_slot(0).await }).await
    }
}

impl Drop for Unseated<'_> {
    fn drop(&mut self) {
        if let Some(flow) = self.ctx.limiter.flow()
            && self.charged > 0
        {
            let user = &self.ctx.user.name;
            flow.shared.bodies.give_back(user, self.charged);
        }
    }
}
