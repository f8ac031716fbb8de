use std::time::Duration;

use store::{Error, Store, WatchEnd};
use testkit::etcd::Cluster;

use crate::direct::Direct;
use crate::wire::Wire;
use crate::{config, eventually, keys, next, open, open_with};

#[testkit::requires(etcd)]
#[tokio::test]
async fn compacted_while_away_the_store_starts_over_and_says_so() {
    let found = Cluster::find();
    let cluster = found.start();
    let wire = Wire::to(&cluster.endpoints()[0]).await;
    let store = open_with(config(vec![wire.endpoint.clone()])).await;
    let first = store.create("/stays", "1").await.unwrap();
    store.create("/goes", "1").await.unwrap();
    let mut watch = store.watch(b"/", first).await.unwrap();
    next(&mut watch, 1).await;

    wire.cut();
    let etcd = Direct::to(&cluster);
    etcd.delete("/pilothouse/goes").await;
    etcd.put("/pilothouse/comes", "1").await;
    let last = etcd.put("/pilothouse/stays", "2").await;
    etcd.compact(last).await;
    wire.mend();

    let snapshot = eventually("read", || store.snapshot()).await;
    assert_eq!(keys(&snapshot), ["/comes", "/stays"]);
    assert_eq!(snapshot.get(b"/stays").unwrap().value, "2");
    assert!(snapshot.revision() >= u64::try_from(last).unwrap());
    // No event is made up for what happened meanwhile.
    assert!(matches!(
        crate::ended(&mut watch).await,
        WatchEnd::Compacted { .. }
    ));
    assert!(matches!(
        store.watch(b"/", first).await,
        Err(Error::Compacted { .. })
    ));

    let mut watch = store.watch(b"/", snapshot.revision()).await.unwrap();
    let put = store.put("/after", "1").await.unwrap();
    assert_eq!(next(&mut watch, 1).await[0].revision, put);
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn cut_off_without_a_compaction_nothing_is_lost() {
    let found = Cluster::find();
    let cluster = found.start();
    let wire = Wire::to(&cluster.endpoints()[0]).await;
    let store = open_with(config(vec![wire.endpoint.clone()])).await;
    let at = store.create("/k", "0").await.unwrap();
    let mut watch = store.watch(b"/", at).await.unwrap();
    let etcd = Direct::to(&cluster);
    for round in 1..=20 {
        if round % 5 == 0 {
            wire.cut();
        }
        etcd.put("/pilothouse/k", round.to_string()).await;
        if round % 5 == 1 {
            wire.mend();
        }
    }
    wire.mend();
    let events = next(&mut watch, 20).await;
    let values: Vec<_> = events
        .iter()
        .map(|it| it.current.as_ref().unwrap().value.clone())
        .collect();
    let expected: Vec<_> = (1..=20).map(|round| round.to_string()).collect();
    assert_eq!(values, expected);
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn a_compaction_asked_for_is_etcds_own() {
    let found = Cluster::find();
    let cluster = found.start();
    let store = open(&cluster).await;
    let first = store.create("/a", "1").await.unwrap();
    let second = store.update("/a", "2", first).await.unwrap();
    let third = store.update("/a", "3", second).await.unwrap();
    let mut watch = store.watch(b"/", second).await.unwrap();
    store.compact(second).await.unwrap();
    store.compact(second).await.unwrap();

    let past = store.snapshot_at(first).await;
    assert!(matches!(past, Err(Error::Compacted { floor, .. }) if floor == second));
    assert_eq!(
        store
            .snapshot_at(second)
            .await
            .unwrap()
            .get(b"/a")
            .unwrap()
            .value,
        "2"
    );
    assert_eq!(
        next(&mut watch, 1).await[0].revision,
        third,
        "who is beyond it does not notice"
    );
    let future = store.compact(third + 100).await;
    assert!(matches!(future, Err(Error::FutureRevision { .. })));
    let reopened = open(&cluster).await;
    assert!(
        matches!(reopened.watch(b"/", first).await, Err(Error::Compacted { floor, .. }) if floor == second)
    );
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn another_cluster_behind_the_same_address_is_not_taken_for_the_first() {
    let found = Cluster::find();
    let (first, second) = (found.clone().start(), found.start());
    let wire = Wire::to(&first.endpoints()[0]).await;
    let store = open_with(config(vec![wire.endpoint.clone()])).await;
    let at = store.create("/first", "1").await.unwrap();
    let mut watch = store.watch(b"/", at).await.unwrap();

    // The second began alike and is further on, so that its changes would fit in well.
    let other = open(&second).await;
    assert_eq!(other.create("/first", "2").await.unwrap(), at);
    let foreign = Direct::to(&second);
    for _ in 0..20 {
        foreign.put("/foreign", "1").await;
    }
    wire.cut();
    wire.lead_to(&second.endpoints()[0]);
    wire.mend();
    assert!(matches!(
        crate::ended(&mut watch).await,
        WatchEnd::Compacted { .. }
    ));
    let snapshot = eventually("read", || store.snapshot()).await;
    assert_eq!(snapshot.get(b"/first").unwrap().value, "2");
}

/// Until what came before `revision` is forgotten here.
async fn forgets(store: &Store, revision: u64) {
    eventually("forget", || async {
        match store.watch(b"/", revision).await {
            Err(Error::Compacted { .. }) => Ok(()),
            _ => Err(Error::Closed),
        }
    })
    .await;
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn all_servers_forget_the_same_past_as_kube_apiserver_would() {
    let found = Cluster::find();
    let cluster = found.start();
    let etcd = Direct::to(&cluster);
    // Two rounds of somebody else.
    etcd.put("compact_rev_key", "0").await;
    etcd.put("compact_rev_key", "0").await;
    let mut often = config(cluster.endpoints());
    often.compaction_interval = Some(Duration::from_millis(100));
    let one = open_with(often.clone()).await;
    let other = open_with(often).await;
    let first = one.create("/k", "0").await.unwrap();
    let mut watch = one.watch(b"/", first).await.unwrap();
    let second = one.update("/k", "1", first).await.unwrap();
    for store in [&one, &other] {
        forgets(store, first).await;
        assert!(matches!(
            store.snapshot_at(first).await,
            Err(Error::Compacted { .. })
        ));
        assert_eq!(store.get(b"/k").await.unwrap().unwrap().value, "1");
    }
    let compacted = etcd.get("compact_rev_key").await.expect("a round");
    let compacted: u64 = String::from_utf8(compacted).unwrap().parse().unwrap();
    assert!(compacted > first);
    // Who has been there all the time misses nothing.
    assert_eq!(next(&mut watch, 1).await[0].revision, second);
    // Who is left goes on alone.
    one.close().await.unwrap();
    let third = other.put("/k", "2").await.unwrap();
    other.put("/k", "3").await.unwrap();
    forgets(&other, third).await;
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn nothing_is_forgotten_unless_it_is_asked_for() {
    let found = Cluster::find();
    let cluster = found.start();
    let store = open(&cluster).await;
    store.create("/k", "0").await.unwrap();
    assert_eq!(Direct::to(&cluster).get("compact_rev_key").await, None);
}
