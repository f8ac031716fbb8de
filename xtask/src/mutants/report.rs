//! How many faults each crate's tests caught.

use std::collections::BTreeMap;

use super::run::{Fate, Verdict};
use crate::Outcome;

/// Of a hundred faults.
const ENOUGH: usize = 90;

pub(super) fn print(fates: &[Fate]) -> Outcome {
    let mut crates: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for fate in fates {
        let (caught, all) = crates.entry(&fate.crate_name).or_default();
        *caught += usize::from(fate.verdict != Verdict::Survived);
        *all += 1;
    }
    println!("\n{:<12} caught of", "crate");
    for (name, (caught, all)) in &crates {
        println!("{name:<12} {caught:>6} {all}");
    }
    let survivors: Vec<&Fate> = fates
        .iter()
        .filter(|it| it.verdict == Verdict::Survived)
        .collect();
    let caught = fates.len() - survivors.len();
    println!("{:<12} {caught:>6} {}\n", "all", fates.len());
    for fate in &survivors {
        println!("survived  {}", fate.fault);
    }
    if caught * 100 < fates.len() * ENOUGH {
        return Err(format!("fewer than {ENOUGH} of 100 faults were caught"));
    }
    Ok(())
}
