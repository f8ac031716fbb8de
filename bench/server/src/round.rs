//! One round: both sides started on fresh data, then phase after phase in turns.

use std::path::Path;

use anyhow::{Context, Result};

use crate::plan::{Plan, order, say};
use crate::server::{Program, Server};
use crate::sheet::Sheet;
use crate::step::{Step, Turn};
use crate::verbs;

pub(crate) async fn measure(
    plan: &Plan,
    sides: &[Program],
    steps: &[Step],
    dir: &Path,
    round: usize,
    sheet: &mut Sheet,
) -> Result<()> {
    if steps.is_empty() {
        return Ok(());
    }
    let prefix = match sides.first() {
        Some(Program::PilothouseOverEtcd) => "etcd ",
        _ => "",
    };
    let mut servers: Vec<_> = sides.iter().map(|_| None).collect();
    for side in order(round, sides.len()) {
        let dir = dir.join(side.to_string());
        let server = Server::start(plan, sides[side], &dir).await?;
        verbs::make_namespace(&server).await?;
        server.pause()?;
        servers[side] = Some(server);
    }
    for step in steps {
        for side in order(round, sides.len()) {
            let server = servers[side].as_mut().context("a side is not there")?;
            let name = server.program.name();
            say(&format!("round {}, {name}: {step:?}", round + 1));
            server.resume().await?;
            let mut turn = Turn {
                plan,
                server,
                side,
                prefix,
                sheet,
            };
            turn.take(step)
                .await
                .with_context(|| format!("{name}: {step:?}"))?;
            servers[side]
                .as_ref()
                .context("a side is not there")?
                .pause()?;
        }
    }
    drop(servers);
    std::fs::remove_dir_all(dir).context("remove the data of a round")
}
