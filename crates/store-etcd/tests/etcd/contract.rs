use std::time::Duration;

use bytes::Bytes;
use store::{Condition, Error, Options, Txn, WatchEnd};
use store_etcd::Config;
use testkit::etcd::Cluster;

use crate::direct::Direct;
use crate::{config, keys, next, open, open_with, told};

#[testkit::requires(etcd)]
#[tokio::test]
async fn a_key_is_created_updated_and_deleted_under_conditions() {
    let found = Cluster::find();
    let cluster = found.start();
    let store = open(&cluster).await;

    let created = store.create("/a", "1").await.unwrap();
    let again = store.create("/a", "2").await;
    let Err(Error::Conflict { key, current }) = again else {
        panic!("created twice: {again:?}");
    };
    assert_eq!(key, "/a");
    assert_eq!(current.unwrap().modified, created);

    let updated = store.update("/a", "2", created).await.unwrap();
    assert!(updated > created);
    let entry = store.latest().get(b"/a").cloned().unwrap();
    assert_eq!((entry.created, entry.modified), (created, updated));
    assert_eq!(entry.value, "2");
    let stale = store.update("/a", "3", created).await;
    assert!(
        matches!(stale, Err(Error::Conflict { current: Some(it), .. }) if it.modified == updated)
    );
    let never = store.update("/none", "1", 0).await;
    assert!(matches!(never, Err(Error::Conflict { current: None, .. })));

    let deleted = store.delete("/a", updated).await.unwrap();
    assert!(store.get(b"/a").await.unwrap().is_none());
    let absent = store.txn(Txn::new().delete("/a")).await.unwrap();
    assert_eq!(
        absent.revision, deleted,
        "nothing changed, no revision taken"
    );
    assert_eq!(absent.previous, [None]);
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn a_transaction_happens_whole_or_not_at_all() {
    let found = Cluster::find();
    let cluster = found.start();
    let store = open(&cluster).await;
    let first = store.put("/a", "1").await.unwrap();
    let mut watch = store.watch(b"/", first).await.unwrap();

    let txn = Txn::new()
        .when(Condition::Unchanged("/a".into(), first))
        .when(Condition::Absent("/b".into()))
        .put("/b", "new")
        .put("/c", "new")
        .delete("/a");
    let done = store.txn(txn.clone()).await.unwrap();
    assert_eq!(done.previous[0], None);
    assert_eq!(done.previous[2].as_ref().unwrap().value, "1");
    assert_eq!(keys(&store.latest()), ["/b", "/c"]);

    // The first condition that does not hold is named.
    let again = store.txn(txn).await;
    assert!(matches!(again, Err(Error::Conflict { key, current: None }) if key == "/a"));
    let second = Txn::new()
        .when(Condition::Exists("/c".into()))
        .when(Condition::Absent("/b".into()))
        .put("/d", "new");
    let second = store.txn(second).await;
    assert!(matches!(second, Err(Error::Conflict { key, current: Some(_) }) if key == "/b"));

    // One run, never cut within the revision.
    let changes = watch.next().await.unwrap();
    assert_eq!(changes.len(), 3);
    assert!(changes.iter().all(|event| event.revision == done.revision));
    assert!(watch.try_next().is_none(), "the refused ones left no trace");
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn the_past_can_be_listed_paged_and_watched_without_a_gap() {
    let found = Cluster::find();
    let cluster = found.start();
    let store = open(&cluster).await;
    for index in 0..5 {
        store.create(format!("/k{index}"), "1").await.unwrap();
    }
    let then = store.snapshot().await.unwrap();
    let rev = then.get(b"/k2").unwrap().modified;
    let updated = store.update("/k2", "2", rev).await.unwrap();
    let deleted = store
        .delete("/k0", then.get(b"/k0").unwrap().modified)
        .await
        .unwrap();

    let page = then.page(b"/k", None, 2);
    assert_eq!((page.entries.len(), page.remaining), (2, 3));
    let past = store.snapshot_at(then.revision()).await.unwrap();
    let page = past.page(b"/k", Some(b"/k1"), 2);
    assert_eq!(page.entries[0].value, "1", "as it was then");
    assert_eq!(keys(&past).len(), 5);

    let mut watch = store.watch(b"/k", then.revision()).await.unwrap();
    let told: Vec<_> = next(&mut watch, 2)
        .await
        .iter()
        .map(|it| told(it))
        .collect();
    let (one, two) = (Some("1".to_owned()), Some("2".to_owned()));
    assert_eq!(told[0], (updated, "/k2".into(), two, one.clone()));
    assert_eq!(told[1], (deleted, "/k0".into(), None, one));

    let future = store.watch(b"/", deleted + 100).await;
    assert!(matches!(future, Err(Error::FutureRevision { .. })));
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn values_and_keys_are_any_bytes() {
    let found = Cluster::find();
    let cluster = found.start();
    let store = open(&cluster).await;
    let value = Bytes::from((0..=255).collect::<Vec<u8>>());
    let key = Bytes::from(&b"/\x00\xff/\xfe"[..]);
    store.create(key.clone(), value.clone()).await.unwrap();
    store.create("/empty", "").await.unwrap();

    let outer = [b"/pilothouse", &key[..]].concat();
    let raw = Direct::to(&cluster).get(outer).await;
    assert_eq!(raw.unwrap(), value, "in etcd exactly as given");
    let reopened = open(&cluster).await;
    assert_eq!(reopened.get(&key).await.unwrap().unwrap().value, value);
    assert_eq!(reopened.get(b"/empty").await.unwrap().unwrap().value, "");
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn keys_go_with_their_lease() {
    let found = Cluster::find();
    let cluster = found.start();
    let store = open(&cluster).await;
    let lease = store.grant(Duration::from_secs(600)).await.unwrap();
    let leased = Txn::new()
        .put_leased("/a", "1", lease)
        .put_leased("/b", "1", lease);
    let put = store.txn(leased).await.unwrap().revision;
    assert_eq!(store.latest().get(b"/a").unwrap().lease, lease);
    assert_eq!(
        store.keep_alive(lease).await.unwrap(),
        Duration::from_secs(600)
    );
    let (backup, _) = store.backup(Vec::new()).await.unwrap();
    assert!(!backup.is_empty());

    store.revoke(lease).await.unwrap();
    assert!(
        store.latest().is_empty(),
        "the answer comes after the keys are gone"
    );
    let mut watch = store.watch(b"/", put).await.unwrap();
    let gone = next(&mut watch, 2).await;
    assert_eq!(gone[0].revision, gone[1].revision, "all at one revision");

    assert!(matches!(store.revoke(lease).await, Err(Error::NoLease(it)) if it == lease));
    assert!(matches!(store.keep_alive(lease).await, Err(Error::NoLease(it)) if it == lease));
    let late = store.txn(Txn::new().put_leased("/c", "1", lease)).await;
    assert!(
        matches!(late, Err(Error::NoLease(it)) if it == lease),
        "{late:?}"
    );
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn what_is_too_large_for_etcd_is_refused_as_too_large() {
    let found = Cluster::find();
    let cluster = found.start();
    let options = Options {
        max_request_bytes: 64 << 20,
        ..Options::default()
    };
    let store = store_etcd::open(config(cluster.endpoints()), &options)
        .await
        .unwrap();
    for size in [2 << 20, 32 << 20] {
        let large = store.put("/large", vec![b'x'; size]).await;
        assert!(matches!(large, Err(Error::TooLarge { .. })), "{large:?}");
    }
    store.put("/large", vec![b'x'; 1 << 20]).await.unwrap();
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn keys_go_when_nobody_keeps_their_lease() {
    let found = Cluster::find();
    let cluster = found.start();
    let store = open(&cluster).await;
    let lease = store.grant(Duration::from_millis(1)).await.unwrap();
    let put = store
        .txn(Txn::new().put_leased("/a", "1", lease))
        .await
        .unwrap();
    let mut watch = store.watch(b"/", put.revision).await.unwrap();
    let gone = next(&mut watch, 1).await;
    assert_eq!(gone[0].current, None);
    assert_eq!(gone[0].previous.as_ref().unwrap().lease, lease);
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn large_transactions_and_a_large_past_arrive_whole() {
    let found = Cluster::find();
    let cluster = found.start();
    let store = open(&cluster).await;
    let start = store.latest().revision();
    // Eight times 1.25 MiB: one page and one message of the past are larger than gRPC takes by default.
    let mut revisions = Vec::new();
    for round in 0..8_u8 {
        let value = Bytes::from(vec![round; 10 << 10]);
        let txn = (0..128).fold(Txn::new(), |txn, index| {
            txn.put(format!("/{round}/{index}"), value.clone())
        });
        revisions.push(store.txn(txn).await.unwrap().revision);
    }
    let reopened = open(&cluster).await;
    for store in [store, reopened] {
        let mut watch = store.watch(b"/", start).await.unwrap();
        let events = next(&mut watch, 8 * 128).await;
        for (events, revision) in events.chunks(128).zip(&revisions) {
            assert!(events.iter().all(|event| event.revision == *revision));
        }
        assert_eq!(store.latest().len(), 8 * 128);
    }
    let now = open_with(Config {
        history_revisions: 0,
        ..config(cluster.endpoints())
    });
    assert_eq!(now.await.latest().len(), 8 * 128);
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn many_reads_at_once_are_few_questions() {
    let found = Cluster::find();
    let cluster = found.start();
    let store = open(&cluster).await;
    let asked = || {
        let text = cluster.metrics(0);
        let line = text.lines().find(|line| {
            line.starts_with("grpc_server_started_total") && line.contains(r#"grpc_method="Range""#)
        });
        let count = line.and_then(|line| line.rsplit(' ').next()).unwrap();
        count.parse::<f64>().unwrap()
    };
    let before = asked();
    let reads: Vec<_> = (0..2000)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.snapshot().await.map(|it| it.revision()) })
        })
        .collect();
    for read in reads {
        read.await.unwrap().unwrap();
    }
    let asked = asked() - before;
    assert!(
        (1.0..200.0).contains(&asked),
        "{asked} questions for 2000 reads"
    );
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn a_closed_store_ends_its_watches_and_takes_nothing() {
    let found = Cluster::find();
    let cluster = found.start();
    let store = open(&cluster).await;
    let at = store.put("/a", "1").await.unwrap();
    let mut watch = store.watch(b"/", at).await.unwrap();
    store.close().await.unwrap();
    store.close().await.unwrap();
    assert_eq!(watch.next().await.unwrap_err(), WatchEnd::Closed);
    assert!(matches!(store.put("/a", "2").await, Err(Error::Closed)));
    assert!(matches!(store.snapshot().await, Err(Error::Closed)));
    assert_eq!(open(&cluster).await.latest().get(b"/a").unwrap().value, "1");

    // Letting go of the last handle is as good.
    let store = open(&cluster).await;
    let mut watch = store.watch(b"/", at).await.unwrap();
    drop(store);
    assert_eq!(watch.next().await.unwrap_err(), WatchEnd::Closed);
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn the_size_of_etcd_is_known() {
    let found = Cluster::find();
    let cluster = found.start();
    let store = crate::open(&cluster).await;
    crate::eventually("a member tells its size", async || {
        let size = store.stats().1.disk_bytes;
        size.filter(|it| *it > 4096).ok_or(Error::Closed)
    })
    .await;
}
