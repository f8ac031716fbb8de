//! The document of version 2 in parts: one of all built-in resources, and one of each custom resource. A definition that
//! changes costs its own part; the document is put together without looking into the others.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use encoding::gzip::{Packed, Packer, Piece};
use json::Value;

use super::dialect::{Dialect, is_custom};
use super::gnostic;
use super::types::Types;
use super::v2::{self, Contribution};
use crate::catalog::gates::Gates;
use crate::catalog::{Catalog, Resource};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Encoding {
    Json,
    Protobuf,
}

const SECTIONS: [&str; 3] = ["paths", "definitions", "parameters"];

/// A named value of a section, compressed. In JSON it begins with a comma.
#[derive(Debug)]
struct Entry {
    name: String,
    piece: Piece,
}

#[derive(Debug)]
struct Part {
    /// A custom resource. Held, so that no other can come to lie at the same address.
    of: Option<Arc<Resource>>,
    /// By section.
    entries: [Vec<Entry>; 3],
    /// Types of neither this part nor the built-in one.
    wanted: BTreeSet<String>,
}

/// The parts in one encoding.
#[derive(Debug, Default)]
struct Encoded {
    builtin: Option<Part>,
    /// By group, version and plural.
    custom: HashMap<String, Part>,
}

/// All parts that were made.
#[derive(Debug, Default)]
pub(super) struct Parts {
    json: Encoded,
    protobuf: Encoded,
    /// How many were made so far.
    pub(super) made: u64,
}

impl Parts {
    /// The whole document. Makes the parts that are not there, and forgets those that are no more.
    pub(super) fn document(&mut self, catalog: &Catalog, encoding: Encoding) -> Packed {
        let made = &mut self.made;
        let encoded = match encoding {
            Encoding::Json => &mut self.json,
            Encoding::Protobuf => &mut self.protobuf,
        };
        let mut maker = PartBuilder {
            encoding,
            packer: Packer::default(),
            types: None,
            gates: catalog.gates.clone(),
        };
        let builtin = encoded.builtin.get_or_insert_with(|| {
            *made += 1;
            maker.builtin(catalog)
        });
        let mut before = std::mem::take(&mut encoded.custom);
        for resource in catalog.all().filter(|it| is_custom(it)) {
            let key = format!(
                "{}/{}/{}",
                resource.group, resource.version, resource.plural
            );
            let known = before.remove(&key).and_then(|it| it.still_of(resource));
            let part = known.unwrap_or_else(|| {
                *made += 1;
                maker.custom(resource, builtin)
            });
            encoded.custom.insert(key, part);
        }
        maker.join(catalog, builtin, &encoded.custom)
    }
}

impl Part {
    /// This part, if it would be the same were it made of this resource.
    fn still_of(mut self, resource: &Arc<Resource>) -> Option<Self> {
        let before = self.of.as_ref()?;
        if !Arc::ptr_eq(before, resource) {
            if !is_same(before, resource) {
                return None;
            }
            self.of = Some(resource.clone());
        }
        Some(self)
    }
}

/// Whether two custom resources are published alike: a definition also changes in its status.
pub(super) fn is_same(one: &Resource, other: &Resource) -> bool {
    let (Some(a), Some(b)) = (&one.custom, &other.custom) else {
        return false;
    };
    one.row == other.row
        && a.preserve_unknown == b.preserve_unknown
        && a.selectable == b.selectable
        && a.validation == b.validation
}

struct PartBuilder {
    encoding: Encoding,
    packer: Packer,
    types: Option<Types>,
    gates: Arc<Gates>,
}

impl PartBuilder {
    fn builtin(&mut self, catalog: &Catalog) -> Part {
        let types = self.types.get_or_insert_with(|| Types::new(&self.gates));
        let contribution = v2::builtin(catalog, types);
        self.part(None, contribution)
    }

    fn custom(&mut self, resource: &Arc<Resource>, builtin: &Part) -> Part {
        let types = self.types.get_or_insert_with(|| Types::new(&self.gates));
        let mut contribution = v2::custom(resource, types);
        // What all resources share is there already.
        let [_, definitions, parameters] = &builtin.entries;
        let is_in =
            |all: &[Entry], name: &str| all.binary_search_by(|it| (*it.name).cmp(name)).is_ok();
        contribution.wanted.retain(|it| !is_in(definitions, it));
        contribution
            .parameters
            .retain(|it, _| !is_in(parameters, it));
        self.part(Some(resource.clone()), contribution)
    }

