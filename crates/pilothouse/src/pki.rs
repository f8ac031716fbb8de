//! Certificates and keys: made on the first start, kept in files that only their owner reads.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

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
    let mut written = Vec::new();
    for (name, word, found) in [
        ("ca", "authority", &files.authority),
        ("apiserver", "serving", &files.serving),
        ("admin", "admin", &files.admin),
    ] {
        if let Some(found) = found
            && changed.contains(&word)
        {
            written.push((directory.join(format!("{name}.key")), &*found.key));
            written.push((directory.join(format!("{name}.crt")), &*found.certificate));
        }
    }
    if let Some(key) = &files.service_account_key
        && changed.contains(&"service account key")
    {
        written.push((directory.join("sa.key"), key));
    }
    secrets(&written)?;
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
    let written = begin(path, text).and_then(|written| written.finish());
    written.with_context(|| format!("write {}", path.display()))
}

/// The same for several, in this order. All are brought to disk together: a file system takes hardly longer for it
/// than for one.
fn secrets(files: &[(PathBuf, &str)]) -> anyhow::Result<()> {
    let attempt = |path: &Path| format!("write {}", path.display());
    let mut begun = Vec::new();
    for (path, text) in files {
        begun.push(begin(path, text).with_context(|| attempt(path))?);
    }
    std::thread::scope(|scope| {
        let syncs = begun.iter().map(|it| scope.spawn(|| it.file.sync_all()));
        let syncs: Vec<_> = syncs.collect();
        for (it, sync) in begun.iter().zip(syncs) {
            // A thread that panicked synced nothing; `finish` does it then.
            sync.join()
                .unwrap_or(Ok(()))
                .with_context(|| attempt(it.path))?;
        }
        Ok::<_, anyhow::Error>(())
    })?;
    for it in &begun {
        it.finish().with_context(|| attempt(it.path))?;
    }
    Ok(())
}

/// A file under a name beside its own.
struct Begun<'a> {
    path: &'a Path,
    beside: PathBuf,
    file: fs::File,
}

fn begin<'a>(path: &'a Path, text: &str) -> std::io::Result<Begun<'a>> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let _ = fs::remove_file(&beside);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = options.open(&beside)?;
    file.write_all(text.as_bytes())?;
    Ok(Begun { path, beside, file })
}

impl Begun<'_> {
    fn finish(&self) -> std::io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.beside, self.path)
    }
}
