//! What kube-apiserver needs to be given and pilothouse makes for itself: an authority, a serving certificate, an
//! administrator's certificate and the key that signs service account tokens.

use std::path::Path;

use anyhow::Result;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};

/// Writes `ca.crt`, `apiserver.{crt,key}`, `admin.{crt,key}` and `sa.{key,pub}`, all ECDSA.
pub(crate) fn make(dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir)?;
    let mut authority = named("bench");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate()?;
    std::fs::write(dir.join("ca.crt"), authority.self_signed(&key)?.pem())?;
    let issuer = Issuer::new(authority, key);

    let mut serving = CertificateParams::new(["127.0.0.1".to_owned(), "localhost".to_owned()])?;
    serving.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    issue(dir, "apiserver", &serving, &issuer)?;

    let mut admin = named("admin");
    admin
        .distinguished_name
        .push(DnType::OrganizationName, "system:masters");
    admin.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    issue(dir, "admin", &admin, &issuer)?;

    let tokens = KeyPair::generate()?;
    std::fs::write(dir.join("sa.key"), tokens.serialize_pem())?;
    std::fs::write(dir.join("sa.pub"), tokens.public_key_pem())?;
    Ok(())
}

fn named(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

fn issue(
    dir: &Path,
    name: &str,
    params: &CertificateParams,
    issuer: &Issuer<'_, KeyPair>,
) -> Result<()> {
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, issuer)?;
    std::fs::write(dir.join(format!("{name}.crt")), certificate.pem())?;
    std::fs::write(dir.join(format!("{name}.key")), key.serialize_pem())?;
    Ok(())
}
