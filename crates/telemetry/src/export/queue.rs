//! Hot path. What waits to be sent, and the books of what became of it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use super::Item;

/// In `places`: nothing more is taken.
const CLOSED: u64 = 1 << 63;

/// What became of all spans that were ever offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// All that were offered.
    pub created: u64,
    /// The collector has them.
    pub exported: u64,
    /// They were never sent: there was no room, or no time at the end.
    pub dropped: u64,
    /// They were sent and the collector does not have them, as far as is known: it refused them, or nobody answered.
    pub failed: u64,
    /// How many may wait.
    pub capacity: u64,
}

impl Numbers {
    /// In the queue, or under way.
    pub fn waiting(&self) -> u64 {
        let settled = self.exported + self.dropped + self.failed;
        self.created.saturating_sub(settled)
    }
}

/// What waits to be sent. Never blocks, never grows beyond its bound: an item for which there is no room is given back,
/// and its spans are counted as dropped.
#[derive(Debug)]
pub struct Queue<T> {
    sender: SyncSender<T>,
    receiver: Mutex<Receiver<T>>,
    /// Spans for which there is an item in the channel, or will be in a moment.
    places: AtomicU64,
    most: u64,
    /// So few are as good as none.
    margin: u64,
    /// So many are worth waking the exporter for.
    batch: u64,
    enough: Notify,
    created: AtomicU64,
    exported: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
}

impl<T: Item> Queue<T> {
    /// For so many spans, at most.
    pub fn new(most: usize) -> Self {
        let most = most.max(1);
        let (sender, receiver) = sync_channel(most);
        let most = most as u64;
        Self {
            sender,
            receiver: Mutex::new(receiver),
            places: AtomicU64::new(0),
            most,
            margin: (most / 64).min(64),
            batch: (most / 4).clamp(1, 2048),
            enough: Notify::new(),
            created: AtomicU64::new(0),
            exported: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }
    }

    /// Gives the item back when there is no room.
    pub fn try_push(&self, item: T) -> Result<(), T> {
        self.created.fetch_add(item.spans(), Ordering::Relaxed);
        let wanted = places(&item);
        // A place is taken first: what has one is waited for by whoever closes the queue.
        let before = self.places.fetch_add(wanted, Ordering::AcqRel);
        if before & CLOSED != 0 || before + wanted > self.most {
            return self.refuse(item, wanted);
        }
        // Items are no more than their places: the channel has room for all that have one.
        if let Err(back) = self.sender.try_send(item) {
            let (TrySendError::Full(item) | TrySendError::Disconnected(item)) = back;
            return self.refuse(item, wanted);
        }
        // Once for each batch: waking a thread costs more than all the rest.
        if before < self.batch && before + wanted >= self.batch {
            self.enough.notify_one();
        }
        Ok(())
    }

    /// Whether it is no use to begin making an item: those who ask early are spared the work.
    pub fn is_full(&self) -> bool {
        let taken = self.places.load(Ordering::Relaxed);
        taken & CLOSED != 0 || taken + self.margin >= self.most
    }

    /// Counts what was not made because there was no room.
    pub fn refuse_unmade(&self, spans: u64) {
        self.created.fetch_add(spans, Ordering::Relaxed);
        self.dropped.fetch_add(spans, Ordering::Release);
    }

    /// Whether an item of so many spans would find room just now. If not, they are counted as dropped, and there need not
    /// be an item at all.
    pub fn has_room(&self, spans: u64) -> bool {
        let taken = self.places.load(Ordering::Acquire);
        if taken & CLOSED == 0 && taken + spans.max(1) <= self.most {
            return true;
        }
        self.refuse_unmade(spans);
        false
    }

    fn refuse(&self, item: T, places: u64) -> Result<(), T> {
        self.dropped.fetch_add(item.spans(), Ordering::Release);
        self.places.fetch_sub(places, Ordering::AcqRel);
        Err(item)
    }

    /// The item that has waited longest. Whoever takes it tells [`Self::settle`] what became of it.
    pub fn try_pop(&self) -> Option<T> {
        let receiver = self.receiver.lock();
        let receiver = receiver.unwrap_or_else(PoisonError::into_inner);
        let item = receiver.try_recv().ok()?;
        self.places.fetch_sub(places(&item), Ordering::AcqRel);
        Some(item)
    }

    /// What became of spans that were taken.
    pub fn settle(&self, exported: u64, failed: u64, dropped: u64) {
        self.exported.fetch_add(exported, Ordering::Release);
        self.failed.fetch_add(failed, Ordering::Release);
        self.dropped.fetch_add(dropped, Ordering::Release);
    }

    pub fn numbers(&self) -> Numbers {
        // Those that are settled first: whatever is settled was created before.
        let load = |it: &AtomicU64| it.load(Ordering::Acquire);
        let (exported, failed) = (load(&self.exported), load(&self.failed));
        let dropped = load(&self.dropped);
        Numbers {
            created: load(&self.created),
            exported,
            dropped,
            failed,
            capacity: self.most,
        }
    }

