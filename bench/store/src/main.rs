//! The embedded store against a real etcd, in one run on one disk: sides alternate, medians of rounds.
//! See bench/README.md for what each row measures.

#![allow(
    clippy::cast_precision_loss,
    reason = "figures for people have fewer digits than an f64"
)]

mod etcd;
mod growth;
mod load;
mod puts;
mod range;
mod reopen;
mod report;
mod stalls;
mod svg;
mod watch;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use store::{Options, embedded};

use self::etcd::Etcd;
use self::load::Target;
use self::report::Report;

/// The hidden first argument of the child process that reopens a store.
const REOPEN: &str = "reopen-and-report";

#[derive(Debug, Parser)]
#[command(
    name = "bench-store",
    about = "Measures the embedded store against etcd; exits with 1 if a bar is missed."
)]
struct Args {
    /// Rows to measure; all if not given
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Row>,
    /// Rounds to take the median of
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Length of one measurement
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Keys of the large store (rows reopen and growth; a tenth of it in stalls)
    #[arg(long, default_value_t = 1_000_000)]
    keys: u64,
    /// Puts a second in the row stalls
    #[arg(long, default_value_t = 2000)]
    rate: u32,
    /// Connections to etcd that writers and watchers are spread over
    #[arg(long, default_value_t = 4)]
    connections: usize,
    /// Where a directory for the data is made and removed; its disk is what is measured
    #[arg(long, default_value = ".")]
    dir: PathBuf,
    /// Draw the row stalls into this SVG file
    #[arg(long)]
    plot: Option<PathBuf>,
    /// One short round with few keys: shows that the bench works, judges nothing
    #[arg(long)]
    quick: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Row {
    Puts,
    Watch,
    Range,
    Reopen,
    Growth,
    Stalls,
}

/// What every row needs to know.
#[derive(Debug)]
struct Plan {
    rounds: usize,
    seconds: Duration,
    keys: u64,
    rate: u32,
    plot: Option<PathBuf>,
}

impl Plan {
    fn new(args: &Args) -> Result<Self> {
        let seconds = Duration::try_from_secs_f64(args.seconds).context("--seconds")?;
        Ok(Self {
            rounds: if args.quick { 1 } else { args.rounds.max(1) },
            seconds: if args.quick {
                seconds.min(Duration::from_secs(1))
            } else {
                seconds
            },
            keys: if args.quick {
                args.keys.min(50_000)
            } else {
                args.keys
            },
            rate: args.rate,
            plot: args.plot.clone(),
        })
    }
}

/// The side that goes first changes from round to round.
fn order(round: usize) -> [usize; 2] {
    [round % 2, (round + 1) % 2]
}

/// Progress, for whoever watches.
fn say(what: &str) {
    if std::io::stderr().is_terminal() {
        eprintln!("{what}");
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Whether all bars hold.
fn run() -> Result<bool> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == REOPEN) {
        let dir = arguments.next().context("the directory to reopen")?;
        return reopen::child(Path::new(&dir)).map(|()| true);
    }
    let args = Args::parse();
    let plan = Plan::new(&args)?;
    let mut report = Report::default();
    let dir = tempfile::Builder::new()
        .prefix("bench-store-")
        .tempdir_in(&args.dir)
        .with_context(|| format!("make a directory in {}", args.dir.display()))?;
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(measure(&args, &plan, dir.path(), &mut report))?;
    dir.close().context("remove the data")?;
    if args.quick {
        report.note("--quick: nothing is judged, no figure is worth quoting");
    }
    println!(
        "{}",
        if args.json {
            report.json()
        } else {
            report.table()
        }
    );
    let missed = report.missed();
    if missed > 0 {
        eprintln!("{missed} bars missed");
    }
    Ok(missed == 0 || args.quick)
}

async fn measure(args: &Args, plan: &Plan, dir: &Path, report: &mut Report) -> Result<()> {
    let wanted = |row: Row| args.only.is_empty() || args.only.contains(&row);
    if [Row::Puts, Row::Watch, Row::Range].into_iter().any(wanted) {
        report.note(format!(
            "{}, fsync on, same disk, {} connections on loopback",
            Etcd::version()?,
            args.connections
        ));
        let etcd = Etcd::start(&dir.join("etcd")).await?;
        let store = embedded::open(&dir.join("store"), &Options::default())?;
        let clients = etcd.connections(args.connections)?;
        let theirs = Target::Etcd(clients.clone());
        let ours = Target::Ours(store.clone());
        if wanted(Row::Puts) {
            puts::measure(plan, [&ours, &theirs], report).await?;
        }
        if wanted(Row::Watch) {
            watch::measure(plan, [&ours, &theirs], report).await?;
        }
        if wanted(Row::Range) {
            range::measure(plan, &store, &clients[0], report).await?;
        }
        store.close().await?;
    }
    let many = dir.join("many");
    if wanted(Row::Reopen) || wanted(Row::Growth) {
        reopen::prepare(plan, &many).await?;
    }
    if wanted(Row::Reopen) {
        reopen::measure(plan, &many, report)?;
    }
    if wanted(Row::Growth) {
        growth::measure(plan, &dir.join("few"), &many, report).await?;
    }
    if wanted(Row::Stalls) {
        stalls::measure(plan, &dir.join("stalls"), report).await?;
    }
    Ok(())
}
