//! One key at a time.

use super::{Backing, assert_matches, conflict, get, open};

pub async fn create_makes_a_key(backing: &impl Backing) {
    let store = open(backing).await;
    let before = store.latest().revision();
    let revision = store.create("a", "1").await.unwrap();
    assert!(revision > before);
    let entry = get(&store, b"a").await;
    assert_eq!((&entry.key[..], &entry.value[..]), (&b"a"[..], &b"1"[..]));
    assert_eq!((entry.created, entry.modified), (revision, revision));
    assert_eq!(entry.lease, 0);
}

pub async fn create_conflicts_with_what_is_there(backing: &impl Backing) {
    let store = open(backing).await;
    let revision = store.create("a", "1").await.unwrap();
    let current = conflict(b"a", store.create("a", "2").await).unwrap();
    assert_eq!(
        (&current.value[..], current.modified),
        (&b"1"[..], revision)
    );
    assert_eq!(get(&store, b"a").await, current, "nothing was changed");
}

pub async fn update_needs_the_right_revision(backing: &impl Backing) {
    let store = open(backing).await;
    let first = store.create("a", "1").await.unwrap();
    let second = store.update("a", "2", first).await.unwrap();
    assert!(second > first);
    for wrong in [first, second + 1, 0] {
        let current = conflict(b"a", store.update("a", "3", wrong).await).unwrap();
        assert_eq!((&current.value[..], current.modified), (&b"2"[..], second));
    }
    assert_eq!(get(&store, b"a").await.modified, second);
}

pub async fn update_of_nothing_conflicts(backing: &impl Backing) {
    let store = open(backing).await;
    let other = store.create("b", "1").await.unwrap();
    for expected in [0, other] {
        assert_eq!(conflict(b"a", store.update("a", "1", expected).await), None);
    }
    assert_eq!(store.get(b"a").await.unwrap(), None);
}

pub async fn delete_needs_the_right_revision(backing: &impl Backing) {
    let store = open(backing).await;
    let first = store.create("a", "1").await.unwrap();
    let second = store.update("a", "2", first).await.unwrap();
    for wrong in [first, second + 1, 0] {
        let current = conflict(b"a", store.delete("a", wrong).await).unwrap();
        assert_eq!(current.modified, second);
    }
    let deleted = store.delete("a", second).await.unwrap();
    assert!(deleted > second);
    assert_eq!(store.get(b"a").await.unwrap(), None);
}

pub async fn delete_of_nothing_conflicts(backing: &impl Backing) {
    let store = open(backing).await;
    let first = store.create("a", "1").await.unwrap();
    store.delete("a", first).await.unwrap();
    let before = store.latest().revision();
    for expected in [0, first] {
        assert_eq!(conflict(b"a", store.delete("a", expected).await), None);
    }
    let mut watch = store.watch(b"", before).await.unwrap();
    assert_matches!(watch.try_next(), None);
}

pub async fn put_keeps_created_and_changes_modified(backing: &impl Backing) {
    let store = open(backing).await;
    let first = store.put("a", "1").await.unwrap();
    let second = store.put("a", "2").await.unwrap();
    assert!(second > first);
    let entry = get(&store, b"a").await;
    assert_eq!((entry.created, entry.modified), (first, second));
    assert_eq!(entry.value, "2");
}

pub async fn a_new_life_gets_a_new_created(backing: &impl Backing) {
    let store = open(backing).await;
    let first = store.create("a", "1").await.unwrap();
    store.delete("a", first).await.unwrap();
    let second = store.create("a", "1").await.unwrap();
    let entry = get(&store, b"a").await;
    assert_eq!((entry.created, entry.modified), (second, second));
    // A revision of the first life opens nothing in the second.
    assert!(conflict(b"a", store.update("a", "2", first).await).is_some());
}

pub async fn an_answer_is_readable_at_once(backing: &impl Backing) {
    let store = open(backing).await;
    let mut revision = store.create("a", "0").await.unwrap();
    for round in 1..=30 {
        let value = round.to_string();
        revision = store.update("a", value.clone(), revision).await.unwrap();
        // Also without asking the backend.
        let latest = store.latest();
        assert!(latest.revision() >= revision);
        let entry = latest.get(b"a").unwrap();
        assert_eq!(entry.modified, revision);
        assert_eq!(entry.value, value);
        assert_eq!(&get(&store, b"a").await, entry);
    }
    store.delete("a", revision).await.unwrap();
    assert_eq!(store.latest().get(b"a"), None);
}

pub async fn values_may_be_empty_and_keys_any_bytes(backing: &impl Backing) {
    let store = open(backing).await;
    let keys: [&[u8]; 6] = [b"\0", b"\0\0", b"a\0b", b"\xff", b"\xc3\x28", b"\x80\0\xff"];
    for key in keys {
        store.create(key, "").await.unwrap();
    }
    for key in keys {
        let entry = get(&store, key).await;
        assert_eq!(entry.key, key);
        assert_eq!(entry.value, "");
    }
    let bytes: Vec<u8> = (0..=u8::MAX).collect();
    store.put(&b"\0"[..], bytes.clone()).await.unwrap();
    assert_eq!(get(&store, b"\0").await.value, bytes);
}

pub async fn revisions_only_grow(backing: &impl Backing) {
    let store = open(backing).await;
    let mut last = store.snapshot().await.unwrap().revision();
    for round in 0..20 {
        let key = format!("{}", round % 3);
        let revision = store.put(key.clone(), "x").await.unwrap();
        assert!(revision > last);
        last = store.delete(key, revision).await.unwrap();
        assert!(last > revision);
    }
    assert!(store.snapshot().await.unwrap().revision() >= last);
}
