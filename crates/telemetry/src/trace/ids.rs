//! Identities: unpredictable enough to be unique, cheap enough to give one to every span. No secrets.

use std::cell::RefCell;

use aws_lc_rs::rand;

use crate::context::{SpanId, TraceId};

pub(super) fn trace() -> TraceId {
    GENERATOR.with_borrow_mut(|it| {
        loop {
            if let Some(id) = TraceId::new(u128::from(it.next()) << 64 | u128::from(it.next())) {
                return id;
            }
        }
    })
}

pub(super) fn span() -> SpanId {
    GENERATOR.with_borrow_mut(|it| {
        loop {
            if let Some(id) = SpanId::new(it.next()) {
                return id;
            }
        }
    })
}

/// What the ids of a request's spans are made of.
pub(super) fn seed() -> u64 {
    GENERATOR.with_borrow_mut(Generator::next)
}

/// The id of the span at an index. All of one seed differ, as every step can be undone, and look random.
#[inline]
pub(super) fn derived(seed: u64, index: u32) -> SpanId {
    let id = mixed(seed.wrapping_add(u64::from(index).wrapping_mul(STEP)));
    // One of 2^64 is no id. What stands for it is another's only once in as many seeds.
    let id = if id == 0 { STEP } else { id };
    SpanId::new(id).expect("it is not zero")
}

/// The odd number next to 2^64 divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The last steps of splitmix64, by Steele, Lea and Flood.
#[inline]
fn mixed(mut value: u64) -> u64 {
    value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

thread_local! {
    static GENERATOR: RefCell<Generator> = RefCell::new(Generator::seeded());
}

/// xoshiro256++, by Blackman and Vigna.
struct Generator([u64; 4]);

impl Generator {
    fn seeded() -> Self {
        let mut seed = [0; 32];
        rand::fill(&mut seed).expect("the system's random source works from start to end");
        let mut state = [1; 4];
        for (word, bytes) in state.iter_mut().zip(seed.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().expect("chunks are of eight bytes"));
        }
        Self(state)
    }

    fn next(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.0;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_of_one_seed_differ() {
        for seed in [0, 1, u64::MAX, STEP.wrapping_neg(), seed()] {
            let ids: BTreeSet<_> = (0..512).map(|it| derived(seed, it)).collect();
            assert_eq!(ids.len(), 512, "{seed}");
        }
        assert_ne!(derived(1, 0), derived(2, 0));
    }
}
