//! What is published, and how long tokens live.

use auth::serviceaccount::{Expiration, configuration, expiration, jwks, validate_token_request};
use json::{Value, json};

use crate::support::verifier;

#[test]
fn discovery() {
    let keys = verifier().keys;
    let document = configuration(
        "https://a.example",
        "https://b.example/openid/v1/jwks",
        &keys,
    )
    .unwrap();
    assert_eq!(
        json::to_string(&document),
        r#"{"issuer":"https://a.example","jwks_uri":"https://b.example/openid/v1/jwks","response_types_supported":["id_token"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["ES256","RS256"]}"#
    );
    let refused = [
        ("", "https://b", "empty issuer URL"),
        (
            "http://a",
            "https://b",
            "issuer URL must use https scheme, got: http://a",
        ),
        (
            "https://a?x=y",
            "https://b",
            "issuer URL may not include a query, got: https://a?x=y",
        ),
        (
            "https://a#x",
            "https://b",
            "issuer URL may not include a fragment, got: https://a#x",
        ),
        (
            "https://a",
            "http://b",
            "jwksURI requires https scheme, parsed as: http://b",
        ),
    ];
    for (issuer, uri, error) in refused {
        assert_eq!(configuration(issuer, uri, &keys).unwrap_err(), error);
    }
}

#[test]
fn key_set() {
    let set = jwks(&verifier().keys);
    let keys = set.get("keys").and_then(Value::as_array).unwrap();
    let names = |at: usize| {
        keys[at]
            .as_object()
            .unwrap()
            .keys()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(names(0), ["use", "kty", "kid", "alg", "n", "e"]);
    assert_eq!(names(1), ["use", "kty", "kid", "crv", "alg", "x", "y"]);
    assert_eq!(keys[0].str_at(&["e"]), Some("AQAB"));
    assert_eq!(keys[0].str_at(&["n"]).map(str::len), Some(342));
    assert_eq!(
        ["x", "y"].map(|it| keys[1].str_at(&[it]).map(str::len)),
        [Some(43); 2]
    );
}

#[test]
fn expirations() {
    let year = 24 * 365 * 3600;
    let of = |told, seconds, warn_after| Expiration {
        told,
        seconds,
        warn_after,
        warning: None,
    };
    let short = "requested expiration of 9000 seconds shortened to 8000 seconds";
    let cases = [
        (expiration(3600, 0, true, true), of(3600, 3600, 0)),
        (expiration(3607, 0, true, true), of(3607, year, 3607)),
        (expiration(3607, 0, false, true), of(3607, 3607, 0)),
        (expiration(3607, 0, true, false), of(3607, 3607, 0)),
        (
            expiration(9000, 8000, true, true),
            Expiration {
                warning: Some(short.to_owned()),
                ..of(8000, 8000, 0)
            },
        ),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
}

#[test]
fn validates_requests() {
    let details = |spec: Value| {
        validate_token_request(&spec)
            .iter()
            .map(|it| it.detail.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(details(json!({})), [""; 0]);
    assert_eq!(details(json!({"expirationSeconds": 600})), [""; 0]);
    assert_eq!(
        details(json!({"expirationSeconds": 599})),
        ["may not specify a duration less than 10 minutes"]
    );
    assert_eq!(
        details(json!({"expirationSeconds": ((1_i64 << 32) + 1)})),
        ["may not specify a duration larger than 2^32 seconds"]
    );
    assert_eq!(
        details(json!({"attestations": {"x": []}})),
        ["attestations may only be specified with a webhook bound object reference"]
    );
}
