//! `pilothouse serve`: runs until it is told to stop, then leaves everything safe.

use anyhow::Context;
use clap::Args;
use store::embedded;
use tokio::signal::unix::{SignalKind, signal};

use crate::control;
use crate::data::{self, Directory, Limits};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    directory: Directory,
    #[command(flatten)]
    limits: Limits,
    /// Keep everything in memory; nothing is left when the server stops
    #[arg(long)]
    ephemeral: bool,
}

pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let options = arguments.limits.options();
    let directory = &arguments.directory;
    // Before the store opens: a signal during a long start must not be missed.
    let mut terminate = signal(SignalKind::terminate()).context("listen for SIGTERM")?;
    let store = if arguments.ephemeral {
        embedded::in_memory(&options)
    } else {
        data::open(directory, options).await?
    };
    let (view, _) = store.stats();
    if arguments.ephemeral {
        println!(
            "pilothouse {}: storage in memory",
            env!("CARGO_PKG_VERSION")
        );
    } else {
        println!(
            "pilothouse {}: storage at {}, {} keys, revision {}",
            env!("CARGO_PKG_VERSION"),
            directory.data_dir.display(),
            view.keys,
            view.revision,
        );
        let flag = if directory.data_dir == std::path::Path::new("./pilothouse-data") {
            String::new()
        } else {
            format!(" --data-dir {}", directory.data_dir.display())
        };
        match control::listen(&directory.socket(), store.clone()) {
            Ok(()) => {
                println!("back it up while it runs:  pilothouse storage backup{flag} FILE");
                println!("see what it holds:         pilothouse storage stats{flag}");
            }
            Err(error) => {
                eprintln!("warning: no backup while it runs, the control socket failed: {error}");
            }
        }
    }
    println!("stop it with Ctrl-C");
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted.context("listen for Ctrl-C")?,
        _ = terminate.recv() => {}
    }
    store.close().await.context("close the store")?;
    if !arguments.ephemeral {
        // A leftover would only be in the way; the next start removes it too.
        let _ = std::fs::remove_file(directory.socket());
    }
    println!("stopped, all data is safe");
    Ok(())
}
