//! Row `puts`: how many, how fast, with many writers and with one.

use anyhow::Result;

use crate::load::{Load, Outcome, Target, median, run};
use crate::report::{Bar, Line, Report};
use crate::{Plan, order, say};

pub(crate) async fn measure(plan: &Plan, both: [&Target; 2], report: &mut Report) -> Result<()> {
    for writers in [64, 1] {
        let load = Load {
            prefix: "/bench/puts/",
            writers,
            keys: 10_000,
            value_bytes: 2000,
            rate: None,
            warm_up: plan.seconds / 5,
            measure: plan.seconds,
        };
        let mut rounds: [Vec<Outcome>; 2] = [Vec::new(), Vec::new()];
        for round in 0..plan.rounds {
            for side in order(round) {
                let outcome = run(both[side], load).await?;
                say(&format!(
                    "puts, {writers} writers, round {}, {}: {:.0}/s",
                    round + 1,
                    both[side].name(),
                    outcome.per_second
                ));
                rounds[side].push(outcome);
            }
        }
        let middle = |side: usize, figure: &dyn Fn(&Outcome) -> f64| {
            median(rounds[side].iter().map(figure).collect())
        };
        let line = |what: &str, unit, figure: &dyn Fn(&Outcome) -> f64| {
            let who = if writers == 1 { "writer" } else { "writers" };
            let what = format!("{what}, {writers} {who}, 2 kB");
            Line::new("puts", what, middle(0, figure), unit).against("etcd", middle(1, figure))
        };
        let rate = line("puts a second", "/s", &|it| it.per_second);
        let p99 = line("put p99", "ms", &|it| it.latencies.per_mille(990));
        let (rate, p99) = if writers == 1 {
            (rate.bar(Bar::AtLeast(1.2)), p99)
        } else {
            (rate.bar(Bar::AtLeast(3.0)), p99.bar(Bar::AtMost(0.5)))
        };
        report.add(rate);
        report.add(line("put p50", "ms", &|it| it.latencies.per_mille(500)));
        report.add(p99);
        report.add(line("put p99.9", "ms", &|it| it.latencies.per_mille(999)));
    }
    Ok(())
}
