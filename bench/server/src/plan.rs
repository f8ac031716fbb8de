//! What is to be measured, from the command line.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;

use crate::flood::FloodArgs;
use crate::lines::{Line, Row};
use crate::server::Program;

#[derive(Debug, Parser)]
#[command(
    name = "bench-server",
    about = "Measures pilothouse against kube-apiserver and etcd, or against an earlier build of itself; exits with 1 if a bar is missed.",
    after_help = "Without a peer only our figures are printed, and only what is held against ourselves is judged."
)]
pub(crate) struct Args {
    /// The kube-apiserver to measure against
    #[arg(long, value_name = "PATH", requires = "peer_etcd")]
    peer_apiserver: Option<PathBuf>,
    /// The etcd it keeps its data in; with --baseline, the etcd for the rows over etcd
    #[arg(long, value_name = "PATH")]
    peer_etcd: Option<PathBuf>,
    /// An earlier build of pilothouse to measure against: no row may be more than 3 % worse
    #[arg(long, value_name = "PATH", conflicts_with = "peer_apiserver")]
    baseline: Option<PathBuf>,
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
    /// Be the collector of the row `trace`: the bench starts itself so
    #[arg(long, hide = true)]
    pub(crate) collector: bool,
    #[command(flatten)]
    pub(crate) flood: FloodArgs,
}

/// What every phase needs to know.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) pilothouse: PathBuf,
    pub(crate) peer: Option<Peer>,
    pub(crate) etcd: Option<PathBuf>,
    pub(crate) rounds: usize,
    pub(crate) seconds: Duration,
    pub(crate) dir: PathBuf,
    pub(crate) quick: bool,
    only: Vec<Row>,
}

/// What ours is measured against.
#[derive(Debug)]
pub(crate) enum Peer {
    /// A kube-apiserver, always over etcd.
    Kubernetes(PathBuf),
    /// An earlier build of pilothouse.
    Baseline(PathBuf),
}

impl Plan {
    pub(crate) fn new(args: Args) -> Result<Self> {
        let seconds = Duration::try_from_secs_f64(args.seconds).context("--seconds")?;
        ensure!(!seconds.is_zero(), "--seconds: nothing is measured in none");
        let kubernetes = args.peer_apiserver.map(Peer::Kubernetes);
        let peer = kubernetes.or(args.baseline.map(Peer::Baseline));
        ensure!(
            peer.is_some() || args.peer_etcd.is_none(),
            "--peer-etcd: name what to measure against as well, with --peer-apiserver or --baseline"
        );
        let plan = Self {
            pilothouse: args.pilothouse.unwrap_or_else(ours),
            peer,
            etcd: args.peer_etcd,
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
            "{} is not there: build it (cargo build --profile dist) or name another with --pilothouse",
            plan.pilothouse.display()
        );
        Ok(plan)
    }

    pub(crate) fn wants(&self, row: Row) -> bool {
        self.can(row) && (self.only.is_empty() || self.only.contains(&row))
    }

    /// Whether a line of the report is wanted: some tell of a kube-apiserver.
    pub(crate) fn wants_line(&self, line: &Line) -> bool {
        let has_peer = matches!(self.peer, Some(Peer::Kubernetes(_)));
        self.wants(line.row) && (has_peer || !line.of_peer)
    }

    /// Whether figures of a row are held against bars: those that compare with a peer only if it is there.
    pub(crate) fn judges(&self, row: Row) -> bool {
        let is_alone = matches!(row, Row::Trace | Row::Growth | Row::Flood);
        (self.peer.is_some() || is_alone) && !self.quick
    }

    /// Whether the row can be measured: rows over etcd need one, and rows that compare ours with itself say nothing
    /// about a baseline.
    pub(crate) fn can(&self, row: Row) -> bool {
        match row {
            Row::Etcd => self.etcd.is_some(),
            Row::Trace | Row::Growth | Row::Flood => !matches!(self.peer, Some(Peer::Baseline(_))),
            _ => true,
        }
    }

    /// Ours first, then what it is measured against if that is there.
    pub(crate) fn sides(&self, ours: Program) -> Vec<Program> {
        let theirs = self.peer.as_ref().map(|peer| match peer {
            Peer::Kubernetes(_) => Program::Kubernetes,
            Peer::Baseline(_) if ours == Program::PilothouseOverEtcd => Program::BaselineOverEtcd,
            Peer::Baseline(_) => Program::Baseline,
        });
        std::iter::once(ours).chain(theirs).collect()
    }

    /// As many objects or requests, or a tenth of them in a quick run.
    pub(crate) fn count(&self, full: usize) -> usize {
        if self.quick { full / 10 } else { full }
    }

    /// What the peers call themselves.
    pub(crate) fn versions(&self) -> Vec<String> {
        let apiserver = self.peer.iter().map(|peer| match peer {
            Peer::Kubernetes(path) | Peer::Baseline(path) => path,
        });
        apiserver
            .chain(&self.etcd)
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
    target.join("dist/pilothouse")
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
