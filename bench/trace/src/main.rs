//! CPU time of the trace of a full CREATE: the headers read and written, 10 spans, 24 events, as `docs/performance.md` has
//! it. Sides take turns in short rounds; the least disturbed round of each counts, and the median is printed beside it.
//! Exit code 1: a bar is missed.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;

use rustix::time::{ClockId, clock_gettime};
use telemetry::context::TraceContext;
use telemetry::export::{Item as _, Queue};
use telemetry::trace::{
    self, Describe, Description, Incoming, Role, Sampling, Scope, Tracer, Trust,
};

const ROUNDS: usize = 200;
/// Requests a round; what they recorded is taken away between rounds, as an exporter does.
const BATCH: usize = 256;
const PARENT: &[u8] = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[derive(Default)]
struct Request;

impl Describe for Request {
    fn describe(&self, out: &mut Description) {
        out.name.push_str("POST /api/v1/namespaces/{:namespace}/configmaps");
        let mut out = out.of(Role::Handler);
        for key in [
            "accept", "audit-id", "client", "api-group", "api-version", "name", "subresource",
            "namespace", "protocol", "resource", "scope", "url", "user-agent", "verb",
        ] {
            out.text(key, "a value of usual length");
        }
    }
}

/// As the server does it: root, authentication, three stations, handler, storage, commit, call, answer.
fn create(tracer: &Tracer) {
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
    request.finish(|_: &mut Request| {});
}

/// Of this thread, in nanoseconds.
fn cpu() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn measure(tracer: &Tracer, run: fn(&Tracer)) -> i64 {
    let start = cpu();
    for _ in 0..BATCH {
        run(tracer);
    }
    let taken = cpu() - start;
    while let Some(finished) = tracer.queue().try_pop() {
        drop(finished);
    }
    taken
}

/// What the exporter's thread has to do for one.
fn encode(tracer: &Tracer) -> i64 {
    for _ in 0..BATCH {
        create(tracer);
    }
    let mut out = Vec::new();
    let mut taken = 0;
    while let Some(finished) = tracer.queue().try_pop() {
        let start = cpu();
        out.clear();
        finished.encode(&mut out);
        drop(finished);
        taken += cpu() - start;
        black_box(&out);
    }
    taken
}

fn tracer(sampling: Option<u32>) -> Tracer {
    let tracer = Tracer::new(Arc::new(Queue::new(20 * BATCH)));
    tracer.set(sampling.map(|per_million| Sampling { per_million }));
    tracer
}

fn main() -> ExitCode {
    let (all, none, off) = (tracer(Some(1_000_000)), tracer(Some(0)), tracer(None));
    let sides: [(&str, i64, Box<dyn Fn() -> i64>); 4] = [
        ("sampled", 1000, Box::new(|| measure(&all, create))),
        ("not sampled", 200, Box::new(|| measure(&none, create))),
        ("off", 200, Box::new(|| measure(&off, create))),
        ("encoded (exporter)", i64::MAX, Box::new(|| encode(&all))),
    ];
    let mut taken: Vec<Vec<i64>> = sides.iter().map(|_| Vec::new()).collect();
    for _ in 0..ROUNDS {
        for ((_, _, run), taken) in sides.iter().zip(&mut taken) {
            taken.push(run());
        }
    }
    let mut held = true;
    println!("| a full CREATE: 10 spans, 24 events | least ns | median ns | bar |");
    println!("|---|---|---|---|");
    for ((name, bar, _), mut taken) in sides.iter().zip(taken) {
        taken.sort_unstable();
        let each = BATCH as i64;
        let (least, median) = (taken[0] / each, taken[ROUNDS / 2] / each);
        held &= least < *bar;
        let bar = match *bar {
            i64::MAX => String::new(),
            bar => format!("< {bar}"),
        };
        println!("| {name} | {least} | {median} | {bar} |");
    }
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
