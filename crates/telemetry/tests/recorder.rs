//! What is recorded, as it comes out at the other end.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use telemetry::context::TraceContext;
use telemetry::export::Queue;
use telemetry::otlp::{self, Span, Value};
use telemetry::trace::{
    self, Attributes, Carried, Describe, Incoming, Name, Role, Sampling, Scope, Tracer, Trust,
};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

struct Request;

impl Describe for Request {
    fn name(&self, out: &mut Name<'_>) {
        out.push("GET ");
        out.push("/x");
    }

    fn attributes(&self, role: Role, out: &mut Attributes<'_>) {
        match role {
            Role::Server => out.text("url.path", "/x"),
            Role::Handler => out.text("verb", "get"),
            Role::Stored => out.text("audit-id", "a"),
            _ => {}
        }
    }
}

fn tracer(per_million: u32) -> Tracer {
    let tracer = Tracer::new(Arc::new(Queue::new(10_000)));
    tracer.set(Some(Sampling { per_million }));
    tracer
}

fn incoming() -> Incoming {
    Incoming {
        context: TraceContext::parse(PARENT.as_bytes()),
        baggage: Some("a=1".into()),
    }
}

/// Runs a request and gives what was recorded of it.
fn record(tracer: &Tracer, incoming: Incoming, trust: Trust, act: impl FnOnce()) -> Vec<Span> {
    let mut request = tracer.request();
    request.enter(|| {
        tracer.begin(incoming, trust, "me", trace::now());
        act();
    });
    request.finish(|| Request);
    next(tracer).unwrap_or_default()
}

/// Of the one trace that waits, if there is one.
fn next(tracer: &Tracer) -> Option<Vec<Span>> {
    let mut all = all(tracer);
    assert!(all.len() <= 1, "{} traces", all.len());
    all.pop()
}

/// The traces that wait.
fn all(tracer: &Tracer) -> Vec<Vec<Span>> {
    let mut traces = Vec::new();
    while let Some(chunk) = tracer.queue().pop() {
        for (bytes, count) in chunk.items() {
            let spans = otlp::scope_spans(bytes).expect("what we write we read");
            assert_eq!(count, spans.len() as u64);
            traces.push(spans);
        }
    }
    traces
}

fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let found = spans.iter().find(|it| it.name == name);
    found.unwrap_or_else(|| panic!("no span {name} among {spans:#?}"))
}

