//! OTLP: everything as the contents of `ExportMetricsServiceRequest` messages. Numbers are cumulative, names the same as in
//! Prometheus' text.

use std::time::SystemTime;

use super::handle::Unit;
use super::registry::{Gathered, Kind, Registry, Sample, Value};
use super::text::help;
use crate::export::Item;
use crate::protobuf::{self, Message};

const CUMULATIVE: u64 = 2;
/// Collectors take messages of up to 4 MiB by default: a message that has grown so large ends.
const ENOUGH: usize = 1 << 20;

/// What one message says: the `scope_metrics` of a `ResourceMetrics`, with their tag and length, and how many points
/// they have.
#[derive(Debug, Default)]
pub struct Batch {
    pub metrics: Vec<u8>,
    pub points: u64,
}

impl Item for Batch {
    fn spans(&self) -> u64 {
        self.points
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.metrics);
    }
}

/// The messages of one export.
pub fn encode(registry: &Registry) -> Vec<Batch> {
    let now = SystemTime::now();
    let mut messages = Vec::new();
    let mut metrics = Message::default();
    let mut count = 0;
    for family in registry.gather(now) {
        // A large instrument is sent in several pieces, which OTLP allows.
        let mut rest = &family.samples[..];
        while !rest.is_empty() {
            let mut points = Vec::new();
            let mut size = metrics.0.len();
            while size < ENOUGH
                && let Some((sample, more)) = rest.split_first()
            {
                let point = point(&family, sample, now);
                size += point.len();
                points.push(point);
                rest = more;
            }
            metrics.message(2, |out| of_family(out, &family, &points));
            count += points.len() as u64;
            if metrics.0.len() >= ENOUGH {
                messages.push(batch(
                    &std::mem::take(&mut metrics),
                    std::mem::take(&mut count),
                ));
            }
        }
    }
    if !metrics.0.is_empty() {
        messages.push(batch(&metrics, count));
    }
    messages
}

fn batch(metrics: &Message, points: u64) -> Batch {
    let mut out = Message::default();
    out.message(2, |scope| {
        scope.message(1, |it| it.text(1, "pilothouse"));
        scope.0.extend_from_slice(&metrics.0);
    });
    Batch {
        metrics: out.0,
        points,
    }
}

fn of_family(out: &mut Message, family: &Gathered, points: &[Vec<u8>]) {
    let unit = match family.kind {
        Kind::Histogram(Unit::Seconds) => "s",
        _ if family.desc.name.ends_with("_seconds") => "s",
        _ if family.desc.name.ends_with("_bytes") => "By",
        _ => "",
    };
    let texts = [family.desc.name, &help(&family.desc), unit];
    metric(out, texts, family.kind, CUMULATIVE, points);
}

/// Name, description, unit and points of one metric.
pub(super) fn metric(
    out: &mut Message,
    texts: [&str; 3],
    kind: Kind,
    temporality: u64,
    points: &[Vec<u8>],
) {
    for (field, text) in (1..).zip(texts) {
        if !text.is_empty() {
            out.text(field, text);
        }
    }
    let data = match kind {
        Kind::Gauge => 5,
        Kind::Counter => 7,
        Kind::Histogram(..) => 9,
    };
    out.message(data, |data| {
        for point in points {
            data.bytes(1, point);
        }
        if kind != Kind::Gauge {
            data.number(2, temporality);
        }
        if kind == Kind::Counter {
            data.number(3, 1);
        }
    });
}

fn point(family: &Gathered, sample: &Sample, now: SystemTime) -> Vec<u8> {
    let mut out = Message::default();
    out.fixed64(2, nanoseconds(sample.created));
    out.fixed64(3, nanoseconds(now));
    let attributes = match &sample.value {
        Value::Histogram { .. } => 9,
        _ => 7,
    };
    for (name, value) in family.names.iter().zip(&sample.labels) {
        protobuf::attribute(&mut out, attributes, name, value);
    }
    match &sample.value {
        Value::Counter(value) => out.fixed64(6, *value),
        Value::Number(value) => out.double(4, *value),
        Value::Histogram {
            counts,
            sum,
            exemplars,
            ..
        } => {
            let Kind::Histogram(unit) = family.kind else {
                return out.0;
            };
            out.fixed64(4, counts.iter().sum());
            out.double(5, *sum);
            out.packed(6, counts.iter().copied());
            out.packed(7, family.bounds.iter().map(|it| it.to_bits()));
            for (_, seen) in exemplars {
                out.message(8, |it| {
                    it.fixed64(2, nanoseconds(seen.at));
                    it.double(3, unit.shown(seen.value.into()));
                    it.bytes(4, &seen.ids.span_id);
                    it.bytes(5, &seen.ids.trace_id);
                });
            }
        }
    }
    out.0
}

fn nanoseconds(at: SystemTime) -> u64 {
    let since = at.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, super::handle::nanoseconds)
}
