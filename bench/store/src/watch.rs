//! Row `watch`: events delivered to a hundred watchers of one prefix while writers write at full speed.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use store::{Watch, prefix_end};
use store_etcd::wire::{WatchCreateRequest, WatchStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::load::{Load, Target, median, run};
use crate::report::{Bar, Line, Report};
use crate::{Plan, order, say};

const PREFIX: &str = "/bench/watch/";
const WATCHERS: usize = 100;
/// All events must have arrived this long after the last write.
const PATIENCE: Duration = Duration::from_secs(120);

enum Watcher {
    Ours(Watch),
    Etcd(WatchStream),
}

pub(crate) async fn measure(plan: &Plan, both: [&Target; 2], report: &mut Report) -> Result<()> {
    let mut rates = [Vec::new(), Vec::new()];
    let mut puts = [Vec::new(), Vec::new()];
    for round in 0..plan.rounds {
        for side in order(round) {
            let (events, written) = once(plan, both[side]).await?;
            let name = both[side].name();
            say(&format!(
                "watch, round {}, {name}: {events:.0} events/s",
                round + 1
            ));
            rates[side].push(events);
            puts[side].push(written);
        }
    }
    let [ours, etcd] = rates.map(median);
    let what = format!("events delivered a second, {WATCHERS} watchers");
    report.add(
        Line::new("watch", what, ours, "/s")
            .against("etcd", etcd)
            .bar(Bar::AtLeast(4.0)),
    );
    let [ours, etcd] = puts.map(median);
    report.add(Line::new("watch", "puts a second meanwhile", ours, "/s").against("etcd", etcd));
    Ok(())
}

/// Events delivered a second over all watchers, and puts a second.
async fn once(plan: &Plan, target: &Target) -> Result<(f64, f64)> {
    // Writers say how many events there are when they are done.
    let (total, expected) = watch::channel(None);
    let mut watchers = JoinSet::new();
    for index in 0..WATCHERS {
        let watcher = join(target, index).await?;
        watchers.spawn(receive(watcher, expected.clone()));
    }
    let load = Load {
        prefix: PREFIX,
        writers: 64,
        keys: 1000,
        value_bytes: 2000,
        rate: None,
        warm_up: Duration::ZERO,
        measure: plan.seconds,
    };
    let start = Instant::now();
    let outcome = run(target, load).await?;
    total.send_replace(Some(outcome.puts));
    let all = async {
        while let Some(done) = watchers.join_next().await {
            done??;
        }
        anyhow::Ok(())
    };
    let name = target.name();
    tokio::time::timeout(PATIENCE, all)
        .await
        .with_context(|| {
            format!(
                "{name}: watchers did not get all of {} events",
                outcome.puts
            )
        })?
        .with_context(|| {
            format!(
                "{name}: a watcher did not get all of {} events",
                outcome.puts
            )
        })?;
    let delivered = outcome.puts as f64 * WATCHERS as f64;
    Ok((
        delivered / start.elapsed().as_secs_f64(),
        outcome.per_second,
    ))
}

async fn join(target: &Target, index: usize) -> Result<Watcher> {
    Ok(match target {
        Target::Ours(store) => {
            let revision = store.latest().revision();
            Watcher::Ours(store.watch(PREFIX.as_bytes(), revision).await?)
        }
        Target::Etcd(clients) => {
            let client = &clients[index % clients.len()];
            let request = WatchCreateRequest {
                key: PREFIX.into(),
                range_end: prefix_end(PREFIX.as_bytes()).unwrap_or_default(),
                ..WatchCreateRequest::default()
            };
            let mut stream = client.watch(request).await?;
            let first = stream.message().await?.context("the watch ended at once")?;
            ensure!(first.created, "the first answer is not `created`");
            Watcher::Etcd(stream)
        }
    })
}

/// Takes events until as many have come as were written.
async fn receive(mut watcher: Watcher, mut expected: watch::Receiver<Option<u64>>) -> Result<()> {
    let mut tally = Tally::default();
    loop {
        let known = *expected.borrow_and_update();
        if known == Some(tally.events) {
            return Ok(());
        }
        if let Some(known) = known {
            ensure!(tally.events < known, "too many events");
        }
        tokio::select! {
            changed = expected.changed() => changed.context("the writers failed")?,
            taken = watcher.next(&mut tally) => taken?,
        }
    }
}

#[derive(Default)]
struct Tally {
    events: u64,
    bytes: usize,
    last: u64,
}

impl Tally {
    /// Each event must be newer than the one before: none twice, none out of order.
    fn take(&mut self, revision: u64, value: &[u8]) -> Result<()> {
        let last = self.last;
        ensure!(revision > last, "revision {revision} came after {last}");
        self.last = revision;
        self.events += 1;
        self.bytes += std::hint::black_box(value).len();
        Ok(())
    }
}

impl Watcher {
    /// Waits for the next events and looks at each.
    async fn next(&mut self, tally: &mut Tally) -> Result<()> {
        match self {
            Self::Ours(watch) => {
                for event in watch.next().await?.iter() {
                    let value = event.current.as_ref().map(|entry| &entry.value[..]);
                    tally.take(event.revision, value.unwrap_or_default())?;
                }
            }
            Self::Etcd(stream) => {
                let Some(answer) = stream.message().await? else {
                    bail!("the watch ended");
                };
                ensure!(!answer.canceled, "canceled: {}", answer.cancel_reason);
                for entry in answer.events.iter().filter_map(|event| event.kv.as_ref()) {
                    tally.take(entry.mod_revision.unsigned_abs(), &entry.value)?;
                }
            }
        }
        Ok(())
    }
}
