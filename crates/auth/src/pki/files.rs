//! All that a server needs at its start, made where it is missing and renewed in time.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::parse_x509_certificate;

use super::authority::{CertificateAuthority, CertifiedKey, DAY, certificate_der};
use super::{PkiError, request};
use crate::keypair::{Form, KeyPair};
use crate::serviceaccount::SigningKey;
use crate::user;

/// A certificate is renewed when it has less than this to live: long enough to be noticed by a weekly restart.
const RENEW: i64 = 30 * DAY;

/// What is kept on disk, all PEM. The caller reads and writes the files.
#[derive(Clone, Debug, Default)]
pub struct Files {
    pub authority: Option<CertifiedKey>,
    pub serving: Option<CertifiedKey>,
    /// A client in `system:masters`.
    pub admin: Option<CertifiedKey>,
    /// Signs the certificates of front proxies, which name the user in headers, such as an aggregator.
    pub front_proxy_authority: Option<CertifiedKey>,
    /// Signs service account tokens.
    pub service_account_key: Option<String>,
}

/// What the server is called.
#[derive(Clone, Debug)]
pub struct ServingNames {
    pub names: Vec<String>,
    pub ips: Vec<IpAddr>,
}

impl ServingNames {
    /// What pods and local clients call the server, and what else is asked for: texts that are addresses become such.
    pub fn new(cluster_domain: &str, also: &[&str]) -> Self {
        let mut names: Vec<String> = [
            "localhost",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
        ]
        .map(str::to_owned)
        .into();
        names.push(format!("kubernetes.default.svc.{cluster_domain}"));
        let mut ips: Vec<IpAddr> = vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        for text in also {
            match text.parse() {
                Ok(ip) if !ips.contains(&ip) => ips.push(ip),
                Err(_) if !names.iter().any(|it| it == text) => names.push((*text).to_owned()),
                _ => {}
            }
        }
        Self { names, ips }
    }

    /// What a certificate names; `None` if it cannot be read or names nothing.
    pub fn of(certificate: &str) -> Option<Self> {
        let der = certificate_der(certificate)?;
        let (_, certificate) = parse_x509_certificate(&der).ok()?;
        let found = certificate.subject_alternative_name().ok()??;
        let found = &found.value.general_names;
        let dns = found.iter().filter_map(|it| match it {
            GeneralName::DNSName(name) => Some((*name).to_owned()),
            _ => None,
        });
        Some(Self {
            names: dns.collect(),
            ips: found.iter().filter_map(request::ip_of).collect(),
        })
    }
}

/// Fills in what is missing, unreadable, about to expire, of another authority or without a name; says what changed.
///
/// An authority that is there is never replaced, since all of its clients would be lost: if it cannot be read, that is
/// an error.
pub fn ensure(
    files: &mut Files,
    wanted: &ServingNames,
    now: i64,
) -> Result<Vec<&'static str>, PkiError> {
    let mut changed = Vec::new();
    let authority = if let Some(authority) = &files.authority {
        authority.clone()
    } else {
        changed.push("authority");
        CertificateAuthority::generate("kubernetes", now)?
    };
    let ca = CertificateAuthority::from_pem(&authority)?;
    files.authority = Some(authority);

    let names_all = |it: &X509Certificate| covers(it, wanted);
    if !good(files.serving.as_ref(), &ca, now, names_all) {
        changed.push("serving");
        let key = ca.serving("kube-apiserver", &wanted.names, &wanted.ips, now)?;
        files.serving = Some(key);
    }
    if !good(files.admin.as_ref(), &ca, now, |_| true) {
        changed.push("admin");
        files.admin = Some(ca.client("kubernetes-admin", &[user::MASTERS], now)?);
    }
    if files.front_proxy_authority.is_none() {
        changed.push("front proxy authority");
        let made = CertificateAuthority::generate("front-proxy-ca", now)?;
        files.front_proxy_authority = Some(made);
    }
    match files.service_account_key.as_deref() {
        None => {
            changed.push("service account key");
            let key = SigningKey::generate_pem().map_err(|_| PkiError::Generate)?;
            files.service_account_key = Some(key);
        }
        Some(key) => {
            if let Some(key) = SigningKey::portable_pem(key) {
                changed.push("form of the service account key");
                files.service_account_key = Some(key);
            }
        }
    }
    Ok(changed)
}

fn good(
    it: Option<&CertifiedKey>,
    ca: &CertificateAuthority,
    now: i64,
    also: impl Fn(&X509Certificate) -> bool,
) -> bool {
    let Some(it) = it else {
        return false;
    };
    let Some(der) = certificate_der(&it.certificate) else {
        return false;
    };
    let Ok((_, certificate)) = parse_x509_certificate(&der) else {
        return false;
    };
    let key = KeyPair::from_pem(it.key.as_bytes(), Form::Asn1);
    let lives_until = certificate.validity().not_after.timestamp();
    // What ends with its authority cannot be made to live longer.
    let lives = now < lives_until && (now + RENEW < lives_until || lives_until == ca.not_after);
    key.is_some_and(|key| key.spki == certificate.public_key().raw)
        && lives
        && ca.signed(&certificate)
        && also(&certificate)
}

fn covers(certificate: &X509Certificate, wanted: &ServingNames) -> bool {
    let Ok(Some(names)) = certificate.subject_alternative_name() else {
        return false;
    };
    let names = &names.value.general_names;
    let dns = |name: &String| names.iter().any(|it| *it == GeneralName::DNSName(name));
    let ip = |ip: &IpAddr| {
        let mut found = names.iter().filter_map(request::ip_of);
        found.any(|it| it == *ip)
    };
    wanted.names.iter().all(dns) && wanted.ips.iter().all(ip)
}
