//! Continue tokens: where the next page begins and at which revision, as kube-apiserver writes them.

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use json::{Value, json};
use meta::Status;
use store::Revision;

/// As Go reads it.
const ALPHABET: GeneralPurpose =
    GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

/// Where a list goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continue {
    /// Of the first page; `None` to go on with whatever is there now.
    pub revision: Option<Revision>,
    /// The last key that was listed.
    pub after: Vec<u8>,
    start: String,
}

impl Continue {
    /// A token for what follows `last`, a key that begins with `range`.
    pub fn write(revision: Revision, range: &[u8], last: &[u8]) -> String {
        let start = String::from_utf8_lossy(&last[range.len()..]);
        let rv = i64::try_from(revision).unwrap_or(i64::MAX);
        encode(rv, &format!("{start}\0"))
    }

    pub fn parse(token: &str, range: &str) -> Result<Self, Status> {
        let invalid = |what: &str| {
            Status::bad_request(format!(
                "invalid continue token: continue key is not valid: {what}"
            ))
        };
        let bytes = ALPHABET.decode(token).map_err(|_| {
            let at = illegal(token);
            invalid(&format!("illegal base64 data at input byte {at}"))
        })?;
        let value = json::parse(&bytes).map_err(|error| invalid(&error.to_string()))?;
        if value.str_at(&["v"]) != Some("meta.k8s.io/v1") {
            return Err(invalid("server does not recognize this encoded version"));
        }
        let rv = value.get("rv").and_then(Value::as_i64).unwrap_or(0);
        let start = value.str_at(&["start"]).unwrap_or_default();
        if rv == 0 {
            return Err(invalid(
                "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ));
        }
        if start.is_empty() {
            return Err(invalid("encoded start key empty (version meta.k8s.io/v1)"));
        }
        let escapes = start.split('/').any(|part| matches!(part, "." | ".."));
        if escapes || start.starts_with('/') {
            return Err(invalid(&format!("encoded key is not valid: {start:?}")));
        }
        // Tokens name the first key to come: the last one with a zero byte behind it. Other keys may be named too.
        let after = match start.strip_suffix('\0') {
            Some(last) => format!("{range}{last}").into_bytes(),
            None => before(format!("{range}{start}")),
        };
        Ok(Self {
            revision: Revision::try_from(rv).ok(),
            after,
            start: start.to_owned(),
        })
    }

    /// The past is gone: the answer carries a token to go on with the present.
    pub(crate) fn too_old(&self, _now: Revision) -> Status {
        let message = "The provided continue parameter is too old to display a consistent list result. You can start \
                       a new list without the continue parameter, or use the continue token in this response to \
                       retrieve the remainder of the results. Continuing with the provided token results in an \
                       inconsistent list - objects that were created, modified, or deleted between the time the first \
                       chunk was returned and now may show up in the list.";
        let mut status = Status::resource_expired(message);
        status.continue_token = encode(-1, &self.start);
        status
    }
}

/// Where Go gives up.
fn illegal(token: &str) -> usize {
    let known = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_');
    let found = token.bytes().position(|it| !known(&it));
    found.unwrap_or_else(|| token.len().saturating_sub(1))
}

fn encode(rv: i64, start: &str) -> String {
    let value = json!({"v": "meta.k8s.io/v1", "rv": rv, "start": start});
    ALPHABET.encode(json::to_vec(&value))
}

/// A key right before another: nothing lies between them.
fn before(key: String) -> Vec<u8> {
    let mut key = key.into_bytes();
    if let Some(last) = key.pop()
        && last > 0
    {
        key.push(last - 1);
        key.extend_from_slice(&[0xff; 8]);
    }
    key
}
