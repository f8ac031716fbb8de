//! Hot path. What a parser needs while it works, kept by the thread for the next: without it, a third of the time to
//! parse a small object went into allocating.

use std::cell::Cell;

use crate::{Text, Value};

/// Strings of these lengths are remembered: shorter ones need no memory of their own, longer ones seldom repeat.
const REMEMBERED: std::ops::RangeInclusive<usize> = 16..=40;
const PLACES: usize = 512;
/// A thread does not keep more pairs or items than this.
const MOST_KEPT: usize = 4096;

thread_local! {
    static SCRATCH: Cell<Option<Scratch>> = const { Cell::new(None) };
}

pub(super) struct Scratch {
    /// Pairs and items of the objects and arrays that are open, so that each is allocated once, with its size. Values
    /// are made in place here and moved in bulk: to move what was just written stalls the processor.
    pub(super) pairs: Vec<(Text, Value)>,
    pub(super) items: Vec<Value>,
    /// A string without its escapes.
    pub(super) unescaped: String,
    /// Strings seen lately, each at the place of its hash. The same keys come again and again, and clones share.
    pub(super) seen: Vec<Text>,
}

impl Scratch {
    pub(super) fn take() -> Self {
        SCRATCH.take().unwrap_or_else(|| Self {
            pairs: Vec::with_capacity(64),
            items: Vec::with_capacity(64),
            unescaped: String::new(),
            seen: vec![Text::new(); PLACES],
        })
    }

    pub(super) fn give_back(mut self) {
        self.pairs.clear();
        self.items.clear();
        self.pairs.shrink_to(MOST_KEPT);
        self.items.shrink_to(MOST_KEPT);
        self.unescaped.clear();
        self.unescaped.shrink_to(MOST_KEPT);
        SCRATCH.set(Some(self));
    }

    /// Puts the text into a place that holds none yet, shared with one that came before if it is still remembered.
    #[inline]
    pub(super) fn fill(seen: &mut [Text], place: &mut Text, text: &str) {
        if place.fill(text) {
            return;
        }
        let known = REMEMBERED
            .contains(&text.len())
            .then(|| hash(text.as_bytes()))
            .flatten()
            .and_then(|hash| seen.get_mut(hash));
        let Some(known) = known else {
            *place = text.into();
            return;
        };
        if **known != *text {
            *known = text.into();
        }
        *place = known.clone();
    }
}

#[inline]
fn hash(text: &[u8]) -> Option<usize> {
    let first = u64::from_le_bytes(*text.first_chunk()?);
    let last = u64::from_le_bytes(*text.last_chunk()?);
    let mixed = (first.rotate_left(23) ^ last).wrapping_add(text.len() as u64);
    let hash = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PLACES.ilog2());
    usize::try_from(hash).ok()
}
