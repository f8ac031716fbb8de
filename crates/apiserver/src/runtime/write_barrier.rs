//! Hot path. Waits until all writes have ended that may have looked at what was true before a change.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;

/// Between two looks at writes that are still under way.
const PAUSE: Duration = Duration::from_millis(2);

/// Writes are counted in two groups that take turns: those that began before the last change, and those that began after it.
#[derive(Debug, Default)]
pub(crate) struct WriteBarrier {
    turn: AtomicUsize,
    under_way: [AtomicUsize; 2],
    /// One change at a time.
    changing: Mutex<()>,
}

/// A write under way.
#[derive(Debug)]
pub(crate) struct WriteGuard {
    barrier: Arc<WriteBarrier>,
    group: usize,
}

impl WriteBarrier {
    /// To be called before a write looks at what may change.
    pub(crate) fn enter(self: &Arc<Self>) -> WriteGuard {
        loop {
            let turn = self.turn.load(Ordering::SeqCst);
            let group = turn & 1;
            self.under_way[group].fetch_add(1, Ordering::SeqCst);
            let guard = WriteGuard {
                barrier: self.clone(),
                group,
            };
            // Else the group may be waited for already, and looked empty.
            if self.turn.load(Ordering::SeqCst) == turn {
                return guard;
            }
        }
    }

    /// To be called after a change: comes back when no write is under way that entered before it.
    pub(crate) async fn drain(&self) {
        let _one = self.changing.lock().await;
        let before = self.turn.fetch_add(1, Ordering::SeqCst);
        while self.under_way[before & 1].load(Ordering::SeqCst) > 0 {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

impl Drop for WriteGuard {
    fn drop(&mut self) {
        self.barrier.under_way[self.group].fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[tokio::test]
    async fn a_change_waits_for_writes_that_began_before_it_and_no_others() {
        let barrier = Arc::new(WriteBarrier::default());
        barrier.drain().await;
        let before = barrier.enter();
        let done = Arc::new(AtomicBool::new(false));
        let drained = tokio::spawn({
            let (barrier, done) = (barrier.clone(), done.clone());
            async move {
                barrier.drain().await;
                done.store(true, Ordering::SeqCst);
            }
        });
        while barrier.turn.load(Ordering::SeqCst) < 2 {
            tokio::task::yield_now().await;
        }
        let _after = barrier.enter();
        assert!(!done.load(Ordering::SeqCst));
        drop(before);
        drained.await.expect("no panic");
    }
}
