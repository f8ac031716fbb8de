//! The documents with which others verify our tokens (`OpenID` Connect Discovery).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use json::{Object, Value, json};

use super::key::{Algorithm, PublicKey};

pub const CONFIGURATION_PATH: &str = "/.well-known/openid-configuration";
pub const JWKS_PATH: &str = "/openid/v1/jwks";

/// The discovery document, or why there can be none: relying parties insist on https without query or fragment.
pub fn configuration(issuer: &str, jwks_uri: &str, keys: &[PublicKey]) -> Result<Value, String> {
    if issuer.is_empty() {
        return Err("empty issuer URL".to_owned());
    }
    if !issuer.starts_with("https://") {
        return Err(format!("issuer URL must use https scheme, got: {issuer}"));
    }
    if issuer.contains('?') {
        return Err(format!("issuer URL may not include a query, got: {issuer}"));
    }
    if issuer.contains('#') {
        return Err(format!(
            "issuer URL may not include a fragment, got: {issuer}"
        ));
    }
    if !jwks_uri.starts_with("https://") {
        return Err(format!(
            "jwksURI requires https scheme, parsed as: {jwks_uri}"
        ));
    }
    if keys.is_empty() {
        return Err("no keys provided for validating keyset".to_owned());
    }
    let mut algorithms: Vec<_> = keys.iter().map(|key| key.algorithm.name()).collect();
    algorithms.sort_unstable();
    algorithms.dedup();
    let algorithms: Value = algorithms.into_iter().collect();
    Ok(json!({
        "issuer": issuer,
        "jwks_uri": jwks_uri,
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": algorithms,
    }))
}

/// The public keys as a JSON Web Key Set.
pub fn jwks(keys: &[PublicKey]) -> Value {
    let keys: Value = keys.iter().filter_map(jwk).collect();
    json!({"keys": keys})
}

fn jwk(key: &PublicKey) -> Option<Value> {
    let (kind, curve, names) = match key.algorithm {
        Algorithm::Rs256 => ("RSA", None, ["n", "e"]),
        Algorithm::Es256 => ("EC", Some("P-256"), ["x", "y"]),
        Algorithm::Es384 => ("EC", Some("P-384"), ["x", "y"]),
        Algorithm::Es512 => ("EC", Some("P-521"), ["x", "y"]),
    };
    let (first, second) = key.numbers()?;
    let mut jwk = Object::new();
    jwk.insert("use", "sig");
    jwk.insert("kty", kind);
    jwk.insert("kid", &key.id);
    if let Some(curve) = curve {
        jwk.insert("crv", curve);
    }
    jwk.insert("alg", key.algorithm.name());
    for (name, number) in names.into_iter().zip([first, second]) {
        jwk.insert(name, URL_SAFE_NO_PAD.encode(number));
    }
    Some(jwk.into())
}
