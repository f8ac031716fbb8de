use super::*;
use crate::otlp::Spans;
use crate::protobuf::{self, Message};

/// A span with a body of so many bytes.
pub(crate) fn span(trace: u128, id: u64, parent: u64, name: &str, times: (u64, u64)) -> Message {
    let mut span = Message::default();
    span.bytes(1, &trace.to_be_bytes());
    span.bytes(2, &id.to_be_bytes());
    if parent != 0 {
        span.bytes(4, &parent.to_be_bytes());
    }
    span.text(5, name);
    span.fixed64(7, times.0);
    span.fixed64(8, times.1);
    span
}

fn piece(spans: &[Message]) -> Piece {
    let mut scope = Message::default();
    scope.message(2, |scope| {
        for span in spans {
            scope.bytes(2, &span.0);
        }
    });
    let read = Spans::read(&scope.0).unwrap();
    let glances = read.all.iter().map(|(_, span)| span);
    Piece::new(Arc::from(&b""[..]), Arc::from(&*scope.0), glances)
}

fn one(trace: u128, name: &str, duration: u64, is_error: bool) -> Piece {
    let mut span = span(trace, 1, 0, name, (1000, 1000 + duration));
    if is_error {
        span.message(15, |status| status.number(3, 2));
    }
    piece(&[span])
}

fn id(trace: u128) -> Id {
    trace.to_be_bytes()
}

/// All that must hold at any time.
#[track_caller]
fn check(ring: &Ring) {
    let sum = |share: Option<Share>| {
        let all = ring.traces.values();
        let all = all.filter(|it| share.is_none_or(|share| it.share == share));
        all.map(|it| it.kept.size).sum::<usize>()
    };
    assert_eq!(ring.bytes, sum(None));
    assert_eq!(ring.error_bytes, sum(Some(Share::Errors)));
    assert_eq!(ring.slow_bytes, sum(Some(Share::Slowest)));
    assert!(
        ring.bytes <= ring.capacity,
        "{} of {}",
        ring.bytes,
        ring.capacity
    );
    assert!(ring.error_bytes.max(ring.slow_bytes) <= ring.share());
    let known = ring.newest.len() + ring.errors.len() + ring.turns.len();
    assert_eq!(known, ring.traces.len());
    let slow: usize = ring.slowest.values().map(Vec::len).sum();
    assert_eq!(slow, ring.turns.len());
    assert!(
        ring.slowest
            .values()
            .all(|it| (1..=SLOWEST).contains(&it.len()))
    );
    // What is counted is no less than what is held.
    for entry in ring.traces.values() {
        let held = entry.kept.pieces.iter();
        let held: usize = held.map(|it| it.head.len() + it.scope_spans.len()).sum();
        assert!(held < entry.kept.size);
    }
}

/// As random as a test can be.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

#[test]
fn bytes_are_bounded_whatever_comes() {
    let mut evicted = 0;
    for seed in 1..40 {
        let mut chance = Chance(0x9e37_79b9_7f4a_7c15 ^ seed);
        let capacity = (16 << 10) << chance.below(5);
        let mut ring = Ring::new(usize::try_from(capacity).unwrap());
        let begun = Instant::now();
        let (mut taken, mut refused) = (0_u64, 0_u64);
        for step in 0..400 {
            // Often the same trace, with some spans twice.
            let trace = u128::from(chance.below(60) + 1 + step / 8);
            let names = 1 << chance.below(6);
            let name = format!("name {}", chance.below(names));
            let spans: Vec<_> = (0..=chance.below(5))
                .map(|_| {
                    let (start, length) = (chance.below(1000), chance.below(5000));
                    let mut span = span(
                        trace,
                        chance.below(12) + 1,
                        chance.below(3),
                        &name,
                        (start, start + length),
                    );
                    let text = "x".repeat(usize::try_from(chance.below(300)).unwrap());
                    protobuf::attribute(&mut span, 9, "text", &text);
                    if chance.below(20) == 0 {
                        span.message(15, |status| status.number(3, 2));
                    }
                    span
                })
                .collect();
            let now = begun + Duration::from_secs(step * 60);
            if ring.keep(id(trace), piece(&spans), now) {
                taken += 1;
            } else {
                refused += 1;
            }
            check(&ring);
        }
        assert!(taken > 0, "seed {seed}: {refused} refused");
        evicted += ring.numbers().evicted;
    }
    assert!(evicted > 1000, "{evicted}");
}

