//! How items stand in a list, and what stands around them, in each format.

use json::{Object, Value, json};
use meta::Status;
use schema::Schema;
use store::Entry;

use super::List;
use crate::catalog::convert;
use crate::handler::render::{Renderer, encode};
use crate::request::negotiate::{Accepted, Format, View};

/// Stands for the items where the rest of a list is written.
const ITEM: &str = "pilothouse.items";

pub(super) enum Form {
    /// Stored bytes, one behind the other.
    Plain,
    Pretty,
    Yaml,
    Protobuf,
}

/// What comes before the first item, and what behind the last.
pub(super) type Around = (Vec<u8>, Vec<u8>);

impl Form {
    pub(super) fn of(accepted: Accepted) -> Self {
        match accepted.format {
            Format::Json if accepted.pretty => Self::Pretty,
            Format::Json => Self::Plain,
            Format::Yaml => Self::Yaml,
            Format::Protobuf => Self::Protobuf,
        }
    }

    /// Text only: protobuf says how long all items are, see [`List::envelope`].
    pub(super) fn around(&self, list: &List, metadata: Object) -> Result<Around, Status> {
        let (head, end) = list.plain().list_frame(metadata);
        if matches!(self, Self::Plain) {
            return Ok((head, end.to_vec()));
        }
        let mut whole = head;
        json::write_str(&mut whole, ITEM);
        whole.extend_from_slice(end);
        let whole: Value = json::parse(&whole).map_err(Status::internal)?;
        let text = encode(&whole, list.accepted)?;
        let line = match self {
            Self::Yaml => format!("- {ITEM}\n"),
            _ => format!("    \"{ITEM}\""),
        };
        let at = text
            .windows(line.len())
            .position(|it| it == line.as_bytes());
        let at = at.ok_or_else(|| Status::internal("a list without a place for items"))?;
        Ok((text[..at].to_vec(), text[at + line.len()..].to_vec()))
    }

    /// Appends one item.
    pub(super) fn item(
        &self,
        list: &List,
        out: &mut Vec<u8>,
        entry: &Entry,
        is_first: bool,
    ) -> Result<(), Status> {
        let value = || {
            let object = convert::decode(&list.resource, &entry.value, entry.modified)?;
            Ok::<_, Status>(list.renderer().item_value(object))
        };
        match self {
            Self::Plain => {
                if !is_first {
                    out.push(b',');
                }
                list.renderer().item(out, entry)?;
            }
            Self::Pretty => {
                if !is_first {
                    out.extend_from_slice(b",\n");
                }
                let text = json::to_string_pretty(&value()?, "  ");
                let mut between: &[u8] = b"    ";
                for line in text.lines() {
                    out.extend_from_slice(between);
                    out.extend_from_slice(line.as_bytes());
                    between = b"\n    ";
                }
            }
            // The items of a list stand as far to the left as a list of one does.
            Self::Yaml => yaml::write_value(out, &Value::Array(vec![value()?])),
            Self::Protobuf => {
                let schema = list.items()?;
                schema::protobuf::write_item(out, schema.place(), &value()?)
                    .map_err(Status::internal)?;
            }
        }
        Ok(())
    }
}

impl List {
    fn plain(&self) -> Renderer<'_> {
        let accepted = Accepted {
            format: Format::Json,
            pretty: false,
            ..self.accepted
        };
        Renderer::new(&self.resource, accepted, self.include)
    }

    /// What surrounds so many bytes of items in protobuf.
    pub(super) fn envelope(&self, metadata: Object, length: usize) -> Result<Around, Status> {
        let (api_version, kind) = match self.accepted.view {
            View::Whole => {
                let kind = self.resource.list_kind.as_deref().unwrap_or_default();
                (self.resource.api_version(), kind)
            }
            View::Metadata(version) | View::MetadataList(version) => (
                format!("meta.k8s.io/{version}"),
                "PartialObjectMetadataList",
            ),
            View::Table(_) => return Err(unknown()),
        };
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let list = schema::builtin()
            .kind(group, version, kind)
            .ok_or_else(unknown)?;
        let empty = json!({"metadata": metadata, "items": []});
        let raw = schema::protobuf::encode(list.place(), &empty).map_err(|_| unknown())?;
        Ok(schema::protobuf::list_envelope(
            &api_version,
            kind,
            &raw,
            length,
        ))
    }

    /// What items are in protobuf.
    fn items(&self) -> Result<Schema, Status> {
        match self.accepted.view {
            View::Whole if self.resource.custom.is_none() => self.resource.schema.clone(),
            View::Metadata(version) | View::MetadataList(version) => {
                schema::builtin().kind("meta.k8s.io", version, "PartialObjectMetadata")
            }
            View::Whole | View::Table(_) => None,
        }
        .ok_or_else(unknown)
    }
}

fn unknown() -> Status {
    Status::not_acceptable(&["application/json", "application/yaml"])
}
