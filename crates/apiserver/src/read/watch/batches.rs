//! What a traced watch tells of the events that it sends: spans linked to the request that opened it, one in a second at
//! most. A watch that is not traced has none of this.

use std::sync::Arc;
use std::time::Duration;

use store::Revision;
use telemetry::context::TraceContext;
use telemetry::trace::{self, Attributes, Describe, Name, Role, Tick};
use tokio::time::Instant;

use crate::catalog::Resource;
use crate::state::Api;

/// Events that come sooner after a span share the next one.
const PERIOD: Duration = Duration::from_secs(1);

pub(super) struct Batches {
    api: Arc<Api>,
    resource: Arc<Resource>,
    opened: TraceContext,
    /// What was sent since the last span.
    current: Option<Batch>,
    /// When the next may be.
    next: Instant,
}

struct Batch {
    resource: Arc<Resource>,
    started: Tick,
    events: usize,
    bytes: usize,
    /// The newest that is among them.
    revision: Revision,
}

impl Batches {
    /// Of the watch that the current request opens, if that is recorded.
    pub(super) fn begin(api: &Arc<Api>, resource: &Arc<Resource>) -> Option<Box<Self>> {
        Some(Box::new(Self {
            opened: trace::root()?,
            api: api.clone(),
            resource: resource.clone(),
            current: None,
            next: Instant::now(),
        }))
    }

    /// An event is about to go out.
    pub(super) fn add(&mut self, bytes: usize, revision: Revision) {
        let batch = self.current.get_or_insert_with(|| Batch {
            resource: self.resource.clone(),
            started: trace::now(),
            events: 0,
            bytes: 0,
            revision,
        });
        batch.events += 1;
        batch.bytes += bytes;
        batch.revision = revision;
    }

    /// What there was is with the client's connection.
    pub(super) fn sent(&mut self) {
        let now = Instant::now();
        if self.current.is_some() && now >= self.next {
            self.next = now + PERIOD;
            self.tell();
        }
    }

    /// When the next span is due, if no event comes until then.
    pub(super) fn due(&self) -> Option<Instant> {
        self.current.as_ref().map(|_| self.next)
    }

    fn tell(&mut self) {
        if let Some(batch) = self.current.take() {
            let (opened, started) = (self.opened.clone(), batch.started);
            self.api.tracer().linked(opened, started, batch);
        }
    }
}

impl Drop for Batches {
    /// The watch is over.
    fn drop(&mut self) {
        self.tell();
    }
}

impl Describe for Batch {
    fn name(&self, out: &mut Name<'_>) {
        out.push("WatchServer.SendEvents");
    }

    fn attributes(&self, _role: Role, out: &mut Attributes<'_>) {
        let int = |number| i64::try_from(number).unwrap_or(i64::MAX);
        out.text("group", &self.resource.group);
        out.text("resource", &self.resource.plural);
        out.int("count", int(self.events));
        out.int("size", int(self.bytes));
        out.text("resource-version", &self.revision.to_string());
    }
}
