//! The results as tables for people, each figure with its ratio to our log.

use std::fmt::Write;
use std::time::Duration;

use anyhow::Result;

use crate::candidate::Kind;
use crate::drive::VALUE;
use crate::full::Full;
use crate::speed::{BATCHES, Speed};

#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) kind: Kind,
    pub(crate) speed: Option<Speed>,
    pub(crate) full: Result<Option<Full>>,
    pub(crate) damage: Result<[String; 2]>,
}

// Writing to a String cannot fail, so the results below are dropped.

pub(crate) fn render(results: &[Results], keys: u64) -> String {
    let mut out = String::new();
    speed(results, keys, &mut out);
    let _ = writeln!(
        out,
        "a full disk, and one flipped bit in an acknowledged write"
    );
    for result in results {
        let _ = writeln!(out, "  {}", result.kind.name());
        let mut say = |what: &str, outcome: &str| {
            let _ = writeln!(out, "    {what:<30}{outcome}");
        };
        match &result.full {
            Ok(Some(full)) => {
                say("full: the error", &full.error);
                say("full: still readable", &full.readable);
                say("full: writes with space again", &full.recovers);
                say("full: after reopening", &full.reopened);
            }
            Ok(None) => say("full", "skipped: only root can mount a small disk"),
            Err(error) => say("full", &format!("{error:#}")),
        }
        match &result.damage {
            Ok([middle, last]) => {
                say("bit in the middle", middle);
                say("bit in the last batch, idle", last);
            }
            Err(error) => say("bit", &format!("{error:#}")),
        }
    }
    out
}

fn speed(results: &[Results], keys: u64, out: &mut String) {
    let measured = || {
        let all = results.iter();
        all.filter_map(|it| it.speed.as_ref().map(|speed| (it.kind, speed)))
    };
    let Some((_, log)) = measured()
        .find(|(kind, _)| *kind == Kind::Log)
        .or(measured().next())
    else {
        return;
    };
    let _ = writeln!(
        out,
        "{keys} keys of {VALUE} bytes; 80 % overwrites, 10 % deletes, 10 % creates\n\
         {:<12}{:<10}{:>10}{:>8}{:>10}{:>10}{:>10}",
        "writes/sync", "engine", "writes/s", "ratio", "p50 ms", "p99 ms", "worst ms"
    );
    for (index, count) in BATCHES.into_iter().enumerate() {
        for (kind, speed) in measured() {
            let batch = &speed.batches[index];
            let _ = writeln!(
                out,
                "{count:<12}{:<10}{:>10.0}{:>7.2}x{:>10.3}{:>10.3}{:>10.1}",
                kind.name(),
                batch.per_second,
                batch.per_second / log.batches[index].per_second,
                ms(batch.p50),
                ms(batch.p99),
                ms(batch.worst)
            );
        }
    }
    let _ = writeln!(
        out,
        "\n{:<12}{:>10}{:>8}{:>16}{:>8}",
        "engine", "reopen s", "ratio", "disk over data", "ratio"
    );
    for (kind, speed) in measured() {
        let _ = writeln!(
            out,
            "{:<12}{:>10.2}{:>7.2}x{:>15.2}x{:>7.2}x",
            kind.name(),
            speed.reopen.as_secs_f64(),
            speed.reopen.as_secs_f64() / log.reopen.as_secs_f64(),
            speed.disk_over_data,
            speed.disk_over_data / log.disk_over_data
        );
    }
    out.push('\n');
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
