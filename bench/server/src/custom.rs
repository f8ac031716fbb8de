//! Row `custom`: a definition until it is served, and loads on what it defines.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use http::{Method, StatusCode};

use crate::load::{self, Outcome, Work, median};
use crate::objects::{APPLY, DEFINITIONS, JSON, MERGE_PATCH};
use crate::objects::{custom, custom_path, definition, get, post};
use crate::server::Server;

/// The last is the one that the loads use.
const PLURALS: [&str; 5] = ["dials", "gears", "knobs", "levers", "widgets"];
const PLURAL: &str = PLURALS[4];
const PATIENCE: Duration = Duration::from_secs(60);

/// Milliseconds from sending a definition until its resources can be listed, the median of a few definitions.
pub(crate) async fn define(server: &Server) -> Result<f64> {
    let mut client = server.endpoint.connect().await?;
    let mut times = Vec::new();
    for plural in PLURALS {
        let list = server.endpoint.uri(&custom_path(plural))?;
        let create = post(server.endpoint.uri(DEFINITIONS)?, definition(plural));
        let start = Instant::now();
        client.call(create, StatusCode::CREATED).await?;
        while client.status(get(list.clone())).await? != StatusCode::OK {
            ensure!(start.elapsed() < PATIENCE, "{plural} is not served");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(median(times))
}

pub(crate) async fn create(server: &Server, clients: usize, requests: usize) -> Result<Outcome> {
    let path = custom_path(PLURAL);
    let calls = (0..requests).map(|number| (path.clone(), custom(PLURAL, number, "red")));
    let created = StatusCode::CREATED;
    let work = Work::new(&server.endpoint, Method::POST, Some(JSON), created, calls)?;
    load::run(server, clients, work).await
}

pub(crate) async fn patch(server: &Server, clients: usize, requests: usize) -> Result<Outcome> {
    let path = custom_path(PLURAL);
    let body = bytes::Bytes::from_static(br#"{"spec":{"color":"green"}}"#);
    let calls = (0..requests).map(|number| (format!("{path}/w{number}"), body.clone()));
    let ok = StatusCode::OK;
    let work = Work::new(
        &server.endpoint,
        Method::PATCH,
        Some(MERGE_PATCH),
        ok,
        calls,
    )?;
    load::run(server, clients, work).await
}

pub(crate) async fn apply(server: &Server, clients: usize, requests: usize) -> Result<Outcome> {
    let path = custom_path(PLURAL);
    let calls = (0..requests).map(|number| {
        let path = format!("{path}/w{number}?fieldManager=bench&force=true");
        (path, custom(PLURAL, number, "red"))
    });
    let ok = StatusCode::OK;
    let work = Work::new(&server.endpoint, Method::PATCH, Some(APPLY), ok, calls)?;
    load::run(server, clients, work).await
}
