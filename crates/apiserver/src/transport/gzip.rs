//! Compressed responses, for clients that accept them and where it pays.

mod crc32;
mod pieces;

use std::future::poll_fn;

use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderValue, VARY};
use http::{HeaderMap, Response};
use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, TDEFLStatus, compress_to_output, create_comp_flags_from_zip_params,
};

use crate::transport::body::{Body, Upcoming};
pub(crate) use pieces::{Packed, Packer, Piece};

/// As upstream: below this the time is better spent on sending.
const WORTH_IT: usize = 128 << 10;
/// Also as upstream: the fastest.
const LEVEL: i32 = 1;
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];

/// Compresses a large answer if the client takes it so. Watches stay as they are: their events must not wait.
pub(crate) fn negotiate(request: &HeaderMap, response: &mut Response<Body>) {
    let large = match response.body() {
        Body::Full(bytes) => bytes.len() >= WORTH_IT,
        Body::Chunks(_) => true,
        Body::Stream(_) => false,
    };
    if !large || response.headers().contains_key(CONTENT_ENCODING) || !accepts(request) {
        return;
    }
    let body = std::mem::replace(response.body_mut(), Body::empty());
    *response.body_mut() = match body {
        Body::Full(mut bytes) => Body::chunks(held(bytes.len()), |out| async move {
            let mut encoder = Encoder::new();
            while !bytes.is_empty() {
                let piece = bytes.split_to(PIECE.min(bytes.len()));
                let packed = encoder.push(&piece);
                if packed.is_empty() {
                    tokio::task::yield_now().await;
                } else {
                    out.send_before(packed.into(), held(bytes.len())).await;
                }
            }
            out.send(encoder.finish().into()).await;
        }),
        Body::Chunks(mut frames) => Body::chunks(with_state(frames.upcoming()), |out| async move {
            let mut encoder = Encoder::new();
            while let Some(frame) = poll_fn(|context| frames.as_mut().poll_next(context)).await {
                let packed = encoder.push(&frame);
                if !packed.is_empty() {
                    let upcoming = with_state(frames.upcoming());
                    out.send_before(packed.into(), upcoming).await;
                }
            }
            out.send(encoder.finish().into()).await;
        }),
        watch @ Body::Stream(_) => watch,
    };
    mark(response);
}

/// Whether a client takes this many bytes compressed, and it pays.
pub(crate) fn is_wanted(request: &HeaderMap, length: usize) -> bool {
    length >= WORTH_IT && accepts(request)
}

fn accepts(request: &HeaderMap) -> bool {
    request
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|coding| coding.split(';').next().unwrap_or_default().trim() == "gzip")
}

/// Says that the body is compressed.
pub(crate) fn mark(response: &mut Response<Body>) {
    let headers = response.headers_mut();
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
}

/// So much is compressed at a time: others on the same thread wait that long.
const PIECE: usize = 32 << 10;

/// Of an answer that is there, of which so many bytes are left.
fn held(left: usize) -> Upcoming {
    Upcoming {
        next: PIECE,
        held: left + STATE,
    }
}

/// What an encoder takes of memory, about.
const STATE: usize = 320 << 10;

fn with_state(upcoming: Upcoming) -> Upcoming {
    Upcoming {
        held: upcoming.held + STATE,
        ..upcoming
    }
}

struct Encoder {
    deflate: Box<CompressorOxide>,
    begun: bool,
    crc: u32,
    size: u32,
}

impl Encoder {
    fn new() -> Self {
        let flags = create_comp_flags_from_zip_params(LEVEL, -15, 0);
        Self {
            deflate: Box::new(CompressorOxide::new(flags)),
            begun: false,
            crc: !0,
            size: 0,
        }
    }

    fn push(&mut self, data: &[u8]) -> Vec<u8> {
        self.crc = crc32::add(self.crc, data);
        // The size is told modulo 2^32.
        self.size = self
            .size
            .wrapping_add(u32::try_from(data.len() % (1 << 32)).unwrap_or(0));
        self.run(data, TDEFLFlush::None)
    }

    fn finish(&mut self) -> Vec<u8> {
        let mut out = self.run(&[], TDEFLFlush::Finish);
        out.extend_from_slice(&(!self.crc).to_le_bytes());
        out.extend_from_slice(&self.size.to_le_bytes());
        out
    }

    fn run(&mut self, data: &[u8], flush: TDEFLFlush) -> Vec<u8> {
        let mut out = Vec::new();
        if !std::mem::replace(&mut self.begun, true) {
            out.extend_from_slice(&HEADER);
        }
        let mut rest = data;
        loop {
            let (status, taken) =
                compress_to_output(&mut self.deflate, rest, flush, |bytes: &[u8]| {
                    out.extend_from_slice(bytes);
                    true
                });
            rest = &rest[taken..];
            let more =
                status == TDEFLStatus::Okay && (!rest.is_empty() || flush == TDEFLFlush::Finish);
            if !more {
                return out;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_comes_back() {
        let text: Vec<u8> = (0..300_000_u32)
            .flat_map(|it| (it % 1000).to_string().into_bytes())
            .collect();
        let mut encoder = Encoder::new();
        let mut packed = Vec::new();
        for part in text.chunks(70_001) {
            packed.extend(encoder.push(part));
        }
        packed.extend(encoder.finish());
        assert!(packed.len() < text.len(), "{}", packed.len());
        assert_eq!(packed[..10], HEADER);
        let (body, trailer) = packed[10..].split_at(packed.len() - 18);
        let plain = miniz_oxide::inflate::decompress_to_vec(body).unwrap();
        assert_eq!(plain, text);
        assert_eq!(
            trailer[4..],
            u32::try_from(text.len()).unwrap().to_le_bytes()
        );
    }

    #[test]
    fn the_checksum_is_gzips() {
        let mut encoder = Encoder::new();
        encoder.push(b"123456789");
        let end = encoder.finish();
        assert_eq!(
            end[end.len() - 8..end.len() - 4],
            0xcbf4_3926_u32.to_le_bytes()
        );
    }
}
