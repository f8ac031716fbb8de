//! Who may approve, sign and vouch for certificates, and that nobody becomes a master by a request.

use std::sync::Arc;

use auth::pki::CertificateRequest;
use auth::{Attributes, Authorizer};
use base64::Engine as _;
use json::Value;
use meta::Status;

use crate::read::text;
use crate::{Admitting, Operation, Outcome, Plugin, Request};

const GROUP: &str = "certificates.k8s.io";
const REQUESTS: &str = "certificatesigningrequests";
const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";

/// Whether the user may do this with what the signer signs, or with all of the signer's domain.
async fn may(authorizer: &dyn Authorizer, request: &Request<'_>, verb: &str, signer: &str) -> bool {
    let domain = signer.split('/').next().unwrap_or_default();
    for name in [signer, &format!("{domain}/*")] {
        let attributes = Attributes {
            version: "*",
            name,
            ..Attributes::resource(request.user, verb, GROUP, "signers")
        };
        if authorizer.authorize(attributes).await.allowed() {
            return true;
        }
    }
    false
}

/// The three that ask an authorizer.
macro_rules! signer_plugin {
    ($(#[$doc:meta])* $name:ident, $handles:expr, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(pub Arc<dyn Authorizer>);

        impl Plugin for $name {
            fn name(&self) -> &'static str {
                stringify!($name)
            }

            fn handles(&self, request: &Request<'_>) -> bool {
                let handles: fn(&Request<'_>) -> bool = $handles;
                handles(request)
            }

            fn validate<'a>(
                &'a self,
                request: &'a Request<'a>,
                admitting: &'a mut Admitting,
            ) -> Outcome<'a> {
                Outcome::Later(Box::pin($check(&*self.0, request, &admitting.object)))
            }
        }
    };
}

signer_plugin!(
    /// Who sets the approval of a request must be allowed to approve for its signer.
    CertificateApproval,
    |it| it.operation == Operation::Update
        && it.subresource == "approval"
        && it.is(GROUP, REQUESTS),
    approval
);

async fn approval(
    authorizer: &dyn Authorizer,
    request: &Request<'_>,
    object: &Value,
) -> Result<(), Status> {
    // Of what is there: nobody names another signer to be allowed.
    let signer = request
        .old
        .map_or("", |it| text(it, &["spec", "signerName"]));
    if may(authorizer, request, "approve", signer).await {
        return Ok(());
    }
    let signer = meta::go::quote(signer);
    let why = format!("user not permitted to approve requests with signerName {signer}");
    Err(request.forbidden(object, why))
}

signer_plugin!(
    /// Who sets the certificate of a request must be allowed to sign for its signer.
    CertificateSigning,
    |it| it.operation == Operation::Update && it.subresource == "status" && it.is(GROUP, REQUESTS),
    signing
);

async fn signing(
    authorizer: &dyn Authorizer,
    request: &Request<'_>,
    object: &Value,
) -> Result<(), Status> {
    let old = request.old.unwrap_or(&Value::Null);
    let same = |field| old.at(&["status", field]) == object.at(&["status", field]);
    let signer = text(old, &["spec", "signerName"]);
    if same("certificate") && same("conditions") || may(authorizer, request, "sign", signer).await {
        return Ok(());
    }
    let signer = meta::go::quote(signer);
    let why = format!("user not permitted to sign requests with signerName {signer}");
    Err(request.forbidden(object, why))
}

signer_plugin!(
    /// Who writes a bundle of a signer must be allowed to vouch for it.
    ClusterTrustBundleAttest,
    |it| matches!(it.operation, Operation::Create | Operation::Update)
        && it.is(GROUP, "clustertrustbundles"),
    attest
);

async fn attest(
    authorizer: &dyn Authorizer,
    request: &Request<'_>,
    object: &Value,
) -> Result<(), Status> {
    let signer = text(object, &["spec", "signerName"]);
    // Migration of storage and the garbage collector change nothing that counts.
    let same = request
        .old
        .is_some_and(|old| without_owners(old) == without_owners(object));
    if signer.is_empty() || same || may(authorizer, request, "attest", signer).await {
        return Ok(());
    }
    let why = format!(
        "user not permitted to attest for signerName {}",
        meta::go::quote(signer)
    );
    Err(request.forbidden(object, why))
}

fn without_owners(object: &Value) -> Value {
    let mut object = object.clone();
    let metadata = meta::object::metadata_mut(&mut object);
    for field in ["ownerReferences", "finalizers", "managedFields"] {
        metadata.remove(field);
    }
    object
}

/// No request for a client certificate makes a master.
#[derive(Clone, Copy, Debug, Default)]
pub struct CertificateSubjectRestriction;

impl Plugin for CertificateSubjectRestriction {
    fn name(&self) -> &'static str {
        "CertificateSubjectRestriction"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        request.operation == Operation::Create && request.is_whole(GROUP, REQUESTS)
    }

    fn validate<'a>(
        &'a self,
        request: &'a Request<'a>,
        admitting: &'a mut Admitting,
    ) -> Outcome<'a> {
        check_subject(request, &admitting.object).into()
    }
}

fn check_subject(request: &Request<'_>, object: &Value) -> Result<(), Status> {
    if text(object, &["spec", "signerName"]) != CLIENT_SIGNER {
        return Ok(());
    }
    let encoded = text(object, &["spec", "request"]);
    let decoded = base64::prelude::BASE64_STANDARD.decode(encoded);
    let parsed = CertificateRequest::from_pem(&decoded.unwrap_or_default())
        .map_err(|error| request.forbidden(object, format!("failed to parse CSR: {error}")))?;
    if parsed
        .organizations
        .iter()
        .any(|it| it == auth::user::MASTERS)
    {
        let why = format!("use of {CLIENT_SIGNER} signer with system:masters group is not allowed");
        return Err(request.forbidden(object, why));
    }
    Ok(())
}
