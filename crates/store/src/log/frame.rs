//! A frame: one batch, or a mark at the end of a segment.
//!
//! ```text
//! magic u32 | kind u32 | length u32 | sequence u64 | chain u32 | payload crc u32 | header crc u32 | payload ... | to a sector
//! ```
//! `sequence` counts batches over all segments; `chain` is the header crc of the batch before. The header crc starts
//! from the segment's salt, which nobody outside can know: neither a value that imitates a frame nor the old content
//! of a recycled file can pass for one.

use crc32c::{crc32c, crc32c_append};

pub(super) const SECTOR: usize = 512;
pub(super) const HEAD: usize = 32;
const MAGIC: u32 = u32::from_le_bytes(*b"PHfr");

/// What a frame's header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) kind: Kind,
    pub(super) length: usize,
    pub(super) sequence: u64,
    pub(super) chain: u32,
    pub(super) payload_crc: u32,
    /// The next frame's chain.
    pub(super) crc: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Batch,
    /// All before it was synced. The next batch takes its place.
    Seal,
    /// All before it was synced, and the log goes on in the next segment.
    Continued,
}

/// Completes the frame in `buffer`, whose first [`HEAD`] bytes are free for the header. Returns the header crc.
pub(super) fn finish(
    buffer: &mut Vec<u8>,
    kind: Kind,
    sequence: u64,
    chain: u32,
    salt: u32,
) -> u32 {
    let payload = &buffer[HEAD..];
    let length = u32::try_from(payload.len()).expect("a batch is a few MiB");
    let payload_crc = crc32c(payload);
    let kind: u32 = match kind {
        Kind::Batch => 1,
        Kind::Seal => 2,
        Kind::Continued => 3,
    };
    let mut head = [0; HEAD];
    head[..4].copy_from_slice(&MAGIC.to_le_bytes());
    head[4..8].copy_from_slice(&kind.to_le_bytes());
    head[8..12].copy_from_slice(&length.to_le_bytes());
    head[12..20].copy_from_slice(&sequence.to_le_bytes());
    head[20..24].copy_from_slice(&chain.to_le_bytes());
    head[24..28].copy_from_slice(&payload_crc.to_le_bytes());
    let crc = crc32c_append(salt, &head[..28]);
    head[28..].copy_from_slice(&crc.to_le_bytes());
    buffer[..HEAD].copy_from_slice(&head);
    buffer.resize(buffer.len().next_multiple_of(SECTOR), 0);
    crc
}

/// Reads the header at the front of `data`; `None` if there is none that was written in this segment.
pub(super) fn head(data: &[u8], salt: u32) -> Option<Head> {
    let head: &[u8; HEAD] = data.get(..HEAD)?.try_into().ok()?;
    let number =
        |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let crc = number(28);
    if number(0) != MAGIC || crc != crc32c_append(salt, &head[..28]) {
        return None;
    }
    let kind = match number(4) {
        1 => Kind::Batch,
        2 => Kind::Seal,
        3 => Kind::Continued,
        _ => return None,
    };
    let sequence = u64::from(number(12)) | u64::from(number(16)) << 32;
    Some(Head {
        kind,
        length: number(8) as usize,
        sequence,
        chain: number(20),
        payload_crc: number(24),
        crc,
    })
}

impl Head {
    /// The payload behind the header at the front of `data`, if it is whole.
    pub(super) fn payload<'a>(&self, data: &'a [u8]) -> Option<&'a [u8]> {
        let payload = data.get(HEAD..HEAD + self.length)?;
        (crc32c(payload) == self.payload_crc).then_some(payload)
    }

    /// Bytes the whole frame takes.
    pub(super) fn size(&self) -> usize {
        (HEAD + self.length).next_multiple_of(SECTOR)
    }
}
