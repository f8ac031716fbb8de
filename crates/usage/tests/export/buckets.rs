//! Buckets get an object, signed so that whoever knows the secret can check it.

use std::collections::BTreeMap;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::StatusCode;
use testkit::receiver::{Received, Receiver};
use usage::{Error, Sent};

use crate::world::World;

const SECRET: &str = "a/secret+key";

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut out, it| {
        _ = write!(out, "{it:02x}");
        out
    })
}

/// As the server of a bucket does it: everything is taken from the request but the secret.
fn is_signed(it: &Received) -> bool {
    let header = it.header("authorization");
    let Some(fields) = header.strip_prefix("AWS4-HMAC-SHA256 ") else {
        return false;
    };
    let fields: BTreeMap<_, _> = fields
        .split(", ")
        .filter_map(|it| it.split_once('='))
        .collect();
    let (names, scope) = (fields["SignedHeaders"], fields["Credential"]);
    let (_, scope) = scope.split_once('/').expect("a scope");
    let mut canonical = format!("{}\n{}\n\n", it.method, it.path);
    for name in names.split(';') {
        let value = if name == "host" {
            &it.host
        } else {
            it.header(name)
        };
        canonical = format!("{canonical}{name}:{value}\n");
    }
    let hash = hex(digest(&SHA256, &it.body).as_ref());
    if it.header("x-amz-content-sha256") != hash {
        return false;
    }
    canonical = format!("{canonical}\n{names}\n{hash}");
    let canonical = hex(digest(&SHA256, canonical.as_bytes()).as_ref());
    let text = format!(
        "AWS4-HMAC-SHA256\n{}\n{scope}\n{canonical}",
        it.header("x-amz-date")
    );
    let key = scope
        .split('/')
        .fold(format!("AWS4{SECRET}").into_bytes(), |key, part| {
            let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
            hmac::sign(&key, part.as_bytes()).as_ref().to_vec()
        });
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    hex(hmac::sign(&key, text.as_bytes()).as_ref()) == fields["Signature"]
}

/// A bucket that takes what is signed.
fn bucket() -> Receiver {
    Receiver::answering(|it| {
        let status = if is_signed(it) {
            StatusCode::OK
        } else {
            StatusCode::FORBIDDEN
        };
        (status, Bytes::from_static(b"<Error/>"))
    })
}

#[test]
fn s3_takes_what_is_signed() {
    let receiver = bucket();
    let mut world = World::new();
    world.set("KUSTOMIZE_EXPORT_METRICS", "s3://counts/my team/usage");
    world.set("AWS_ENDPOINT_URL_S3", &receiver.url());
    world.set("AWS_REGION", "eu-central-1");
    world.set("AWS_ACCESS_KEY_ID", "AKID");
    world.set("AWS_SECRET_ACCESS_KEY", "another");
    world.record();
    assert!(matches!(world.send(), Err(Error::Later(_))));
    world.set("AWS_SECRET_ACCESS_KEY", SECRET);
    let sent = world.send();
    assert!(matches!(sent, Ok(Sent::Payloads(1))), "{sent:?}");
    world.set("AWS_SESSION_TOKEN", "a-session");
    world.record();
    assert!(matches!(world.send(), Ok(Sent::Payloads(1))));
    let received = receiver.wait(3);
    let it = &received[1];
    assert_eq!(it.method, "PUT");
    let path = it.path.strip_prefix("/counts/my%20team/usage/");
    let (day, name) = path.and_then(|it| it.split_once('/')).expect("a key");
    assert_eq!((day.len(), name.len()), (8, 37));
    let document = json::parse(&it.body).expect("JSON");
    assert!(document.get("resourceMetrics").is_some());
    assert!(it.header("authorization").contains("/eu-central-1/s3/"));
    assert_eq!(received[2].header("x-amz-security-token"), "a-session");
    assert_ne!(received[2].path, it.path);
}

