//! Who asks: all credentials together.
#![allow(
    clippy::too_many_lines,
    clippy::type_complexity,
    reason = "tables of cases"
)]

use auth::pki::CertificateAuthority;
use auth::serviceaccount::{Issuer, SigningKey, TokenSpec, Verifier};
use auth::token_cache::TokenCache;
use auth::token_file::StaticTokens;
use auth::{Authenticator, Credentials};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use json::{Value, json};

const NOW: i64 = 1_800_000_000;

struct Server {
    authenticator: Authenticator,
    issuer: Issuer,
}

fn server(anonymous: bool) -> Server {
    let pem = SigningKey::generate_pem().unwrap();
    let issuer = Issuer {
        url: "https://issuer".to_owned(),
        key: SigningKey::from_pem(pem.as_bytes()).unwrap(),
    };
    let authenticator = Authenticator {
        static_tokens: StaticTokens::parse("static,joe,1,\"a,b\"\n").unwrap(),
        service_accounts: Verifier {
            issuers: vec!["https://issuer".to_owned()],
            keys: vec![issuer.key.public().clone()],
            api_audiences: vec!["api".to_owned()],
        },
        bootstrap_tokens: true,
        anonymous,
        cache: TokenCache::new(10, 100).unwrap(),
    };
    Server {
        authenticator,
        issuer,
    }
}

fn cluster(resource: &str, namespace: &str, name: &str) -> Option<Value> {
    match (resource, namespace, name) {
        ("serviceaccounts", "ns", "sa") => Some(json!({"metadata": {"uid": "u"}})),
        ("secrets", "kube-system", "bootstrap-token-abcdef") => {
            let data = |text: &str| STANDARD.encode(text);
            Some(json!({"type": "bootstrap.kubernetes.io/token", "data": {
                "token-id": (data("abcdef")), "token-secret": (data("0123456789abcdef")),
                "usage-bootstrap-authentication": (data("true")),
            }}))
        }
        _ => None,
    }
}