    fn part(&mut self, of: Option<Arc<Resource>>, contribution: Contribution) -> Part {
        let Contribution {
            mut paths,
            definitions,
            parameters,
            wanted,
        } = contribution;
        paths.sort_by(|a, b| a.0.cmp(&b.0));
        let mut entries = |section: usize, all: &mut dyn Iterator<Item = (String, Value)>| {
            let all = all.map(|(name, value)| Entry {
                piece: self.entry(SECTIONS[section], &name, &value),
                name,
            });
            all.collect::<Vec<_>>()
        };
        Part {
            entries: [
                entries(0, &mut paths.into_iter()),
                entries(1, &mut definitions.into_iter()),
                entries(2, &mut parameters.into_iter()),
            ],
            of,
            wanted,
        }
    }

    fn entry(&mut self, section: &str, name: &str, value: &Value) -> Piece {
        let bytes = match self.encoding {
            Encoding::Protobuf => gnostic::entry(section, name, value),
            Encoding::Json => {
                let mut bytes = vec![b','];
                json::write_str(&mut bytes, name);
                bytes.push(b':');
                json::write(&mut bytes, value);
                bytes
            }
        };
        self.packer.pack(&bytes)
    }

    fn join(
        &mut self,
        catalog: &Catalog,
        builtin: &Part,
        custom: &HashMap<String, Part>,
    ) -> Packed {
        let more = self.missing(catalog, builtin, custom);
        let (head, tail) = v2::frame(catalog.gates.release());
        let mut pieces = vec![self.literal(&head, Edge::Begin)];
        for (at, section) in SECTIONS.iter().enumerate() {
            // The built-in ones first: of two of one name, the first stays.
            let all = std::iter::once(builtin).chain(custom.values()).chain(&more);
            let mut entries: Vec<&Entry> = all.flat_map(|it| &it.entries[at]).collect();
            entries.sort_by(|a, b| a.name.cmp(&b.name));
            entries.dedup_by(|next, first| next.name == first.name);
            self.section(section, &entries, &mut pieces);
        }
        pieces.push(self.literal(&tail, Edge::End));
        let pieces: Vec<&Piece> = pieces.iter().collect();
        Packed::join(&pieces)
    }

    /// Types that custom resources refer to and no part has.
    fn missing(
        &mut self,
        catalog: &Catalog,
        builtin: &Part,
        custom: &HashMap<String, Part>,
    ) -> Option<Part> {
        let mut wanted: BTreeSet<&str> = BTreeSet::new();
        for part in custom.values() {
            wanted.extend(part.wanted.iter().map(String::as_str));
        }
        for entry in custom
            .values()
            .chain([builtin])
            .flat_map(|it| &it.entries[1])
        {
            wanted.remove(&*entry.name);
        }
        if wanted.is_empty() {
            return None;
        }
        let wanted = wanted.into_iter().map(str::to_owned).collect();
        let types = self.types.get_or_insert_with(|| Types::new(&self.gates));
        let definitions = types.schemas(Dialect::V2, &v2::scope(catalog), wanted);
        let contribution = Contribution {
            definitions,
            ..Contribution::default()
        };
        Some(self.part(None, contribution))
    }

    fn section(&mut self, name: &str, entries: &[&Entry], pieces: &mut Vec<Piece>) {
        match self.encoding {
            Encoding::Protobuf => {
                let length = entries.iter().map(|it| it.piece.size()).sum();
                pieces.push(self.packer.pack(&gnostic::head(name, length)));
                pieces.extend(entries.iter().map(|it| it.piece.clone()));
            }
            Encoding::Json => {
                let begin = format!(",\"{name}\":{{");
                pieces.push(self.packer.pack(begin.as_bytes()));
                if let Some((first, rest)) = entries.split_first() {
                    let bytes = Packed::join(&[&first.piece]).unpack();
                    pieces.push(self.packer.pack(&bytes[1..]));
                    pieces.extend(rest.iter().map(|it| it.piece.clone()));
                }
                pieces.push(self.packer.pack(b"}"));
            }
        }
    }

    /// Fields of the document itself, before or behind the sections.
    fn literal(&mut self, fields: &Value, edge: Edge) -> Piece {
        let bytes = match self.encoding {
            Encoding::Protobuf => gnostic::encode(Dialect::V2, fields),
            Encoding::Json => {
                let mut bytes = json::to_vec(fields);
                match edge {
                    Edge::Begin => drop(bytes.pop()),
                    Edge::End => bytes[0] = b',',
                }
                bytes
            }
        };
        self.packer.pack(&bytes)
    }
}

#[derive(Clone, Copy)]
enum Edge {
    Begin,
    End,
}
