//! Changes, once, in order, without a gap.

use std::sync::Arc;

use store::{Error, Txn};

use super::{Backing, assert_matches, brief, events, next, open, soon};

pub async fn no_gap_after_a_snapshot(backing: &impl Backing) {
    let store = open(backing).await;
    store.put("a", "before").await.unwrap();
    let snapshot = store.snapshot().await.unwrap();
    store.put("a", "between").await.unwrap();
    let mut watch = store.watch(b"", snapshot.revision()).await.unwrap();
    store.put("a", "after").await.unwrap();
    let seen = events(&mut watch, 2).await;
    assert_eq!(brief(&seen), ["+a=between", "+a=after"]);
    assert!(seen[0].revision > snapshot.revision());
}

/// Snapshot plus watch is the same as the state later on, whenever they are taken.
pub async fn no_gap_while_others_write(backing: &impl Backing) {
    let store = open(backing).await;
    let writer = tokio::spawn({
        let store = store.clone();
        async move {
            for number in 0..300 {
                store
                    .put(format!("{:02}", number % 17), number.to_string())
                    .await
                    .unwrap();
            }
            store.put("end", "").await.unwrap()
        }
    });
    let mut watchers = Vec::new();
    for _ in 0..20 {
        let snapshot = store.snapshot().await.unwrap();
        let watch = store.watch(b"", snapshot.revision()).await.unwrap();
        watchers.push((snapshot, watch));
        tokio::task::yield_now().await;
    }
    let end = soon("the writer", writer).await.unwrap();
    for (snapshot, mut watch) in watchers {
        let mut last = snapshot.revision();
        let mut state: std::collections::BTreeMap<_, _> = snapshot
            .range(b"")
            .map(|entry| (entry.key.clone(), entry.clone()))
            .collect();
        while last < end {
            for event in next(&mut watch).await.iter() {
                assert!(event.revision > last, "{event:?} after {last}");
                last = event.revision;
                assert_eq!(event.previous, state.get(&event.key).cloned());
                state.insert(event.key.clone(), event.current.clone().unwrap());
            }
        }
        let have: Vec<_> = state.into_values().collect();
        assert_eq!(have, super::entries(&store.snapshot_at(end).await.unwrap()));
    }
}

pub async fn the_past_comes_first_then_the_present(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.put("a", "0").await.unwrap();
    for number in 1..5 {
        store.put("a", number.to_string()).await.unwrap();
    }
    let mut watch = store.watch(b"a", start).await.unwrap();
    for number in 5..9 {
        store.put("a", number.to_string()).await.unwrap();
    }
    let seen = events(&mut watch, 8).await;
    let want: Vec<_> = (1..9).map(|number| format!("+a={number}")).collect();
    assert_eq!(brief(&seen), want);
    assert!(seen.is_sorted_by(|a, b| a.revision < b.revision));
}

pub async fn only_the_prefix_is_seen(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.put("start", "").await.unwrap();
    let names = [
        "/a",
        "/a/",
        "/a/b",
        "/a/b/c",
        "/ab",
        "/b",
        "/",
        "x",
        "/a/\u{ff}",
    ];
    let prefixes = ["/a", "/a/", "/a/b", "/", "/a/b/c/d", "x", ""];
    let mut watches = Vec::new();
    for prefix in prefixes {
        watches.push(store.watch(prefix.as_bytes(), start).await.unwrap());
    }
    for name in names {
        store.put(name, "").await.unwrap();
    }
    // The same from the past.
    for prefix in prefixes {
        watches.push(store.watch(prefix.as_bytes(), start).await.unwrap());
    }
    for (prefix, watch) in prefixes.iter().cycle().zip(&mut watches) {
        let want: Vec<_> = names
            .iter()
            .filter(|name| name.starts_with(prefix))
            .collect();
        let seen = events(watch, want.len()).await;
        let keys: Vec<_> = seen.iter().map(|event| event.key.clone()).collect();
        assert_eq!(
            keys,
            want.iter().map(|name| name.as_bytes()).collect::<Vec<_>>()
        );
        assert_matches!(watch.try_next(), None);
    }
}

pub async fn the_empty_prefix_sees_everything(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.snapshot().await.unwrap().revision();
    let mut watch = store.watch(b"", start).await.unwrap();
    let keys: [&[u8]; 4] = [b"\0", b"a", b"\xff", b"\xff\xff"];
    for key in keys {
        store.put(key, "").await.unwrap();
    }
    let seen: Vec<_> = events(&mut watch, 4)
        .await
        .iter()
        .map(|event| event.key.clone())
        .collect();
    assert_eq!(seen, keys);
}

