//! OTLP metrics: one document, written as OTLP/JSON and as protobuf.
//!
//! The JSON form is what rests in the spool and what people are shown; the other is made of it when it is sent.

use json::{Value, json};

/// A sum that says what came to it since it was last told.
#[derive(Clone, Debug)]
pub(crate) struct Counter {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) points: Vec<Point>,
}

#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) attributes: Vec<(&'static str, String)>,
    pub(crate) count: u64,
}

/// In OpenTelemetry's words.
const OS: &str = match std::env::consts::OS.as_bytes() {
    b"macos" => "darwin",
    _ => std::env::consts::OS,
};
const ARCH: &str = match std::env::consts::ARCH.as_bytes() {
    b"x86_64" => "amd64",
    b"aarch64" => "arm64",
    _ => std::env::consts::ARCH,
};

const DELTA: i64 = 1;
const HOUR: u64 = 3600;

/// An `ExportMetricsServiceRequest`. The time is told to the hour.
pub(crate) fn document(counters: &[Counter], unix_seconds: u64) -> Value {
    let hour = unix_seconds / HOUR * HOUR;
    let nanoseconds = |seconds: u64| seconds.saturating_mul(1_000_000_000).to_string();
    let (start, end) = (nanoseconds(hour.saturating_sub(HOUR)), nanoseconds(hour));
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
                "aggregationTemporality": DELTA,
                "isMonotonic": true,
            },
        })
    });
    json!({"resourceMetrics": [{
        "resource": {"attributes": [
            (attribute("service.name", "pilothouse")),
            (attribute("service.version", env!("CARGO_PKG_VERSION"))),
            (attribute("os.type", OS)),
            (attribute("host.arch", ARCH)),
        ]},
        "scopeMetrics": [{
            "scope": {"name": "kustomize"},
            "metrics": (metrics.collect::<Value>()),
        }],
    }]})
}

fn attribute(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// All of several documents in one.
pub(crate) fn join(documents: Vec<Value>) -> Value {
    let mut all = Vec::new();
    for mut document in documents {
        let inner = document.get_mut("resourceMetrics").map(Value::take);
        if let Some(Value::Array(mut inner)) = inner {
            all.append(&mut inner);
        }
    }
    json!({"resourceMetrics": all})
}

/// The same document as protobuf. What is not known here is left out.
pub(crate) fn protobuf(document: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    for resource in items(document, "resourceMetrics") {
        message(&mut out, 1, |out| {
            message(out, 1, |out| {
                attributes(out, 1, resource.get("resource"));
            });
            for scoped in items(resource, "scopeMetrics") {
                message(out, 2, |out| {
                    message(out, 1, |out| {
                        text(out, 1, scoped.str_at(&["scope", "name"]));
                    });
                    for it in items(scoped, "metrics") {
                        message(out, 2, |out| metric(out, it));
                    }
                });
            }
        });
    }
    out
}

fn metric(out: &mut Vec<u8>, it: &Value) {
    text(out, 1, it.str_at(&["name"]));
    text(out, 2, it.str_at(&["description"]));
    text(out, 3, it.str_at(&["unit"]));
    let Some(sum) = it.get("sum") else { return };
    message(out, 7, |out| {
        for point in items(sum, "dataPoints") {
            message(out, 1, |out| {
                fixed(out, 2, point.str_at(&["startTimeUnixNano"]));
                fixed(out, 3, point.str_at(&["timeUnixNano"]));
                fixed(out, 6, point.str_at(&["asInt"]));
                attributes(out, 7, Some(point));
            });
        }
        varint(out, 2 << 3);
        varint(out, DELTA.unsigned_abs());
        varint(out, 3 << 3);
        varint(out, 1);
    });
}

fn attributes(out: &mut Vec<u8>, field: u64, of: Option<&Value>) {
    for it in of.map_or(&[][..], |of| items(of, "attributes")) {
        message(out, field, |out| {
            text(out, 1, it.str_at(&["key"]));
            message(out, 2, |out| {
                text(out, 1, it.str_at(&["value", "stringValue"]));
            });
        });
    }
}

fn items<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    let found = of.get(key).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

fn message(out: &mut Vec<u8>, field: u64, write: impl FnOnce(&mut Vec<u8>)) {
    let mut inner = Vec::new();
    write(&mut inner);
    varint(out, field << 3 | 2);
    varint(out, inner.len() as u64);
    out.extend(inner);
}

fn text(out: &mut Vec<u8>, field: u64, it: Option<&str>) {
    let it = it.unwrap_or_default();
    message(out, field, |out| out.extend(it.as_bytes()));
}

/// Sixty-four bits; a number stands in a string in JSON.
fn fixed(out: &mut Vec<u8>, field: u64, it: Option<&str>) {
    let it: u64 = it.and_then(|it| it.parse().ok()).unwrap_or_default();
    varint(out, field << 3 | 1);
    out.extend(it.to_le_bytes());
}

fn varint(out: &mut Vec<u8>, mut it: u64) {
    loop {
        let [low, ..] = it.to_le_bytes();
        it >>= 7;
        if it == 0 {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
}

/// How many points an `ExportMetricsServiceResponse` rejects: field 1 of its field 1.
pub(crate) fn rejected(response: &[u8]) -> u64 {
    let partial = fields(response).find_map(|(number, it)| match it {
        Field::Bytes(it) if number == 1 => Some(it),
        _ => None,
    });
    let found = fields(partial.unwrap_or_default()).find_map(|(number, it)| match it {
        Field::Number(it) if number == 1 => Some(it),
        _ => None,
    });
    found.unwrap_or_default()
}

enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Other,
}

/// Ends where the bytes make no sense.
fn fields(mut from: &[u8]) -> impl Iterator<Item = (u64, Field<'_>)> {
    std::iter::from_fn(move || {
        let key = read_varint(&mut from)?;
        let field = match key & 7 {
            0 => Field::Number(read_varint(&mut from)?),
            1 => from.split_off(..8).map(|_| Field::Other)?,
            2 => {
                let length = usize::try_from(read_varint(&mut from)?).ok()?;
                Field::Bytes(from.split_off(..length)?)
            }
            5 => from.split_off(..4).map(|_| Field::Other)?,
            _ => return None,
        };
        Some((key >> 3, field))
    })
}

fn read_varint(from: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *from.split_off_first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
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
        let mut document = document(&[counter], 2 * 3600 + 5);
        let all = document.get_mut("resourceMetrics").unwrap();
        let first = &mut all.as_array_mut().unwrap()[0];
        first.as_object_mut().unwrap().remove("resource");
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
        assert_eq!(protobuf(&document), wanted);
    }

    #[test]
    fn what_is_rejected_is_understood() {
        assert_eq!(rejected(b""), 0);
        assert_eq!(rejected(b"\x0a\x00"), 0);
        assert_eq!(rejected(b"\x0a\x05\x08\xac\x02\x12\x00"), 300);
        assert_eq!(rejected(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 0);
        assert_eq!(rejected(&[0xff; 40]), 0);
    }

    #[test]
    fn documents_are_joined() {
        let one = document(&[], 0);
        let two = join(vec![one.clone(), one.clone(), json!(3i64)]);
        assert_eq!(items(&two, "resourceMetrics").len(), 2);
        let mut twice = protobuf(&one);
        twice.extend(protobuf(&one));
        assert_eq!(protobuf(&two), twice);
    }
}
