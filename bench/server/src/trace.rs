//! Row `trace`: ours alone, with every request recorded and sent to a collector, or kept in memory, against none.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::collector::Collector;
use crate::load::Outcome;
use crate::plan::{Plan, order, say};
use crate::server::{LOG, Program, Server, TRACING};
use crate::sheet::Sheet;
use crate::verbs;

const OBJECTS: usize = 1000;
const CLIENTS: usize = 64;
/// Turns of each side in a round: what is compared is a few per cent.
const TURNS: usize = 5;
/// What was recorded last is sent a second later: that belongs to what it costs.
const SENT: Duration = Duration::from_millis(1200);

pub(crate) async fn measure(
    plan: &Plan,
    dir: &Path,
    round: usize,
    sheet: &mut Sheet,
) -> Result<()> {
    let traced = dir.join("traced");
    std::fs::create_dir_all(&traced)?;
    let collector = Collector::start(&traced).await?;
    let config = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: {}\n\
         samplingRatePerMillion: 1000000\n",
        collector.address
    );
    std::fs::write(traced.join(TRACING), config)?;
    let kept = dir.join("kept");
    let sides = [
        (Program::PilothouseTraced, traced.clone()),
        (Program::PilothouseKept, kept.clone()),
        (Program::Pilothouse, dir.join("plain")),
    ];
    let mut servers = Vec::new();
    for (program, dir) in &sides {
        let server = Server::start(plan, *program, dir).await?;
        verbs::make_namespace(&server).await?;
        verbs::fill(&server, 0..OBJECTS).await?;
        server.pause()?;
        servers.push(server);
    }
    for turn in 0..TURNS {
        for side in order(round + turn, sides.len()) {
            let server = &mut servers[side];
            say(&format!("trace: {}", server.program.name()));
            server.resume().await?;
            let outcome = read(server, plan.seconds).await?;
            match server.program {
                Program::PilothouseTraced => sheet.add_load(0, "trace", &outcome),
                Program::PilothouseKept => sheet.add_load(0, "kept", &outcome),
                // Both are held against the same.
                _ => {
                    sheet.add_load(1, "trace", &outcome);
                    sheet.add_load(1, "kept", &outcome);
                }
            }
            server.pause()?;
        }
    }
    for mut server in servers {
        server.resume().await?;
        server.stop().await?;
    }
    let sent = Spans::of(&traced)?;
    let arrived = collector.stop().await?;
    ensure!(
        arrived == sent.exported,
        "the server says that it sent {} spans, the collector has {arrived}",
        sent.exported
    );
    for (key, spans) in [("trace lost", sent), ("kept lost", Spans::of(&kept)?)] {
        // The worst of all rounds: none may lose any.
        let before = sheet.rounds(0, key).and_then(<[f64]>::last);
        let before = before.copied().unwrap_or_default();
        sheet.add_worst(0, key, spans.lost().max(before));
    }
    std::fs::remove_dir_all(dir).context("remove the data of trace")
}

/// GETs, with what is left to be done for them when they are answered.
async fn read(server: &Server, during: Duration) -> Result<Outcome> {
    let before = server.cpu()?;
    let mut outcome = verbs::read(server, CLIENTS, OBJECTS, during).await?;
    tokio::time::sleep(SENT).await;
    outcome.cpu_each = (server.cpu()? - before) * 1e3 / outcome.requests as f64;
    Ok(outcome)
}

/// What became of spans.
struct Spans {
    exported: u64,
    dropped: u64,
    failed: u64,
}

impl Spans {
    fn of(dir: &Path) -> Result<Self> {
        Self::parse(&std::fs::read_to_string(dir.join(LOG))?)
    }

    /// A server says it in the end: `traces: spans 3 exported, 1 dropped, 0 failed`, or `kept`.
    fn parse(log: &str) -> Result<Self> {
        let line = log.lines().rfind(|it| it.starts_with("traces: "));
        let line = line.context("the server did not say what became of its spans")?;
        let numbers = line.split([' ', ',']).filter_map(|it| it.parse().ok());
        let [exported, dropped, failed]: [u64; 3] = numbers
            .collect::<Vec<_>>()
            .try_into()
            .ok()
            .with_context(|| format!("not understood: {line}"))?;
        Ok(Self {
            exported,
            dropped,
            failed,
        })
    }

    /// The part of all that nobody has.
    fn lost(&self) -> f64 {
        let lost = (self.dropped + self.failed) as f64;
        lost / (lost + self.exported as f64).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Spans;

    #[test]
    fn what_a_server_says_in_the_end() {
        let log = "ready\ntraces: spans 6 exported, 3 dropped, 1 failed\nstopped\n";
        let spans = Spans::parse(log).unwrap();
        assert!((spans.lost() - 0.4).abs() < 1e-9 && spans.exported == 6);
        let log = "traces: spans 8 kept, 2 dropped, 0 failed\n";
        assert!((Spans::parse(log).unwrap().lost() - 0.2).abs() < 1e-9);
        assert!(Spans::parse("ready\n").is_err());
        assert!(Spans::parse("traces: none\n").is_err());
    }
}
