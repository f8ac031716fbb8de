//! What a set does request by request.

use super::{Finished, QueueSet, Rejection, Started, Ticket};
use crate::config::Queuing;
use crate::shuffle::Dealer;
use crate::{Nanos, WorkEstimate};

const MS: Nanos = 1_000_000;

type Set = QueueSet<&'static str>;

fn configured(queues: u32, hand: u32, length: u32, limit: u32) -> Set {
    let mut set = QueueSet::new(0);
    configure(&mut set, queues, hand, length, limit, 0);
    set
}

fn configure(
    set: &mut Set,
    queues: u32,
    hand: u32,
    length: u32,
    limit: u32,
    now: Nanos,
) -> Vec<&'static str> {
    let queuing = (queues > 0).then(|| {
        let queuing = Queuing {
            queues,
            hand_size: hand,
            queue_length_limit: length,
        };
        (
            queuing,
            Dealer::new(queues as usize, hand as usize).unwrap(),
        )
    });
    let mut woken = Vec::new();
    set.configure(queuing, limit, limit, now, &mut |it| woken.push(*it));
    woken
}

fn start(set: &mut Set, name: &'static str, seats: u32, hash: u64, now: Nanos) -> Started {
    set.start(WorkEstimate::seats(seats), hash, 0, name, now, &mut |_| {})
}

fn executing(set: &mut Set, name: &'static str, seats: u32, hash: u64, now: Nanos) -> Ticket {
    match start(set, name, seats, hash, now) {
        Started::Executing(ticket) => ticket,
        other => panic!("{name}: {other:?}"),
    }
}

fn waiting(set: &mut Set, name: &'static str, seats: u32, hash: u64, now: Nanos) -> Ticket {
    match start(set, name, seats, hash, now) {
        Started::Waiting(ticket) => ticket,
        other => panic!("{name}: {other:?}"),
    }
}

fn finish(set: &mut Set, ticket: Ticket, now: Nanos) -> Vec<&'static str> {
    let mut woken = Vec::new();
    set.finish(ticket, now, &mut |it| woken.push(*it));
    woken
}

#[test]
fn a_full_queue_rejects_and_others_do_not() {
    let mut set = configured(2, 1, 2, 1);
    let first = executing(&mut set, "first", 1, 0, 0);
    waiting(&mut set, "a", 1, 0, 0);
    waiting(&mut set, "b", 1, 0, 0);
    assert_eq!(
        start(&mut set, "c", 1, 0, 0),
        Started::Rejected(Rejection::QueueFull)
    );
    waiting(&mut set, "other", 1, 1, 0);
    assert_eq!(finish(&mut set, first, MS), ["other"]);
    let totals = set.totals();
    assert_eq!(
        (totals.waiting, totals.executing, totals.rejected),
        (2, 1, 1)
    );
}

#[test]
fn without_queues_the_limit_rejects() {
    let mut set = configured(0, 0, 0, 2);
    let one = executing(&mut set, "one", 1, 0, 0);
    executing(&mut set, "two", 1, 0, 0);
    assert_eq!(
        start(&mut set, "three", 1, 0, 0),
        Started::Rejected(Rejection::ConcurrencyLimit)
    );
    finish(&mut set, one, 1);
    executing(&mut set, "three", 1, 0, 1);
    assert_eq!(set.dump_without_queue().len(), 2);
}

#[test]
fn a_request_that_is_cancelled_is_not_dispatched() {
    let mut set = configured(11, 1, 11, 1);
    let first = executing(&mut set, "first", 1, 1, 0);
    let second = waiting(&mut set, "second", 1, 2, 0);
    waiting(&mut set, "third", 1, 2, 0);
    assert!(set.cancel(second, MS));
    assert!(!set.cancel(second, MS), "it is gone");
    assert!(!set.cancel(first, MS), "it executes");
    assert_eq!(finish(&mut set, first, 2 * MS), ["third"]);
    let totals = set.totals();
    assert_eq!(
        (totals.cancelled, totals.rejected, totals.seats_waiting),
        (1, 1, 0)
    );
    assert_eq!(set.counts(0).waiting, 0);
}

/// Nobody else is dispatched while the next one waits for more seats than are free.
#[test]
fn a_wide_request_is_not_overtaken() {
    let mut set = configured(2, 1, 9, 10);
    let first = executing(&mut set, "first", 6, 0, 0);
    waiting(&mut set, "wide", 5, 0, 0);
    waiting(&mut set, "small", 1, 0, 0);
    assert_eq!(set.counts(0).no_accommodation, 2);
    assert_eq!(finish(&mut set, first, MS), ["wide", "small"]);
    let mut set = configured(2, 1, 9, 3);
    let first = executing(&mut set, "first", 1, 0, 0);
    waiting(&mut set, "wider than all", 7, 0, 0);
    assert_eq!(finish(&mut set, first, MS), ["wider than all"]);
    assert_eq!(set.totals().seats_in_use, 7);
}

