//! Recent traces in memory, served by this server itself.
//!
//! What requests record is taken from the tracer's queue by a thread ([`Keeper`]), or by whoever looks for something, so that
//! what was answered is found. It may go on to a collector from here. Other programs' spans join ours
//! ([`Recent::receive`]). **What is kept takes no more than its bytes, and nothing of that shows in the books of the
//! exporter.**

mod keeper;
mod kept;
mod ring;
mod search;
mod source;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

pub use self::keeper::Keeper;
pub use self::search::{BadParameter, Found, Query, Summary};
pub use self::source::Source;

use self::kept::Piece;
use self::ring::Ring;
use crate::context::TraceId;
use crate::otlp::{self, Spans};

/// The least that is worth anything.
pub const LEAST_BYTES: usize = 256 << 10;

/// The traces of the last while.
#[derive(Debug)]
pub struct Recent {
    ring: Mutex<Ring>,
    source: OnceLock<Source>,
}

/// What is kept, and what was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Traces for no other reason than that they are new.
    pub newest: u64,
    /// Those that would be gone if they had not failed.
    pub errors: u64,
    /// The same, if they had not been so slow.
    pub slowest: u64,
    pub bytes: u64,
    pub capacity: u64,
    /// Traces that had to make room.
    pub evicted: u64,
    /// Spans of this server, and of others, that were taken.
    pub own_spans: u64,
    pub received_spans: u64,
    /// Spans that were not: without ids, or of a trace that is too large.
    pub refused_spans: u64,
}

/// The outcome of an export request of another program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    pub rejected: u64,
    /// Why, if any were.
    pub said: &'static str,
}

impl Recent {
    /// For so many bytes in all.
    pub fn new(bytes: usize) -> Self {
        Self {
            ring: Mutex::new(Ring::new(bytes.max(LEAST_BYTES))),
            source: OnceLock::new(),
        }
    }

    /// Where the server's own traces come from; set once.
    pub fn follow(&self, source: Source) {
        let _ = self.source.set(source);
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what is finished.
    pub fn refresh(&self) {
        if let Some(source) = self.source.get() {
            source.drain(|head, scope_spans| self.keep_own(head, scope_spans));
        }
    }

    /// Takes what is finished until then, and nothing any more after that.
    fn finish(&self, end: Instant) {
        if let Some(source) = self.source.get() {
            source.finish(end, |head, scope_spans| self.keep_own(head, scope_spans));
        }
    }

    /// What one request of ours recorded.
    fn keep_own(&self, head: &Arc<[u8]>, scope_spans: &Arc<[u8]>) {
        let Ok(spans) = Spans::read(scope_spans) else {
            return;
        };
        let Some((_, first)) = spans.all.first() else {
            return;
        };
        let id = first.trace_id;
        let all = spans.all.iter().map(|(_, span)| span);
        let piece = Piece::new(head.clone(), scope_spans.clone(), all);
        let count = spans.all.len() as u64;
        let mut ring = self.ring();
        let kept = ring.keep(id, piece, Instant::now());
        let numbers = &mut ring.numbers;
        if kept {
            numbers.own_spans += count;
        } else {
            numbers.refused_spans += count;
        }
    }

    /// Takes an `ExportTraceServiceRequest` of another program.
    pub fn receive(&self, request: &[u8]) -> Result<Taken, otlp::Error> {
        let mut taken = Taken::default();
        for resource_spans in otlp::received(request)? {
            let mut spans = Spans::read(resource_spans)?;
            let all = spans.all.len();
            // Those of a trace beside each other, and its scopes in their order.
            spans.all.sort_by_key(|(_, span)| span.trace_id);
            let is_known = |span: &otlp::Glance<'_>| span.trace_id != [0; 16] && span.span_id != 0;
            let known = spans.all.iter().filter(|(_, span)| is_known(span)).count();
            let mut rejected = all - known;
            if rejected > 0 {
                taken.said = "spans need a trace id and a span id";
            }
            let head: Arc<[u8]> = spans.head.as_slice().into();
            for group in spans
                .all
                .chunk_by(|one, two| one.1.trace_id == two.1.trace_id)
            {
                let group: Vec<_> = group.iter().filter(|(_, span)| is_known(span)).collect();
                let Some((_, first)) = group.first() else {
                    continue;
                };
                let written = spans.write(group.iter().copied());
                let all = group.iter().map(|(_, span)| span);
                let piece = Piece::new(head.clone(), written.into(), all);
                let kept = self.ring().keep(first.trace_id, piece, Instant::now());
                if !kept {
                    rejected += group.len();
                    taken.said = "a trace has more spans than are kept of one";
                }
            }
            taken.rejected += rejected as u64;
            let mut ring = self.ring();
            ring.numbers.received_spans += (all - rejected) as u64;
            ring.numbers.refused_spans += rejected as u64;
        }
        Ok(taken)
    }

    /// What fits, the newest or the slowest first, and how many there were.
    pub fn search(&self, query: &Query) -> (Vec<Summary>, usize) {
        self.refresh();
        let all = match query.trace_id {
            Some(id) => self.ring().get(id.to_bytes()).into_iter().collect(),
            None => self.ring().all(),
        };
        search::search(all, query)
    }

    pub fn get(&self, id: TraceId) -> Option<Found> {
        self.refresh();
        let kept = self.ring().get(id.to_bytes());
        kept.map(Found)
    }

    pub fn numbers(&self) -> Numbers {
        self.ring().numbers()
    }
}

#[cfg(test)]
mod tests;
