//! What is refused before it reaches a disk.

use store::{Condition, Error, Options, Store, Txn};

use super::{Backing, assert_matches, get, open, options};

pub async fn a_key_must_not_be_empty(backing: &impl Backing) {
    let store = open(backing).await;
    assert_matches!(store.create("", "x").await, Err(Error::EmptyKey));
    assert_matches!(store.put("", "x").await, Err(Error::EmptyKey));
    assert_matches!(store.update("", "x", 1).await, Err(Error::EmptyKey));
    assert_matches!(store.delete("", 1).await, Err(Error::EmptyKey));
    let among_others = Txn::new().put("a", "x").delete("");
    assert_matches!(store.txn(among_others).await, Err(Error::EmptyKey));
    let compared = Txn::new().when(Condition::Absent("".into())).put("a", "x");
    assert_matches!(store.txn(compared).await, Err(Error::EmptyKey));
    assert!(store.snapshot().await.unwrap().is_empty());
}

pub async fn a_request_may_be_as_large_as_the_limit_and_no_larger(backing: &impl Backing) {
    let options = Options {
        max_request_bytes: 100_000,
        ..options()
    };
    let store = backing.open(&options).await;
    store.put("a", vec![1; 99_999]).await.unwrap();
    assert_eq!(get(&store, b"a").await.value, vec![1; 99_999]);
    assert_matches!(
        store.put("a", vec![2; 100_000]).await,
        Err(Error::TooLarge {
            size: 100_001,
            limit: 100_000
        })
    );
    // All keys and values of a request count together.
    let fits = Txn::new()
        .when(Condition::Exists("a".into()))
        .put("b", vec![3; 49_998])
        .put("c", vec![3; 49_999]);
    assert_eq!(fits.size(), 100_000);
    assert_matches!(
        store.txn(fits.clone().delete("d")).await,
        Err(Error::TooLarge { size: 100_001, .. })
    );
    store.txn(fits).await.unwrap();
    let values: Vec<_> = store
        .latest()
        .range(b"")
        .map(|entry| entry.value[0])
        .collect();
    assert_eq!(values, [1, 3, 3]);
}

pub async fn a_transaction_has_at_most_128_operations(backing: &impl Backing) {
    let store = open(backing).await;
    let limit = Store::MAX_OPERATIONS;
    let puts = |count: usize| {
        (0..count).fold(Txn::new(), |txn, number| {
            txn.when(Condition::Absent(format!("{number}").into()))
                .put(format!("{number}"), "")
        })
    };
    assert_matches!(
        store.txn(puts(limit + 1)).await,
        Err(Error::TooManyOperations { count, limit: at }) if count == limit + 1 && at == limit
    );
    assert!(store.latest().is_empty());
    store.txn(puts(limit)).await.unwrap();
    assert_eq!(store.latest().len(), limit);
    let many_conditions = (0..=limit).fold(Txn::new().put("x", ""), |txn, number| {
        txn.when(Condition::Absent(format!("no-{number}").into()))
    });
    assert_matches!(
        store.txn(many_conditions).await,
        Err(Error::TooManyOperations { .. })
    );
}

pub async fn a_key_is_written_once_in_a_transaction(backing: &impl Backing) {
    let store = open(backing).await;
    let twice = [
        Txn::new().put("a", "1").put("b", "1").put("a", "2"),
        Txn::new().put("a", "1").delete("a"),
        Txn::new().delete("a").delete("a"),
    ];
    for txn in twice {
        assert_matches!(store.txn(txn).await, Err(Error::DuplicateKey(key)) if key == "a");
    }
    assert!(store.latest().is_empty());
    // Comparing a key twice is fine.
    let compared = Txn::new()
        .when(Condition::Absent("a".into()))
        .when(Condition::Absent("a".into()))
        .put("a", "1");
    store.txn(compared).await.unwrap();
}
