//! Row `watch`: a hundred watchers of one namespace's `ConfigMaps` while others are created.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http::StatusCode;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use memchr::memmem::{self, Finder};
use tokio::task::JoinSet;

use crate::client::Client;
use crate::load::Latencies;
use crate::objects::{CONFIG_MAPS, config_map, get, post};
use crate::plan::say;
use crate::process::own_cpu;
use crate::server::Server;
use crate::verbs;

const WATCHERS: usize = 100;
const WRITERS: usize = 16;
/// All events must have arrived this long after the last write.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often the row at full speed is tried.
const TRIES: usize = 3;
/// Watches are set up behind their first answer.
const SETTLE: Duration = Duration::from_millis(300);

pub(crate) struct Seen {
    /// Events a second over all watchers, from the first write to the last event.
    pub(crate) per_second: f64,
    /// From the answer to a write until a watcher has its event, nothing where the event came first.
    pub(crate) answered: Latencies,
    /// From sending the write.
    pub(crate) sent: Latencies,
    /// CPU seconds of the server.
    pub(crate) cpu: f64,
    /// Milliseconds of CPU an event of the bench itself.
    pub(crate) own_cpu_each: f64,
}

/// A watch that ended too soon.
#[derive(Debug)]
struct Ended {
    count: usize,
    expected: usize,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, expected } = self;
        write!(f, "the watch ended after {count} of {expected} events")
    }
}

impl std::error::Error for Ended {}

/// When a write was sent and when it was answered.
type Write = (usize, Instant, Instant);

/// Watches so many creates that come as fast as they can. A server may drop a watcher that does not keep up, and says
/// so by ending the watch: then the row is measured anew.
pub(crate) async fn at_full_speed(server: &mut Server, writes: usize) -> Result<Seen> {
    for attempt in 1..TRIES {
        server.objects += writes;
        match run(server, &format!("watch-full-{attempt}"), writes, None).await {
            Err(error) if error.is::<Ended>() => say(&format!("{error}: once more")),
            measured => return measured,
        }
    }
    server.objects += writes;
    run(server, "watch-full", writes, None).await
}

