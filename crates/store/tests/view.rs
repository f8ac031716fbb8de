//! The view under threads that publish and watch at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use bytes::Bytes;
use store::{Options, View};

const WATCHERS: usize = 3;
const ROUNDS: usize = 20_000;

/// A watch must join those that are told before the past that it begins with can become longer.
#[test]
fn a_watch_that_begins_while_others_write_misses_nothing() {
    let view = View::new(Vec::new(), 1, &Options::default());
    let done = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        let publisher = scope.spawn(|| {
            let (key, value) = (Bytes::from_static(b"/k"), Bytes::from_static(b"v"));
            let mut revision = view.revision();
            while !done.load(Ordering::Relaxed) {
                revision += 1;
                let mut draft = view.draft();
                draft.write(key.clone(), value.clone(), 0, revision);
                view.publish(draft);
            }
        });
        let watchers: Vec<_> = (0..WATCHERS)
            .map(|_| scope.spawn(|| (0..ROUNDS).find_map(|_| first_gap(&view))))
            .collect();
        let gaps: Vec<_> = watchers.into_iter().map(|it| it.join().unwrap()).collect();
        done.store(true, Ordering::Relaxed);
        publisher.join().unwrap();
        assert_eq!(gaps, [None; WATCHERS], "(watched after, first seen)");
    });
}

/// A new watch sees the very next revision first: every one is a change below its prefix.
fn first_gap(view: &View) -> Option<(u64, u64)> {
    let after = view.revision();
    let mut watch = view.watch(b"/", after).unwrap();
    loop {
        if let Some(changes) = watch.try_next() {
            let changes = changes.unwrap();
            // A watch begins with its past, which may be empty.
            if let Some(first) = changes.first() {
                let seen = first.revision;
                return (seen != after + 1).then_some((after, seen));
            }
        }
        thread::yield_now();
    }
}
