//! Pauses that end when they should: the runtime's timers count in whole milliseconds, and may end one too late.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// A thread that sleeps for whoever waits. It ends with this value.
#[derive(Debug)]
pub(crate) struct Moments(Option<mpsc::Sender<(Instant, oneshot::Sender<()>)>>);

impl Moments {
    pub(crate) fn start() -> Self {
        let (sender, pauses) = mpsc::channel::<(Instant, oneshot::Sender<()>)>();
        let thread = thread::Builder::new().name("etcd-moments".into());
        let started = thread.spawn(move || {
            for (end, over) in pauses {
                thread::sleep(end.saturating_duration_since(Instant::now()));
                // Whoever found what it waited for is gone.
                let _ = over.send(());
            }
        });
        // Without a thread there are no pauses.
        Self(started.is_ok().then_some(sender))
    }

    /// For one caller after the other, with the same length: then each ends in its time.
    pub(crate) async fn pass(&self, length: Duration) {
        let Some(pauses) = &self.0 else { return };
        let (over, passed) = oneshot::channel();
        if pauses.send((Instant::now() + length, over)).is_ok() {
            // Also over if nobody is left to say so.
            let _ = passed.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_moment_passes_and_so_do_those_that_nobody_waited_for() {
        let moments = Moments::start();
        let length = Duration::from_millis(2);
        for _ in 0..3 {
            let start = Instant::now();
            tokio::select! {
                biased;
                () = moments.pass(length) => unreachable!("not at once"),
                () = std::future::ready(()) => {}
            }
            moments.pass(length).await;
            assert!(start.elapsed() >= length);
        }
    }
}
