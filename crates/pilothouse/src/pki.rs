//! Certificates and keys: made on the first start, kept in files that only their owner reads.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::Context;
use auth::pki::{CertifiedKey, Files, ServingNames, ensure};
use auth::serviceaccount::SigningKey;
use telemetry::logs::{self, Field, SERVER};

/// Reads what is there, makes what is missing or about to expire, and writes that back.
///
/// A disk that is full does not keep a server from starting again: what it can do without is used unsaved.
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
        front_proxy_authority: pair(directory, "front-proxy-ca")?,
        service_account_key: read(&directory.join("sa.key"))?,
    };
    let changed = ensure(&mut files, names, now)
        .with_context(|| format!("certificates in {}", directory.display()))?;
    // What clients and tokens depend on for years, and what can be made again at the next start.
    let (mut lasting, mut replaceable) = (Vec::new(), Vec::new());
    for (name, word, found) in [
        ("ca", "authority", &files.authority),
        ("apiserver", "serving", &files.serving),
        ("admin", "admin", &files.admin),
        (
            "front-proxy-ca",
            "front proxy authority",
            &files.front_proxy_authority,
        ),
    ] {
        if let Some(found) = found
            && changed.contains(&word)
        {
            let list = if name == "ca" {
                &mut lasting
            } else {
                &mut replaceable
            };
            list.push((directory.join(format!("{name}.key")), &*found.key));
            list.push((directory.join(format!("{name}.crt")), &*found.certificate));
        }
    }
    let public = files.service_account_key.as_deref().and_then(public_half);
    if let Some(key) = &files.service_account_key {
        let path = directory.join("sa.key");
        if changed.contains(&"service account key") {
            lasting.push((path, key));
        } else if changed.contains(&"form of the service account key") {
            replaceable.push((path, key));
        }
    }
    let path = directory.join("sa.pub");
    if let Some(public) = &public
        && fs::read_to_string(&path).ok().as_ref() != Some(public)
    {
        replaceable.push((path, public));
    }
    secrets(&lasting)?;
    if let Err(error) = secrets(&replaceable) {
        let why = format!("{error:#}");
        let text = "Certificates were renewed and could not be saved: they are used until the server stops";
        logs::warning(&SERVER, text, &[("err", Field::Text(&why))]);
    }
    Ok(files)
}

/// PEM of the public half; a key that cannot be read is reported where it is used.
fn public_half(key: &str) -> Option<String> {
    let key = SigningKey::from_pem(key.as_bytes()).ok()?;
    Some(key.public().to_pem())
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
    let written = begin(path, text).and_then(Begun::finish);
    written.with_context(|| format!("write {}", path.display()))
}

/// The same, unless the file says so already. A disk that is full does not matter then.
pub fn keep_secret(path: &Path, text: &str) -> anyhow::Result<()> {
    let is_same = fs::read_to_string(path).is_ok_and(|it| it == text);
    if !is_same {
        return secret(path, text);
    }
    let only_owner = fs::Permissions::from_mode(0o600);
    let kept = fs::set_permissions(path, only_owner);
    kept.with_context(|| format!("change the mode of {}", path.display()))
}

/// The same as [`secret`] for several, in this order. All are brought to disk together: a file system takes hardly longer for it
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
    for it in begun {
        let path = it.path;
        it.finish().with_context(|| attempt(path))?;
    }
    Ok(())
}

/// A file under a name beside its own, which is gone if the file is not finished.
struct Begun<'a> {
    path: &'a Path,
    beside: PathBuf,
    file: fs::File,
    finished: bool,
}

fn begin<'a>(path: &'a Path, text: &str) -> std::io::Result<Begun<'a>> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let _ = fs::remove_file(&beside);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut begun = Begun {
        path,
        file: options.open(&beside)?,
        beside,
        finished: false,
    };
    begun.file.write_all(text.as_bytes())?;
    Ok(begun)
}

impl Begun<'_> {
    fn finish(mut self) -> std::io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.beside, self.path)?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if !self.finished {
            // The caller reports the error; half a file is of no use.
            let _ = fs::remove_file(&self.beside);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn what_did_not_change_is_not_written() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("secret");
        let inode = || fs::metadata(&path).unwrap().ino();
        keep_secret(&path, "one").unwrap();
        let first = inode();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        keep_secret(&path, "one").unwrap();
        assert_eq!(inode(), first);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        keep_secret(&path, "two").unwrap();
        assert_ne!(inode(), first);
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    }

    #[test]
    fn what_cannot_be_finished_leaves_nothing_behind() {
        let place = tempfile::tempdir().unwrap();
        // A directory cannot be replaced by a file.
        let path = place.path().join("taken");
        fs::create_dir(&path).unwrap();
        secret(&path, "text").unwrap_err();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_key_of_tokens_has_its_public_half_beside_it() {
        let place = tempfile::tempdir().unwrap();
        let names = ServingNames::new("cluster.local", &[]);
        let made = in_directory(place.path(), &names, 1_800_000_000).unwrap();
        let public = fs::read_to_string(place.path().join("sa.pub")).unwrap();
        assert!(public.starts_with("-----BEGIN PUBLIC KEY-----\n"));
        // As in a directory of an earlier version.
        fs::remove_file(place.path().join("sa.pub")).unwrap();
        let again = in_directory(place.path(), &names, 1_800_000_000).unwrap();
        assert_eq!(again.service_account_key, made.service_account_key);
        assert_eq!(
            fs::read_to_string(place.path().join("sa.pub")).unwrap(),
            public
        );
        let names: Vec<_> = fs::read_dir(place.path()).unwrap().collect();
        assert_eq!(names.len(), 11, "{names:?}");
    }
}
