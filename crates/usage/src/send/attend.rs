//! One process that sends for all builds of a while, so that a build starts one only if none is there.

use std::time::Duration;

use super::{Sent, send};
use crate::{Decision, Surroundings, decide};

const PAUSE: Duration = Duration::from_millis(200);
/// So many pauses without a build, and it is over.
const PATIENCE: u32 = 25;

/// Sends what waits and what comes, until nothing has come for five seconds or it cannot be sent. Ends at once if another
/// process is at it. What the surroundings are is asked each time, and so is whether the user still wants it.
pub fn attend<'a>(here: impl Fn() -> Surroundings<'a>, mut pause: impl FnMut(Duration)) {
    let surroundings = Surroundings {
        interactive: true,
        ..here()
    };
    let spool = match decide(&surroundings) {
        Decision::On(plan) if plan.destination.is_some() => plan.spool(&surroundings),
        _ => return,
    };
    while let Some(sender) = spool.attend() {
        let mut rested = 0;
        let mut news = true;
        while rested < PATIENCE {
            rested += 1;
            if news {
                match send(&here()) {
                    Ok(Sent::Payloads(_)) => rested = 0,
                    // The other one takes what is there, but not what comes.
                    Ok(Sent::Nothing | Sent::Busy) => {}
                    Ok(Sent::Nowhere | Sent::Off(_)) | Err(_) => return,
                }
            }
            pause(PAUSE);
            news = spool.has_news();
        }
        drop(sender);
        // A build that came between the last look and the end has seen a sender, and started none.
        if !spool.has_news() {
            return;
        }
    }
}