/// Watches so many creates, at full speed or at a rate a second.
pub(crate) async fn run(
    server: &Server,
    name: &str,
    writes: usize,
    rate: Option<u32>,
) -> Result<Seen> {
    let mut watchers = JoinSet::new();
    for (client, body) in open(server).await? {
        watchers.spawn(receive(client, body, format!("\"name\":\"{name}-"), writes));
    }
    tokio::time::sleep(SETTLE).await;
    let clients = server.endpoint.clients(WRITERS).await?;
    let bodies: Arc<Vec<_>> = Arc::new(
        (0..writes)
            .map(|number| config_map(&format!("{name}-{number}"), "w"))
            .collect(),
    );
    let uri = server.endpoint.uri(CONFIG_MAPS)?;
    let turns = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    let (cpu, own) = (server.cpu()?, own_cpu()?);
    let start = Instant::now();
    for mut client in clients {
        let (bodies, turns, uri) = (Arc::clone(&bodies), Arc::clone(&turns), uri.clone());
        tasks.spawn(async move {
            let mut done: Vec<Write> = Vec::new();
            loop {
                let number = turns.fetch_add(1, Ordering::Relaxed);
                let Some(body) = bodies.get(number) else {
                    return anyhow::Ok(done);
                };
                if let Some(rate) = rate {
                    let due = Duration::from_secs(number as u64) / rate;
                    tokio::time::sleep_until((start + due).into()).await;
                }
                let sent = Instant::now();
                let request = post(uri.clone(), body.clone());
                client.call(request, StatusCode::CREATED).await?;
                done.push((number, sent, Instant::now()));
            }
        });
    }
    let mut times = vec![(start, start); writes];
    while let Some(done) = tasks.join_next().await {
        for (number, sent, answered) in done?? {
            times[number] = (sent, answered);
        }
    }
    let (mut answered, mut sent, mut last) = (Vec::new(), Vec::new(), start);
    let all = async {
        while let Some(done) = watchers.join_next().await {
            for (at, (asked, told)) in done??.into_iter().zip(&times) {
                answered.push(at.saturating_duration_since(*told));
                sent.push(at.saturating_duration_since(*asked));
                last = last.max(at);
            }
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(PATIENCE, all)
        .await
        .with_context(|| format!("a watcher has not got all of {writes} events"))??;
    let events = (writes * WATCHERS) as f64;
    Ok(Seen {
        per_second: events / (last - start).as_secs_f64(),
        answered: Latencies::new(answered),
        sent: Latencies::new(sent),
        cpu: server.cpu()? - cpu,
        own_cpu_each: (own_cpu()? - own) * 1e3 / events,
    })
}

/// Memory of the server after so many more creates that a hundred watchers see.
pub(crate) async fn memory_with_watchers(server: &Server, creates: usize) -> Result<f64> {
    let mut watchers = JoinSet::new();
    for (client, body) in open(server).await? {
        watchers.spawn(receive(client, body, "\"name\":\"end-".into(), creates + 1));
    }
    tokio::time::sleep(SETTLE).await;
    if creates > 0 {
        verbs::create_named(server, WRITERS, "end", 0..creates).await?;
    }
    server.memory()
}

/// A hundred watches from now on.
async fn open(server: &Server) -> Result<Vec<(Client, Incoming)>> {
    let mut client = server.endpoint.connect().await?;
    let uri = server.endpoint.uri(&format!("{CONFIG_MAPS}?limit=1"))?;
    let page = client.read(get(uri), StatusCode::OK).await?;
    let key = b"\"resourceVersion\":\"";
    let at = memmem::find(&page, key).context("a list without a resource version")?;
    let version: String = page[at + key.len()..]
        .iter()
        .map_while(|byte| byte.is_ascii_digit().then_some(char::from(*byte)))
        .collect();
    let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion={version}");
    let uri = server.endpoint.uri(&path)?;
    let mut watches = Vec::new();
    for mut client in server.endpoint.watchers(WATCHERS).await? {
        let body = client.open(get(uri.clone()), StatusCode::OK).await?;
        watches.push((client, body));
    }
    Ok(watches)
}

/// When each of so many events came, by the number at the end of the object's name. Each must come once.
async fn receive(
    // Its connection ends with it.
    _client: Client,
    mut body: Incoming,
    needle: String,
    expected: usize,
) -> Result<Vec<Instant>> {
    let needle = Finder::new(&needle).into_owned();
    let mut seen = vec![None; expected];
    let mut count = 0;
    let mut rest: Vec<u8> = Vec::new();
    while count < expected {
        let Some(frame) = body.frame().await else {
            return Err(Ended { count, expected }.into());
        };
        let frame = frame?;
        let Some(mut data) = frame.data_ref().map(|data| &data[..]) else {
            continue;
        };
        let now = Instant::now();
        while let Some(end) = memchr::memchr(b'\n', data) {
            let line = if rest.is_empty() {
                &data[..end]
            } else {
                rest.extend_from_slice(&data[..end]);
                &rest[..]
            };
            if let Some(number) = number(line, &needle) {
                let slot = seen.get_mut(number).context("an event nobody caused")?;
                ensure!(slot.replace(now).is_none(), "event {number} came twice");
                count += 1;
            }
            rest.clear();
            data = &data[end + 1..];
        }
        rest.extend_from_slice(data);
    }
    seen.into_iter()
        .collect::<Option<_>>()
        .context("an event is missing")
}

fn number(line: &[u8], needle: &Finder<'_>) -> Option<usize> {
    let digits = &line[needle.find(line)? + needle.needle().len()..];
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Finder, number};

    #[test]
    fn events_are_told_by_the_number_in_their_name() {
        let needle = Finder::new("\"name\":\"watch-full-");
        let event = |name: &str| {
            format!("{{\"type\":\"ADDED\",\"object\":{{\"metadata\":{{\"name\":\"{name}\"}}}}}}")
        };
        let found = |name| number(event(name).as_bytes(), &needle);
        assert_eq!(found("watch-full-0"), Some(0));
        assert_eq!(found("watch-full-1999"), Some(1999));
        assert_eq!(found("watch-paced-7"), None);
        assert_eq!(found("watch-full-"), None);
    }
}
