//! The checker is only worth something if it says no to what is wrong.

use super::*;

/// A call by one client: `(invoked, returned)`.
fn call(client: usize, times: (u64, u64), op: Op, outcome: Outcome) -> Call {
    Call {
        client,
        op,
        outcome,
        invoked: times.0,
        returned: times.1,
        revision: None,
    }
}

fn put(client: usize, times: (u64, u64), key: usize, value: u32) -> Call {
    write(
        client,
        times,
        vec![],
        vec![(key, value)],
        Outcome::Committed(None),
    )
}

fn read(client: usize, times: (u64, u64), key: usize, value: u32) -> Call {
    call(
        client,
        times,
        Op::Read(vec![key]),
        Outcome::Values(vec![value]),
    )
}

fn write(
    client: usize,
    times: (u64, u64),
    conditions: Vec<Condition>,
    writes: Vec<(usize, u32)>,
    outcome: Outcome,
) -> Call {
    call(client, times, Op::Write { conditions, writes }, outcome)
}

fn both(client: usize, times: (u64, u64), values: [u32; 2]) -> Call {
    call(
        client,
        times,
        Op::Read(vec![0, 1]),
        Outcome::Values(values.to_vec()),
    )
}

#[track_caller]
fn accepts(calls: Vec<Call>) {
    let history = History {
        calls,
        ..History::default()
    };
    history.check().unwrap();
}

#[track_caller]
fn rejects(calls: Vec<Call>) {
    let history = History {
        calls,
        ..History::default()
    };
    let violation = history.check().unwrap_err();
    assert!(violation.why.contains("no order explains"));
}

#[test]
fn one_after_the_other_is_fine() {
    accepts(vec![
        put(0, (1, 2), 0, 1),
        read(1, (3, 4), 0, 1),
        put(0, (5, 6), 0, 2),
        read(1, (7, 8), 0, 2),
    ]);
    accepts(vec![]);
}

#[test]
fn a_read_during_a_write_may_see_either() {
    for seen in [0, 1] {
        accepts(vec![put(0, (1, 4), 0, 1), read(1, (2, 3), 0, seen)]);
    }
    rejects(vec![put(0, (1, 4), 0, 1), read(1, (2, 3), 0, 2)]);
}

#[test]
fn a_stale_read_is_wrong() {
    rejects(vec![
        put(0, (1, 2), 0, 1),
        put(0, (3, 4), 0, 2),
        read(1, (5, 6), 0, 1),
    ]);
    rejects(vec![put(0, (1, 2), 0, 1), read(1, (3, 4), 0, 0)]);
}

#[test]
fn a_read_does_not_go_back_behind_another() {
    // Both during the write: once one has seen it, a later one must too.
    let write = put(0, (1, 10), 0, 1);
    accepts(vec![
        write.clone(),
        read(1, (2, 3), 0, 0),
        read(2, (4, 5), 0, 1),
    ]);
    rejects(vec![write, read(1, (2, 3), 0, 1), read(2, (4, 5), 0, 0)]);
}

#[test]
fn two_clients_see_two_writes_in_one_order() {
    let writes = [put(0, (1, 20), 0, 1), put(1, (1, 20), 0, 2)];
    let one = [read(2, (2, 3), 0, 1), read(2, (4, 5), 0, 2)];
    let same = [read(3, (2, 3), 0, 1), read(3, (4, 5), 0, 2)];
    let other = [read(3, (2, 3), 0, 2), read(3, (4, 5), 0, 1)];
    accepts([&writes[..], &one, &same].concat());
    rejects([&writes[..], &one, &other].concat());
}

