//! A crash drill for a machine and its disk. Run it, note what it prints on another machine, pull the plug (or
//! `kill -9`), and run it again with `--verify`: everything that was printed must be there.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use bytes::Bytes;
use clap::Args;
use store::{Condition, Snapshot, Store, Txn};

use crate::control;
use crate::data::{self, Directory, Limits};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    directory: Directory,
    #[command(flatten)]
    limits: Limits,
    /// Writers at the same time
    #[arg(long, default_value_t = 16)]
    writers: u32,
    /// Stop by itself after this many seconds
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Bytes of each value
    #[arg(long, default_value_t = 2048)]
    value_bytes: usize,
    /// Do not write: check the store against the lines printed before
    #[arg(long, value_name = "FILE")]
    verify: Option<PathBuf>,
}

pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let store = data::open(&arguments.directory, arguments.limits.options()).await?;
    if let Some(file) = &arguments.verify {
        let lines = BufReader::new(
            std::fs::File::open(file).with_context(|| format!("open {}", file.display()))?,
        );
        let acknowledged = read(lines)?;
        verify(&store.latest(), &acknowledged)?;
        println!(
            "all {} writers' acknowledged writes are there",
            acknowledged.len()
        );
        return Ok(store.close().await?);
    }
    // For a backup under load.
    control::listen(&arguments.directory.socket(), store.clone())?;
    let end = Instant::now() + Duration::from_secs(arguments.seconds);
    let out = Arc::new(Mutex::new(std::io::stdout()));
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..arguments.writers {
        writers.spawn(write(
            store.clone(),
            writer,
            arguments.value_bytes,
            end,
            out.clone(),
        ));
    }
    while let Some(done) = writers.join_next().await {
        done??;
    }
    Ok(store.close().await?)
}

/// Each step moves three keys of one writer together: two copies of the counter, and one that comes and goes.
async fn write(
    store: Store,
    writer: u32,
    size: usize,
    end: Instant,
    out: Arc<Mutex<std::io::Stdout>>,
) -> anyhow::Result<()> {
    let key = |which: &str| Bytes::from(format!("/exercise/{writer:04}/{which}"));
    let mut step = store
        .latest()
        .get(&key("a"))
        .map_or(Ok(0), |entry| counter(&entry.value))?;
    while Instant::now() < end {
        step += 1;
        let mut value = format!("{step:020}").into_bytes();
        value.resize(size.max(20), b'x');
        let value = Bytes::from(value);
        let expected = store.latest().get(&key("a")).map(|entry| entry.modified);
        let condition = expected.map_or_else(
            || Condition::Absent(key("a")),
            |revision| Condition::Unchanged(key("a"), revision),
        );
        let txn = Txn::new()
            .when(condition)
            .put(key("a"), value.clone())
            .put(key("b"), value.clone());
        let txn = if step % 2 == 0 {
            txn.delete(key("odd"))
        } else {
            txn.put(key("odd"), value)
        };
        let revision = store.txn(txn).await?.revision;
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(out, "{writer} {step} {revision}")?;
    }
    Ok(())
}

fn counter(value: &[u8]) -> anyhow::Result<u64> {
    let digits = value
        .get(..20)
        .and_then(|digits| std::str::from_utf8(digits).ok());
    digits
        .and_then(|digits| digits.parse().ok())
        .context("a value is not one that was written")
}

type Acknowledged = HashMap<u32, (u64, u64)>;

/// The last complete line of each writer; the very last line may be cut.
fn read(lines: impl BufRead) -> anyhow::Result<Acknowledged> {
    let mut acknowledged = Acknowledged::new();
    for line in lines.split(b'\n') {
        let line = String::from_utf8(line?)?;
        let numbers: Option<Vec<u64>> = line.split(' ').map(|number| number.parse().ok()).collect();
        if let Some([writer, step, revision]) = numbers.as_deref() {
            acknowledged.insert(u32::try_from(*writer)?, (*step, *revision));
        }
    }
    Ok(acknowledged)
}

fn verify(snapshot: &Snapshot, acknowledged: &Acknowledged) -> anyhow::Result<()> {
    for (writer, (step, revision)) in acknowledged {
        ensure!(
            snapshot.revision() >= *revision,
            "revision went back from {revision} to {}",
            snapshot.revision()
        );
        let value = |which: &str| snapshot.get(format!("/exercise/{writer:04}/{which}").as_bytes());
        let (Some(a), Some(b)) = (value("a"), value("b")) else {
            bail!("writer {writer}: acknowledged step {step} is lost");
        };
        let found = counter(&a.value)?;
        ensure!(
            found >= *step,
            "writer {writer}: acknowledged step {step} is lost, the store has {found}"
        );
        let whole = a.value == b.value && a.modified == b.modified;
        let third = value("odd").map(|entry| &entry.value);
        let expected = (found % 2 == 1).then_some(&a.value);
        ensure!(
            whole && third == expected,
            "writer {writer}: step {found} is there in part"
        );
    }
    Ok(())
}
