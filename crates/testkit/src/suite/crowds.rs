//! Many watchers, and slow ones.

use std::sync::Arc;

use store::{Options, Store, Txn, WatchEnd};

use super::{Backing, assert_matches, brief, events, next, open, options, soon};

const CROWD: usize = 10_000;

pub async fn many_watchers_share_the_same_events(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.put("a", "0").await.unwrap();
    let mut watches = Vec::new();
    for prefix in ["", "a", "a", "", "a"] {
        watches.push(store.watch(prefix.as_bytes(), start).await.unwrap());
    }
    for number in 1..=10 {
        store.put("a", number.to_string()).await.unwrap();
    }
    watches.push(store.watch(b"a", start).await.unwrap());
    let first = events(&mut watches[0], 10).await;
    for watch in &mut watches[1..] {
        let seen = events(watch, 10).await;
        assert!(first.iter().zip(&seen).all(|(a, b)| Arc::ptr_eq(a, b)));
    }
    // The values too: what a watch shows is what a read shows.
    let read = store.latest().get(b"a").unwrap().clone();
    assert!(Arc::ptr_eq(&read, first[9].current.as_ref().unwrap()));
}

pub async fn ten_thousand_watchers_of_one_prefix(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.put("/pods/0", "").await.unwrap();
    let mut watches = Vec::with_capacity(CROWD);
    for _ in 0..CROWD {
        watches.push(store.watch(b"/pods/", start).await.unwrap());
    }
    assert_eq!(store.stats().0.watchers, CROWD as u64);
    let writer = tokio::spawn(async move {
        for number in 1..=3 {
            store.put(format!("/pods/{number}"), "").await.unwrap();
            store.put("/nodes/1", "").await.unwrap();
        }
        store
    });
    let mut first = Vec::new();
    for watch in &mut watches {
        let seen = events(watch, 3).await;
        assert_eq!(brief(&seen), ["+/pods/1=", "+/pods/2=", "+/pods/3="]);
        if first.is_empty() {
            first = seen;
        } else {
            assert!(first.iter().zip(&seen).all(|(a, b)| Arc::ptr_eq(a, b)));
        }
    }
    let store = soon("the writer", writer).await.unwrap();
    drop(watches);
    assert_eq!(store.stats().0.watchers, 0);
}

pub async fn ten_thousand_watchers_of_their_own_prefix(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.put("start", "").await.unwrap();
    let mut watches = Vec::with_capacity(CROWD);
    for number in 0..CROWD {
        let prefix = format!("/namespaces/{number}/");
        watches.push(store.watch(prefix.as_bytes(), start).await.unwrap());
    }
    let numbers: Vec<_> = (0..CROWD).collect();
    for chunk in numbers.chunks(Store::MAX_OPERATIONS) {
        let txn = chunk.iter().fold(Txn::new(), |txn, number| {
            txn.put(format!("/namespaces/{number}/pod"), "")
        });
        store.txn(txn).await.unwrap();
    }
    for (number, watch) in watches.iter_mut().enumerate() {
        let seen = events(watch, 1).await;
        assert_eq!(seen[0].key, format!("/namespaces/{number}/pod"));
        assert_matches!(watch.try_next(), None);
    }
    drop(watches);
    assert_eq!(store.stats().0.watchers, 0);
}

fn small_buffer() -> Options {
    Options {
        watch_buffer_bytes: 16 << 10,
        ..options()
    }
}

pub async fn a_slow_watcher_is_dropped_and_no_other(backing: &impl Backing) {
    let store = backing.open(&small_buffer()).await;
    let start = store.put("a", "start").await.unwrap();
    let mut slow = store.watch(b"a", start).await.unwrap();
    let mut quiet = store.watch(b"b", start).await.unwrap();
    let mut fast = store.watch(b"a", start).await.unwrap();
    for number in 0..100 {
        store.put("a", vec![number; 1 << 10]).await.unwrap();
        let changes = next(&mut fast).await;
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].current.as_ref().unwrap().value[0], number);
    }
    assert_matches!(
        soon("the end of the slow watch", slow.next()).await,
        Err(WatchEnd::Lagged { behind, limit }) if behind > limit && limit == 16 << 10
    );
    // The end stays the end.
    assert_matches!(slow.try_next(), Some(Err(WatchEnd::Lagged { .. })));
    assert_eq!(store.stats().0.watchers_lagged, 1);
    assert_matches!(quiet.try_next(), None);
    // It may come back where it was.
    let mut back = store.watch(b"a", slow.progress()).await.unwrap();
    assert_eq!(events(&mut back, 100).await.len(), 100);
}

/// Deleting a few large objects at once weighs more than the buffer; whoever has seen all before is not slow.
pub async fn a_watcher_that_keeps_up_survives_a_large_transaction(backing: &impl Backing) {
    let store = backing.open(&small_buffer()).await;
    let fill = (0..50).fold(Txn::new(), |txn, key| {
        txn.put(format!("{key:02}"), vec![0; 1 << 10])
    });
    let start = store.txn(fill).await.unwrap().revision;
    let mut watch = store.watch(b"", start).await.unwrap();
    let wipe = (0..50).fold(Txn::new(), |txn, key| txn.delete(format!("{key:02}")));
    store.txn(wipe).await.unwrap();
    assert_eq!(events(&mut watch, 50).await.len(), 50);
    store.put("on", "").await.unwrap();
    assert_eq!(brief(&events(&mut watch, 1).await), ["+on="]);
}
