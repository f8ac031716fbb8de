//! Row `growth`: what a put costs in a store of a million keys over one in a store of a thousand.

use std::path::Path;

use anyhow::Result;
use store::{Options, Store, embedded};

use crate::Plan;
use crate::load::{Load, Outcome, Target, fill, median, run};
use crate::reopen::{PREFIX, VALUE};
use crate::report::{Bar, Line, Report};

const FEW: u64 = 1000;

pub(crate) async fn measure(
    plan: &Plan,
    few: &Path,
    many: &Path,
    report: &mut Report,
) -> Result<()> {
    let few = embedded::open(few, &Options::default())?;
    fill(&few, PREFIX, FEW, VALUE).await?;
    let many = embedded::open(many, &Options::default())?;
    let sides: [(&Store, u64); 2] = [(&many, plan.keys), (&few, FEW)];
    for writers in [1, 64] {
        let mut rounds: [Vec<Outcome>; 2] = [Vec::new(), Vec::new()];
        for round in 0..plan.rounds {
            for side in plan.order(round) {
                let (store, keys) = sides[side];
                let load = Load {
                    prefix: PREFIX,
                    writers,
                    keys,
                    value_bytes: VALUE,
                    warm_up: plan.seconds / 5,
                    measure: plan.seconds,
                };
                rounds[side].push(run(&Target::Ours(store.clone()), load).await?);
            }
            plan.say(&format!("growth, {writers} writers, round {}", round + 1));
        }
        for (name, share) in [("p50", 500), ("p99", 990)] {
            let [many, few] = [0, 1].map(|side: usize| {
                let figures = rounds[side].iter();
                median(figures.map(|it| it.latencies.per_mille(share)).collect())
            });
            let who = if writers == 1 { "writer" } else { "writers" };
            let what = format!("put {name} at {} keys, {writers} {who}", plan.keys);
            report.add(
                Line::new("growth", what, many, "ms")
                    .against("1000 keys", few)
                    .bar(Bar::AtMost(1.3)),
            );
        }
    }
    let checkpoints = [&many, &few].map(|store| store.stats().1.checkpoints);
    report.note(format!(
        "growth: {} checkpoints ended meanwhile in the large store, {} in the small one",
        checkpoints[0], checkpoints[1]
    ));
    many.close().await?;
    few.close().await?;
    Ok(())
}
