//! A backup of any store can be restored into a directory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use store::disk::DirDisk;
use store::{Revision, Store, Txn, backup, embedded};
use tempfile::TempDir;

use super::{Backing, conflict, entries, get, open, options, soon};

fn restore(saved: &[u8], skip: Revision) -> (TempDir, Store, backup::Summary) {
    let directory = TempDir::new().unwrap();
    let disk = Arc::new(DirDisk::lock(directory.path()).unwrap());
    let summary = backup::restore(&mut &*saved, "backup", disk, skip, &options()).unwrap();
    let store = embedded::open(directory.path(), &options()).unwrap();
    (directory, store, summary)
}

pub async fn a_backup_taken_while_writing_equals_its_revision(backing: &impl Backing) {
    let store = open(backing).await;
    for chunk in 0..4 {
        let txn = (0..100).fold(Txn::new(), |txn, number| {
            txn.put(format!("{chunk}/{number}"), vec![b'x'; 1000])
        });
        store.txn(txn).await.unwrap();
    }
    let stop = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let (store, stop) = (store.clone(), stop.clone());
        async move {
            for number in 0_u64.. {
                let key = format!("{}/{}", number % 4, number % 130);
                let txn = if number.is_multiple_of(3) {
                    Txn::new().delete(key)
                } else {
                    Txn::new().put(key, number.to_string())
                };
                store.txn(txn).await.unwrap();
                if stop.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
    });
    for _ in 0..3 {
        let (saved, revision) = soon("the backup", store.backup(Vec::new())).await.unwrap();
        let known = store.snapshot_at(revision).await.unwrap();
        let summary = backup::verify(&mut &saved[..], "backup").unwrap();
        assert_eq!(
            (summary.revision, summary.keys),
            (revision, known.len() as u64)
        );
        let (_directory, restored, summary) = restore(&saved, 0);
        assert_eq!(
            (summary.revision, summary.keys),
            (revision, known.len() as u64)
        );
        assert_eq!(restored.latest().revision(), revision);
        assert_eq!(entries(&restored.latest()), entries(&known));
    }
    stop.store(true, Ordering::Relaxed);
    soon("the writer", writer).await.unwrap();
}

pub async fn a_restored_store_skips_revisions(backing: &impl Backing) {
    let store = open(backing).await;
    let old = store.put("a", "1").await.unwrap();
    let (saved, revision) = store.backup(Vec::new()).await.unwrap();
    let newer = store.put("a", "2").await.unwrap();
    let (_directory, restored, summary) = restore(&saved, 1000);
    assert_eq!(summary.revision, revision + 1000);
    let entry = get(&restored, b"a").await;
    assert_eq!((&entry.value[..], entry.modified), (&b"1"[..], old));
    // Who saw what came after the backup is told, not taken for somebody else.
    conflict(b"a", restored.update("a", "3", newer).await);
    assert!(restored.update("a", "3", old).await.unwrap() > revision + 1000);
}

pub async fn a_backup_keeps_leases(backing: &impl Backing) {
    let store = open(backing).await;
    let hour = Duration::from_secs(3600);
    let lease = store.grant(hour).await.unwrap();
    store
        .txn(Txn::new().put_leased("a", "x", lease).put("b", "x"))
        .await
        .unwrap();
    let (saved, _) = store.backup(Vec::new()).await.unwrap();
    let (_directory, restored, _) = restore(&saved, 0);
    assert_eq!(get(&restored, b"a").await.lease, lease);
    assert!(restored.keep_alive(lease).await.unwrap() >= hour);
    restored.revoke(lease).await.unwrap();
    let left: Vec<_> = restored
        .latest()
        .range(b"")
        .map(|entry| entry.key.clone())
        .collect();
    assert_eq!(left, ["b"]);
}
