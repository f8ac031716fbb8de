//! A gzip stream put together from pieces that were compressed one by one: a long document that changes in one place is
//! not compressed again as a whole.

use bytes::Bytes;
use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, TDEFLStatus, compress_to_output, create_comp_flags_from_zip_params,
};
use miniz_oxide::inflate::decompress_to_vec_with_limit;

use super::{HEADER, LEVEL, crc32};

/// A last block without any data.
const END: [u8; 2] = [3, 0];
/// The checksum and the size.
const TRAILER: usize = 8;

/// Compressed data that ends at the end of a byte, and refers to nothing before it.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    deflated: Bytes,
    crc: u32,
    size: usize,
}

impl Piece {
    /// Before it was compressed.
    pub(crate) fn size(&self) -> usize {
        self.size
    }
}

/// Compresses pieces, one after the other.
pub(crate) struct Packer(Box<CompressorOxide>);

impl Packer {
    pub(crate) fn new() -> Self {
        let flags = create_comp_flags_from_zip_params(LEVEL, -15, 0);
        Self(Box::new(CompressorOxide::new(flags)))
    }

    pub(crate) fn pack(&mut self, data: &[u8]) -> Piece {
        self.0.reset();
        let (mut out, mut rest) = (Vec::new(), data);
        loop {
            let flush = TDEFLFlush::Sync;
            let (status, taken) = compress_to_output(&mut self.0, rest, flush, |bytes: &[u8]| {
                out.extend_from_slice(bytes);
                true
            });
            rest = &rest[taken..];
            if rest.is_empty() || status != TDEFLStatus::Okay {
                break;
            }
        }
        Piece {
            deflated: out.into(),
            crc: !crc32::add(!0, data),
            size: data.len(),
        }
    }
}

/// A whole gzip stream, and how long it is when it is unpacked.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    pub(crate) bytes: Bytes,
    pub(crate) size: usize,
}

impl Packed {
    pub(crate) fn new(data: &[u8]) -> Self {
        Self::join(&[&Packer::new().pack(data)])
    }

    pub(crate) fn join(pieces: &[&Piece]) -> Self {
        let length: usize = pieces.iter().map(|it| it.deflated.len()).sum();
        let mut bytes = Vec::with_capacity(HEADER.len() + length + END.len() + TRAILER);
        bytes.extend_from_slice(&HEADER);
        let (mut crc, mut size) = (0, 0);
        for piece in pieces {
            bytes.extend_from_slice(&piece.deflated);
            crc = crc32::combine(crc, piece.crc, piece.size);
            size += piece.size;
        }
        bytes.extend_from_slice(&END);
        bytes.extend_from_slice(&crc.to_le_bytes());
        // The size is told modulo 2^32.
        let told = u32::try_from(size % (1 << 32)).unwrap_or(0);
        bytes.extend_from_slice(&told.to_le_bytes());
        Self {
            bytes: bytes.into(),
            size,
        }
    }

    pub(crate) fn unpack(&self) -> Bytes {
        let deflated = &self.bytes[HEADER.len()..self.bytes.len() - TRAILER];
        let unpacked = decompress_to_vec_with_limit(deflated, self.size);
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
        let parts = [
            text(0, 100_000),
            Vec::new(),
            b",".to_vec(),
            text(0, 7),
            text(0, 100_000),
        ];
        let mut packer = Packer::new();
        let pieces: Vec<Piece> = parts.iter().map(|it| packer.pack(it)).collect();
        for order in [&[0, 1, 2, 3, 4][..], &[4, 2, 0], &[3], &[]] {
            let whole: Vec<u8> = order.iter().flat_map(|at| parts[*at].clone()).collect();
            let some: Vec<&Piece> = order.iter().map(|at| &pieces[*at]).collect();
            let packed = Packed::join(&some);
            assert_eq!(
                (packed.size, &packed.unpack()[..]),
                (whole.len(), &whole[..])
            );
            let trailer = &packed.bytes[packed.bytes.len() - TRAILER..];
            assert_eq!(trailer[..4], (!crc32::add(!0, &whole)).to_le_bytes());
        }
    }
}
