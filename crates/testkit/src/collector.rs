//! A collector of telemetry in this process: takes OTLP over gRPC and HTTP, behaves as badly as it is told to, and
//! remembers what it took.

mod answer;
mod listen;
pub mod otlp;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::HeaderMap;
use prost::Message as _;

use crate::receiver::otlp::Export;

pub(crate) use answer::{in_grpc, is_grpc, message};
pub use listen::{Listen, Secured, Served};
pub(crate) use listen::{Stream, serve};

/// How long something may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// What it does with what comes. By default it takes everything.
#[derive(Clone, Debug, Default)]
pub struct Behaviour {
    /// So many are answered as by one that is overloaded: `UNAVAILABLE`, 503.
    pub fail: u64,
    /// With that, the seconds after which to come again.
    pub retry_after: Option<u64>,
    /// All are answered as what is wrong in itself: `INVALID_ARGUMENT`, 400.
    pub refuse: bool,
    /// So many spans of each are not taken.
    pub reject: u64,
    /// Nothing is answered as long as this is true.
    pub hold: bool,
    /// Without it, all are refused.
    pub require: Option<(&'static str, &'static str)>,
    /// So many bytes of nothing in the answer.
    pub padding: usize,
}

/// A request that was taken.
#[derive(Clone, Debug)]
pub struct Received {
    pub path: String,
    pub headers: HeaderMap,
    /// Without compression and framing.
    pub message: Bytes,
}

impl Received {
    /// The spans in it, if it is of traces.
    pub fn spans(&self) -> Vec<otlp::Span> {
        if self.path.contains("etrics") || self.path.contains("ogs") {
            return Vec::new();
        }
        let found = decode(&self.message);
        let scopes = found
            .resource_spans
            .into_iter()
            .flat_map(|it| it.scope_spans);
        scopes.flat_map(|it| it.spans).collect()
    }

    /// The numbers in it, if it is of metrics.
    pub fn metrics(&self) -> Option<Export> {
        let is_metrics = self.path.contains("etrics");
        is_metrics.then(|| Export::decode(&*self.message).expect("a message of metrics"))
    }

    /// The lines in it, if it is of logs, with the scope of each.
    pub fn logs(&self) -> Vec<(String, otlp::LogRecord)> {
        if !self.path.contains("ogs") {
            return Vec::new();
        }
        let found = otlp::LogsRequest::decode(&*self.message).expect("a message of logs");
        let scopes = found.resource_logs.into_iter().flat_map(|it| it.scope_logs);
        let records = scopes.flat_map(|it| {
            let scope = it.scope.unwrap_or_default().name;
            let records = it.log_records.into_iter();
            records.map(move |record| (scope.clone(), record))
        });
        records.collect()
    }
}

#[derive(Default)]
struct State {
    behaviour: Behaviour,
    received: Vec<Received>,
    /// All that came, also what was not taken.
    requests: u64,
    connections: u64,
}

/// What the server and the test share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Wakes who holds back answers.
    released: tokio::sync::Notify,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running collector; gone when dropped.
pub struct Collector {
    pub served: Served,
    shared: Arc<Shared>,
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Collector").field(&self.served).finish()
    }
}

impl Collector {
    /// On a port of the kernel's choice.
    pub fn start() -> Self {
        Self::on(&Listen::Port, None)
    }

    pub fn on(listen: &Listen, secured: Option<&Secured<'_>>) -> Self {
        let shared = Arc::new(Shared::default());
        let served = listen::serve(listen, secured, {
            let shared = shared.clone();
            move |stream| answer::connection(shared.clone(), stream)
        });
        Self { served, shared }
    }

    pub fn behave(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.shared.lock().behaviour);
        self.shared.released.notify_waiters();
    }

    pub fn received(&self) -> Vec<Received> {
        self.shared.lock().received.clone()
    }

    pub fn spans(&self) -> Vec<otlp::Span> {
        self.received().iter().flat_map(Received::spans).collect()
    }

    /// The numbers that came last: all points of the last time that some came, by name and labels.
    pub fn numbers(&self) -> BTreeMap<String, f64> {
        let mut all = BTreeMap::new();
        for export in self.received().iter().filter_map(Received::metrics) {
            all.extend(export.lines());
        }
        all
    }

    pub fn logs(&self) -> Vec<(String, otlp::LogRecord)> {
        self.received().iter().flat_map(Received::logs).collect()
    }

    /// How many requests came, also those that were not taken.
    pub fn requests(&self) -> u64 {
        self.shared.lock().requests
    }

    pub fn connections(&self) -> u64 {
        self.shared.lock().connections
    }

    /// Waits until so many requests came.
    pub fn wait_for_requests(&self, count: u64) {
        self.wait("requests", |state| state.requests >= count);
    }

    /// Waits until so many requests were taken.
    pub fn wait_for(&self, count: usize) {
        self.wait("messages", |state| state.received.len() >= count);
    }

    fn wait(&self, what: &str, enough: impl Fn(&State) -> bool) {
        let end = Instant::now() + PATIENCE;
        let mut state = self.shared.lock();
        while !enough(&state) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "not enough {what} within {PATIENCE:?}");
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A message of traces.
pub fn decode(message: &[u8]) -> otlp::TracesRequest {
    otlp::TracesRequest::decode(message).expect("a message of traces")
}
