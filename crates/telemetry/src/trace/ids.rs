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
