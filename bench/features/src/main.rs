//! What asking for a feature gate costs: nanoseconds a call, and what resolving the flags costs once at the start.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use features::{Flags, Gate, Registry, Snapshot, gate};

/// `enabled()` may take this long, in nanoseconds.
const BAR: f64 = 2.0;

const ROUNDS: usize = 31;
const ROUND: Duration = Duration::from_millis(8);
const CALLS: u32 = 10_000;

fn main() -> Result<()> {
    let flags = Flags {
        feature_gates: vec!["AllAlpha=true,AllBeta=true".to_owned()],
        ..Flags::default()
    };
    let registry = Registry::kubernetes();
    let settings = flags.resolve(registry)?;
    let gates = settings.snapshot();

    let one = least(CALLS, &mut || repeat(&gates, gate!("NodeSwap")));
    let names = registry.gates().iter().map(|it| it.name.as_str());
    let all: Vec<Gate> = names.filter_map(|it| registry.find(it)).collect();
    let many = least(CALLS, &mut || walk(&gates, &all));
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

fn repeat(gates: &Snapshot, gate: Gate) {
    for _ in 0..CALLS {
        black_box(black_box(gates).enabled(black_box(gate)));
    }
}

fn walk(gates: &Snapshot, all: &[Gate]) {
    for gate in all.iter().cycle().take(CALLS as usize) {
        black_box(black_box(gates).enabled(*gate));
    }
}

/// Nanoseconds a call in the least disturbed round.
fn least(calls: u32, work: &mut dyn FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut done = 0_u32;
        while start.elapsed() < ROUND {
            work();
            done += calls;
        }
        least = least.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(done));
    }
    least
}
