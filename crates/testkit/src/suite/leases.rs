//! Keys that live as long as somebody cares. etcd's shortest lease is about two seconds, so is ours here.

use std::time::Duration;

use store::{Error, LeaseId, Store, Txn};

use super::{Backing, assert_matches, brief, events, get, next, open, soon};

const SHORT: Duration = Duration::from_secs(2);
const LONG: Duration = Duration::from_secs(3600);
const UNKNOWN: LeaseId = 0x0123_4567_89ab_cdef;

async fn put(store: &Store, key: &'static str, lease: LeaseId) -> store::Revision {
    let txn = Txn::new().put_leased(key, "x", lease);
    store.txn(txn).await.unwrap().revision
}

pub async fn keys_vanish_when_the_time_is_over(backing: &impl Backing) {
    let store = open(backing).await;
    let lease = store.grant(SHORT).await.unwrap();
    assert_ne!(lease, 0);
    put(&store, "a", lease).await;
    put(&store, "b", lease).await;
    let start = store.put("stays", "").await.unwrap();
    let mut watch = store.watch(b"", start).await.unwrap();
    let seen = events(&mut watch, 2).await;
    assert_eq!(brief(&seen), ["-a", "-b"]);
    assert_eq!(seen[0].revision, seen[1].revision);
    assert_eq!(seen[0].previous.as_ref().unwrap().lease, lease);
    assert_eq!(store.get(b"a").await.unwrap(), None);
    assert_eq!(get(&store, b"stays").await.lease, 0);
    assert_matches!(store.keep_alive(lease).await, Err(Error::NoLease(it)) if it == lease);
}

/// One lease is kept while three others, each as long, run out one after the other.
pub async fn keep_alive_extends_the_time(backing: &impl Backing) {
    let store = open(backing).await;
    let kept = store.grant(SHORT).await.unwrap();
    let start = put(&store, "kept", kept).await;
    let mut watch = store.watch(b"", start).await.unwrap();
    let generations = async {
        for _ in 0..3 {
            let lease = store.grant(SHORT).await.unwrap();
            put(&store, "short", lease).await;
            assert_eq!(brief(&events(&mut watch, 1).await), ["+short=x"]);
            assert_eq!(brief(&events(&mut watch, 1).await), ["-short"]);
        }
    };
    let keeping = async {
        let mut pace = tokio::time::interval(Duration::from_millis(50));
        loop {
            pace.tick().await;
            assert!(store.keep_alive(kept).await.unwrap() >= SHORT);
        }
    };
    tokio::select! {
        () = generations => {}
        () = keeping => unreachable!("it goes on for ever"),
    }
    assert_eq!(get(&store, b"kept").await.lease, kept);
    // Without care it goes like the others.
    assert_eq!(brief(&events(&mut watch, 1).await), ["-kept"]);
}

pub async fn revoke_deletes_all_keys_at_one_revision(backing: &impl Backing) {
    let store = open(backing).await;
    let (mine, other) = (
        store.grant(LONG).await.unwrap(),
        store.grant(LONG).await.unwrap(),
    );
    assert_ne!(mine, other);
    for key in ["c", "a", "b"] {
        put(&store, key, mine).await;
    }
    let start = put(&store, "other", other).await;
    let mut watch = store.watch(b"", start).await.unwrap();
    store.revoke(mine).await.unwrap();
    // Visible once answered, in one run.
    assert_eq!(store.latest().len(), 1);
    let changes = next(&mut watch).await;
    let mut seen = brief(&changes);
    seen.sort();
    assert_eq!(seen, ["-a", "-b", "-c"]);
    assert!(
        changes
            .iter()
            .all(|event| event.revision == changes[0].revision)
    );
    assert!(changes[0].revision > start);
    assert_matches!(store.revoke(mine).await, Err(Error::NoLease(it)) if it == mine);
    store.keep_alive(other).await.unwrap();
}

pub async fn an_unknown_lease_is_refused(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.put("a", "1").await.unwrap();
    let txn = Txn::new().put("b", "1").put_leased("a", "2", UNKNOWN);
    assert_matches!(store.txn(txn).await, Err(Error::NoLease(UNKNOWN)));
    let alive = store.grant(LONG).await.unwrap();
    let txn = Txn::new()
        .put_leased("b", "1", alive)
        .put_leased("a", "2", UNKNOWN);
    assert_matches!(store.txn(txn).await, Err(Error::NoLease(UNKNOWN)));
    assert_matches!(
        store.keep_alive(UNKNOWN).await,
        Err(Error::NoLease(UNKNOWN))
    );
    assert_matches!(store.revoke(UNKNOWN).await, Err(Error::NoLease(UNKNOWN)));
    assert_eq!(get(&store, b"a").await.modified, start);
    assert_eq!(
        store.get(b"b").await.unwrap(),
        None,
        "nothing of it happened"
    );
}

pub async fn a_put_without_the_lease_detaches_the_key(backing: &impl Backing) {
    let store = open(backing).await;
    let lease = store.grant(LONG).await.unwrap();
    put(&store, "a", lease).await;
    put(&store, "b", lease).await;
    assert_eq!(get(&store, b"a").await.lease, lease);
    store.put("a", "mine now").await.unwrap();
    assert_eq!(get(&store, b"a").await.lease, 0);
    store.revoke(lease).await.unwrap();
    assert_eq!(get(&store, b"a").await.value, "mine now");
    assert_eq!(store.get(b"b").await.unwrap(), None);
}

pub async fn a_put_with_another_lease_moves_the_key(backing: &impl Backing) {
    let store = open(backing).await;
    let (first, second) = (
        store.grant(LONG).await.unwrap(),
        store.grant(LONG).await.unwrap(),
    );
    put(&store, "a", first).await;
    put(&store, "a", second).await;
    store.revoke(first).await.unwrap();
    assert_eq!(get(&store, b"a").await.lease, second);
    store.revoke(second).await.unwrap();
    assert_eq!(store.get(b"a").await.unwrap(), None);
}

pub async fn a_deleted_key_made_anew_is_not_the_leases(backing: &impl Backing) {
    let store = open(backing).await;
    let lease = store.grant(LONG).await.unwrap();
    let revision = put(&store, "a", lease).await;
    store.delete("a", revision).await.unwrap();
    store.create("a", "new").await.unwrap();
    store.revoke(lease).await.unwrap();
    assert_eq!(get(&store, b"a").await.value, "new");
}

pub async fn a_lease_without_keys_takes_no_revision(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.put("a", "1").await.unwrap();
    let mut watch = store.watch(b"", start).await.unwrap();
    let lease = store.grant(LONG).await.unwrap();
    assert!(soon("keep alive", store.keep_alive(lease)).await.unwrap() >= LONG);
    store.revoke(lease).await.unwrap();
    assert_matches!(watch.try_next(), None);
}
