//! Row `stalls`: what a checkpoint, a compaction and a backup do to puts that arrive at a steady rate.
//!
//! A put is due at a fixed time whether or not the one before has been answered, and its latency counts from then: a
//! stall shows in every put it delays. A disk has bad moments of its own, and the longer one looks the more of them
//! one sees: so each work is followed by a time without it that is as long.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use store::disk::{Pace, Paced};
use store::{Options, Store, embedded};
use tokio::task::JoinSet;

use crate::load::{Latencies, Load, Random, Target, Values, fill, key, median, run};
use crate::report::{Bar, Line, Report};
use crate::svg::{Band, Plot};
use crate::{Plan, say, svg};

const PREFIX: &str = "/bench/stalls/";
const VALUE: usize = 2000;
const WRITERS: u32 = 16;
const WORKS: [&str; 3] = ["checkpoint", "compaction", "backup"];
/// Writers go for so long before the first phase, and before each without work.
const WARM_UP: Duration = Duration::from_secs(1);
/// A checkpoint that has not ended by then will not.
const PATIENCE: Duration = Duration::from_secs(120);

struct Sample {
    due: Instant,
    latency: Duration,
}

struct Phase {
    work: Option<&'static str>,
    from: Instant,
    to: Instant,
}

impl Phase {
    fn name(&self) -> &'static str {
        self.work.unwrap_or("without")
    }

    fn length(&self) -> Duration {
        self.to - self.from
    }
}

pub(crate) async fn measure(plan: &Plan, dir: &Path, report: &mut Report) -> Result<()> {
    // No checkpoint by itself, and a past that compaction has something to do with.
    let quiet = Options {
        checkpoint_bytes: u64::MAX,
        ..Options::default()
    };
    let keys = plan.keys / 10;
    let store = embedded::open(&dir.join("data"), &quiet)?;
    say(&format!("stalls: writing {keys} keys"));
    fill(&store, PREFIX, keys, VALUE).await?;
    store.close().await?;
    // The directory's lock goes with the writer's thread, which the last handle waits for.
    drop(store);

    let mut fewest = usize::MAX;
    let mut figures = Vec::new();
    let mut plot = Plot::new("Latency of puts, ms");
    for round in 0..plan.rounds {
        let mut samples = Vec::new();
        let mut phases = Vec::new();
        quiet_phases(plan, dir, &quiet, keys, &mut samples, &mut phases).await?;
        checkpoint_phases(plan, dir, &quiet, keys, &mut samples, &mut phases).await?;
        for phase in &phases {
            let within = samples
                .iter()
                .filter(|sample| sample.due >= phase.from && sample.due < phase.to);
            let latencies = Latencies::new(within.map(|sample| sample.latency).collect());
            fewest = fewest.min(latencies.count());
            let figure = latencies.per_mille(999);
            figures.push((phase.work, figure));
            say(&format!(
                "stalls, round {}, {}: {:.1} s, p99.9 {figure:.2} ms",
                round + 1,
                phase.name(),
                phase.length().as_secs_f64(),
            ));
        }
        plot = draw(&samples, &phases);
    }
    let of = |work: Option<&str>| {
        let wanted = figures.iter().filter(|(name, _)| *name == work);
        median(wanted.map(|(_, figure)| *figure).collect())
    };
    for work in WORKS {
        let what = format!("put p99.9 during a {work}, {} puts/s", plan.rate);
        report.add(
            Line::new("stalls", what, of(Some(work)), "ms")
                .against("without", of(None))
                .bar(Bar::AtMost(3.0)),
        );
    }
    report.note(format!(
        "stalls: {keys} x 2 kB keys; every checkpoint phase saw a checkpoint end; the shortest phase has {fewest} puts"
    ));
    if let Some(file) = &plan.plot {
        std::fs::write(file, svg::render(&plot))?;
        report.note(format!(
            "stalls: the last round is drawn in {}",
            file.display()
        ));
    }
    Ok(())
}

async fn quiet_phases(
    plan: &Plan,
    dir: &Path,
    options: &Options,
    keys: u64,
    samples: &mut Vec<Sample>,
    phases: &mut Vec<Phase>,
) -> Result<()> {
    let store = embedded::open(&dir.join("data"), options)?;
    // A full history to compact, and enough log for the checkpoint to come.
    let until_full = keys * VALUE as u64;
    let before = store.stats().1.log_bytes.unwrap_or(0);
    let load = Load {
        prefix: PREFIX,
        writers: 64,
        keys,
        value_bytes: VALUE,
        rate: None,
        warm_up: Duration::ZERO,
        measure: Duration::from_secs(1),
    };
    let target = Target::Ours(store.clone());
    while store.stats().1.log_bytes.unwrap_or(u64::MAX) < before + until_full {
        run(&target, load).await?;
    }

    let writers = Writers::start(&store, keys, plan.rate);
    tokio::time::sleep(WARM_UP).await;
    // A new file each time: cutting an old one short would be the bench's own stall, not the store's.
    let file = dir.join(format!("backup-{}", store.latest().revision()));
    let backup = async {
        // As `pilothouse storage backup` writes it.
        let out = Paced::new(Arc::new(File::create(&file)?), &|| Pace::Gentle);
        let (out, _) = store.backup(out).await?;
        tokio::task::spawn_blocking(move || out.finish()).await??;
        Ok(())
    };
    phases.push(with("backup", plan.seconds, backup).await?);
    phases.push(without(&phases).await);
    let compaction = async { Ok(store.compact(store.latest().revision()).await?) };
    phases.push(with("compaction", plan.seconds, compaction).await?);
    phases.push(without(&phases).await);
    samples.extend(writers.stop().await?);
    ensure!(
        store.stats().1.checkpoints == 0,
        "a checkpoint ran in a phase that is to be without"
    );
    store.close().await?;
    Ok(())
}

