//! Row `flood`: what another user of the same priority level notices of one that floods the server, against the same
//! without a flood.
//!
//! The flood comes from a process of its own (`flood/sender.rs`): what is measured is the server, and not how fast one load
//! generator turns to the next of its answers. On the same cores that process takes CPU time from the server. The quiet value is
//! therefore measured beside a process that computes for the same share of the time and sends nothing.

mod sender;
mod users;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http::StatusCode;
use tokio::task::JoinSet;

use crate::load::Latencies;
use crate::objects::CONFIG_MAPS;
use crate::plan::{Plan, order, say};
use crate::server::{Program, Server};
use crate::sheet::Sheet;
use crate::verbs;

pub(crate) use sender::{FloodArgs, run};

use sender::Flood;
use users::{User, Users};

const OBJECTS: usize = 1000;
/// Of the other user, each with a connection of its own.
const CLIENTS: usize = 4;
/// Between an answer and the client's next request.
const PAUSE: Duration = Duration::from_millis(1);
/// Turns with and without a flood in a round: a p99 is made of rare moments.
const TURNS: usize = 3;
/// Until the flood is at its full strength.
const RISE: Duration = Duration::from_millis(500);

pub(crate) async fn measure(
    plan: &Plan,
    dir: &Path,
    round: usize,
    sheet: &mut Sheet,
) -> Result<()> {
    let sides = plan.sides(Program::Pilothouse);
    let mut servers = Vec::new();
    for (side, program) in sides.iter().enumerate() {
        let dir = dir.join(side.to_string());
        let server = Server::start(plan, *program, &dir).await?;
        verbs::make_namespace(&server).await?;
        verbs::fill(&server, 0..OBJECTS).await?;
        let users = Users::make(&server, &dir).await?;
        server.pause()?;
        servers.push((server, users));
    }
    for turn in 0..TURNS {
        for side in order(round + turn, sides.len()) {
            let (server, users) = &mut servers[side];
            say(&format!("flood: {}", server.program.name()));
            server.resume().await?;
            let name = if side == 0 { "flood" } else { "flood peer" };
            take(plan, server, users, (round, turn), name, sheet).await?;
            server.pause()?;
        }
    }
    drop(servers);
    std::fs::remove_dir_all(dir).context("remove the data of flood")
}

/// One turn: under the flood, then beside as much work that is no flood.
async fn take(
    plan: &Plan,
    server: &Server,
    users: &Users,
    (round, turn): (usize, usize),
    name: &str,
    sheet: &mut Sheet,
) -> Result<()> {
    let prefix = format!("flood-{round}-{turn}");
    let flood = Flood::start(server.endpoint.address, users, &prefix).await?;
    tokio::time::sleep(RISE).await;
    let flooded = bystander(server, &users.bystander, plan.seconds).await;
    let strength = flood.stop().await?;
    let flooded = flooded.context("under the flood")?;
    let beside = Flood::start_spinning(users, strength.cpu_share).await?;
    let quiet = bystander(server, &users.bystander, plan.seconds).await;
    beside.stop().await?;
    let quiet = quiet.context("without a flood")?;
    ensure!(strength.answered > 0.0, "the flood got no answer");
    for (side, latencies) in [(0, flooded), (1, quiet)] {
        sheet.add(side, format!("{name} p50"), latencies.per_mille(500));
        sheet.add(side, format!("{name} p99"), latencies.per_mille(990));
    }
    sheet.add(0, format!("{name} rate"), strength.rate);
    sheet.add(0, format!("{name} rejected"), strength.rejected_share);
    Ok(())
}

/// GETs of single objects at a pace that a server does not notice. Every one must be answered: a 429 is an error.
async fn bystander(server: &Server, user: &User, during: Duration) -> Result<Latencies> {
    let mut tasks = JoinSet::new();
    for number in 0..CLIENTS {
        let mut client = user.connect().await?;
        let uri = server.endpoint.uri(&format!("{CONFIG_MAPS}/cm-{number}"))?;
        let user = user.clone();
        tasks.spawn(async move {
            let mut latencies = Vec::new();
            let start = Instant::now();
            while start.elapsed() < during {
                tokio::time::sleep(PAUSE).await;
                let begin = Instant::now();
                client.call(user.get(uri.clone()), StatusCode::OK).await?;
                latencies.push(begin.elapsed());
            }
            anyhow::Ok(latencies)
        });
    }
    let mut latencies = Vec::new();
    while let Some(done) = tasks.join_next().await {
        latencies.extend(done??);
    }
    ensure!(!latencies.is_empty(), "no request was answered");
    Ok(Latencies::new(latencies))
}
