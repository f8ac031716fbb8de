//! Log levels, by target.

use std::sync::atomic::{AtomicI32, Ordering};

/// A log target with its level. Checking the level costs one atomic read.
#[derive(Debug)]
pub struct Target {
    pub name: &'static str,
    level: AtomicI32,
}

/// Each request. Upstream's file is called that: `--vmodule httplog=3` turns on this and nothing else.
pub static HTTPLOG: Target = Target::new("httplog");
/// The server itself: its files, its start and its end.
pub static SERVER: Target = Target::new("server");
pub static CONTROLLERS: Target = Target::new("controllers");
/// What becomes of traces, metrics and logs.
pub static TELEMETRY: Target = Target::new("telemetry");

pub static ALL: [&Target; 4] = [&HTTPLOG, &SERVER, &CONTROLLERS, &TELEMETRY];

impl Target {
    const fn new(name: &'static str) -> Self {
        Self {
            name,
            level: AtomicI32::new(0),
        }
    }

    /// Whether lines of this level are logged.
    pub fn tells(&self, level: i32) -> bool {
        level <= 0 || level <= self.level.load(Ordering::Relaxed)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not a list of pattern=LEVEL")]
pub struct BadLevels;

#[derive(Debug, Default)]
pub(super) struct Levels {
    pub all: i32,
    pub patterns: Vec<(String, i32)>,
}

impl Levels {
    /// As klog: the first pattern that matches decides.
    fn of(&self, name: &str) -> i32 {
        let own = self.patterns.iter().find(|(it, _)| matches(it, name));
        own.map_or(self.all, |(_, level)| *level)
    }

    pub(super) fn apply(&self) {
        for target in ALL {
            target.level.store(self.of(target.name), Ordering::Relaxed);
        }
    }
}

pub(super) fn parse(text: &str) -> Result<Vec<(String, i32)>, BadLevels> {
    let pairs = text.split(',').filter(|it| !it.is_empty());
    let pairs = pairs.map(|pair| {
        let (pattern, level) = pair.split_once('=').ok_or(BadLevels)?;
        let level = level.parse().map_err(|_| BadLevels)?;
        let is_good = !pattern.is_empty() && pattern.len() <= LONGEST;
        is_good
            .then(|| (pattern.to_owned(), level))
            .ok_or(BadLevels)
    });
    pairs.collect()
}

/// Of a pattern: names are short.
const LONGEST: usize = 64;

/// `*` stands for any text, `?` for one character.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<_>, Vec<_>) = (pattern.chars().collect(), name.chars().collect());
    // Which beginnings of the pattern the name read so far has.
    let mut reached = vec![false; pattern.len() + 1];
    let skip_stars = |reached: &mut Vec<bool>| {
        for (at, wanted) in pattern.iter().enumerate() {
            if reached[at] && *wanted == '*' {
                reached[at + 1] = true;
            }
        }
    };
    reached[0] = true;
    skip_stars(&mut reached);
    for letter in name {
        let mut next = vec![false; pattern.len() + 1];
        for (at, wanted) in pattern.iter().enumerate().filter(|(at, _)| reached[*at]) {
            if *wanted == '*' {
                next[at] = true;
            } else if *wanted == '?' || *wanted == letter {
                next[at + 1] = true;
            }
        }
        reached = next;
        skip_stars(&mut reached);
    }
    reached[pattern.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pattern_that_matches_decides() {
        let level = |all, patterns: &str| {
            let patterns = parse(patterns).unwrap();
            Levels { all, patterns }.of("httplog")
        };
        assert_eq!(level(2, ""), 2);
        assert_eq!(level(0, "httplog=3"), 3);
        assert_eq!(level(0, "other=1,http*=4"), 4);
        assert_eq!(level(0, "httplo?=5"), 5);
        assert_eq!(level(9, "httplog=2"), 2);
        assert_eq!(level(0, "http=9"), 0);
        assert_eq!(level(0, "httplog?=9"), 0);
        assert_eq!(level(3, "h*=0,httplog=9"), 0);
        assert_eq!(level(0, "*log=1"), 1);
    }

    #[test]
    fn what_is_no_list_of_levels() {
        for text in ["x", "=1", "x=y", &format!("{}=1", "*".repeat(65))] {
            assert_eq!(parse(text).unwrap_err(), BadLevels, "{text}");
        }
        assert!(!matches(&"*a".repeat(32), "httplog"), "in a moment");
    }
}
