//! Reading the files back on open.

use std::collections::BTreeMap;
use std::io;

use super::keeper::{Base, Sealed};
use super::scan::{Ending, missing, places};
use super::segment::{Header, Segment};
use super::{SPARE, corrupt};
use crate::disk::{Disk, Stream};
use crate::engine::{Record, Recovered};
use crate::format::decode;
use crate::{Error, Revision, image};

/// Everything found in a directory that holds a store.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) recovered: Recovered,
    pub(super) last: Revision,
    pub(super) base: Option<Base>,
    pub(super) sealed_segments: Vec<Sealed>,
    pub(super) active: Segment,
    /// Whether the active segment's tail is known to have been synced.
    pub(super) sealed: bool,
    /// Payloads of the active segment, for rewriting it.
    pub(super) frames: Vec<Vec<u8>>,
    /// Files that are no longer needed.
    pub(super) leftovers: Vec<String>,
}

/// Names this engine gives to files.
pub(super) fn is_ours(name: &str) -> bool {
    name == SPARE
        || is_unfinished(name)
        || parse(name, "base-").is_some()
        || parse(name, "log-").is_some()
}

fn is_unfinished(name: &str) -> bool {
    name.strip_suffix(".tmp").is_some()
}

fn parse(name: &str, prefix: &str) -> Option<u64> {
    let digits = name.strip_prefix(prefix)?;
    (digits.len() == 16).then(|| u64::from_str_radix(digits, 16).ok())?
}

/// The files that matter, by what they are.
pub(super) struct Inventory {
    pub(super) base: Option<String>,
    pub(super) segments: BTreeMap<u64, String>,
    pub(super) leftovers: Vec<String>,
}

pub(super) fn inventory(disk: &dyn Disk) -> Result<Inventory, Error> {
    let names = disk
        .names()
        .map_err(|source| Error::io("list the data directory", source))?;
    let mut bases: BTreeMap<u64, String> = names
        .iter()
        .filter_map(|name| Some((parse(name, "base-")?, name.clone())))
        .collect();
    let base = bases.pop_last().map(|(_, name)| name);
    let segments = names
        .iter()
        .filter_map(|name| Some((parse(name, "log-")?, name.clone())))
        .collect();
    let unfinished = names
        .into_iter()
        .filter(|name| is_unfinished(name) || name == SPARE);
    Ok(Inventory {
        base,
        segments,
        leftovers: bases.into_values().chain(unfinished).collect(),
    })
}

/// Reads everything. `None` if the directory holds no store yet.
pub(super) fn recover(disk: &dyn Disk) -> Result<Option<Found>, Error> {
    let Inventory {
        base,
        mut segments,
        mut leftovers,
    } = inventory(disk)?;
    if base.is_none() && segments.is_empty() {
        // What there may be is half of a first start, which the next one overwrites.
        return Ok(None);
    }
    let content = base
        .as_deref()
        .map(|name| read_base(disk, name))
        .transpose()?;
    let first = content.as_ref().map_or(1, |content| content.first_segment);
    let needed = segments.split_off(&first);
    leftovers.extend(segments.into_values());
    let places = places(disk, first, &needed)?;

    let floor = content.as_ref().map_or(0, |content| content.revision);
    let base = content.as_ref().map(|content| Base {
        revision: content.revision,
        bytes: content.bytes,
    });
    let content = content.unwrap_or_default();
    let mut recovered = Recovered {
        entries: content.entries,
        revision: content.revision,
        leases: content.leases,
        next_lease: content.next_lease,
        tail: Vec::new(),
    };
    let mut last = floor;
    let mut sealed_segments = Vec::new();
    let mut active = None;
    let mut data = Vec::new();
    for (index, place) in places.iter().enumerate() {
        place.read(disk, &mut data)?;
        let scan = place.scan(&data)?;
        for payload in &scan.payloads {
            let mut input = &data[payload.clone()];
            while !input.is_empty() {
                let record = decode(&mut input).ok_or_else(|| {
                    corrupt(&place.name, payload.start as u64, "a record cannot be read")
                })?;
                match revision_of(&record) {
                    Some(revision) if revision <= floor => continue,
                    Some(revision) => last = revision,
                    None => {}
                }
                recovered.tail.push(record);
            }
        }
        if index + 1 < places.len() {
            let Header { number, size, .. } = place.header;
            sealed_segments.push(Sealed {
                number,
                last,
                bytes: size,
            });
        } else {
            let file = disk
                .open(&place.name)
                .map_err(|source| Error::io(format!("open {}", place.name), source))?;
            let sealed = scan.ending == Ending::Sealed;
            let segment = Segment {
                end: scan.end,
                sequence: scan.sequence,
                chain: scan.chain,
                sealed,
                ..Segment::at_start(file, place.header)
            };
            let payloads = scan
                .payloads
                .into_iter()
                .map(|payload| data[payload].to_vec());
            active = Some((segment, sealed, payloads.collect()));
        }
    }
    let (active, sealed, frames) = active.ok_or_else(|| missing(first))?;
    Ok(Some(Found {
        recovered,
        last,
        base,
        sealed_segments,
        active,
        sealed,
        frames,
        leftovers,
    }))
}

/// The revision of a change to a key.
fn revision_of(record: &Record) -> Option<Revision> {
    match record {
        Record::Put(entry) => Some(entry.modified),
        Record::Delete { revision, .. } => Some(*revision),
        Record::Grant { .. } | Record::Revoke { .. } | Record::Compact { .. } => None,
    }
}

pub(super) fn read_base(disk: &dyn Disk, name: &str) -> Result<image::Content, Error> {
    let file = disk
        .open(name)
        .map_err(|source| Error::io(format!("open {name}"), source))?;
    let mut input = io::BufReader::with_capacity(1 << 20, Stream::new(file));
    let content = image::read(&mut input, name)?;
    if parse(name, "base-") != Some(content.revision) {
        return Err(corrupt(
            name,
            16,
            "the revision is not the one in the file's name",
        ));
    }
    Ok(content)
}