#[test]
fn seats_stay_taken_after_the_end() {
    let mut set = configured(2, 1, 9, 10);
    let work = WorkEstimate {
        initial_seats: 1,
        final_seats: 10,
        additional_latency: 5 * MS,
    };
    let Started::Executing(ticket) = set.start(work, 0, 0, "write", 0, &mut |_| {}) else {
        panic!("there is room");
    };
    waiting(&mut set, "next", 1, 1, 0);
    let mut woken = Vec::new();
    let finished = set.finish(ticket, MS, &mut |it| woken.push(*it));
    assert_eq!(
        (finished, set.totals().executing),
        (Finished::Lingering(5 * MS), 0)
    );
    assert!(woken.is_empty());
    set.release(ticket, 6 * MS, &mut |it| woken.push(*it));
    assert_eq!(woken, ["next"]);
    set.release(ticket, 6 * MS, &mut |_| {});
    assert_eq!(set.totals().seats_in_use, 1);
}

#[test]
fn who_gives_its_seats_back_does_not_linger() {
    let mut set = configured(2, 1, 9, 10);
    let work = WorkEstimate {
        initial_seats: 1,
        final_seats: 10,
        additional_latency: 5 * MS,
    };
    let Started::Executing(ticket) = set.start(work, 0, 0, "slow", 0, &mut |_| {}) else {
        panic!("there is room");
    };
    waiting(&mut set, "next", 1, 1, 0);
    let mut woken = Vec::new();
    set.give_back(ticket, MS, &mut |it| woken.push(*it));
    assert_eq!((woken, set.totals().seats_in_use), (vec!["next"], 1));
}

/// More final seats than there are become fewer for longer.
#[test]
fn final_seats_fit_the_limit() {
    let mut set = configured(1, 1, 9, 4);
    let work = WorkEstimate {
        initial_seats: 1,
        final_seats: 8,
        additional_latency: 5 * MS,
    };
    let Started::Executing(ticket) = set.start(work, 0, 0, "write", 0, &mut |_| {}) else {
        panic!("nothing else executes");
    };
    assert_eq!(
        (set.totals().seats_in_use, set.totals().seats_waiting),
        (4, 0)
    );
    assert_eq!(
        set.finish(ticket, MS, &mut |_| {}),
        Finished::Lingering(10 * MS)
    );
}

#[test]
fn more_seats_dispatch_what_waits() {
    let mut set = configured(4, 1, 9, 1);
    executing(&mut set, "first", 1, 0, 0);
    waiting(&mut set, "a", 1, 1, 0);
    waiting(&mut set, "b", 1, 2, 0);
    assert_eq!(configure(&mut set, 4, 1, 9, 3, MS), ["a", "b"]);
}

#[test]
fn queues_that_are_too_many_drain() {
    let mut set = configured(8, 1, 9, 1);
    let first = executing(&mut set, "first", 1, 7, 0);
    let last = waiting(&mut set, "last", 1, 7, 0);
    let low = waiting(&mut set, "low", 1, 1, 0);
    configure(&mut set, 2, 1, 9, 1, MS);
    assert_eq!(set.dump().len(), 8);
    finish(&mut set, first, 2 * MS);
    let second = if set.is_executing(last) { last } else { low };
    finish(&mut set, second, 3 * MS);
    let third = if second == last { low } else { last };
    finish(&mut set, third, 4 * MS);
    assert!(set.is_idle());
    assert_eq!(
        set.dump().len(),
        6,
        "those that were empty go with the next configuration"
    );
    configure(&mut set, 2, 1, 9, 1, 5 * MS);
    assert_eq!(set.dump().len(), 2);
    executing(&mut set, "again", 1, 1, 6 * MS);
    configure(&mut set, 0, 0, 0, 1, 7 * MS);
    assert_eq!(
        start(&mut set, "no", 1, 0, 7 * MS),
        Started::Rejected(Rejection::ConcurrencyLimit)
    );
}

/// A queue that has had less goes first.
#[test]
fn turns_alternate_between_queues() {
    let mut set = configured(2, 1, 50, 1);
    let mut current = executing(&mut set, "start", 1, 0, 0);
    for _ in 0..4 {
        waiting(&mut set, "a", 1, 0, 0);
        waiting(&mut set, "b", 1, 1, 0);
    }
    let mut order: Vec<&str> = Vec::new();
    for turn in 1..=8 {
        let now = turn * 3 * MS;
        let woken = finish(&mut set, current, now);
        order.extend(&woken);
        let all = set.dump();
        let executing = all.iter().flat_map(|it| &it.executing).count();
        assert_eq!(executing, 1);
        current = set.requests.ticket_of_executing().unwrap();
    }
    assert_eq!(order, ["b", "a", "b", "a", "b", "a", "b", "a"]);
}
