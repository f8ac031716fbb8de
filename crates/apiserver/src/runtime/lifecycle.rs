//! Where a server is between its start and its end.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

/// Whether a server is ready, about to stop, or stopping.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    ready: AtomicBool,
    leaving: AtomicBool,
    stop: watch::Receiver<bool>,
}

impl Lifecycle {
    /// `stop` turns true when the server is told to stop.
    pub(crate) fn new(stop: watch::Receiver<bool>) -> Self {
        Self {
            ready: AtomicBool::new(false),
            leaving: AtomicBool::new(false),
            stop,
        }
    }

    pub(crate) fn set_ready(&self) {
        self.ready.store(true, Ordering::Release);
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    pub(crate) fn set_leaving(&self) {
        self.leaving.store(true, Ordering::Release);
    }

    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Acquire) || self.is_stopping()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.stop.borrow()
    }

    /// Returns when the server is told to stop.
    pub(crate) async fn stopping(&self) {
        let mut stop = self.stop.clone();
        // The other end is gone only when the process is about to end.
        let _ = stop.wait_for(|stop| *stop).await;
    }

    /// Turns true when the server is told to stop.
    pub(crate) fn stop(&self) -> watch::Receiver<bool> {
        self.stop.clone()
    }
}