#[test]
fn s3_reads_the_file_of_credentials() {
    let receiver = bucket();
    let mut world = World::new();
    world.set("KUSTOMIZE_EXPORT_METRICS", "s3:counts");
    world.set("AWS_ENDPOINT_URL", &receiver.url());
    world.record();
    assert!(
        matches!(world.send(), Err(Error::Later(_))),
        "no credentials"
    );
    let directory = world.home().join(".aws");
    std::fs::create_dir(&directory).expect("a directory");
    let text = format!("[default]\naws_access_key_id = AKID\naws_secret_access_key = {SECRET}\n");
    std::fs::write(directory.join("credentials"), text).expect("a file");
    assert!(matches!(world.send(), Ok(Sent::Payloads(1))));
    assert!(receiver.wait(1)[0].path.starts_with("/counts/20"));
}

#[test]
fn google_takes_tokens_and_signatures() {
    let receiver = bucket();
    let mut world = World::new();
    world.set("KUSTOMIZE_EXPORT_METRICS", "gs://counts/p");
    world.set("STORAGE_EMULATOR_HOST", &receiver.address.to_string());
    world.set("GS_ACCESS_KEY_ID", "GOOG1");
    world.set("GS_SECRET_ACCESS_KEY", SECRET);
    world.record();
    let sent = world.send();
    assert!(matches!(sent, Ok(Sent::Payloads(1))), "{sent:?}");
    assert!(receiver.wait(1)[0].path.starts_with("/counts/p/20"));

    let receiver = Receiver::start();
    world.set("STORAGE_EMULATOR_HOST", &receiver.url());
    world.set("GS_ACCESS_KEY_ID", "");
    world.set("GOOGLE_OAUTH_ACCESS_TOKEN", "a-token");
    world.record();
    assert!(matches!(world.send(), Ok(Sent::Payloads(1))));
    assert_eq!(
        receiver.wait(1)[0].header("authorization"),
        "Bearer a-token"
    );
}

#[test]
fn a_service_account_buys_a_token() {
    let key = KeyPair::generate(KeySize::Rsa2048).expect("a key");
    let public = key.public_key().as_ref().to_vec();
    let receiver = Receiver::answering(move |it| {
        if it.path != "/token" {
            let known = it.header("authorization") == "Bearer bought";
            let status = if known { 200 } else { 401 };
            return (StatusCode::from_u16(status).expect("a code"), Bytes::new());
        }
        let body = String::from_utf8_lossy(&it.body);
        let (_, assertion) = body.split_once("&assertion=").expect("an assertion");
        let (claim, signature) = assertion.rsplit_once('.').expect("a signature");
        let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64");
        let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &public);
        let good = public.verify(claim.as_bytes(), &signature).is_ok();
        let (_, claims) = claim.split_once('.').expect("claims");
        let claims = URL_SAFE_NO_PAD.decode(claims).expect("base64");
        let claims = json::parse(&claims).expect("JSON");
        assert_eq!(claims.str_at(&["iss"]), Some("counter@example"));
        assert!(good, "signed by the account");
        (
            StatusCode::OK,
            Bytes::from_static(br#"{"access_token":"bought"}"#),
        )
    });
    let mut world = World::new();
    let der: aws_lc_rs::encoding::Pkcs8V1Der<'_> =
        aws_lc_rs::encoding::AsDer::as_der(&key).expect("PKCS #8");
    let pem = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        STANDARD.encode(der.as_ref())
    );
    let file = json::json!({
        "type": "service_account",
        "client_email": "counter@example",
        "token_uri": (format!("{}/token", receiver.url())),
        "private_key": pem,
    });
    let path = world.home().join("account.json");
    std::fs::write(&path, json::to_vec(&file)).expect("a file");
    world.set("KUSTOMIZE_EXPORT_METRICS", "gs://counts");
    world.set("STORAGE_EMULATOR_HOST", &receiver.url());
    world.set(
        "GOOGLE_APPLICATION_CREDENTIALS",
        path.to_str().expect("UTF-8"),
    );
    world.record();
    let sent = world.send();
    assert!(matches!(sent, Ok(Sent::Payloads(1))), "{sent:?}");
}
