//! What a restart leaves as it was.

use std::time::Duration;

use store::{Error, LeaseId, Options, Store, Txn};

use super::{Backing, assert_matches, brief, conflict, entries, events, get, open, options, soon};

/// `suite_without_restarts!` is for the others.
const SURVIVES: &str = "a store that can be opened again";

async fn reopen(backing: &impl Backing, store: Store) -> Store {
    let again = backing.reopen(store, &options()).await;
    again.expect(SURVIVES)
}

pub async fn everything_is_there_after_a_restart(backing: &impl Backing) {
    let store = open(backing).await;
    let value: Vec<u8> = (0..100_000_u32)
        .map(|number| number.to_le_bytes()[0])
        .collect();
    for number in 0..30 {
        store
            .put(format!("{:02}", number % 11), number.to_string())
            .await
            .unwrap();
    }
    store
        .txn(
            Txn::new()
                .delete("03")
                .put(&b"\0\xff"[..], value)
                .put("empty", ""),
        )
        .await
        .unwrap();
    let before = entries(&store.latest());
    let store = reopen(backing, store).await;
    assert_eq!(
        entries(&store.latest()),
        before,
        "without a read through the backend"
    );
    assert_eq!(entries(&store.snapshot().await.unwrap()), before);
    // And once more, with nothing written in between.
    let store = reopen(backing, store).await;
    assert_eq!(entries(&store.latest()), before);
}

pub async fn revisions_go_on_after_a_restart(backing: &impl Backing) {
    let store = open(backing).await;
    let first = store.create("a", "1").await.unwrap();
    let gone = store.create("b", "1").await.unwrap();
    // The newest revision is one that left no key behind.
    let last = store.delete("b", gone).await.unwrap();
    let store = reopen(backing, store).await;
    assert!(store.latest().revision() >= last);
    assert!(conflict(b"a", store.update("a", "2", first + 1_000_000_000).await).is_some());
    let next = store.update("a", "2", first).await.unwrap();
    assert!(next > last);
    let again = store.create("b", "2").await.unwrap();
    assert!(again > next);
    assert_eq!(get(&store, b"a").await.created, first);
}

pub async fn a_watch_resumes_over_a_restart(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.put("a", "0").await.unwrap();
    store.put("a", "1").await.unwrap();
    store
        .txn(Txn::new().delete("a").put("b", "2"))
        .await
        .unwrap();
    let newest = store.snapshot().await.unwrap().revision();
    let store = reopen(backing, store).await;
    if backing.keeps_history() {
        let mut watch = store.watch(b"", start).await.unwrap();
        store.put("a", "3").await.unwrap();
        let seen = events(&mut watch, 4).await;
        assert_eq!(brief(&seen), ["+a=1", "-a", "+b=2", "+a=3"]);
        assert_eq!(seen[0].previous.as_ref().unwrap().value, "0");
        assert_eq!(seen[1].previous, seen[0].current);
    } else {
        assert_matches!(
            store.watch(b"", start).await,
            Err(Error::Compacted { floor, .. }) if floor >= newest
        );
        let mut watch = store.watch(b"", store.latest().revision()).await.unwrap();
        store.put("a", "3").await.unwrap();
        assert_eq!(brief(&events(&mut watch, 1).await), ["+a=3"]);
    }
}

pub async fn the_past_can_be_read_over_a_restart(backing: &impl Backing) {
    let store = open(backing).await;
    let mut kept = Vec::new();
    for number in 0..10 {
        let txn = match number % 3 {
            2 => Txn::new().delete("a"),
            _ => Txn::new()
                .put("a", number.to_string())
                .put(format!("{number}"), ""),
        };
        store.txn(txn).await.unwrap();
        kept.push(store.snapshot().await.unwrap());
    }
    let store = reopen(backing, store).await;
    let (newest, past) = kept.split_last().unwrap();
    assert_eq!(entries(&store.latest()), entries(newest));
    for known in past {
        let again = store.snapshot_at(known.revision()).await;
        if backing.keeps_history() {
            assert_eq!(entries(&again.unwrap()), entries(known));
        } else {
            assert_matches!(again, Err(Error::Compacted { .. }));
        }
    }
}

pub async fn the_floor_stays_over_a_restart(backing: &impl Backing) {
    let store = open(backing).await;
    let mut revisions = Vec::new();
    for number in 0..6 {
        revisions.push(store.put("a", number.to_string()).await.unwrap());
    }
    store.compact(revisions[3]).await.unwrap();
    let store = reopen(backing, store).await;
    for requested in &revisions[..3] {
        assert_matches!(
            store.snapshot_at(*requested).await,
            Err(Error::Compacted { floor, .. }) if floor >= revisions[3]
        );
        assert_matches!(
            store.watch(b"", *requested).await,
            Err(Error::Compacted { .. })
        );
    }
    if backing.keeps_history() {
        assert_eq!(store.stats().0.floor, revisions[3]);
        let at = store.snapshot_at(revisions[3]).await.unwrap();
        assert_eq!(at.get(b"a").unwrap().value, "3");
    }
}

