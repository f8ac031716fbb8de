//! A cluster with one of each, and a pen for forgeries.

use auth::serviceaccount::{Issuer, SigningKey, TokenSpec, Verifier};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use json::{Value, json};

pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";
/// The start of 2018, when all tests happen.
pub(crate) const NOW: i64 = 1_514_764_800;
pub(crate) const RSA: &[u8] = include_bytes!("rsa-pkcs1.pem");
pub(crate) const EC: &[u8] = include_bytes!("ec-sec1.pem");

pub(crate) fn issuer() -> Issuer {
    Issuer {
        url: ISSUER.to_owned(),
        key: SigningKey::from_pem(EC).unwrap(),
    }
}

pub(crate) fn verifier() -> Verifier {
    Verifier {
        issuers: vec![ISSUER.to_owned()],
        keys: vec![
            SigningKey::from_pem(RSA).unwrap().public().clone(),
            SigningKey::from_pem(EC).unwrap().public().clone(),
        ],
        api_audiences: vec!["api".to_owned()],
    }
}

pub(crate) fn spec<'a>() -> TokenSpec<'a> {
    TokenSpec {
        namespace: "myns",
        name: "mysvcacct",
        uid: "mysvcacct-uid",
        expiration_seconds: 100,
        id: "fixed",
        ..TokenSpec::default()
    }
}

/// All objects the tokens of these tests name are there.
pub(crate) fn cluster(resource: &str, namespace: &str, name: &str) -> Option<Value> {
    let known = [
        ("serviceaccounts", "myns", "mysvcacct"),
        ("pods", "myns", "mypod"),
        ("secrets", "myns", "mysecret"),
        ("nodes", "", "mynode"),
    ];
    let found = known.contains(&(resource, namespace, name));
    found.then(|| json!({"metadata": {"name": name, "uid": (format!("{name}-uid"))}}))
}

pub(crate) fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(json::to_vec(value))
}

pub(crate) fn payload(token: &str) -> Value {
    let part = token.split('.').nth(1).unwrap();
    json::parse(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}
