//! Sides take turns, so that what else the machine does falls on all of them; the least disturbed round of each counts.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

const ROUNDS: usize = 31;
const ROUND: Duration = Duration::from_millis(8);

/// Nanoseconds a call, of each side; ours is the first.
pub(crate) struct Row(Vec<f64>);

impl Row {
    /// Ours over that side.
    pub(crate) fn ratio(&self, side: usize) -> f64 {
        self.0[0] / self.0[side]
    }
}

pub(crate) fn compare(name: &str, sides: &mut [&mut dyn FnMut()]) -> Result<Row> {
    ensure!(!sides.is_empty(), "{name}: nothing to compare");
    let mut times = vec![Vec::new(); sides.len()];
    for round in 0..ROUNDS {
        for turn in 0..sides.len() {
            let side = (round + turn) % sides.len();
            times[side].push(time(sides[side]));
        }
    }
    let least = |rounds: &Vec<f64>| rounds.iter().copied().fold(f64::INFINITY, f64::min);
    let row = Row(times.iter().map(least).collect());
    print!("{name:<26}{:>9.2} us", row.0[0] / 1e3);
    for side in 1..sides.len() {
        let ratio = row.ratio(side);
        print!("{:>9.2} us ({ratio:>6.2}x)", row.0[side] / 1e3);
    }
    println!();
    Ok(row)
}

fn time(call: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    let mut calls = 0_u32;
    while start.elapsed() < ROUND {
        for _ in 0..8 {
            call();
        }
        calls += 8;
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
}
