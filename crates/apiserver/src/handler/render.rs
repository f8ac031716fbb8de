//! Hot path. Renders stored bytes in the format and the view that the client asked for.

use bytes::Bytes;
use json::{Object, Value, json};
use meta::Status;
use store::{Entry, Revision};

use crate::catalog::Resource;
use crate::catalog::canonical;
use crate::catalog::convert;
use crate::handler::table;
use crate::request::negotiate::{Accepted, Format, View};

/// How objects of one resource are shown to one client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Renderer<'a> {
    pub resource: &'a Resource,
    pub accepted: Accepted,
    /// What a table row carries of its object.
    pub include: table::Include,
}

impl<'a> Renderer<'a> {
    pub(crate) fn new(resource: &'a Resource, accepted: Accepted, include: table::Include) -> Self {
        Self {
            resource,
            accepted,
            include,
        }
    }

    /// Whether stored bytes go out as they are. What was stored before another version became the one to store has
    /// another head; what was stored before its schema changed may lack defaults.
    pub(crate) fn is_spliced(&self, bytes: &[u8], revision: Revision) -> bool {
        let custom = self.resource.custom.as_ref();
        custom.is_none_or(|it| it.schema.is_none() || revision > it.since)
            && self.accepted.format == Format::Json
            && self.accepted.view == View::Whole
            && !self.accepted.pretty
            && self.resource.is_stored_version()
            && bytes.starts_with(self.resource.head.as_bytes())
    }

    /// One object, whole answer.
    pub(crate) fn one(&self, entry: &Entry) -> Result<Bytes, Status> {
        if self.is_spliced(&entry.value, entry.modified) {
            let mut out = Vec::with_capacity(entry.value.len() + 48);
            if canonical::splice(&mut out, &entry.value, entry.modified) {
                out.push(b'\n');
                return Ok(out.into());
            }
        }
        self.value(convert::decode(
            self.resource,
            &entry.value,
            entry.modified,
        )?)
    }

    /// An object that is already a tree, at the resource's version.
    pub(crate) fn value(&self, object: Value) -> Result<Bytes, Status> {
        self.encode(&self.shown(object))
    }

    /// In the view asked for.
    pub(crate) fn shown(&self, object: Value) -> Value {
        match self.accepted.view {
            View::Whole => object,
            View::Table(version) => table::of_one(self, version, object),
            View::Metadata(version) | View::MetadataList(version) => partial(version, object),
        }
    }

    /// Any value in the format asked for.
    pub(crate) fn encode(&self, value: &Value) -> Result<Bytes, Status> {
        encode(value, self.accepted)
    }

    /// Appends one object as it stands in a JSON list.
    pub(crate) fn item(&self, out: &mut Vec<u8>, entry: &Entry) -> Result<(), Status> {
        if self.is_spliced(&entry.value, entry.modified) {
            // Items of built-in lists go without kind and apiVersion, as upstream's do.
            let bare = self.resource.custom.is_none();
            let head = if bare { self.resource.head.len() } else { 1 };
            if canonical::splice_without(out, &entry.value, entry.modified, head) {
                return Ok(());
            }
        }
        let object = convert::decode(self.resource, &entry.value, entry.modified)?;
        json::write(out, &self.item_value(object));
        Ok(())
    }

    pub(crate) fn item_value(&self, mut object: Value) -> Value {
        match self.accepted.view {
            View::Whole => {
                if self.resource.custom.is_none()
                    && let Some(object) = object.as_object_mut()
                {
                    object.remove("kind");
                    object.remove("apiVersion");
                }
                object
            }
            View::Table(version) => table::row(self, version, object, true),
            View::Metadata(version) | View::MetadataList(version) => partial(version, object),
        }
    }

    /// A watch event, without the line's end.
    pub(crate) fn event(
        &self,
        out: &mut Vec<u8>,
        kind: &str,
        bytes: &[u8],
        revision: Revision,
    ) -> Result<(), Status> {
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(b"\",\"object\":");
        if !(self.is_spliced(bytes, revision) && canonical::splice(out, bytes, revision)) {
            let object = convert::decode(self.resource, bytes, revision)?;
            json::write(out, &self.shown(object));
        }
        out.push(b'}');
        Ok(())
    }

    /// The beginning of a list answer up to its first item, and what follows the last.
    pub(crate) fn list_frame(&self, mut metadata: Object) -> (Vec<u8>, &'static [u8]) {
        let (kind, api_version) = match self.accepted.view {
            View::Whole => (
                self.resource.list_kind.clone().unwrap_or_default(),
                self.resource.api_version(),
            ),
            View::Table(version) => ("Table".into(), format!("meta.k8s.io/{version}")),
            View::Metadata(version) | View::MetadataList(version) => (
                "PartialObjectMetadataList".into(),
                format!("meta.k8s.io/{version}"),
            ),
        };
        let mut out = Vec::with_capacity(256);
        let custom = self.resource.custom.is_some() && self.accepted.view == View::Whole;
        out.extend_from_slice(if custom {
            b"{\"apiVersion\":"
        } else {
            b"{\"kind\":"
        });
        json::write_str(&mut out, if custom { &api_version } else { &kind });
        if custom {
            // Upstream's lists without a Go type always say so.
            metadata.get_or_insert("continue");
            if metadata.get("continue").is_some_and(Value::is_null) {
                metadata.insert("continue", "");
            }
            metadata.sort_keys();
            // Maps come in the order of their keys: the items before the kind would delay it, so kind leads here.
            out.extend_from_slice(b",\"kind\":");
            json::write_str(&mut out, &kind);
        } else {
            out.extend_from_slice(b",\"apiVersion\":");
            json::write_str(&mut out, &api_version);
        }
        out.extend_from_slice(b",\"metadata\":");
        json::write(&mut out, &Value::Object(metadata));
        if let View::Table(_) = self.accepted.view {
            out.extend_from_slice(b",\"columnDefinitions\":");
            json::write(&mut out, &table::columns(self.resource));
            out.extend_from_slice(b",\"rows\":[");
        } else {
            out.extend_from_slice(b",\"items\":[");
        }
        (out, b"]}\n")
    }
}

/// A value in the format asked for.
pub(crate) fn encode(value: &Value, accepted: Accepted) -> Result<Bytes, Status> {
    match accepted.format {
        Format::Json => {
            if accepted.pretty {
                // For people, and without an end of the line.
                return Ok(json::to_string_pretty(value, "  ").into());
            }
            let mut out = json::to_vec(value);
            out.push(b'\n');
            Ok(out.into())
        }
        Format::Yaml => Ok(yaml::value_to_string(value).into()),
        Format::Protobuf => convert::to_protobuf(value),
    }
}

/// An object's metadata alone.
pub(crate) fn partial(version: &str, mut object: Value) -> Value {
    let metadata = object.get_mut("metadata").map(Value::take);
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": (format!("meta.k8s.io/{version}")),
        "metadata": (metadata.unwrap_or_default()),
    })
}
