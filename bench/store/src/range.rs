//! Row `range`: all of ten thousand objects.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use store::{Entry, Store, prefix_end};
use store_etcd::wire::{Client, Operation, PutRequest, RangeRequest, TxnRequest};

use crate::load::{Random, Values, fill, key, median};
use crate::report::{Bar, Line, Report};
use crate::{Plan, order, say};

const PREFIX: &str = "/bench/range/";
const KEYS: u64 = 10_000;
const VALUE: usize = 1024;

pub(crate) async fn measure(
    plan: &Plan,
    store: &Store,
    client: &Client,
    report: &mut Report,
) -> Result<()> {
    fill(store, PREFIX, KEYS, VALUE).await?;
    fill_etcd(client).await?;
    let mut rounds = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..plan.rounds {
        for side in order(round) {
            if side == 0 {
                rounds[0].push(ours(store, plan.seconds).await?);
            } else {
                let half = plan.seconds / 2;
                rounds[1].push(etcd(client, half, true).await?);
                rounds[2].push(etcd(client, half, false).await?);
            }
        }
        say(&format!("range, round {}", round + 1));
    }
    let [ours, serializable, linearizable] = rounds.map(median);
    for (how, etcd) in [
        ("serializable", serializable),
        ("linearizable", linearizable),
    ] {
        // Ranges a second, so that more is better and the bar reads as it is written.
        let what = format!("ranges of 10,000 x 1 KiB a second, {how}");
        report.add(
            Line::new("range", what, 1.0 / ours, "/s")
                .against("etcd", 1.0 / etcd)
                .bar(Bar::AtLeast(10.0)),
        );
    }
    Ok(())
}

/// Median seconds of one range: a snapshot, every value touched and shared into a list.
async fn ours(store: &Store, time: Duration) -> Result<f64> {
    let start = Instant::now();
    let mut taken = Vec::new();
    while start.elapsed() < time {
        let begin = Instant::now();
        let snapshot = store.snapshot().await?;
        let mut bytes = 0;
        let entries: Vec<Arc<Entry>> = snapshot
            .range(PREFIX.as_bytes())
            .inspect(|entry| bytes += entry.value.len())
            .cloned()
            .collect();
        taken.push(begin.elapsed().as_secs_f64());
        ensure!(bytes as u64 == KEYS * VALUE as u64 && entries.len() as u64 == KEYS);
        // The other side's connection task wants to live too.
        tokio::task::yield_now().await;
    }
    Ok(median(taken))
}

async fn etcd(client: &Client, time: Duration, serializable: bool) -> Result<f64> {
    let request = RangeRequest {
        key: PREFIX.into(),
        range_end: prefix_end(PREFIX.as_bytes()).unwrap_or_default(),
        serializable,
        ..RangeRequest::default()
    };
    let start = Instant::now();
    let mut taken = Vec::new();
    while start.elapsed() < time {
        let request = request.clone();
        let begin = Instant::now();
        let answer = client.range(request).await?;
        let bytes: usize = answer.kvs.iter().map(|entry| entry.value.len()).sum();
        taken.push(begin.elapsed().as_secs_f64());
        ensure!(bytes as u64 == KEYS * VALUE as u64 && answer.kvs.len() as u64 == KEYS);
    }
    Ok(median(taken))
}

async fn fill_etcd(client: &Client) -> Result<()> {
    let mut random = Random::new(1);
    let mut values = Values::new(VALUE);
    let numbers: Vec<_> = (0..KEYS).collect();
    for chunk in numbers.chunks(100) {
        let put = |number: &u64| {
            let put = PutRequest {
                key: key(PREFIX, *number).into(),
                value: values.next(&mut random).into(),
                ..PutRequest::default()
            };
            Operation::Put(put).into()
        };
        let txn = TxnRequest {
            success: chunk.iter().map(put).collect(),
            ..TxnRequest::default()
        };
        client.txn(txn).await?;
    }
    Ok(())
}
