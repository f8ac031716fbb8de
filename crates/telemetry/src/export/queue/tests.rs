use super::*;

impl Item for u64 {
    fn spans(&self) -> u64 {
        *self
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
}

/// All items that wait, by their spans.
fn popped(queue: &Queue) -> Vec<u64> {
    let mut all = Vec::new();
    while let Some(chunk) = queue.pop() {
        for (bytes, spans) in chunk.items() {
            assert_eq!(bytes, spans.to_le_bytes());
            all.push(spans);
        }
    }
    all
}

#[test]
fn what_has_no_room_is_given_back_and_counted() {
    let queue = Queue::new(10);
    assert_eq!(queue.try_push(6), Ok(()));
    assert_eq!(queue.try_push(5), Err(5));
    assert_eq!(queue.try_push(4), Ok(()));
    assert_eq!(queue.try_push(1), Err(1));
    assert_eq!(queue.try_push(0), Err(0));
    assert_eq!(popped(&queue), [6, 4]);
    queue.settle(6, 3, 1);
    let numbers = queue.numbers();
    assert_eq!((numbers.created, numbers.exported), (16, 6));
    assert_eq!((numbers.dropped, numbers.failed), (7, 3));
    assert_eq!(numbers.waiting(), 0);
}

#[test]
fn what_has_no_room_is_not_encoded() {
    let queue = Queue::new(10);
    assert_eq!(queue.try_push(8), Ok(()));
    assert!(!queue.push(3, |_| panic!("there is no room for it")));
    assert!(!queue.is_full());
    queue.refuse(1);
    queue.close();
    assert!(queue.is_full());
    assert!(!queue.push(1, |_| panic!("it is closed")));
    assert_eq!(popped(&queue), [8]);
    queue.settle(8, 0, 0);
    let numbers = queue.numbers();
    assert_eq!((numbers.created, numbers.dropped), (13, 5));
    assert_eq!(numbers.waiting(), 0);
}

/// A thread that is interrupted while it encodes keeps its shard locked. What others push meanwhile shares chunks: memory is
/// bounded by chunks, and one for each item would use it up.
#[test]
fn items_share_chunks_while_all_shards_are_locked() {
    let queue = Queue::new(100_000);
    let locked: Vec<_> = queue.shards.iter().map(|Shard(it)| lock(it)).collect();
    for _ in 0..10_000 {
        assert_eq!(queue.try_push(3), Ok(()));
    }
    let panicking = || queue.push(1, |_| panic!("an encoder that fails"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panicking)).is_err());
    drop(locked);
    assert_eq!(queue.try_push(4), Ok(()));
    queue.sweep();
    let mut all = popped(&queue);
    assert_eq!(all.len(), 10_001);
    all.sort_unstable();
    assert_eq!(all.last(), Some(&4));
    assert_eq!(queue.numbers().dropped, 1, "only what panicked");
    queue.close();
    assert!(queue.is_drained());
}

#[test]
fn a_large_queue_is_full_a_little_sooner() {
    let queue = Queue::new(6400);
    assert_eq!(queue.try_push(6335), Ok(()));
    assert!(!queue.is_full());
    assert_eq!(queue.try_push(1), Ok(()));
    assert!(queue.is_full());
    assert_eq!(queue.try_push(64), Ok(()));
}

#[test]
fn memory_bounds_it_too() {
    // The least that there is.
    let queue = Queue::with_bytes(1_000_000, 0);
    let large = |out: &mut Vec<u8>| out.resize(out.len() + 60_000, 7);
    let taken = (0..10_000).take_while(|_| queue.push(1, large)).count() as u64;
    assert!(queue.is_full());
    assert!((4..300).contains(&taken), "{taken}");
    let mut bytes = 0;
    while let Some(chunk) = queue.pop() {
        bytes += chunk.items().map(|it| it.0.len() as u64).sum::<u64>();
    }
    assert_eq!(bytes, taken * 60_000);
    assert!(!queue.is_full() && queue.push(1, large));
    let numbers = queue.numbers();
    assert_eq!((numbers.created, numbers.dropped), (taken + 2, 1));
}

#[test]
fn a_closed_queue_takes_nothing_and_gives_all() {
    let queue = Queue::new(10);
    assert_eq!(queue.try_push(1), Ok(()));
    queue.close();
    assert_eq!(queue.try_push(1), Err(1));
    assert!(!queue.is_drained());
    assert_eq!(popped(&queue), [1]);
    assert!(queue.is_drained());
    assert_eq!(queue.try_push(3), Err(3));
    assert!(queue.is_drained());
    assert_eq!(queue.numbers().dropped, 4);
}

/// Whoever fails to encode loses its own item, and nobody waits for it at the end.
#[test]
fn a_panic_is_a_drop() {
    let queue = Queue::new(10);
    let run = std::panic::AssertUnwindSafe(|| {
        queue.push(3, |out| {
            out.push(1);
            panic!("as the test has it");
        })
    });
    assert!(std::panic::catch_unwind(run).is_err());
    assert_eq!(queue.try_push(2), Ok(()));
    queue.close();
    assert_eq!(popped(&queue), [2]);
    assert!(queue.is_drained());
    let numbers = queue.numbers();
    assert_eq!((numbers.created, numbers.dropped), (5, 3));
}

/// Pushes an item while another is being encoded, and so on.
fn within(queue: &Queue, depth: u64) {
    if depth > 0 {
        let pushed = queue.push(1, |out| {
            within(queue, depth - 1);
            out.extend_from_slice(&1_u64.to_le_bytes());
        });
        assert!(pushed);
    }
}

/// However many are interrupted while they encode, others go on.
#[test]
fn nobody_waits_for_who_is_interrupted() {
    let queue = Queue::new(1000);
    let depth = queue.shards.len() as u64 + 3;
    within(&queue, depth);
    assert_eq!(popped(&queue).len() as u64, depth);
    queue.close();
    assert!(queue.is_drained());
}

#[test]
fn many_threads_lose_nothing() {
    let queue = Queue::new(64);
    let (mut taken, mut refused) = (0, 0);
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
            taken += popped(&queue).iter().sum::<u64>();
        }
        refused = pushing.into_iter().map(|it| it.join().unwrap()).sum();
    });
    queue.close();
    taken += popped(&queue).iter().sum::<u64>();
    assert!(queue.is_drained());
    queue.settle(taken, 0, 0);
    let numbers = queue.numbers();
    assert_eq!(
        numbers.created,
        4 * (0..5000).map(|it| it % 3 + 1).sum::<u64>()
    );
    assert_eq!(numbers.dropped, refused);
    assert_eq!(numbers.waiting(), 0);
}
