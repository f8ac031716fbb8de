//! gzip by `flate2`: as a stream, in one piece, and from pieces that are compressed one by one.

mod pieces;

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;

pub use pieces::{Packed, Packer, Piece};

/// The fastest: what is compressed here repeats itself so much that more gains little. kube-apiserver takes it too.
const LEVEL: Compression = Compression::fast();

/// Compresses a stream.
#[derive(Debug)]
pub struct Encoder(GzEncoder<Vec<u8>>);

impl Default for Encoder {
    fn default() -> Self {
        Self(GzEncoder::new(Vec::new(), LEVEL))
    }
}

impl Encoder {
    /// Takes more data; returns what is ready to be sent, which may be nothing.
    pub fn push(&mut self, data: &[u8]) -> Vec<u8> {
        self.0.write_all(data).expect("a Vec takes all");
        std::mem::take(self.0.get_mut())
    }

    pub fn finish(self) -> Vec<u8> {
        self.0.finish().expect("a Vec takes all")
    }
}

pub fn pack(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), LEVEL);
    encoder.write_all(data).expect("a Vec takes all");
    encoder.finish().expect("a Vec takes all")
}

/// Why something cannot be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnpackError {
    #[error("there is more in it than is taken")]
    Large,
    #[error("it is not gzip")]
    Broken,
}

/// What was packed as one piece, if it has no more than `limit` bytes.
pub fn unpack(packed: &[u8], limit: usize) -> Result<Vec<u8>, UnpackError> {
    let mut decoder = GzDecoder::new(packed);
    let mut data = Vec::new();
    let one_more = (limit as u64).saturating_add(1);
    let read = decoder.by_ref().take(one_more).read_to_end(&mut data);
    if data.len() > limit {
        return Err(UnpackError::Large);
    }
    let is_whole = read.is_ok() && decoder.into_inner().is_empty();
    is_whole.then_some(data).ok_or(UnpackError::Broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];

    #[test]
    fn a_stream_comes_back() {
        let text: Vec<u8> = (0..300_000_u32)
            .flat_map(|it| (it % 1000).to_string().into_bytes())
            .collect();
        let mut encoder = Encoder::default();
        let mut packed = Vec::new();
        for part in text.chunks(70_001) {
            packed.extend(encoder.push(part));
        }
        assert!(!packed.is_empty());
        packed.extend(encoder.finish());
        assert!(packed.len() < text.len(), "{}", packed.len());
        assert_eq!(packed[..10], HEADER);
        assert!(unpack(&packed, text.len()).as_ref() == Ok(&text));
    }

    #[test]
    fn the_checksum_is_gzips_and_the_data_comes_back() {
        let digits = pack(b"123456789");
        let checksum = &digits[digits.len() - 8..digits.len() - 4];
        assert_eq!(checksum, 0xcbf4_3926_u32.to_le_bytes());
        let data = b"spans ".repeat(1000);
        let packed = pack(&data);
        assert_eq!(packed[..10], HEADER);
        assert!(packed.len() < data.len() / 10);
        assert_eq!(packed[packed.len() - 4..], 6000_u32.to_le_bytes());
        assert_eq!(unpack(&packed, data.len()).as_ref(), Ok(&data));
        assert_eq!(unpack(&packed, data.len() - 1), Err(UnpackError::Large));
        assert_eq!(unpack(&pack(b""), 0), Ok(Vec::new()));
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
        assert_eq!(unpack(&wrong, 100), Err(UnpackError::Broken));
        let twice = [&packed[..], &packed].concat();
        assert_eq!(unpack(&twice, 100), Err(UnpackError::Broken));
        // With all that may stand in a head.
        let mut full = packed[..10].to_vec();
        full[3] = 4 | 8 | 16 | 2;
        full.extend_from_slice(b"\x02\0ab");
        full.extend_from_slice(b"name\0comment\0");
        let mut crc = flate2::Crc::new();
        crc.update(&full);
        full.extend_from_slice(&crc.sum().to_le_bytes()[..2]);
        full.extend_from_slice(&packed[10..]);
        assert_eq!(unpack(&full, 100).unwrap(), b"spans");
    }
}
