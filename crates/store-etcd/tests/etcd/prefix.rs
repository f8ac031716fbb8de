use store_etcd::Config;
use testkit::etcd::Cluster;

use crate::direct::Direct;
use crate::{config, keys, next, open, open_with};

#[testkit::requires(etcd)]
#[tokio::test]
async fn changes_of_others_move_reads_and_watches_on_and_are_not_seen() {
    let found = Cluster::find();
    let cluster = found.start();
    let store = open(&cluster).await;
    let etcd = Direct::to(&cluster);
    let at = store.create("/registry/a", "1").await.unwrap();
    let mut watch = store.watch(b"/", at).await.unwrap();
    for round in 0..50 {
        let put = etcd.put(&format!("/foreign/{round}"), "x").await;
        let foreign = u64::try_from(put).unwrap();
        let seen = store.snapshot().await.unwrap().revision();
        assert!(
            seen >= foreign,
            "a read does not wait for ever, nor return before"
        );
        assert!(watch.progress() >= foreign);
    }
    assert!(watch.try_next().is_none());
    let deleted = etcd.delete("/foreign/0").await;
    let deleted = u64::try_from(deleted).unwrap();
    let past = store.snapshot_at(deleted).await.unwrap();
    assert_eq!(keys(&past), ["/registry/a"]);

    // The next change of ours comes right after, with nothing in between.
    let updated = store.update("/registry/a", "2", at).await.unwrap();
    assert_eq!(updated, deleted + 1);
    let events = next(&mut watch, 1).await;
    assert_eq!((events.len(), events[0].revision), (1, updated));
    let raw = etcd.get("/pilothouse/registry/a").await;
    assert_eq!(raw.unwrap(), b"2");
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn prefixes_do_not_see_each_other() {
    let found = Cluster::find();
    let cluster = found.start();
    let with = |prefix: &str| Config {
        prefix: prefix.into(),
        ..config(cluster.endpoints())
    };
    let one = open_with(with("/one")).await;
    let longer = open_with(with("/one1/")).await;
    let bare = open_with(with("")).await;
    one.create("/k", "one").await.unwrap();
    longer.create("/k", "longer").await.unwrap();
    assert_eq!(keys(&one.snapshot().await.unwrap()), ["/k"]);
    assert_eq!(keys(&longer.snapshot().await.unwrap()), ["/k"]);
    assert_eq!(one.get(b"/k").await.unwrap().unwrap().value, "one");
    assert_eq!(longer.get(b"/k").await.unwrap().unwrap().value, "longer");
    assert_eq!(keys(&bare.snapshot().await.unwrap()), ["/one/k", "/one1/k"]);
    bare.create("no slash", "1").await.unwrap();
    assert_eq!(bare.get(b"no slash").await.unwrap().unwrap().value, "1");
}
