//! Patterns of strings.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use json::Text;

use crate::regexp::Regexp;

/// A pattern, compiled when it is first used: a definition may have thousands.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: Text,
    compiled: Arc<OnceLock<Kept>>,
}

/// What is kept of a compiled pattern, and counted.
#[derive(Debug)]
struct Kept(Result<Regexp, String>);

/// States of all patterns that are kept. Beyond this they are compiled for each use.
const MAX_KEPT: usize = 4 << 20;
static KEPT: AtomicUsize = AtomicUsize::new(0);

impl Drop for Kept {
    fn drop(&mut self) {
        KEPT.fetch_sub(size(&self.0), Ordering::Relaxed);
    }
}

fn size(compiled: &Result<Regexp, String>) -> usize {
    compiled.as_ref().map_or(0, Regexp::size)
}

impl Pattern {
    pub fn new(text: &str) -> Self {
        Self {
            text: text.into(),
            compiled: Arc::default(),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a text matches, or why the pattern is none. Takes from the steps; when none are left the answer means
    /// nothing.
    pub(super) fn is_match(&self, text: &str, steps: &mut usize) -> Result<bool, String> {
        if let Some(Kept(compiled)) = self.compiled.get() {
            return matches(compiled, text, steps);
        }
        let compiled = Regexp::new(&self.text);
        let states = size(&compiled);
        *steps = steps.saturating_sub(states / 8 + 1);
        let found = matches(&compiled, text, steps);
        if KEPT.fetch_add(states, Ordering::Relaxed) + states > MAX_KEPT {
            KEPT.fetch_sub(states, Ordering::Relaxed);
        } else {
            // Another may have been faster; then this one is dropped, and counted no more.
            let _ = self.compiled.set(Kept(compiled));
        }
        found
    }
}

fn matches(
    compiled: &Result<Regexp, String>,
    text: &str,
    steps: &mut usize,
) -> Result<bool, String> {
    match compiled {
        Ok(compiled) => Ok(compiled.is_match(text, steps)),
        Err(why) => Err(why.clone()),
    }
}

/// Whether a text is a pattern at all.
pub(super) fn check(text: &str) -> Result<(), String> {
    Regexp::check(text)
}
