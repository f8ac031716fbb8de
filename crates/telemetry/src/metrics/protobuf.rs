//! Prometheus' protobuf format: `io.prometheus.client.MetricFamily`, each message after its length. Histograms are in both
//! forms, classic and native.

use std::time::SystemTime;

use super::handle::{Seen, Unit};
use super::layout::{Native, SCHEMA};
use super::registry::{Gathered, Kind, Registry, Sample, Value};
use super::text::help;
use crate::protobuf::Message;

/// Everything.
pub(super) fn encode(registry: &Registry) -> Vec<u8> {
    let mut out = Vec::new();
    for family in registry.gather(SystemTime::now()) {
        let mut message = Message::default();
        write_family(&mut message, &family);
        let mut length = message.0.len();
        while length >= 0x80 {
            out.push(length.to_le_bytes()[0] | 0x80);
            length >>= 7;
        }
        out.push(length.to_le_bytes()[0]);
        out.extend_from_slice(&message.0);
    }
    out
}

fn write_family(out: &mut Message, family: &Gathered) {
    out.text(1, family.desc.name);
    out.text(2, &help(&family.desc));
    let kind = match family.kind {
        Kind::Counter => 0,
        Kind::Gauge => 1,
        Kind::Histogram(_) => 4,
    };
    out.number(3, kind);
    for sample in &family.samples {
        out.message(4, |metric| write_metric(metric, family, sample));
    }
}

fn write_metric(out: &mut Message, family: &Gathered, sample: &Sample) {
    for (name, value) in family.names.iter().zip(&sample.labels) {
        out.message(1, |label| write_label(label, name, value));
    }
    let simple = |value: f64, out: &mut Message| match family.kind {
        Kind::Gauge => out.message(2, |gauge| gauge.double(1, value)),
        _ => out.message(3, |counter| {
            counter.double(1, value);
            counter.message(3, |at| write_time(at, sample.created));
        }),
    };
    match &sample.value {
        #[expect(clippy::cast_precision_loss, reason = "it is shown as a float")]
        Value::Counter(value) => simple(*value as f64, out),
        Value::Number(value) => simple(*value, out),
        Value::Histogram {
            counts,
            native,
            sum,
            exemplars,
        } => {
            let Kind::Histogram(unit) = family.kind else {
                return;
            };
            out.message(7, |histogram| {
                histogram.number(1, counts.iter().sum());
                histogram.double(2, *sum);
                write_buckets(histogram, &family.bounds, counts, exemplars, unit);
                if let Some(native) = native {
                    write_native(histogram, native);
                }
                histogram.message(15, |at| write_time(at, sample.created));
            });
        }
    }
}

/// The classic form. The bucket without a bound is the number of all, and is left out, as Prometheus' own library does.
fn write_buckets(
    out: &mut Message,
    bounds: &[f64],
    counts: &[u64],
    exemplars: &[(usize, Seen)],
    unit: Unit,
) {
    let mut total = 0;
    for (at, (bound, count)) in bounds.iter().zip(counts).enumerate() {
        total += count;
        out.message(3, |bucket| {
            bucket.number(1, total);
            bucket.double(2, *bound);
            if let Some((_, seen)) = exemplars.iter().find(|(of, _)| *of == at) {
                bucket.message(3, |exemplar| write_exemplar(exemplar, seen, unit));
            }
        });
    }
}

/// Spans say where buckets that hold something stand, deltas how many more each holds than the one before it.
fn write_native(out: &mut Message, native: &Native) {
    out.number(5, zigzag(SCHEMA.into()));
    out.double(6, native.zero_threshold);
    out.number(7, native.zero);
    let mut spans: Vec<(i32, u64)> = Vec::new();
    let mut next = 0;
    for (index, _) in &native.buckets {
        match spans.last_mut() {
            Some((_, length)) if *index == next => *length += 1,
            _ => spans.push((*index - next, 1)),
        }
        next = *index + 1;
    }
    if spans.is_empty() {
        // Without any span a reader would take it for a classic histogram alone.
        spans.push((0, 0));
    }
    for (offset, length) in spans {
        out.message(12, |span| {
            span.number(1, zigzag(offset.into()));
            span.number(2, length);
        });
    }
    let mut before = 0_i64;
    for (_, count) in &native.buckets {
        let count = i64::try_from(*count).unwrap_or(i64::MAX);
        out.number(13, zigzag(count - before));
        before = count;
    }
}

fn write_exemplar(out: &mut Message, seen: &Seen, unit: Unit) {
    let ids = [("trace_id", seen.ids.trace()), ("span_id", seen.ids.span())];
    for (name, value) in &ids {
        out.message(1, |label| write_label(label, name, value));
    }
    out.double(2, unit.shown(seen.value.into()));
    out.message(3, |at| write_time(at, seen.at));
}

