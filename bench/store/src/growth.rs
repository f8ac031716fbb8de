//! Row `growth`: what a put costs in a store of a million keys over one in a store of a thousand.

use std::path::Path;

use anyhow::Result;
use store::{Options, embedded};

use crate::load::{Load, Outcome, Target, fill, median, run};
use crate::reopen::{PREFIX, VALUE};
use crate::report::{Bar, Line, Report};
use crate::{Plan, order, say};

const FEW: u64 = 1000;
/// What 64 writers put a second where latency is judged: far more than an API server does, less than it can take.
const RATE: u32 = 10_000;

pub(crate) async fn measure(
    plan: &Plan,
    few: &Path,
    many: &Path,
    report: &mut Report,
) -> Result<()> {
    let store = embedded::open(few, &Options::default())?;
    fill(&store, PREFIX, FEW, VALUE).await?;
    store.close().await?;
    drop(store);
    // What a user sees; and what the size of the map alone does to it.
    compare(plan, [many, few], &Options::default(), "", report).await?;
    let quiet = Options {
        checkpoint_bytes: u64::MAX,
        ..Options::default()
    };
    compare(plan, [many, few], &quiet, ", no checkpoints", report).await
}

async fn compare(
    plan: &Plan,
    dirs: [&Path; 2],
    options: &Options,
    how: &str,
    report: &mut Report,
) -> Result<()> {
    let stores = [
        embedded::open(dirs[0], options)?,
        embedded::open(dirs[1], options)?,
    ];
    for (writers, rate) in [(1, None), (64, Some(RATE)), (64, None)] {
        let mut rounds: [Vec<Outcome>; 2] = [Vec::new(), Vec::new()];
        let pace = rate.map_or(String::new(), |rate| format!(" at {rate} puts/s"));
        for round in 0..plan.rounds {
            for side in order(round) {
                let load = Load {
                    prefix: PREFIX,
                    writers,
                    keys: [plan.keys, FEW][side],
                    value_bytes: VALUE,
                    rate,
                    warm_up: plan.seconds / 5,
                    measure: plan.seconds,
                };
                rounds[side].push(run(&Target::Ours(stores[side].clone()), load).await?);
            }
            let round = round + 1;
            say(&format!(
                "growth{how}, {writers} writers{pace}, round {round}"
            ));
        }
        for (name, share) in [("p50", 500), ("p99", 990)] {
            let [many, few] = [0, 1].map(|side: usize| {
                let figures = rounds[side].iter();
                median(figures.map(|it| it.latencies.per_mille(share)).collect())
            });
            let who = if writers == 1 { "writer" } else { "writers" };
            let what = format!(
                "put {name} at {} keys, {writers} {who}{pace}{how}",
                plan.keys
            );
            let line = Line::new("growth", what, many, "ms").against("1000 keys", few);
            // At full speed with 64 writers on a few cores the latency is the inverse of the rate: that row is a figure.
            let judged = how.is_empty() && (writers == 1 || rate.is_some());
            report.add(if judged {
                line.bar(Bar::AtMost(1.3))
            } else {
                line
            });
        }
    }
    let [many, few] = [0, 1].map(|side: usize| stores[side].stats().1.checkpoints);
    report.note(format!(
        "growth{how}: {many} checkpoints ended meanwhile in the large store, {few} in the small one"
    ));
    for store in &stores {
        store.close().await?;
    }
    Ok(())
}
