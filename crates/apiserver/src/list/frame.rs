//! Hot path. Memory for pieces of lists, used again and again: the allocator would give it back to the system behind each
//! list and take it again, page by page, for the next. That took half of the time of a list.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

/// A piece is sent when it is about that large.
pub(super) const SIZE: usize = 128 << 10;
/// The last object of a piece may go beyond it.
const ROOM: usize = SIZE + SIZE / 8;
/// So many wait to be used again, four megabytes and a half.
const KEPT: usize = 32;

static SPARE: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

fn spare() -> Option<Vec<u8>> {
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    spare.pop()
}

/// One that has been used, if there is one; else it grows: most lists are small.
pub(super) fn first() -> Vec<u8> {
    spare().unwrap_or_default()
}

pub(super) fn next() -> Vec<u8> {
    spare().unwrap_or_else(|| Vec::with_capacity(ROOM))
}

/// The bytes, whose memory comes back when the last of them has been sent.
pub(super) fn full(bytes: Vec<u8>) -> Bytes {
    if bytes.capacity() < ROOM || bytes.capacity() > 2 * ROOM {
        return bytes.into();
    }
    Bytes::from_owner(Full(bytes))
}

struct Full(Vec<u8>);

impl AsRef<[u8]> for Full {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        let mut bytes = std::mem::take(&mut self.0);
        bytes.clear();
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < KEPT {
            spare.push(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_when_nothing_of_it_is_needed() {
        // Other tests may take and give meanwhile, but none of them gives one of this size.
        let capacity = ROOM + 12345;
        let mut bytes = Vec::with_capacity(capacity);
        bytes.extend_from_slice(b"some text");
        let capacity = bytes.capacity();
        let is_spare = || {
            let spare = SPARE.lock().unwrap();
            spare
                .iter()
                .any(|it| it.capacity() == capacity && it.is_empty())
        };
        let mut sent = full(bytes);
        let head = sent.split_to(4);
        assert_eq!((&*head, &*sent), (&b"some"[..], &b" text"[..]));
        drop(sent);
        assert!(!is_spare());
        drop(head);
        assert!(is_spare());
    }

    #[test]
    fn what_is_small_or_huge_is_not_kept() {
        for capacity in [10, 4 * ROOM] {
            let mut bytes = Vec::with_capacity(capacity);
            bytes.push(1);
            let capacity = bytes.capacity();
            drop(full(bytes));
            let spare = SPARE.lock().unwrap();
            assert!(spare.iter().all(|it| it.capacity() != capacity));
        }
    }
}
