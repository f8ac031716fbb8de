//! States as they were.

use store::{Error, Snapshot, Txn};

use super::{Backing, assert_matches, entries, keys, open};

pub async fn a_snapshot_is_not_changed_by_later_writes(backing: &impl Backing) {
    let store = open(backing).await;
    for number in 0..50 {
        store.put(format!("{number:02}"), "old").await.unwrap();
    }
    let snapshot = store.snapshot().await.unwrap();
    let before = entries(&snapshot);
    let txn = (0..25).fold(Txn::new(), |txn, number| txn.delete(format!("{number:02}")));
    store.txn(txn).await.unwrap();
    store.put("40", "new").await.unwrap();
    store.put("99", "new").await.unwrap();
    assert_eq!(entries(&snapshot), before);
    assert_eq!((snapshot.len(), snapshot.count(b"0")), (50, 10));
    assert_eq!(store.latest().len(), 26);
}

pub async fn every_past_revision_can_be_read(backing: &impl Backing) {
    let store = open(backing).await;
    let mut kept: Vec<Snapshot> = vec![store.snapshot().await.unwrap()];
    for round in 0..40 {
        let key = format!("{}", round % 7);
        let txn = match round % 5 {
            0 => Txn::new().put(key, "a").put("x", "a"),
            3 => Txn::new().delete(key).delete("x").put("y", "b"),
            _ => Txn::new().put(key, round.to_string()),
        };
        let revision = store.txn(txn).await.unwrap().revision;
        kept.push(store.snapshot_at(revision).await.unwrap());
        assert_eq!(kept[kept.len() - 1].revision(), revision);
    }
    // From the newest to the oldest and back: the order of asking must not matter.
    for known in kept.iter().rev().chain(&kept) {
        let again = store.snapshot_at(known.revision()).await.unwrap();
        assert_eq!(again.revision(), known.revision());
        assert_eq!(entries(&again), entries(known));
        assert_eq!(again.len(), known.len());
    }
}

pub async fn the_past_of_a_key_with_several_lives(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.snapshot().await.unwrap().revision();
    let born = store.create("a", "1").await.unwrap();
    let changed = store.update("a", "2", born).await.unwrap();
    let died = store.delete("a", changed).await.unwrap();
    let again = store.create("a", "3").await.unwrap();
    let wants = [
        (start, None),
        (born, Some(("1", born, born))),
        (changed, Some(("2", born, changed))),
        (died, None),
        (again, Some(("3", again, again))),
    ];
    for (revision, want) in wants {
        let snapshot = store.snapshot_at(revision).await.unwrap();
        let found = snapshot.get(b"a").map(|entry| {
            let value = std::str::from_utf8(&entry.value).unwrap();
            (value, entry.created, entry.modified)
        });
        assert_eq!(found, want, "at {revision}");
        assert_eq!(keys(&snapshot, b"").len(), usize::from(want.is_some()));
    }
}

pub async fn the_future_cannot_be_read(backing: &impl Backing) {
    let store = open(backing).await;
    let now = store.put("a", "1").await.unwrap();
    let future = now + 1_000_000_000;
    assert_matches!(
        store.snapshot_at(future).await,
        Err(Error::FutureRevision { requested, current }) if requested == future && (now..future).contains(&current)
    );
}

pub async fn get_is_none_without_a_key(backing: &impl Backing) {
    let store = open(backing).await;
    assert_eq!(store.get(b"a").await.unwrap(), None);
    store.put("a/b", "1").await.unwrap();
    for key in [&b"a"[..], b"a/", b"a/b\0", b"a/bb", b""] {
        assert_eq!(store.get(key).await.unwrap(), None, "{key:?}");
    }
}
