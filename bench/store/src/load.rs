//! Writers at full speed or at a steady rate, the same for both sides.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use bytes::Bytes;
use store::{Store, Txn};
use store_etcd::wire::{Client, PutRequest};
use tokio::task::JoinSet;

/// Who is measured.
#[derive(Clone)]
pub(crate) enum Target {
    Ours(Store),
    /// Writers and watchers are spread over these connections.
    Etcd(Vec<Client>),
}

impl Target {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Ours(_) => "ours",
            Self::Etcd(_) => "etcd",
        }
    }

    pub(crate) fn writer(&self, index: usize) -> Writer {
        match self {
            Self::Ours(store) => Writer::Ours(store.clone()),
            Self::Etcd(clients) => Writer::Etcd(Box::new(clients[index % clients.len()].clone())),
        }
    }
}

pub(crate) enum Writer {
    Ours(Store),
    Etcd(Box<Client>),
}

impl Writer {
    pub(crate) async fn put(&mut self, key: String, value: Vec<u8>) -> Result<()> {
        match self {
            Self::Ours(store) => {
                store.put(key, value).await?;
            }
            Self::Etcd(client) => {
                let request = PutRequest {
                    key: key.into(),
                    value: value.into(),
                    ..PutRequest::default()
                };
                client.put(request).await?;
            }
        }
        Ok(())
    }
}

/// What the writers do: overwrite keys drawn at random, one put after the other.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) prefix: &'static str,
    pub(crate) writers: usize,
    pub(crate) keys: u64,
    pub(crate) value_bytes: usize,
    /// Puts a second of all writers together; without it each puts as fast as it is answered.
    pub(crate) rate: Option<u32>,
    /// Not counted.
    pub(crate) warm_up: Duration,
    pub(crate) measure: Duration,
}

pub(crate) struct Outcome {
    pub(crate) per_second: f64,
    pub(crate) latencies: Latencies,
    /// All puts answered, with those of the warm-up.
    pub(crate) puts: u64,
}

pub(crate) async fn run(target: &Target, load: Load) -> Result<Outcome> {
    let start = Instant::now();
    let (from, until) = (start + load.warm_up, start + load.warm_up + load.measure);
    let mut tasks = JoinSet::new();
    for index in 0..load.writers {
        let mut writer = target.writer(index);
        let mut random = Random::new(index as u64 + 1);
        let mut values = Values::new(load.value_bytes);
        let step = load
            .rate
            .map(|rate| Duration::from_secs(load.writers as u64) / rate);
        let mut due = start + step.unwrap_or_default() * index as u32 / load.writers as u32;
        tasks.spawn(async move {
            let mut latencies = Vec::new();
            let mut puts = 0;
            loop {
                let key = key(load.prefix, random.below(load.keys));
                let value = values.next(&mut random);
                let mut begin = Instant::now();
                if let Some(step) = step {
                    if begin < due {
                        tokio::time::sleep_until(due.into()).await;
                        begin = Instant::now();
                    } else {
                        // Late because the put before took so long: that counts.
                        begin = due;
                    }
                    due += step;
                }
                if begin >= until {
                    return anyhow::Ok((latencies, puts));
                }
                writer.put(key, value).await?;
                let end = Instant::now();
                puts += 1;
                if begin >= from && end <= until {
                    latencies.push(end - begin);
                }
            }
        });
    }
    let mut all = Vec::new();
    let mut puts = 0;
    while let Some(done) = tasks.join_next().await {
        let (latencies, count) = done??;
        all.extend(latencies);
        puts += count;
    }
    ensure!(
        !all.is_empty(),
        "{}: no put was answered within {:?}",
        target.name(),
        load.measure
    );
    Ok(Outcome {
        per_second: all.len() as f64 / load.measure.as_secs_f64(),
        latencies: Latencies::new(all),
        puts,
    })
}

/// Fills keys 0 to `keys` in transactions of a hundred puts.
pub(crate) async fn fill(
    store: &Store,
    prefix: &'static str,
    keys: u64,
    value_bytes: usize,
) -> Result<()> {
    const TASKS: u64 = 8;
    const OPERATIONS: usize = 100;
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let store = store.clone();
        tasks.spawn(async move {
            let mut random = Random::new(task + 1);
            let mut values = Values::new(value_bytes);
            let mut numbers = (0..keys).skip(usize::try_from(task)?).step_by(8).peekable();
            while numbers.peek().is_some() {
                let mut txn = Txn::new();
                for number in numbers.by_ref().take(OPERATIONS) {
                    txn = txn.put(key(prefix, number), values.next(&mut random));
                }
                store.txn(txn).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

pub(crate) fn key(prefix: &str, number: u64) -> String {
    format!("{prefix}object-{number:010}")
}

/// Sorted.
#[derive(Debug)]
pub(crate) struct Latencies(Vec<Duration>);

impl Latencies {
    pub(crate) fn new(mut all: Vec<Duration>) -> Self {
        all.sort_unstable();
        Self(all)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Milliseconds below which this many of a thousand lie.
    pub(crate) fn per_mille(&self, share: usize) -> f64 {
        let index = self.0.len() * share / 1000;
        let latency = self.0.get(index).or(self.0.last());
        latency.map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e3)
    }
}

/// Values no compressor gets smaller, each different from the one before.
pub(crate) struct Values {
    noise: Bytes,
    size: usize,
}

impl Values {
    pub(crate) fn new(size: usize) -> Self {
        let mut random = Random::new(0x5eed);
        let noise = (0..size / 8 + 4096)
            .flat_map(|_| random.next().to_le_bytes())
            .collect();
        Self { noise, size }
    }

    /// Owned bytes, as a server has them after decoding a request.
    pub(crate) fn next(&mut self, random: &mut Random) -> Vec<u8> {
        let room = (self.noise.len() - self.size) as u64;
        let at = usize::try_from(random.below(room)).unwrap_or(0);
        let mut value = self.noise[at..at + self.size].to_vec();
        value[..8].copy_from_slice(&random.next().to_le_bytes());
        value
    }
}

/// xorshift64: the same sequence in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }
}

/// The middle one; of an even number the upper of the two.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