#[test]
fn spans_nest_and_carry_what_was_said() {
    let spans = record(&tracer(1_000_000), Incoming::default(), Trust::Link, || {
        let (start, end) = (trace::now(), trace::now());
        trace::past("authentication", Scope::Filter, start, end);
        let handler = trace::span_as("Get", Scope::Component, Role::Handler);
        trace::event("About to Get from storage");
        {
            let storage = trace::span_as("Get etcd3", Scope::Component, Role::Stored);
            storage.set("key", || "/minions/x".to_owned());
            storage.set("count", || 7u64);
            storage.set("ok", || true);
            trace::event_with("Decode succeeded", "len", 42);
        }
        trace::event("About to write a response");
        handler.fail();
    });
    assert_eq!(spans.len(), 4);
    let root = named(&spans, "GET /x");
    assert!(root.parent.is_none() && root.links.is_empty());
    assert_eq!((root.kind, root.text("url.path")), (2, "/x"));
    assert_eq!(root.scope, "pilothouse");
    // Sampled, random, and the parent, which is none, is not remote.
    assert_eq!(root.flags, 0x103);
    let authentication = named(&spans, "authentication");
    assert_eq!(authentication.parent, root.span_id);
    assert!(authentication.scope.ends_with("filterlatency"));
    let handler = named(&spans, "Get");
    assert_eq!(handler.parent, root.span_id);
    assert_eq!((handler.kind, handler.text("verb")), (1, "get"));
    assert!(handler.is_error && !root.is_error);
    let names: Vec<_> = handler.events.iter().map(|it| &*it.name).collect();
    assert_eq!(
        names,
        ["About to Get from storage", "About to write a response"]
    );
    let storage = named(&spans, "Get etcd3");
    assert_eq!(storage.parent, handler.span_id);
    assert_eq!(storage.text("audit-id"), "a");
    assert_eq!(storage.text("key"), "/minions/x");
    assert_eq!(storage.attribute("count"), Some(&Value::Int(7)));
    assert_eq!(storage.attribute("ok"), Some(&Value::Bool(true)));
    let length = ("len".to_owned(), Value::Int(42));
    assert_eq!(storage.events[0].attributes, [length]);
    for span in &spans {
        assert_eq!(span.trace_id, root.trace_id);
        assert!(root.start <= span.start && span.start <= span.end && span.end <= root.end);
        // Some time in this century.
        assert!(span.start > 1_700_000_000_000_000_000, "{}", span.start);
    }
    let mut ids: Vec<_> = spans.iter().map(|it| it.span_id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

#[test]
fn who_is_trusted() {
    let id = "0af7651916cd43dd8448eb211c80319c";
    // The parent's flag counts, and with it nothing of chance.
    let spans = record(&tracer(0), incoming(), Trust::Parent, || {
        let outgoing = trace::outgoing().expect("something goes along");
        let headers: Vec<_> = outgoing.headers().collect();
        assert!(
            headers[0]
                .1
                .starts_with(b"00-0af7651916cd43dd8448eb211c80319c-")
        );
        assert_eq!(headers[1], ("baggage", &b"a=1"[..]));
    });
    let root = named(&spans, "GET /x");
    assert_eq!(root.trace_id.to_string(), id);
    assert_eq!(root.parent.to_string(), "b7ad6b7169203331");
    assert_eq!(root.flags, 0x301);
    // A stranger's does not: a new trace, by chance, linked.
    assert!(record(&tracer(0), incoming(), Trust::Link, || {}).is_empty());
    let spans = record(&tracer(1_000_000), incoming(), Trust::Link, || {
        let outgoing = trace::outgoing().expect("something goes along");
        assert_eq!(outgoing.headers().count(), 1, "no baggage");
    });
    let root = named(&spans, "GET /x");
    assert_ne!(root.trace_id.to_string(), id);
    assert!(root.parent.is_none());
    assert_eq!(root.links.len(), 1);
    assert_eq!(root.links[0].trace_id.to_string(), id);
    // Of somebody unknown nothing counts.
    let spans = record(&tracer(1_000_000), incoming(), Trust::Nobody, || {});
    let root = named(&spans, "GET /x");
    assert_ne!(root.trace_id.to_string(), id);
    assert!(root.links.is_empty());
    // A parent that is not recorded has children that are not.
    let mut quiet = incoming();
    quiet.context = TraceContext::parse(PARENT.replace("-01", "-00").as_bytes());
    assert!(record(&tracer(1_000_000), quiet, Trust::Parent, || {}).is_empty());
}

#[test]
fn context_passes_through_where_nothing_is_recorded() {
    let off = Tracer::new(Arc::new(Queue::new(10)));
    let sent = |tracer: &Tracer, incoming: Incoming, trust| {
        let mut sent = None;
        let spans = record(tracer, incoming, trust, || {
            let _span = trace::span("x");
            assert!(!trace::is_recording());
            sent = trace::outgoing().map(|it| String::from_utf8(it.traceparent.to_vec()).unwrap());
        });
        assert!(spans.is_empty());
        sent
    };
    assert_eq!(
        sent(&off, incoming(), Trust::Parent).as_deref(),
        Some(PARENT)
    );
    assert_eq!(sent(&off, incoming(), Trust::Link), None);
    assert_eq!(sent(&off, Incoming::default(), Trust::Parent), None);
    let unsampled = sent(&tracer(0), Incoming::default(), Trust::Link);
    let unsampled = unsampled.expect("a context that says no");
    assert!(unsampled.ends_with("-02"), "{unsampled}");
    // Calls have ids of their own even so.
    let mut sent = Vec::new();
    record(&tracer(0), Incoming::default(), Trust::Link, || {
        sent.extend(
            (0..2)
                .filter_map(|_| trace::outgoing())
                .map(|it| it.traceparent),
        );
    });
    assert_eq!(sent[0][..36], sent[1][..36]);
    assert_ne!(sent[0], sent[1]);
}

#[test]
fn forced_sampling_has_a_limit() {
    let tracer = tracer(0);
    let begun = std::time::Instant::now();
    let is_recorded = || !record(&tracer, incoming(), Trust::Parent, || {}).is_empty();
    let recorded = (0..500).filter(|_| is_recorded()).count();
    // A second's worth at once, then a hundred a second.
    let most = 101 + begun.elapsed().as_millis() / 10;
    assert!(recorded >= 100 && recorded as u128 <= most, "{recorded}");
}

#[test]
fn a_request_goes_from_thread_to_thread() {
    let tracer = tracer(1_000_000);
    let (mut request, mut span) = (tracer.request(), None);
    request.enter(|| {
        tracer.begin(Incoming::default(), Trust::Link, "", trace::now());
        span = Some(trace::span("Get"));
    });
    std::thread::scope(|scope| {
        scope.spawn(|| {
            request.enter(|| {
                trace::event("elsewhere");
                drop(span);
                drop(trace::span("after"));
            });
        });
    });
    request.finish(|| Request);
    let spans = next(&tracer).expect("it was recorded");
    assert_eq!(named(&spans, "Get").events[0].name, "elsewhere");
    assert_eq!(
        named(&spans, "after").parent,
        named(&spans, "GET /x").span_id
    );
}

/// A span that ends where its request is not at work ends with its request, and touches no other one.
#[test]
fn spans_end_with_their_request_at_the_latest() {
    let tracer = tracer(1_000_000);
    let (mut request, mut span) = (tracer.request(), None);
    request.enter(|| {
        tracer.begin(Incoming::default(), Trust::Link, "", trace::now());
        span = Some(trace::span("left open"));
    });
    let other = record(&tracer, Incoming::default(), Trust::Link, || {
        let own = trace::span("own");
        drop(span);
        trace::event("within");
        drop(own);
    });
    assert_eq!(named(&other, "own").events.len(), 1);
    assert_eq!(other.len(), 2);
    drop(request);
    let spans = next(&tracer).expect("what was done is not lost");
    let (root, open) = (named(&spans, "abandoned"), named(&spans, "left open"));
    assert!(root.is_error);
    assert_eq!(root.end, open.end);
}

#[test]
fn requests_within_requests_stay_apart() {
    let tracer = tracer(1_000_000);
    let outer = record(&tracer, Incoming::default(), Trust::Link, || {
        let _span = trace::span("outer");
        let inner = record(&tracer, Incoming::default(), Trust::Link, || {
            trace::event("inner");
        });
        assert_eq!(inner.len(), 1);
        assert_eq!(inner[0].events.len(), 1);
        trace::event("outer");
    });
    let span = named(&outer, "outer");
    assert_eq!(span.events.len(), 1);
    assert_eq!(span.events[0].name, "outer");
    assert!(!trace::is_recording());
}

#[test]
fn what_goes_on_at_once_has_its_own_children() {
    let tracer = tracer(1_000_000);
    let spans = record(&tracer, Incoming::default(), Trust::Link, || {
        let _all = trace::span("all");
        let work = |outer: &'static str, inner: &'static str| {
            trace::apart(async move {
                let _outer = trace::span(outer);
                yield_once().await;
                let _inner = trace::span(inner);
                yield_once().await;
                trace::event("done");
            })
        };
        let mut one = pin!(work("one", "one's"));
        let mut two = pin!(work("two", "two's"));
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..3 {
            let _ = one.as_mut().poll(&mut context);
            let _ = two.as_mut().poll(&mut context);
        }
        trace::event("all done");
    });
    let all = named(&spans, "all");
    for name in ["one", "two"] {
        let (outer, inner) = (named(&spans, name), named(&spans, &format!("{name}'s")));
        assert_eq!(outer.parent, all.span_id);
        assert_eq!(inner.parent, outer.span_id);
        assert_eq!(inner.events.len(), 1);
    }
    assert_eq!(all.events.len(), 1);
}

async fn yield_once() {
    let mut first = true;
    poll_fn(|_| {
        if std::mem::take(&mut first) {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
}

/// However much a request does, what is kept of it is bounded, and says so.
#[test]
fn a_request_without_end_is_bounded() {
    let spans = record(&tracer(1_000_000), Incoming::default(), Trust::Link, || {
        for _ in 0..10_000 {
            let span = trace::span("again");
            span.set("text", || "é".repeat(5000));
            trace::event("and again");
        }
    });
    assert_eq!(spans.len(), 512);
    let events: usize = spans.iter().map(|it| it.events.len()).sum();
    assert_eq!(events, 2048);
    let text = named(&spans, "again").text("text");
    assert_eq!(text.len(), 4096);
}

/// Many at once on several threads: each trace whole, none mixed, none lost.
#[test]
fn many_requests_on_many_threads() {
    let tracer = Arc::new(Tracer::new(Arc::new(Queue::new(100_000))));
    tracer.set(Some(Sampling {
        per_million: 1_000_000,
    }));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let tracer = tracer.clone();
            std::thread::spawn(move || {
                for round in 0..500 {
                    let mut request = tracer.request();
                    request.enter(|| {
                        tracer.begin(Incoming::default(), Trust::Link, "", trace::now());
                        for _ in 0..round % 7 {
                            let _outer = trace::span("outer");
                            let _inner = trace::span("inner");
                        }
                    });
                    request.finish(|| Request);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("it does not panic");
    }
    let mut traces = std::collections::BTreeSet::new();
    let mut count = 0;
    for spans in all(&tracer) {
        count += spans.len();
        let root = named(&spans, "GET /x");
        assert!(traces.insert(root.trace_id), "a trace of its own");
        for span in &spans {
            assert_eq!(span.trace_id, root.trace_id);
            match &*span.name {
                "outer" => assert_eq!(span.parent, root.span_id),
                "inner" => assert!(
                    spans
                        .iter()
                        .any(|it| it.span_id == span.parent && it.name == "outer")
                ),
                _ => {}
            }
        }
    }
    assert_eq!(traces.len(), 2000);
    let expected: usize = (0..500).map(|it| 1 + 2 * (it % 7)).sum();
    assert_eq!(count, 4 * expected);
}

/// Without room a trace is left out whole, and nobody waits.
#[test]
fn a_full_queue_drops_whole_traces() {
    let tracer = Tracer::new(Arc::new(Queue::new(2)));
    tracer.set(Some(Sampling {
        per_million: 1_000_000,
    }));
    for _ in 0..5 {
        let mut request = tracer.request();
        request.enter(|| tracer.begin(Incoming::default(), Trust::Link, "", trace::now()));
        request.finish(|| Request);
    }
    assert_eq!(all(&tracer).len(), 2);
}

#[test]
fn the_client_is_told_of_its_trace() {
    let tracer = tracer(1_000_000);
    let mut request = tracer.request();
    assert_eq!(request.server_timing(), None);
    request.enter(|| tracer.begin(Incoming::default(), Trust::Link, "", trace::now()));
    let timing = request.server_timing().expect("it is recorded");
    let timing = String::from_utf8(timing.to_vec()).expect("it is text");
    request.finish(|| Request);
    let spans = next(&tracer).expect("it was recorded");
    let (trace, span) = (spans[0].trace_id, spans[0].span_id);
    assert_eq!(timing, format!("trace;desc=00-{trace}-{span}-03"));
}

#[test]
fn what_goes_on_after_a_request_is_linked_to_it() {
    let tracer = tracer(1_000_000);
    let mut root = None;
    let spans = record(&tracer, Incoming::default(), Trust::Link, || {
        let _span = trace::span("Watch");
        root = trace::root();
    });
    let opened = named(&spans, "GET /x");
    let root = root.expect("it was recorded");
    tracer.linked(root.clone(), trace::now(), Request);
    let chunk = tracer.queue().pop().expect("a trace");
    let (bytes, _) = chunk.items().next().expect("a trace");
    let spans = otlp::scope_spans(bytes).expect("what we write we read");
    let [span] = &*spans else {
        panic!("{spans:#?}");
    };
    assert_ne!(span.trace_id, opened.trace_id);
    assert!(span.parent.is_none());
    assert_eq!((span.kind, span.flags), (1, 0x103));
    let [link] = &*span.links else {
        panic!("{:?}", span.links);
    };
    let to = (opened.trace_id, opened.span_id);
    assert_eq!((link.trace_id, link.span_id), to);
    // The link's own flags, as a field of four bytes: sampled, random, and known not to be remote.
    assert!(bytes.windows(5).any(|it| it == [0x35, 3, 1, 0, 0]));
    // Who is off says nothing more, and what was not recorded has nothing to link to.
    tracer.set(None);
    tracer.linked(root, trace::now(), Request);
    assert!(next(&tracer).is_none());
    record(&tracer, Incoming::default(), Trust::Link, || {
        assert!(trace::root().is_none());
    });
}

#[test]
fn a_request_can_be_carried_to_another_thread_and_back() {
    let spans = record(&tracer(1_000_000), Incoming::default(), Trust::Link, || {
        let _here = trace::span("here");
        let mut carried = Carried::take();
        assert!(!trace::is_recording());
        let carried = std::thread::scope(|scope| {
            let there = scope.spawn(move || {
                let work = async {
                    let _there = trace::span("there");
                    yield_once().await;
                    trace::event("done");
                };
                {
                    let mut work = pin!(carried.along(work));
                    let mut context = Context::from_waker(Waker::noop());
                    assert!(work.as_mut().poll(&mut context).is_pending());
                    assert!(!trace::is_recording());
                    assert!(work.as_mut().poll(&mut context).is_ready());
                }
                carried
            });
            there.join().expect("no panic")
        });
        carried.put_back();
        trace::event("back");
    });
    let (here, there) = (named(&spans, "here"), named(&spans, "there"));
    assert_eq!(there.parent, here.span_id);
    assert_eq!(there.events[0].name, "done");
    assert_eq!(here.events[0].name, "back");
}

#[test]
fn who_is_called_is_told_of_the_innermost_span() {
    let mut sent = Vec::new();
    let spans = record(&tracer(1_000_000), Incoming::default(), Trust::Link, || {
        let mut call = || sent.extend(trace::outgoing().map(|it| it.traceparent));
        call();
        let _span = trace::span("HTTP POST").client();
        call();
    });
    let sent: Vec<_> = sent.iter().map(|it| String::from_utf8_lossy(it)).collect();
    let of = |name: &str| {
        let span = named(&spans, name);
        format!("00-{}-{}-03", span.trace_id, span.span_id)
    };
    assert_eq!(sent, [of("GET /x"), of("HTTP POST")]);
    assert_eq!(named(&spans, "HTTP POST").kind, 3);
}

/// What comes after on the same thread is no part of it, and what was done until then is told.
#[test]
fn a_request_that_panics_leaves_the_thread() {
    let tracer = tracer(1_000_000);
    let mut request = tracer.request();
    let run = std::panic::AssertUnwindSafe(|| {
        request.enter(|| {
            tracer.begin(Incoming::default(), Trust::Link, "", trace::now());
            trace::event("before");
            panic!("as the test has it");
        });
    });
    assert!(std::panic::catch_unwind(run).is_err());
    assert!(!trace::is_recording());
    trace::event("after");
    drop(request);
    let spans = next(&tracer).expect("what was done is not lost");
    let events: Vec<_> = spans[0].events.iter().map(|it| &*it.name).collect();
    assert_eq!(events, ["before"]);
}

/// What one client sent along does not go along with the request of the next.
#[test]
fn nothing_is_left_for_the_next_request() {
    for flags in ["-00", "-01"] {
        let tracer = tracer(0);
        let mut first = incoming();
        first.context = TraceContext::parse(PARENT.replace("-01", flags).as_bytes());
        let sent = || {
            let outgoing = trace::outgoing().expect("something goes along");
            let headers = outgoing.headers().map(|(name, _)| name);
            headers.collect::<Vec<_>>()
        };
        let is_recorded = record(&tracer, first, Trust::Parent, || {
            assert_eq!(sent(), ["traceparent", "baggage"]);
        });
        assert_eq!(is_recorded.is_empty(), flags == "-00");
        record(&tracer, Incoming::default(), Trust::Link, || {
            assert_eq!(sent(), ["traceparent"]);
        });
    }
}

/// While the queue is full, requests that begin are counted, span by span, and not recorded.
#[test]
fn what_begins_without_room_is_only_counted() {
    let tracer = Tracer::new(Arc::new(Queue::new(4)));
    tracer.set(Some(Sampling {
        per_million: 1_000_000,
    }));
    let run = || {
        let mut request = tracer.request();
        request.enter(|| {
            tracer.begin(Incoming::default(), Trust::Nobody, "me", trace::now());
            trace::past("authentication", Scope::Filter, trace::now(), trace::now());
            let outer = trace::span("outer");
            outer.set("a", || "b");
            let _inner = trace::span_from("inner", Scope::Own, Role::Plain, trace::now());
            trace::event("e");
        });
        let timing = request.server_timing();
        request.finish(|| Request);
        timing.is_some()
    };
    assert!(run());
    assert!(!run(), "nobody is told of a trace that is not there");
    let numbers = tracer.queue().numbers();
    assert_eq!((numbers.created, numbers.dropped), (8, 4));
    assert_eq!(next(&tracer).unwrap().len(), 4);
    assert!(run());
    assert_eq!(tracer.queue().numbers().dropped, 4);
}
