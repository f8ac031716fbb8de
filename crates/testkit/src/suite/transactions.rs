//! Several keys at once.

use store::{Condition, Txn};

use super::{Backing, assert_matches, brief, conflict, entries, get, next, open};

pub async fn all_conditions_hold_and_all_writes_share_one_revision(backing: &impl Backing) {
    let store = open(backing).await;
    let a = store.create("a", "1").await.unwrap();
    let b = store.create("b", "1").await.unwrap();
    let txn = Txn::new()
        .when(Condition::Unchanged("a".into(), a))
        .when(Condition::Unchanged("b".into(), b))
        .when(Condition::Absent("c".into()))
        .put("a", "2")
        .delete("b")
        .put("c", "2");
    let revision = store.txn(txn).await.unwrap().revision;
    assert!(revision > b);
    let snapshot = store.latest();
    assert_eq!(snapshot.get(b"a").unwrap().modified, revision);
    assert_eq!(snapshot.get(b"b"), None);
    assert_eq!(snapshot.get(b"c").unwrap().created, revision);
}

pub async fn one_failed_condition_and_nothing_happens(backing: &impl Backing) {
    let store = open(backing).await;
    let a = store.create("a", "1").await.unwrap();
    let b = store.create("b", "1").await.unwrap();
    let before = store.snapshot().await.unwrap();
    let txn = Txn::new()
        .when(Condition::Unchanged("a".into(), a))
        .when(Condition::Unchanged("b".into(), a))
        .when(Condition::Absent("c".into()))
        .put("a", "2")
        .delete("b")
        .put("c", "2");
    let current = conflict(b"b", store.txn(txn).await).unwrap();
    assert_eq!(current.modified, b);
    let mut watch = store.watch(b"", before.revision()).await.unwrap();
    assert_matches!(watch.try_next(), None);
    assert_eq!(entries(&store.snapshot().await.unwrap()), entries(&before));
}

pub async fn every_condition_means_what_it_says(backing: &impl Backing) {
    let store = open(backing).await;
    let old = store.put("there", "1").await.unwrap();
    let now = store.put("there", "2").await.unwrap();
    let (there, nowhere) = ("there", "nowhere");
    let cases = [
        (Condition::Absent(there.into()), false),
        (Condition::Absent(nowhere.into()), true),
        (Condition::Exists(there.into()), true),
        (Condition::Exists(nowhere.into()), false),
        (Condition::Unchanged(there.into(), now), true),
        (Condition::Unchanged(there.into(), old), false),
        (Condition::Unchanged(there.into(), now + 1), false),
        (Condition::Unchanged(there.into(), 0), false),
        (Condition::Unchanged(nowhere.into(), 0), false),
        (Condition::Unchanged(nowhere.into(), now), false),
    ];
    for (number, (condition, holds)) in cases.into_iter().enumerate() {
        let mark = format!("mark-{number}");
        let txn = Txn::new().when(condition.clone()).put(mark.clone(), "");
        let answer = store.txn(txn).await;
        let done = store.get(mark.as_bytes()).await.unwrap().is_some();
        assert_eq!(done, holds, "{condition:?}");
        if !holds {
            let current = conflict(condition.key(), answer);
            assert_eq!(current.is_some(), &condition.key()[..] == b"there");
        }
    }
}

pub async fn previous_values_come_back_in_order(backing: &impl Backing) {
    let store = open(backing).await;
    store.put("b", "old b").await.unwrap();
    store.put("a", "old a").await.unwrap();
    let (a, b) = (get(&store, b"a").await, get(&store, b"b").await);
    let txn = Txn::new()
        .put("b", "new b")
        .put("c", "new c")
        .delete("a")
        .delete("d");
    let committed = store.txn(txn).await.unwrap();
    assert_eq!(committed.previous, [Some(b), None, Some(a), None]);
}

pub async fn deleting_what_is_not_there_changes_nothing(backing: &impl Backing) {
    let store = open(backing).await;
    let before = store.put("a", "1").await.unwrap();
    let committed = store.txn(Txn::new().delete("b").delete("c")).await.unwrap();
    assert!(committed.revision >= before);
    assert_eq!(committed.previous, [None, None]);
    let mut watch = store.watch(b"", before).await.unwrap();
    assert_matches!(watch.try_next(), None);
    // Beside a real write it is not an event either.
    let committed = store
        .txn(Txn::new().delete("b").put("a", "2"))
        .await
        .unwrap();
    let changes = next(&mut watch).await;
    assert_eq!(brief(&changes), ["+a=2"]);
    assert_eq!(changes[0].revision, committed.revision);
}

pub async fn a_transaction_without_writes_only_compares(backing: &impl Backing) {
    let store = open(backing).await;
    let revision = store.create("a", "1").await.unwrap();
    let holds = Txn::new().when(Condition::Unchanged("a".into(), revision));
    let committed = store.txn(holds).await.unwrap();
    assert!(committed.revision >= revision);
    assert!(committed.previous.is_empty());
    conflict(
        b"a",
        store
            .txn(Txn::new().when(Condition::Absent("a".into())))
            .await,
    );
    let mut watch = store.watch(b"", revision).await.unwrap();
    assert_matches!(watch.try_next(), None);
}

pub async fn a_watch_gets_a_transaction_in_one_run(backing: &impl Backing) {
    let store = open(backing).await;
    let start = store.put("gone", "").await.unwrap();
    let mut live = store.watch(b"", start).await.unwrap();
    let txn = (0..100).fold(Txn::new().delete("gone"), |txn, number| {
        txn.put(format!("key-{number:03}"), "")
    });
    let revision = store.txn(txn).await.unwrap().revision;
    store.put("later", "").await.unwrap();
    let mut past = store.watch(b"", start).await.unwrap();
    for watch in [&mut live, &mut past] {
        let changes = next(watch).await;
        let of_the_transaction = changes.iter().filter(|event| event.revision == revision);
        assert_eq!(of_the_transaction.count(), 101);
    }
}
