//! Engines under the embedded store, compared through the store's own `Engine`: the measurement behind the choice of a
//! log of our own. See bench/README.md for what is measured.

#![allow(
    clippy::cast_precision_loss,
    reason = "figures for people have fewer digits than an f64"
)]

mod candidate;
mod damage;
mod drive;
mod files;
mod full;
mod speed;
mod state;
mod table;
mod with_fjall;
mod with_log;
mod with_redb;
mod with_sqlite;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;

use self::candidate::Kind;

#[derive(Debug, Parser)]
#[command(
    name = "bench-engines",
    about = "Measures engines under the embedded store: our log, fjall, redb, SQLite."
)]
struct Args {
    /// Engines to measure; all if not given
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Kind>,
    /// Keys of 2 kB each
    #[arg(long, default_value_t = 1_000_000)]
    keys: u64,
    /// Time of the engine in one measurement
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Where a directory for the data is made and removed; its disk is what is measured
    #[arg(long, default_value = ".")]
    dir: PathBuf,
    /// Only what they do on a full disk and with a flipped bit
    #[arg(long)]
    faults_only: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let time = Duration::try_from_secs_f64(args.seconds).context("--seconds")?;
    let dir = tempfile::Builder::new()
        .prefix("bench-engines-")
        .tempdir_in(&args.dir)
        .with_context(|| format!("make a directory in {}", args.dir.display()))?;
    let kinds = Kind::ALL
        .into_iter()
        .filter(|kind| args.only.is_empty() || args.only.contains(kind));
    let mut results = Vec::new();
    for kind in kinds {
        let place = |what: &str| dir.path().join(format!("{kind:?}-{what}"));
        let say = |what: &str| {
            if std::io::stderr().is_terminal() {
                eprintln!("{}: {what}", kind.name());
            }
        };
        let mut speed = None;
        if !args.faults_only {
            say("speed");
            speed = Some(speed::measure(kind, &place("speed"), args.keys, time)?);
            std::fs::remove_dir_all(place("speed"))?;
        }
        say("full disk");
        let full = full::measure(kind, &place("full"));
        say("flipped bit");
        let damage = damage::measure(kind, &place("damage"));
        results.push(table::Results {
            kind,
            speed,
            full,
            damage,
        });
    }
    dir.close().context("remove the data")?;
    print!("{}", table::render(&results, args.keys));
    Ok(())
}
