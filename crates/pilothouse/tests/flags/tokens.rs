//! Service account tokens: keys, issuers, audiences, expiry.

use std::fs;
use std::path::Path;

use auth::serviceaccount::{Issuer, LegacyClaims, SigningKey, TokenSpec, legacy_token};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use json::{Object, Value, json};

use super::client::Client;
use super::program::{Program, run, until};

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";

/// An issuer with a key of its own.
fn issuer(url: &str) -> (Issuer, String) {
    let pem = SigningKey::generate_pem().unwrap();
    let key = SigningKey::from_pem(pem.as_bytes()).unwrap();
    (
        Issuer {
            url: url.to_owned(),
            key,
        },
        pem,
    )
}

fn token(issuer: &Issuer, uid: &str, audience: &str) -> String {
    let spec = TokenSpec {
        namespace: "default",
        name: "robot",
        uid,
        audiences: &[audience.to_owned()],
        expiration_seconds: 3600,
        id: "id",
        ..TokenSpec::default()
    };
    issuer.sign(&spec, pilothouse::server::now()).unwrap()
}

fn write(place: &Path, name: &str, text: &str) -> String {
    let path = place.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The uid of a service account that is made here.
fn robot(admin: &Client) -> String {
    let robot = json!({"metadata": {"name": "robot"}});
    let made = admin.post(ACCOUNTS, &robot).expect(201).json();
    made.str_at(&["metadata", "uid"]).unwrap().to_owned()
}

fn request(admin: &Client, spec: &Value) -> super::client::Answer {
    let path = format!("{ACCOUNTS}/robot/token");
    admin
        .post(&path, &json!({"spec": (spec.clone())}))
        .expect(201)
}

fn claims(token: &str) -> Value {
    let claims = token.split('.').nth(1).unwrap();
    json::parse(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap()
}

#[test]
fn keys_issuers_and_audiences() {
    let files = tempfile::tempdir().unwrap();
    let (old, _) = issuer("https://old.example");
    let (foreign, _) = issuer("https://old.example");
    let (unknown, _) = issuer("https://unknown.example");
    let (new, new_key) = issuer("https://new.example");
    let old_key = write(files.path(), "old.pub", &old.key.public().to_pem());
    let unknown_key = write(files.path(), "unknown.pub", &unknown.key.public().to_pem());
    let new_key = write(files.path(), "new.key", &new_key);
    let server = Program::serve(&[
        "--service-account-issuer=https://new.example",
        "--service-account-issuer=https://old.example",
        "--service-account-key-file",
        &old_key,
        "--service-account-key-file",
        &unknown_key,
        "--service-account-signing-key-file",
        &new_key,
        "--api-audiences=api1,api2",
        "--service-account-jwks-uri=https://keys.example/jwks",
        "--service-account-max-token-expiration=2h",
    ]);
    let admin = server.admin();
    let uid = robot(&admin);
    let who = |token: &str| {
        server
            .admin()
            .with_token(token)
            .whoami()
            .map(|(name, _)| name)
    };
    let name = || Ok("system:serviceaccount:default:robot".to_owned());
    assert_eq!(who(&token(&old, &uid, "api2")), name());
    assert_eq!(who(&token(&new, &uid, "api1")), name());
    assert_eq!(
        who(&token(&old, &uid, "elsewhere")),
        Err(401),
        "another audience"
    );
    assert_eq!(
        who(&token(&old, "other", "api1")),
        Err(401),
        "another account"
    );
    assert_eq!(who(&token(&foreign, &uid, "api1")), Err(401), "another key");
    assert_eq!(
        who(&token(&unknown, &uid, "api1")),
        Err(401),
        "another issuer"
    );

    let answer = request(&admin, &json!({"expirationSeconds": 36_000}));
    assert!(
        answer.head.contains("shortened to 7200 seconds"),
        "{}",
        answer.head
    );
    let answer = answer.json();
    assert_eq!(
        answer
            .at(&["spec", "expirationSeconds"])
            .and_then(Value::as_i64),
        Some(7200)
    );
    let signed = answer.str_at(&["status", "token"]).unwrap();
    assert_eq!(who(signed), name());
    let claims = claims(signed);
    assert_eq!(claims.str_at(&["iss"]), Some("https://new.example"));
    assert_eq!(claims.get("aud"), Some(&json!(["api1", "api2"])));

    let discovery = admin
        .get("/.well-known/openid-configuration")
        .expect(200)
        .json();
    assert_eq!(discovery.str_at(&["issuer"]), Some("https://new.example"));
    assert_eq!(
        discovery.str_at(&["jwks_uri"]),
        Some("https://keys.example/jwks")
    );
    let keys = admin.get("/openid/v1/jwks").expect(200).json();
    let keys = keys.get("keys").and_then(Value::as_array).unwrap();
    let ids: Vec<_> = keys.iter().map(|it| it.str_at(&["kid"]).unwrap()).collect();
    let known = [&new, &old, &unknown].map(|it| &*it.key.public().id);
    assert_eq!(ids, known);
}

#[test]
fn the_name_in_urls_is_the_external_one() {
    let server = Program::serve(&["--external-hostname", "kube.example.org"]);
    let admin = server.admin();
    let discovery = admin
        .get("/.well-known/openid-configuration")
        .expect(200)
        .json();
    let expected = format!(
        "https://kube.example.org:{}/openid/v1/jwks",
        admin.address.port()
    );
    assert_eq!(discovery.str_at(&["jwks_uri"]), Some(&*expected));
    // Without flags, a token that the server signed counts, for whoever the issuer is.
    robot(&admin);
    let answer = request(&admin, &json!({})).json();
    let token = answer.str_at(&["status", "token"]).unwrap();
    let issuer = "https://kubernetes.default.svc.cluster.local";
    assert_eq!(claims(token).get("aud"), Some(&json!([issuer])));
    assert!(server.admin().with_token(token).whoami().is_ok());
    // The own certificate names the server so.
    let names = fs::read_to_string(server.data().join("pki/apiserver.crt")).unwrap();
    let names = auth::pki::ServingNames::of(&names).unwrap();
    assert!(
        names.names.contains(&"kube.example.org".to_owned()),
        "{names:?}"
    );
    assert!(names.ips.contains(&[10, 96, 0, 1].into()), "{names:?}");
}

#[test]
fn what_cannot_be_used_is_named() {
    let files = tempfile::tempdir().unwrap();
    let text = write(files.path(), "text", "hello\n");
    let (_, key) = issuer("x");
    let public = SigningKey::from_pem(key.as_bytes())
        .unwrap()
        .public()
        .to_pem();
    let public = write(files.path(), "public", &public);
    let cases = [
        ("--service-account-key-file", &*text, "public keys"),
        ("--service-account-signing-key-file", &*text, "private key"),
        (
            "--service-account-signing-key-file",
            &*public,
            "private key",
        ),
        ("--service-account-issuer", "", "empty"),
        ("--service-account-issuer", "://x", "not a URL"),
        ("--service-account-jwks-uri", "http://x", "https"),
        (
            "--service-account-max-token-expiration",
            "10m",
            "between 1 hour",
        ),
        ("--service-account-max-token-expiration", "-1h", "negative"),
    ];
    for (flag, value, expected) in cases {
        let (ok, said) = run(&["serve", "--ephemeral", &format!("{flag}={value}")]);
        assert!(
            !ok && said.contains(flag) && said.contains(expected),
            "{flag}={value}: {said}"
        );
    }
    let twice = "--service-account-issuer=https://a";
    let (ok, said) = run(&["serve", "--ephemeral", twice, twice]);
    assert!(!ok && said.contains("https://a is given twice"), "{said}");
}

#[test]
fn tokens_in_secrets_are_labelled_when_they_are_used() {
    let files = tempfile::tempdir().unwrap();
    let pem = SigningKey::generate_pem().unwrap();
    let key = write(files.path(), "sa.key", &pem);
    let server = Program::serve(&["--service-account-key-file", &key]);
    let admin = server.admin();
    let claims = LegacyClaims {
        namespace: "default".to_owned(),
        name: "robot".to_owned(),
        uid: robot(&admin),
        secret: "robot-token".to_owned(),
    };
    let key = SigningKey::from_pem(pem.as_bytes()).unwrap();
    let token = legacy_token(&key, &claims).unwrap();
    let mut annotations = Object::new();
    annotations.insert("kubernetes.io/service-account.name", "robot");
    let secret = json!({
        "metadata": {"name": "robot-token", "annotations": annotations},
        "type": "kubernetes.io/service-account-token",
        "stringData": {"token": (&*token)},
    });
    let secrets = "/api/v1/namespaces/default/secrets";
    admin.post(secrets, &secret).expect(201);
    let label = ["metadata", "labels", "kubernetes.io/legacy-token-last-used"];
    let labelled = || {
        let found = admin.get(&format!("{secrets}/robot-token")).json();
        found.str_at(&label).map(str::len)
    };
    assert_eq!(labelled(), None);
    let robot = server.admin().with_token(&token).whoami().unwrap();
    assert_eq!(robot.0, "system:serviceaccount:default:robot");
    until("the Secret is labelled", || {
        labelled() == Some("2006-01-02".len())
    });
}
