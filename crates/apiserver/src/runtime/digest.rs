//! Hashes that clients compare.

use std::fmt::Write as _;

use aws_lc_rs::digest::{SHA256, SHA512, digest};

/// Of a document: SHA-512, in capitals.
pub(crate) fn etag(body: &[u8]) -> String {
    let mut text = String::with_capacity(128);
    for byte in digest(&SHA512, body).as_ref() {
        write!(text, "{byte:02X}").expect("a String takes all");
    }
    text
}

/// `storageVersionHash`: the first eight bytes of SHA-256, in base64.
pub(crate) fn short_hash(text: &str) -> String {
    base64::Engine::encode(
        &base64::engine::general_purpose::STANDARD,
        &digest(&SHA256, text.as_bytes()).as_ref()[..8],
    )
}
