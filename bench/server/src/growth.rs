//! Row `growth`: ours alone, with many objects against few.

use std::path::Path;

use anyhow::{Context, Result};

use crate::plan::{Plan, say};
use crate::server::{Program, Server};
use crate::sheet::Sheet;
use crate::verbs;

const FEW: usize = 1000;
const MANY: usize = 100_000;
const CLIENTS: usize = 16;
const WRITES: usize = 5000;

pub(crate) async fn measure(plan: &Plan, dir: &Path, sheet: &mut Sheet) -> Result<()> {
    say("growth: few objects");
    let few = start(plan, &dir.join("few")).await?;
    verbs::fill(&few, 0..FEW).await?;
    costs(plan, &few, FEW, 1, sheet).await?;
    few.stop().await?;

    say("growth: many objects");
    let many = start(plan, &dir.join("many")).await?;
    let objects = plan.count(MANY);
    verbs::fill(&many, 0..FEW).await?;
    let before = many.memory()?;
    verbs::fill(&many, FEW..objects).await?;
    let json = verbs::json_size(&many).await?;
    let each = |memory: f64| (memory - before) * f64::from(1 << 20) / (objects - FEW) as f64;
    sheet.add(0, "growth memory", each(many.memory()?) / json);
    costs(plan, &many, objects, 0, sheet).await?;
    many.stop().await?;

    let again = Server::start(plan, Program::Pilothouse, &dir.join("many")).await?;
    sheet.add(0, "growth memory reopened", each(again.memory()?) / json);
    again.stop().await?;
    std::fs::remove_dir_all(dir).context("remove the data of growth")
}

async fn start(plan: &Plan, dir: &Path) -> Result<Server> {
    let server = Server::start(plan, Program::Pilothouse, dir).await?;
    verbs::make_namespace(&server).await?;
    Ok(server)
}

/// CPU of a request of each kind.
async fn costs(
    plan: &Plan,
    server: &Server,
    objects: usize,
    side: usize,
    sheet: &mut Sheet,
) -> Result<()> {
    let read = verbs::read(server, CLIENTS, objects, plan.seconds).await?;
    sheet.add(side, "growth get", read.cpu_each);
    let pages = verbs::pages(server, CLIENTS, plan.seconds).await?;
    sheet.add(side, "growth pages", pages.cpu_each);
    let writes = plan.count(WRITES);
    let create = verbs::create_named(server, CLIENTS, "more", 0..writes).await?;
    sheet.add(side, "growth create", create.cpu_each);
    let patch = verbs::patch(server, CLIENTS, writes, objects).await?;
    sheet.add(side, "growth patch", patch.cpu_each);
    Ok(())
}
