//! pilothouse against kube-apiserver and etcd, in one run on one machine: sides take turns phase by phase, medians of
//! rounds. See bench/README.md for what each row measures.

#![allow(
    clippy::cast_precision_loss,
    reason = "figures for people have fewer digits than an f64"
)]

mod certificates;
mod client;
mod collector;
mod custom;
mod flood;
mod growth;
mod lines;
mod load;
mod objects;
mod plan;
mod process;
mod report;
mod round;
mod server;
mod sheet;
mod start;
mod step;
mod trace;
mod verbs;
mod watch;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

use self::lines::Row;
use self::plan::{Args, Plan};
use self::report::Report;
use self::server::Program;
use self::sheet::Sheet;

fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Whether all bars hold.
fn run(args: Args) -> Result<bool> {
    if args.collector {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build()?;
        runtime.block_on(collector::run())?;
        return Ok(true);
    }
    if args.flood.is_given() {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build()?;
        runtime.block_on(flood::run(args.flood))?;
        return Ok(true);
    }
    let json = args.json;
    let plan = Plan::new(args)?;
    let dir = tempfile::Builder::new()
        .prefix("bench-server-")
        .tempdir_in(&plan.dir)
        .with_context(|| format!("make a directory in {}", plan.dir.display()))?;
    let mut sheet = Sheet::default();
    // One thread: the servers need the cores, and requests that are ready together leave together.
    let outcome = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(async {
            let mut terminate = signal(SignalKind::terminate())?;
            // Servers end with the values that hold them, also when nobody waits for the figures any more.
            tokio::select! {
                done = Box::pin(measure(&plan, dir.path(), &mut sheet)) => done,
                _ = tokio::signal::ctrl_c() => bail!("interrupted"),
                _ = terminate.recv() => bail!("terminated"),
            }
        });
    dir.close().context("remove the data")?;
    outcome?;
    let report = Report::new(&plan, &sheet)?;
    println!("{}", if json { report.json() } else { report.table() });
    let missed = report.missed();
    if missed > 0 {
        eprintln!("{missed} bars missed");
    }
    Ok(missed == 0)
}

async fn measure(plan: &Plan, dir: &Path, sheet: &mut Sheet) -> Result<()> {
    for round in 0..plan.rounds {
        if plan.wants(Row::Start) {
            start::measure(plan, &dir.join("start"), round, sheet).await?;
        }
        let sides = plan.sides(Program::Pilothouse);
        let steps = step::all(plan);
        round::measure(plan, &sides, &steps, &dir.join("main"), round, sheet).await?;
        if plan.wants(Row::Etcd) {
            let sides = plan.sides(Program::PilothouseOverEtcd);
            let steps = step::over_etcd();
            round::measure(plan, &sides, &steps, &dir.join("etcd"), round, sheet).await?;
        }
        if plan.wants(Row::Trace) {
            trace::measure(plan, &dir.join("trace"), round, sheet).await?;
        }
        if plan.wants(Row::Flood) {
            flood::measure(plan, &dir.join("flood"), round, sheet).await?;
        }
        if plan.wants(Row::Growth) {
            growth::measure(plan, &dir.join("growth"), sheet).await?;
        }
    }
    Ok(())
}
