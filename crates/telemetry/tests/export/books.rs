//! created = exported + dropped + failed, whatever the collector does.

use std::time::Duration;

use telemetry::export::{Place, Protocol, Settings, Target};
use testkit::collector::{Collector, Listen};

use crate::trace::{PATIENCE, Sender, report, settings, tcp};

const BOTH: [Protocol; 2] = [Protocol::Grpc, Protocol::HttpProtobuf];

/// Ends soon when nobody answers.
const SHORT: Duration = Duration::from_millis(100);

#[test]
fn a_good_collector_gets_everything() {
    for protocol in BOTH {
        let collector = Collector::start();
        let sender = Sender::new(tcp(&collector, protocol), 10_000, settings());
        for _ in 0..100 {
            assert!(sender.push(10));
        }
        assert_eq!(sender.finish(PATIENCE), report(1000, 0, 0));
        assert_eq!(collector.spans().len(), 1000);
        assert_eq!(collector.connections(), 1);
    }
}

#[test]
fn a_busy_collector_is_asked_again() {
    for protocol in BOTH {
        let collector = Collector::start();
        collector.behave(|it| it.fail = 2);
        let sender = Sender::new(tcp(&collector, protocol), 100, settings());
        assert!(sender.push(3));
        collector.wait_for(1);
        sender.settled();
        assert_eq!(collector.requests(), 3);
        assert_eq!(sender.finish(PATIENCE), report(3, 0, 0));
    }
}

#[test]
fn a_collector_says_when_to_come_again() {
    let collector = Collector::start();
    collector.behave(|it| {
        it.fail = 1;
        it.retry_after = Some(0);
    });
    let http = tcp(&collector, Protocol::HttpProtobuf);
    let sender = Sender::new(http.clone(), 100, settings());
    assert!(sender.push(1));
    collector.wait_for(1);
    sender.settled();
    assert_eq!(sender.finish(PATIENCE), report(1, 0, 0));
    // Later than anybody has patience for: it is not waited for at all.
    collector.behave(|it| {
        it.fail = 1;
        it.retry_after = Some(100_000);
    });
    let sender = Sender::new(http, 100, settings());
    assert!(sender.push(1));
    sender.settled();
    assert_eq!(collector.requests(), 3);
    assert_eq!(sender.finish(PATIENCE), report(0, 0, 1));
}

#[test]
fn what_is_refused_is_not_sent_again() {
    for protocol in BOTH {
        let collector = Collector::start();
        collector.behave(|it| it.refuse = true);
        let sender = Sender::new(tcp(&collector, protocol), 100, settings());
        assert!(sender.push(4));
        sender.settled();
        let trouble = sender.exporter.trouble().unwrap();
        assert!(trouble.contains("told to refuse"), "{trouble}");
        collector.behave(|it| it.refuse = false);
        assert!(sender.push(2));
        sender.settled();
        assert_eq!(sender.exporter.trouble(), None);
        assert_eq!(collector.requests(), 2);
        assert_eq!(sender.finish(PATIENCE), report(2, 0, 4));
    }
}

#[test]
fn what_a_collector_takes_in_part_is_counted_in_part() {
    for protocol in BOTH {
        let collector = Collector::start();
        collector.behave(|it| it.reject = 3);
        let sender = Sender::new(tcp(&collector, protocol), 100, settings());
        assert!(sender.push(10));
        sender.settled();
        // More than there are.
        assert!(sender.push(2));
        assert_eq!(sender.finish(PATIENCE), report(7, 0, 5));
    }
}

#[test]
fn a_slow_collector_costs_what_has_no_room() {
    let collector = Collector::start();
    collector.behave(|it| it.hold = true);
    let sender = Sender::new(tcp(&collector, Protocol::Grpc), 100, settings());
    assert!(sender.push(50));
    // The first batch is under way, and will be for as long as it is held.
    collector.wait_for_requests(1);
    let taken: u64 = (0..50).map(|_| u64::from(sender.push(7))).sum();
    assert_eq!(taken, 100 / 7);
    collector.behave(|it| it.hold = false);
    let exported = 50 + taken * 7;
    assert_eq!(
        sender.finish(PATIENCE),
        report(exported, 50 * 7 - taken * 7, 0)
    );
    assert_eq!(collector.spans().len() as u64, exported);
}