/// Opened with enough log to free, the store begins a checkpoint with the first write.
async fn checkpoint_phases(
    plan: &Plan,
    dir: &Path,
    quiet: &Options,
    keys: u64,
    samples: &mut Vec<Sample>,
    phases: &mut Vec<Phase>,
) -> Result<()> {
    let eager = Options {
        checkpoint_bytes: 1 << 20,
        ..Options::default()
    };
    let store = embedded::open(&dir.join("data"), &eager)?;
    let writers = Writers::start(&store, keys, plan.rate);
    let start = Instant::now();
    let checkpoint = async {
        while store.stats().1.checkpoints == 0 {
            let stats = store.stats().1;
            ensure!(
                start.elapsed() < PATIENCE && stats.checkpoint_error.is_none(),
                "no checkpoint: {stats:?}"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    };
    phases.push(with("checkpoint", plan.seconds, checkpoint).await?);
    samples.extend(writers.stop().await?);
    store.close().await?;
    drop(store);

    let store = embedded::open(&dir.join("data"), quiet)?;
    let writers = Writers::start(&store, keys, plan.rate);
    phases.push(without(phases).await);
    samples.extend(writers.stop().await?);
    store.close().await?;
    Ok(())
}

async fn with(
    work: &'static str,
    at_least: Duration,
    doing: impl Future<Output = Result<()>>,
) -> Result<Phase> {
    let from = Instant::now();
    let (done, ()) = tokio::join!(doing, tokio::time::sleep(at_least));
    done?;
    Ok(Phase {
        work: Some(work),
        from,
        to: Instant::now(),
    })
}

/// As long as the last phase, after a pause for what it left behind.
async fn without(phases: &[Phase]) -> Phase {
    let last = phases.last().expect("a work comes first");
    tokio::time::sleep(WARM_UP).await;
    let from = Instant::now();
    tokio::time::sleep(last.length()).await;
    Phase {
        work: None,
        from,
        to: Instant::now(),
    }
}

/// Puts at a steady rate until told to stop.
struct Writers {
    tasks: JoinSet<Result<Vec<Sample>>>,
    stop: Arc<AtomicBool>,
}

impl Writers {
    fn start(store: &Store, keys: u64, rate: u32) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let gap = Duration::from_secs(1) * WRITERS / rate.max(1);
        let start = Instant::now();
        let mut tasks = JoinSet::new();
        for index in 0..WRITERS {
            let (store, stop) = (store.clone(), stop.clone());
            let mut random = Random::new(u64::from(index) + 1);
            let mut values = Values::new(VALUE);
            tasks.spawn(async move {
                let mut samples = Vec::new();
                let mut due = start + gap * index / WRITERS;
                while !stop.load(Ordering::Relaxed) {
                    let late = Instant::now() > due;
                    if !late {
                        tokio::time::sleep_until(due.into()).await;
                    }
                    // A timer that fires late is not the store's fault; a put before this one is.
                    let begin = if late { due } else { Instant::now() };
                    let value = values.next(&mut random);
                    store.put(key(PREFIX, random.below(keys)), value).await?;
                    let latency = begin.elapsed();
                    samples.push(Sample { due, latency });
                    due += gap;
                }
                Ok(samples)
            });
        }
        Self { tasks, stop }
    }

    async fn stop(mut self) -> Result<Vec<Sample>> {
        self.stop.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        while let Some(done) = self.tasks.join_next().await {
            all.extend(done??);
        }
        Ok(all)
    }
}

/// Median and maximum of every 50 ms; the time in which nothing was measured (the store was reopened) is left out.
fn draw(samples: &[Sample], phases: &[Phase]) -> Plot {
    const SLICE: Duration = Duration::from_millis(50);
    let mut plot = Plot::new("Latency of puts, ms");
    let mut at = 0.0;
    for phase in phases {
        let length = phase.length().as_secs_f64();
        plot.bands.push(Band {
            name: phase.name(),
            from: at,
            to: at + length,
        });
        let mut from = phase.from;
        while from < phase.to {
            let within = samples
                .iter()
                .filter(|sample| sample.due >= from && sample.due < from + SLICE);
            let slice = Latencies::new(within.map(|sample| sample.latency).collect());
            if slice.count() > 0 {
                let x = at + (from - phase.from).as_secs_f64();
                plot.line.push((x, slice.per_mille(500)));
                plot.points.push((x, slice.per_mille(1000)));
            }
            from += SLICE;
        }
        at += length;
    }
    plot
}
