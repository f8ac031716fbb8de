//! One log file: a header sector, then frames. It has its full size from the start, so that a sync in it writes data
//! and no metadata, and running out of space shows before a batch is written, not in the middle of it.

use std::io;
use std::sync::Arc;

use crc32c::crc32c;

use super::frame::{self, HEAD, Kind, SECTOR};
use super::{SPARE, corrupt};
use crate::disk::{Disk, DiskFile};
use crate::{Error, Revision};

const MAGIC: &[u8; 8] = b"PHLOG001";
const ZEROS: usize = 1 << 20;
const FIRST: &str = "first.tmp";
const NEXT: &str = "next.tmp";
const REWRITTEN: &str = "rewrite.tmp";
const UNFINISHED: [&str; 3] = [FIRST, NEXT, REWRITTEN];

#[derive(Debug)]
pub(super) struct Segment {
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) number: u64,
    pub(super) header: Header,
    /// Where the next frame goes.
    pub(super) end: u64,
    pub(super) size: u64,
    /// Sequence number and chain of the next batch.
    pub(super) sequence: u64,
    pub(super) chain: u32,
    pub(super) sealed: bool,
}

/// The first sector: where this segment takes up the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) number: u64,
    pub(super) salt: u32,
    /// The first batch's sequence number and chain.
    pub(super) sequence: u64,
    pub(super) chain: u32,
    /// Where the good part of the segment before ends.
    pub(super) previous_end: u64,
    /// The newest revision before this segment.
    pub(super) revision: Revision,
    pub(super) size: u64,
}

pub(super) fn name(number: u64) -> String {
    format!("log-{number:016x}")
}

/// Whether this is what a segment is called before it is complete.
pub(super) fn is_unfinished(name: &str) -> bool {
    UNFINISHED.contains(&name)
}

/// The size of a segment that has room for just this frame.
pub(super) fn size_for(length: usize) -> u64 {
    (SECTOR + (length + SECTOR).next_multiple_of(SECTOR)) as u64
}

impl Header {
    fn encode(&self) -> [u8; SECTOR] {
        let mut sector = [0; SECTOR];
        sector[..8].copy_from_slice(MAGIC);
        let numbers = [
            self.number,
            u64::from(self.salt),
            self.sequence,
            u64::from(self.chain),
            self.previous_end,
            self.revision,
            self.size,
        ];
        for (index, number) in numbers.into_iter().enumerate() {
            sector[8 + index * 8..16 + index * 8].copy_from_slice(&number.to_le_bytes());
        }
        let crc = crc32c(&sector[..SECTOR - 4]);
        sector[SECTOR - 4..].copy_from_slice(&crc.to_le_bytes());
        sector
    }

    pub(super) fn decode(sector: &[u8], name: &str) -> Result<Self, Error> {
        let whole = sector.len() >= SECTOR;
        if !whole || sector[SECTOR - 4..SECTOR] != crc32c(&sector[..SECTOR - 4]).to_le_bytes() {
            return Err(corrupt(name, 0, "the segment's header is damaged"));
        }
        if &sector[..8] != MAGIC {
            return Err(corrupt(name, 0, "the format is unknown to this program"));
        }
        let number = |index: usize| {
            let at = 8 + index * 8;
            u64::from_le_bytes(sector[at..at + 8].try_into().expect("eight bytes"))
        };
        let small = |index| {
            u32::try_from(number(index))
                .map_err(|_| corrupt(name, 0, "a header field is impossible"))
        };
        Ok(Self {
            number: number(0),
            salt: small(1)?,
            sequence: number(2),
            chain: small(3)?,
            previous_end: number(4),
            revision: number(5),
            size: number(6),
        })
    }
}

impl Segment {
    pub(super) fn name(&self) -> String {
        name(self.number)
    }

    /// Whether the frame fits, with a sector left for the mark that ends the segment.
    pub(super) fn fits(&self, length: usize) -> bool {
        self.end + (length + SECTOR).next_multiple_of(SECTOR) as u64 <= self.size
    }

    /// Writes the batch in `buffer` as a frame and syncs. On an error nothing is known of what reached the disk.
    pub(super) fn append(&mut self, buffer: &mut Vec<u8>) -> io::Result<()> {
        let crc = self.write(buffer, Kind::Batch)?;
        self.file.sync()?;
        self.end += buffer.len() as u64;
        self.sequence += 1;
        self.chain = crc;
        self.sealed = false;
        Ok(())
    }

