//! Keys in order, by prefix, page by page.

use bytes::Bytes;
use store::{Store, Txn};

use super::{Backing, keys, open};

const KEYS: [&[u8]; 16] = [
    b"\0",
    b"\0\0",
    b"a",
    b"a\0",
    b"a\0b",
    b"a/",
    b"a/b",
    b"a/c",
    b"a/\xff",
    b"a/\xff\0",
    b"a/\xff\xff",
    b"a0",
    b"b",
    b"\xc3\x28",
    b"\xff",
    b"\xff\xff",
];

const PREFIXES: [&[u8]; 14] = [
    b"",
    b"\0",
    b"a",
    b"a\0",
    b"a/",
    b"a/b",
    b"a/\xff",
    b"a/\xff\xff",
    b"a0",
    b"b",
    b"c",
    b"\xc3",
    b"\xff",
    b"\xff\xff\xff",
];

/// All of `KEYS`, written from last to first.
async fn filled(backing: &impl Backing) -> Store {
    let store = open(backing).await;
    let txn = KEYS
        .iter()
        .rev()
        .fold(Txn::new(), |txn, key| txn.put(*key, "x"));
    store.txn(txn).await.unwrap();
    store
}

fn with_prefix(prefix: &[u8]) -> Vec<Bytes> {
    let matching = KEYS.iter().filter(|key| key.starts_with(prefix));
    matching.map(|key| Bytes::from_static(key)).collect()
}

pub async fn keys_come_in_byte_order(backing: &impl Backing) {
    let snapshot = filled(backing).await.latest();
    let mut sorted = KEYS;
    sorted.sort_unstable();
    assert_eq!(keys(&snapshot, b""), sorted);
}

pub async fn the_empty_prefix_is_everything(backing: &impl Backing) {
    let snapshot = filled(backing).await.latest();
    assert_eq!(keys(&snapshot, b"").len(), KEYS.len());
    assert_eq!(snapshot.len(), KEYS.len());
    assert!(!snapshot.is_empty());
    assert_eq!(snapshot.count(b""), KEYS.len());
}

pub async fn a_prefix_that_is_a_key_is_in_its_range(backing: &impl Backing) {
    let snapshot = filled(backing).await.latest();
    assert_eq!(keys(&snapshot, b"a/"), with_prefix(b"a/"));
    assert_eq!(keys(&snapshot, b"a/")[0], &b"a/"[..]);
    assert_eq!(keys(&snapshot, b"b"), [&b"b"[..]]);
}

pub async fn prefixes_may_end_in_0xff(backing: &impl Backing) {
    let snapshot = filled(backing).await.latest();
    for prefix in [&b"a/\xff"[..], b"a/\xff\xff", b"\xff", b"\xff\xff"] {
        assert_eq!(keys(&snapshot, prefix), with_prefix(prefix), "{prefix:?}");
        assert!(snapshot.count(prefix) > 0);
    }
    assert!(keys(&snapshot, b"\xff\xff\xff").is_empty());
}

pub async fn count_and_range_agree(backing: &impl Backing) {
    let snapshot = filled(backing).await.latest();
    for prefix in PREFIXES {
        assert_eq!(keys(&snapshot, prefix), with_prefix(prefix), "{prefix:?}");
        assert_eq!(
            snapshot.count(prefix),
            with_prefix(prefix).len(),
            "{prefix:?}"
        );
    }
}

pub async fn pages_cover_a_range_once(backing: &impl Backing) {
    let snapshot = filled(backing).await.latest();
    for prefix in PREFIXES {
        let want = with_prefix(prefix);
        for limit in [0, 1, 2, 3, KEYS.len(), usize::MAX] {
            let mut seen: Vec<Bytes> = Vec::new();
            loop {
                let page = snapshot.page(prefix, seen.last().map(|key| &key[..]), limit);
                assert!(page.entries.len() <= limit);
                seen.extend(page.entries.iter().map(|entry| entry.key.clone()));
                assert_eq!(
                    page.remaining,
                    want.len() - seen.len(),
                    "{prefix:?} by {limit}"
                );
                if page.remaining == 0 || limit == 0 {
                    break;
                }
            }
            let done = if limit == 0 { 0 } else { want.len() };
            assert_eq!(seen, want[..done], "{prefix:?} by {limit}");
        }
    }
}

pub async fn pages_stay_consistent_while_writes_go_on(backing: &impl Backing) {
    let store = open(backing).await;
    let txn = (0..100).fold(Txn::new(), |txn, number| {
        txn.put(format!("/{number:03}"), "old")
    });
    store.txn(txn).await.unwrap();
    let first = store.snapshot().await.unwrap();
    let (mut page, revision) = (first.page(b"/", None, 7), first.revision());
    let want = keys(&first, b"/");
    drop(first);
    let mut seen = Vec::new();
    for round in 0_u32.. {
        seen.extend(page.entries.iter().map(|entry| entry.key.clone()));
        assert!(page.entries.iter().all(|entry| entry.value == "old"));
        assert_eq!(page.remaining, want.len() - seen.len());
        if page.remaining == 0 {
            break;
        }
        // Before, at and behind the place where the list stands.
        let txn = Txn::new()
            .put(format!("/{:03}-new", round * 7), "new")
            .delete(format!("/{:03}", 99 - round))
            .put(format!("/{round:03}"), "new");
        store.txn(txn).await.unwrap();
        let snapshot = store.snapshot_at(revision).await.unwrap();
        assert_eq!(snapshot.revision(), revision);
        page = snapshot.page(b"/", seen.last().map(|key| &key[..]), 7);
    }
    assert_eq!(seen, want);
}

pub async fn a_page_may_start_outside_the_prefix(backing: &impl Backing) {
    let snapshot = filled(backing).await.latest();
    let want = with_prefix(b"a/");
    for before in [&b""[..], b"\0", b"a", b"a\0b", b"a."] {
        let page = snapshot.page(b"a/", Some(before), 2);
        let found: Vec<_> = page.entries.iter().map(|entry| entry.key.clone()).collect();
        assert_eq!(found, want[..2], "after {before:?}");
        assert_eq!(page.remaining, want.len() - 2);
    }
    for behind in [&b"a/\xff\xff"[..], b"a/\xff\xff\xff", b"a0", b"b", b"\xff"] {
        let page = snapshot.page(b"a/", Some(behind), 2);
        assert!(page.entries.is_empty(), "after {behind:?}");
        assert_eq!(page.remaining, 0);
    }
    // Within the prefix, though not a key.
    let page = snapshot.page(b"a/", Some(b"a/bb"), 1);
    assert_eq!(page.entries[0].key, "a/c");
}
