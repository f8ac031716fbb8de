use json::json;

use super::*;

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn journal(directory: &Path, key: &str) -> Journal {
    Journal::at(directory.to_owned(), Some(key.to_owned()))
}

fn take(journal: &Journal) -> Vec<Value> {
    let mut taken = journal.take(at(1000));
    let documents = std::mem::take(&mut taken.documents);
    taken.remove();
    documents
}

#[test]
fn what_is_added_is_taken_once_and_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let journal = journal(&dir.path().join("a/b"), "k");
    assert!(!journal.has_news());
    assert!(take(&journal).is_empty());
    for number in 0..5i64 {
        assert_eq!(journal.add(&json!(number), at(1)), Ok(0));
    }
    assert!(journal.has_news());
    let taken = journal.take(at(2));
    assert!(!journal.has_news(), "a build begins anew");
    journal.add(&json!("later"), at(3)).unwrap();
    drop(taken);
    // It could not be sent: all of it waits.
    assert_eq!(journal.look().0.len(), 6);
    let documents = take(&journal);
    let wanted = [
        json!(0i64),
        json!(1i64),
        json!(2i64),
        json!(3i64),
        json!(4i64),
    ];
    assert_eq!(documents[..5], wanted);
    assert_eq!(documents[5..], [json!("later")]);
    assert!(take(&journal).is_empty());
    assert_eq!(fs::read_dir(dir.path().join("a/b")).unwrap().count(), 0);
}

#[test]
fn a_journal_that_builds_write_is_not_taken() {
    let dir = tempfile::tempdir().unwrap();
    let journal = journal(dir.path(), "k");
    journal.add(&json!("meanwhile"), at(1)).unwrap();
    let taken = journal.taken();
    assert!(taken.documents.is_empty());
    assert_eq!(journal.add(&json!("while it is sent"), at(2)), Ok(0));
    drop(taken);
    assert_eq!(take(&journal).len(), 2);
}

#[test]
fn it_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let journal = journal(&dir.path().join("a"), "k");
    journal.add(&json!(1i64), at(1)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir.path().join("a")), 0o700);
    assert_eq!(mode(&dir.path().join("a/journal.k")), 0o600);
}

#[test]
fn nobody_gets_what_is_for_somebody_else() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (journal(dir.path(), "1"), journal(dir.path(), "2"));
    one.add(&json!("one"), at(1)).unwrap();
    two.add(&json!("two"), at(2)).unwrap();
    journal(dir.path(), HERE)
        .add(&json!("here"), at(3))
        .unwrap();
    let all = Journal::at(dir.path().to_owned(), None);
    assert_eq!(all.look().0.len(), 3);
    assert_eq!(one.look().0.len(), 2);
    assert_eq!(take(&one).len(), 2);
    assert_eq!(take(&two), [json!("two")]);
    two.add(&json!("two"), at(4)).unwrap();
    all.clear();
    assert!(take(&two).is_empty());
}

#[test]
fn it_is_bounded_and_what_is_dropped_counts() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, other) = (journal(dir.path(), "k"), journal(dir.path(), "o"));
    assert_eq!(other.add(&json!("other"), at(0)), Ok(0));
    let text = "x".repeat(10 << 10);
    let mut dropped = 0;
    for number in 0..100i64 {
        let document = json!({"number": number, "text": (&*text)});
        dropped += journal
            .add(&document, at(10 + number.unsigned_abs()))
            .unwrap();
        let bytes: u64 = journal.files().iter().map(|(_, size)| size).sum();
        assert!(bytes <= 512 << 10, "{bytes}");
    }
    let left = take(&journal);
    let others = take(&other).len();
    assert!(dropped > 0 && left.len() > 30);
    assert_eq!(
        left.len() + dropped + others,
        101,
        "nothing is lost uncounted"
    );
    let numbers: Vec<_> = left.iter().map(|it| it.get("number").cloned()).collect();
    let first = 100 - i64::try_from(left.len()).unwrap();
    let wanted: Vec<_> = (first..100).map(|it| Some(json!(it))).collect();
    assert_eq!(numbers, wanted, "the oldest are gone");
}

#[test]
fn a_line_that_was_cut_off_costs_none_but_itself() {
    let dir = tempfile::tempdir().unwrap();
    let journal = journal(dir.path(), "k");
    let path = dir.path().join("journal.k");
    let whole = b"\n{\"a\":\"b\"}\n";
    for cut in 0..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        assert_eq!(journal.add(&json!("after"), at(1)), Ok(0));
        let mut taken = journal.take(at(2));
        let documents = std::mem::take(&mut taken.documents);
        let is_whole = cut == whole.len() - 1;
        assert_eq!(documents.len(), 1 + usize::from(is_whole), "{cut}");
        assert_eq!(documents.last(), Some(&json!("after")));
        assert_eq!(taken.broken, usize::from(cut > 1 && !is_whole), "{cut}");
        taken.remove();
    }
    fs::write(&path, " ".repeat(LINE_BYTES) + "1").unwrap();
    assert_eq!(journal.look(), (vec![], 1), "too long");
    fs::write(&path, "\n\0\u{fffd}\n\n7\n[").unwrap();
    assert_eq!(journal.look(), (vec![json!(7i64)], 2));
}

/// Stragglers: a build that has the file open while it is retired, read, sent or removed.
#[test]
fn a_build_notices_that_its_file_is_retired() {
    let dir = tempfile::tempdir().unwrap();
    let journal = journal(dir.path(), "k");
    journal.add(&json!(1i64), at(1)).unwrap();
    let straggler = journal.open().unwrap();
    let taken = journal.take(at(2));
    assert!(straggler.try_lock_shared().is_err(), "it is being sent");
    taken.remove();
    assert!(straggler.try_lock_shared().is_ok());
    assert_eq!(straggler.metadata().unwrap().nlink(), 0, "it is sent");
    straggler.unlock().unwrap();

    journal.add(&json!(2i64), at(3)).unwrap();
    let straggler = journal.open().unwrap();
    straggler.try_lock_shared().unwrap();
    let patient = std::thread::scope(|scope| {
        let taker = scope.spawn(|| super::take(&retire(&journal.path(), at(4)), Duration::MAX));
        // It is in no hurry while a build is about to write.
        (&straggler).write_all(b"\n3\n").unwrap();
        drop(straggler);
        taker.join().unwrap()
    });
    let file = patient.unwrap();
    assert_eq!(read(&file).0, [json!(2i64), json!(3i64)]);
}

#[test]
fn many_add_while_one_takes_and_nothing_is_lost() {
    const BUILDS: i64 = 8;
    const EACH: i64 = 200;
    let dir = tempfile::tempdir().unwrap();
    let journal = journal(dir.path(), "k");
    let builds = |journal: &Journal, build: i64| -> usize {
        let each = (0..EACH).map(|it| journal.add(&json!(build * EACH + it), at(5)));
        each.map(|(Ok(lost) | Err(lost))| lost).sum()
    };
    let (mut found, lost) = std::thread::scope(|scope| {
        let all: Vec<_> = (0..BUILDS)
            .map(|build| {
                let journal = &journal;
                scope.spawn(move || builds(journal, build))
            })
            .collect();
        let mut found = Vec::new();
        while !all.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            found.extend(take(&journal));
        }
        let lost: usize = all.into_iter().map(|it| it.join().unwrap()).sum();
        (found, lost)
    });
    found.extend(take(&journal));
    found.sort_by_key(Value::as_i64);
    found.dedup();
    let all = usize::try_from(BUILDS * EACH).unwrap();
    assert_eq!(found.len() + lost, all);
}
