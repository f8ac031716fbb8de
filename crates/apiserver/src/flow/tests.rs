//! Seats that are waited for, given back and taken again.

use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use auth::{Attributes, User};
use bytes::Bytes;
use flowcontrol::WorkEstimate;
use http::Method;
use http_body_util::BodyExt as _;
use json::json;
use telemetry::metrics::{Format, Registry, render};

use super::{Arriving, Changed, EntryRef, FlowControl, FlowSeat, Outcome, StreamSeat};
use crate::flow::debug;
use crate::flow::limiter::Limits;
use crate::flow::seat_slot::SeatSlot;
use crate::request::Query;
use crate::transport::body::{Body, Upcoming};

struct World {
    flow: Arc<FlowControl>,
    registry: Registry,
}

/// One seat for everybody, and queues of one request.
fn world() -> World {
    let limits = Limits {
        max_requests_inflight: 1,
        max_mutating_requests_inflight: 0,
        priority_and_fairness: true,
        max_slow_body_bytes: 256 << 20,
    };
    let registry = Registry::default();
    let flow = FlowControl::new(&limits, &registry).expect("it is on by default");
    let level = json!({
        "metadata": {"name": "narrow", "uid": "level-uid"},
        "spec": {
            "type": "Limited",
            "limited": {
                "nominalConcurrencyShares": 1000,
                "limitResponse": {
                    "type": "Queue",
                    "queuing": {"queues": 1, "handSize": 1, "queueLengthLimit": 1},
                },
                "borrowingLimitPercent": 0,
            },
        },
    });
    let rule = json!({
        "subjects": [{"kind": "Group", "group": {"name": "*"}}],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    });
    let schema = json!({
        "metadata": {"name": "all", "uid": "schema-uid"},
        "spec": {"priorityLevelConfiguration": {"name": "narrow"}, "matchingPrecedence": 2, "rules": [rule]},
    });
    flow.configure(Changed::Level("narrow", Some(&level)));
    flow.configure(Changed::Schema("all", Some(&schema)));
    World { flow, registry }
}

impl World {
    fn entry(&self) -> EntryRef {
        let user = User::new("jane", &["system:authenticated"]);
        let asked = Attributes::path(&user, "get", "/version");
        self.flow.classify(&asked).expect("a schema")
    }

    fn seat(&self) -> FlowSeat {
        match self.entry().start(arriving()) {
            Outcome::Seated(seat) => seat,
            other => panic!("{other:?}"),
        }
    }

    fn has(&self, line: &str) {
        let text = render(&self.registry, Format::Prometheus);
        assert!(text.contains(line), "{line} is not in\n{text}");
    }

    fn stream(&self, seat: FlowSeat) -> StreamSeat {
        StreamSeat::new(self.flow.shared.clone(), seat)
    }
}

fn arriving() -> Arriving {
    Arriving {
        work: WorkEstimate::seats(1),
        hash: 0,
        reads: true,
        is_watch: false,
        user: User::new("jane", &[]).into(),
        method: Method::GET,
        target: None,
    }
}

const FLOW: &str = "flow_schema=\"all\",priority_level=\"narrow\"";

#[tokio::test]
async fn a_request_waits_for_its_turn_and_a_full_queue_rejects() {
    let world = world();
    let first = world.seat();
    let Outcome::Waits(waiting) = world.entry().start(arriving()) else {
        panic!("there is one seat");
    };
    assert!(matches!(world.entry().start(arriving()), Outcome::Rejected));
    world.has(&format!(
        "apiserver_flowcontrol_current_inqueue_requests{{{FLOW}}} 1\n"
    ));
    let waits = tokio::spawn(waiting);
    tokio::task::yield_now().await;
    drop(first);
    let second = waits.await.expect("no panic");
    world.has(&format!(
        "apiserver_flowcontrol_current_executing_requests{{{FLOW}}} 1\n"
    ));
    drop(second);
    world.has(&format!(
        "apiserver_flowcontrol_dispatched_requests_total{{{FLOW}}} 2\n"
    ));
    world.has(&format!(
        "apiserver_flowcontrol_rejected_requests_total{{{FLOW},reason=\"queue-full\"}} 1\n"
    ));
    world.has(&format!(
        "apiserver_flowcontrol_current_executing_requests{{{FLOW}}} 0\n"
    ));
    world.has("apiserver_flowcontrol_nominal_limit_seats{priority_level=\"narrow\"} 1\n");
}

#[tokio::test]
async fn who_goes_away_leaves_the_queue() {
    let world = world();
    let first = world.seat();
    let Outcome::Waits(waiting) = world.entry().start(arriving()) else {
        panic!("there is one seat");
    };
    drop(waiting);
    world.has(&format!(
        "apiserver_flowcontrol_rejected_requests_total{{{FLOW},reason=\"time-out\"}} 1\n"
    ));
    // One that was dispatched and goes away before it knows leaves no seat behind.
    let Outcome::Waits(waiting) = world.entry().start(arriving()) else {
        panic!("there is one seat");
    };
    drop(first);
    drop(waiting);
    drop(world.seat());
}

