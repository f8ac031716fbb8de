//! Delta counts of short-lived programs: each export has what came since the last one. They rest as OTLP/JSON,
//! which people can read, and are sent as protobuf.

use json::{Value, json};

use super::otlp::metric;
use super::registry::Kind;
use crate::export::{Outcome, Signal, Target, send_once};
use crate::protobuf::{self, Message};

const DELTA: u32 = 1;

/// A sum.
#[derive(Clone, Debug)]
pub struct Counter {
    pub name: &'static str,
    pub description: &'static str,
    pub unit: &'static str,
    pub points: Vec<Point>,
}

#[derive(Clone, Debug)]
pub struct Point {
    pub attributes: Vec<(&'static str, String)>,
    pub count: u64,
}

/// What was counted between two times, in seconds since 1970, by whom and of what.
pub fn document(
    resource: &[(&str, &str)],
    scope: &str,
    counters: &[Counter],
    (start, end): (u64, u64),
) -> Value {
    let nanoseconds = |seconds: u64| seconds.saturating_mul(1_000_000_000).to_string();
    let (start, end) = (nanoseconds(start), nanoseconds(end));
    let point = |it: &Point| {
        let attributes = it.attributes.iter();
        let attributes = attributes.map(|(key, value)| attribute(key, value));
        json!({
            "attributes": (attributes.collect::<Value>()),
            "startTimeUnixNano": (&*start),
            "timeUnixNano": (&*end),
            "asInt": (it.count.to_string()),
        })
    };
    let metrics = counters.iter().map(|it| {
        json!({
            "name": (it.name),
            "description": (it.description),
            "unit": (it.unit),
            "sum": {
                "dataPoints": (it.points.iter().map(point).collect::<Value>()),
                "aggregationTemporality": (i64::from(DELTA)),
                "isMonotonic": true,
            },
        })
    });
    let resource = resource.iter().map(|(key, value)| attribute(key, value));
    json!({"resourceMetrics": [{
        "resource": {"attributes": (resource.collect::<Value>())},
        "scopeMetrics": [{
            "scope": {"name": scope},
            "metrics": (metrics.collect::<Value>()),
        }],
    }]})
}

fn attribute(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// All of several documents in one.
pub fn join(documents: Vec<Value>) -> Value {
    let mut all = Vec::new();
    for mut document in documents {
        let inner = document.get_mut("resourceMetrics").map(Value::take);
        if let Some(Value::Array(mut inner)) = inner {
            all.append(&mut inner);
        }
    }
    json!({"resourceMetrics": all})
}

/// One attempt, within the target's timeout. Blocks.
pub fn send(document: &Value, target: Target) -> Outcome {
    let (message, points) = encode(document);
    let timeout = target.timeout;
    send_once(target, Signal::Metrics, message, points, timeout)
}

/// The document in protobuf, and how many points it has. What is not known here is left out.
fn encode(document: &Value) -> (Vec<u8>, u64) {
    let mut out = Message::default();
    let mut count = 0;
    for resource in items(document, "resourceMetrics") {
        out.message(1, |out| {
            out.message(1, |out| {
                attributes(out, 1, resource.get("resource"));
            });
            for scoped in items(resource, "scopeMetrics") {
                out.message(2, |out| {
                    out.message(1, |out| out.text(1, text(scoped, &["scope", "name"])));
                    for it in items(scoped, "metrics") {
                        let points = it.get("sum").map_or(&[][..], |it| items(it, "dataPoints"));
                        count += points.len() as u64;
                        let points: Vec<_> = points.iter().map(point).collect();
                        let texts = ["name", "description", "unit"].map(|key| text(it, &[key]));
                        out.message(2, |out| {
                            metric(out, texts, Kind::Counter, DELTA.into(), &points);
                        });
                    }
                });
            }
        });
    }
    (out.0, count)
}

fn point(it: &Value) -> Vec<u8> {
    let mut out = Message::default();
    // A number of 64 bits stands in a string in JSON.
    for (field, key) in [(2, "startTimeUnixNano"), (3, "timeUnixNano"), (6, "asInt")] {
        out.fixed64(field, text(it, &[key]).parse().unwrap_or_default());
    }
    attributes(&mut out, 7, Some(it));
    out.0
}

fn attributes(out: &mut Message, field: u32, of: Option<&Value>) {
    for it in of.map_or(&[][..], |of| items(of, "attributes")) {
        let (key, value) = (text(it, &["key"]), text(it, &["value", "stringValue"]));
        protobuf::attribute(out, field, key, value);
    }
}

fn text<'a>(of: &'a Value, path: &[&str]) -> &'a str {
    of.str_at(path).unwrap_or_default()
}

fn items<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    let found = of.get(key).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_the_specification() {
        let counter = Counter {
            name: "n",
            description: "d",
            unit: "u",
            points: vec![Point {
                attributes: vec![("k", "v".into())],
                count: 300,
            }],
        };
        let document = document(&[], "kustomize", &[counter], (3600, 7200));
        // Each length counts what stands below it, further in.
        let mut wanted = b"\x0a\x49\x0a\x00\x12\x45".to_vec();
        wanted.extend(b"\x0a\x0b\x0a\x09kustomize");
        wanted.extend(b"\x12\x36\x0a\x01n\x12\x01d\x1a\x01u\x3a\x2b\x0a\x25\x11");
        wanted.extend((3600 * 1_000_000_000u64).to_le_bytes());
        wanted.push(0x19);
        wanted.extend((7200 * 1_000_000_000u64).to_le_bytes());
        wanted.push(0x31);
        wanted.extend(300u64.to_le_bytes());
        wanted.extend(b"\x3a\x08\x0a\x01k\x12\x03\x0a\x01v\x10\x01\x18\x01");
        assert_eq!(encode(&document), (wanted, 1));
    }

    #[test]
    fn documents_are_joined() {
        let one = document(&[("a", "b")], "s", &[], (0, 1));
        let two = join(vec![one.clone(), one.clone(), json!(3i64)]);
        assert_eq!(items(&two, "resourceMetrics").len(), 2);
        let twice = [encode(&one).0, encode(&one).0].concat();
        assert_eq!(encode(&two).0, twice);
    }
}
