//! What asking for a feature gate costs: nanoseconds a call, and what resolving the flags costs once at the start.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use features::{Flags, Gate, Registry, Snapshot, gate};

/// `enabled()` may take this long, in nanoseconds.
const BAR: f64 = 2.0;

const ROUNDS: usize = 31;
/// Between two looks at the clock.
const BATCH: u32 = 20;
const ROUND: Duration = Duration::from_millis(8);

fn main() -> Result<()> {
    let flags = Flags {
        feature_gates: vec!["AllAlpha=true,AllBeta=true".to_owned()],
        ..Flags::default()
    };
    let registry = Registry::kubernetes();
    let settings = flags.resolve(registry)?;
    let gates = settings.snapshot();

    let names = registry.gates().iter().map(|it| it.name.as_str());
    let all: Vec<Gate> = names.filter_map(|it| registry.find(it)).collect();
    let same = vec![gate!("NodeSwap"); all.len()];
    let calls = u32::try_from(all.len())?;
    let one = least(calls, &mut || {
        black_box(count(black_box(&gates), black_box(&same)));
    });
    let many = least(calls, &mut || {
        black_box(count(black_box(&gates), black_box(&all)));
    });
    let resolve = least(1, &mut || drop(black_box(flags.resolve(registry))));

    println!("enabled(), the same gate          {one:>9.2} ns");
    println!("enabled(), all gates in turn      {many:>9.2} ns");
    println!("resolve flags, snapshot apart     {resolve:>9.0} ns");
    ensure!(
        one <= BAR && many <= BAR,
        "missed: enabled() may take {BAR} ns"
    );
    Ok(())
}

/// How many are on. The compiler can leave out no call: each is an atomic load.
#[inline(never)]
fn count(gates: &Snapshot, asked: &[Gate]) -> usize {
    asked.iter().filter(|it| gates.enabled(**it)).count()
}

/// Nanoseconds a call in the least disturbed round.
fn least(calls: u32, work: &mut dyn FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut done = 0_u32;
        while start.elapsed() < ROUND {
            for _ in 0..BATCH {
                work();
            }
            done += BATCH * calls;
        }
        least = least.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(done));
    }
    least
}
