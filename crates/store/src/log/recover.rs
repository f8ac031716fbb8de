//! Reading the files back, and telling a torn tail (a crash, harmless) from damage (named, never served).
//!
//! A batch is written only after the one before it was synced. So a frame that cannot be read is a torn tail only if
//! nothing valid stands behind it: any later frame or seal proves that it was once whole and acknowledged.

use std::collections::BTreeMap;
use std::io;

use super::frame::{self, Kind, SECTOR};
use super::keeper::{Base, Sealed};
use super::segment::{self, Header, Segment};
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

/// The outcome of [`check`].
#[derive(Debug, Default)]
pub struct Report {
    pub files: Vec<FileReport>,
    pub keys: u64,
    pub revision: Revision,
}

#[derive(Debug)]
pub struct FileReport {
    pub name: String,
    pub summary: String,
    pub problem: Option<Error>,
}

impl Report {
    pub fn is_sound(&self) -> bool {
        self.files.iter().all(|file| file.problem.is_none())
    }
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
struct Inventory {
    base: Option<String>,
    segments: BTreeMap<u64, String>,
    leftovers: Vec<String>,
}

fn inventory(disk: &dyn Disk) -> Result<Inventory, Error> {
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
        for name in leftovers {
            // Half of a first start.
            disk.remove(&name)
                .map_err(|source| Error::io(format!("remove {name}"), source))?;
        }
        return Ok(None);
    }
    let content = base
        .as_deref()
        .map(|name| read_base(disk, name))
        .transpose()?;
    let first = content.as_ref().map_or(1, |content| content.first_segment);
    let needed = segments.split_off(&first);
    leftovers.extend(segments.into_values());
    let files = read_segments(disk, first, &needed)?;

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
    let count = files.len();
    for (index, file) in files.into_iter().enumerate() {
        let scan = file.scan()?;
        for (offset, payload) in &scan.frames {
            let mut input = &payload[..];
            while !input.is_empty() {
                let record = decode(&mut input)
                    .ok_or_else(|| corrupt(&file.name, *offset, "a record cannot be read"))?;
                if let Record::Put(_) | Record::Delete { .. } = record {
                    let revision = revision_of(&record);
                    if revision <= floor {
                        continue;
                    }
                    last = revision;
                }
                recovered.tail.push(record);
            }
        }
        if index + 1 < count {
            sealed_segments.push(Sealed {
                number: file.header.number,
                last,
                bytes: file.header.size,
            });
        } else {
            let frames = scan
                .frames
                .into_iter()
                .map(|(_, payload)| payload)
                .collect();
            let handle = disk
                .open(&file.name)
                .map_err(|source| Error::io(format!("open {}", file.name), source))?;
            let segment = Segment {
                end: scan.end,
                sequence: scan.sequence,
                chain: scan.chain,
                sealed: scan.ending == Ending::Sealed,
                ..Segment::at_start(handle, file.header)
            };
            active = Some((segment, scan.ending == Ending::Sealed, frames));
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

fn revision_of(record: &Record) -> Revision {
    match record {
        Record::Put(entry) => entry.modified,
        Record::Delete { revision, .. } | Record::Compact { revision } => *revision,
        Record::Grant { .. } | Record::Revoke { .. } => 0,
    }
}

fn missing(number: u64) -> Error {
    corrupt(&segment::name(number), 0, "the file is missing")
}

fn read_base(disk: &dyn Disk, name: &str) -> Result<image::Content, Error> {
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

/// A segment in memory.
struct SegmentFile {
    name: String,
    data: Vec<u8>,
    header: Header,
    /// The next segment's word on where this one ends.
    until: Option<Header>,
}

fn read_segments(
    disk: &dyn Disk,
    first: u64,
    names: &BTreeMap<u64, String>,
) -> Result<Vec<SegmentFile>, Error> {
    let mut files: Vec<SegmentFile> = Vec::new();
    for (expected, (number, name)) in (first..).zip(names) {
        if *number != expected {
            return Err(missing(expected));
        }
        let data = read_whole(disk, name)?;
        let header = Header::decode(&data, name)?;
        if header.number != *number {
            return Err(corrupt(
                name,
                8,
                format!("the header says it is segment {}", header.number),
            ));
        }
        if data.len() as u64 != header.size {
            let what = format!(
                "the file has {} bytes, it was made with {}",
                data.len(),
                header.size
            );
            return Err(corrupt(name, data.len() as u64, what));
        }
        if let Some(before) = files.last_mut() {
            before.until = Some(header);
        }
        files.push(SegmentFile {
            name: name.clone(),
            data,
            header,
            until: None,
        });
    }
    if files.is_empty() {
        Err(missing(first))
    } else {
        Ok(files)
    }
}

fn read_whole(disk: &dyn Disk, name: &str) -> Result<Vec<u8>, Error> {
    let file = disk
        .open(name)
        .map_err(|source| Error::io(format!("open {name}"), source))?;
    let failed = |source| Error::io(format!("read {name}"), source);
    let size = usize::try_from(file.size().map_err(failed)?)
        .map_err(|error| failed(io::Error::other(error)))?;
    let mut data = vec![0; size];
    let count = file.read_at(&mut data, 0).map_err(failed)?;
    data.truncate(count);
    Ok(data)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// A seal, or the next segment's header, says that all before was synced.
    Sealed,
    /// The tail is torn or was never sealed.
    Open,
}

struct Scan {
    frames: Vec<(u64, Vec<u8>)>,
    end: u64,
    sequence: u64,
    chain: u32,
    ending: Ending,
}

impl SegmentFile {
    /// Follows the chain of frames to its end, and judges the end.
    fn scan(&self) -> Result<Scan, Error> {
        let salt = self.header.salt;
        let (mut sequence, mut chain) = (self.header.sequence, self.header.chain);
        let mut frames = Vec::new();
        let mut at = SECTOR;
        let ending = loop {
            if self
                .until
                .is_some_and(|next| next.previous_end == at as u64)
            {
                break Ending::Sealed;
            }
            let rest = &self.data[at..];
            let head = frame::head(rest, salt)
                .filter(|head| head.sequence == sequence && head.chain == chain);
            match head {
                Some(head) if head.kind == Kind::Batch => match head.payload(rest) {
                    Some(payload) => {
                        frames.push((at as u64, payload.to_vec()));
                        at += head.size();
                        sequence += 1;
                        chain = head.crc;
                    }
                    None => break self.damaged(at, sequence, "a batch's checksum is wrong")?,
                },
                Some(head) if head.kind == Kind::Seal && self.until.is_none() => {
                    break Ending::Sealed;
                }
                Some(_) if self.until.is_none() => return Err(missing(self.header.number + 1)),
                _ => break self.damaged(at, sequence, "a batch's header is damaged")?,
            }
        };
        if let Some(next) = self.until
            && (next.sequence, next.chain) != (sequence, chain)
        {
            return Err(corrupt(
                &self.name,
                at as u64,
                "the next segment does not follow this one",
            ));
        }
        Ok(Scan {
            frames,
            end: at as u64,
            sequence,
            chain,
            ending,
        })
    }

    /// The frame at `at` cannot be read: is it a torn tail or damage?
    fn damaged(&self, at: usize, sequence: u64, what: &str) -> Result<Ending, Error> {
        let later = (at + SECTOR..self.data.len()).step_by(SECTOR).find(|at| {
            frame::head(&self.data[*at..], self.header.salt)
                .is_some_and(|head| head.sequence > sequence)
        });
        match later {
            Some(later) => {
                let what = format!("{what}, yet byte {later} shows that it was whole once");
                Err(corrupt(&self.name, at as u64, what))
            }
            None if self.until.is_some() => Err(corrupt(&self.name, at as u64, what)),
            None => Ok(Ending::Open),
        }
    }
}

/// Verifies every file without changing any, and goes on after damage as far as it can.
pub fn check(disk: &dyn Disk) -> Result<Report, Error> {
    let Inventory {
        base,
        mut segments,
        leftovers,
    } = inventory(disk)?;
    let mut report = Report::default();
    let mut first = 1;
    if let Some(name) = base {
        let (summary, problem) = match read_base(disk, &name) {
            Ok(content) => {
                first = content.first_segment;
                (
                    format!(
                        "{} keys at revision {}",
                        content.entries.len(),
                        content.revision
                    ),
                    None,
                )
            }
            Err(problem) => {
                first = segments.keys().next().copied().unwrap_or(1);
                (String::new(), Some(problem))
            }
        };
        report.files.push(FileReport {
            name,
            summary,
            problem,
        });
    }
    let needed = segments.split_off(&first);
    for (number, name) in &needed {
        let next = needed.range(number + 1..).next();
        let (summary, problem) = match check_segment(disk, *number, name, next) {
            Ok(summary) => (summary, None),
            Err(problem) => (String::new(), Some(problem)),
        };
        report.files.push(FileReport {
            name: name.clone(),
            summary,
            problem,
        });
    }
    for name in segments.into_values().chain(leftovers) {
        report.files.push(FileReport {
            name,
            summary: "not needed".into(),
            problem: None,
        });
    }
    if report.is_sound() {
        // The parts are sound: now as a whole, the way a server would open them.
        match recover(disk) {
            Ok(None) => {}
            Ok(Some(found)) => {
                report.revision = found.last;
                report.keys = count_keys(&found.recovered);
            }
            Err(problem) => {
                report.files.push(FileReport {
                    name: "all together".into(),
                    summary: String::new(),
                    problem: Some(problem),
                });
            }
        }
    }
    Ok(report)
}

fn check_segment(
    disk: &dyn Disk,
    number: u64,
    name: &str,
    next: Option<(&u64, &String)>,
) -> Result<String, Error> {
    let mut names = BTreeMap::from([(number, name.to_owned())]);
    names.extend(
        next.filter(|(next, _)| **next == number + 1)
            .map(|(next, name)| (*next, name.clone())),
    );
    let files = read_segments(disk, number, &names)?;
    let scan = files[0].scan()?;
    let tail = match scan.ending {
        Ending::Sealed => "sealed",
        Ending::Open => "open at the end, as after a crash",
    };
    Ok(format!("{} batches, {tail}", scan.frames.len()))
}

fn count_keys(recovered: &Recovered) -> u64 {
    let mut keys: std::collections::HashSet<&[u8]> = recovered
        .entries
        .iter()
        .map(|entry| &entry.key[..])
        .collect();
    for record in &recovered.tail {
        match record {
            Record::Put(entry) => keys.insert(&entry.key),
            Record::Delete { key, .. } => keys.remove(&key[..]),
            _ => false,
        };
    }
    keys.len() as u64
}
