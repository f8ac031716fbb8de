//! Finding traces among those that are kept.

use std::sync::Arc;
use std::time::Duration;

use json::{Object, Value};

use super::kept::{Kept, Piece, text};
use crate::context::TraceId;
use crate::otlp::{self, Field, Glance, Spans, append, attributes, each};

/// How many are listed if nothing is said of it, and at most.
const USUAL: usize = 100;
const MOST: usize = 1000;
/// Attributes that are looked for at once, each in all spans.
const MOST_ATTRIBUTES: usize = 16;
/// Of a parameter: each span is compared with all of it.
const LONGEST: usize = 1024;

/// What is looked for. All of it must be true of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// A part of a span's name.
    pub name: Option<String>,
    /// Attributes of one span, or of its resource.
    pub attributes: Vec<(String, String)>,
    /// From its first moment to its last.
    pub min_duration: Option<Duration>,
    pub max_duration: Option<Duration>,
    /// Whether one of its spans failed.
    pub error: Option<bool>,
    pub trace_id: Option<TraceId>,
    pub audit_id: Option<String>,
    pub limit: Option<usize>,
    /// The slowest first.
    pub by_duration: bool,
}

/// A parameter that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadParameter(String);

/// The parameters that there are.
const PARAMETERS: &[&str] = &[
    "name",
    "attribute",
    "minDuration",
    "maxDuration",
    "error",
    "traceID",
    "auditID",
    "limit",
    "sort",
];

impl Query {
    /// Of the parameters of a URL. What is given twice counts as given last, but for attributes.
    pub fn parse(pairs: &[(String, String)]) -> Result<Self, BadParameter> {
        let mut query = Self::default();
        for (key, value) in pairs {
            let bad = |why: &str| {
                let value = meta::go::quote(value);
                BadParameter(format!("invalid value {value} of parameter {key}: {why}"))
            };
            if value.len() > LONGEST {
                let text = format!("parameter {key} has more than {LONGEST} bytes");
                return Err(BadParameter(text));
            }
            match &**key {
                "name" => query.name = Some(value.clone()).filter(|it| !it.is_empty()),
                "attribute" => {
                    let pair = value.split_once('=').filter(|it| !it.0.is_empty());
                    let (name, value) = pair.ok_or_else(|| bad("write it like key=value"))?;
                    if query.attributes.len() == MOST_ATTRIBUTES {
                        return Err(bad("there are at most 16"));
                    }
                    query.attributes.push((name.to_owned(), value.to_owned()));
                }
                "minDuration" | "maxDuration" => {
                    let time = meta::time::parse_duration(value);
                    let time = time.map_err(|_| bad("write it like 300ms, 1.5s or 2m"))?;
                    match &**key {
                        "minDuration" => query.min_duration = Some(time),
                        _ => query.max_duration = Some(time),
                    }
                }
                "error" => {
                    query.error = match &**value {
                        "" | "true" | "1" => Some(true),
                        "false" | "0" => Some(false),
                        _ => return Err(bad("it is true or false")),
                    }
                }
                "traceID" => {
                    let id = TraceId::parse(value.to_ascii_lowercase().as_bytes());
                    query.trace_id = Some(id.ok_or_else(|| bad("it has 32 hexadecimal digits"))?);
                }
                "auditID" => query.audit_id = Some(value.clone()).filter(|it| !it.is_empty()),
                "limit" => {
                    let limit = value.parse().ok();
                    let limit = limit.filter(|it| (1..=MOST).contains(it));
                    query.limit = Some(limit.ok_or_else(|| bad("it is from 1 to 1000"))?);
                }
                "sort" => {
                    query.by_duration = match &**value {
                        "start" => false,
                        "duration" => true,
                        _ => return Err(bad("it is start or duration")),
                    }
                }
                // Those that all requests may have.
                "timeout" | "pretty" => {}
                _ => {
                    let key = meta::go::quote(key);
                    let all = PARAMETERS.join(", ");
                    let text = format!("unknown parameter {key}: there are {all}");
                    return Err(BadParameter(text));
                }
            }
        }
        Ok(query)
    }

