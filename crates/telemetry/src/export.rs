//! From what is recorded to a collector.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// A finished piece of a trace, as it waits to be sent.
pub trait Item: Send + 'static {
    /// How many spans it holds: what the books of the exporter count.
    fn spans(&self) -> u64;

    /// Appends the fields of an OTLP `ResourceSpans` that are its own: one or more `scope_spans` (field 2), each with its
    /// tag and length. The exporter writes the resource (field 1) before the first and may put many items in one message.
    fn encode(&self, out: &mut Vec<u8>);
}

/// What waits to be sent. Never blocks, never grows beyond its bound.
#[derive(Debug)]
pub struct Queue<T> {
    waiting: Mutex<VecDeque<T>>,
    most: usize,
}

impl<T: Item> Queue<T> {
    pub fn new(most: usize) -> Self {
        Self {
            waiting: Mutex::default(),
            most,
        }
    }

    /// Gives the item back when there is no room.
    pub fn try_push(&self, item: T) -> Result<(), T> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() >= self.most {
            return Err(item);
        }
        waiting.push_back(item);
        Ok(())
    }

    /// The item that has waited longest.
    pub fn try_pop(&self) -> Option<T> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.pop_front()
    }
}