#[test]
fn each_credential() {
    let server = server(true);
    let token = |uid| {
        let spec = TokenSpec {
            namespace: "ns",
            name: "sa",
            uid,
            expiration_seconds: 60,
            id: "id",
            ..TokenSpec::default()
        };
        format!("Bearer {}", server.issuer.sign(&spec, NOW).unwrap())
    };
    let (good, other) = (token("u"), token("v"));
    let websocket = format!(
        "base64url.bearer.authorization.k8s.io.{}",
        URL_SAFE_NO_PAD.encode("static")
    );
    let ca = CertificateAuthority::from_pem(&CertificateAuthority::generate("ca", NOW).unwrap())
        .unwrap();
    let ann = ca.client("ann", &["x"], NOW).unwrap();
    let ann = pem::parse(ann.certificate).unwrap().into_contents();
    let serving = ca.serving("s", &[], &[], NOW).unwrap();
    let serving = pem::parse(serving.certificate).unwrap().into_contents();
    let none = Credentials::default;
    let bearer = |text| Credentials {
        authorization: Some(text),
        ..none()
    };
    let untrusted = |credentials| Credentials {
        untrusted_certificate: true,
        ..credentials
    };
    let unknown = "x509: certificate signed by unknown authority";
    let cases: [(Credentials, Result<(&str, &[&str]), &str>); 19] = [
        (untrusted(none()), Err(unknown)),
        (untrusted(bearer("Basic abc")), Err(unknown)),
        (
            untrusted(bearer("Bearer wrong")),
            Err("[x509: certificate signed by unknown authority, invalid bearer token]"),
        ),
        (
            untrusted(bearer("Bearer static")),
            Ok(("joe", &["a", "b", "system:authenticated"])),
        ),
        (
            none(),
            Ok(("system:anonymous", &["system:unauthenticated"])),
        ),
        (
            bearer("Basic abc"),
            Ok(("system:anonymous", &["system:unauthenticated"])),
        ),
        (
            bearer("Bearer static"),
            Ok(("joe", &["a", "b", "system:authenticated"])),
        ),
        (bearer("Bearer wrong"), Err("invalid bearer token")),
        (
            bearer("Bearer abcdef.0123456789abcdef"),
            Ok((
                "system:bootstrap:abcdef",
                &["system:bootstrappers", "system:authenticated"],
            )),
        ),
        (
            bearer("Bearer abcdef.0123456789abcdee"),
            Err("invalid bearer token"),
        ),
        (
            bearer("Bearer abcdeg.0123456789abcdef"),
            Err("invalid bearer token"),
        ),
        (
            bearer(&good),
            Ok((
                "system:serviceaccount:ns:sa",
                &[
                    "system:serviceaccounts",
                    "system:serviceaccounts:ns",
                    "system:authenticated",
                ],
            )),
        ),
        (
            bearer(&other),
            Err("[invalid bearer token, service account UID (u) does not match claim (v)]"),
        ),
        (
            Credentials {
                websocket_protocols: vec![&websocket, "v5"],
                ..none()
            },
            Ok(("joe", &["a", "b", "system:authenticated"])),
        ),
        (
            Credentials {
                websocket_protocols: vec![&websocket],
                ..none()
            },
            Err("missing additional subprotocol"),
        ),
        (
            Credentials {
                certificate: Some(&ann),
                ..none()
            },
            Ok(("ann", &["x", "system:authenticated"])),
        ),
        (
            Credentials {
                certificate: Some(&ann),
                ..bearer("Bearer wrong")
            },
            Ok(("ann", &["x", "system:authenticated"])),
        ),
        (
            Credentials {
                certificate: Some(&serving),
                ..bearer("Bearer static")
            },
            Ok(("joe", &["a", "b", "system:authenticated"])),
        ),
        (
            Credentials {
                certificate: Some(&serving),
                ..none()
            },
            Err("x509: certificate specifies an incompatible key usage"),
        ),
    ];
    for (credentials, expected) in cases {
        let found = server.authenticator.request(&credentials, NOW, &cluster);
        let found = found.map(|it| (it.name, it.groups));
        let expected = expected.map(|(name, groups)| {
            (
                name.to_owned(),
                groups.iter().map(|it| (*it).to_owned()).collect(),
            )
        });
        assert_eq!(found, expected.map_err(str::to_owned), "{credentials:?}");
    }
}

#[test]
fn without_anonymous() {
    let found = server(false)
        .authenticator
        .request(&Credentials::default(), NOW, &cluster);
    assert!(found.is_err());
}

#[test]
fn audiences_of_a_review() {
    let server = server(true);
    let ask = |token: &str, audiences: Option<&[String]>| {
        let found = server.authenticator.token(token, audiences, NOW, &cluster);
        found.map(|it| it.audiences)
    };
    let (api, other) = (["api".to_owned(), "x".to_owned()], ["x".to_owned()]);
    assert_eq!(ask("static", None), Ok(vec!["api".to_owned()]));
    assert_eq!(ask("static", Some(&api)), Ok(vec!["api".to_owned()]));
    assert_eq!(
        ask("static", Some(&other)),
        Err("invalid bearer token".to_owned())
    );
}

/// A verified token is not verified again for some seconds, then it is.
#[test]
fn a_verified_token_is_remembered() {
    let server = server(true);
    let spec = TokenSpec {
        namespace: "ns",
        name: "sa",
        uid: "u",
        expiration_seconds: 3600,
        id: "id",
        ..TokenSpec::default()
    };
    let token = server.issuer.sign(&spec, NOW).unwrap();
    let gone = |_: &str, _: &str, _: &str| None;
    let ask = |now, there: bool| {
        let lookup: &dyn auth::serviceaccount::Lookup = if there { &cluster } else { &gone };
        server
            .authenticator
            .token(&token, None, now, lookup)
            .is_ok()
    };
    assert!(!ask(NOW, false), "failures are not remembered");
    assert!(ask(NOW, true));
    assert!(ask(NOW + 9, false));
    assert!(!ask(NOW + 10, false));
}
