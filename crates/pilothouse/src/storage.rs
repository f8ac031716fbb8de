//! `pilothouse storage`: what the owner of a data directory needs.

mod backup;
mod check;
mod exercise;

use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use anyhow::{Context, bail};
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

/// Reading commands do not make a data directory by a typo, and say what is wrong with the one that they are given.
fn exists(directory: &Directory) -> anyhow::Result<()> {
    let (place, store) = (directory.data_dir.display(), directory.store());
    match std::fs::metadata(&store) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => bail!("{} is not a directory", store.display()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if !directory.data_dir.exists() {
                bail!(
                    "there is no store in {place}, which does not exist: give its place with --data-dir"
                );
            }
            if directory.pki().exists() {
                bail!(
                    "there is no store in {place}, only certificates: its server keeps the data in etcd (--etcd-servers). \
                     Ask etcd itself: `etcdctl endpoint status`, `etcdctl snapshot save FILE`"
                );
            }
            bail!("there is no store in {place}: give its place with --data-dir")
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Err(error).with_context(|| {
                format!(
                    "{} is for its owner only, run this as the user that the server runs as",
                    store.display()
                )
            })
        }
        Err(error) => Err(error).with_context(|| format!("look at {}", store.display())),
    }
}
