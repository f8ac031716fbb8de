use std::time::Duration;

use store::Error;
use store_etcd::Config;
use testkit::etcd::Cluster;

use crate::{config, eventually, next, open_with};

fn impatient(cluster: &Cluster) -> Config {
    Config {
        request_timeout: Duration::from_secs(1),
        ..config(cluster.endpoints())
    }
}

#[testkit::requires(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_that_hangs_is_left() {
    let found = Cluster::find();
    let cluster = found.members(3).start();
    let store = open_with(Config {
        // Not the missing sign of life, but what it does not show must give it away.
        keep_alive_interval: Duration::from_secs(3600),
        ..impatient(&cluster)
    })
    .await;
    let at = store.create("/a", "1").await.unwrap();
    let mut watch = store.watch(b"/", at).await.unwrap();

    // The first is the one that is asked and followed. Its connections stay open and silent.
    cluster.freeze(0);
    let updated = eventually("write", || async {
        match store.update("/a", "2", at).await {
            // The one that hung, arrived after all or not: read before trying again, as every client must.
            Err(Error::Unknown { .. } | Error::Conflict { .. }) => {
                let current = store.get(b"/a").await?;
                let current = current.expect("never deleted");
                if current.value == "2" {
                    Ok(current.modified)
                } else {
                    Err(Error::Closed)
                }
            }
            other => other,
        }
    })
    .await;
    let events = next(&mut watch, 1).await;
    assert_eq!((events.len(), events[0].revision), (1, updated));
    store.create("/b", "1").await.unwrap();
    assert_eq!(store.snapshot().await.unwrap().len(), 2);
    cluster.thaw(0);
    let created = store.create("/c", "1").await.unwrap();
    assert_eq!(next(&mut watch, 2).await[1].revision, created);
}

#[testkit::requires(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hung_follower_of_the_feed_is_noticed_without_any_traffic() {
    let found = Cluster::find();
    let cluster = found.members(3).start();
    let quiet = open_with(impatient(&cluster)).await;
    let mut others = cluster.endpoints();
    others.rotate_left(1);
    others.truncate(2);
    let other = open_with(config(others)).await;
    let mut watch = quiet.watch(b"/", quiet.latest().revision()).await.unwrap();
    cluster.freeze(0);
    // Nobody asks the quiet store anything: only the missing sign of life can tell it.
    let put = eventually("write", || other.put("/a", "1")).await;
    assert_eq!(next(&mut watch, 1).await[0].revision, put);
}

#[testkit::requires(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_majority_nothing_hangs_and_nothing_is_made_up() {
    let found = Cluster::find();
    let mut cluster = found.members(3).start();
    let store = open_with(impatient(&cluster)).await;
    let at = store.create("/a", "1").await.unwrap();
    cluster.kill(1);
    cluster.kill(2);
    let write = store.update("/a", "2", at).await;
    assert!(
        matches!(
            write,
            Err(Error::Unknown { .. } | Error::Unavailable { .. })
        ),
        "{write:?}"
    );
    let read = store.snapshot().await;
    assert!(matches!(read, Err(Error::Unavailable { .. })), "{read:?}");
    assert_eq!(store.latest().get(b"/a").unwrap().value, "1");
    cluster.revive(1);
    let read = eventually("read", || store.get(b"/a")).await.unwrap();
    eventually("write", || store.put("/b", "1")).await;
    assert!(read.value == "1" || read.value == "2");
}

#[testkit::requires(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_without_a_leader_refuses_at_once() {
    let found = Cluster::find();
    let mut cluster = found.members(3).start();
    let first = cluster.endpoints().swap_remove(0);
    let store = open_with(config(vec![first])).await;
    cluster.kill(1);
    cluster.kill(2);
    // Before it has noticed, a request may hang; from then on the member says why, and the write has not happened.
    let deadline = std::time::Instant::now() + crate::PATIENCE;
    loop {
        match store.put("/a", "1").await {
            Err(Error::Unavailable { reason }) if reason.contains("no leader") => break,
            Err(Error::Unavailable { .. } | Error::Unknown { .. }) => {}
            other => panic!("{other:?}"),
        }
        assert!(std::time::Instant::now() < deadline, "it never says so");
    }
    assert!(store.latest().is_empty());
    cluster.restart(1);
    eventually("write", || store.put("/b", "1")).await;
}