pub async fn an_event_carries_what_was_and_what_is(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.snapshot().await.unwrap().revision();
    let mut watch = store.watch(b"", start).await.unwrap();
    let created = store.create("a", "1").await.unwrap();
    let updated = store.update("a", "2", created).await.unwrap();
    let deleted = store.delete("a", updated).await.unwrap();
    let seen = events(&mut watch, 3).await;
    let at = |event: &store::Event| {
        let short = |entry: &Option<Arc<store::Entry>>| {
            entry
                .as_ref()
                .map(|entry| (entry.value.clone(), entry.created, entry.modified))
        };
        (
            event.revision,
            short(&event.previous),
            short(&event.current),
        )
    };
    let (one, two) = (
        ("1".into(), created, created),
        ("2".into(), created, updated),
    );
    assert_eq!(at(&seen[0]), (created, None, Some(one.clone())));
    assert_eq!(at(&seen[1]), (updated, Some(one), Some(two.clone())));
    assert_eq!(at(&seen[2]), (deleted, Some(two), None));
}

pub async fn the_future_cannot_be_watched(backing: &impl Backing) {
    let store = open(backing).await;
    let future = store.put("a", "1").await.unwrap() + 1_000_000_000;
    assert_matches!(
        store.watch(b"", future).await,
        Err(Error::FutureRevision { requested, current }) if requested == future && current < future
    );
}

pub async fn progress_grows_without_a_matching_change(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.put("other", "0").await.unwrap();
    let mut watch = store.watch(b"mine/", start).await.unwrap();
    assert!(watch.progress() >= start);
    for number in 0..5 {
        let revision = store.put("other", number.to_string()).await.unwrap();
        assert!(watch.progress() >= revision);
        assert_matches!(watch.try_next(), None);
    }
}

pub async fn progress_never_runs_ahead_of_what_was_returned(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.put("a", "0").await.unwrap();
    let mut live = store.watch(b"a", start).await.unwrap();
    let first = store.put("a", "1").await.unwrap();
    let mut past = store.watch(b"a", start).await.unwrap();
    store.put("b", "").await.unwrap();
    for watch in [&mut live, &mut past] {
        assert!(watch.progress() < first, "a change was not returned yet");
        next(watch).await;
        assert!(watch.progress() > first, "all was returned");
    }
}

pub async fn a_cancelled_wait_loses_nothing(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.put("a", "start").await.unwrap();
    let mut watch = store.watch(b"", start).await.unwrap();
    let writer = tokio::spawn({
        let store = store.clone();
        async move {
            for number in 0..100 {
                store.put("a", number.to_string()).await.unwrap();
            }
        }
    });
    let mut seen = Vec::new();
    let mut cancelled = 0;
    let all = async {
        while seen.len() < 100 {
            tokio::select! {
                biased;
                changes = watch.next() => seen.extend_from_slice(&changes.unwrap()),
                () = tokio::task::yield_now() => cancelled += 1,
            }
        }
    };
    soon("all events", all).await;
    soon("the writer", writer).await.unwrap();
    assert!(cancelled > 0, "no wait was ever cancelled");
    let want: Vec<_> = (0..100).map(|number| format!("+a={number}")).collect();
    assert_eq!(brief(&seen), want);
}

pub async fn a_dropped_watch_is_forgotten(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.put("a", "0").await.unwrap();
    let before = store.stats().0.watchers;
    let watch = store.watch(b"", start).await.unwrap();
    let mut other = store.watch(b"", start).await.unwrap();
    assert_eq!(store.stats().0.watchers, before + 2);
    drop(watch);
    assert_eq!(store.stats().0.watchers, before + 1);
    store.put("a", "1").await.unwrap();
    assert_eq!(brief(&events(&mut other, 1).await), ["+a=1"]);
}

pub async fn try_next_never_waits(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.put("a", "0").await.unwrap();
    let mut watch = store.watch(b"", start).await.unwrap();
    assert_matches!(watch.try_next(), None);
    // Once a write is answered its event is there.
    store
        .txn(Txn::new().put("a", "1").put("b", "1"))
        .await
        .unwrap();
    let changes = watch.try_next().unwrap().unwrap();
    assert_eq!(changes.len(), 2);
    assert_matches!(watch.try_next(), None);
}

/// Whoever is told of a change finds it when reading.
pub async fn a_change_that_was_seen_can_be_read(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.put("a", "start").await.unwrap();
    let mut watch = store.watch(b"", start).await.unwrap();
    let writer = tokio::spawn({
        let store = store.clone();
        async move {
            for number in 0..500 {
                store.put("a", number.to_string()).await.unwrap();
            }
        }
    });
    // A thread of its own that never waits: it looks at the very moment an event appears.
    let watcher = tokio::task::spawn_blocking(move || {
        let mut seen = 0;
        while seen < 500 {
            let Some(changes) = watch.try_next() else {
                std::thread::yield_now();
                continue;
            };
            let changes = changes.unwrap();
            let last = &changes[changes.len() - 1];
            let latest = store.latest();
            assert!(latest.revision() >= last.revision, "{last:?}");
            assert!(latest.get(b"a").unwrap().modified >= last.revision);
            assert!(watch.progress() >= last.revision);
            seen += changes.len();
        }
    });
    soon("the writer", writer).await.unwrap();
    soon("the watcher", watcher).await.unwrap();
}
