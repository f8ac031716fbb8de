//! CPU time of the trace of a full CREATE: the headers read and written, 10 spans, 24 events, as `docs/performance.md` has
//! it. Sides take turns in short rounds; the least disturbed round of each counts, and the median is printed beside it.
//! Exit code 1: a bar is missed.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;

use rustix::time::{ClockId, clock_gettime};
use telemetry::context::TraceContext;
use telemetry::export::Queue;
use telemetry::trace::{
    self, Attributes, Describe, Incoming, Name, RequestTrace, Role, Sampling, Scope, Tracer, Trust,
};

const ROUNDS: usize = 800;
/// Requests a round, all of them open at once, as with 64 clients; what was encoded is taken away between rounds, as an
/// exporter does.
const BATCH: usize = 64;
const PARENT: &[u8] = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

struct Request;

impl Describe for Request {
    fn name(&self, out: &mut Name<'_>) {
        out.push("POST /api/v1/namespaces/{:namespace}/configmaps");
    }

    fn attributes(&self, role: Role, out: &mut Attributes<'_>) {
        if role != Role::Handler {
            return;
        }
        for key in [
            "accept", "audit-id", "client", "api-group", "api-version", "name", "subresource",
            "namespace", "protocol", "resource", "scope", "url", "user-agent", "verb",
        ] {
            out.text(key, "a value of usual length");
        }
    }
}

/// As the server does it: root, authentication, three stations, handler, storage, commit, call, answer.
fn create(tracer: &Tracer) -> RequestTrace<'_> {
    let mut request = tracer.request();
    request.enter(|| {
        let started = trace::now();
        let context = TraceContext::read([black_box(PARENT)].into_iter(), [].into_iter());
        let incoming = Incoming {
            context,
            baggage: None,
        };
        tracer.begin(incoming, Trust::Link, "somebody", started);
        trace::past("authentication", Scope::Filter, started, trace::now());
        let _impersonation = trace::span_as("constrainedimpersonation", Scope::Filter, Role::Plain);
        let _limit = trace::span_as("priorityandfairness", Scope::Filter, Role::Plain);
        let _authorization = trace::span_as("authorization", Scope::Filter, Role::Plain);
        let _handler = trace::span_as("Create", Scope::Component, Role::Handler);
        for _ in 0..7 {
            trace::event_with("About to convert to expected version", "len", 1000);
        }
        {
            let storage = trace::span_as("Create etcd3", Scope::Component, Role::Stored);
            storage.set("type", || "*core.ConfigMap");
            for _ in 0..7 {
                trace::event("TransformToStorage succeeded");
            }
            let commit = trace::span_as("store.commit", Scope::Own, Role::Plain);
            commit.set("batch.size", || 1u64);
            let call = trace::span("etcdserverpb.KV/Txn").client();
            black_box(trace::outgoing());
            drop(call);
        }
        for _ in 0..6 {
            trace::event("Write to database call succeeded");
        }
        let _answer = trace::span_as("SerializeObject", Scope::Component, Role::Answer);
        for _ in 0..4 {
            trace::event_with("Write call succeeded", "size", 1000);
        }
    });
    black_box(request.server_timing());
    request
}

/// Of this thread, in nanoseconds.
fn cpu() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// What it takes to record, and what it takes to encode that into the queue when the requests are over.
fn measure(tracer: &Tracer) -> [i64; 2] {
    let mut open = Vec::with_capacity(BATCH);
    let start = cpu();
    open.extend((0..BATCH).map(|_| create(tracer)));
    let recorded = cpu();
    for request in open {
        request.finish(|| Request);
    }
    let encoded = cpu();
    while let Some(chunk) = tracer.queue().pop() {
        drop(chunk);
    }
    [recorded - start, encoded - recorded]
}

fn tracer(sampling: Option<u32>) -> Tracer {
    let tracer = Tracer::new(Arc::new(Queue::new(100 * BATCH)));
    tracer.set(sampling.map(|per_million| Sampling { per_million }));
    tracer
}

fn main() -> ExitCode {
    let (all, none, off) = (tracer(Some(1_000_000)), tracer(Some(0)), tracer(None));
    let sides = [
        (&all, "sampled: recorded", 1000, "sampled: encoded into the queue, more"),
        (&none, "not sampled", 200, ""),
        (&off, "off", 200, ""),
    ];
    let mut taken = [const { [const { Vec::new() }; 2] }; 3];
    for _ in 0..ROUNDS {
        for ((tracer, ..), taken) in sides.iter().zip(&mut taken) {
            for (taken, it) in taken.iter_mut().zip(measure(tracer)) {
                taken.push(it);
            }
        }
    }
    let mut held = true;
    println!("| a full CREATE: 10 spans, 24 events | least ns | median ns | bar |");
    println!("|---|---|---|---|");
    for ((_, name, bar, more), [mut recorded, mut encoded]) in sides.into_iter().zip(taken) {
        let (least, median) = figures(&mut recorded);
        held &= least < bar;
        println!("| {name} | {least} | {median} | < {bar} |");
        if !more.is_empty() {
            let (least, median) = figures(&mut encoded);
            println!("| {more} | {least} | {median} | |");
        }
    }
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Of one request: the least disturbed round, and the one in the middle.
fn figures(taken: &mut [i64]) -> (i64, i64) {
    taken.sort_unstable();
    let each = BATCH as i64;
    (taken[0] / each, taken[taken.len() / 2] / each)
}