    /// Whether so much waits that it should be sent now.
    pub(super) fn is_batch(&self) -> bool {
        self.places.load(Ordering::Acquire) & !CLOSED >= self.batch
    }

    /// Comes back when a batch has come together.
    pub(crate) async fn batch(&self) {
        self.enough.notified().await;
    }

    /// Nothing more is taken.
    pub(crate) fn close(&self) {
        self.places.fetch_or(CLOSED, Ordering::AcqRel);
    }

    /// Whether a closed queue has given out everything. Who has a place and is not in the channel yet will be at once:
    /// pushing waits for nothing.
    pub(crate) fn is_drained(&self) -> bool {
        self.places.load(Ordering::Acquire) == CLOSED
    }
}

/// An item without spans still takes memory.
fn places(item: &impl Item) -> u64 {
    item.spans().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Item for u64 {
        fn spans(&self) -> u64 {
            *self
        }

        fn encode(&self, out: &mut Vec<u8>) {
            out.extend_from_slice(&self.to_le_bytes());
        }
    }

    #[test]
    fn what_has_no_room_is_given_back_and_counted() {
        let queue = Queue::new(10);
        assert_eq!(queue.try_push(6), Ok(()));
        assert_eq!(queue.try_push(5), Err(5));
        assert_eq!(queue.try_push(4), Ok(()));
        assert_eq!(queue.try_push(1), Err(1));
        assert_eq!(queue.try_push(0), Err(0));
        assert_eq!((queue.try_pop(), queue.try_pop()), (Some(6), Some(4)));
        assert_eq!(queue.try_pop(), None);
        queue.settle(6, 3, 1);
        let numbers = queue.numbers();
        assert_eq!((numbers.created, numbers.exported), (16, 6));
        assert_eq!((numbers.dropped, numbers.failed), (7, 3));
        assert_eq!(numbers.waiting(), 0);
    }

    #[test]
    fn what_would_have_no_room_is_counted_without_being_made() {
        let queue: Queue<u64> = Queue::new(10);
        assert!(queue.has_room(10));
        assert_eq!(queue.try_push(8), Ok(()));
        assert!(queue.has_room(2));
        assert!(!queue.has_room(3));
        assert!(!queue.is_full());
        queue.close();
        assert!(queue.is_full());
        assert!(!queue.has_room(1));
        assert_eq!(queue.try_pop(), Some(8));
        queue.settle(8, 0, 0);
        let numbers = queue.numbers();
        assert_eq!((numbers.created, numbers.dropped), (12, 4));
        assert_eq!(numbers.waiting(), 0);
    }

    #[test]
    fn a_large_queue_is_full_a_little_sooner() {
        let queue = Queue::new(6400);
        assert_eq!(queue.try_push(6335), Ok(()));
        assert!(!queue.is_full());
        assert_eq!(queue.try_push(1), Ok(()));
        assert!(queue.is_full() && queue.has_room(64));
    }

    #[test]
    fn a_closed_queue_takes_nothing_and_gives_all() {
        let queue = Queue::new(10);
        assert_eq!(queue.try_push(1), Ok(()));
        queue.close();
        assert_eq!(queue.try_push(1), Err(1));
        assert!(!queue.is_drained());
        assert_eq!(queue.try_pop(), Some(1));
        assert!(queue.is_drained());
        assert_eq!(queue.try_push(3), Err(3));
        assert!(queue.is_drained());
        assert_eq!(queue.numbers().dropped, 4);
    }

    #[test]
    fn many_threads_lose_nothing() {
        let queue = Queue::new(64);
        let (mut popped, mut refused) = (0, 0);
        std::thread::scope(|scope| {
            let pushing: Vec<_> = (0..4_u64)
                .map(|_| {
                    let push = |it: u64| queue.try_push(it % 3 + 1).err().unwrap_or(0);
                    scope.spawn(move || (0..5000).map(push).sum::<u64>())
                })
                .collect();
            while !pushing
                .iter()
                .all(std::thread::ScopedJoinHandle::is_finished)
            {
                popped += queue.try_pop().unwrap_or(0);
            }
            refused = pushing.into_iter().map(|it| it.join().unwrap()).sum();
        });
        queue.close();
        while let Some(spans) = queue.try_pop() {
            popped += spans;
        }
        assert!(queue.is_drained());
        queue.settle(popped, 0, 0);
        let numbers = queue.numbers();
        assert_eq!(
            numbers.created,
            4 * (0..5000).map(|it| it % 3 + 1).sum::<u64>()
        );
        assert_eq!(numbers.dropped, refused);
        assert_eq!(numbers.waiting(), 0);
    }
}
