//! Hot path. The next byte that matters, looked for sixteen bytes at a time.

use wide::u8x16;

/// The first byte that ends a run of plain characters in a string: a quote, a backslash or a control character.
#[inline]
pub(crate) fn string_end(bytes: &[u8], at: usize) -> usize {
    const ENDS: Table = table(b"\"\\", 0x20);
    let ends = |block: u8x16| {
        let control = block.min(u8x16::splat(0x1f)).simd_eq(block);
        equals(block, b'"') | equals(block, b'\\') | control
    };
    find(bytes, at, ends, &ENDS)
}

/// The first quote or backslash.
#[inline]
pub(crate) fn quote(bytes: &[u8], at: usize) -> usize {
    const ENDS: Table = table(b"\"\\", 0);
    let ends = |block: u8x16| equals(block, b'"') | equals(block, b'\\');
    find(bytes, at, ends, &ENDS)
}

/// The first byte that Go escapes, or 0xe2, which may begin U+2028 or U+2029.
#[inline]
pub(crate) fn escape(bytes: &[u8], at: usize) -> usize {
    const ESCAPED: Table = table(b"\"\\&<>\xe2", 0x20);
    let escaped = |block: u8x16| {
        let control = block.min(u8x16::splat(0x1f)).simd_eq(block);
        // `"` and `&` differ in one bit, and so do `<` and `>`.
        let quote_or_and = equals(block & u8x16::splat(!0x04), b'"');
        let less_or_more = equals(block & u8x16::splat(!0x02), b'<');
        quote_or_and | less_or_more | equals(block, b'\\') | equals(block, 0xe2) | control
    };
    find(bytes, at, escaped, &ESCAPED)
}

#[inline]
fn equals(block: u8x16, byte: u8) -> u8x16 {
    block.simd_eq(u8x16::splat(byte))
}

/// The place of the first byte from `at` on that passes, or the end.
#[inline]
fn find(bytes: &[u8], at: usize, test: impl Fn(u8x16) -> u8x16, table: &Table) -> usize {
    let mut at = at;
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let found = test(u8x16::new(*block)).to_bitmask();
        if found != 0 {
            return at + found.trailing_zeros() as usize;
        }
        at += 16;
    }
    while let Some(byte) = bytes.get(at)
        && !table[usize::from(*byte)]
    {
        at += 1;
    }
    at
}

/// Which bytes pass.
type Table = [bool; 256];

const fn table(bytes: &[u8], below: usize) -> Table {
    let mut table = [false; 256];
    let mut at = 0;
    while at < below {
        table[at] = true;
        at += 1;
    }
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte value, at every place of a text that ends in the middle of a block.
    #[test]
    fn blocks_and_tables_agree() {
        type Case = (fn(&[u8], usize) -> usize, fn(u8) -> bool);
        let cases: [Case; 3] = [
            (string_end, |byte| byte < 0x20 || b"\"\\".contains(&byte)),
            (quote, |byte| b"\"\\".contains(&byte)),
            (escape, |byte| byte < 0x20 || b"\"\\&<>\xe2".contains(&byte)),
        ];
        for (find, passes) in cases {
            for byte in 0..=255 {
                for place in 0..40 {
                    let mut text = [b'a'; 40];
                    text[place] = byte;
                    let expected = if passes(byte) { place } else { 40 };
                    assert_eq!(find(&text, 0), expected, "{byte:#x} at {place}");
                    assert_eq!(find(&text, place), expected, "{byte:#x} from {place}");
                    assert_eq!(find(&text, place + 1), 40, "{byte:#x} after {place}");
                }
            }
        }
        assert_eq!(quote(b"", 0), 0);
        assert_eq!(quote(b"a", 5), 5);
    }
}
