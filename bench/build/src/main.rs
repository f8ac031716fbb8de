//! `pilothouse build` against `kubectl kustomize` or `kustomize build`, in one run on one machine: sides take turns,
//! medians of rounds. See bench/README.md for what each row measures.

#![allow(
    clippy::cast_precision_loss,
    reason = "figures for people have fewer digits than an f64"
)]

mod generate;
mod plan;
mod process;
#[allow(dead_code, reason = "shared with the store's bench")]
#[path = "../../store/src/report.rs"]
mod report;
mod rows;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;

use self::plan::{Args, Plan};
use self::report::Report;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if let Some((first, command)) = arguments.split_first()
        && first == process::MEASURE
    {
        return process::measured(command);
    }
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
    let json = args.json;
    let plan = Plan::new(args)?;
    let dir = tempfile::Builder::new()
        .prefix("bench-build-")
        .tempdir_in(&plan.dir)
        .with_context(|| format!("make a directory in {}", plan.dir.display()))?;
    let mut report = Report::default();
    let outcome = rows::measure(&plan, dir.path(), &mut report);
    dir.close().context("remove the data")?;
    outcome?;
    print!("{}", if json { report.json() } else { report.table() });
    let missed = report.missed();
    if missed > 0 {
        eprintln!("{missed} bars missed");
    }
    Ok(missed == 0)
}
