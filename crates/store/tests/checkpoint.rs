//! What an image replaces, and what it must leave alone.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use store::disk::DirDisk;
use store::engine::{Engine, Image, Record};
use store::log::Log;
use store::{Entry, Options, Revision, Snapshot, embedded};

const HOUR: Duration = Duration::from_secs(3600);

/// Two of them do not fit one segment.
fn put(revision: Revision) -> Record {
    Record::Put(Arc::new(Entry {
        key: "a".into(),
        value: vec![b'x'; 40 << 10].into(),
        created: 1,
        modified: revision,
        lease: 0,
    }))
}

/// The state at revision 4, as a view would give it.
fn at_four() -> Snapshot {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime starts").block_on(async {
        let store = embedded::in_memory(&Options::default());
        for _ in 0..4 {
            store.put("a", "").await.unwrap();
        }
        assert_eq!(store.latest().revision(), 4);
        store.latest()
    })
}

/// The image is ordered with lease 1 alive; lease 2 is granted before the image is made.
#[test]
fn leases_granted_while_an_image_is_made_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        segment_bytes: 64 << 10,
        ..Options::default()
    };
    let open = || {
        let disk = Arc::new(DirDisk::lock(directory.path()).unwrap());
        Log::open(disk, &options).unwrap()
    };
    let grant = |lease| Record::Grant { lease, ttl: HOUR };
    let (mut log, _) = open();
    log.append(&[grant(1), put(1)], 1).unwrap();
    log.append(&[put(2)], 2).unwrap();
    let (go, wait) = mpsc::channel::<()>();
    log.start_image(Box::new(move || {
        wait.recv().expect("the test says when");
        Ok(Image {
            snapshot: at_four(),
            leases: vec![(1, HOUR)],
            next_lease: 2,
        })
    }));
    for revision in 3..=6 {
        let batch = match revision {
            3 => vec![grant(2), put(revision)],
            _ => vec![put(revision)],
        };
        log.append(&batch, revision).unwrap();
    }
    go.send(()).unwrap();
    let start = Instant::now();
    while log.stats().checkpoints == 0 {
        assert!(start.elapsed() < HOUR / 60, "{:?}", log.stats());
        std::thread::yield_now();
    }
    log.close().unwrap();
    drop(log);

    let (_log, recovered) = open();
    assert_eq!(recovered.revision, 4, "the image is the base");
    assert_eq!(recovered.leases, [(1, HOUR)]);
    assert!(recovered.tail.contains(&grant(2)), "lease 2 is lost");
    assert!(recovered.tail.contains(&put(6)));
}
