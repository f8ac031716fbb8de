//! The store over a real etcd, story by story.

mod compaction;
mod contract;
mod direct;
mod failover;
mod frozen;
mod lost;
mod no_space;
mod prefix;
mod proxy;
mod restart;
mod shared;
mod tls;
mod wire;

use std::time::{Duration, Instant};

use store::{Error, Event, Options, Revision, Snapshot, Store, Watch};
use store_etcd::Config;
use testkit::etcd::Cluster;

/// Long enough for a busy machine; nobody waits for it when all is well.
const PATIENCE: Duration = Duration::from_secs(30);

fn config(endpoints: Vec<String>) -> Config {
    Config {
        endpoints,
        prefix: "/pilothouse".into(),
        request_timeout: Duration::from_secs(3),
        stall_timeout: Duration::from_secs(1),
        ..Config::default()
    }
}

async fn open(cluster: &Cluster) -> Store {
    open_with(config(cluster.endpoints())).await
}

async fn open_with(config: Config) -> Store {
    store_etcd::open(config, &Options::default())
        .await
        .expect("open the store")
}

/// What changed, in a form that compares.
fn told(event: &Event) -> (Revision, String, Option<String>, Option<String>) {
    let value = |entry: &Option<std::sync::Arc<store::Entry>>| {
        let entry = entry.as_ref()?;
        Some(String::from_utf8_lossy(&entry.value).into_owned())
    };
    let key = String::from_utf8_lossy(&event.key).into_owned();
    (
        event.revision,
        key,
        value(&event.current),
        value(&event.previous),
    )
}

/// The next `count` events or more.
async fn next(watch: &mut Watch, count: usize) -> Vec<std::sync::Arc<Event>> {
    let mut events = Vec::new();
    while events.len() < count {
        let changes = tokio::time::timeout(PATIENCE, watch.next()).await;
        events.extend(changes.expect("an event").expect("a watch").iter().cloned());
    }
    events
}

/// How the watch ends; it must not tell anything before.
async fn ended(watch: &mut Watch) -> store::WatchEnd {
    let end = tokio::time::timeout(PATIENCE, watch.next()).await;
    end.expect("the watch goes on").expect_err("an event")
}

fn keys(snapshot: &Snapshot) -> Vec<String> {
    let key = |entry: &std::sync::Arc<store::Entry>| String::from_utf8_lossy(&entry.key).into();
    snapshot.range(b"").map(key).collect()
}

/// Does it again until it succeeds; for what must come back by itself.
async fn eventually<T, F>(what: &str, attempt: impl Fn() -> F) -> T
where
    F: Future<Output = Result<T, Error>>,
{
    let deadline = Instant::now() + PATIENCE;
    loop {
        match attempt().await {
            Ok(done) => return done,
            Err(error) => assert!(Instant::now() < deadline, "{what}: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
