//! Hot path. Memory in which items come together until they are sent.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// A chunk with so many bytes is full.
const FULL: usize = 64 << 10;
/// Of a chunk that is not yet full and takes one item more, unless that is a very large one.
const SIZE: usize = FULL + (16 << 10);
/// What is free is kept for the next burst up to so many.
const FREE: usize = 64;

/// The memory of a queue: so many bytes at most, and what was used is used again.
#[derive(Debug)]
pub(super) struct Buffers {
    most: usize,
    taken: AtomicUsize,
    free: Mutex<Vec<Vec<u8>>>,
}

impl Buffers {
    /// For `chunks` at least, whatever `most` says.
    pub(super) fn new(most: usize, chunks: usize) -> Self {
        Self {
            most: most.max(chunks * SIZE),
            taken: AtomicUsize::new(0),
            free: Mutex::default(),
        }
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.taken.load(Ordering::Relaxed) + SIZE > self.most
    }

    /// An empty chunk, if there is memory for it.
    pub(super) fn take(self: &Arc<Self>) -> Option<Chunk> {
        let order = Ordering::Relaxed;
        let more = |taken: usize| (taken + SIZE <= self.most).then_some(taken + SIZE);
        self.taken.fetch_update(order, order, more).ok()?;
        // Nobody waits here: who finds it locked takes new memory.
        let free = self.free.try_lock().ok().and_then(|mut it| it.pop());
        Some(Chunk {
            bytes: free.unwrap_or_else(|| Vec::with_capacity(SIZE)),
            items: Vec::with_capacity(32),
            spans: 0,
            places: 0,
            counted: SIZE,
            buffers: self.clone(),
        })
    }

    fn give_back(&self, mut bytes: Vec<u8>, counted: usize) {
        self.taken.fetch_sub(counted, Ordering::Relaxed);
        if bytes.capacity() != SIZE {
            return;
        }
        bytes.clear();
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < FREE {
            free.push(bytes);
        }
    }
}

/// Items that were encoded one behind the other.
#[derive(Debug)]
pub struct Chunk {
    bytes: Vec<u8>,
    /// Where each ends, and how many spans it has.
    items: Vec<(usize, u64)>,
    spans: u64,
    places: u64,
    /// Its bytes, as far as the buffers know of them.
    counted: usize,
    buffers: Arc<Buffers>,
}

impl Chunk {
    /// Puts an item behind the others.
    pub(super) fn push(&mut self, spans: u64, places: u64, encode: impl FnOnce(&mut Vec<u8>)) {
        // What was begun by somebody who panicked is not sent.
        self.bytes.truncate(self.end());
        encode(&mut self.bytes);
        self.items.push((self.bytes.len(), spans));
        self.spans += spans;
        self.places += places;
        let size = self.bytes.capacity();
        if size > self.counted {
            let more = size - std::mem::replace(&mut self.counted, size);
            self.buffers.taken.fetch_add(more, Ordering::Relaxed);
        }
    }

    fn end(&self) -> usize {
        self.items.last().map_or(0, |it| it.0)
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() >= FULL
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn places(&self) -> u64 {
        self.places
    }

    /// How many spans its items have together.
    pub fn spans(&self) -> u64 {
        self.spans
    }

    /// What each item was encoded to, and how many spans it has.
    pub fn items(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let mut start = 0;
        self.items.iter().map(move |&(end, spans)| {
            let item = &self.bytes[std::mem::replace(&mut start, end)..end];
            (item, spans)
        })
    }

    /// To be sent. The memory comes back when all of it was let go.
    pub(super) fn share(mut self) -> Shared {
        let items = std::mem::take(&mut self.items);
        self.bytes.truncate(items.last().map_or(0, |it| it.0));
        Shared {
            bytes: Bytes::from_owner(self),
            items: items.into_iter(),
            start: 0,
        }
    }
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.buffers.give_back(bytes, self.counted);
    }
}

