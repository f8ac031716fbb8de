//! Kubernetes' protobuf, by table: objects to and from the bytes that upstream's generated code reads and writes.
//!
//! An object travels in an envelope: four bytes of magic and a `runtime.Unknown` that names apiVersion and kind. A watch
//! sends frames: four bytes of length and a `WatchEvent` without an envelope, whose object has one.

mod decode;
mod encode;
mod wire;

pub use decode::decode;
pub use encode::encode;

use encoding::protobuf::{Message, put_bytes};
use json::Value;

use crate::builtin;
use wire::Reader;

pub const MAGIC: [u8; 4] = *b"k8s\0";
pub const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";
/// Messages in messages; upstream has no bound.
const DEPTH: usize = 100;
/// All messages and items of one object: each costs more here than its two bytes on the wire.
const MESSAGES: usize = 1_000_000;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    )]
    NoMagic,
    #[error("unexpected EOF")]
    Truncated,
    #[error("proto: integer overflow")]
    Overflow,
    #[error("proto: illegal tag {0} (wire type {1})")]
    IllegalTag(u64, u8),
    #[error("proto: wrong wireType = {0} for field {1}")]
    WrongWire(u8, String),
    #[error("the message is nested too deep or has too many parts")]
    TooLarge,
    #[error("a raw value is not JSON: {0}")]
    Raw(json::ParseError),
    #[error("{0}")]
    Quantity(meta::quantity::QuantityError),
    #[error("no kind \"{kind}\" is registered for version \"{api_version}\"")]
    UnknownKind { api_version: String, kind: String },
    #[error("{field} cannot be written as protobuf: {why}")]
    Value { field: String, why: String },
}

/// What an envelope says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope<'a> {
    pub api_version: String,
    pub kind: String,
    /// The object's own message.
    pub raw: &'a [u8],
    pub content_encoding: String,
    pub content_type: String,
}

pub fn open(bytes: &[u8]) -> Result<Envelope<'_>, Error> {
    let rest = bytes.strip_prefix(&MAGIC).ok_or(Error::NoMagic)?;
    let mut envelope = Envelope::default();
    let mut reader = Reader::new(rest);
    while let Some((number, wire)) = reader.tag()? {
        match number {
            1 => {
                let mut inner = Reader::new(reader.bytes(wire, "typeMeta")?);
                while let Some((number, wire)) = inner.tag()? {
                    match number {
                        1 => envelope.api_version = inner.string(wire, "apiVersion")?,
                        2 => envelope.kind = inner.string(wire, "kind")?,
                        _ => inner.skip(wire)?,
                    }
                }
            }
            2 => envelope.raw = reader.bytes(wire, "raw")?,
            3 => envelope.content_encoding = reader.string(wire, "contentEncoding")?,
            4 => envelope.content_type = reader.string(wire, "contentType")?,
            _ => reader.skip(wire)?,
        }
    }
    Ok(envelope)
}

/// Puts an object's message in its envelope.
pub fn seal(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let mut out = envelope(api_version, kind, raw.len(), raw.len());
    out.extend_from_slice(raw);
    out.extend_from_slice(&END);
    out
}

/// The envelope's last fields, content encoding and type, which are empty.
const END: [u8; 4] = [0x1a, 0, 0x22, 0];

/// An envelope up to a message of so many bytes, with room for some of them.
fn envelope(api_version: &str, kind: &str, length: usize, room: usize) -> Vec<u8> {
    let mut writer = Message::with_capacity(room + api_version.len() + kind.len() + 32);
    writer.raw(&MAGIC);
    writer.message(1, |writer| {
        writer.text(1, api_version);
        writer.text(2, kind);
    });
    writer.length(2, length);
    writer.0
}

/// An object of a built-in kind from its envelope, with apiVersion and kind.
pub fn decode_object(bytes: &[u8]) -> Result<Value, Error> {
    let envelope = open(bytes)?;
    let (group, version) = match envelope.api_version.split_once('/') {
        Some((group, version)) => (group, version),
        None => ("", &*envelope.api_version),
    };
    let Some(schema) = builtin().kind(group, version, &envelope.kind) else {
        return Err(Error::UnknownKind {
            api_version: envelope.api_version,
            kind: envelope.kind,
        });
    };
    let mut value = decode(schema.place(), envelope.raw)?;
    if let Value::Object(object) = &mut value {
        object.insert("kind", envelope.kind);
        object.insert("apiVersion", envelope.api_version);
    }
    crate::order(schema.place(), &mut value);
    Ok(value)
}

/// An object in its envelope; it names its own apiVersion and kind.
pub fn encode_object(place: crate::Place<'_>, object: &Value) -> Result<Vec<u8>, Error> {
    let text = |name: &str| object.str_at(&[name]).unwrap_or_default();
    Ok(seal(
        text("apiVersion"),
        text("kind"),
        &encode(place, object)?,
    ))
}

/// Appends one item of a list. In every list, metadata is the first field, and items are the second.
pub fn write_item(out: &mut Vec<u8>, place: crate::Place<'_>, item: &Value) -> Result<(), Error> {
    let item = encode(place, item)?;
    put_bytes(out, 2, &item);
    Ok(())
}

/// What surrounds the items of a list in its envelope: `list` is encoded without any, they are `length` bytes.
pub fn list_envelope(
    api_version: &str,
    kind: &str,
    list: &[u8],
    length: usize,
) -> (Vec<u8>, Vec<u8>) {
    let mut head = envelope(api_version, kind, list.len() + length, list.len());
    head.extend_from_slice(list);
    (head, END.to_vec())
}

/// Whether a kind has a protobuf form at all: `Table` has none.
pub fn is_supported(place: crate::Place<'_>) -> bool {
    let go = place.node().go.as_ref();
    go.is_some_and(|it| !it.members.is_empty())
}

/// One frame of a watch. The object is in its envelope.
pub fn watch_frame(event: &str, object: &[u8]) -> Vec<u8> {
    let mut writer = Message::with_capacity(object.len() + 32);
    writer.raw(&[0; 4]);
    writer.bytes(1, event.as_bytes());
    writer.message(2, |writer| writer.bytes(1, object));
    let length = u32::try_from(writer.0.len() - 4).unwrap_or(u32::MAX);
    writer.0[..4].copy_from_slice(&length.to_be_bytes());
    writer.0
}
