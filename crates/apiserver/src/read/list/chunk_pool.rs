//! Hot path. Memory for pieces of lists, used again and again: the allocator would give it back to the system behind each
//! list and take it again, page by page, for the next. That took half of the time of a list.
//!
//! What a piece says stays readable until its memory is used again: whoever asks for the same list meanwhile is sent the
//! same bytes. No more memory is kept for that.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;

use super::share::{ListIdentity, Part};

/// A piece is sent when it is about that large.
pub(super) const SIZE: usize = 128 << 10;
/// The last object of a piece may go beyond it.
const ROOM: usize = SIZE + SIZE / 8;
/// So many wait to be used again, four megabytes and a half.
const KEPT: usize = 32;
/// So many that are on their way are found by others.
const FOUND: usize = 128;

static FRAMES: Mutex<Frames> = Mutex::new(Frames::new());

fn frames() -> MutexGuard<'static, Frames> {
    FRAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One that has been used, if there is one; else it grows: most lists are small.
pub(super) fn first() -> Vec<u8> {
    frames().spare().unwrap_or_default()
}

pub(super) fn next() -> Vec<u8> {
    let spare = frames().spare();
    spare.unwrap_or_else(|| Vec::with_capacity(ROOM))
}

/// The bytes, whose memory comes back when the last of them has been sent.
pub(super) fn full(bytes: Vec<u8>, part: Option<Part>) -> Bytes {
    if bytes.capacity() < ROOM || bytes.capacity() > 2 * ROOM {
        return bytes.into();
    }
    let piece = Piece {
        bytes,
        part,
        is_wanted: AtomicBool::new(false),
    };
    let sent = frames().send(piece);
    Bytes::from_owner(Sender(sent))
}

/// The piece of this number of a list, if it can still be read.
pub(super) fn find(list: &ListIdentity, number: usize) -> Option<(Bytes, Part)> {
    let found = frames().find(list, number)?;
    let part = found.0.part.clone()?;
    Some((Bytes::from_owner(Sender(found)), part))
}

/// A sender of a chunk.
struct Sender(Arc<Sent>);

impl AsRef<[u8]> for Sender {
    fn as_ref(&self) -> &[u8] {
        &self.0.0.bytes
    }
}

#[derive(Default)]
struct Piece {
    bytes: Vec<u8>,
    /// What it is a part of, if others may have it, too.
    part: Option<Part>,
    /// Another list has taken the memory.
    is_wanted: AtomicBool,
}

impl Piece {
    fn is(&self, list: &ListIdentity, number: usize) -> bool {
        let part = self.part.as_ref();
        part.is_some_and(|part| part.is(list, number))
    }

    /// No client can request it again.
    fn is_stale(&self) -> bool {
        self.part.as_ref().is_none_or(|part| part.list.is_gone())
    }
}

/// Returned when its last sender is done.
struct Sent(Piece);

impl Drop for Sent {
    fn drop(&mut self) {
        let piece = std::mem::take(&mut self.0);
        let surplus = frames().give(piece);
        // Without the lock: it may go back to the system.
        drop(surplus);
    }
}

struct Frames {
    /// The one that came back last is the last.
    spare: Vec<Piece>,
    sent: Vec<(Arc<ListIdentity>, usize, Weak<Sent>)>,
}

