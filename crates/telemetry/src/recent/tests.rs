use super::*;
use crate::export::{Queue, Resource};
use crate::otlp::Span;
use crate::protobuf::{self, Message};
use crate::recent::ring::tests::span;
use crate::trace::{Attributes, Describe, Incoming, Name, Role, Sampling, Tracer, Trust, now};

const TRACE: u128 = 0x5b8e_fff7_9803_8103_d269_b633_813f_c60c;

/// A request with spans of one service.
fn request(service: &str, spans: &[Message]) -> Vec<u8> {
    let mut request = Message::default();
    request.message(1, |it| {
        it.message(1, |resource| {
            protobuf::attribute(resource, 1, "service.name", service);
        });
        it.message(2, |scope| {
            scope.message(1, |it| it.text(1, "lib"));
            for span in spans {
                scope.bytes(2, &span.0);
            }
        });
    });
    request.0
}

fn recent() -> Recent {
    Recent::new(1 << 20)
}

fn search(recent: &Recent, pairs: &[(&str, &str)]) -> Vec<json::Value> {
    let pairs: Vec<_> = pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    let query = Query::parse(&pairs).unwrap();
    let (found, matched) = recent.search(&query);
    assert!(found.len() <= matched);
    found.iter().map(Summary::to_value).collect()
}

fn spans(recent: &Recent, trace: u128) -> Vec<Span> {
    let found = recent.get(TraceId::new(trace).unwrap()).unwrap();
    let all = otlp::request(&found.to_protobuf()).unwrap();
    all.into_iter().flat_map(|it| it.spans).collect()
}

#[test]
fn senders_join_and_repeat_themselves() {
    let recent = recent();
    let child = span(TRACE, 2, 1, "inner", (150, 180));
    let other = span(7, 3, 0, "other", (1, 2));
    let first = request("hook", &[child, other]);
    assert_eq!(recent.receive(&first).unwrap(), Taken::default());
    let found = search(&recent, &[("traceID", &format!("{TRACE:032x}"))]);
    assert_eq!(found[0].get("partial"), Some(&true.into()));
    assert_eq!(found[0].str_at(&["rootTraceName"]), Some("inner"));
    // Its beginning comes later, from somebody else; and the first sends again, with more.
    let root = span(TRACE, 1, 0, "POST", (100, 200));
    recent.receive(&request("apiserver", &[root])).unwrap();
    let again = [
        span(TRACE, 2, 1, "inner", (150, 180)),
        span(TRACE, 4, 2, "more", (160, 250)),
    ];
    recent.receive(&request("hook", &again)).unwrap();
    let found = search(&recent, &[("traceID", &format!("{TRACE:032X}"))]);
    let expected = r#"{"traceID":"5b8efff798038103d269b633813fc60c","rootServiceName":"apiserver","rootTraceName":"POST","startTimeUnixNano":"100","durationMs":0,"durationNano":"150","spanCount":3,"errorCount":0}"#;
    assert_eq!(json::to_string(&found[0]), expected);
    let mut names: Vec<_> = spans(&recent, TRACE)
        .into_iter()
        .map(|it| it.name)
        .collect();
    names.sort();
    assert_eq!(names, ["POST", "inner", "more"]);
    assert_eq!(spans(&recent, 7)[0].scope, "lib");
    let numbers = recent.numbers();
    assert_eq!((numbers.newest, numbers.received_spans), (2, 5));
}

#[test]
fn spans_without_ids_are_refused_alone() {
    let recent = recent();
    let mut short = Message::default();
    short.bytes(1, b"short");
    let all = [
        span(TRACE, 1, 0, "a", (1, 2)),
        span(0, 1, 0, "b", (1, 2)),
        span(TRACE, 0, 0, "c", (1, 2)),
        short,
    ];
    let taken = recent.receive(&request("x", &all)).unwrap();
    assert_eq!(taken.rejected, 3);
    assert_eq!(spans(&recent, TRACE).len(), 1);
    assert!(recent.receive(b"\x0a\x05abc").is_err());
    let empty: Vec<_> = (0..70_000).map(|_| Message::default()).collect();
    let many = request("x", &empty);
    assert!(matches!(recent.receive(&many), Err(otlp::Error::Many(_))));
    assert_eq!(recent.numbers().received_spans, 1);
}

