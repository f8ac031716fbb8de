//! JSON Web Tokens in their compact form, and no other.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use json::{Limits, Value, json};

use super::key::SigningKey;

/// Longer is not a token we made.
const MAX_LENGTH: usize = 64 * 1024;

/// A token taken apart. Nothing in it is verified yet.
#[derive(Debug)]
pub(super) struct Unverified<'a> {
    pub(super) algorithm: String,
    /// Empty if the header names no key.
    pub(super) key_id: String,
    pub(super) claims: Value,
    signed: &'a str,
    signature: Vec<u8>,
}

impl<'a> Unverified<'a> {
    /// None if it is not a token of ours by its form.
    pub(super) fn parse(token: &'a str) -> Option<Self> {
        if token.len() > MAX_LENGTH {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        if payload.contains('.') {
            return None;
        }
        let header = object(header)?;
        // A header that must be understood is one we do not understand (RFC 7515, 4.1.11).
        if header.get("crit").is_some() {
            return None;
        }
        let text = |key| match header.get(key) {
            None => Some(String::new()),
            Some(value) => value.as_str().map(str::to_owned),
        };
        Some(Self {
            algorithm: text("alg")?,
            key_id: text("kid")?,
            claims: object(payload)?,
            signed,
            signature: URL_SAFE_NO_PAD.decode(signature).ok()?,
        })
    }

    pub(super) fn signed(&self) -> &[u8] {
        self.signed.as_bytes()
    }

    pub(super) fn signature(&self) -> &[u8] {
        &self.signature
    }
}

/// Two claims of one name could be read differently by two readers: then it is no token.
fn object(part: &str) -> Option<Value> {
    let bytes = URL_SAFE_NO_PAD.decode(part).ok()?;
    let parsed = json::parse_with(&bytes, Limits { depth: 16 }).ok()?;
    let sound = parsed.duplicates.is_empty() && parsed.value.as_object().is_some();
    sound.then_some(parsed.value)
}

pub(super) fn sign(key: &SigningKey, claims: &Value) -> Option<String> {
    let public = key.public();
    let header = json!({"alg": (public.algorithm.name()), "kid": (&public.id)});
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(json::to_vec(value));
    let signed = format!("{}.{}", part(&header), part(claims));
    let signature = URL_SAFE_NO_PAD.encode(key.sign(signed.as_bytes())?);
    Some(format!("{signed}.{signature}"))
}
