//! CRC-32 as gzip has it, eight bytes at a time: what a byte does to the checksum of those behind it is looked up, so
//! that no byte waits for the one before.

use std::sync::OnceLock;

/// Row `n`: what a byte does when `n` bytes follow it.
type Tables = [[u32; 256]; 8];

/// The checksum of more data. Begins with all bits set, and is told inverted.
pub(super) fn add(mut crc: u32, data: &[u8]) -> u32 {
    let tables = tables();
    let (words, rest) = data.as_chunks::<8>();
    for word in words {
        let mut word = *word;
        for (byte, so_far) in word.iter_mut().zip(crc.to_le_bytes()) {
            *byte ^= so_far;
        }
        let looked_up = word.iter().zip(tables.iter().rev());
        crc = looked_up.fold(0, |sum, (byte, table)| sum ^ table[usize::from(*byte)]);
    }
    for byte in rest {
        crc = tables[0][usize::from(crc.to_le_bytes()[0] ^ byte)] ^ crc >> 8;
    }
    crc
}

const POLYNOMIAL: u32 = 0xedb8_8320;

/// The checksum of two parts, from the checksum of each and the length of the second, as zlib computes it.
pub(super) fn combine(first: u32, second: u32, length: usize) -> u32 {
    // x^8 to the power of the length, by squares.
    let (mut power, mut square, mut left) = (1 << 31, 1 << 23, length);
    while left > 0 {
        if left & 1 == 1 {
            power = multiply(square, power);
        }
        square = multiply(square, square);
        left >>= 1;
    }
    multiply(power, first) ^ second
}

/// Of polynomials, modulo the checksum's. The highest bit is the coefficient of 1.
fn multiply(a: u32, mut b: u32) -> u32 {
    let mut product = 0;
    for bit in (0..32).rev() {
        if a >> bit & 1 == 1 {
            product ^= b;
        }
        b = (b >> 1) ^ ((b & 1) * POLYNOMIAL);
    }
    product
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Box<Tables>> = OnceLock::new();
    TABLES.get_or_init(|| {
        let mut tables: Box<Tables> = Box::new([[0; 256]; 8]);
        for (byte, crc) in (0..).zip(&mut tables[0]) {
            *crc = (0..8).fold(byte, |crc, _| (crc >> 1) ^ ((crc & 1) * POLYNOMIAL));
        }
        for followed in 1..8 {
            for byte in 0..256 {
                let before: u32 = tables[followed - 1][byte];
                tables[followed][byte] =
                    tables[0][usize::from(before.to_le_bytes()[0])] ^ before >> 8;
            }
        }
        tables
    })
}

#[cfg(test)]
mod tests {
    use super::{add, combine};

    #[test]
    fn however_the_data_is_cut() {
        let data: Vec<u8> = (0..1000_u32).map(|it| (it * it % 251) as u8).collect();
        let one_by_one = data.iter().fold(!0, |crc, byte| add(crc, &[*byte]));
        for cut in [0, 1, 7, 8, 9, 500, 993, 1000] {
            let (first, second) = data.split_at(cut);
            assert_eq!(add(add(!0, first), second), one_by_one, "{cut}");
            let of = |part: &[u8]| !add(!0, part);
            assert_eq!(combine(of(first), of(second), second.len()), !one_by_one);
        }
        assert_eq!(!add(!0, b"123456789"), 0xcbf4_3926);
    }
}
