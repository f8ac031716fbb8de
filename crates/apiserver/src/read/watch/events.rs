//! Hot path. Watch events as bytes: encoded once for all watches of the same form, several sent together.

use bytes::Bytes;
use json::Value;
use meta::Status;
use store::Revision;

use crate::catalog::convert;
use crate::handler::render::Renderer;
use crate::request::negotiate::Format;

/// An event that is the same for all watches of this form.
pub(super) fn whole(
    renderer: &Renderer<'_>,
    kind: &str,
    bytes: &[u8],
    revision: Revision,
    out: &mut Vec<u8>,
) -> Result<(), Status> {
    if renderer.accepted.format != Format::Json {
        return protobuf(renderer, kind, bytes, revision, out);
    }
    renderer.event(out, kind, bytes, revision)?;
    out.push(b'\n');
    Ok(())
}

/// What is sent together. One event alone, the common case, is sent as it was encoded for all.
#[derive(Default)]
pub(super) struct Frame {
    shared: Bytes,
    own: Vec<u8>,
}

impl Frame {
    pub(super) fn push(&mut self, bytes: Bytes) {
        if self.len() == 0 {
            self.shared = bytes;
        } else {
            self.own().extend_from_slice(&bytes);
        }
    }

    pub(super) fn own(&mut self) -> &mut Vec<u8> {
        if !self.shared.is_empty() {
            self.own
                .extend_from_slice(&std::mem::take(&mut self.shared));
        }
        &mut self.own
    }

    pub(super) fn len(&self) -> usize {
        self.shared.len() + self.own.len()
    }

    pub(super) fn finish(self) -> Option<Bytes> {
        let bytes = if self.own.is_empty() {
            self.shared
        } else {
            self.own.into()
        };
        (!bytes.is_empty()).then_some(bytes)
    }
}

/// A watch event as a frame: four bytes of length, then the event.
fn protobuf(
    renderer: &Renderer<'_>,
    kind: &str,
    bytes: &[u8],
    revision: Revision,
    out: &mut Vec<u8>,
) -> Result<(), Status> {
    let object = convert::decode(renderer.resource, bytes, revision)?;
    let shown = renderer.shown(object);
    let raw = convert::to_protobuf(&shown)?;
    out.extend_from_slice(&schema::protobuf::watch_frame(kind, &raw));
    Ok(())
}

pub(super) fn protobuf_value(kind: &str, object: &Value, out: &mut Vec<u8>) {
    if let Ok(raw) = convert::to_protobuf(object) {
        out.extend_from_slice(&schema::protobuf::watch_frame(kind, &raw));
    }
}
