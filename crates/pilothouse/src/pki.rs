//! Certificates and keys: made on the first start, kept in files that only their owner reads.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use anyhow::Context;
use auth::pki::{CertifiedKey, Files, ServingNames, ensure};

/// Reads what is there, makes what is missing or about to expire, and writes that back.
pub fn in_directory(directory: &Path, names: &ServingNames, now: i64) -> anyhow::Result<Files> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder
        .create(directory)
        .with_context(|| format!("make {}", directory.display()))?;
    // Servers that share the directory may start together: one makes what all of them use.
    let _locked = lock(directory)?;
    let mut files = Files {
        authority: pair(directory, "ca")?,
        serving: pair(directory, "apiserver")?,
        admin: pair(directory, "admin")?,
        service_account_key: read(&directory.join("sa.key"))?,
    };
    let changed = ensure(&mut files, names, now)
        .with_context(|| format!("certificates in {}", directory.display()))?;
    for (name, found) in [
        ("ca", &files.authority),
        ("apiserver", &files.serving),
        ("admin", &files.admin),
    ] {
        let word = match name {
            "ca" => "authority",
            "apiserver" => "serving",
            other => other,
        };
        if let Some(found) = found
            && changed.contains(&word)
        {
            secret(&directory.join(format!("{name}.key")), &found.key)?;
            secret(&directory.join(format!("{name}.crt")), &found.certificate)?;
        }
    }
    if let Some(key) = &files.service_account_key
        && changed.contains(&"service account key")
    {
        secret(&directory.join("sa.key"), key)?;
    }
    Ok(files)
}

/// Ours until it is dropped. Where nothing can be written, nothing can be made either, and there is nothing to lock.
fn lock(directory: &Path) -> anyhow::Result<Option<fs::File>> {
    let path = directory.join("LOCK");
    let mut options = fs::OpenOptions::new();
    let Ok(file) = options.write(true).create(true).mode(0o600).open(&path) else {
        return Ok(None);
    };
    let locked = file.lock();
    locked.with_context(|| format!("lock {}", path.display()))?;
    Ok(Some(file))
}

/// The same in memory, for servers that leave nothing behind.
pub fn in_memory(names: &ServingNames, now: i64) -> anyhow::Result<Files> {
    let mut files = Files::default();
    ensure(&mut files, names, now).context("make certificates")?;
    Ok(files)
}

fn pair(directory: &Path, name: &str) -> anyhow::Result<Option<CertifiedKey>> {
    let certificate = read(&directory.join(format!("{name}.crt")))?;
    let key = read(&directory.join(format!("{name}.key")))?;
    Ok(certificate
        .zip(key)
        .map(|(certificate, key)| CertifiedKey { certificate, key }))
}

fn read(path: &Path) -> anyhow::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("read {}", path.display())),
    }
}

/// Written whole or not at all, readable by its owner alone.
pub fn secret(path: &Path, text: &str) -> anyhow::Result<()> {
    let write = || {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        let _ = fs::remove_file(&beside);
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    write().with_context(|| format!("write {}", path.display()))
}
