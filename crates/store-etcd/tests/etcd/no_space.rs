use store::Error;
use store_etcd::wire::{AlarmAction, AlarmRequest, AlarmType, DeleteRangeRequest};
use testkit::etcd::Cluster;

use crate::direct::Direct;
use crate::{eventually, open};

#[testkit::requires(etcd)]
#[tokio::test]
async fn out_of_space_writes_are_refused_reads_go_on_and_it_recovers() {
    let found = Cluster::find();
    let cluster = found.quota_bytes(4 << 20).start();
    let store = open(&cluster).await;
    let kept = store.create("/kept", "1").await.unwrap();
    let mut written = 0;
    let reason = loop {
        match store
            .put(format!("/big/{written}"), vec![b'x'; 256 << 10])
            .await
        {
            Ok(_) => written += 1,
            Err(Error::ReadOnly { reason }) => break reason,
            // The one that crosses the line: etcd may have applied it all the same.
            Err(Error::Unknown { .. }) => {}
            Err(other) => panic!("{other}"),
        }
        assert!(written < 100, "the quota is never reached");
    };
    assert!(
        reason.contains("NOSPACE") && reason.contains("defrag"),
        "{reason}"
    );
    assert!(store.stats().1.refusing.is_some());
    let update = store.update("/kept", "2", kept).await;
    assert!(matches!(update, Err(Error::ReadOnly { .. })), "{update:?}");
    let grant = store.grant(std::time::Duration::from_secs(60)).await;
    assert!(matches!(grant, Err(Error::ReadOnly { .. })), "{grant:?}");

    let snapshot = store.snapshot().await.unwrap();
    assert_eq!(snapshot.get(b"/kept").unwrap().value, "1");
    assert!(snapshot.count(b"/big/") >= written);

    // What an operator does.
    let etcd = Direct::to(&cluster);
    let all = DeleteRangeRequest {
        key: b"/pilothouse/big/".to_vec(),
        range_end: b"/pilothouse/big0".to_vec(),
        ..DeleteRangeRequest::default()
    };
    let freed = etcd.0.delete_range(all).await.unwrap();
    assert!(usize::try_from(freed.deleted).unwrap() >= written);
    assert_eq!(store.snapshot().await.unwrap().count(b"/big/"), 0);
    let now = i64::try_from(store.latest().revision()).unwrap();
    etcd.compact(now).await;
    etcd.0.defragment().await.unwrap();
    let list = etcd.0.alarm(AlarmRequest::default()).await;
    for raised in list.unwrap().alarms {
        assert_eq!(raised.alarm(), AlarmType::Nospace);
        let disarm = etcd.0.alarm(AlarmRequest {
            action: AlarmAction::Deactivate.into(),
            member_id: raised.member_id,
            alarm: raised.alarm,
        });
        disarm.await.unwrap();
    }
    eventually("write", || store.update("/kept", "2", kept)).await;
    assert!(store.stats().1.refusing.is_none());
}
