//! Loads of one verb each, on `ConfigMaps`.

use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use http::{Method, StatusCode};
use memchr::memmem;

use crate::load::{self, Outcome, Work, median};
use crate::objects::{APPLY, CONFIG_MAPS, JSON, MERGE_PATCH, NAMESPACES, config_map};
use crate::objects::{get, namespace, post};
use crate::server::Server;

/// Lists of everything in one turn.
const LISTS: usize = 5;
/// What an answer with a `ConfigMap` has at least.
const SIZE: usize = 1024;

pub(crate) async fn make_namespace(server: &Server) -> Result<()> {
    let request = post(server.endpoint.uri(NAMESPACES)?, namespace());
    let mut client = server.endpoint.connect().await?;
    client.call(request, StatusCode::CREATED).await?;
    Ok(())
}

/// Creates `cm-N` for each number.
pub(crate) async fn create(
    server: &Server,
    clients: usize,
    numbers: Range<usize>,
) -> Result<Outcome> {
    create_named(server, clients, "cm", numbers).await
}

pub(crate) async fn create_named(
    server: &Server,
    clients: usize,
    name: &str,
    numbers: Range<usize>,
) -> Result<Outcome> {
    let calls = numbers.map(|number| {
        let body = config_map(&format!("{name}-{number}"), "x");
        (CONFIG_MAPS.to_owned(), body)
    });
    let created = StatusCode::CREATED;
    let work = Work::new(&server.endpoint, Method::POST, Some(JSON), created, calls)?;
    load::run(server, clients, work.at_least(SIZE)).await
}

/// The same where nobody asks how fast, and in parts: there may be more bodies than fit into memory.
pub(crate) async fn fill(server: &Server, mut numbers: Range<usize>) -> Result<()> {
    while !numbers.is_empty() {
        let end = numbers.end.min(numbers.start + 10_000);
        create(server, 64, numbers.start..end).await?;
        numbers.start = end;
    }
    Ok(())
}

/// Reads objects out of so many, spread over all of them.
pub(crate) async fn read(
    server: &Server,
    clients: usize,
    objects: usize,
    during: Duration,
) -> Result<Outcome> {
    let paths = scattered(objects).map(|number| format!("{CONFIG_MAPS}/cm-{number}"));
    let work = Work::gets(&server.endpoint, paths)?;
    load::run(server, clients, work.at_least(SIZE).during(during)).await
}

/// Ten thousand numbers below a limit, neighbours far apart.
fn scattered(limit: usize) -> impl Iterator<Item = usize> {
    (0..10_000).map(move |turn| turn * 7919 % limit)
}

/// Seconds to read all `ConfigMaps`, the median of a few times.
pub(crate) async fn list(server: &Server, objects: usize) -> Result<f64> {
    let uri = server.endpoint.uri(CONFIG_MAPS)?;
    let mut client = server.endpoint.connect().await?;
    // Once with a look at what it says.
    let all = client.read(get(uri.clone()), StatusCode::OK).await?;
    let found = memmem::find_iter(&all, b"\"name\":\"cm-").count();
    ensure!(
        found == objects,
        "the list has {found} of {objects} objects"
    );
    let mut seconds = Vec::new();
    for _ in 0..LISTS {
        let start = Instant::now();
        let bytes = client.call(get(uri.clone()), StatusCode::OK).await?;
        seconds.push(start.elapsed().as_secs_f64());
        ensure!(bytes == all.len(), "a list of another length");
    }
    Ok(median(seconds))
}

/// First pages of 500.
pub(crate) async fn pages(server: &Server, clients: usize, during: Duration) -> Result<Outcome> {
    let path = format!("{CONFIG_MAPS}?limit=500");
    let work = Work::gets(&server.endpoint, [path])?;
    load::run(server, clients, work.at_least(500 * SIZE).during(during)).await
}

/// Bytes of an object in JSON.
pub(crate) async fn json_size(server: &Server) -> Result<f64> {
    let uri = server.endpoint.uri(&format!("{CONFIG_MAPS}?limit=500"))?;
    let mut client = server.endpoint.connect().await?;
    Ok(client.call(get(uri), StatusCode::OK).await? as f64 / 500.0)
}

/// Merge patches of so many requests over so many objects, each of which changes something.
pub(crate) async fn patch(
    server: &Server,
    clients: usize,
    requests: usize,
    objects: usize,
) -> Result<Outcome> {
    let calls = (0..requests).map(|turn| {
        let path = format!("{CONFIG_MAPS}/cm-{}", turn * 7919 % objects);
        let body = format!(r#"{{"data":{{"k":"v{turn}"}}}}"#);
        (path, body.into())
    });
    let ok = StatusCode::OK;
    let work = Work::new(
        &server.endpoint,
        Method::PATCH,
        Some(MERGE_PATCH),
        ok,
        calls,
    )?;
    load::run(server, clients, work.at_least(SIZE)).await
}

/// Server-side apply of objects of their own, with this as their data.
pub(crate) async fn apply(
    server: &Server,
    clients: usize,
    requests: usize,
    fill: &str,
    expected: StatusCode,
) -> Result<Outcome> {
    let calls = (0..requests).map(|number| {
        let path = format!("{CONFIG_MAPS}/ssa-{number}?fieldManager=bench&force=true");
        (path, config_map(&format!("ssa-{number}"), fill))
    });
    let work = Work::new(
        &server.endpoint,
        Method::PATCH,
        Some(APPLY),
        expected,
        calls,
    )?;
    load::run(server, clients, work.at_least(SIZE)).await
}

pub(crate) async fn delete(server: &Server, clients: usize, requests: usize) -> Result<Outcome> {
    let calls = (0..requests).map(|number| {
        let path = format!("{CONFIG_MAPS}/cm-{number}");
        (path, bytes::Bytes::new())
    });
    let ok = StatusCode::OK;
    let work = Work::new(&server.endpoint, Method::DELETE, None, ok, calls)?;
    load::run(server, clients, work).await
}
