//! Tokens made to deceive.

use auth::serviceaccount::{SigningKey, TokenError, TokenSpec};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::{hmac, signature};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use json::{Value, json};
use proptest::prelude::*;

use crate::support::{EC, ISSUER, NOW, RSA, cluster, issuer, part, payload, spec, verifier};

fn verdict(token: &str) -> Option<Result<(), TokenError>> {
    let found = verifier().authenticate(token, None, NOW, &cluster);
    found.map(|found| found.map(|_| ()))
}

fn good() -> String {
    issuer().sign(&spec(), NOW).unwrap()
}

fn hs256(signed: &str, secret: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    let tag = hmac::sign(&key, signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(tag))
}

/// Signed by the right EC key, whatever the parts are.
fn es256(header: &Value, payload: &str) -> String {
    let blocks = pem::parse_many(EC).unwrap();
    let der = blocks
        .iter()
        .find(|it| it.tag() == "EC PRIVATE KEY")
        .unwrap();
    let algorithm = &signature::ECDSA_P256_SHA256_FIXED_SIGNING;
    let key = signature::EcdsaKeyPair::from_private_key_der(algorithm, der.contents()).unwrap();
    let signed = format!("{}.{payload}", part(header));
    let signature = key.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

#[test]
fn the_header_does_not_choose_the_algorithm() {
    let claims = good().split('.').nth(1).unwrap().to_owned();
    let [rsa, ec] = [RSA, EC].map(|pem| SigningKey::from_pem(pem).unwrap().public().clone());
    let other = Some(Err(TokenError::OtherAlgorithm));

    for alg in ["none", "None", "NONE", ""] {
        let header = json!({"alg": alg});
        for signature in ["", "AAAA"] {
            assert_eq!(
                verdict(&format!("{}.{claims}.{signature}", part(&header))),
                other,
                "{alg}"
            );
        }
    }
    assert_eq!(verdict(&format!("{}.{claims}.", part(&json!({})))), other);
    for key in [&rsa, &ec] {
        for header in [
            json!({"alg": "HS256"}),
            json!({"alg": "HS256", "kid": (&key.id)}),
        ] {
            let signed = format!("{}.{claims}", part(&header));
            let pem = key.to_pem();
            let der = pem::parse(&pem).unwrap();
            for secret in [pem.as_bytes(), der.contents(), b""] {
                assert_eq!(verdict(&hs256(&signed, secret)), other);
            }
        }
    }
    for alg in ["ES384", "RS256", "PS256", "es256"] {
        let header = json!({"alg": alg, "kid": (&ec.id)});
        assert_eq!(verdict(&es256(&header, &claims)), other, "{alg}");
    }
}

#[test]
fn keys() {
    let claims = good().split('.').nth(1).unwrap().to_owned();
    let [rsa, ec] = [RSA, EC].map(|pem| SigningKey::from_pem(pem).unwrap().public().id.clone());
    let cases = [
        (json!({"alg": "ES256", "kid": (&*ec)}), Some(Ok(()))),
        (json!({"alg": "ES256"}), Some(Ok(()))),
        (json!({"alg": "ES256", "kid": ""}), Some(Ok(()))),
        (
            json!({"alg": "ES256", "kid": (&*rsa)}),
            Some(Err(TokenError::OtherAlgorithm)),
        ),
        (
            json!({"alg": "ES256", "kid": "other"}),
            Some(Err(TokenError::NoKey)),
        ),
        (
            json!({"alg": "ES256", "kid": "../../dev/null"}),
            Some(Err(TokenError::NoKey)),
        ),
        (json!({"alg": "ES256", "kid": 1}), None),
        (json!({"alg": "ES256", "crit": ["x"]}), None),
        (
            json!({"alg": "ES256", "jwk": {"kty": "oct", "k": "AAAA"}, "jku": "https://evil"}),
            Some(Ok(())),
        ),
    ];
    for (header, expected) in cases {
        assert_eq!(verdict(&es256(&header, &claims)), expected, "{header}");
    }
    let stranger = SigningKey::from_pem(SigningKey::generate_pem().unwrap().as_bytes()).unwrap();
    let mut issuer = issuer();
    issuer.key = stranger;
    assert_eq!(
        verdict(&issuer.sign(&spec(), NOW).unwrap()),
        Some(Err(TokenError::NoKey))
    );
    let forged = issuer.sign(&spec(), NOW).unwrap();
    let (_, rest) = forged.split_once('.').unwrap();
    let forged = format!("{}.{rest}", part(&json!({"alg": "ES256", "kid": (&*ec)})));
    assert_eq!(verdict(&forged), Some(Err(TokenError::Signature)));
}

#[test]
fn form() {
    let good = good();
    let cases = [
        good.clone() + "A",
        good.clone() + ".",
        good.clone() + "=",
        good.clone() + "\n",
        good.clone() + " ",
        format!(" {good}"),
        format!("Bearer {good}"),
        good.replace('.', ".."),
        good.replacen('.', "", 1),
        String::new(),
        "..".to_owned(),
        "a.b.c".to_owned(),
        "{\"payload\":\"\"}".to_owned(),
        format!("{}.{}", good, "A".repeat(1 << 20)),
        ".".repeat(1 << 16),
        "[".repeat(1 << 16),
    ];
    for token in cases {
        let found = verdict(&token);
        let refused = matches!(found, None | Some(Err(TokenError::Signature)));
        assert!(refused, "{found:?} {token:.80}");
    }
    assert_eq!(verdict(&good), Some(Ok(())));
}

#[test]
fn signed_but_wrong() {
    let header = json!({"alg": "ES256"});
    let change = |key: &str, value: Value| {
        let mut claims = payload(&good());
        claims.as_object_mut().unwrap().insert(key, value);
        verdict(&es256(&header, &part(&claims)))
    };
    assert_eq!(change("iss", "https://evil".into()), None, "someone else's");
    assert_eq!(change("iss", Value::Null), None);
    assert_eq!(change("iss", json!([ISSUER])), None);
    assert_eq!(
        change("exp", "never".into()),
        Some(Err(TokenError::Malformed))
    );
    assert_eq!(
        change("exp", json::Number::Float(1e300).into()),
        Some(Ok(())),
        "far away"
    );
    assert_eq!(
        change("exp", json::Number::Float(-1e300).into()),
        Some(Err(TokenError::Expired))
    );
    assert_eq!(
        change("exp", i64::MIN.into()),
        Some(Err(TokenError::Expired))
    );
    assert_eq!(
        change("nbf", i64::MAX.into()),
        Some(Err(TokenError::NotYet))
    );
    assert_eq!(
        change("iat", (NOW + 61).into()),
        Some(Err(TokenError::IssuedInFuture))
    );
    assert_eq!(change("aud", json!([1])), Some(Err(TokenError::Malformed)));
    assert_eq!(
        change("aud", "api".into()),
        Some(Ok(())),
        "one audience may be a string"
    );
    assert_eq!(
        change("kubernetes.io", "x".into()),
        Some(Err(TokenError::NoServiceAccount(String::new())))
    );
    assert_eq!(
        change("kubernetes.io", json!({"pod": "x"})),
        Some(Err(TokenError::Malformed))
    );
    let hooked = json!({"namespace": "myns", "serviceaccount": {"name": "mysvcacct", "uid": "mysvcacct-uid"}, "mutatingwebhookconfiguration": {}});
    assert_eq!(
        change("kubernetes.io", hooked),
        Some(Err(TokenError::WebhookBound))
    );

    for twice in [
        format!(r#"{{"iss":"x","iss":"{ISSUER}","sub":"a"}}"#),
        format!(r#"{{"iss":"{ISSUER}","iss":"x","sub":"a"}}"#),
    ] {
        let twice = es256(&header, &URL_SAFE_NO_PAD.encode(twice));
        assert_eq!(verdict(&twice), None, "a claim that is there twice");
    }
    let deep = format!(r#"{{"iss":"{ISSUER}","x":{}}}"#, "[".repeat(10_000));
    assert_eq!(
        verdict(&es256(&header, &URL_SAFE_NO_PAD.encode(deep))),
        None
    );
}

#[test]
fn rsa_signs_too() {
    let mut issuer = issuer();
    issuer.key = SigningKey::from_pem(RSA).unwrap();
    assert_eq!(verdict(&issuer.sign(&spec(), NOW).unwrap()), Some(Ok(())));
}

proptest! {
    /// No byte of a token can be changed.
    #[test]
    fn no_byte_can_change(at in 0..400_usize, to in "[A-Za-z0-9_.-]") {
        let audiences = ["api".to_owned()];
        let token = issuer().sign(&TokenSpec { audiences: &audiences, ..spec() }, NOW).unwrap();
        let at = at % token.len();
        let changed = format!("{}{to}{}", &token[..at], &token[at + 1..]);
        prop_assume!(changed != token);
        prop_assert_ne!(verdict(&changed), Some(Ok(())));
    }

    #[test]
    fn anything_is_survived(token in ".{0,200}") {
        prop_assert_ne!(verdict(&token), Some(Ok(())));
    }
}
