//! Hot path. W3C Trace Context, level 2: who a request belongs to, as headers carry it.
//!
//! Own code because the SDK's propagator fails a third of W3C's suite (lengths, several headers, the random flag), and
//! costs five times as much. `tests/w3c.rs` holds the rules in tables.

pub mod baggage;
mod hex;
mod state;

use std::fmt;
use std::sync::Arc;

pub use self::state::tracestate;

pub const TRACEPARENT: &str = "traceparent";
pub const TRACESTATE: &str = "tracestate";

/// The length of a `traceparent` of version 00.
const LENGTH: usize = 55;
/// Whoever called recorded it.
const SAMPLED: u8 = 1;
/// At least the last seven bytes of the trace id are random.
const RANDOM: u8 = 2;

/// Never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId(u128);

/// Never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanId(u64);

/// A span somewhere, and what goes along with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    pub trace_id: TraceId,
    pub span_id: SpanId,
    pub flags: Flags,
    /// What others want to have carried along, already checked.
    pub state: Option<Arc<str>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// Of a trace whose id is ours.
    pub fn minted(sampled: bool) -> Self {
        Self(RANDOM | u8::from(sampled))
    }

    pub fn sampled(self) -> bool {
        self.0 & SAMPLED != 0
    }

    /// The bits that this version knows.
    pub fn bits(self) -> u8 {
        self.0
    }

    #[must_use]
    pub fn with_sampled(self, sampled: bool) -> Self {
        Self(self.0 & !SAMPLED | u8::from(sampled))
    }
}

impl TraceId {
    pub fn new(number: u128) -> Option<Self> {
        (number != 0).then_some(Self(number))
    }

    /// As 32 digits have it.
    pub fn parse(text: &[u8]) -> Option<Self> {
        if text.len() != 32 {
            return None;
        }
        let (high, low) = text.split_at(16);
        Self::new(u128::from(hex::read(high)?) << 64 | u128::from(hex::read(low)?))
    }

    #[inline]
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The part that is random even where only seven bytes need be.
    pub(crate) fn low(self) -> u64 {
        // The lower half of it.
        #[allow(clippy::cast_possible_truncation)]
        let low = self.0 as u64;
        low
    }
}

impl SpanId {
    pub fn new(number: u64) -> Option<Self> {
        (number != 0).then_some(Self(number))
    }

    /// As 16 digits have it.
    pub fn parse(text: &[u8]) -> Option<Self> {
        if text.len() != 16 {
            return None;
        }
        Self::new(hex::read(text)?)
    }

    #[inline]
    pub fn to_bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl TraceContext {
    /// From the value of the one `traceparent` header.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (head, rest) = text.split_at_checked(LENGTH)?;
        if head[2] != b'-' || head[35] != b'-' || head[52] != b'-' {
            return None;
        }
        let version = hex::read(&head[..2])?;
        // A later version may have more to say; this one may not, and 255 is none.
        let fits = match version {
            0 => rest.is_empty(),
            0xff => false,
            _ => rest.first().is_none_or(|it| *it == b'-'),
        };
        if !fits {
            return None;
        }
        let flags = u8::try_from(hex::read(&head[53..])?).ok()?;
        Some(Self {
            trace_id: TraceId::parse(&head[3..35])?,
            span_id: SpanId::parse(&head[36..52])?,
            flags: Flags(flags & (SAMPLED | RANDOM)),
            state: None,
        })
    }

    /// From all headers of both names, in their order. Several `traceparent` are none, and without one nothing counts; a
    /// `tracestate` that is wrong is left out alone.
    pub fn read<'a>(
        mut parents: impl Iterator<Item = &'a [u8]>,
        states: impl Iterator<Item = &'a [u8]>,
    ) -> Option<Self> {
        let parent = parents.next()?;
        if parents.next().is_some() {
            return None;
        }
        let mut context = Self::parse(parent)?;
        context.state = tracestate(states).map(Into::into);
        Some(context)
    }

    /// The value of a `traceparent` header: always version 00.
    pub fn write(&self) -> [u8; LENGTH] {
        traceparent(self.trace_id, self.span_id, self.flags)
    }
}

/// The value of a `traceparent` header.
pub fn traceparent(trace: TraceId, span: SpanId, flags: Flags) -> [u8; LENGTH] {
    let mut out = [b'-'; LENGTH];
    out[..2].copy_from_slice(b"00");
    hex::write(&trace.to_bytes(), &mut out[3..35]);
    hex::write(&span.to_bytes(), &mut out[36..52]);
    hex::write(&[flags.bits()], &mut out[53..]);
    out
}