    /// Says that all before was synced. Itself not synced: it reaches the disk when the system writes it back.
    pub(super) fn seal(&mut self) -> io::Result<()> {
        if !self.sealed {
            self.write(&mut vec![0; HEAD], Kind::Seal)?;
            self.sealed = true;
        }
        Ok(())
    }

    pub(super) fn mark_continued(&mut self) -> io::Result<()> {
        self.write(&mut vec![0; HEAD], Kind::Continued).map(|_| ())
    }

    fn write(&self, buffer: &mut Vec<u8>, kind: Kind) -> io::Result<u32> {
        let crc = frame::finish(buffer, kind, self.sequence, self.chain, self.header.salt);
        self.file.write_at(buffer, self.end)?;
        Ok(crc)
    }
}

/// The first segment of a new log. Zeroed at once: a young store is small and must be fast too.
pub(super) fn first(disk: &dyn Disk, size: u64, revision: Revision) -> io::Result<Segment> {
    let number = 1;
    let header = Header {
        number,
        salt: salt(),
        sequence: 1,
        chain: 0,
        previous_end: 0,
        revision,
        size,
    };
    let file = disk.create(FIRST)?;
    file.allocate(size)?;
    zero(&*file, size, &|| false)?;
    install(disk, file, FIRST, header)
}

/// The segment after `last`, which ends where its good part ends. Uses the spare if there is one.
pub(super) fn next(
    disk: &dyn Disk,
    last: &Segment,
    size: u64,
    revision: Revision,
    spare: Option<Arc<dyn DiskFile>>,
) -> io::Result<Segment> {
    let header = Header {
        number: last.number + 1,
        salt: salt(),
        sequence: last.sequence,
        chain: last.chain,
        previous_end: last.end,
        revision,
        size,
    };
    if let Some(file) = spare {
        return install(disk, file, SPARE, header);
    }
    let file = disk.create(NEXT)?;
    file.allocate(size)?;
    install(disk, file, NEXT, header)
}

/// Copies the good frames of a segment into a new file and puts it in the old one's place.
pub(super) fn rewrite(disk: &dyn Disk, old: &Segment, payloads: &[Vec<u8>]) -> io::Result<Segment> {
    let header = Header {
        salt: salt(),
        ..old.header
    };
    let file = disk.create(REWRITTEN)?;
    file.allocate(header.size)?;
    let mut copy = Segment {
        end: SECTOR as u64,
        ..Segment::at_start(file.clone(), header)
    };
    for payload in payloads {
        let mut buffer = vec![0; HEAD];
        buffer.extend_from_slice(payload);
        let crc = copy.write(&mut buffer, Kind::Batch)?;
        copy.end += buffer.len() as u64;
        copy.sequence += 1;
        copy.chain = crc;
    }
    let installed = install(disk, file, REWRITTEN, header)?;
    Ok(Segment {
        end: copy.end,
        sequence: copy.sequence,
        chain: copy.chain,
        ..installed
    })
}

/// Gives a file its header and its name: both durable before any batch goes in.
fn install(
    disk: &dyn Disk,
    file: Arc<dyn DiskFile>,
    from: &str,
    header: Header,
) -> io::Result<Segment> {
    file.write_at(&header.encode(), 0)?;
    file.sync()?;
    disk.rename(from, &name(header.number))?;
    disk.sync_names()?;
    Ok(Segment::at_start(file, header))
}

impl Segment {
    pub(super) fn at_start(file: Arc<dyn DiskFile>, header: Header) -> Self {
        Self {
            file,
            number: header.number,
            header,
            end: SECTOR as u64,
            size: header.size,
            sequence: header.sequence,
            chain: header.chain,
            sealed: false,
        }
    }
}

/// Fills the file with zeros: blocks that were written before need no metadata when written again. In pieces, each
/// synced, so that it does not fill the disk's queue in front of the writer.
pub(super) fn zero(file: &dyn DiskFile, size: u64, stop: &dyn Fn() -> bool) -> io::Result<()> {
    let zeros = vec![0; ZEROS];
    let mut offset = 0;
    while offset < size {
        if stop() {
            return Err(io::Error::other("stopping"));
        }
        let piece = (size - offset).min(ZEROS as u64);
        file.write_at(
            &zeros[..usize::try_from(piece).expect("at most a mebibyte")],
            offset,
        )?;
        offset += piece;
        file.sync()?;
    }
    Ok(())
}

/// Unguessable from outside: the standard library seeds its hashers from the system's random source.
fn salt() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    u32::try_from(RandomState::new().hash_one(std::time::Instant::now()) & u64::from(u32::MAX))
        .expect("masked")
}
