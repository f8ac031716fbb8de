//! An image: everything at one revision in one file. The base of the log and a backup are both images.
//!
//! ```text
//! header   64 bytes: "PHIMAGE1", version u32, 0 u32, revision u64, first segment u64, next lease u64, 0..., crc u32
//! block    length u32, crc u32, records (entries in key order, then leases)     repeated
//! footer   length 0xffff_ffff, crc u32, entries u64, leases u64
//! ```
//! Each crc goes on from the one before it, so that no block can be lost, doubled or swapped unseen, and only a file
//! with its footer is whole.

use std::io::{self, Read, Write};
use std::sync::Arc;

use crc32c::{crc32c, crc32c_append};

use crate::engine::{Image, Record};
use crate::format::{decode, encode, take, u64 as read_u64};
use crate::{Corruption, Entry, Error, Revision};

const MAGIC: &[u8; 8] = b"PHIMAGE1";
const VERSION: u32 = 1;
const HEADER: usize = 64;
const BLOCK: usize = 256 << 10;
const MAX_BLOCK: usize = 64 << 20;
const FOOTER: u32 = u32::MAX;

/// What an image file holds.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub(crate) revision: Revision,
    pub(crate) first_segment: u64,
    pub(crate) next_lease: u64,
    pub(crate) entries: Vec<Arc<Entry>>,
    pub(crate) leases: Vec<(u64, std::time::Duration)>,
    pub(crate) bytes: u64,
}

pub(crate) fn write(image: &Image, first_segment: u64, out: &mut dyn Write) -> io::Result<()> {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[16..24].copy_from_slice(&image.snapshot.revision().to_le_bytes());
    header[24..32].copy_from_slice(&first_segment.to_le_bytes());
    header[32..40].copy_from_slice(&image.next_lease.to_le_bytes());
    let mut crc = crc32c(&header[..HEADER - 4]);
    header[HEADER - 4..].copy_from_slice(&crc.to_le_bytes());
    out.write_all(&header)?;

    let entries = image
        .snapshot
        .range(b"")
        .map(|entry| Record::Put(entry.clone()));
    let leases = image.leases.iter().map(|(lease, ttl)| Record::Grant {
        lease: *lease,
        ttl: *ttl,
    });
    let mut block = Vec::with_capacity(BLOCK + BLOCK / 4);
    for record in entries.chain(leases) {
        encode(&record, &mut block);
        if block.len() >= BLOCK {
            crc = write_block(&block, crc, out)?;
            block.clear();
        }
    }
    if !block.is_empty() {
        crc = write_block(&block, crc, out)?;
    }
    let counts = [image.snapshot.len() as u64, image.leases.len() as u64]
        .map(u64::to_le_bytes)
        .concat();
    out.write_all(&FOOTER.to_le_bytes())?;
    out.write_all(&crc32c_append(crc, &counts).to_le_bytes())?;
    out.write_all(&counts)
}

/// One `write` call a block: the layer below may limit its rate by calls.
fn write_block(block: &[u8], crc: u32, out: &mut dyn Write) -> io::Result<u32> {
    let length = u32::try_from(block.len()).map_err(io::Error::other)?;
    let crc = crc32c_append(crc, block);
    out.write_all(&[&length.to_le_bytes()[..], &crc.to_le_bytes(), block].concat())?;
    Ok(crc)
}

/// Reads and verifies all of an image. `name` is what the user calls the file.
pub(crate) fn read(input: &mut dyn Read, name: &str) -> Result<Content, Error> {
    Reader {
        input,
        name,
        offset: 0,
    }
    .read()
}

struct Reader<'a> {
    input: &'a mut dyn Read,
    name: &'a str,
    offset: u64,
}

impl Reader<'_> {
    fn read(mut self) -> Result<Content, Error> {
        let mut header = [0; HEADER];
        self.fill(&mut header, "the header is cut off")?;
        if &header[..8] != MAGIC {
            return Err(self.corrupt(0, "this is not a Pilothouse image"));
        }
        let mut crc = crc32c(&header[..HEADER - 4]);
        if header[HEADER - 4..] != crc.to_le_bytes() {
            return Err(self.corrupt(0, "the header's checksum is wrong"));
        }
        let fields = &mut &header[8..HEADER - 4];
        let version = take(fields, 4).map(<[u8]>::to_vec);
        if version != Some(VERSION.to_le_bytes().to_vec()) {
            return Err(self.corrupt(8, "the format is newer than this program"));
        }
        take(fields, 4);
        let mut number = || read_u64(fields).expect("the header is long enough");
        let (revision, first_segment, next_lease) = (number(), number(), number());
        let mut content = Content {
            revision,
            first_segment,
            next_lease,
            ..Content::default()
        };
        let mut block = Vec::new();
        loop {
            let start = self.offset;
            let mut head = [0; 8];
            self.fill(&mut head, "the file ends before its footer")?;
            let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
            let stored = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
            let size = if length == FOOTER {
                16
            } else {
                length as usize
            };
            if size > MAX_BLOCK {
                return Err(self.corrupt(start, "a block's length is impossible"));
            }
            block.resize(size, 0);
            self.fill(&mut block, "a block is cut off")?;
            crc = crc32c_append(crc, &block);
            if crc != stored {
                return Err(self.corrupt(start, "a block's checksum is wrong"));
            }
            if length == FOOTER {
                let counts = [content.entries.len() as u64, content.leases.len() as u64]
                    .map(u64::to_le_bytes)
                    .concat();
                if block != counts {
                    return Err(
                        self.corrupt(start, "the footer counts other entries than there are")
                    );
                }
                if self.fill(&mut [0], "").is_ok() {
                    return Err(self.corrupt(self.offset - 1, "there is more after the footer"));
                }
                content.bytes = self.offset;
                return Ok(content);
            }
            self.records(&block, start, &mut content)?;
        }
    }

    fn records(&self, mut block: &[u8], start: u64, content: &mut Content) -> Result<(), Error> {
        while !block.is_empty() {
            match decode(&mut block) {
                Some(Record::Put(entry)) => {
                    if content
                        .entries
                        .last()
                        .is_some_and(|last| last.key >= entry.key)
                    {
                        return Err(self.corrupt(start, "keys are not in order"));
                    }
                    if entry.modified > content.revision {
                        return Err(self.corrupt(start, "an entry is newer than the image"));
                    }
                    content.entries.push(entry);
                }
                Some(Record::Grant { lease, ttl }) => content.leases.push((lease, ttl)),
                _ => return Err(self.corrupt(start, "a record cannot be read")),
            }
        }
        Ok(())
    }

    fn fill(&mut self, buffer: &mut [u8], cut: &str) -> Result<(), Error> {
        match self.input.read_exact(buffer) {
            Ok(()) => {
                self.offset += buffer.len() as u64;
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(self.corrupt(self.offset, cut))
            }
            Err(source) => Err(Error::io(
                format!("read {} at byte {}", self.name, self.offset),
                source,
            )),
        }
    }

    fn corrupt(&self, offset: u64, what: &str) -> Error {
        Error::Corrupt(Corruption {
            file: self.name.into(),
            offset,
            what: what.into(),
        })
    }
}
