//! Random names, UIDs and numbers.

use std::cell::RefCell;

use aws_lc_rs::rand;

/// What generated names end with: no vowels, so that no words appear, and nothing easily mistaken.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX: usize = 5;
/// The longest name that a generated one may have.
const LONGEST: usize = 63;

/// A name that begins with `base`.
pub(crate) fn name(base: &str) -> String {
    let mut end = base.len().min(LONGEST - SUFFIX);
    while !base.is_char_boundary(end) {
        end -= 1;
    }
    let mut name = base[..end].to_owned();
    for byte in bytes::<SUFFIX>() {
        name.push(char::from(LETTERS[usize::from(byte) % LETTERS.len()]));
    }
    name
}

/// A version 4 UUID.
pub fn uid() -> String {
    encoding::uuid::v4(bytes())
}

/// Any number.
pub fn number() -> u64 {
    u64::from_le_bytes(bytes())
}

/// From 0 up to 1.
pub(crate) fn fraction() -> f64 {
    f64::from(u32::from_le_bytes(bytes())) / (f64::from(u32::MAX) + 1.0)
}

pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    POOL.with_borrow_mut(Pool::take)
}

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { bytes: [0; 1024], used: 1024 }) };
}

/// Random bytes that were made ahead: making a few costs as much as making many. For names, not for keys.
struct Pool {
    bytes: [u8; 1024],
    used: usize,
}

impl Pool {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        const { assert!(N <= 1024) };
        if self.used + N > self.bytes.len() {
            rand::fill(&mut self.bytes)
                .expect("the system's random source works from start to end");
            self.used = 0;
        }
        let taken = self.bytes[self.used..].first_chunk().copied();
        self.used += N;
        taken.expect("there is room for it")
    }
}
