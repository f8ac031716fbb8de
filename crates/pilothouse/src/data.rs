//! Which store: the flags shared by all commands that open one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use store::{Options, Store, embedded};

const DEFAULT: &str = "./pilothouse-data";

#[derive(Debug, Args)]
pub(crate) struct Directory {
    /// Where data, certificates and the admin's kubeconfig live; made on first start
    #[arg(long, value_name = "DIR", default_value = DEFAULT)]
    pub(crate) data_dir: PathBuf,
}

impl Directory {
    /// The flag as a user must repeat it; empty if it is not needed.
    pub(crate) fn flag(&self) -> String {
        if self.data_dir == Path::new(DEFAULT) {
            return String::new();
        }
        format!(" --data-dir {}", quoted(&self.data_dir))
    }

    /// Where the admin's kubeconfig is kept.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.data_dir.join("admin.kubeconfig")
    }

    /// Where certificates and keys are kept.
    pub(crate) fn pki(&self) -> PathBuf {
        self.data_dir.join("pki")
    }

    /// The store's own part of the data directory.
    pub(crate) fn store(&self) -> PathBuf {
        self.data_dir.join("store")
    }

    /// Where a running server listens for its owner.
    pub(crate) fn socket(&self) -> PathBuf {
        self.data_dir.join("control.sock")
    }
}

/// The flags kube-apiserver users know.
#[derive(Debug, Args)]
#[command(next_help_heading = "Storage in etcd")]
pub(crate) struct Etcd {
    /// Keep the data in etcd: its members
    #[arg(
        long = "etcd-servers",
        id = "etcd-servers",
        value_name = "URLS",
        value_delimiter = ','
    )]
    servers: Vec<String>,

    /// What all keys in etcd begin with
    #[arg(
        long = "etcd-prefix",
        id = "etcd-prefix",
        value_name = "PREFIX",
        default_value = "/registry",
        requires = "etcd-servers"
    )]
    prefix: String,

    /// Authority that signs etcd's certificates
    #[arg(
        long = "etcd-cafile",
        id = "etcd-cafile",
        value_name = "FILE",
        requires = "etcd-servers"
    )]
    cafile: Option<PathBuf>,

    /// Client certificate to show to etcd
    #[arg(
        long = "etcd-certfile",
        id = "etcd-certfile",
        value_name = "FILE",
        requires = "etcd-keyfile"
    )]
    certfile: Option<PathBuf>,

    /// Key of that certificate
    #[arg(
        long = "etcd-keyfile",
        id = "etcd-keyfile",
        value_name = "FILE",
        requires = "etcd-certfile"
    )]
    keyfile: Option<PathBuf>,

    /// How often etcd's past is forgotten, as all servers on one etcd agree; 0 for never
    #[arg(
        long = "etcd-compaction-interval",
        value_name = "DURATION",
        default_value = "5m0s",
        value_parser = crate::flags::value::duration,
        requires = "etcd-servers"
    )]
    compaction_interval: Duration,
}

impl Etcd {
    /// What to connect to, if etcd is asked for.
    pub(crate) fn config(&self) -> Option<store_etcd::Config> {
        if self.servers.is_empty() {
            return None;
        }
        let secure = self.cafile.is_some()
            || self.certfile.is_some()
            || self
                .servers
                .iter()
                .any(|server| server.starts_with("https://"));
        let tls = secure.then(|| store_etcd::Tls {
            ca: self.cafile.clone(),
            cert: self.certfile.clone(),
            key: self.keyfile.clone(),
        });
        Some(store_etcd::Config {
            endpoints: self.servers.clone(),
            prefix: self.prefix.clone(),
            tls,
            compaction_interval: (!self.compaction_interval.is_zero())
                .then_some(self.compaction_interval),
            ..store_etcd::Config::default()
        })
    }
}

#[derive(Debug, Args)]
pub(crate) struct Limits {
    /// Largest request the store takes, keys and values together
    #[arg(long, value_name = "BYTES", default_value_t = Options::default().max_request_bytes)]
    max_request_bytes: usize,

    /// How much of the past is kept for watches and consistent lists
    #[arg(long, value_name = "BYTES", default_value_t = Options::default().history_bytes)]
    history_bytes: usize,
}

impl Limits {
    pub(crate) fn options(&self) -> Options {
        Options {
            max_request_bytes: self.max_request_bytes,
            history_bytes: self.history_bytes,
            ..Options::default()
        }
    }
}

/// A path as a shell takes it.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |it: char| it.is_alphanumeric() || "/._-+=:,@%~".contains(it);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Opens the embedded store, reading everything into memory.
pub(crate) async fn open(directory: &Directory, options: Options) -> Result<Store, store::Error> {
    let path = directory.store();
    tokio::task::spawn_blocking(move || embedded::open(&path, &options))
        .await
        .map_err(|_| store::Error::Closed)?
}