pub async fn a_lease_lives_on_over_a_restart(backing: &impl Backing) {
    let store = open(backing).await;
    let hour = Duration::from_secs(3600);
    let (kept, gone) = (
        store.grant(hour).await.unwrap(),
        store.grant(hour).await.unwrap(),
    );
    let txn = Txn::new()
        .put_leased("a", "x", kept)
        .put_leased("b", "x", kept)
        .put_leased("c", "x", gone);
    store.txn(txn).await.unwrap();
    store.revoke(gone).await.unwrap();
    store.put("b", "detached").await.unwrap();
    let store = reopen(backing, store).await;
    assert_eq!(get(&store, b"a").await.lease, kept);
    assert!(store.keep_alive(kept).await.unwrap() >= hour);
    assert_matches!(store.keep_alive(gone).await, Err(Error::NoLease(it)) if it == gone);
    // A new lease is a new name.
    let new = store.grant(hour).await.unwrap();
    assert!(new != kept && new != gone);
    store.revoke(kept).await.unwrap();
    let left: Vec<_> = store
        .latest()
        .range(b"")
        .map(|entry| entry.key.clone())
        .collect();
    assert_eq!(left, ["b"]);
}

pub async fn a_lease_ends_after_a_restart(backing: &impl Backing) {
    let store = open(backing).await;
    let lease = store.grant(Duration::from_secs(2)).await.unwrap();
    store
        .txn(Txn::new().put_leased("a", "x", lease))
        .await
        .unwrap();
    let store = reopen(backing, store).await;
    let snapshot = store.snapshot().await.unwrap();
    // It may have ended while the store was closed; else it ends now.
    if snapshot.get(b"a").is_some() {
        let mut watch = store.watch(b"", snapshot.revision()).await.unwrap();
        assert_eq!(brief(&events(&mut watch, 1).await), ["-a"]);
    }
    assert_eq!(store.get(b"a").await.unwrap(), None);
}

/// Far more is written than files and history hold, in requests that are large for a file: old files are replaced all
/// the time. Nothing of it may get lost, leases least of all: nobody would miss them before their keys stay for ever.
pub async fn everything_is_there_after_much_was_written(backing: &impl Backing) {
    let small = Options {
        history_bytes: 8 << 10,
        segment_bytes: 64 << 10,
        checkpoint_bytes: 64 << 10,
        ..options()
    };
    let mut store = backing.open(&small).await;
    let mut leases = Vec::new();
    for cycle in 0..4 {
        let writers: Vec<_> = (0..8)
            .map(|writer| tokio::spawn(write_much(store.clone(), format!("{cycle}/{writer}"))))
            .collect();
        for writer in writers {
            leases.extend(soon("a writer", writer).await.unwrap());
        }
        let before = store.snapshot().await.unwrap();
        store = backing.reopen(store, &small).await.expect(SURVIVES);
        assert_eq!(entries(&store.latest()), entries(&before));
        assert!(store.latest().revision() >= before.revision());
        for (lease, alive) in &leases {
            match store.keep_alive(*lease).await {
                Ok(_) => assert!(alive, "lease {lease} is back"),
                Err(Error::NoLease(_)) => assert!(!alive, "lease {lease} is lost"),
                Err(error) => panic!("{error}"),
            }
        }
    }
    for (lease, _) in leases.iter().filter(|(_, alive)| *alive) {
        store.revoke(*lease).await.unwrap();
    }
    assert_eq!(store.latest().count(b"/leased/"), 0);
    assert_eq!(store.latest().count(b"/large/"), 8);
}

/// Returns the leases, and whether each is alive.
async fn write_much(store: Store, name: String) -> Vec<(LeaseId, bool)> {
    let mut leases = Vec::new();
    for round in 0..25 {
        let lease = store.grant(Duration::from_secs(3600)).await.unwrap();
        let txn = Txn::new()
            .put_leased(format!("/leased/{name}/{round}"), "", lease)
            .put(format!("/large/{}", &name[2..]), vec![b'x'; 40 << 10]);
        store.txn(txn).await.unwrap();
        let alive = round % 3 > 0;
        if !alive {
            store.revoke(lease).await.unwrap();
        }
        leases.push((lease, alive));
    }
    leases
}