/// A chunk that is on its way.
#[derive(Debug)]
pub(super) struct Shared {
    bytes: Bytes,
    items: std::vec::IntoIter<(usize, u64)>,
    start: usize,
}

impl Shared {
    pub(super) fn is_empty(&self) -> bool {
        self.items.as_slice().is_empty()
    }

    /// The next items, with no more spans and bytes than these. At least one, if `any`, however large it is.
    pub(super) fn take(&mut self, spans: u64, bytes: usize, mut any: bool) -> (Bytes, u64) {
        let (mut end, mut taken) = (self.start, 0);
        while let Some(&(to, more)) = self.items.as_slice().first() {
            let fits = taken + more <= spans && to - self.start <= bytes;
            if !fits && !any {
                break;
            }
            any = false;
            self.items.next();
            (end, taken) = (to, taken + more);
        }
        let start = std::mem::replace(&mut self.start, end);
        (self.bytes.slice(start..end), taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(buffers: &Arc<Buffers>, items: &[(usize, u64)]) -> Chunk {
        let mut chunk = buffers.take().unwrap();
        for (index, (size, spans)) in items.iter().enumerate() {
            let byte = u8::try_from(index).unwrap();
            chunk.push(*spans, *spans, |out| out.resize(out.len() + size, byte));
        }
        chunk
    }

    #[test]
    fn memory_is_bounded_and_used_again() {
        let buffers = Arc::new(Buffers::new(0, 2));
        let (first, second) = (buffers.take().unwrap(), buffers.take().unwrap());
        assert!(buffers.is_exhausted() && buffers.take().is_none());
        let place = first.bytes.as_ptr();
        drop(first);
        let again = buffers.take().unwrap();
        assert_eq!(again.bytes.as_ptr(), place);
        drop((again, second));
        // A very large item counts as what it is, and is not kept.
        let large = chunk(&buffers, &[(10 * SIZE, 1)]);
        assert!(buffers.take().is_none());
        let shared = large.share();
        assert!(buffers.is_exhausted());
        drop(shared);
        assert_eq!(buffers.taken.load(Ordering::Relaxed), 0);
        // It grew out of one of the two that were free.
        let free = buffers.free.lock().unwrap();
        assert!(free.len() == 1 && free.iter().all(|it| it.is_empty() && it.capacity() == SIZE));
    }

    #[test]
    fn what_somebody_began_and_did_not_end_is_not_sent() {
        let buffers = Arc::new(Buffers::new(0, 2));
        let mut chunk = chunk(&buffers, &[(3, 1)]);
        let run = std::panic::AssertUnwindSafe(|| {
            chunk.push(1, 1, |out| {
                out.extend_from_slice(b"half a span");
                panic!("as the test has it");
            });
        });
        assert!(std::panic::catch_unwind(run).is_err());
        chunk.push(2, 2, |out| out.push(7));
        let items: Vec<_> = chunk.items().collect();
        assert_eq!(items, [(&[0_u8, 0, 0][..], 1), (&[7], 2)]);
        let (all, spans) = chunk.share().take(100, 100, true);
        assert_eq!((&all[..], spans), (&[0_u8, 0, 0, 7][..], 3));
    }

    #[test]
    fn a_message_takes_what_fits() {
        let buffers = Arc::new(Buffers::new(0, 2));
        let mut shared = chunk(&buffers, &[(3, 1), (5, 9), (2, 1), (2, 1)]).share();
        let mut take = |spans, bytes, any| {
            let (bytes, spans) = shared.take(spans, bytes, any);
            (bytes.len(), spans)
        };
        assert_eq!(take(5, 100, true), (3, 1));
        assert_eq!(take(5, 100, false), (0, 0), "the next is too large");
        assert_eq!(take(5, 1, true), (5, 9), "but not for a message of its own");
        assert_eq!(take(5, 3, true), (2, 1));
        assert_eq!(take(5, 3, false), (2, 1));
        assert!(shared.is_empty());
    }
}
