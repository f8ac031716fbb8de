use json::json;

use super::*;

#[test]
fn whoever_failed_waits() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::at(dir.path(), "a");
    let now = SystemTime::now();
    assert!(spool.may_try(now));
    spool.failed();
    assert!(!spool.may_try(now + Duration::from_secs(10)));
    assert!(spool.may_try(now + Duration::from_secs(90)));
    for _ in 0..20 {
        spool.failed();
    }
    assert!(!spool.may_try(now + Duration::from_secs(1000)));
    assert!(spool.may_try(now + Duration::from_secs(4000)));
    spool.succeeded(&json!("it"));
    assert!(spool.may_try(now));
    assert_eq!(spool.last(), Some(json!("it")));
}

#[test]
fn one_sends_at_a_time_and_one_is_told_first() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::at(&dir.path().join("a/b"), "a");
    assert!(spool.first_notice().unwrap());
    assert!(!spool.first_notice().unwrap());
    let lock = spool.lock();
    assert!(lock.is_some());
    assert!(spool.lock().is_none());
    drop(lock);
    assert!(spool.lock().is_some());
}

#[test]
fn one_attends_and_builds_know() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::at(dir.path(), "a");
    assert!(!spool.is_attended());
    let sender = spool.try_become_sender().unwrap();
    assert!(spool.is_attended());
    assert!(spool.try_become_sender().is_none(), "there is one");
    let other = Spool::at(dir.path(), "b");
    assert!(!other.is_attended(), "that one sends to somebody else");
    // One that is killed leaves its file behind, and not its lock.
    std::mem::forget(other.try_become_sender());
    drop(sender);
    assert!(!spool.is_attended());
    assert!(!dir.path().join("sender.a").exists());
    fs::write(dir.path().join("sender.a"), "").unwrap();
    assert!(!spool.is_attended());
    assert!(spool.try_become_sender().is_some());
}

#[test]
fn what_is_lost_counts() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::at(dir.path(), "a");
    spool.lose(0);
    assert!(!dir.path().join("lost").exists());
    spool.lose(3);
    spool.forgive(2);
    assert_eq!(spool.lost(), 1);
    assert!(spool.add(&json!("it"), SystemTime::now()));
    assert_eq!(spool.look(), (vec![json!("it")], 1));
    spool.clear();
    assert_eq!(spool.look(), (vec![], 0));
    // Where nothing can be written, nothing is, and nobody is told.
    fs::remove_dir_all(dir.path()).unwrap();
    fs::write(dir.path(), "no directory").unwrap();
    assert!(!spool.add(&json!("it"), SystemTime::now()));
    assert_eq!(spool.look(), (vec![], 0));
    fs::remove_file(dir.path()).unwrap();
    fs::create_dir(dir.path()).unwrap();
}

#[test]
fn what_does_not_fit_is_lost_but_for_those_whom_nobody_waits_for() {
    let dir = tempfile::tempdir().unwrap();
    let large = Value::from("x".repeat(40 << 10));
    for (key, wanted) in [("a", true), (HERE, false)] {
        let spool = Spool::at(&dir.path().join(key), key);
        for _ in 0..30 {
            assert!(spool.add(&large, SystemTime::now()));
        }
        assert_eq!(spool.lost() > 0, wanted, "{key}");
    }
}
