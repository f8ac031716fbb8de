//! One process that sends for all builds of a while, so that a build starts one only if none is there.

use std::time::Duration;

use super::{Sent, send};
use crate::{Decision, Invocation, decide};

const PAUSE: Duration = Duration::from_millis(200);
/// So many pauses without a build, and it is over.
const PATIENCE: u32 = 25;

/// Sends what is in the spool and what builds add to it, until nothing was added for five seconds or sending fails. Returns at
/// once if another process does it. Settings are read again for each request.
pub fn send_in_background<'a>(here: impl Fn() -> Invocation<'a>, mut pause: impl FnMut(Duration)) {
    let invocation = Invocation {
        interactive: true,
        ..here()
    };
    let spool = match decide(&invocation) {
        Decision::On(plan) if plan.destination.is_some() => plan.spool(&invocation),
        _ => return,
    };
    while let Some(sender) = spool.try_become_sender() {
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
