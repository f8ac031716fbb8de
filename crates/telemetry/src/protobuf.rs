//! Protobuf as OTLP uses it.

pub use encoding::protobuf::{Field, Message, bytes_at, fields, number_at};

/// OTLP's `KeyValue` with a text.
pub fn attribute(out: &mut Message, field: u32, key: &str, value: &str) {
    out.message(field, |pair| {
        pair.text(1, key);
        pair.message(2, |any| any.text(1, value));
    });
}