#[test]
fn what_is_looked_for_is_found() {
    let recent = recent();
    for (trace, name, nanos) in [(1, "GET", 10), (2, "POST", 2_000_000_000), (3, "GET", 500)] {
        let start = u64::try_from(trace).unwrap() * 1000;
        let mut root = span(trace, 1, 0, name, (start, start + nanos));
        protobuf::attribute(&mut root, 9, "audit-id", &format!("audit-{trace}"));
        protobuf::attribute(&mut root, 9, "resource", "pods");
        root.message(9, |pair| {
            pair.text(1, "http.response.status_code");
            pair.message(2, |any| any.number(3, 200 + u64::try_from(trace).unwrap()));
        });
        let mut child = span(trace, 2, 1, "store.commit", (start, start));
        protobuf::attribute(&mut child, 9, "verb", "x");
        if trace == 3 {
            child.message(15, |status| status.number(3, 2));
        }
        recent
            .receive(&request("apiserver", &[root, child]))
            .unwrap();
    }
    let ids = |pairs: &[(&str, &str)]| -> Vec<String> {
        let found = search(&recent, pairs).into_iter();
        let id = |it: json::Value| it.str_at(&["traceID"]).unwrap()[31..].to_owned();
        found.map(id).collect()
    };
    for (pairs, expected) in [
        (&[][..], &["3", "2", "1"][..]),
        (&[("sort", "duration")], &["2", "3", "1"]),
        (&[("limit", "1")], &["3"]),
        (&[("name", "GET")], &["3", "1"]),
        (&[("name", "commit")], &["3", "2", "1"]),
        (&[("name", "none")], &[]),
        (&[("error", "true")], &["3"]),
        (&[("error", "false")], &["2", "1"]),
        (&[("minDuration", "1s")], &["2"]),
        (&[("maxDuration", "500ns")], &["3", "1"]),
        (&[("auditID", "audit-2")], &["2"]),
        (&[("attribute", "resource=pods"), ("name", "POST")], &["2"]),
        (&[("attribute", "http.response.status_code=203")], &["3"]),
        (
            &[("attribute", "service.name=apiserver"), ("error", "1")],
            &["3"],
        ),
        // Of one span, not one here and one there.
        (
            &[("attribute", "resource=pods"), ("attribute", "verb=x")],
            &[],
        ),
        (&[("attribute", "verb=x"), ("name", "GET")], &["3", "1"]),
        (
            &[
                ("traceID", "00000000000000000000000000000001"),
                ("name", "POST"),
            ],
            &[],
        ),
    ] {
        assert_eq!(ids(pairs), expected, "{pairs:?}");
    }
    let found = &search(&recent, &[("auditID", "audit-1")])[0];
    assert_eq!(
        found.get("statusCode").and_then(json::Value::as_i64),
        Some(201)
    );
    assert_eq!(found.str_at(&["auditID"]), Some("audit-1"));
}

