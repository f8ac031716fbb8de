//! `pilothouse serve`: runs until it is told to stop, then leaves everything safe.

use std::path::Path;

use anyhow::Context;
use clap::Args;
use store::{Store, embedded};
use tokio::signal::unix::{SignalKind, signal};

use crate::control;
use crate::data::{self, Directory, Etcd, Limits};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    directory: Directory,
    #[command(flatten)]
    limits: Limits,
    /// Keep everything in memory; nothing is left when the server stops
    #[arg(long, conflicts_with = "etcd-servers")]
    ephemeral: bool,
    #[command(flatten)]
    etcd: Etcd,
}

pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    // Before the store opens: a signal during a long start must not be missed.
    let mut terminate = signal(SignalKind::terminate()).context("listen for SIGTERM")?;
    let stop = async move {
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted.context("listen for Ctrl-C"),
            _ = terminate.recv() => Ok(()),
        }
    };
    tokio::pin!(stop);
    let opened = tokio::select! {
        opened = open(&arguments) => Some(opened?),
        stopped = &mut stop => { stopped?; None }
    };
    let Some((store, place)) = opened else {
        println!("stopped before the store was open");
        return Ok(());
    };
    let (view, _) = store.stats();
    let version = env!("CARGO_PKG_VERSION");
    println!(
        "pilothouse {version}: {place}, {} keys, revision {}",
        view.keys, view.revision
    );
    let socket = (place.is_directory()).then(|| arguments.directory.socket());
    if let Some(socket) = &socket {
        offer(socket, &arguments.directory, &store);
    }
    println!("stop it with Ctrl-C");
    stop.await?;
    store.close().await.context("close the store")?;
    if let Some(socket) = &socket {
        // A leftover would only be in the way; the next start removes it too.
        let _ = std::fs::remove_file(socket);
    }
    println!("stopped, all data is safe");
    Ok(())
}

async fn open(arguments: &Arguments) -> anyhow::Result<(Store, Place)> {
    let options = arguments.limits.options();
    if arguments.ephemeral {
        return Ok((embedded::in_memory(&options), Place::Memory));
    }
    if let Some(config) = arguments.etcd.config() {
        let place = Place::Etcd(config.endpoints.join(","));
        return Ok((store_etcd::open(config, &options).await?, place));
    }
    let place = Place::Directory(arguments.directory.data_dir.display().to_string());
    Ok((data::open(&arguments.directory, options).await?, place))
}

/// Where the data is, as the user is told.
enum Place {
    Memory,
    Directory(String),
    Etcd(String),
}

impl Place {
    fn is_directory(&self) -> bool {
        matches!(self, Self::Directory(_))
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Memory => write!(f, "storage in memory"),
            Self::Directory(path) => write!(f, "storage at {path}"),
            Self::Etcd(endpoints) => write!(f, "storage in etcd at {endpoints}"),
        }
    }
}

/// Opens the control socket and says what can be asked through it.
fn offer(socket: &Path, directory: &Directory, store: &Store) {
    let flag = if directory.data_dir == Path::new("./pilothouse-data") {
        String::new()
    } else {
        format!(" --data-dir {}", directory.data_dir.display())
    };
    match control::listen(socket, store.clone()) {
        Ok(()) => {
            println!("back it up while it runs:  pilothouse storage backup{flag} FILE");
            println!("see what it holds:         pilothouse storage stats{flag}");
        }
        Err(error) => {
            eprintln!("warning: no backup while it runs, the control socket failed: {error}");
        }
    }
}
