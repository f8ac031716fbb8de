//! Which store: the flags shared by all commands that open one.

use std::path::PathBuf;

use clap::Args;
use store::{Options, Store, embedded};

#[derive(Debug, Args)]
pub(crate) struct Directory {
    /// Where data lives; made on first start
    #[arg(long, value_name = "DIR", default_value = "./pilothouse-data")]
    pub(crate) data_dir: PathBuf,
}

impl Directory {
    /// The store's own part of the data directory.
    pub(crate) fn store(&self) -> PathBuf {
        self.data_dir.join("store")
    }

    /// Where a running server listens for its owner.
    pub(crate) fn socket(&self) -> PathBuf {
        self.data_dir.join("control.sock")
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

/// Opens the embedded store, reading everything into memory.
pub(crate) async fn open(directory: &Directory, options: Options) -> Result<Store, store::Error> {
    let path = directory.store();
    tokio::task::spawn_blocking(move || embedded::open(&path, &options))
        .await
        .map_err(|_| store::Error::Closed)?
}