/// Some that failed or were slow outlive a flood of those that did not.
#[test]
fn errors_and_the_slowest_are_kept_longer() {
    let mut ring = Ring::new(64 << 10);
    let now = Instant::now();
    assert!(ring.keep(id(1), one(1, "a", 5, true), now));
    assert!(ring.keep(id(2), one(2, "a", 9_000_000, false), now));
    assert!(ring.keep(id(3), one(3, "b", 7, false), now));
    assert!(ring.keep(id(4), one(4, "a", 5, false), now));
    for trace in 100..5000 {
        assert!(ring.keep(id(trace), one(trace, "a", 10, false), now));
    }
    check(&ring);
    let is_there = |trace| ring.get(id(trace)).is_some();
    assert!(is_there(1), "it failed");
    assert!(is_there(2), "the slowest of a");
    assert!(is_there(3), "the slowest of b, however fast");
    assert!(!is_there(4) && !is_there(200), "as all the others");
    assert!(is_there(4999));
    let numbers = ring.numbers();
    assert_eq!((numbers.errors, numbers.slowest), (1, 9));
    assert_eq!(
        numbers.newest + numbers.errors + numbers.slowest + numbers.evicted,
        4904
    );
}

/// A flood of failures does not drive out the newest, nor the slowest.
#[test]
fn shares_are_held() {
    let mut ring = Ring::new(64 << 10);
    let now = Instant::now();
    assert!(ring.keep(id(1), one(1, "slow", 1 << 40, false), now));
    for trace in 100..3000 {
        assert!(ring.keep(id(trace), one(trace, "a", 1, true), now));
    }
    assert!(ring.get(id(1)).is_some());
    assert!(ring.get(id(2999)).is_some());
    assert!(ring.get(id(100)).is_none());
    assert!(ring.bytes > ring.capacity * 9 / 10, "what is free is used");
}

#[test]
fn who_was_slow_long_ago_makes_room() {
    let mut ring = Ring::new(64 << 10);
    let begun = Instant::now();
    for trace in 1..=8 {
        assert!(ring.keep(id(trace), one(trace, "a", 1 << 40, false), begun));
    }
    let flood = |ring: &mut Ring, from: u128, now: Instant| {
        for trace in from..from + 1000 {
            assert!(ring.keep(id(trace), one(trace, "a", 10, false), now));
        }
        (1..=8).filter(|it| ring.get(id(*it)).is_some()).count()
    };
    assert_eq!(flood(&mut ring, 1000, begun + STALE), 8);
    assert_eq!(flood(&mut ring, 2000, begun + STALE * 2), 0);
}

#[test]
fn a_trace_that_is_too_large_is_refused_and_nothing_else_suffers() {
    let mut ring = Ring::new(64 << 10);
    let now = Instant::now();
    assert!(ring.keep(id(1), one(1, "a", 1, false), now));
    let large = one(2, &"x".repeat(8 << 10), 1, false);
    assert!(!ring.keep(id(2), large, now));
    let mut joined = 0;
    for span_id in 2..1000 {
        let more = piece(&[span(1, span_id, 1, "child", (1, 2))]);
        joined += u32::from(ring.keep(id(1), more, now));
    }
    assert!((2..900).contains(&joined), "{joined}");
    assert_eq!(ring.get(id(1)).unwrap().spans(), joined as usize + 1);
    check(&ring);
}