#[tokio::test]
async fn a_seat_that_is_given_back_serves_another() {
    let world = world();
    let slot = SeatSlot::of(world.seat());
    assert!(slot.give_back());
    let other = world.seat();
    let refused = slot.take_again(Duration::from_millis(1)).await;
    assert_eq!(refused, Err(1));
    drop(other);
    let slot = SeatSlot::of(world.seat());
    slot.give_back();
    slot.take_again(Duration::ZERO).await.expect("it is free");
    assert!(matches!(world.entry().start(arriving()), Outcome::Waits(_)));
}

/// A list that its client does not read holds no seat, and waits for one before it goes on.
#[tokio::test]
async fn a_stalled_reader_gives_its_seat_back() {
    let world = world();
    let upcoming = Upcoming { next: 1, held: 0 };
    let mut body = Body::chunks(upcoming, |out| async move {
        for piece in ["a", "b", "c"] {
            out.send(Bytes::from_static(piece.as_bytes())).await;
        }
    });
    world.stream(world.seat()).follow(&mut body);
    let first = body.frame().await.expect("a piece").expect("no error");
    assert_eq!(first.data_ref().expect("data"), "a");
    world.flow.shared.streams.sweep(world.flow.shared.now());
    assert!(
        matches!(world.entry().start(arriving()), Outcome::Waits(_)),
        "it was just taken from"
    );
    world.flow.shared.streams.sweep(u64::MAX);
    let other = world.seat();
    let mut context = Context::from_waker(Waker::noop());
    let mut next = std::pin::pin!(body.frame());
    assert!(next.as_mut().poll(&mut context).is_pending());
    drop(other);
    let second = next.await.expect("a piece").expect("no error");
    assert_eq!(second.data_ref().expect("data"), "b");
    assert!(matches!(world.entry().start(arriving()), Outcome::Waits(_)));
    assert_eq!(body.collect().await.expect("no error").to_bytes(), "c");
    drop(world.seat());
}

/// Requests that a level has when its object goes are served to their end.
#[tokio::test]
async fn a_level_that_goes_finishes_what_it_has() {
    let world = world();
    let (first, entry) = (world.seat(), world.entry());
    let Outcome::Waits(waiting) = entry.start(arriving()) else {
        panic!("there is one seat");
    };
    world.flow.configure(Changed::Level("narrow", None));
    assert_eq!(world.entry().schema.name, "catch-all");
    let waits = tokio::spawn(waiting);
    drop(first);
    drop(waits.await.expect("no panic"));
    world.flow.adjust();
    let text = render(&world.registry, Format::Prometheus);
    assert!(
        !text.contains("limit_seats{priority_level=\"narrow\"}"),
        "{text}"
    );
}

#[tokio::test]
async fn what_is_exempt_never_waits() {
    let world = world();
    let admin = User::new("admin", &["system:masters"]);
    let entry = world.flow.classify(&Attributes::path(&admin, "get", "/"));
    let entry = entry.expect("a schema");
    assert!(entry.level.is_exempt);
    let all: Vec<_> = (0..100).map(|_| entry.start(arriving())).collect();
    assert!(all.iter().all(|it| matches!(it, Outcome::Seated(_))));
    world.has("apiserver_flowcontrol_current_executing_seats{flow_schema=\"exempt\",priority_level=\"exempt\"} 100\n");
    drop(all);
    world.has("apiserver_flowcontrol_current_executing_requests{flow_schema=\"exempt\",priority_level=\"exempt\"} 0\n");
}

#[tokio::test]
async fn exempt_requests_that_wait_are_listed() {
    let world = world();
    let admin = User::new("admin", &["system:masters"]);
    let entry = world.flow.classify(&Attributes::path(&admin, "get", "/"));
    let entry = entry.expect("a schema");
    let list = || {
        let query = Query::parse(Some("includeRequestDetails=1"));
        debug::dump(&world.flow, &query, "dump_requests").expect("a table")
    };
    let Outcome::Seated(mut seat) = entry.start(arriving()) else {
        panic!("nobody waits there");
    };
    assert!(!list().contains("exempt"), "{}", list());
    for _ in 0..2 {
        seat.list(arriving);
        let table = list();
        let rows: Vec<_> = table.lines().filter(|it| it.contains("exempt")).collect();
        assert_eq!(rows.len(), 1, "{table}");
        let cells: Vec<_> = rows[0].split(',').map(str::trim).collect();
        assert_eq!(cells[..5], ["exempt", "exempt", "-1", "-1", ""], "{table}");
        assert_eq!(cells[5], cells[9], "{table}");
    }
    drop(seat);
    assert!(!list().contains("exempt"), "{}", list());
    // Requests of other levels are in the table already.
    let mut seat = world.seat();
    let before = list().lines().count();
    seat.list(arriving);
    assert_eq!(list().lines().count(), before);
}
