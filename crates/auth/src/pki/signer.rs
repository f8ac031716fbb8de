//! The signers of `kubernetes.io`, as kube-controller-manager has them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json::Value;

use super::PkiError;
use super::authority::{BACKDATE, CertificateAuthority, YEAR};
use super::issue::Template;
use super::request::CertificateRequest;
use crate::rbac::strings;

pub const SIGNERS: [&str; 4] = [
    "kubernetes.io/kube-apiserver-client",
    "kubernetes.io/kube-apiserver-client-kubelet",
    "kubernetes.io/kubelet-serving",
    "kubernetes.io/legacy-unknown",
];

/// Below this, the time before now is not taken off the end.
const SHORT: i64 = 8 * 60 * 60;
const MIN_DURATION: i64 = 10 * 60;

/// Whether a `CertificateSigningRequest` waits for its certificate: approved, not failed, not yet signed.
pub fn approved(csr: &Value) -> bool {
    let conditions = csr.at(&["status", "conditions"]).and_then(Value::as_array);
    let has = |kind: &str, status: Option<&str>| {
        let mut all = conditions.into_iter().flatten();
        all.any(|it| {
            it.str_at(&["type"]) == Some(kind)
                && status.is_none_or(|status| it.str_at(&["status"]) == Some(status))
        })
    };
    let signed = csr.str_at(&["status", "certificate"]);
    has("Approved", None)
        && !has("Denied", None)
        && !has("Failed", Some("True"))
        && signed.is_none_or(str::is_empty)
}

/// The certificate for the request, as PEM.
///
/// `Refused` becomes a Failed condition with reason `SignerValidationFailure`; none if the signer is not one of
/// ours.
pub fn sign(ca: &CertificateAuthority, csr: &Value, now: i64) -> Option<Result<String, PkiError>> {
    let signer = csr.str_at(&["spec", "signerName"])?;
    SIGNERS
        .contains(&signer)
        .then(|| sign_for(ca, signer, csr, now))
}

fn sign_for(
    ca: &CertificateAuthority,
    signer: &str,
    csr: &Value,
    now: i64,
) -> Result<String, PkiError> {
    let request = request_of(csr)?;
    let usages = strings(csr.at(&["spec", "usages"]));
    check(signer, &request, &usages).map_err(PkiError::Refused)?;

    let asked = csr
        .at(&["spec", "expirationSeconds"])
        .and_then(Value::as_i64);
    let duration = asked.map_or(YEAR, |it| it.clamp(MIN_DURATION, YEAR));
    let end = if duration < SHORT {
        duration
    } else {
        duration - BACKDATE
    };
    if now >= ca.not_after {
        let text = "refusing to sign a certificate that expired in the past";
        return Err(PkiError::Refused(text.to_owned()));
    }
    ca.issue(&Template {
        subject: &request.subject,
        spki: &request.spki,
        not_before: now - BACKDATE,
        not_after: (now + end).min(ca.not_after),
        is_ca: false,
        usages: &usages,
        names: &request.names,
    })
}

/// What a kubelet asks for with its client certificate, if that is what is asked for.
pub fn kubelet_client_request(csr: &Value) -> Option<CertificateRequest> {
    let signer = csr.str_at(&["spec", "signerName"])?;
    if signer != "kubernetes.io/kube-apiserver-client-kubelet" {
        return None;
    }
    let request = request_of(csr).ok()?;
    let usages = strings(csr.at(&["spec", "usages"]));
    kubelet_client(&request, &usages).ok()?;
    Some(request)
}

fn request_of(csr: &Value) -> Result<CertificateRequest, PkiError> {
    let request = csr.str_at(&["spec", "request"]).unwrap_or_default();
    let request = STANDARD.decode(request).map_err(|_| PkiError::NoRequest)?;
    CertificateRequest::from_pem(&request)
}

fn check(signer: &str, request: &CertificateRequest, usages: &[String]) -> Result<(), String> {
    match signer {
        "kubernetes.io/kube-apiserver-client" => client_usages(usages),
        "kubernetes.io/kube-apiserver-client-kubelet" => kubelet_client(request, usages),
        "kubernetes.io/kubelet-serving" => kubelet_serving(request, usages),
        _ => Ok(()),
    }
}

fn client_usages(usages: &[String]) -> Result<(), String> {
    let allowed = ["digital signature", "key encipherment", "client auth"];
    if let Some(other) = usages.iter().find(|it| !allowed.contains(&&***it)) {
        return Err(format!("invalid usage for client certificate: {other}"));
    }
    if !usages.iter().any(|it| it == "client auth") {
        return Err("missing required usage for client certificate: client auth".to_owned());
    }
    Ok(())
}

fn kubelet_client(request: &CertificateRequest, usages: &[String]) -> Result<(), String> {
    let names = &request.names;
    node_organization(request)?;
    allow(names.dns.is_empty(), "DNS subjectAltNames are not allowed")?;
    allow(
        names.emails.is_empty(),
        "Email subjectAltNames are not allowed",
    )?;
    allow(names.ips.is_empty(), "IP subjectAltNames are not allowed")?;
    allow(names.uris.is_empty(), "URI subjectAltNames are not allowed")?;
    node_name(request)?;
    exact_usages(usages, "client auth")
}

fn kubelet_serving(request: &CertificateRequest, usages: &[String]) -> Result<(), String> {
    let names = &request.names;
    node_organization(request)?;
    allow(
        !names.dns.is_empty() || !names.ips.is_empty(),
        "DNS or IP subjectAltName is required",
    )?;
    allow(
        names.emails.is_empty(),
        "Email subjectAltNames are not allowed",
    )?;
    allow(names.uris.is_empty(), "URI subjectAltNames are not allowed")?;
    exact_usages(usages, "server auth")?;
    node_name(request)
}

fn node_organization(request: &CertificateRequest) -> Result<(), String> {
    allow(
        request.organizations == ["system:nodes"],
        "subject organization is not system:nodes",
    )
}

fn node_name(request: &CertificateRequest) -> Result<(), String> {
    allow(
        request.common_name.starts_with("system:node:"),
        "subject common name does not begin with system:node:",
    )
}

/// Key encipherment is for RSA and may be left out.
fn exact_usages(usages: &[String], purpose: &str) -> Result<(), String> {
    let mut found: Vec<&str> = usages.iter().map(String::as_str).collect();
    found.sort_unstable();
    found.dedup();
    let mut all = ["digital signature", "key encipherment", purpose];
    all.sort_unstable();
    let short: Vec<_> = all
        .into_iter()
        .filter(|it| *it != "key encipherment")
        .collect();
    allow(
        found == all || found == short,
        &format!("usages did not match [{}]", all.join(" ")),
    )
}

fn allow(condition: bool, otherwise: &str) -> Result<(), String> {
    if condition {
        Ok(())
    } else {
        Err(otherwise.to_owned())
    }
}