/// Nothing here lets go of a [`Sent`]: that takes the lock.
impl Frames {
    const fn new() -> Self {
        Self {
            spare: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// What is useless by now and still in the processor's cache, else what nobody has asked for again for the longest
    /// time; what others have asked for stays as long as there is room.
    fn spare(&mut self) -> Option<Vec<u8>> {
        let unwanted = |it: &Piece| !it.is_wanted.load(Ordering::Relaxed);
        let at = self.spare.iter().rposition(Piece::is_stale);
        let at = at.or_else(|| self.spare.iter().position(unwanted));
        let at = at.or_else(|| (self.spare.len() >= KEPT).then_some(0))?;
        let mut bytes = self.spare.remove(at).bytes;
        bytes.clear();
        Some(bytes)
    }

    fn send(&mut self, piece: Piece) -> Arc<Sent> {
        let sent = Arc::new(Sent(piece));
        if let Some(part) = &sent.0.part {
            if self.sent.len() >= FOUND {
                self.sent.remove(0);
            }
            let found = (part.list.clone(), part.number, Arc::downgrade(&sent));
            self.sent.push(found);
        }
        sent
    }

    /// Says which one is too many.
    fn give(&mut self, piece: Piece) -> Option<Piece> {
        self.sent.retain(|(_, _, sent)| sent.strong_count() > 0);
        self.spare.push(piece);
        (self.spare.len() > KEPT).then(|| self.spare.remove(0))
    }

    fn find(&mut self, list: &ListIdentity, number: usize) -> Option<Arc<Sent>> {
        let mut sent = self.sent.iter();
        let sent = sent.find_map(|(of, at, sent)| {
            let is_it = *at == number && **of == *list;
            is_it.then(|| sent.upgrade()).flatten()
        });
        let sent = sent.or_else(|| {
            let at = self.spare.iter().position(|it| it.is(list, number))?;
            let piece = self.spare.remove(at);
            Some(self.send(piece))
        })?;
        sent.0.is_wanted.store(true, Ordering::Relaxed);
        Some(sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::list::share::tests::{Lists, part};

    fn piece(part: Option<Part>) -> Piece {
        Piece {
            bytes: Vec::with_capacity(ROOM),
            part,
            ..Piece::default()
        }
    }

    /// One that would come back to the frames that all tests share, and push out those of others.
    fn forget(sent: Arc<Sent>) {
        std::mem::forget(sent);
    }

    /// Other tests may take and give meanwhile, but none of them gives one of this size.
    fn marked(mark: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(ROOM + mark);
        bytes.extend_from_slice(b"some text");
        bytes
    }

    fn is_spare(capacity: usize) -> bool {
        let frames = frames();
        let mut spare = frames.spare.iter();
        spare.any(|it| it.bytes.capacity() == capacity)
    }

    #[test]
    fn memory_comes_back_when_nothing_of_it_is_needed() {
        let bytes = marked(12345);
        let capacity = bytes.capacity();
        let mut sent = full(bytes, None);
        let head = sent.split_to(4);
        assert_eq!((&*head, &*sent), (&b"some"[..], &b" text"[..]));
        drop(sent);
        assert!(!is_spare(capacity));
        drop(head);
        assert!(is_spare(capacity));
    }

    #[test]
    fn what_is_small_or_huge_is_not_kept() {
        for capacity in [10, 4 * ROOM] {
            let mut bytes = Vec::with_capacity(capacity);
            bytes.push(1);
            let capacity = bytes.capacity();
            drop(full(bytes, None));
            assert!(!is_spare(capacity));
        }
    }

    #[test]
    fn others_keep_a_piece_and_the_table_keeps_none() {
        let lists = Lists::new();
        let (list, other) = (lists.of("/a/"), lists.of("/b/"));
        let bytes = marked(23456);
        let capacity = bytes.capacity();
        let made = full(bytes, Some(part(&list, 3)));
        let (found, of) = find(&list, 3).expect("it is being sent");
        assert_eq!(found.as_ptr(), made.as_ptr());
        assert!(of.is(&list, 3));
        assert!(find(&list, 2).is_none() && find(&other, 3).is_none());
        drop(made);
        assert!(!is_spare(capacity) && *found == *b"some text");
        drop(found);
        assert!(is_spare(capacity));
        assert!(frames().sent.iter().all(|(of, _, _)| *of != list));
    }

    #[test]
    fn what_nobody_asks_for_is_used_again_first() {
        let lists = Lists::new();
        let list = lists.of("/a/");
        let mut frames = Frames::new();
        for number in 0..3 {
            assert!(frames.give(piece(Some(part(&list, number)))).is_none());
        }
        // Asked for by another: it comes back as the last.
        let found = frames.find(&list, 0).expect("a spare one");
        let mut back = piece(found.0.part.clone());
        back.is_wanted = AtomicBool::new(found.0.is_wanted.load(Ordering::Relaxed));
        forget(found);
        frames.give(back);
        frames.give(piece(None));
        let number = |it: &Piece| it.part.as_ref().map(|it| it.number);
        let all = |frames: &Frames| frames.spare.iter().map(number).collect::<Vec<_>>();
        assert_eq!(all(&frames), [Some(1), Some(2), Some(0), None]);
        for rest in [
            &[Some(1), Some(2), Some(0)][..],
            &[Some(2), Some(0)],
            &[Some(0)],
        ] {
            assert!(frames.spare().is_some());
            assert_eq!(all(&frames), rest);
        }
        // There is room for others beside it.
        assert!(frames.spare().is_none());
        // No client requests a state that is gone.
        drop(lists);
        assert!(frames.spare().is_some());
    }

    #[test]
    fn no_more_are_kept_than_there_is_room_for() {
        let lists = Lists::new();
        let list = lists.of("/a/");
        let mut frames = Frames::new();
        for number in 0..2 * KEPT {
            let piece = piece(Some(part(&list, number)));
            piece.is_wanted.store(true, Ordering::Relaxed);
            let surplus = frames.give(piece);
            assert_eq!(surplus.is_some(), number >= KEPT);
        }
        assert!(frames.find(&list, KEPT - 1).is_none());
        assert!(
            frames.spare().is_some(),
            "all are wanted, but there is no room"
        );
        for number in 0..2 * FOUND {
            forget(frames.send(piece(Some(part(&list, number)))));
        }
        assert_eq!(frames.sent.len(), FOUND);
    }
}
