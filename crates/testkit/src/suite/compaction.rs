//! The past is bounded: by hand, and in bytes.

use store::{Error, Options, Revision, Store, Txn};

use super::{Backing, assert_matches, brief, events, open, options};

/// Writes `a` several times and returns the revisions.
async fn history(store: &Store) -> Vec<Revision> {
    let mut revisions = Vec::new();
    for number in 0..6 {
        revisions.push(store.put("a", number.to_string()).await.unwrap());
    }
    revisions
}

pub async fn the_past_up_to_the_floor_is_gone(backing: &impl Backing) {
    let store = open(backing).await;
    let revisions = history(&store).await;
    let floor = revisions[3];
    store.compact(floor).await.unwrap();
    for requested in &revisions[..3] {
        assert_matches!(
            store.snapshot_at(*requested).await,
            Err(Error::Compacted { requested: it, floor: at }) if it == *requested && at == floor
        );
        assert_matches!(
            store.watch(b"", *requested).await,
            Err(Error::Compacted { requested: it, floor: at }) if it == *requested && at == floor
        );
    }
    // The floor itself can be read, and watched from.
    for (number, revision) in revisions.iter().enumerate().skip(3) {
        let snapshot = store.snapshot_at(*revision).await.unwrap();
        assert_eq!(snapshot.get(b"a").unwrap().value, number.to_string());
    }
    let mut watch = store.watch(b"", floor).await.unwrap();
    assert_eq!(brief(&events(&mut watch, 2).await), ["+a=4", "+a=5"]);
    assert_eq!(store.stats().0.floor, floor);
}

pub async fn the_error_names_the_floor(backing: &impl Backing) {
    let store = open(backing).await;
    let revisions = history(&store).await;
    store.compact(revisions[3]).await.unwrap();
    let text = format!("compacted at {}", revisions[3]);
    let read = store.snapshot_at(revisions[0]).await.unwrap_err();
    assert!(read.to_string().contains(&text), "{read}");
    let watched = store.watch(b"", revisions[0]).await.unwrap_err();
    assert!(watched.to_string().contains(&text), "{watched}");
}

pub async fn compacting_twice_is_the_same_as_once(backing: &impl Backing) {
    let store = open(backing).await;
    let revisions = history(&store).await;
    store.compact(revisions[3]).await.unwrap();
    store.compact(revisions[3]).await.unwrap();
    assert_matches!(
        store.compact(revisions[1]).await,
        Err(Error::Compacted { floor, .. }) if floor == revisions[3]
    );
    store.compact(revisions[5]).await.unwrap();
    assert_eq!(store.stats().0.floor, revisions[5]);
    assert_eq!(store.latest().get(b"a").unwrap().value, "5");
}

pub async fn the_future_cannot_be_compacted(backing: &impl Backing) {
    let store = open(backing).await;
    let revisions = history(&store).await;
    let future = revisions[5] + 1_000_000_000;
    assert_matches!(
        store.compact(future).await,
        Err(Error::FutureRevision { requested, .. }) if requested == future
    );
    store.snapshot_at(revisions[0]).await.unwrap();
}

pub async fn compaction_leaves_open_watches_alone(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.put("a", "start").await.unwrap();
    let mut live = store.watch(b"", start).await.unwrap();
    let revisions = history(&store).await;
    let mut past = store.watch(b"", start).await.unwrap();
    store.compact(revisions[5]).await.unwrap();
    store.put("a", "after").await.unwrap();
    for watch in [&mut live, &mut past] {
        let all = events(watch, 7).await;
        assert_eq!(brief(&all)[0], "+a=0");
        assert_eq!(brief(&all)[6], "+a=after");
    }
}

/// After many writes the past is short, and what is left of it is right.
async fn bounded(backing: &impl Backing, rounds: usize, keys: usize, value: usize) {
    let options = Options {
        history_bytes: 64 << 10,
        ..options()
    };
    let store = backing.open(&options).await;
    let start = store.put("start", "").await.unwrap();
    let mut revisions = Vec::new();
    for _ in 0..rounds {
        let txn = (0..keys).fold(Txn::new(), |txn, key| {
            txn.put(format!("{key}"), vec![b'x'; value])
        });
        revisions.push(store.txn(txn).await.unwrap().revision);
    }
    let stats = store.stats().0;
    assert!(
        stats.history_bytes <= options.history_bytes as u64,
        "{stats:?}"
    );
    assert_matches!(
        store.watch(b"", start).await,
        Err(Error::Compacted { floor, .. }) if floor > start && floor == stats.floor
    );
    // The newest stretch is there, whole transactions only.
    let newest = revisions[rounds - 2];
    assert!(stats.floor <= newest, "{stats:?}");
    store.snapshot_at(newest).await.unwrap();
    let mut watch = store.watch(b"", stats.floor).await.unwrap();
    let kept = revisions.iter().filter(|it| **it > stats.floor).count();
    let all = events(&mut watch, kept * keys).await;
    assert_eq!(all[all.len() - 1].revision, revisions[rounds - 1]);
}

pub async fn history_is_bounded_in_bytes(backing: &impl Backing) {
    bounded(backing, 60, 32, 256).await;
}

pub async fn history_of_large_values_is_bounded_in_bytes(backing: &impl Backing) {
    bounded(backing, 40, 1, 16 << 10).await;
}
