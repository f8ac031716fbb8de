use std::sync::Arc;

use apiserver::incoming::RequestBody;
use apiserver::server::Peer;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::BodyExt as _;
use json::{Value, json};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::cluster::{Cluster, condition};

const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

fn request(name: &str, signer: &str, user: &str, organization: &str, usages: &[&str]) -> Value {
    let mut params = CertificateParams::new(Vec::new()).expect("parameters");
    params.distinguished_name = DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::OrganizationName, organization);
    params.distinguished_name.push(DnType::CommonName, user);
    let key = KeyPair::generate().expect("a key");
    let asked = params.serialize_request(&key).expect("a request");
    let pem = asked.pem().expect("its PEM");
    json!({
        "kind": "CertificateSigningRequest",
        "apiVersion": "certificates.k8s.io/v1",
        "metadata": {"name": name},
        "spec": {
            "request": (STANDARD.encode(pem)),
            "signerName": (format!("kubernetes.io/{signer}")),
            "usages": (usages.iter().copied().collect::<Value>()),
        },
    })
}

async fn approve(cluster: &Cluster, name: &str) {
    let path = format!("{REQUESTS}/{name}/approval");
    let approval = json!({"status": {"conditions": [
        {"type": "Approved", "status": "True", "reason": "Test", "message": "by hand"},
    ]}});
    cluster.patch(&path, approval).await;
}

/// Who the server takes the holder of a certificate for.
async fn who(cluster: &Cluster, pem: &[u8]) -> Value {
    let certificates = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>();
    let peer = Peer {
        address: "127.0.0.1:1".parse().expect("an address"),
        certificates: certificates.expect("certificates"),
    };
    let api: &Arc<_> = &cluster.server.api;
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let review = json!({"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"});
    let asked = http::Request::post(path)
        .header("content-type", "application/json")
        .body(())
        .expect("a request");
    let (parts, ()) = asked.into_parts();
    let body = RequestBody::Bytes(json::to_vec(&review).into());
    let answer = apiserver::pipeline::handle(api, &api.caller(peer), parts, body).await;
    let Ok(body) = answer.into_body().collect().await;
    json::parse(&body.to_bytes()).expect("JSON")
}

#[tokio::test]
async fn an_approved_request_gets_a_certificate_that_counts() {
    let cluster = Cluster::start().await;
    let usages = ["digital signature", "client auth"];
    let asked = request("jane", "kube-apiserver-client", "jane", "readers", &usages);
    cluster.create(REQUESTS, asked).await;
    approve(&cluster, "jane").await;
    let has = |it: &Value| it.str_at(&["status", "certificate"]).is_some();
    let signed = cluster.until(&format!("{REQUESTS}/jane"), has).await;
    let certificate = signed
        .str_at(&["status", "certificate"])
        .expect("it is there");
    let pem = STANDARD.decode(certificate).expect("base64");
    let review = who(&cluster, &pem).await;
    let user = review
        .at(&["status", "userInfo"])
        .cloned()
        .unwrap_or_default();
    assert_eq!(user.str_at(&["username"]), Some("jane"), "{review:?}");
    assert_eq!(
        user.get("groups"),
        Some(&json!(["readers", "system:authenticated"]))
    );
    cluster.stop().await;
}

#[tokio::test]
async fn a_request_that_its_signer_cannot_honour_fails() {
    let cluster = Cluster::start().await;
    let asked = request("web", "kube-apiserver-client", "web", "o", &["server auth"]);
    cluster.create(REQUESTS, asked).await;
    approve(&cluster, "web").await;
    let found = cluster
        .until(&format!("{REQUESTS}/web"), |it| {
            condition(it, "Failed", "status") == Some("True")
        })
        .await;
    assert_eq!(
        condition(&found, "Failed", "reason"),
        Some("SignerValidationFailure")
    );
    assert_eq!(found.str_at(&["status", "certificate"]), None);
    cluster.stop().await;
}

#[tokio::test]
async fn a_kubelet_that_may_is_approved_by_itself() {
    let cluster = Cluster::start().await;
    let usages = ["digital signature", "client auth"];
    let signer = "kube-apiserver-client-kubelet";
    let asked = request("kubelet", signer, "system:node:n", "system:nodes", &usages);
    cluster.create(REQUESTS, asked).await;
    let path = format!("{REQUESTS}/kubelet");
    let has = |it: &Value| it.str_at(&["status", "certificate"]).is_some();
    let found = cluster.until(&path, has).await;
    assert_eq!(
        condition(&found, "Approved", "reason"),
        Some("AutoApproved")
    );
    cluster.stop().await;
}