#[test]
fn a_bad_parameter_is_named() {
    for (key, value, expected) in [
        (
            "minDuration",
            "5",
            r#"invalid value "5" of parameter minDuration: write it like 300ms"#,
        ),
        (
            "maxDuration",
            "x",
            "invalid value \"x\" of parameter maxDuration",
        ),
        ("error", "maybe", "of parameter error: it is true or false"),
        (
            "traceID",
            "12",
            "of parameter traceID: it has 32 hexadecimal digits",
        ),
        (
            "traceID",
            "00000000000000000000000000000000",
            "of parameter traceID",
        ),
        ("limit", "0", "of parameter limit: it is from 1 to 1000"),
        ("limit", "1001", "of parameter limit"),
        ("limit", "-1", "of parameter limit"),
        (
            "attribute",
            "a",
            "of parameter attribute: write it like key=value",
        ),
        ("attribute", "=a", "of parameter attribute"),
        ("sort", "name", "of parameter sort: it is start or duration"),
        (
            "minduration",
            "1s",
            "unknown parameter \"minduration\": there are name, attribute, minDuration",
        ),
    ] {
        let error = Query::parse(&[(key.into(), value.into())]).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[derive(Debug)]
struct Named(&'static str);

impl Describe for Named {
    fn name(&self, out: &mut Name<'_>) {
        out.push(self.0);
    }

    fn attributes(&self, _role: Role, out: &mut Attributes<'_>) {
        out.text("audit-id", "a");
    }
}

fn tracer() -> (Tracer, Arc<Queue>) {
    let queue = Arc::new(Queue::new(1000));
    let tracer = Tracer::new(queue.clone());
    tracer.set(Some(Sampling {
        per_million: 1_000_000,
    }));
    (tracer, queue)
}

fn record(tracer: &Tracer, name: &'static str) {
    let mut trace = tracer.request();
    trace.enter(|| {
        tracer.begin(Incoming::default(), Trust::Nobody, "", now());
        let _span = crate::trace::span("inner");
    });
    trace.finish(|| Named(name));
}

#[test]
fn our_own_are_there_as_soon_as_they_are_finished() {
    let (tracer, queue) = tracer();
    let recent = recent();
    let resource = Resource::new("apiserver", "one", None);
    recent.follow(Source::new(queue.clone(), &resource, None));
    record(&tracer, "GET");
    let found = search(&recent, &[]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].str_at(&["rootServiceName"]), Some("apiserver"));
    assert_eq!(found[0].str_at(&["auditID"]), Some("a"));
    assert_eq!(
        found[0].get("spanCount").and_then(json::Value::as_i64),
        Some(2)
    );
    let numbers = queue.numbers();
    assert_eq!(
        (numbers.created, numbers.exported, numbers.waiting()),
        (2, 2, 0)
    );
    assert_eq!(recent.numbers().own_spans, 2);
}

/// What goes on to a collector is in the books of the first queue, whatever the ring does with it.
#[test]
fn the_books_are_carried_over() {
    let (tracer, queue) = tracer();
    let recent = recent();
    let resource = Resource::new("apiserver", "one", None);
    let onward = Arc::new(Queue::new(5));
    recent.follow(Source::new(queue.clone(), &resource, Some(onward.clone())));
    for _ in 0..4 {
        record(&tracer, "GET");
    }
    recent.refresh();
    // Two of them have room to go on.
    assert_eq!(queue.numbers().waiting(), 4);
    assert_eq!(queue.numbers().dropped, 4);
    let chunk = onward.pop().unwrap();
    let items: Vec<_> = chunk.items().collect();
    assert_eq!((items.len(), chunk.spans()), (2, 4));
    for (bytes, spans) in items {
        assert_eq!((otlp::scope_spans(bytes).unwrap().len(), spans), (2, 2));
    }
    onward.settle(1, 1, 0);
    recent.refresh();
    recent.refresh();
    let numbers = queue.numbers();
    assert_eq!(
        (
            numbers.exported,
            numbers.failed,
            numbers.dropped,
            numbers.waiting()
        ),
        (1, 1, 4, 2)
    );
    assert_eq!(search(&recent, &[]).len(), 4);
}

#[test]
fn a_keeper_leaves_nothing_behind() {
    let (tracer, queue) = tracer();
    let recent = Arc::new(recent());
    let resource = Resource::new("apiserver", "one", None);
    recent.follow(Source::new(queue.clone(), &resource, None));
    let keeper = Keeper::start(recent.clone()).unwrap();
    for _ in 0..50 {
        record(&tracer, "GET");
    }
    keeper.stop(std::time::Duration::from_secs(600));
    record(&tracer, "too late");
    let numbers = queue.numbers();
    assert_eq!(
        (numbers.exported, numbers.dropped, numbers.waiting()),
        (100, 2, 0)
    );
    assert_eq!(recent.numbers().own_spans, 100);
}

/// A stop takes no longer than it may: what there is no time for is in the books.
#[test]
fn a_keeper_in_a_hurry_counts_what_it_leaves() {
    let (tracer, queue) = tracer();
    let recent = Arc::new(recent());
    let resource = Resource::new("apiserver", "one", None);
    recent.follow(Source::new(queue.clone(), &resource, None));
    for _ in 0..50 {
        record(&tracer, "GET");
    }
    recent.finish(Instant::now());
    let numbers = queue.numbers();
    assert_eq!(
        (numbers.exported, numbers.dropped, numbers.waiting()),
        (0, 100, 0)
    );
}
