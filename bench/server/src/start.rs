//! Row `start`: from nothing, and again with objects. The other side does not run meanwhile.

use std::path::Path;

use anyhow::{Context, Result};

use crate::plan::{Plan, order, say};
use crate::server::{Program, Server};
use crate::sheet::Sheet;
use crate::step::OBJECTS;
use crate::verbs;

pub(crate) async fn measure(
    plan: &Plan,
    dir: &Path,
    round: usize,
    sheet: &mut Sheet,
) -> Result<()> {
    let sides = plan.sides(Program::Pilothouse);
    for side in order(round, sides.len()) {
        let name = sides[side].name();
        say(&format!("round {}, {name}: start", round + 1));
        let dir = dir.join(side.to_string());
        let server = Server::start(plan, sides[side], &dir).await?;
        sheet.add(side, "cold", server.start.as_secs_f64());
        verbs::make_namespace(&server).await?;
        verbs::fill(&server, 0..plan.count(OBJECTS)).await?;
        server.stop().await?;
        let server = Server::start(plan, sides[side], &dir).await?;
        sheet.add(side, "warm", server.start.as_secs_f64());
        // What was there is there again.
        verbs::list(&server, plan.count(OBJECTS))
            .await
            .with_context(|| format!("{name} after a restart"))?;
        server.stop().await?;
        std::fs::remove_dir_all(&dir).context("remove the data of a start")?;
    }
    Ok(())
}
