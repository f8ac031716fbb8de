//! Bundles of certificates, as text.

use super::authority::certificate_pem;
use crate::quote::quote;
use crate::x509;

/// For clocks that differ, as upstream.
const SLACK: i64 = 300;

/// The certificates of all bundles, each once, without those that have ended.
pub fn combine(bundles: &[&str], now: i64) -> String {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for block in bundles
        .iter()
        .flat_map(|it| pem::parse_many(it).unwrap_or_default())
    {
        let ends = x509::validity(block.contents()).map(|(_, to)| to);
        let counts = block.tag() == "CERTIFICATE" && ends.is_some_and(|it| it > now - SLACK);
        let der = block.into_contents();
        if counts && !all.contains(&der) {
            all.push(der);
        }
    }
    all.iter().map(|it| certificate_pem(it)).collect()
}

/// Whether a text is what a signer may answer: certificates and nothing else.
pub fn check_chain(text: &[u8]) -> Result<(), String> {
    let blocks = pem::parse_many(text).unwrap_or_default();
    if blocks.is_empty() {
        return Err("must contain at least one CERTIFICATE PEM block".to_owned());
    }
    for block in &blocks {
        if block.tag() != "CERTIFICATE" {
            let tag = quote(block.tag());
            return Err(format!(
                "only CERTIFICATE PEM blocks are allowed, found {tag}"
            ));
        }
        if block.headers().iter().next().is_some() {
            return Err("no PEM block headers are permitted".to_owned());
        }
        if x509::validity(block.contents()).is_none() {
            return Err("x509: malformed certificate".to_owned());
        }
    }
    Ok(())
}

/// Why a text is no authorities to trust, as Go says it: one that can be read is enough.
pub fn check_authorities(text: &[u8]) -> Result<(), String> {
    let no = |why: &str| Err(format!("unable to load root certificates: {why}"));
    let blocks = pem::parse_many(text).unwrap_or_default();
    if blocks.is_empty() {
        return no("unable to parse bytes as PEM block");
    }
    let mut all = blocks
        .iter()
        .filter(|it| it.tag() == "CERTIFICATE" && it.headers().iter().next().is_none());
    if all
        .clone()
        .any(|it| x509::validity(it.contents()).is_some())
    {
        return Ok(());
    }
    match all.next() {
        Some(_) => no("failed to parse certificate: x509: malformed certificate"),
        None => no("no valid certificate authority data seen"),
    }
}

/// Whether two bundles have a certificate in common.
pub fn overlap(one: &[u8], other: &[u8]) -> bool {
    let all = |it| pem::parse_many(it).unwrap_or_default();
    let other = all(other);
    all(one).iter().any(|it| other.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pki::CertificateAuthority;

    const NOW: i64 = 1_800_000_000;

    #[test]
    fn each_once_while_it_counts() {
        let made = |name| {
            CertificateAuthority::generate(name, NOW)
                .unwrap()
                .certificate
        };
        let (a, b) = (made("a"), made("b"));
        let both = combine(&[&a, &format!("{b}\n{a}"), "nonsense"], NOW);
        assert_eq!(both, format!("{a}{b}"));
        assert_eq!(combine(&[&both], NOW), both);
        let century = 100 * 366 * 24 * 3600;
        assert_eq!(combine(&[&a], NOW + century), "");
        assert_eq!(check_chain(both.as_bytes()), Ok(()));
        let none = "must contain at least one CERTIFICATE PEM block";
        assert_eq!(check_chain(b"nonsense"), Err(none.to_owned()));
        let other = both.replace("CERTIFICATE", "KEY");
        let found = "only CERTIFICATE PEM blocks are allowed, found \"KEY\"";
        assert_eq!(check_chain(other.as_bytes()), Err(found.to_owned()));
        assert!(overlap(both.as_bytes(), b.as_bytes()));
        assert!(!overlap(a.as_bytes(), b.as_bytes()));
    }
}
