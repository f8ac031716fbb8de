//! Writes at a million keys, the file's growth, and the way back: opening and loading everything.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use store::engine::Engine;
use store::{Options, embedded};

use crate::candidate::Kind;
use crate::drive::Driver;
use crate::files::{forget_pages, settle, size};

pub(crate) const BATCHES: [usize; 4] = [1, 16, 64, 256];
/// An engine still busy with the load after this is measured as it is.
const SETTLE: Duration = Duration::from_secs(180);

#[derive(Debug)]
pub(crate) struct Speed {
    /// For each of [`BATCHES`].
    pub(crate) batches: Vec<Batch>,
    pub(crate) disk_over_data: f64,
    pub(crate) reopen: Duration,
}

#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) per_second: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    pub(crate) worst: Duration,
}

pub(crate) fn measure(kind: Kind, dir: &Path, keys: u64, time: Duration) -> Result<Speed> {
    let options = Options::default();
    let (engine, empty) = kind.open(dir, &options)?;
    let mut driver = Driver::new(engine, empty, &options);
    let failed = |error| anyhow!("{}: {error:?}", kind.name());
    let mut left = keys;
    while left > 0 {
        let count = left.min(256);
        driver.create(usize::try_from(count)?).map_err(failed)?;
        left -= count;
    }
    settle(dir, SETTLE);
    let mut batches = Vec::new();
    for count in BATCHES {
        batches.push(batch(&mut driver, count, time).map_err(failed)?);
    }
    let snapshot = driver.view.latest();
    let live: usize = snapshot.range(b"").map(|entry| entry.size()).sum();
    let expected = snapshot.len();
    let disk_over_data = size(dir)? as f64 / live as f64;
    driver.engine.close()?;
    drop(snapshot);
    drop(driver);

    forget_pages(dir)?;
    let start = Instant::now();
    let (engine, recovered) = kind.open(dir, &options)?;
    let store = embedded::with_engine(engine, recovered, &options)?;
    let reopen = start.elapsed();
    let found = store.latest().len();
    ensure!(
        found == expected,
        "{}: {found} keys after reopening, {expected} before",
        kind.name()
    );
    Ok(Speed {
        batches,
        disk_over_data,
        reopen,
    })
}

/// Counts the engine's time only: making values and publishing is the same for all.
fn batch(
    driver: &mut Driver,
    count: usize,
    time: Duration,
) -> Result<Batch, store::engine::AppendError> {
    let mut taken = Vec::new();
    let mut total = Duration::ZERO;
    while total < time {
        let one = driver.change(count)?;
        if count == 1 {
            // A lone writer leaves nothing waiting, and the store then lets the engine tidy up.
            driver.engine.idle();
        }
        total += one;
        taken.push(one);
    }
    let writes = taken.len() * count;
    taken.sort_unstable();
    let share = |per_mille: usize| taken[(taken.len() - 1) * per_mille / 1000];
    Ok(Batch {
        per_second: writes as f64 / total.as_secs_f64(),
        p50: share(500),
        p99: share(990),
        worst: share(1000),
    })
}
