//! Tokens kept in Secrets.

use std::sync::Mutex;

use auth::serviceaccount::{LegacyClaims, Lookup, SigningKey, legacy_token};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json::{Object, Value, json};
use meta::time::Time;

use crate::support::{NOW, RSA, cluster, verifier};

fn claims() -> LegacyClaims {
    LegacyClaims {
        namespace: "myns".to_owned(),
        name: "mysvcacct".to_owned(),
        uid: "mysvcacct-uid".to_owned(),
        secret: "mysecret".to_owned(),
    }
}

#[test]
fn counts_while_the_secret_holds_it() {
    let token = legacy_token(&SigningKey::from_pem(RSA).unwrap(), &claims()).unwrap();
    let data = STANDARD.encode(&token);
    let marked = json!({"metadata": {"labels": {"kubernetes.io/legacy-token-invalid-since": "2018-01-01"}}, "data": {"token": (&*data)}});
    let deleted = json!({"metadata": {"deletionTimestamp": "2099-01-01T00:00:00Z"}, "data": {"token": (&*data)}});
    let cases = [
        (Some(json!({"data": {"token": (&*data)}})), None),
        (None, Some("Token has been invalidated")),
        (Some(deleted), Some("Token has been invalidated")),
        (
            Some(json!({"data": {"token": "AAAA"}})),
            Some("Token does not match server's copy"),
        ),
        (Some(json!({})), Some("Token does not match server's copy")),
        (
            Some(marked),
            Some(
                "the token in secret myns/mysecret for service account myns/mysvcacct has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the 'kubernetes.io/legacy-token-invalid-since' label from the secret to temporarily allow use of this token",
            ),
        ),
    ];
    for (secret, error) in cases {
        let lookup = |resource: &str, namespace: &str, name: &str| {
            if resource == "secrets" {
                secret.clone()
            } else {
                cluster(resource, namespace, name)
            }
        };
        let found = verifier().authenticate(&token, None, NOW, &lookup).unwrap();
        assert_eq!(
            found.as_ref().err().map(ToString::to_string).as_deref(),
            error
        );
        if let Ok(found) = found {
            assert_eq!(found.user.name, "system:serviceaccount:myns:mysvcacct");
            assert_eq!(found.user.uid, "mysvcacct-uid");
        }
    }
}

/// A cluster whose Secret has these labels, and what is said to be used in it.
struct Told {
    secret: Value,
    used: Mutex<Vec<String>>,
}

impl Lookup for Told {
    fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        match resource {
            "secrets" => Some(self.secret.clone()),
            _ => cluster(resource, namespace, name),
        }
    }

    fn used(&self, namespace: &str, secret: &str, uid: &str) {
        let used = format!("{namespace}/{secret}/{uid}");
        self.used.lock().unwrap().push(used);
    }
}

#[test]
fn the_first_use_of_a_day_is_told() {
    let token = legacy_token(&SigningKey::from_pem(RSA).unwrap(), &claims()).unwrap();
    let data = STANDARD.encode(&token);
    let day = |seconds| Time::from_unix(seconds, 0).to_string()[..10].to_owned();
    let (last, invalid) = (
        "kubernetes.io/legacy-token-last-used",
        "kubernetes.io/legacy-token-invalid-since",
    );
    let cases = [
        (last, String::new(), true),
        (last, day(NOW), false),
        (last, day(NOW + 86_400), false),
        (last, day(NOW - 86_400), true),
        (invalid, "2018-01-01".to_owned(), true),
    ];
    for (label, value, told) in cases {
        let mut labels = Object::new();
        labels.insert(label, &*value);
        let lookup = Told {
            secret: json!({"metadata": {"uid": "u", "labels": labels}, "data": {"token": (&*data)}}),
            used: Mutex::default(),
        };
        let found = verifier().authenticate(&token, None, NOW, &lookup).unwrap();
        assert_eq!(found.is_ok(), label == last);
        let used = lookup.used.into_inner().unwrap();
        let expected: &[&str] = if told { &["myns/mysecret/u"] } else { &[] };
        assert_eq!(used, expected, "{label} {value}");
    }
}

#[test]
fn the_account_must_be_the_same() {
    let token = legacy_token(&SigningKey::from_pem(RSA).unwrap(), &claims()).unwrap();
    let data = STANDARD.encode(&token);
    let cases: [(Option<Value>, &str); 3] = [
        (None, r#"serviceaccounts "mysvcacct" not found"#),
        (
            Some(json!({"metadata": {"uid": "x"}})),
            "ServiceAccount UID (x) does not match claim (mysvcacct-uid)",
        ),
        (
            Some(
                json!({"metadata": {"uid": "mysvcacct-uid", "deletionTimestamp": "2099-01-01T00:00:00Z"}}),
            ),
            "ServiceAccount myns/mysvcacct has been deleted",
        ),
    ];
    for (account, error) in cases {
        let lookup = |resource: &str, _: &str, _: &str| match resource {
            "secrets" => Some(json!({"data": {"token": (&*data)}})),
            _ => account.clone(),
        };
        let found = verifier().authenticate(&token, None, NOW, &lookup).unwrap();
        assert_eq!(found.unwrap_err().to_string(), error);
    }
}

#[test]
fn claims_must_be_whole() {
    let key = SigningKey::from_pem(RSA).unwrap();
    let cases = [
        (
            LegacyClaims {
                namespace: String::new(),
                ..claims()
            },
            "namespace claim is missing",
        ),
        (
            LegacyClaims {
                secret: String::new(),
                ..claims()
            },
            "secretName claim is missing",
        ),
        (
            LegacyClaims {
                name: String::new(),
                ..claims()
            },
            "serviceAccountName claim is missing",
        ),
        (
            LegacyClaims {
                uid: String::new(),
                ..claims()
            },
            "serviceAccountUID claim is missing",
        ),
        (
            LegacyClaims {
                name: "a:b".to_owned(),
                ..claims()
            },
            "sub claim is invalid",
        ),
    ];
    for (claims, error) in cases {
        let token = legacy_token(&key, &claims).unwrap();
        let found = verifier().verify(&token, None, NOW).unwrap();
        assert_eq!(found.unwrap_err().to_string(), error);
    }
}
