//! A webhook that changes what only the server may set.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json::{Value, json};
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::field::{Field, MAPS};

const UID: &str = "00000000-0000-0000-0000-000000000001";
const PATCH: &str = r#"[
    {"op": "add", "path": "/metadata/uid", "value": "00000000-0000-0000-0000-000000000001"},
    {"op": "add", "path": "/metadata/creationTimestamp", "value": "2001-01-01T00:00:00Z"},
    {"op": "add", "path": "/metadata/deletionTimestamp", "value": "2001-01-01T00:00:00Z"},
    {"op": "add", "path": "/metadata/deletionGracePeriodSeconds", "value": 0},
    {"op": "add", "path": "/metadata/generation", "value": 77},
    {"op": "add", "path": "/metadata/labels", "value": {"seen": "yes"}}
]"#;

pub(super) fn sets_uid(field: &mut Field) -> io::Result<()> {
    let (port, bundle) = serve()?;
    let hook = json!({
        "metadata": {"name": "attack"},
        "webhooks": [{
            "name": "attack.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 5,
            "clientConfig": {"url": (format!("https://localhost:{port}/")), "caBundle": bundle},
            "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "attack"}},
        }],
    });
    let admin = field.admin();
    let hooks = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    admin.make(hooks, &hook)?;
    // A configuration counts a moment after it is acknowledged.
    let mut seen = false;
    for number in 0..200 {
        let map = json!({"metadata": {"name": (format!("hooked-{number}"))}});
        let answer = admin.post(MAPS, &map);
        let Some(answer) = field.expect("a create", answer, &[201, 400, 422, 500]) else {
            break;
        };
        let made = answer.json();
        let at = |key| made.str_at(&["metadata", key]);
        // Refused is fine as well.
        seen = answer.code != 201 || made.str_at(&["metadata", "labels", "seen"]) == Some("yes");
        if seen {
            let set = [
                at("uid") == Some(UID),
                at("creationTimestamp") == Some("2001-01-01T00:00:00Z"),
            ];
            if set.contains(&true) || at("deletionTimestamp").is_some() {
                field.fault(format!("it was set: {}", answer.text()));
            }
            break;
        }
        thread::sleep(std::time::Duration::from_millis(25));
    }
    if !seen {
        field.fault("the webhook was never called");
    }
    let gone = admin.send(
        "DELETE",
        &format!("{hooks}/attack"),
        "application/json",
        b"",
    );
    field.expect("the end of the webhook", gone, &[200]);
    Ok(())
}

/// Port, and the certificate to believe.
fn serve() -> io::Result<(u16, String)> {
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let params = CertificateParams::new(vec!["localhost".to_owned()]).map_err(io::Error::other)?;
    let certificate = params.self_signed(&key).map_err(io::Error::other)?;
    let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|it| {
            it.with_no_client_auth()
                .with_single_cert(vec![certificate.der().clone()], private)
        })
        .map_err(io::Error::other)?;
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    let tls = Arc::new(tls);
    // It ends with the process.
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            if let Ok(session) = ServerConnection::new(tls.clone()) {
                let mut stream = StreamOwned::new(session, socket);
                thread::spawn(move || while answer(&mut stream).is_some() {});
            }
        }
    });
    Ok((port, STANDARD.encode(certificate.pem())))
}

fn answer(stream: &mut (impl io::Read + io::Write)) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|it| it.strip_prefix("content-length:"))?;
    let mut body = vec![0; length.trim().parse().ok()?];
    stream.read_exact(&mut body).ok()?;
    let review = json::parse(&body).ok()?;
    let uid: Value = review.at(&["request", "uid"])?.clone();
    let response = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "response": {"uid": uid, "allowed": true, "patchType": "JSONPatch", "patch": (STANDARD.encode(PATCH))},
    });
    let body = json::to_string(&response);
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    let answer = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(answer.as_bytes()).ok()?;
    stream.flush().ok()
}
