//! Unique ids.

use std::fmt::Write as _;

/// A version 4 UUID (RFC 9562) of random bytes.
pub fn v4(mut random: [u8; 16]) -> String {
    random[6] = random[6] & 0x0f | 0x40;
    random[8] = random[8] & 0x3f | 0x80;
    let mut out = String::with_capacity(36);
    for (index, byte) in random.iter().enumerate() {
        if let 4 | 6 | 8 | 10 = index {
            out.push('-');
        }
        write!(out, "{byte:02x}").expect("a String takes all");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_and_variant_are_set() {
        let table = [
            (0x00, "00000000-0000-4000-8000-000000000000"),
            (0xff, "ffffffff-ffff-4fff-bfff-ffffffffffff"),
        ];
        for (byte, want) in table {
            assert_eq!(v4([byte; 16]), want);
        }
    }
}
