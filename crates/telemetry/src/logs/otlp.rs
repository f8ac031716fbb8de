//! A record as OTLP has it.

use std::time::SystemTime;

use super::{Field, Record, Severity, cut};
use crate::export::Item;
use crate::protobuf::{self, Message};

/// A record that waits to be sent: the `LogRecord` it becomes.
#[derive(Debug)]
pub struct Entry {
    scope: &'static str,
    encoded: Vec<u8>,
}

impl Entry {
    pub(super) fn new(record: &Record<'_>, now: SystemTime) -> Self {
        let mut out = Message::default();
        let since = now.duration_since(SystemTime::UNIX_EPOCH);
        let now = since.map_or(0, |it| u64::try_from(it.as_nanos()).unwrap_or(u64::MAX));
        out.fixed64(1, now);
        out.fixed64(11, now);
        let (number, text) = match record.severity {
            // Lines above level 0 are for debugging.
            Severity::Info if record.level > 3 => (5, "DEBUG"),
            Severity::Info => (9, "INFO"),
            Severity::Warning => (13, "WARN"),
            Severity::Error => (17, "ERROR"),
        };
        out.number(2, number);
        out.text(3, text);
        out.message(5, |body| body.text(1, cut(record.message)));
        for (key, field) in record.fields {
            match field {
                Field::Text(text) => protobuf::attribute(&mut out, 6, key, cut(text)),
                Field::Took(took) => {
                    protobuf::attribute(&mut out, 6, key, &meta::time::go_duration_string(*took));
                }
                // Bool is field 2 of AnyValue, as in `opentelemetry/proto/common/v1/common.proto`.
                Field::Flag(flag) => out.message(6, |pair| {
                    pair.text(1, key);
                    pair.message(2, |any| any.number(2, u64::from(*flag)));
                }),
                Field::Number(number) => out.message(6, |pair| {
                    pair.text(1, key);
                    pair.message(2, |any| any.number(3, number.cast_unsigned()));
                }),
            }
        }
        if !record.audit_id.is_empty() {
            protobuf::attribute(&mut out, 6, "audit-ID", cut(record.audit_id));
        }
        if let Some(ids) = record.ids {
            // The trace is sampled, or it would have no ids.
            out.fixed32(8, 1);
            out.bytes(9, &ids.trace_id);
            out.bytes(10, &ids.span_id);
        }
        Self {
            scope: record.target.name,
            encoded: out.0,
        }
    }
}

impl Item for Entry {
    fn spans(&self) -> u64 {
        1
    }

    /// A `ScopeLogs`, as field 2 of `ResourceLogs`.
    fn encode(&self, out: &mut Vec<u8>) {
        let mut logs = Message(std::mem::take(out));
        logs.message(2, |scope| {
            scope.message(1, |it| it.text(1, self.scope));
            scope.bytes(2, &self.encoded);
        });
        *out = logs.0;
    }
}
