//! A record as a line.

use std::fmt::Write as _;
use std::time::SystemTime;

use json::{Number, Object, Value};
use meta::time::{Time, go_duration_string};

use super::{Field, Record, Severity, cut};

/// `I1116 02:21:01.123456 httplog] "HTTP" verb="LIST" ...`, as klog writes structured lines.
pub(super) fn text(record: &Record<'_>, now: SystemTime) -> String {
    let now = time(now).to_micro_string();
    let part = |range| now.get(range).unwrap_or_default();
    let letter = match record.severity {
        Severity::Info => 'I',
        Severity::Warning => 'W',
        Severity::Error => 'E',
    };
    let mut line = format!(
        "{letter}{}{} {} {}] {:?}",
        part(5..7),
        part(8..10),
        part(11..26),
        record.target.name,
        cut(record.message),
    );
    let mut put = |key: &str, value: String| {
        write!(line, " {key}={value}").expect("a String takes all");
    };
    for (key, field) in record.fields {
        put(
            key,
            match field {
                Field::Text(text) => format!("{:?}", cut(text)),
                Field::Number(number) => number.to_string(),
                Field::Flag(flag) => flag.to_string(),
                Field::Took(took) => format!("\"{}\"", go_duration_string(*took)),
            },
        );
    }
    for (key, value) in ids(record) {
        put(key, format!("{value:?}"));
    }
    line.push('\n');
    line
}

/// `{"ts":1700000000000.123,"logger":"httplog","v":3,"msg":"HTTP",...}`, as Kubernetes' components write JSON.
pub(super) fn json(record: &Record<'_>, now: SystemTime) -> String {
    let mut line = Object::new();
    let since = now.duration_since(SystemTime::UNIX_EPOCH);
    let since = since.unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "exact for thousands of years")]
    let milliseconds = since.as_micros() as f64 / 1000.0;
    line.insert("ts", Value::Number(Number::Float(milliseconds)));
    line.insert("logger", record.target.name);
    match record.severity {
        Severity::Info => drop(line.insert("v", i64::from(record.level))),
        Severity::Warning => drop(line.insert("severity", "warning")),
        Severity::Error => drop(line.insert("severity", "error")),
    }
    line.insert("msg", cut(record.message));
    for (key, field) in record.fields {
        let value: Value = match field {
            Field::Text(text) => cut(text).into(),
            Field::Number(number) => (*number).into(),
            Field::Flag(flag) => (*flag).into(),
            Field::Took(took) => go_duration_string(*took).into(),
        };
        line.insert(*key, value);
    }
    for (key, value) in ids(record) {
        line.insert(key, value);
    }
    json::to_string(&line.into()) + "\n"
}

/// By the names that Kubernetes and OpenTelemetry have for them.
fn ids(record: &Record<'_>) -> impl Iterator<Item = (&'static str, String)> {
    let audit = Some(("audit-ID", cut(record.audit_id).to_owned()));
    let trace = record.ids.map(|it| ("traceID", it.trace()));
    let span = record.ids.map(|it| ("spanID", it.span()));
    let all = [audit.filter(|(_, it)| !it.is_empty()), trace, span];
    all.into_iter().flatten()
}

fn time(now: SystemTime) -> Time {
    let since = now.duration_since(SystemTime::UNIX_EPOCH);
    let since = since.unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or_default();
    Time::from_unix(seconds, since.subsec_nanos())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Ids;
    use crate::logs::{HTTPLOG, SERVER};

    fn at() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_micros(1_794_795_661_123_456)
    }

    #[test]
    fn a_request() {
        let record = Record {
            target: &HTTPLOG,
            severity: Severity::Info,
            level: 3,
            message: "HTTP",
            fields: &[
                ("verb", Field::Text("LIST")),
                ("latency", Field::Took(Duration::from_micros(1500))),
                ("user", Field::Text("a\nb\"")),
                ("resp", Field::Number(200)),
            ],
            ids: Some(Ids {
                trace_id: [0xab; 16],
                span_id: [1; 8],
            }),
            audit_id: "id",
        };
        let trace = "ab".repeat(16);
        assert_eq!(
            text(&record, at()),
            format!(
                "I1116 02:21:01.123456 httplog] \"HTTP\" verb=\"LIST\" latency=\"1.5ms\" user=\"a\\nb\\\"\" resp=200 \
                 audit-ID=\"id\" traceID=\"{trace}\" spanID=\"0101010101010101\"\n"
            )
        );
        assert_eq!(
            json(&record, at()),
            format!(
                "{{\"ts\":1794795661123.456,\"logger\":\"httplog\",\"v\":3,\"msg\":\"HTTP\",\"verb\":\"LIST\",\
                 \"latency\":\"1.5ms\",\"user\":\"a\\nb\\\"\",\"resp\":200,\"audit-ID\":\"id\",\
                 \"traceID\":\"{trace}\",\"spanID\":\"0101010101010101\"}}\n"
            )
        );
    }

    #[test]
    fn what_belongs_to_no_request() {
        let record = Record {
            target: &SERVER,
            severity: Severity::Warning,
            level: 0,
            message: "x",
            fields: &[],
            ids: None,
            audit_id: "",
        };
        assert_eq!(text(&record, at()), "W1116 02:21:01.123456 server] \"x\"\n");
        let line = "{\"ts\":1794795661123.456,\"logger\":\"server\",\"severity\":\"warning\",\"msg\":\"x\"}\n";
        assert_eq!(json(&record, at()), line);
    }

    #[test]
    fn long_texts_are_cut() {
        let long = "ä".repeat(3000);
        let record = Record {
            target: &SERVER,
            severity: Severity::Error,
            level: 0,
            message: "x",
            fields: &[("uri", Field::Text(&long))],
            ids: None,
            audit_id: "",
        };
        assert!(text(&record, at()).len() < 4200);
        assert!(json(&record, at()).len() < 4200);
    }
}
