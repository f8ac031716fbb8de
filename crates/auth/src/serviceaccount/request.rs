//! How long a `TokenRequest`'s token lives.

use json::Value;
use meta::field::Error;

const DEFAULT_EXPIRATION: i64 = 3600;
/// Ten minutes.
pub const MIN_EXPIRATION: i64 = 600;
/// What admission asks for in projected volumes, one hour and seven seconds: such tokens live on for a year, and warn.
pub const WARN_ONLY_EXPIRATION: i64 = 60 * 60 + 7;
const EXTENDED_EXPIRATION: i64 = 24 * 365 * 60 * 60;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expiration {
    /// For `spec.expirationSeconds` of the answer.
    pub told: i64,
    /// For the token itself.
    pub seconds: i64,
    /// Zero for none.
    pub warn_after: i64,
    /// For the client.
    pub warning: Option<String>,
}

/// What is wrong with the spec of a `TokenRequest`; it is defaulted already.
pub fn validate_token_request(spec: &Value) -> Vec<Error> {
    if let Some(found) = spec.get("attestations")
        && found.as_object().is_some_and(|it| !it.is_empty())
    {
        let detail = "attestations may only be specified with a webhook bound object reference";
        return vec![Error::invalid("spec.attestations", found.clone(), detail)];
    }
    let seconds = spec.get("expirationSeconds").and_then(Value::as_i64);
    let seconds = seconds.unwrap_or(DEFAULT_EXPIRATION);
    let detail = if seconds < MIN_EXPIRATION {
        "may not specify a duration less than 10 minutes"
    } else if seconds > 1 << 32 {
        "may not specify a duration larger than 2^32 seconds"
    } else {
        return Vec::new();
    };
    vec![Error::invalid("spec.expirationSeconds", seconds, detail)]
}

/// `max` is the server's `--service-account-max-token-expiration`, zero for none.
pub fn expiration(requested: i64, max: i64, for_pod: bool, for_api_server: bool) -> Expiration {
    let mut it = Expiration {
        told: requested,
        ..Expiration::default()
    };
    if max > 0 && requested > max {
        it.warning = Some(format!(
            "requested expiration of {requested} seconds shortened to {max} seconds"
        ));
        it.told = max;
    }
    it.seconds = it.told;
    if for_pod && for_api_server && it.told == WARN_ONLY_EXPIRATION {
        it.warn_after = it.told;
        it.seconds = EXTENDED_EXPIRATION;
    }
    it
}
