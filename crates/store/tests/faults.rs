//! The embedded engine on a faulty disk: what was acknowledged is there, what is damaged is named, nothing is made up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use store::disk::Disk;
use store::log::check;
use store::{Error, Options, Revision, Store, Txn, embedded};
use testkit::faulty::{EIO, ENOSPC, Fault, FaultyDisk, Loss, Op, POWER_CUT};

/// Small enough that a few hundred writes go through segments, history trims and checkpoints.
fn small() -> Options {
    Options {
        history_bytes: 24 << 10,
        segment_bytes: 16 << 10,
        checkpoint_bytes: 32 << 10,
        ..Options::default()
    }
}

fn open(disk: &FaultyDisk) -> Result<Store, Error> {
    embedded::on_disk(Arc::new(disk.clone()), &small())
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

type Model = BTreeMap<Vec<u8>, (Vec<u8>, Revision)>;

fn state(store: &Store) -> Model {
    let latest = store.latest();
    latest
        .range(b"")
        .map(|entry| (entry.key.to_vec(), (entry.value.to_vec(), entry.modified)))
        .collect()
}

/// The `step`th change: two keys together, so that half a transaction would show; now and then a delete.
fn change(step: u64) -> Txn {
    let length = 100 + usize::try_from(step * 37 % 900).unwrap();
    let value = vec![u8::try_from(step % 251).unwrap(); length];
    let key = |which: &str, number: u64| Bytes::from(format!("/{which}/{number}"));
    if step % 5 == 4 {
        Txn::new()
            .delete(key("left", step % 7))
            .put(key("right", step % 11), value)
    } else {
        Txn::new()
            .put(key("left", step % 7), value.clone())
            .put(key("right", step % 11), value)
    }
}

/// Applies changes one after the other until one fails. Returns the state after each that was acknowledged, and the
/// state the failed one would have led to.
async fn drive(store: &Store, from: u64, steps: u64) -> (Vec<Model>, Option<Model>) {
    let mut states = vec![state(store)];
    for step in from..from + steps {
        let txn = change(step);
        let mut would = states.last().unwrap().clone();
        let next = store.latest().revision() + 1;
        for write in &txn.writes {
            match write {
                store::Write::Put { key, value, .. } => {
                    would.insert(key.to_vec(), (value.to_vec(), next))
                }
                store::Write::Delete { key } => would.remove(&key[..]),
            };
        }
        match store.txn(txn).await {
            Ok(committed) => {
                assert_eq!(committed.revision, next);
                let now = state(store);
                assert_eq!(now, would, "step {step} reads back as written");
                states.push(now);
            }
            Err(_) => return (states, Some(would)),
        }
    }
    (states, None)
}

#[test]
fn power_loss_at_every_operation_loses_nothing_acknowledged() {
    let total = {
        let disk = FaultyDisk::new();
        let store = open(&disk).unwrap();
        run(drive(&store, 0, 150));
        run(store.close()).unwrap();
        disk.operations()
    };
    assert!(
        total > 300,
        "the workload reaches rotations and checkpoints: {total} operations"
    );
    let mut checkpoints = 0;
    for stop in 1..=total {
        let disk = FaultyDisk::new();
        disk.stop_at(stop);
        let Ok(store) = open(&disk) else {
            // The power went during the very first start: a second start must work.
            let store = open(&disk.after_power_loss(Loss::Random(stop))).unwrap();
            assert!(state(&store).is_empty());
            continue;
        };
        let (states, attempted) = run(drive(&store, 0, 150));
        checkpoints = checkpoints.max(store.stats().1.checkpoints);
        for loss in [
            Loss::Everything,
            Loss::Nothing,
            Loss::Random(stop),
            Loss::Random(stop * 7919),
        ] {
            let survivor = disk.after_power_loss(loss);
            let again =
                open(&survivor).unwrap_or_else(|error| panic!("stop {stop} {loss:?}: {error}"));
            let found = state(&again);
            let acknowledged = states.last().unwrap();
            assert!(
                found == *acknowledged || Some(&found) == attempted.as_ref(),
                "stop {stop} {loss:?}: the last acknowledged state, or with the one in flight"
            );
            assert!(
                again.latest().revision() >= store.latest().revision(),
                "stop {stop}: revisions never go back"
            );
            // And life goes on, over another power loss.
            let (more, _) = run(drive(&again, 1000, 3));
            assert_eq!(
                more.len(),
                4,
                "stop {stop} {loss:?}: writes work after recovery"
            );
            let third = open(&survivor.after_power_loss(Loss::Everything)).unwrap();
            assert_eq!(state(&third), *more.last().unwrap());
        }
    }
    assert!(
        checkpoints > 0,
        "checkpoints were among what was interrupted"
    );
}

#[test]
fn kill_between_write_and_sync_never_shows_what_is_not_durable() {
    // The batch is written, its sync fails, the process dies: the next one reads the batch from the page cache. If it
    // serves it, it must first have made it durable.
    let disk = FaultyDisk::new();
    let store = open(&disk).unwrap();
    run(drive(&store, 0, 5));
    disk.fail(Fault {
        op: Op::Sync,
        name: "log-",
        errno: EIO,
        after: 0,
        times: 1,
    });
    let error = run(store.txn(change(6))).unwrap_err();
    assert!(matches!(error, Error::Unknown { .. }), "{error}");
    let killed = disk.after_kill();
    let again = open(&killed).unwrap();
    let seen = state(&again);
    let after = open(&killed.after_power_loss(Loss::Everything)).unwrap();
    assert_eq!(
        state(&after),
        seen,
        "what was served is there after a power loss"
    );
}

#[test]
fn the_last_batch_cut_at_every_byte_is_there_whole_or_not_at_all() {
    let disk = FaultyDisk::new();
    let store = open(&disk).unwrap();
    let (states, _) = run(drive(&store, 0, 20));
    // Freeze the moment between write and sync.
    let stopped = disk.fork();
    let store = open(&stopped).unwrap();
    stopped.fail(Fault {
        op: Op::Sync,
        name: "log-",
        errno: POWER_CUT,
        after: 0,
        times: 1,
    });
    let (again, attempted) = run(drive(&store, 20, 1));
    assert_eq!(again.len(), 1, "the write is done, the sync is not");
    let length = stopped.last_pending_write().expect("a batch is pending");
    let mut whole = 0;
    for cut in 0..=length {
        let store = open(&stopped.after_power_loss(Loss::Cut(cut)))
            .unwrap_or_else(|error| panic!("cut {cut}: {error}"));
        let found = state(&store);
        if Some(&found) == attempted.as_ref() {
            whole += 1;
        } else {
            assert_eq!(found, *states.last().unwrap(), "cut at {cut} of {length}");
        }
    }
    // Only the padding after the payload may be missing.
    assert!((1..=512).contains(&whole), "{whole}");
}

/// A closed store with a base, several segments and a sealed tail.
fn rich() -> (FaultyDisk, Model) {
    let disk = FaultyDisk::new();
    let store = open(&disk).unwrap();
    for round in 0..200 {
        let (states, failed) = run(drive(&store, round * 20, 20));
        assert!(failed.is_none());
        if store.stats().1.checkpoints > 0 && round > 3 {
            run(store.close()).unwrap();
            return (disk, states.last().unwrap().clone());
        }
    }
    panic!("no checkpoint in 4000 changes");
}

/// The files that hold data. Beside them there may be a spare segment, and what a checkpoint left unfinished when the
/// store was closed.
fn data_files(disk: &FaultyDisk) -> Vec<String> {
    let mut names = disk.names().unwrap();
    names.retain(|name| name.starts_with("log-") || name.starts_with("base-"));
    names
}

/// Opens a damaged copy: either the damage is named, in that file, or the state is exactly right.
fn judge(disk: &FaultyDisk, file: &str, truth: &Model, what: &str) -> bool {
    let checked = check(disk).unwrap();
    match open(disk) {
        Ok(store) => {
            assert_eq!(
                state(&store),
                *truth,
                "{what} in {file}: wrong data was served"
            );
            assert!(
                checked.is_sound(),
                "{what} in {file}: check complains of what opens"
            );
            false
        }
        Err(Error::Corrupt(corruption)) => {
            assert_eq!(corruption.file, file, "{what}: {corruption}");
            let mut named = checked.files.iter().filter(|it| it.problem.is_some());
            assert!(
                named.any(|it| it.name == file),
                "{what}: check does not name {file}"
            );
            true
        }
        Err(other) => panic!("{what} in {file}: {other}"),
    }
}

#[test]
fn flipped_bits_are_found_and_named_never_served() {
    let (disk, truth) = rich();
    let names = data_files(&disk);
    assert!(
        names.iter().any(|name| name.starts_with("base-")) && names.len() > 2,
        "{names:?}"
    );
    for name in names {
        let content = disk.content(&name);
        let used = content.iter().rposition(|byte| *byte != 0).unwrap() + 1;
        let mut found = 0;
        // A prime stride visits every field of every structure over the file.
        for byte in (0..64.min(used)).chain((64..used).step_by(53)) {
            let damaged = disk.fork();
            damaged.damage(&name, |content| content[byte] ^= 1 << (byte % 8));
            found += usize::from(judge(
                &damaged,
                &name,
                &truth,
                &format!("bit flip at {byte}"),
            ));
        }
        assert!(found > 10, "{name}: {found} flips were found");
    }
}

#[test]
fn cut_lost_and_swapped_files_are_found_and_named() {
    let (disk, truth) = rich();
    let names = data_files(&disk);
    for name in &names {
        for keep in [0, 1, 511, 512, 4096, disk.content(name).len() - 1] {
            let damaged = disk.fork();
            damaged.damage(name, |content| content.truncate(keep));
            assert!(judge(
                &damaged,
                name,
                &truth,
                &format!("cut to {keep} bytes")
            ));
        }
    }
    let segments: Vec<_> = names
        .iter()
        .filter(|name| name.starts_with("log-"))
        .collect();
    assert!(segments.len() > 1);
    for name in &segments {
        let damaged = disk.fork();
        damaged.remove(name).unwrap();
        let error = open(&damaged).unwrap_err().to_string();
        assert!(
            error.contains(name.as_str()) && error.contains("missing"),
            "{error}"
        );
        assert!(!check(&damaged).unwrap().is_sound(), "{name} is missing");
    }
    let base = names.iter().find(|name| name.starts_with("base-")).unwrap();
    let damaged = disk.fork();
    damaged.remove(base).unwrap();
    assert!(
        matches!(open(&damaged), Err(Error::Corrupt(_))),
        "the base is missing"
    );
    let swapped = disk.fork();
    let (first, second) = (disk.content(segments[0]), disk.content(segments[1]));
    swapped.damage(segments[0], |content| content.clone_from(&second));
    swapped.damage(segments[1], |content| content.clone_from(&first));
    assert!(
        matches!(open(&swapped), Err(Error::Corrupt(_))),
        "two segments are swapped"
    );
}

#[test]
fn a_failed_read_names_the_file() {
    let (disk, _) = rich();
    for name in data_files(&disk) {
        let failing = disk.fork();
        failing.fail(Fault {
            op: Op::Read,
            name: name.clone().leak(),
            errno: EIO,
            after: 0,
            times: u64::MAX,
        });
        let error = open(&failing).unwrap_err();
        let named = matches!(error, Error::Io { .. }) && error.to_string().contains(&name);
        assert!(named, "{error}");
    }
}

#[test]
fn a_failed_write_or_sync_is_unknown_then_the_store_goes_on_without_it() {
    for op in [Op::Write, Op::Sync] {
        let disk = FaultyDisk::new();
        let store = open(&disk).unwrap();
        let (before, _) = run(drive(&store, 0, 10));
        disk.fail(Fault {
            op,
            name: "log-",
            errno: EIO,
            after: 0,
            // A writer that has nothing to do may write that, too.
            times: u64::MAX,
        });
        let error = run(store.txn(change(10))).unwrap_err();
        let named = matches!(&error, Error::Unknown { reason } if reason.contains("log-"));
        assert!(named, "{op:?}: {error}");
        assert_eq!(
            state(&store),
            *before.last().unwrap(),
            "{op:?}: readers never saw it"
        );
        assert!(store.stats().1.refusing.is_some());
        disk.heal();
        let (after, failed) = run(drive(&store, 11, 5));
        assert!(
            failed.is_none(),
            "{op:?}: the next write goes to a new file"
        );
        assert!(store.stats().1.refusing.is_none());
        for loss in [Loss::Everything, Loss::Nothing, Loss::Random(3)] {
            let again = open(&disk.after_power_loss(loss)).unwrap();
            assert_eq!(
                state(&again),
                *after.last().unwrap(),
                "{op:?} {loss:?}: it stays away"
            );
        }
    }
}

#[test]
fn a_disk_that_fails_for_good_leaves_the_store_readable() {
    let disk = FaultyDisk::new();
    let store = open(&disk).unwrap();
    let (states, _) = run(drive(&store, 0, 10));
    for op in [Op::Sync, Op::Create, Op::Allocate] {
        disk.fail(Fault {
            op,
            name: "",
            errno: EIO,
            after: 0,
            times: u64::MAX,
        });
    }
    for step in 10..15 {
        let error = run(store.txn(change(step))).unwrap_err();
        let (Error::Unknown { reason } | Error::ReadOnly { reason }) = &error else {
            panic!("{error}")
        };
        assert!(reason.contains("os error 5"), "{reason}");
        assert_eq!(state(&store), *states.last().unwrap());
    }
    disk.heal();
    let (after, failed) = run(drive(&store, 20, 5));
    assert!(failed.is_none(), "writes work again when the disk does");
    run(store.close()).unwrap();
    assert_eq!(
        state(&open(&disk.after_kill()).unwrap()),
        *after.last().unwrap()
    );
}

#[test]
fn a_full_disk_refuses_writes_serves_reads_and_recovers() {
    let disk = FaultyDisk::new();
    let store = open(&disk).unwrap();
    let (mut states, _) = run(drive(&store, 0, 10));
    disk.set_capacity(Some(disk.used()));
    let (more, refused) = run(drive(&store, 10, 1000));
    states.extend(more);
    assert!(refused.is_some(), "the log fills up");
    let large = Txn::new().put("/large", vec![1; 15 << 10]);
    let error = run(store.txn(large)).unwrap_err();
    let Error::ReadOnly { reason } = &error else {
        panic!("{error}")
    };
    assert!(reason.contains("No space left"), "{reason}");
    assert_eq!(store.stats().1.refusing.as_deref(), Some(&**reason));
    assert_eq!(state(&store), *states.last().unwrap(), "reads go on");
    // A restart on the full disk serves reads too.
    let restarted = disk.after_kill();
    restarted.set_capacity(Some(restarted.used()));
    let again = open(&restarted).unwrap();
    assert_eq!(state(&again), *states.last().unwrap());
    // Space returns.
    for (disk, store) in [(disk, store), (restarted, again)] {
        disk.set_capacity(None);
        let (after, failed) = run(drive(&store, 2000, 50));
        assert!(failed.is_none());
        assert!(store.stats().1.refusing.is_none());
        let reopened = open(&disk.after_power_loss(Loss::Everything)).unwrap();
        assert_eq!(state(&reopened), *after.last().unwrap());
    }
}

#[test]
fn a_store_that_nobody_writes_to_finds_out_that_the_disk_has_room_again() {
    let options = Options {
        retry_interval: Duration::from_millis(1),
        ..small()
    };
    for fails in [Op::Allocate, Op::Sync] {
        let disk = FaultyDisk::new();
        let store = embedded::on_disk(Arc::new(disk.clone()), &options).unwrap();
        let (states, _) = run(drive(&store, 0, 10));
        // Without a sync the outcome is unknown, and no new segment can be made either.
        disk.fail(Fault {
            op: fails,
            name: "",
            errno: ENOSPC,
            after: 0,
            times: u64::MAX,
        });
        let (_, refused) = run(drive(&store, 10, 1000));
        assert!(refused.is_some(), "the log fills up");
        assert!(store.stats().1.refusing.is_some());
        disk.heal();
        let deadline = std::time::Instant::now() + Duration::from_secs(60);
        while let Some(reason) = store.stats().1.refusing {
            assert!(std::time::Instant::now() < deadline, "{reason}");
            std::thread::yield_now();
        }
        assert!(state(&store).len() >= states.last().unwrap().len());
        let (after, failed) = run(drive(&store, 2000, 50));
        assert!(failed.is_none());
        let reopened = open(&disk.after_power_loss(Loss::Everything)).unwrap();
        assert_eq!(state(&reopened), *after.last().unwrap());
    }
}

#[test]
fn a_failing_checkpoint_is_reported_and_hurts_no_writer() {
    let disk = FaultyDisk::new();
    disk.fail(Fault {
        op: Op::Create,
        name: "base.tmp",
        errno: ENOSPC,
        after: 0,
        times: u64::MAX,
    });
    let store = open(&disk).unwrap();
    let mut step = 0;
    while store.stats().1.checkpoint_error.is_none() {
        assert!(step < 20_000, "a checkpoint was tried");
        let (_, failed) = run(drive(&store, step, 20));
        assert!(failed.is_none());
        step += 20;
    }
    let reason = store.stats().1.checkpoint_error.unwrap();
    assert!(
        reason.contains("base image") && reason.contains("No space left"),
        "{reason}"
    );
    let truth = state(&store);
    assert_eq!(
        state(&open(&disk.after_power_loss(Loss::Everything)).unwrap()),
        truth
    );
}

#[test]
fn values_that_imitate_frames_fool_nobody() {
    // A value that holds a copy of a real part of the log, headers and all, then a torn tail right there.
    let disk = FaultyDisk::new();
    let store = open(&disk).unwrap();
    run(drive(&store, 0, 10));
    let log = disk.content("log-0000000000000001");
    let end = log.iter().rposition(|byte| *byte != 0).unwrap();
    let before = state(&store);
    for shift in 0..512 {
        let mut value = vec![0; shift];
        value.extend_from_slice(&log[512..end.min(8192)]);
        let copy = disk.fork();
        let store = open(&copy).unwrap();
        copy.fail(Fault {
            op: Op::Sync,
            name: "log-",
            errno: POWER_CUT,
            after: 0,
            times: 1,
        });
        assert!(run(store.put("/evil", value)).is_err());
        let again = open(&copy.after_power_loss(Loss::Cut(300)))
            .unwrap_or_else(|error| panic!("{shift}: {error}"));
        assert_eq!(state(&again), before);
    }
}

#[test]
fn a_tail_that_could_not_be_rewritten_on_open_is_before_the_next_write() {
    // A sync fails, the process dies, and the next one finds the disk full: the tail is in the page cache only, and
    // nothing may be acknowledged behind it before it is on disk.
    let disk = FaultyDisk::new();
    let store = open(&disk).unwrap();
    run(drive(&store, 0, 5));
    disk.fail(Fault {
        op: Op::Sync,
        name: "log-",
        errno: EIO,
        after: 0,
        times: 1,
    });
    run(store.txn(change(6))).unwrap_err();
    let killed = disk.after_kill();
    killed.fail(Fault {
        op: Op::Create,
        name: "rewrite.tmp",
        errno: ENOSPC,
        after: 0,
        times: u64::MAX,
    });
    let again = open(&killed).unwrap();
    let error = run(again.txn(change(7))).unwrap_err();
    let Error::ReadOnly { reason } = &error else {
        panic!("{error}")
    };
    assert!(reason.contains("rewrite"), "{reason}");
    killed.heal();
    let (after, failed) = run(drive(&again, 7, 3));
    assert!(failed.is_none(), "space is there again");
    let last = open(&killed.after_power_loss(Loss::Everything)).unwrap();
    assert_eq!(state(&last), *after.last().unwrap());
}
