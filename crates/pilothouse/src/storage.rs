//! `pilothouse storage`: what the owner of a data directory needs.

mod backup;
mod check;
mod exercise;

use std::io::Read;
use std::path::PathBuf;

use clap::Subcommand;
use store::Options;

use crate::control;
use crate::data::{self, Directory};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Verify every file of a stopped server; exit code 1 if anything is damaged
    Check(#[command(flatten)] Directory),
    /// Write everything at one revision to a file, also while the server runs
    Backup {
        #[command(flatten)]
        directory: Directory,
        /// The backup to make; appears only when complete and verified
        file: PathBuf,
    },
    /// Fill an empty data directory from a backup
    Restore {
        #[command(flatten)]
        directory: Directory,
        /// A file made by `storage backup`
        file: PathBuf,
        /// Leave out this many revisions, so that clients never see one again with another meaning
        #[arg(long, value_name = "N", default_value_t = 0)]
        skip_revisions: u64,
    },
    /// Show what the store holds
    Stats(#[command(flatten)] Directory),
    /// Crash drill: write under load and print every acknowledgement, to be killed and verified
    Exercise(#[command(flatten)] exercise::Arguments),
}

pub(crate) async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Check(directory) => check::run(&directory),
        Command::Backup { directory, file } => backup::backup(&directory, &file).await,
        Command::Restore {
            directory,
            file,
            skip_revisions,
        } => backup::restore(&directory, &file, skip_revisions),
        Command::Stats(directory) => stats(&directory).await,
        Command::Exercise(arguments) => exercise::run(arguments).await,
    }
}

async fn stats(directory: &Directory) -> anyhow::Result<()> {
    if let Some(mut answer) = control::ask(&directory.socket(), "stats")? {
        let mut text = String::new();
        answer.read_to_string(&mut text)?;
        print!("{text}");
        return Ok(());
    }
    exists(directory)?;
    let store = data::open(directory, Options::default()).await?;
    print!("{}", control::describe(&store));
    Ok(store.close().await?)
}

/// Reading commands do not make a data directory by a typo.
fn exists(directory: &Directory) -> anyhow::Result<()> {
    anyhow::ensure!(
        directory.store().is_dir(),
        "there is no store in {}: give its place with --data-dir",
        directory.data_dir.display()
    );
    Ok(())
}
