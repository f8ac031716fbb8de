//! Writes and signs a certificate.

use std::net::IpAddr;

use aws_lc_rs::{digest, rand};

use super::der::{self, sequence, tlv};
use super::{PkiError, usage};
use crate::keypair::{KeyPair, Kind};

/// What is to be certified.
pub(super) struct Template<'a> {
    /// A DER `Name`.
    pub(super) subject: &'a [u8],
    /// A DER `SubjectPublicKeyInfo`.
    pub(super) spki: &'a [u8],
    pub(super) not_before: i64,
    pub(super) not_after: i64,
    pub(super) is_ca: bool,
    pub(super) usages: &'a [String],
    pub(super) names: &'a AlternativeNames,
}

/// The issuer.
pub(super) struct Signer<'a> {
    /// A DER `Name`.
    pub(super) subject: &'a [u8],
    pub(super) key_id: Option<&'a [u8]>,
    pub(super) key: &'a KeyPair,
}

/// The names of a server, and what else a request may bring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AlternativeNames {
    pub(super) dns: Vec<String>,
    pub(super) ips: Vec<IpAddr>,
    pub(super) emails: Vec<String>,
    pub(super) uris: Vec<String>,
}

pub(super) fn issue(it: &Template, signer: &Signer) -> Result<Vec<u8>, PkiError> {
    let (key_usage, extended_usage) = usage::extensions(it.usages).map_err(|unknown| {
        let unknown = crate::quote::quote_all(&unknown);
        PkiError::Refused(format!("unrecognized usage values: {unknown}"))
    })?;
    let own_id = key_id(it.spki);
    // Extensions by the last byte of 2.5.29.x, in Go's order; what may not be ignored is critical.
    let empty_subject = it.subject == sequence(&[]);
    let parts = [
        (15, true, key_usage),
        (37, false, extended_usage),
        (19, true, Some(basic_constraints(it.is_ca))),
        (14, false, it.is_ca.then(|| tlv(der::OCTETS, &own_id))),
        (
            35,
            false,
            signer.key_id.map(|id| sequence(&[&tlv(0x80, id)])),
        ),
        (17, empty_subject, it.names.encode()),
    ];
    let extensions: Vec<u8> = parts
        .into_iter()
        .filter_map(|(id, critical, content)| Some(extension(id, critical, &content?)))
        .collect::<Vec<_>>()
        .concat();

    let serial = serial_number()?;
    let algorithm = algorithm(signer.key.kind);
    let not_before = der::time(it.not_before).ok_or(PkiError::Sign)?;
    let not_after = der::time(it.not_after).ok_or(PkiError::Sign)?;
    let certificate = sequence(&[
        &tlv(0xa0, &der::integer(&[2])),
        &serial,
        &algorithm,
        signer.subject,
        &sequence(&[&not_before, &not_after]),
        it.subject,
        it.spki,
        &tlv(0xa3, &tlv(der::SEQUENCE, &extensions)),
    ]);
    let signature = signer.key.sign(&certificate).ok_or(PkiError::Sign)?;
    Ok(sequence(&[
        &certificate,
        &algorithm,
        &der::bits(&signature),
    ]))
}

/// A name with one organization per group.
pub(super) fn name(common_name: &str, organizations: &[&str]) -> Vec<u8> {
    let attribute = |id: u8, text: &str| {
        let oid = tlv(der::OID, &[0x55, 4, id]);
        tlv(
            der::SET,
            &sequence(&[&oid, &tlv(der::UTF8, text.as_bytes())]),
        )
    };
    let mut parts: Vec<_> = organizations.iter().map(|it| attribute(10, it)).collect();
    if !common_name.is_empty() {
        parts.push(attribute(3, common_name));
    }
    tlv(der::SEQUENCE, &parts.concat())
}

/// A hash of the public key, cut to the length of the old SHA-1 (RFC 7093).
pub(super) fn key_id(spki: &[u8]) -> Vec<u8> {
    digest::digest(&digest::SHA256, spki).as_ref()[..20].to_vec()
}

impl AlternativeNames {
    fn encode(&self) -> Option<Vec<u8>> {
        let emails = self.emails.iter().map(|it| tlv(0x81, it.as_bytes()));
        let dns = self.dns.iter().map(|it| tlv(0x82, it.as_bytes()));
        let ips = self.ips.iter().map(|it| match it {
            IpAddr::V4(it) => tlv(0x87, &it.octets()),
            IpAddr::V6(it) => tlv(0x87, &it.octets()),
        });
        let uris = self.uris.iter().map(|it| tlv(0x86, it.as_bytes()));
        let all: Vec<u8> = dns.chain(emails).chain(ips).chain(uris).flatten().collect();
        (!all.is_empty()).then(|| tlv(der::SEQUENCE, &all))
    }
}

fn basic_constraints(is_ca: bool) -> Vec<u8> {
    if is_ca {
        sequence(&[&tlv(der::BOOLEAN, &[0xff])])
    } else {
        sequence(&[])
    }
}

fn extension(id: u8, critical: bool, content: &[u8]) -> Vec<u8> {
    let oid = tlv(der::OID, &[0x55, 0x1d, id]);
    let critical = if critical {
        tlv(der::BOOLEAN, &[0xff])
    } else {
        Vec::new()
    };
    sequence(&[&oid, &critical, &tlv(der::OCTETS, content)])
}

fn algorithm(kind: Kind) -> Vec<u8> {
    let ecdsa = |hash: u8| {
        let oid = [0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, hash];
        sequence(&[&tlv(der::OID, &oid)])
    };
    match kind {
        Kind::P256 => ecdsa(2),
        Kind::P384 => ecdsa(3),
        Kind::P521 => ecdsa(4),
        Kind::Rsa => {
            let oid = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11];
            sequence(&[&tlv(der::OID, &oid), &tlv(0x05, &[])])
        }
    }
}

fn serial_number() -> Result<Vec<u8>, PkiError> {
    let mut bytes = [0; 16];
    rand::fill(&mut bytes).map_err(|_| PkiError::Sign)?;
    // Never zero, which RFC 5280 forbids.
    bytes[15] |= 1;
    Ok(der::integer(&bytes))
}
