//! Nobody gets a certificate that makes them more than they are.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use json::{Value, json};
use rcgen::{CertificateParams, DnType, KeyPair};

use crate::client::{Client, says};

const PATH: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const CLIENT: &str = "kubernetes.io/kube-apiserver-client";

fn request(name: &str, organization: &str, signer: &str) -> Value {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params
        .distinguished_name
        .push(DnType::OrganizationName, organization);
    params.distinguished_name.push(DnType::CommonName, "x");
    let key = KeyPair::generate().unwrap();
    let pem = params.serialize_request(&key).unwrap().pem().unwrap();
    json!({
        "metadata": {"name": name},
        "spec": {
            "request": (BASE64_STANDARD.encode(pem)),
            "signerName": signer,
            "usages": ["client auth"],
            // Who asks is not theirs to say.
            "username": "root",
            "groups": ["system:masters"],
        },
    })
}

#[tokio::test]
async fn requests_make_no_masters() {
    let client = Client::start().await;
    let masters = request("masters", "system:masters", CLIENT);
    let answer = client.admin("POST", PATH, "application/json", &json::to_vec(&masters));
    says(
        &answer,
        403,
        "certificatesigningrequests.certificates.k8s.io \"masters\" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed",
    );
    let legacy = request("legacy", "dev", "kubernetes.io/legacy-unknown");
    let answer = client.admin("POST", PATH, "application/json", &json::to_vec(&legacy));
    says(
        &answer,
        422,
        "CertificateSigningRequest.certificates.k8s.io \"legacy\" is invalid: spec.signerName: Invalid value: \"kubernetes.io/legacy-unknown\": the legacy signerName is not allowed via this API version",
    );
    let dev = request("dev", "dev", CLIENT);
    says(
        &client.alice("POST", PATH, &dev),
        403,
        "certificatesigningrequests.certificates.k8s.io is forbidden: User \"alice\" cannot create resource \"certificatesigningrequests\" in API group \"certificates.k8s.io\" at the cluster scope",
    );
}

#[tokio::test]
async fn who_writes_requests_neither_approves_nor_signs_them() {
    let client = Client::start().await;
    let group = "certificates.k8s.io";
    let plural = "certificatesigningrequests";
    client.grant(
        "requests",
        &[
            (group, plural, "create"),
            (group, plural, "patch"),
            (group, &format!("{plural}/approval"), "patch"),
            (group, &format!("{plural}/status"), "patch"),
            // Of another domain's signers.
            (group, "signers", "list"),
        ],
    );
    let (code, body) = client.alice("POST", PATH, &request("mine", "dev", CLIENT));
    assert_eq!(code, 201, "{body}");
    let made = json::parse(body.as_bytes()).unwrap();
    assert_eq!(made.str_at(&["spec", "username"]), Some("alice"));
    let groups = json!(["dev", "ops", "system:authenticated"]);
    assert_eq!(made.at(&["spec", "groups"]), Some(&groups));
    let approved = json!({"status": {"conditions": [{"type": "Approved", "status": "True", "reason": "x", "message": "m"}]}});
    let mine = format!("{PATH}/mine");
    let refused = format!(
        "{plural}.{group} \"mine\" is forbidden: user not permitted to approve requests with signerName \"{CLIENT}\""
    );
    says(
        &client.alice("PATCH", &format!("{mine}/approval"), &approved),
        403,
        &refused,
    );
    // Nor by naming another signer in the same breath.
    let mut other = approved.clone();
    let spec = json!({"signerName": "example.com/x"});
    other.as_object_mut().unwrap().insert("spec", spec);
    says(
        &client.alice("PATCH", &format!("{mine}/approval"), &other),
        403,
        &refused,
    );
    says(
        &client.alice("PATCH", &format!("{mine}/status"), &approved),
        422,
        "CertificateSigningRequest.certificates.k8s.io \"mine\" is invalid: status.conditions: Forbidden: updates may not add a condition of type \"Approved\"",
    );
    let failed = json!({"status": {"conditions": [{"type": "Failed", "status": "True", "reason": "x", "message": "m"}]}});
    says(
        &client.alice("PATCH", &format!("{mine}/status"), &failed),
        403,
        &format!(
            "{plural}.{group} \"mine\" is forbidden: user not permitted to sign requests with signerName \"{CLIENT}\""
        ),
    );
    // The main resource keeps both what was asked for and what was decided.
    let (code, body) = client.alice(
        "PATCH",
        &mine,
        &json!({"spec": {"groups": ["system:masters"], "username": "root"}, "status": (approved.get("status").cloned().unwrap())}),
    );
    assert_eq!(code, 200, "{body}");
    let kept = json::parse(body.as_bytes()).unwrap();
    assert_eq!(kept.str_at(&["spec", "username"]), Some("alice"));
    assert_eq!(kept.at(&["status", "conditions"]), None);
}
