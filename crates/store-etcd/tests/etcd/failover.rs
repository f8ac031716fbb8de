//! Three members, one killed after the other, under load.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use store::{Error, Event, Revision, Store};
use store_etcd::wire::RangeRequest;
use testkit::etcd::Cluster;

use crate::direct::Direct;
use crate::{PATIENCE, config, eventually, open_with};

const WRITERS: usize = 4;
const KEYS: usize = 5;

#[derive(Debug, Default)]
struct Report {
    /// What was answered: revision, key, and the value, `None` for a delete.
    acknowledged: Vec<(Revision, Bytes, Option<Bytes>)>,
    /// Values whose writing had no known outcome.
    unknown: Vec<Bytes>,
}

#[testkit::requires(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_write_is_there_and_every_event_is_seen_once_in_order() {
    let found = Cluster::find();
    let mut cluster = found.members(3).start();
    let store = open_with(config(cluster.endpoints())).await;
    let start = store.latest().revision();
    let done = Arc::new(AtomicBool::new(false));
    let count = Arc::new(AtomicUsize::new(0));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(write(store.clone(), writer, done.clone(), count.clone())))
        .collect();
    let watcher = tokio::spawn(watch(store.clone(), start));
    let late = tokio::spawn(watch(store.clone(), start));

    // The leader, wherever it goes, then each in turn; work goes on in between.
    progress(&count).await;
    for victim in [None, None, Some(0), Some(1), Some(2)] {
        let victim = victim.unwrap_or_else(|| cluster.leader());
        cluster.kill(victim);
        progress(&count).await;
        cluster.restart(victim);
        progress(&count).await;
    }
    done.store(true, Ordering::Relaxed);
    let mut report = Report::default();
    for writer in writers {
        let one = writer.await.unwrap();
        report.acknowledged.extend(one.acknowledged);
        report.unknown.extend(one.unknown);
    }
    eventually("the last write", || store.put("/end", "end")).await;
    let events = watcher.await.unwrap();
    assert_eq!(late.await.unwrap(), events, "all watchers see the same");
    check(&report, &events);

    // What the events add up to is what etcd holds and what the store reads.
    let mut state = BTreeMap::new();
    for event in &events {
        let was = match &event.current {
            Some(entry) => state.insert(event.key.clone(), entry.clone()),
            None => state.remove(&event.key),
        };
        assert_eq!(
            was, event.previous,
            "{event:?} follows from what was before"
        );
    }
    let snapshot = store.snapshot().await.unwrap();
    assert!(state.values().eq(snapshot.range(b"")));
    let request = RangeRequest {
        key: b"/pilothouse/".to_vec(),
        range_end: b"/pilothouse0".to_vec(),
        ..RangeRequest::default()
    };
    let raw = Direct::to(&cluster).0.range(request).await.unwrap();
    let raw: Vec<_> = (raw.kvs.iter())
        .map(|kv| (&kv.key["/pilothouse".len()..], kv.mod_revision))
        .collect();
    let state: Vec<_> = (state.values())
        .map(|entry| (&entry.key[..], i64::try_from(entry.modified).unwrap()))
        .collect();
    assert_eq!(raw, state);
}

fn check(report: &Report, events: &[Arc<Event>]) {
    assert!(events.is_sorted_by_key(|event| event.revision));
    let mut seen = HashSet::new();
    let mut values = HashSet::new();
    for event in events {
        assert!(
            seen.insert((event.revision, &event.key)),
            "seen twice: {event:?}"
        );
        if let Some(entry) = &event.current {
            let first = values.insert(&entry.value);
            assert!(first, "written twice: {:?} by {event:?}", entry.value);
        }
    }
    for (revision, key, value) in &report.acknowledged {
        let event = events
            .iter()
            .find(|it| it.revision == *revision && it.key == *key);
        let event = event.unwrap_or_else(|| panic!("lost: {key:?} at {revision}"));
        assert_eq!(event.current.as_ref().map(|it| &it.value), value.as_ref());
    }
    let happened = report
        .unknown
        .iter()
        .filter(|it| values.contains(it))
        .count();
    println!(
        "{} writes acknowledged, {} unknown of which {happened} happened, {} events",
        report.acknowledged.len(),
        report.unknown.len(),
        events.len()
    );
    assert!(report.acknowledged.len() > 100);
}

/// Creates, updates and deletes its own few keys, each value once in the world.
async fn write(
    store: Store,
    writer: usize,
    done: Arc<AtomicBool>,
    count: Arc<AtomicUsize>,
) -> Report {
    let mut report = Report::default();
    for round in 0_usize.. {
        if done.load(Ordering::Relaxed) {
            break;
        }
        let key = Bytes::from(format!("/{writer}/{}", round % KEYS));
        let value = Bytes::from(format!("{writer}-{round}"));
        let current = match store.get(&key).await {
            Ok(current) => current.map(|entry| entry.modified),
            Err(Error::Unavailable { .. }) => continue,
            Err(other) => panic!("{other}"),
        };
        let (answer, value) = match current {
            None => (store.create(key.clone(), value.clone()).await, Some(value)),
            Some(at) if round % 7 == 0 => (store.delete(key.clone(), at).await, None),
            Some(at) => (
                store.update(key.clone(), value.clone(), at).await,
                Some(value),
            ),
        };
        match answer {
            Ok(revision) => {
                let own = store.latest().get(&key).map(|entry| entry.modified);
                assert_eq!(own, value.as_ref().map(|_| revision), "reads its own write");
                report.acknowledged.push((revision, key, value));
                count.fetch_add(1, Ordering::Relaxed);
            }
            Err(Error::Unknown { .. }) => report.unknown.extend(value),
            Err(Error::Unavailable { .. }) => {}
            // Nobody else writes these keys: only an own write of unknown outcome can be in the way, and `get` waited
            // for all that had happened. It may still happen after that.
            Err(Error::Conflict { .. }) => {
                assert!(!report.unknown.is_empty(), "a conflict with nobody");
            }
            Err(other) => panic!("{other}"),
        }
    }
    report
}

async fn watch(store: Store, after: Revision) -> Vec<Arc<Event>> {
    let mut watch = store.watch(b"/", after).await.unwrap();
    let mut events: Vec<Arc<Event>> = Vec::new();
    while events.last().is_none_or(|event| event.key != "/end") {
        let changes = watch.next().await.expect("the watch never ends");
        events.extend(changes.iter().cloned());
    }
    events
}

/// Waits until some more writes were answered.
async fn progress(count: &AtomicUsize) {
    let deadline = Instant::now() + PATIENCE;
    let goal = count.load(Ordering::Relaxed) + 50;
    while count.load(Ordering::Relaxed) < goal {
        assert!(Instant::now() < deadline, "writes do not go on");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
