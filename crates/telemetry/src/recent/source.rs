//! From the tracer's queue to what is kept, and on to the exporter's, if there is one.

use std::sync::{Arc, Mutex, PoisonError};

use crate::export::{Item, Numbers, Queue, Resource};
use crate::trace::Finished;

/// A trace that was encoded, on its way to a collector.
#[derive(Clone, Debug)]
pub struct Encoded {
    spans: u64,
    bytes: Arc<[u8]>,
}

impl Item for Encoded {
    fn spans(&self) -> u64 {
        self.spans
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes);
    }
}

/// Where the server's own traces come from, and where they go on to.
#[derive(Debug)]
pub struct Source {
    pub(super) queue: Arc<Queue<Finished>>,
    /// To a collector. Its books are carried over to those of `queue`, which so are those of all.
    onward: Option<Arc<Queue<Encoded>>>,
    /// The resource, as a `ResourceSpans` has it.
    head: Arc<[u8]>,
    carried: Mutex<Numbers>,
}

impl Source {
    pub fn new(
        queue: Arc<Queue<Finished>>,
        resource: &Resource,
        onward: Option<Arc<Queue<Encoded>>>,
    ) -> Self {
        Self {
            queue,
            onward,
            head: resource.field().into(),
            carried: Mutex::default(),
        }
    }

    /// Takes all that is finished: who comes back has seen all that was there when it came. Each trace is a turn of its own,
    /// so that who is in a hurry does not wait for a thread of the lowest priority to take them all.
    pub(super) fn drain(&self, keep: impl Fn(&Arc<[u8]>, &Arc<[u8]>)) {
        let mut out = Vec::new();
        while self.take_one(&mut out, &keep) {}
    }

    /// False if there is none.
    fn take_one(&self, out: &mut Vec<u8>, keep: impl Fn(&Arc<[u8]>, &Arc<[u8]>)) -> bool {
        let mut carried = self.carried.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(finished) = self.queue.try_pop() else {
            if let Some(onward) = &self.onward {
                let now = onward.numbers();
                self.queue.settle(
                    now.exported - carried.exported,
                    now.failed - carried.failed,
                    now.dropped - carried.dropped,
                );
                *carried = now;
            }
            return false;
        };
        out.clear();
        finished.encode(out);
        let spans = finished.spans();
        drop(finished);
        let bytes: Arc<[u8]> = out.as_slice().into();
        keep(&self.head, &bytes);
        match &self.onward {
            // It counts what it has no room for.
            Some(onward) => drop(onward.try_push(Encoded { spans, bytes })),
            None => self.queue.settle(spans, 0, 0),
        }
        true
    }
}
