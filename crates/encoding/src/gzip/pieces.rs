//! A gzip stream put together from pieces that were compressed one by one: a long document that changes in one place is
//! not compressed again as a whole.

use bytes::Bytes;
use crc32fast::Hasher;
use flate2::{Compress, FlushCompress, Status};

use super::{LEVEL, unpack};

/// gzip's, with flags that tell the fastest level and no file.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];
/// A last block without any data.
const END: [u8; 2] = [3, 0];
/// The checksum and the size.
const TRAILER: usize = 8;

/// Compressed data that ends at the end of a byte, and refers to nothing before it.
#[derive(Clone, Debug)]
pub struct Piece {
    deflated: Bytes,
    crc: Hasher,
    size: usize,
}

impl Piece {
    /// Before it was compressed.
    pub fn size(&self) -> usize {
        self.size
    }
}

/// Compresses pieces, one after the other.
#[derive(Debug)]
pub struct Packer(Compress);

impl Default for Packer {
    fn default() -> Self {
        Self(Compress::new(LEVEL, false))
    }
}

impl Packer {
    pub fn pack(&mut self, data: &[u8]) -> Piece {
        self.0.reset();
        let mut out = Vec::with_capacity(data.len() / 4 + 64);
        loop {
            let taken = usize::try_from(self.0.total_in()).unwrap_or(usize::MAX);
            let rest = data.get(taken..).unwrap_or_default();
            let status = self
                .0
                .compress_vec(rest, &mut out, FlushCompress::Sync)
                .expect("the compressor is in no other state than the one made here");
            // Room that is left means that all is out.
            if status != Status::Ok || out.len() < out.capacity() {
                break;
            }
            out.reserve(out.len());
        }
        let mut crc = Hasher::new();
        crc.update(data);
        Piece {
            deflated: out.into(),
            crc,
            size: data.len(),
        }
    }
}

/// A whole gzip stream, and how long it is when it is unpacked.
#[derive(Clone, Debug)]
pub struct Packed {
    pub bytes: Bytes,
    pub size: usize,
}

impl Packed {
    pub fn new(data: &[u8]) -> Self {
        Self::join(&[&Packer::default().pack(data)])
    }

    pub fn join(pieces: &[&Piece]) -> Self {
        let length: usize = pieces.iter().map(|it| it.deflated.len()).sum();
        let mut bytes = Vec::with_capacity(HEADER.len() + length + END.len() + TRAILER);
        bytes.extend_from_slice(&HEADER);
        let (mut crc, mut size) = (Hasher::new(), 0);
        for piece in pieces {
            bytes.extend_from_slice(&piece.deflated);
            crc.combine(&piece.crc);
            size += piece.size;
        }
        bytes.extend_from_slice(&END);
        bytes.extend_from_slice(&crc.finalize().to_le_bytes());
        // The size is told modulo 2^32.
        bytes.extend_from_slice(&size.to_le_bytes()[..4]);
        Self {
            bytes: bytes.into(),
            size,
        }
    }

    pub fn unpack(&self) -> Bytes {
        let unpacked = unpack(&self.bytes, self.size);
        unpacked.expect("what was packed here is whole").into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_one_stream() {
        let text = |from: u32, to: u32| -> Vec<u8> {
            let numbers = (from..to).map(|it| (it % 1000).to_string().into_bytes());
            numbers.flatten().collect()
        };
        // Hardly compressible, so that the output is longer than was expected.
        let noise = |length: u32| -> Vec<u8> {
            let mut seed = 1_u32;
            let next = |_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                seed.to_be_bytes()[0]
            };
            (0..length).map(next).collect()
        };
        let parts = [
            text(0, 100_000),
            Vec::new(),
            b",".to_vec(),
            noise(100_000),
            text(0, 7),
            text(0, 100_000),
        ];
        let mut packer = Packer::default();
        let pieces: Vec<Piece> = parts.iter().map(|it| packer.pack(it)).collect();
        for order in [&[0, 1, 2, 3, 4, 5][..], &[4, 2, 0], &[3], &[5, 3], &[]] {
            let whole: Vec<u8> = order.iter().flat_map(|at| parts[*at].clone()).collect();
            let some: Vec<&Piece> = order.iter().map(|at| &pieces[*at]).collect();
            let packed = Packed::join(&some);
            assert!(packed.size == whole.len() && packed.unpack() == whole);
        }
        let once = Packed::new(&parts[0]);
        assert!(once.bytes.len() < parts[0].len() / 2);
    }
}
