use std::time::Duration;

use store::Error;
use store_etcd::Config;
use testkit::etcd::Cluster;

use crate::direct::Direct;
use crate::{config, eventually, next, open, open_with, told};

#[testkit::requires(etcd)]
#[tokio::test]
async fn a_watch_goes_on_over_a_restart_of_the_store() {
    let found = Cluster::find();
    let cluster = found.start();
    let store = open(&cluster).await;
    let created = store.create("/a", "1").await.unwrap();
    let seen = store.create("/b", "1").await.unwrap();
    let updated = store.update("/a", "2", created).await.unwrap();
    store.close().await.unwrap();
    drop(store);

    let meanwhile = open(&cluster).await;
    let deleted = meanwhile.delete("/b", seen).await.unwrap();
    drop(meanwhile);

    let store = open(&cluster).await;
    let mut watch = store.watch(b"/", seen).await.unwrap();
    let events: Vec<_> = next(&mut watch, 2)
        .await
        .iter()
        .map(|it| told(it))
        .collect();
    let (one, two) = (Some("1".to_owned()), Some("2".to_owned()));
    assert_eq!(events[0], (updated, "/a".into(), two, one.clone()));
    assert_eq!(events[1], (deleted, "/b".into(), None, one));
    assert_eq!(store.snapshot_at(created).await.unwrap().len(), 1);
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn the_past_begins_where_etcd_still_knows_it() {
    let found = Cluster::find();
    let cluster = found.start();
    let store = open(&cluster).await;
    let mut revisions = Vec::new();
    // More than one page of keys, more than one batch of a watch that catches up.
    for chunk in 0..25 {
        let txns = (0..100).map(|index| store.create(format!("/{chunk}/{index}"), "x"));
        for txn in txns {
            revisions.push(txn.await.unwrap());
        }
    }
    drop(store);
    let compacted = i64::try_from(revisions[1199]).unwrap();
    Direct::to(&cluster).compact(compacted).await;

    let store = open(&cluster).await;
    assert_eq!(store.latest().len(), 2500);
    let mut watch = store.watch(b"/", revisions[1199]).await.unwrap();
    let events: Vec<_> = next(&mut watch, 1300)
        .await
        .iter()
        .map(|it| it.revision)
        .collect();
    assert_eq!(events, revisions[1200..]);
    let compacted = store.watch(b"/", revisions[1198]).await;
    assert!(matches!(compacted, Err(Error::Compacted { floor, .. }) if floor == revisions[1199]));

    let short = Config {
        history_revisions: 10,
        ..config(cluster.endpoints())
    };
    let store = open_with(short).await;
    assert_eq!(store.latest().len(), 2500);
    assert!(store.watch(b"/", revisions[2489]).await.is_ok());
    let before = store.watch(b"/", revisions[2488]).await;
    assert!(
        matches!(before, Err(Error::Compacted { .. })),
        "as far back as asked for"
    );
}

#[testkit::requires(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_of_etcd_is_survived() {
    let found = Cluster::find();
    let mut cluster = found.start();
    let store = open(&cluster).await;
    let at = store.create("/a", "1").await.unwrap();
    let mut watch = store.watch(b"/", at).await.unwrap();

    cluster.kill(0);
    // The first one may be on its way when the connection is found dead; then it is unknown, as it should be.
    let _ = store.put("/a", "2").await;
    let down = store.put("/a", "2").await;
    assert!(
        matches!(down, Err(Error::Unavailable { .. })),
        "nothing was sent: {down:?}"
    );
    let read = store.snapshot().await;
    assert!(matches!(read, Err(Error::Unavailable { .. })), "{read:?}");
    assert_eq!(
        store.latest().get(b"/a").unwrap().value,
        "1",
        "what was seen stays readable"
    );

    cluster.restart(0);
    let updated = eventually("write", || store.update("/a", "3", at)).await;
    let events = next(&mut watch, 1).await;
    assert_eq!((events.len(), events[0].revision), (1, updated));
}

#[testkit::requires(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_etcd_that_lost_its_past_is_not_mistaken_for_the_one_before() {
    let found = Cluster::find();
    let mut cluster = found.start();
    let store = open(&cluster).await;
    let first = store.create("/a", "1").await.unwrap();
    for _ in 0..10 {
        store.put("/b", "1").await.unwrap();
    }
    cluster.kill(0);
    cluster.wipe(0);
    cluster.restart(0);

    let deadline = std::time::Instant::now() + crate::PATIENCE;
    let reason = loop {
        assert!(
            std::time::Instant::now() < deadline,
            "reads go on as if nothing happened"
        );
        match store.snapshot().await {
            Err(Error::Unavailable { reason }) if reason.contains("went back") => break reason,
            Ok(_) => panic!("a read was answered from the lost past"),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    assert!(reason.contains("Restart"), "{reason}");
    let update = store.update("/a", "2", first).await;
    assert!(matches!(update, Err(Error::Conflict { .. })), "{update:?}");
    let create = store.create("/c", "1").await;
    assert!(matches!(create, Err(Error::Unknown { .. })), "{create:?}");
    assert_eq!(
        open(&cluster).await.latest().len(),
        1,
        "opened anew it reads the new one"
    );
}
