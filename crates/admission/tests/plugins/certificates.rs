//! Who may approve, sign and vouch.

use std::sync::Arc;

use admission::Operation;
use admission::certificates::{
    CertificateApproval, CertificateSigning, CertificateSubjectRestriction,
    ClusterTrustBundleAttest,
};
use base64::Engine as _;
use json::{Value, json};

use super::world::{Allows, Case};

const REQUESTS: &str = "certificates.k8s.io/certificatesigningrequests";

fn request(signer: &str, certificate: &str) -> Value {
    json!({"metadata": {"name": "r"}, "spec": {"signerName": signer}, "status": {"certificate": certificate}})
}

#[test]
fn approving_takes_the_right_for_the_signer() {
    let resource = "certificates.k8s.io/certificatesigningrequests/approval";
    let new = request("example.com/other", "");
    for (allowed, fine) in [
        (&["approve signers example.com/one"][..], true),
        (&["approve signers example.com/*"], true),
        (&["approve signers example.com/other"], false),
        (&["sign signers example.com/one"], false),
        (&[], false),
    ] {
        let plugin = CertificateApproval(Arc::new(Allows(allowed)));
        // The signer of what is there counts.
        let update = Case::update(&plugin, resource, request("example.com/one", ""));
        let found = update.run(&new).err().map(|it| it.message.clone());
        let why = "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: user not permitted to approve requests with signerName \"example.com/one\"";
        assert_eq!(found, (!fine).then(|| why.to_owned()), "{allowed:?}");
    }
    let plugin = CertificateApproval(Arc::new(Allows(&[])));
    assert!(!Case::update(&plugin, REQUESTS, Value::Null).handles());
    assert!(!Case::create(&plugin, resource).handles());
    assert!(!Case::update(&plugin, "example.com/x/approval", Value::Null).handles());
}

#[test]
fn signing_takes_the_right_for_the_signer() {
    let resource = "certificates.k8s.io/certificatesigningrequests/status";
    let refused = |allowed: &'static [&'static str], new: &Value| {
        let plugin = CertificateSigning(Arc::new(Allows(allowed)));
        let update = Case::update(&plugin, resource, request("example.com/one", ""));
        update.run(new).err().map(|it| it.message.clone())
    };
    let signed = request("example.com/one", "signed");
    let why = "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: user not permitted to sign requests with signerName \"example.com/one\"";
    assert_eq!(refused(&[], &signed).as_deref(), Some(why));
    assert_eq!(refused(&["sign signers example.com/one"], &signed), None);
    assert_eq!(
        refused(&[], &request("example.com/one", "")),
        None,
        "nothing changes"
    );
    let mut failed = request("example.com/one", "");
    let status = json!({"certificate": "", "conditions": [{"type": "Failed"}]});
    failed
        .as_object_mut()
        .expect("an object")
        .insert("status", status);
    assert_eq!(
        refused(&[], &failed).as_deref(),
        Some(why),
        "conditions count, too"
    );
    let plugin = CertificateSigning(Arc::new(Allows(&[])));
    assert!(!Case::update(&plugin, REQUESTS, Value::Null).handles());
}

#[test]
fn vouching_takes_the_right_for_the_signer() {
    let resource = "certificates.k8s.io/clustertrustbundles";
    let bundle = |signer: &str, owners: Value| json!({"metadata": {"name": "b", "ownerReferences": owners}, "spec": {"signerName": signer}});
    let none = ClusterTrustBundleAttest(Arc::new(Allows(&[])));
    let one = ClusterTrustBundleAttest(Arc::new(Allows(&["attest signers example.com/one"])));
    let named = bundle("example.com/one", json!([]));
    assert_eq!(
        Case::create(&none, resource).err(&named),
        "clustertrustbundles.certificates.k8s.io \"b\" is forbidden: user not permitted to attest for signerName \"example.com/one\""
    );
    Case::create(&one, resource).same(&named);
    Case::create(&none, resource).same(&bundle("", json!([])));
    Case::create(&one, resource).err(&bundle("example.com/two", json!([])));
    // Owners are the garbage collector's business.
    let update = Case::update(&none, resource, named);
    update.same(&bundle("example.com/one", json!([{"uid": "x"}])));
    update.err(&bundle("example.com/two", json!([])));
    let delete = Case {
        operation: Operation::Delete,
        ..Case::create(&none, resource)
    };
    assert!(!delete.handles());
}

/// A request for a certificate with this organization, in base64.
pub(super) fn encoded(organization: &str, common_name: &str) -> String {
    let key = rcgen::KeyPair::generate().expect("a key");
    let mut parameters = rcgen::CertificateParams::default();
    let name = &mut parameters.distinguished_name;
    name.push(rcgen::DnType::OrganizationName, organization);
    name.push(rcgen::DnType::CommonName, common_name);
    let request = parameters.serialize_request(&key).expect("a request");
    let text = request.pem().expect("text");
    base64::prelude::BASE64_STANDARD.encode(text)
}

#[test]
fn nobody_becomes_a_master_by_a_request() {
    let plugin = CertificateSubjectRestriction;
    let create = Case::create(&plugin, REQUESTS);
    let object = |signer: &str, request: &str| json!({"metadata": {"name": "r"}, "spec": {"signerName": signer, "request": request}});
    let client = "kubernetes.io/kube-apiserver-client";
    create.same(&object(client, &encoded("developers", "jane")));
    assert_eq!(
        create.err(&object(client, &encoded("system:masters", "jane"))),
        "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"
    );
    assert!(
        create
            .err(&object(client, "???"))
            .contains("failed to parse CSR")
    );
    create.same(&object(
        "example.com/own",
        &encoded("system:masters", "jane"),
    ));
    assert!(!Case::update(&plugin, REQUESTS, Value::Null).handles());
    assert!(
        !Case::create(
            &plugin,
            "certificates.k8s.io/certificatesigningrequests/status"
        )
        .handles()
    );
}