#[test]
fn an_end_does_not_wait_for_a_collector_that_hangs() {
    let collector = Collector::start();
    collector.behave(|it| it.hold = true);
    let sender = Sender::new(tcp(&collector, Protocol::Grpc), 1000, settings());
    assert!(sender.push(50));
    collector.wait_for_requests(1);
    for _ in 0..10 {
        assert!(sender.push(50));
    }
    // What is under way may have arrived or not; what waits was never sent.
    assert_eq!(sender.finish(SHORT), report(0, 500, 50));
}

#[test]
fn nobody_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.sock");
    let place = Place::Unix(path.display().to_string());
    let sender = Sender::new(Target::new(place, Protocol::Grpc), 1000, settings());
    for _ in 0..10 {
        assert!(sender.push(20));
    }
    sender.wait("it was tried", |it| {
        it.exporter.queue().numbers().created == 200
    });
    // At the end all is tried once more, and then counted.
    assert_eq!(sender.finish(PATIENCE), report(0, 0, 200));
}

#[test]
fn a_collector_that_comes_back_gets_what_waited() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("otel.sock");
    let listen = Listen::Socket(path.clone());
    let first = Collector::on(&listen, None);
    let place = Place::Unix(path.display().to_string());
    let sender = Sender::new(Target::new(place, Protocol::Grpc), 1000, settings());
    assert!(sender.push(5));
    first.wait_for(1);
    sender.settled();
    drop(first);
    assert!(sender.push(6));
    let second = Collector::on(&listen, None);
    second.wait_for(1);
    sender.settled();
    assert_eq!(sender.finish(PATIENCE), report(11, 0, 0));
    assert_eq!(second.spans().len(), 6);
}

#[test]
fn patience_ends() {
    let collector = Collector::start();
    collector.behave(|it| it.hold = true);
    let short = Settings {
        patience: SHORT,
        ..settings()
    };
    let sender = Sender::new(tcp(&collector, Protocol::Grpc), 1000, short);
    assert!(sender.push(5));
    sender.settled();
    let trouble = sender.exporter.trouble();
    assert_eq!(trouble.as_deref(), Some("context deadline exceeded"));
    assert_eq!(sender.finish(PATIENCE), report(0, 0, 5));
}

#[test]
fn an_attempt_that_takes_too_long_is_made_again() {
    let collector = Collector::start();
    collector.behave(|it| it.hold = true);
    let mut target = tcp(&collector, Protocol::Grpc);
    target.timeout = Duration::from_secs(1);
    let sender = Sender::new(target, 1000, settings());
    assert!(sender.push(5));
    collector.wait_for_requests(2);
    collector.behave(|it| it.hold = false);
    sender.settled();
    assert_eq!(sender.finish(PATIENCE), report(5, 0, 0));
}

#[test]
fn an_endless_answer_is_not_read_to_its_end() {
    for protocol in BOTH {
        let collector = Collector::start();
        collector.behave(|it| it.padding = 8 << 20);
        let short = Settings {
            patience: SHORT,
            ..settings()
        };
        let sender = Sender::new(tcp(&collector, protocol), 100, short);
        assert!(sender.push(1));
        sender.settled();
        assert_eq!(sender.finish(PATIENCE), report(0, 0, 1));
    }
}

#[test]
fn many_threads_under_a_collector_that_fails_now_and_then() {
    let collector = Collector::start();
    collector.behave(|it| {
        it.fail = 2;
        it.reject = 1;
    });
    let sender = Sender::new(tcp(&collector, Protocol::Grpc), 200, settings());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for index in 0..500 {
                    sender.push(index % 5 + 1);
                }
            });
        }
    });
    let created = sender.exporter.queue().numbers().created;
    assert_eq!(created, 4 * 100 * 15);
    let report = sender.finish(PATIENCE);
    assert_eq!(report.exported + report.dropped + report.failed, created);
    let arrived: usize = collector.received().iter().map(|it| it.spans().len()).sum();
    let messages = collector.received().len() as u64;
    assert_eq!(
        report.exported + messages,
        arrived as u64,
        "one of each is rejected"
    );
}
