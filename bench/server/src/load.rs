//! Clients that each send one request after the other, the same for both sides.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::header::HeaderMap;
use http::{Method, StatusCode, Uri};
use tokio::task::JoinSet;

use crate::client::Endpoint;
use crate::objects;
use crate::process::own_cpu;
use crate::server::Server;

/// Requests that differ in path and body only, made before the clock starts.
pub(crate) struct Work {
    method: Method,
    headers: HeaderMap,
    expected: StatusCode,
    calls: Vec<(Uri, Bytes)>,
    /// Go round again until then instead of sending each request once.
    during: Option<Duration>,
    /// An answer shorter than this is not what was asked for.
    at_least: usize,
}

impl Work {
    pub(crate) fn new(
        endpoint: &Endpoint,
        method: Method,
        content_type: Option<&'static str>,
        expected: StatusCode,
        calls: impl IntoIterator<Item = (String, Bytes)>,
    ) -> Result<Self> {
        let calls = calls.into_iter();
        let calls: Result<_> = calls
            .map(|(path, body)| Ok((endpoint.uri(&path)?, body)))
            .collect();
        Ok(Self {
            method,
            headers: objects::headers(content_type),
            expected,
            calls: calls?,
            during: None,
            at_least: 0,
        })
    }

    /// Reads of these paths.
    pub(crate) fn gets(
        endpoint: &Endpoint,
        paths: impl IntoIterator<Item = String>,
    ) -> Result<Self> {
        let calls = paths.into_iter().map(|path| (path, Bytes::new()));
        Self::new(endpoint, Method::GET, None, StatusCode::OK, calls)
    }

    pub(crate) fn during(mut self, length: Duration) -> Self {
        self.during = Some(length);
        self
    }

    pub(crate) fn at_least(mut self, bytes: usize) -> Self {
        self.at_least = bytes;
        self
    }

    /// The call of a turn, none when all is done.
    fn call(&self, turn: usize, since: Duration) -> Option<&(Uri, Bytes)> {
        match self.during {
            None => self.calls.get(turn),
            Some(length) if since < length => self.calls.get(turn % self.calls.len()),
            Some(_) => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) requests: usize,
    pub(crate) per_second: f64,
    /// Milliseconds.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    /// Milliseconds of CPU a request, of the server and of the bench itself.
    pub(crate) cpu_each: f64,
    pub(crate) own_cpu_each: f64,
}

pub(crate) async fn run(server: &Server, clients: usize, work: Work) -> Result<Outcome> {
    let work = Arc::new(work);
    let turns = Arc::new(AtomicUsize::new(0));
    let clients = server.endpoint.clients(clients).await?;
    let (cpu, own) = (server.cpu()?, own_cpu()?);
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for mut client in clients {
        let (work, turns) = (Arc::clone(&work), Arc::clone(&turns));
        tasks.spawn(async move {
            let mut latencies = Vec::with_capacity(1 << 12);
            loop {
                let begin = Instant::now();
                let turn = turns.fetch_add(1, Ordering::Relaxed);
                let Some((uri, body)) = work.call(turn, begin - start) else {
                    return anyhow::Ok(latencies);
                };
                let headers = work.headers.clone();
                let request = objects::request(&work.method, uri.clone(), headers, body.clone());
                let answer = client.call(request, work.expected).await;
                let bytes = answer.with_context(|| format!("{} {uri}", work.method))?;
                ensure!(bytes >= work.at_least, "{uri}: only {bytes} bytes");
                latencies.push(begin.elapsed());
            }
        });
    }
    let mut latencies = Vec::new();
    while let Some(done) = tasks.join_next().await {
        latencies.extend(done??);
    }
    let seconds = start.elapsed().as_secs_f64();
    let requests = latencies.len();
    ensure!(requests > 0, "no request was answered");
    let latencies = Latencies::new(latencies);
    Ok(Outcome {
        requests,
        per_second: requests as f64 / seconds,
        p50: latencies.per_mille(500),
        p99: latencies.per_mille(990),
        cpu_each: (server.cpu()? - cpu) * 1e3 / requests as f64,
        own_cpu_each: (own_cpu()? - own) * 1e3 / requests as f64,
    })
}

/// Sorted.
pub(crate) struct Latencies(Vec<Duration>);

impl Latencies {
    pub(crate) fn new(mut all: Vec<Duration>) -> Self {
        all.sort_unstable();
        Self(all)
    }

    /// Milliseconds below which this many of a thousand lie.
    pub(crate) fn per_mille(&self, share: usize) -> f64 {
        let latency = self.0.get(self.0.len() * share / 1000).or(self.0.last());
        latency.map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e3)
    }
}

/// The middle one; of an even number the upper of the two.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
