//! Random sequences of operations on a store, each answer compared with a plain reference that remembers everything.
//!
//! The reference counts its own revisions; [`Harness::real`] maps them to the store's, which may start anywhere and
//! have gaps.

mod harness;
mod reference;
mod step;

use proptest::test_runner::{Config, TestRunner};

use crate::suite::{self, Backing};

/// How many sequences to try: `PROPTEST_CASES` if set, else `default`.
pub fn cases(default: u32) -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Tries `cases` sequences of steps, each on a new backing. Panics with the shortest sequence that shows a difference.
pub fn check<B: Backing>(cases: u32, backing: impl Fn() -> B) {
    let config = Config {
        cases,
        max_shrink_iters: 2000,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&step::steps(), |steps| {
        suite::run("model", async {
            let backing = backing();
            harness::run(&backing, &steps).await;
        });
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
