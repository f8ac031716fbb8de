use std::time::{Duration, Instant};

use store::Error;
use store_etcd::Config;
use testkit::etcd::Cluster;

use crate::direct::Direct;
use crate::wire::Wire;
use crate::{PATIENCE, config, eventually, next, open_with};

#[testkit::requires(etcd)]
#[tokio::test]
async fn a_write_whose_answer_is_lost_is_unknown_and_never_sent_twice() {
    let found = Cluster::find();
    let cluster = found.start();
    let wire = Wire::to(&cluster.endpoints()[0]).await;
    // Two ways to the same member: a blind retry would arrive.
    let both = vec![wire.endpoint.clone(), cluster.endpoints()[0].clone()];
    let store = open_with(config(both)).await;
    let etcd = Direct::to(&cluster);
    let at = store.create("/a", "1").await.unwrap();
    let mut watch = store.watch(b"/", at).await.unwrap();

    // The request arrives, and the connection breaks before the answer is back.
    wire.swallow_answers();
    let writing = tokio::spawn({
        let store = store.clone();
        async move { store.put("/a", "2").await }
    });
    let deadline = Instant::now() + PATIENCE;
    loop {
        let written = etcd.get("/pilothouse/a").await;
        if written.unwrap() == b"2" {
            break;
        }
        assert!(Instant::now() < deadline, "the write does not arrive");
    }
    wire.cut();
    let unknown = writing.await.unwrap();
    assert!(matches!(unknown, Err(Error::Unknown { .. })), "{unknown:?}");

    // The feed comes back over the other way: what was unknown is seen, once.
    let snapshot = eventually("read", || store.snapshot()).await;
    assert_eq!(snapshot.get(b"/a").unwrap().value, "2");
    let last = store.put("/a", "3").await.unwrap();
    let events = next(&mut watch, 2).await;
    let values: Vec<_> = events
        .iter()
        .map(|it| it.current.as_ref().unwrap().value.clone())
        .collect();
    assert_eq!(values, ["2", "3"]);
    assert_eq!(events[1].revision, last);
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn a_write_nobody_answers_is_unknown_in_bounded_time() {
    let found = Cluster::find();
    let cluster = found.start();
    let wire = Wire::to(&cluster.endpoints()[0]).await;
    let store = open_with(Config {
        request_timeout: Duration::from_secs(1),
        ..config(vec![wire.endpoint.clone()])
    })
    .await;
    wire.swallow_answers();
    let unknown = store.create("/a", "1").await;
    assert!(
        matches!(&unknown, Err(Error::Unknown { reason }) if reason.contains("in time")),
        "{unknown:?}"
    );
    let read = store.snapshot().await;
    assert!(matches!(read, Err(Error::Unavailable { .. })), "{read:?}");
    wire.mend();
    let created = eventually("read", || store.get(b"/a")).await.unwrap();
    assert_eq!(created.created, created.modified);
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn a_write_that_never_left_is_unavailable_and_not_done() {
    let found = Cluster::find();
    let cluster = found.start();
    let wire = Wire::to(&cluster.endpoints()[0]).await;
    let store = open_with(config(vec![wire.endpoint.clone()])).await;
    let at = store.create("/a", "1").await.unwrap();
    wire.cut();
    // The first one may be on its way when the connection is found dead; then it is unknown, as it should be.
    let _ = store.put("/b", "1").await;
    let written = Direct::to(&cluster).get("/pilothouse/b").await;
    assert_eq!(written, None);
    let read = store.snapshot().await;
    assert!(matches!(read, Err(Error::Unavailable { .. })), "{read:?}");
    wire.mend();
    eventually("write", || store.update("/a", "2", at)).await;
}