fn write_label(out: &mut Message, name: &str, value: &str) {
    out.text(1, name);
    out.text(2, value);
}

fn write_time(out: &mut Message, at: SystemTime) {
    let since = at
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    out.number(1, since.as_secs());
    out.number(2, since.subsec_nanos().into());
}

/// As protobuf writes numbers that may be less than zero.
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::labels;
    use crate::metrics::{Desc, Format, Stability, encode};
    use crate::protobuf::{Field, bytes_at, fields, number_at};

    labels!(Ask { code });

    fn families(mut rest: &[u8]) -> Vec<&[u8]> {
        let mut all = Vec::new();
        while !rest.is_empty() {
            // A field without its tag: read it as one.
            let tagged = [&[0x0a_u8][..], rest].concat();
            let length = match fields(&tagged).next() {
                Some((1, Field::Bytes(message))) => message.len(),
                other => panic!("{other:?}"),
            };
            let size = length.max(1).ilog2() as usize / 7 + 1;
            all.push(&rest[size..size + length]);
            rest = &rest[size + length..];
        }
        all
    }

    #[test]
    fn each_family_is_a_message_with_both_forms_of_histograms() {
        let registry = Registry::default();
        let desc = |name| Desc::new(name, Stability::Alpha, "x");
        registry
            .counter::<Ask<'_>>(desc("a_total"))
            .with(&Ask { code: "200" })
            .add(3);
        let took = registry.histogram::<()>(desc("b_seconds"), Unit::Seconds, &[0.005, 1.0]);
        for millis in [1, 300, 300, 400, 4000] {
            took.with(&()).observe(Duration::from_millis(millis));
        }
        let out = encode(&registry, Format::Protobuf);
        let all = families(&out);
        assert_eq!(all.len(), 2);
        assert_eq!(bytes_at(all[0], 1), Some(&b"a_total"[..]));
        let metric = bytes_at(all[0], 4).unwrap();
        assert_eq!(bytes_at(bytes_at(metric, 1).unwrap(), 2), Some(&b"200"[..]));
        assert_eq!(number_at(all[1], 3), 4, "a histogram");
        let histogram = bytes_at(bytes_at(all[1], 4).unwrap(), 7).unwrap();
        assert_eq!(number_at(histogram, 1), 5);
        let numbers = |field| {
            fields(histogram)
                .filter_map(|(at, it)| match it {
                    Field::Number(it) if at == field => Some(it),
                    _ => None,
                })
                .collect::<Vec<_>>()
        };
        let messages = |field| {
            fields(histogram)
                .filter_map(|(at, it)| match it {
                    Field::Bytes(it) if at == field => Some(it),
                    _ => None,
                })
                .collect::<Vec<_>>()
        };
        let cumulative: Vec<_> = messages(3).iter().map(|it| number_at(it, 1)).collect();
        assert_eq!(cumulative, [1, 4], "classic");
        assert_eq!(numbers(5), [2], "schema 1");
        // 1 ms is in (2^-10, 2^-9.5], 300 ms in (2^-2, 2^-1.5], 400 ms in the next, 4 s in (2^1.5, 2^2].
        let spans: Vec<_> = messages(12)
            .iter()
            .map(|it| (number_at(it, 1), number_at(it, 2)))
            .collect();
        let offset = |it: i64| zigzag(it);
        assert_eq!(spans, [(offset(-19), 1), (offset(15), 2), (offset(5), 1)]);
        assert_eq!(numbers(13), [zigzag(1), zigzag(1), zigzag(-1), zigzag(0)]);
    }

    #[test]
    fn who_asks_for_it_by_name_gets_it() {
        let name = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
        let prometheus = format!(
            "{name};q=0.7,application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.4,*/*;q=0.1"
        );
        let cases = [
            (name.to_owned(), Format::Protobuf),
            (prometheus, Format::Protobuf),
            (format!("text/plain,{name};q=0.5"), Format::Prometheus),
            (name.replace("delimited", "text"), Format::Prometheus),
            (
                "application/vnd.google.protobuf".to_owned(),
                Format::Prometheus,
            ),
            (
                "application/vnd.kubernetes.protobuf".to_owned(),
                Format::Prometheus,
            ),
            (
                "application/openmetrics-text".to_owned(),
                Format::OpenMetrics,
            ),
        ];
        for (header, expected) in cases {
            assert_eq!(Format::accepted(&header), expected, "{header}");
        }
    }
}
