//! Hashes that clients compare.

use aws_lc_rs::digest::{SHA256, SHA512, digest};
use encoding::{base64, hex};

/// Of a document: SHA-512, in capitals.
pub(crate) fn etag(body: &[u8]) -> String {
    hex::encode_upper(digest(&SHA512, body).as_ref())
}

/// `storageVersionHash`: the first eight bytes of SHA-256, in base64.
pub(crate) fn short_hash(text: &str) -> String {
    base64::encode(&digest(&SHA256, text.as_bytes()).as_ref()[..8])
}