#[test]
fn a_lost_update_is_wrong() {
    let swap = |client, times, value| {
        write(
            client,
            times,
            vec![Condition::Is(0, 1)],
            vec![(0, value)],
            Outcome::Committed(None),
        )
    };
    let refused = |client, times, current| {
        write(
            client,
            times,
            vec![Condition::Is(0, 1)],
            vec![(0, 9)],
            Outcome::Conflict(0, current),
        )
    };
    accepts(vec![
        put(0, (1, 2), 0, 1),
        swap(0, (3, 6), 2),
        refused(1, (4, 5), 2),
    ]);
    // Both replaced the same value.
    rejects(vec![
        put(0, (1, 2), 0, 1),
        swap(0, (3, 6), 2),
        swap(1, (4, 5), 3),
    ]);
    // Refused although it held.
    rejects(vec![put(0, (1, 2), 0, 1), refused(1, (3, 4), 1)]);
    // Refused with a value that was never there.
    rejects(vec![
        put(0, (1, 2), 0, 1),
        swap(0, (3, 6), 2),
        refused(1, (4, 5), 7),
    ]);
    // An acknowledged write that is gone.
    rejects(vec![
        put(0, (1, 2), 0, 1),
        swap(0, (3, 4), 2),
        read(1, (5, 6), 0, 1),
    ]);
}

#[test]
fn two_creates_of_one_key_are_wrong() {
    let create = |client, value| {
        write(
            client,
            (1, 4),
            vec![Condition::Absent(0)],
            vec![(0, value)],
            Outcome::Committed(None),
        )
    };
    accepts(vec![create(0, 1)]);
    rejects(vec![create(0, 1), create(1, 2)]);
}

#[test]
fn half_a_transaction_is_wrong() {
    let txn = |outcome| write(0, (1, 4), vec![], vec![(0, 1), (1, 2)], outcome);
    for seen in [[0, 0], [1, 2]] {
        accepts(vec![
            txn(Outcome::Committed(Some(vec![0, 0]))),
            both(1, (2, 3), seen),
        ]);
        accepts(vec![txn(Outcome::Unknown), both(1, (2, 3), seen)]);
    }
    for seen in [[1, 0], [0, 2]] {
        rejects(vec![
            txn(Outcome::Committed(Some(vec![0, 0]))),
            both(1, (2, 3), seen),
        ]);
        rejects(vec![txn(Outcome::Unknown), both(1, (2, 3), seen)]);
    }
    // Key by key, one after the other.
    rejects(vec![
        txn(Outcome::Committed(None)),
        read(1, (2, 3), 0, 1),
        read(1, (5, 6), 1, 0),
    ]);
}

#[test]
fn writes_do_not_change_places() {
    // The first had returned before the second was invoked.
    rejects(vec![
        put(0, (1, 2), 0, 1),
        put(1, (3, 4), 0, 2),
        read(2, (5, 6), 0, 2),
        read(2, (7, 8), 0, 1),
    ]);
    rejects(vec![
        put(0, (1, 2), 0, 1),
        put(1, (3, 4), 1, 2),
        both(2, (1, 9), [0, 2]),
    ]);
    accepts(vec![
        put(0, (1, 4), 0, 1),
        put(1, (2, 3), 1, 2),
        both(2, (1, 9), [0, 2]),
    ]);
}

#[test]
fn previous_values_must_be_true() {
    let swap = |times, previous| {
        write(
            1,
            times,
            vec![],
            vec![(0, 2)],
            Outcome::Committed(Some(vec![previous])),
        )
    };
    accepts(vec![put(0, (1, 2), 0, 1), swap((3, 4), 1)]);
    rejects(vec![put(0, (1, 2), 0, 1), swap((3, 4), 0)]);
    accepts(vec![
        put(0, (1, 4), 0, 1),
        swap((2, 3), 0),
        read(0, (5, 6), 0, 1),
    ]);
}

