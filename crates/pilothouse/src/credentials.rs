//! `pilothouse kubeconfig`: lets kubectl in.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};
use auth::pki::{CertificateAuthority, CertifiedKey};
use clap::Args;
use pilothouse::kubeconfig::{ADMIN, Kubeconfig, Trust, merge};
use pilothouse::{pki, server};

use crate::data::Directory;
use crate::flags::value;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    directory: Directory,
    /// Write to this file, readable by you alone, instead of stdout
    #[arg(long, short, value_name = "FILE", conflicts_with = "merge")]
    output: Option<PathBuf>,
    /// Put it into $KUBECONFIG or ~/.kube/config and make it the current context
    #[arg(long)]
    merge: bool,
    /// What cluster and context are called
    #[arg(long, value_name = "NAME", default_value = "pilothouse")]
    name: String,
    /// URL of the server, if it is not the one that the server wrote down
    #[arg(long, value_name = "URL", value_parser = https)]
    server: Option<String>,
    /// Sign a certificate for this user, instead of the admin's
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    user: Option<String>,
    /// Group of that user; may be repeated
    #[arg(long, value_name = "GROUP", requires = "user")]
    group: Vec<String>,
    /// How long that certificate is good
    #[arg(long, value_name = "TIME", default_value = "8760h", value_parser = value::time, requires = "user")]
    expires: Duration,
}

const EXAMPLES: &str = "\
Examples:
  pilothouse kubeconfig --merge && kubectl get namespaces
  pilothouse kubeconfig --output admin.kubeconfig --server https://kube.example.org:6443
  pilothouse kubeconfig --user jane --group developers --expires 24h --output jane.kubeconfig";

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let directory = &arguments.directory;
    let place = directory.data_dir.display();
    let start = format!("`pilothouse serve{}`", directory.flag());
    ensure!(
        directory.data_dir.is_dir(),
        "there is no data directory {place}: {start} makes one, --data-dir names another"
    );
    let path = directory.kubeconfig();
    let written = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("no server has run in {place} yet: start it with {start}")
        }
        Err(error) => return Err(error).with_context(|| format!("read {}", path.display())),
    };
    let mut trust = Trust::read(&written)
        .with_context(|| format!("{} is damaged: {start} makes it anew", path.display()))?;
    if let Some(url) = &arguments.server {
        // What the certificate is asked for then is the URL's own host.
        trust.server_name = None;
        trust.server.clone_from(url);
    }
    let client = match &arguments.user {
        Some(user) => sign(arguments, user)?,
        None => pair(directory, "admin")?,
    };
    let config = Kubeconfig {
        name: &arguments.name,
        user: arguments.user.as_deref().unwrap_or(ADMIN),
        trust: &trust,
        client: &client,
    };
    if arguments.merge {
        let file = user_config(
            std::env::var_os("KUBECONFIG").as_deref(),
            std::env::home_dir(),
        )?;
        into(&file, &config)?;
        let (context, file) = (config.context(), file.display());
        return crate::print(&format!("{context:?} is now the context in {file}\n"));
    }
    if let Some(file) = &arguments.output {
        return pki::secret(file, &config.to_string());
    }
    warn_of_readers();
    crate::print(&config.to_string())
}

/// A private key is about to go to stdout: says so if that is a file which others can read, as `> FILE` makes it.
pub(crate) fn warn_of_readers() {
    let stdout = std::io::stdout().as_fd().try_clone_to_owned();
    let Ok(found) = stdout.and_then(|it| fs::File::from(it).metadata()) else {
        return;
    };
    let mode = found.permissions().mode() & 0o777;
    if found.is_file() && mode & 0o077 != 0 {
        let _ = writeln!(
            std::io::stderr(),
            "warning: a private key goes to a file that others can read (mode {mode:04o}): `chmod 600` it"
        );
    }
}

fn pair(directory: &Directory, name: &str) -> anyhow::Result<CertifiedKey> {
    let read = |extension: &str| {
        let path = directory.pki().join(format!("{name}.{extension}"));
        fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))
    };
    Ok(CertifiedKey {
        certificate: read("crt")?,
        key: read("key")?,
    })
}

fn sign(arguments: &Arguments, user: &str) -> anyhow::Result<CertifiedKey> {
    let authority = pair(&arguments.directory, "ca")?;
    let authority = CertificateAuthority::from_pem(&authority)
        .with_context(|| format!("{}", arguments.directory.pki().display()))?;
    let groups: Vec<&str> = arguments.group.iter().map(String::as_str).collect();
    let now = server::now();
    let life = i64::try_from(arguments.expires.as_secs().max(1)).unwrap_or(i64::MAX);
    let end = now.saturating_add(life);
    Ok(authority.client_until(user, &groups, now, end)?)
}

/// The file that kubectl would change: of those in the variable the first that is there, else the last.
fn user_config(
    variable: Option<&std::ffi::OsStr>,
    home: Option<PathBuf>,
) -> anyhow::Result<PathBuf> {
    let listed = variable.iter().flat_map(std::env::split_paths);
    let listed: Vec<PathBuf> = listed.filter(|it| !it.as_os_str().is_empty()).collect();
    let there = listed.iter().find(|it| it.exists());
    if let Some(file) = there.or(listed.last()) {
        return Ok(file.clone());
    }
    let home = home.filter(|it| !it.as_os_str().is_empty());
    let home = home.ok_or_else(|| anyhow!("there is no home directory: set KUBECONFIG"))?;
    Ok(home.join(".kube").join("config"))
}

/// Locks as kubectl does, by a file beside it.
fn into(file: &Path, config: &Kubeconfig<'_>) -> anyhow::Result<()> {
    if let Some(parent) = file.parent().filter(|it| !it.as_os_str().is_empty()) {
        let mut builder = fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o750).create(parent);
        made.with_context(|| format!("make {}", parent.display()))?;
    }
    let mut lock = file.as_os_str().to_owned();
    lock.push(".lock");
    let lock = PathBuf::from(lock);
    let taken = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&lock);
    taken.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => anyhow!(
            "another program is changing {}; if none is, remove {}",
            file.display(),
            lock.display()
        ),
        _ => anyhow!("make {}: {error}", lock.display()),
    })?;
    let outcome = replace(file, config);
    // Ours: it was made above.
    let _ = fs::remove_file(&lock);
    outcome
}

fn replace(file: &Path, config: &Kubeconfig<'_>) -> anyhow::Result<()> {
    // A link stays one: what it leads to is replaced.
    let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let old = match fs::read_to_string(&target) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("read {}", file.display())),
    };
    let new = merge(&old, &config.to_value())
        .with_context(|| format!("{} is left as it is", file.display()))?;
    pki::secret(&target, &new)
}

fn https(text: &str) -> Result<String, String> {
    if text.strip_prefix("https://").is_none_or(str::is_empty) {
        return Err("it must be an https URL".to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn the_file_that_kubectl_would_change() {
        let place = tempfile::tempdir().unwrap();
        let there = place.path().join("there");
        fs::write(&there, "").unwrap();
        let home = || Some(PathBuf::from("/home/jane"));
        let of = |variable: Option<String>| {
            user_config(variable.as_deref().map(OsStr::new), home()).unwrap()
        };
        assert_eq!(of(None), Path::new("/home/jane/.kube/config"));
        assert_eq!(
            of(Some(String::new())),
            Path::new("/home/jane/.kube/config")
        );
        assert_eq!(of(Some("/no/a:/no/b".into())), Path::new("/no/b"));
        assert_eq!(of(Some(format!("/no/a:{}:/no/b", there.display()))), there);
        assert!(user_config(None, None).is_err());
    }
}
