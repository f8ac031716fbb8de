//! One segment read back: following the chain of frames, and telling a torn tail (a crash, harmless) from damage
//! (named, never served).
//!
//! A batch is written only after the one before it was synced. So a frame that cannot be read is a torn tail only if
//! nothing valid stands behind it: any later frame or seal proves that it was once whole and acknowledged.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use super::corrupt;
use super::frame::{self, HEAD, Kind, SECTOR};
use super::segment::{self, Header};
use crate::Error;
use crate::disk::Disk;

/// A segment's name and header, and the next segment's word on where it ends.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) name: String,
    pub(super) header: Header,
    until: Option<Header>,
}

/// What a segment holds, and how it ends.
#[derive(Debug)]
pub(super) struct Scan {
    /// Where the payloads are in the segment's data.
    pub(super) payloads: Vec<Range<usize>>,
    pub(super) end: u64,
    pub(super) sequence: u64,
    pub(super) chain: u32,
    pub(super) ending: Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// A seal, or the next segment's header, says that all before was synced.
    Sealed,
    /// The tail is torn or was never sealed.
    Open,
}

pub(super) fn missing(number: u64) -> Error {
    corrupt(&segment::name(number), 0, "the file is missing")
}

/// Reads the headers of the segments from `first` on. There is at least one, and no gap.
pub(super) fn places(
    disk: &dyn Disk,
    first: u64,
    names: &BTreeMap<u64, String>,
) -> Result<Vec<Place>, Error> {
    let mut places: Vec<Place> = Vec::new();
    for (expected, (number, name)) in (first..).zip(names) {
        if *number != expected {
            return Err(missing(expected));
        }
        let header = read_header(disk, *number, name)?;
        if let Some(before) = places.last_mut() {
            before.until = Some(header);
        }
        places.push(Place {
            name: name.clone(),
            header,
            until: None,
        });
    }
    if places.is_empty() {
        Err(missing(first))
    } else {
        Ok(places)
    }
}

fn read_header(disk: &dyn Disk, number: u64, name: &str) -> Result<Header, Error> {
    let failed = |source| Error::io(format!("read {name}"), source);
    let file = disk.open(name).map_err(failed)?;
    let size = file.size().map_err(failed)?;
    let mut sector = [0; SECTOR];
    let count = file.read_at(&mut sector, 0).map_err(failed)?;
    let header = Header::decode(&sector[..count], name)?;
    if header.number != number {
        let what = format!("the header says it is segment {}", header.number);
        return Err(corrupt(name, 8, what));
    }
    if size != header.size {
        let what = format!(
            "the file has {size} bytes, it was made with {}",
            header.size
        );
        return Err(corrupt(name, size, what));
    }
    Ok(header)
}

impl Place {
    /// Reads the whole segment into `data`, which is reused from one to the next.
    pub(super) fn read(&self, disk: &dyn Disk, data: &mut Vec<u8>) -> Result<(), Error> {
        let failed = |source| Error::io(format!("read {}", self.name), source);
        let file = disk.open(&self.name).map_err(failed)?;
        let size =
            usize::try_from(self.header.size).map_err(|error| failed(io::Error::other(error)))?;
        data.resize(size, 0);
        let count = file.read_at(data, 0).map_err(failed)?;
        if count < size {
            return Err(corrupt(&self.name, count as u64, "the file ends early"));
        }
        Ok(())
    }

    /// Follows the chain of frames to its end, and judges the end.
    pub(super) fn scan(&self, data: &[u8]) -> Result<Scan, Error> {
        let salt = self.header.salt;
        let (mut sequence, mut chain) = (self.header.sequence, self.header.chain);
        let mut payloads = Vec::new();
        let mut at = SECTOR;
        let ending = loop {
            if self
                .until
                .is_some_and(|next| next.previous_end == at as u64)
            {
                break Ending::Sealed;
            }
            let rest = data.get(at..).unwrap_or_default();
            let head = frame::head(rest, salt)
                .filter(|head| head.sequence == sequence && head.chain == chain);
            match head {
                Some(head) if head.kind == Kind::Batch => {
                    if head.payload(rest).is_none() {
                        break self.damaged(data, at, sequence, "a batch's checksum is wrong")?;
                    }
                    payloads.push(at + HEAD..at + HEAD + head.length);
                    at += head.size();
                    sequence += 1;
                    chain = head.crc;
                }
                Some(head) if head.kind == Kind::Seal && self.until.is_none() => {
                    break Ending::Sealed;
                }
                Some(_) if self.until.is_none() => return Err(missing(self.header.number + 1)),
                _ => break self.damaged(data, at, sequence, "a batch's header is damaged")?,
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
            payloads,
            end: at as u64,
            sequence,
            chain,
            ending,
        })
    }

    /// The frame at `at` cannot be read: is it a torn tail or damage?
    fn damaged(&self, data: &[u8], at: usize, sequence: u64, what: &str) -> Result<Ending, Error> {
        let later = (at + SECTOR..data.len()).step_by(SECTOR).find(|at| {
            frame::head(&data[*at..], self.header.salt).is_some_and(|head| head.sequence > sequence)
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
