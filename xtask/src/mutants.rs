//! `cargo xtask mutants`: plants faults in crates and sees whether the crate's own tests notice them.
//!
//! All faults of a crate are compiled into one copy of it, each behind a switch: `if crate::planted_fault(17) { .. }`. The tests
//! are then run once for each fault, with its number in the environment, so a fault costs a run of tests and no build. A fault that
//! does not compile is taken out, and another takes its place. The working tree is never changed.

mod build;
mod report;
mod run;
mod scan;
mod sites;

use std::path::PathBuf;

use crate::Outcome;
use sites::Site;

/// The crates whose tests are judged.
const CRATES: [&str; 4] = ["admission", "apiserver", "auth", "store"];

/// A run without other wishes.
const SAMPLE: usize = 100;
const SEED: u64 = 1;

#[derive(Clone, Debug, PartialEq)]
struct Options {
    sample: usize,
    seed: u64,
    crates: Vec<String>,
    /// Only lists what would be planted.
    list: bool,
    /// Runs again the faults that survived an earlier run.
    survivors: bool,
}

impl Options {
    fn read(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            sample: SAMPLE,
            seed: SEED,
            crates: Vec::new(),
            list: false,
            survivors: false,
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            let number = |text: &String| {
                let number = text.parse::<u64>();
                number.map_err(|_| format!("{word}: {text} is not a number"))
            };
            match word.as_str() {
                "--sample" => {
                    let sample = usize::try_from(number(value()?)?);
                    options.sample = sample.map_err(|_| "--sample is too large")?;
                }
                "--seed" => options.seed = number(value()?)?,
                "--crate" => {
                    let name = value()?;
                    if !CRATES.contains(&name.as_str()) {
                        return Err(format!("--crate is one of {}", CRATES.join(", ")));
                    }
                    options.crates.push(name.clone());
                }
                "--list" => options.list = true,
                "--survivors" => options.survivors = true,
                _ => return Err(format!("mutants does not know {word}")),
            }
        }
        Ok(options)
    }

    /// How many faults each crate gets. The sample is for all crates; one that is left out keeps its share to itself, so that a
    /// run for one crate plants the same faults as a run for all.
    fn share(&self, name: &str) -> usize {
        let at = CRATES.iter().position(|it| *it == name).unwrap_or(0);
        self.sample / CRATES.len() + usize::from(at < self.sample % CRATES.len())
    }
}

pub(crate) fn mutants(arguments: &[String]) -> Outcome {
    let options = Options::read(arguments)?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let root = std::env::current_dir().map_err(|error| format!("current directory: {error}"))?;
    let place = root.join(target).join("mutants");
    let all = || CRATES.iter().map(|it| (*it).to_owned()).collect();
    let crates: Vec<String> = match options.crates.as_slice() {
        [] => all(),
        named => named.to_vec(),
    };
    let mut results = Vec::new();
    for name in crates {
        let mut sites = sites::of_crate(&root, &name)?;
        shuffle(&mut sites, options.seed);
        let share = options.share(&name);
        if options.list {
            for (number, site) in sites.iter().take(share).enumerate() {
                println!("{number:>4} {}", site.describe());
            }
            println!("{name}: {share} of {} places", sites.len());
            continue;
        }
        let planted = build::build(&root, &place, &name, &sites, share)?;
        let record = place.join(format!("{name}-{}.txt", options.seed));
        results.extend(run::run(&planted, &record, options.survivors)?);
    }
    if options.list {
        return Ok(());
    }
    report::print(&results)
}

/// Fisher and Yates, by `SplitMix64`: the same order for the same seed on every machine.
fn shuffle(sites: &mut [Site], seed: u64) {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    for last in (1..sites.len()).rev() {
        let bound = u64::try_from(last).unwrap_or(u64::MAX - 1) + 1;
        let other = usize::try_from(next() % bound).unwrap_or(last);
        sites.swap(last, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Result<Options, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Options::read(&words)
    }

    #[test]
    fn a_sample_is_shared_among_the_crates() {
        let options = options("--sample 10 --crate auth").expect("fine");
        let shares: Vec<usize> = CRATES.iter().map(|it| options.share(it)).collect();
        assert_eq!(shares, [3, 3, 2, 2]);
        assert_eq!(options.crates, ["auth"]);
    }

    #[test]
    fn unknown_words_are_refused() {
        assert!(options("--crate json").is_err());
        assert!(options("--sample many").is_err());
        assert!(options("--all").is_err());
    }

    #[test]
    fn a_seed_always_gives_the_same_order() {
        let text = "fn f(a: u8, b: u8) -> bool { a < b }\n".repeat(9);
        let sites = || sites::of_text("x.rs", &text);
        let order = |seed: u64| {
            let mut sites = sites();
            shuffle(&mut sites, seed);
            sites.iter().map(|it| it.start).collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let mut sorted = order(1);
        sorted.sort_unstable();
        assert_eq!(
            sorted,
            sites().iter().map(|it| it.start).collect::<Vec<_>>()
        );
    }
}
