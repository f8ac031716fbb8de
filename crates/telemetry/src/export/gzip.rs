//! A body packed as collectors take it.

use std::sync::OnceLock;

use miniz_oxide::inflate::TINFLStatus;

const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];
/// The fastest: telemetry repeats itself so much that more gains little.
const LEVEL: u8 = 1;

pub(crate) fn pack(data: &[u8]) -> Vec<u8> {
    let mut out = HEADER.to_vec();
    out.extend(miniz_oxide::deflate::compress_to_vec(data, LEVEL));
    out.extend_from_slice(&crc(data).to_le_bytes());
    // Its size modulo 2^32, as gzip has it.
    let size = data.len() as u64 & u64::from(u32::MAX);
    out.extend_from_slice(&size.to_le_bytes()[..4]);
    out
}

/// Why something cannot be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// There is more in it than is taken.
    Large,
    Broken,
}

/// What was packed as one piece, if it has no more than `limit` bytes.
pub(crate) fn unpack(packed: &[u8], limit: usize) -> Result<Vec<u8>, Wrong> {
    let (body, trailer) = parts(packed).ok_or(Wrong::Broken)?;
    let unpacked = miniz_oxide::inflate::decompress_to_vec_with_limit(body, limit);
    let data = unpacked.map_err(|error| match error.status {
        TINFLStatus::HasMoreOutput => Wrong::Large,
        _ => Wrong::Broken,
    })?;
    let is_same = trailer[..4] == crc(&data).to_le_bytes();
    is_same.then_some(data).ok_or(Wrong::Broken)
}

/// What is between gzip's head, which may name a file and more, and its end.
fn parts(packed: &[u8]) -> Option<(&[u8], &[u8])> {
    let (head, rest) = packed.split_at_checked(10)?;
    if head[..3] != HEADER[..3] {
        return None;
    }
    let flags = head[3];
    let mut rest = rest;
    let skip = |rest: &mut &[u8], length: usize| {
        *rest = rest.get(length..)?;
        Some(())
    };
    if flags & 4 != 0 {
        let length = u16::from_le_bytes(*rest.first_chunk()?);
        skip(&mut rest, 2 + usize::from(length))?;
    }
    // A name, and a comment.
    for flag in [8, 16] {
        if flags & flag != 0 {
            let end = rest.iter().position(|it| *it == 0)?;
            skip(&mut rest, end + 1)?;
        }
    }
    if flags & 2 != 0 {
        skip(&mut rest, 2)?;
    }
    rest.split_at_checked(rest.len().checked_sub(8)?)
}

fn crc(data: &[u8]) -> u32 {
    static TABLE: OnceLock<[u32; 256]> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        std::array::from_fn(|index| {
            let step = |crc: u32, _| {
                let odd = if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
                odd ^ crc >> 1
            };
            (0..8).fold(u32::try_from(index).unwrap_or_default(), step)
        })
    });
    let sum = data.iter().fold(!0, |crc: u32, byte| {
        table[usize::from(crc.to_le_bytes()[0] ^ byte)] ^ crc >> 8
    });
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_gzips_and_the_data_comes_back() {
        assert_eq!(crc(b"123456789"), 0xcbf4_3926);
        let data = b"spans ".repeat(1000);
        let packed = pack(&data);
        assert!(packed.len() < data.len() / 10);
        let body = &packed[10..packed.len() - 8];
        assert_eq!(miniz_oxide::inflate::decompress_to_vec(body).unwrap(), data);
        assert_eq!(packed[packed.len() - 4..], 6000_u32.to_le_bytes());
        assert_eq!(unpack(&packed, data.len()).as_ref(), Ok(&data));
        assert_eq!(unpack(&packed, data.len() - 1), Err(Wrong::Large));
    }

    #[test]
    fn what_is_broken_is_said_to_be() {
        let packed = pack(b"spans");
        for length in 0..packed.len() {
            assert!(unpack(&packed[..length], 100).is_err(), "{length}");
        }
        let mut wrong = packed.clone();
        let crc = wrong.len() - 8;
        wrong[crc] ^= 1;
        assert_eq!(unpack(&wrong, 100), Err(Wrong::Broken));
        // With all that may stand in a head.
        let mut full = packed[..10].to_vec();
        full[3] = 4 | 8 | 16 | 2;
        full.extend_from_slice(b"\x02\0ab");
        full.extend_from_slice(b"name\0comment\0");
        full.extend_from_slice(b"hh");
        full.extend_from_slice(&packed[10..]);
        assert_eq!(unpack(&full, 100).unwrap(), b"spans");
    }
}