#[test]
fn an_unknown_write_may_happen_late_or_never_but_only_once() {
    let unknown = write(0, (1, 2), vec![], vec![(0, 1)], Outcome::Unknown);
    accepts(vec![unknown.clone()]);
    accepts(vec![unknown.clone(), read(1, (3, 4), 0, 0)]);
    accepts(vec![
        unknown.clone(),
        read(1, (3, 4), 0, 0),
        read(1, (5, 6), 0, 1),
    ]);
    rejects(vec![
        unknown.clone(),
        read(1, (3, 4), 0, 1),
        read(1, (5, 6), 0, 0),
    ]);
    // Overwritten, it does not come back.
    let seen = [
        unknown.clone(),
        read(1, (3, 4), 0, 1),
        put(1, (5, 6), 0, 2),
        read(1, (7, 8), 0, 1),
    ];
    rejects(seen.to_vec());
    // Nor before it was asked for.
    let early = write(0, (5, 6), vec![], vec![(0, 1)], Outcome::Unknown);
    rejects(vec![read(1, (1, 2), 0, 1), early]);
    // Its condition counts when it happens.
    let guarded = write(
        0,
        (1, 2),
        vec![Condition::Is(0, 7)],
        vec![(0, 1)],
        Outcome::Unknown,
    );
    rejects(vec![guarded, read(1, (3, 4), 0, 1)]);
}

#[test]
fn an_answer_of_the_wrong_kind_is_wrong() {
    rejects(vec![call(
        0,
        (1, 2),
        Op::Read(vec![0]),
        Outcome::Committed(None),
    )]);
}

#[test]
fn the_state_before_counts() {
    let history = History {
        initial: [5, 0, 0, 0],
        calls: vec![read(0, (1, 2), 0, 5)],
    };
    history.check().unwrap();
    let history = History {
        initial: [0; KEYS],
        ..history
    };
    history.check().unwrap_err();
}

fn at(revision: Revision, call: Call) -> Call {
    Call {
        revision: Some(revision),
        ..call
    }
}

#[test]
fn revisions_must_tell_the_same_story() {
    let check = |calls: Vec<Call>| {
        History {
            calls,
            ..History::default()
        }
        .check_revisions()
    };
    let (one, two) = (put(0, (1, 2), 0, 1), put(1, (3, 4), 0, 2));
    check(vec![
        at(5, one.clone()),
        at(7, two.clone()),
        at(7, read(2, (5, 6), 0, 2)),
    ])
    .unwrap();
    // A snapshot may be older than its read began only if nothing was answered in between.
    check(vec![
        at(5, one.clone()),
        at(7, two.clone()),
        at(5, read(2, (3, 6), 0, 1)),
    ])
    .unwrap();
    check(vec![
        at(5, one.clone()),
        at(7, two.clone()),
        at(5, read(2, (5, 6), 0, 1)),
    ])
    .unwrap_err();
    // Against time.
    check(vec![at(7, one.clone()), at(5, two.clone())]).unwrap_err();
    // Given twice.
    check(vec![at(5, one.clone()), at(5, two.clone())]).unwrap_err();
    // Not what was there at that revision.
    check(vec![at(5, one), at(7, two), at(7, read(2, (5, 6), 0, 1))]).unwrap_err();
}

/// The answers of a map behind a lock are linearizable; with one answer changed they no longer are.
#[test]
fn a_long_history_is_searched_in_no_time() {
    let mut calls = Vec::new();
    let mut state: State = [0; KEYS];
    // Six clients, each call as long as six others.
    for number in 0..120_u64 {
        let key = usize::try_from(number % 4).unwrap();
        let times = (number, number + 6);
        let client = usize::try_from(number % 6).unwrap();
        if number % 3 == 0 {
            calls.push(read(client, times, key, state[key]));
        } else {
            let value = u32::try_from(number).unwrap() + 1;
            let previous = Outcome::Committed(Some(vec![state[key]]));
            calls.push(write(client, times, vec![], vec![(key, value)], previous));
            state[key] = value;
        }
    }
    accepts(calls.clone());
    calls[60].outcome = Outcome::Values(vec![1]);
    rejects(calls);
}
