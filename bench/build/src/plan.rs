//! What is to be measured, from the command line.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::{Parser, ValueEnum};

#[derive(Debug, Parser)]
#[command(
    name = "bench-build",
    about = "Measures pilothouse build against kustomize; exits with 1 if a bar is missed.",
    after_help = "Without a peer only our figures are printed, and only those bars are judged that need none."
)]
pub(crate) struct Args {
    /// What to measure against: a kubectl (its `kustomize`) or a kustomize
    #[arg(long, value_name = "PROGRAM")]
    peer: Option<PathBuf>,
    /// Ours [default: the release binary of this tree]
    #[arg(long, value_name = "PATH")]
    pilothouse: Option<PathBuf>,
    /// Rows to measure; all if not given
    #[arg(long, value_enum, value_delimiter = ',', value_name = "ROWS")]
    only: Vec<Row>,
    /// A real kustomization to measure as well; can be given more than once
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,
    /// Rounds to take the median of
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Where a directory for the input is made and removed
    #[arg(long, default_value = ".")]
    dir: PathBuf,
    /// One round without the peer's slow rows: shows that the bench works, judges nothing
    #[arg(long)]
    quick: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `--only` chooses from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Row {
    /// Three resources: what a program costs that does next to nothing
    Hello,
    /// 1,000 resources with an overlay
    Thousand,
    /// 5,000 and 50,000 against 1,000, ours alone
    Growth,
    /// 12 MB of definitions
    Large,
}

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) ours: PathBuf,
    pub(crate) peer: Option<PathBuf>,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) rounds: usize,
    pub(crate) dir: PathBuf,
    pub(crate) quick: bool,
    only: Vec<Row>,
}

impl Plan {
    pub(crate) fn new(args: Args) -> Result<Self> {
        let plan = Self {
            ours: args.pilothouse.unwrap_or_else(ours),
            peer: args.peer,
            roots: args.root,
            rounds: if args.quick { 1 } else { args.rounds.max(1) },
            dir: args.dir,
            quick: args.quick,
            only: args.only,
        };
        ensure!(
            plan.ours.exists(),
            "{} is not there: build it (cargo build --profile dist) or name another with --pilothouse",
            plan.ours.display()
        );
        Ok(plan)
    }

    pub(crate) fn wants(&self, row: Row) -> bool {
        self.only.is_empty() || self.only.contains(&row)
    }

    /// Ours first: the program and the words before the directory.
    pub(crate) fn sides(&self) -> Vec<(&Path, &'static str)> {
        let peer = self.peer.as_deref().map(|it| {
            let is_kubectl = it.file_stem().is_some_and(|name| name == "kubectl");
            (it, if is_kubectl { "kustomize" } else { "build" })
        });
        std::iter::once((self.ours.as_path(), "build"))
            .chain(peer)
            .collect()
    }

    /// What the peer is called in the report.
    pub(crate) fn peer_name(&self) -> &'static str {
        match self.sides().get(1) {
            Some((_, "kustomize")) => "kubectl",
            _ => "kustomize",
        }
    }
}

fn ours() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target")),
        PathBuf::from,
    );
    target.join("dist/pilothouse")
}

/// Progress, for whoever watches.
pub(crate) fn say(what: &str) {
    if std::io::stderr().is_terminal() {
        eprintln!("{what}");
    }
}
