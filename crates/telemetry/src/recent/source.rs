//! From the tracer's queue to what is kept, and on to the exporter's, if there is one.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::export::{Numbers, Queue, Resource};

/// Where the server's own traces come from, and where they go on to.
#[derive(Debug)]
pub struct Source {
    pub(super) queue: Arc<Queue>,
    /// To a collector. Its books are carried over to those of `queue`, which so are those of all.
    onward: Option<Arc<Queue>>,
    /// The resource, as a `ResourceSpans` has it.
    head: Arc<[u8]>,
    carried: Mutex<Numbers>,
}

impl Source {
    pub fn new(queue: Arc<Queue>, resource: &Resource, onward: Option<Arc<Queue>>) -> Self {
        Self {
            queue,
            onward,
            head: resource.field().into(),
            carried: Mutex::default(),
        }
    }

    /// Takes all that is finished: who comes back has seen all that was there when it came. Each chunk is a turn of its own,
    /// so that who is in a hurry does not wait until another has taken them all.
    pub(super) fn drain(&self, mut keep: impl FnMut(&Arc<[u8]>, &Arc<[u8]>)) {
        while self.take_chunk(&mut keep) {}
        self.carry_over();
    }

    /// Takes what comes before the end, and nothing after that. What there is no time for is counted.
    pub(super) fn finish(&self, end: Instant, mut keep: impl FnMut(&Arc<[u8]>, &Arc<[u8]>)) {
        self.queue.close();
        while !self.queue.is_drained() {
            if Instant::now() >= end {
                self.give_up();
            } else if !self.take_chunk(&mut keep) {
                // A thread is pushing at this moment, which takes no time.
                thread::yield_now();
            }
        }
        self.carry_over();
    }

    /// False if there is none.
    fn take_chunk(&self, mut keep: impl FnMut(&Arc<[u8]>, &Arc<[u8]>)) -> bool {
        let _turn = self.lock();
        let Some(chunk) = self.queue.pop() else {
            return false;
        };
        for (item, spans) in chunk.items() {
            let bytes: Arc<[u8]> = item.into();
            keep(&self.head, &bytes);
            match &self.onward {
                // It counts what it has no room for.
                Some(onward) => {
                    onward.push(spans, |out| out.extend_from_slice(item));
                }
                None => self.queue.settle(spans, 0, 0),
            }
        }
        true
    }

    fn give_up(&self) {
        while let Some(chunk) = self.queue.pop() {
            self.queue.settle(0, 0, chunk.spans());
        }
    }

    fn carry_over(&self) {
        let Some(onward) = &self.onward else {
            return;
        };
        let mut carried = self.lock();
        let now = onward.numbers();
        self.queue.settle(
            now.exported - carried.exported,
            now.failed - carried.failed,
            now.dropped - carried.dropped,
        );
        *carried = now;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Numbers> {
        self.carried.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
