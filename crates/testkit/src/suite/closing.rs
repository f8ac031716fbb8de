//! The end of a store.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use store::{Error, Txn, WatchEnd};

use super::{Backing, assert_matches, open, options, soon};

pub async fn a_closed_store_refuses_everything(backing: &impl Backing) {
    let store = open(backing).await;
    let revision = store.put("a", "1").await.unwrap();
    let lease = store.grant(Duration::from_secs(60)).await.unwrap();
    soon("close", store.close()).await.unwrap();
    assert_matches!(store.create("b", "1").await, Err(Error::Closed));
    assert_matches!(store.put("a", "1").await, Err(Error::Closed));
    assert_matches!(store.update("a", "1", revision).await, Err(Error::Closed));
    assert_matches!(store.delete("a", revision).await, Err(Error::Closed));
    assert_matches!(store.txn(Txn::new().delete("a")).await, Err(Error::Closed));
    assert_matches!(store.watch(b"", revision).await, Err(Error::Closed));
    assert_matches!(store.compact(revision).await, Err(Error::Closed));
    assert_matches!(
        store.grant(Duration::from_secs(60)).await,
        Err(Error::Closed)
    );
    assert_matches!(store.keep_alive(lease).await, Err(Error::Closed));
    assert_matches!(store.revoke(lease).await, Err(Error::Closed));
    assert!(matches!(store.backup(Vec::new()).await, Err(Error::Closed)));
    // What this process has seen it may still look at.
    assert_eq!(store.latest().get(b"a").unwrap().modified, revision);
}

pub async fn closing_twice_is_fine(backing: &impl Backing) {
    let store = open(backing).await;
    store.put("a", "1").await.unwrap();
    let (first, second) = soon("close", async {
        tokio::join!(store.close(), store.close())
    })
    .await;
    first.unwrap();
    second.unwrap();
    soon("close", store.close()).await.unwrap();
}

pub async fn closing_ends_watches(backing: &impl Backing) {
    let store = open(backing).await;
    let revision = store.put("a", "1").await.unwrap();
    let mut idle = store.watch(b"", revision).await.unwrap();
    let mut waiting = store.watch(b"", revision).await.unwrap();
    let waiter = tokio::spawn(async move { waiting.next().await.map(|_| ()) });
    soon("close", store.close()).await.unwrap();
    assert_matches!(soon("the end", idle.next()).await, Err(WatchEnd::Closed));
    assert_matches!(idle.try_next(), Some(Err(WatchEnd::Closed)));
    assert_matches!(
        soon("the end", waiter).await.unwrap(),
        Err(WatchEnd::Closed)
    );
}

/// Close in the middle of writes: each is answered, and what was acknowledged is there. A write on its way to another
/// machine may have to say that it does not know.
pub async fn closing_answers_every_writer(backing: &impl Backing) {
    let store = open(backing).await;
    let acknowledged = Arc::new(AtomicUsize::new(0));
    let writers: Vec<_> = (0..32)
        .map(|writer| {
            let (store, acknowledged) = (store.clone(), acknowledged.clone());
            tokio::spawn(async move {
                let mut last = None;
                for number in 0_u64.. {
                    match store.put(format!("{writer}"), number.to_string()).await {
                        Ok(revision) => last = Some(revision),
                        Err(Error::Closed | Error::Unknown { .. }) => return last,
                        Err(error) => panic!("an answer or Closed, not {error}"),
                    }
                    acknowledged.fetch_add(1, Ordering::Relaxed);
                }
                last
            })
        })
        .collect();
    let busy = async {
        while acknowledged.load(Ordering::Relaxed) < 200 {
            tokio::task::yield_now().await;
        }
    };
    soon("writes", busy).await;
    soon("close", store.close()).await.unwrap();
    let mut last = Vec::new();
    for writer in writers {
        last.push(soon("a writer's answer", writer).await.unwrap());
    }
    let Some(store) = backing.reopen(store, &options()).await else {
        return;
    };
    for (writer, acknowledged) in last.into_iter().enumerate() {
        let there = store
            .latest()
            .get(writer.to_string().as_bytes())
            .map(|entry| entry.modified);
        // A write that was not acknowledged may be there as well.
        assert!(
            there >= acknowledged,
            "writer {writer}: {acknowledged:?} is lost, found {there:?}"
        );
    }
}
