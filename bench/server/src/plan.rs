//! What is to be measured, from the command line.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;

use crate::lines::Row;
use crate::server::Program;

#[derive(Debug, Parser)]
#[command(
    name = "bench-server",
    about = "Measures pilothouse against kube-apiserver and etcd; exits with 1 if a bar is missed.",
    after_help = "Without the two peers only our figures are printed and nothing is judged."
)]
pub(crate) struct Args {
    /// The kube-apiserver to measure against
    #[arg(long, value_name = "PATH", requires = "peer_etcd")]
    peer_apiserver: Option<PathBuf>,
    /// The etcd it keeps its data in
    #[arg(long, value_name = "PATH", requires = "peer_apiserver")]
    peer_etcd: Option<PathBuf>,
    /// Ours [default: the release binary of this tree]
    #[arg(long, value_name = "PATH")]
    pilothouse: Option<PathBuf>,
    /// Rows to measure; all if not given
    #[arg(long, value_enum, value_delimiter = ',', value_name = "ROWS")]
    only: Vec<Row>,
    /// Rounds to take the median of, each with fresh data
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Length of a measurement that has no number of requests
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Where a directory for the data is made and removed; its disk is what is measured
    #[arg(long, default_value = ".")]
    dir: PathBuf,
    /// One short round with a tenth of the objects: shows that the bench works, judges nothing
    #[arg(long)]
    quick: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// What every phase needs to know.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) pilothouse: PathBuf,
    pub(crate) peers: Option<Peers>,
    pub(crate) rounds: usize,
    pub(crate) seconds: Duration,
    pub(crate) dir: PathBuf,
    pub(crate) quick: bool,
    only: Vec<Row>,
}

#[derive(Debug)]
pub(crate) struct Peers {
    pub(crate) apiserver: PathBuf,
    pub(crate) etcd: PathBuf,
}

impl Plan {
    pub(crate) fn new(args: Args) -> Result<Self> {
        let seconds = Duration::try_from_secs_f64(args.seconds).context("--seconds")?;
        ensure!(!seconds.is_zero(), "--seconds: nothing is measured in none");
        let peers = args.peer_apiserver.zip(args.peer_etcd);
        let plan = Self {
            pilothouse: args.pilothouse.unwrap_or_else(ours),
            peers: peers.map(|(apiserver, etcd)| Peers { apiserver, etcd }),
            rounds: if args.quick { 1 } else { args.rounds.max(1) },
            seconds: if args.quick {
                seconds.min(Duration::from_secs(1))
            } else {
                seconds
            },
            dir: args.dir,
            quick: args.quick,
            only: args.only,
        };
        ensure!(
            plan.pilothouse.exists(),
            "{} is not there: build it (cargo build --release) or name another with --pilothouse",
            plan.pilothouse.display()
        );
        Ok(plan)
    }

    pub(crate) fn wants(&self, row: Row) -> bool {
        self.only.is_empty() || self.only.contains(&row)
    }

    /// Whether figures are held against bars.
    pub(crate) fn judges(&self) -> bool {
        self.peers.is_some() && !self.quick
    }

    /// Ours first, then what it is measured against if that is there.
    pub(crate) fn sides(&self, ours: Program) -> Vec<Program> {
        let theirs = self.peers.as_ref().map(|_| Program::Kubernetes);
        std::iter::once(ours).chain(theirs).collect()
    }

    /// As many objects or requests, or a tenth of them in a quick run.
    pub(crate) fn count(&self, full: usize) -> usize {
        if self.quick { full / 10 } else { full }
    }

    /// What the peers call themselves.
    pub(crate) fn versions(&self) -> Vec<String> {
        let peers = self.peers.iter();
        peers
            .flat_map(|peers| [&peers.apiserver, &peers.etcd])
            .filter_map(|program| {
                let output = Command::new(program).arg("--version").output().ok()?;
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                let name = program.file_name()?.to_string_lossy().into_owned();
                text.lines().next().map(|line| format!("{name}: {line}"))
            })
            .collect()
    }
}

fn ours() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target")),
        PathBuf::from,
    );
    target.join("release/pilothouse")
}

/// The side that goes first changes from round to round.
pub(crate) fn order(round: usize, sides: usize) -> impl Iterator<Item = usize> {
    (0..sides).map(move |turn| (turn + round) % sides)
}

/// Progress, for whoever watches.
pub(crate) fn say(what: &str) {
    if std::io::stderr().is_terminal() {
        eprintln!("{what}");
    }
}