    fn fits(&self, kept: &Kept) -> bool {
        let nanos = |it: Duration| u64::try_from(it.as_nanos()).unwrap_or(u64::MAX);
        let duration = kept.duration();
        self.error.is_none_or(|it| it == (kept.errors > 0))
            && self.min_duration.is_none_or(|it| duration >= nanos(it))
            && self.max_duration.is_none_or(|it| duration <= nanos(it))
            && (self.name.as_ref())
                .is_none_or(|name| kept.any(|_, span| span.name.contains(&**name)))
            && (self.attributes.is_empty() || kept.any(|piece, span| self.describes(piece, span)))
            && self.audit_id.as_ref().is_none_or(|id| {
                let id = ("audit-id".to_owned(), id.clone());
                kept.any(|_, span| span_has(span, &id))
            })
    }

    fn describes(&self, piece: &Piece, span: &Glance<'_>) -> bool {
        let mut all = self.attributes.iter();
        all.all(|it| span_has(span, it) || resource_has(piece, it))
    }
}

impl Kept {
    /// Whether there is a span like that.
    fn any(&self, fits: impl Fn(&Piece, &Glance<'_>) -> bool) -> bool {
        self.pieces.iter().any(|piece| {
            let spans = Spans::read(&piece.scope_spans).unwrap_or_default();
            spans.all.iter().any(|(_, span)| fits(piece, span))
        })
    }
}

fn span_has(span: &Glance<'_>, (key, value): &(String, String)) -> bool {
    let mut found = false;
    span.attributes(|name, any_value| {
        found = name == key.as_bytes() && text(any_value) == *value;
        found
    });
    found
}

fn resource_has(piece: &Piece, (key, value): &(String, String)) -> bool {
    let mut found = false;
    let _ = each(&piece.head, |number, field| {
        if let (1, Field::Bytes(resource)) = (number, field) {
            attributes(resource, 1, |name, any_value| {
                found |= name == key.as_bytes() && text(any_value) == *value;
                found
            });
        }
        Ok(())
    });
    found
}

/// What a list says of a trace.
#[derive(Clone, Debug)]
pub struct Summary(Arc<Kept>);

impl Summary {
    /// Named as Grafana Tempo's search names what it has, too.
    pub fn to_value(&self) -> Value {
        let Self(kept) = self;
        let mut object = Object::new();
        object.push("traceID", encoding::hex::encode(&kept.id));
        object.push("rootServiceName", &*kept.top.service);
        object.push("rootTraceName", &*kept.top.name);
        object.push("startTimeUnixNano", kept.start.to_string());
        let duration = kept.duration();
        let millis = i64::try_from(duration / 1_000_000).unwrap_or(i64::MAX);
        object.push("durationMs", millis);
        object.push("durationNano", duration.to_string());
        let spans = i64::try_from(kept.spans()).unwrap_or(i64::MAX);
        object.push("spanCount", spans);
        object.push("errorCount", i64::from(kept.errors));
        if !kept.top.is_root {
            // Its beginning is not, or not yet, here.
            object.push("partial", true);
        }
        if let Some(status) = kept.top.status {
            object.push("statusCode", i64::from(status));
        }
        if !kept.top.audit_id.is_empty() {
            object.push("auditID", &*kept.top.audit_id);
        }
        object.into()
    }
}

pub(super) fn search(mut all: Vec<Arc<Kept>>, query: &Query) -> (Vec<Summary>, usize) {
    all.retain(|it| query.fits(it));
    let matched = all.len();
    if query.by_duration {
        all.sort_by_key(|it| std::cmp::Reverse(it.duration()));
    } else {
        all.sort_by_key(|it| std::cmp::Reverse(it.start));
    }
    all.truncate(query.limit.unwrap_or(USUAL));
    (all.into_iter().map(Summary).collect(), matched)
}

/// A trace that was found.
#[derive(Clone, Debug)]
pub struct Found(pub(super) Arc<Kept>);

impl Found {
    /// An `ExportTraceServiceRequest`, or `TracesData`, which is the same.
    pub fn to_protobuf(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.0.size);
        for piece in &self.0.pieces {
            append(&mut out, &piece.head, &piece.scope_spans);
        }
        out
    }

    /// The same in OTLP's JSON.
    pub fn to_value(&self) -> Result<Value, otlp::Error> {
        otlp::to_json(&self.to_protobuf())
    }
}
