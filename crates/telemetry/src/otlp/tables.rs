//! The messages of OTLP's traces as tables: numbers of protobuf, names of JSON. Facts of `trace.proto`, `common.proto`,
//! `resource.proto` and `trace_service.proto` of OTLP 1.9.

/// A field of a message.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) number: u64,
    pub(super) name: &'static str,
    pub(super) repeated: bool,
    pub(super) kind: Kind,
}

/// What a field holds, and with that how JSON writes it.
#[derive(Debug)]
pub(super) enum Kind {
    Text,
    Bool,
    Double,
    /// Bytes in hexadecimal: ids.
    Hex,
    Base64,
    /// Numbers of 64 bits, which JSON has as texts.
    Fixed64,
    Int64,
    /// Numbers that JSON has as such.
    Int32,
    Fixed32,
    /// A number that also has names. Only the number is written.
    Enum(&'static [&'static str]),
    Message(&'static [Entry]),
    /// The same, but it may be within itself.
    Value,
}

const fn one(number: u64, name: &'static str, kind: Kind) -> Entry {
    Entry {
        number,
        name,
        repeated: false,
        kind,
    }
}

const fn many(number: u64, name: &'static str, kind: Kind) -> Entry {
    Entry {
        number,
        name,
        repeated: true,
        kind,
    }
}

use Kind::{Base64, Bool, Double, Enum, Fixed32, Fixed64, Hex, Int32, Int64, Message, Text, Value};

/// `ExportTraceServiceRequest`, which has the same fields as `TracesData`.
pub(super) static REQUEST: [Entry; 1] = [many(1, "resourceSpans", Message(&RESOURCE_SPANS))];

static RESOURCE_SPANS: [Entry; 3] = [
    one(1, "resource", Message(&RESOURCE)),
    many(2, "scopeSpans", Message(&SCOPE_SPANS)),
    one(3, "schemaUrl", Text),
];

static RESOURCE: [Entry; 3] = [
    many(1, "attributes", Message(&KEY_VALUE)),
    one(2, "droppedAttributesCount", Int32),
    many(3, "entityRefs", Message(&ENTITY_REF)),
];

static ENTITY_REF: [Entry; 4] = [
    one(1, "schemaUrl", Text),
    one(2, "type", Text),
    many(3, "idKeys", Text),
    many(4, "descriptionKeys", Text),
];

static SCOPE_SPANS: [Entry; 3] = [
    one(1, "scope", Message(&SCOPE)),
    many(2, "spans", Message(&SPAN)),
    one(3, "schemaUrl", Text),
];

static SCOPE: [Entry; 4] = [
    one(1, "name", Text),
    one(2, "version", Text),
    many(3, "attributes", Message(&KEY_VALUE)),
    one(4, "droppedAttributesCount", Int32),
];

static SPAN: [Entry; 16] = [
    one(1, "traceId", Hex),
    one(2, "spanId", Hex),
    one(3, "traceState", Text),
    one(4, "parentSpanId", Hex),
    one(16, "flags", Fixed32),
    one(5, "name", Text),
    one(
        6,
        "kind",
        Enum(&[
            "SPAN_KIND_UNSPECIFIED",
            "SPAN_KIND_INTERNAL",
            "SPAN_KIND_SERVER",
            "SPAN_KIND_CLIENT",
            "SPAN_KIND_PRODUCER",
            "SPAN_KIND_CONSUMER",
        ]),
    ),
    one(7, "startTimeUnixNano", Fixed64),
    one(8, "endTimeUnixNano", Fixed64),
    many(9, "attributes", Message(&KEY_VALUE)),
    one(10, "droppedAttributesCount", Int32),
    many(11, "events", Message(&EVENT)),
    one(12, "droppedEventsCount", Int32),
    many(13, "links", Message(&LINK)),
    one(14, "droppedLinksCount", Int32),
    one(15, "status", Message(&STATUS)),
];

static EVENT: [Entry; 4] = [
    one(1, "timeUnixNano", Fixed64),
    one(2, "name", Text),
    many(3, "attributes", Message(&KEY_VALUE)),
    one(4, "droppedAttributesCount", Int32),
];

static LINK: [Entry; 6] = [
    one(1, "traceId", Hex),
    one(2, "spanId", Hex),
    one(3, "traceState", Text),
    many(4, "attributes", Message(&KEY_VALUE)),
    one(5, "droppedAttributesCount", Int32),
    one(6, "flags", Fixed32),
];

static STATUS: [Entry; 2] = [
    one(2, "message", Text),
    one(
        3,
        "code",
        Enum(&["STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"]),
    ),
];

static KEY_VALUE: [Entry; 2] = [one(1, "key", Text), one(2, "value", Value)];

pub(super) static ANY_VALUE: [Entry; 7] = [
    one(1, "stringValue", Text),
    one(2, "boolValue", Bool),
    one(3, "intValue", Int64),
    one(4, "doubleValue", Double),
    one(5, "arrayValue", Message(&ARRAY)),
    one(6, "kvlistValue", Message(&LIST)),
    one(7, "bytesValue", Base64),
];

static ARRAY: [Entry; 1] = [many(1, "values", Value)];
static LIST: [Entry; 1] = [many(1, "values", Message(&KEY_VALUE))];
