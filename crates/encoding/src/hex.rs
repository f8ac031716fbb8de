//! Bytes as hexadecimal digits.

const LOWER: &[u8; 16] = b"0123456789abcdef";
const UPPER: &[u8; 16] = b"0123456789ABCDEF";

/// Two lower-case digits for each byte.
pub fn encode(bytes: &[u8]) -> String {
    with(bytes, LOWER)
}

/// Two upper-case digits for each byte.
pub fn encode_upper(bytes: &[u8]) -> String {
    with(bytes, UPPER)
}

fn with(bytes: &[u8], digits: &[u8; 16]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.extend(pair(*byte, digits).map(char::from));
    }
    out
}

pub(crate) fn upper_pair(byte: u8) -> [u8; 2] {
    pair(byte, UPPER)
}

fn pair(byte: u8, digits: &[u8; 16]) -> [u8; 2] {
    [byte >> 4, byte & 15].map(|it| digits[usize::from(it)])
}

/// Two digits for each byte, in either case.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match *pair {
            [high, low] => byte(high, low),
            _ => None,
        })
        .collect()
}

/// The byte that two digits, in either case, stand for.
pub fn byte(high: u8, low: u8) -> Option<u8> {
    let digit = |it: u8| char::from(it).to_digit(16);
    u8::try_from(digit(high)? << 4 | digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        let bytes = [0, 0x0f, 0xa5, 0xff];
        assert_eq!(encode(&bytes), "000fa5ff");
        assert_eq!(encode_upper(&bytes), "000FA5FF");
        for text in ["000fa5ff", "000FA5fF"] {
            assert_eq!(decode(text).as_deref(), Some(&bytes[..]));
        }
        for text in ["0", "0g", "+1", "é"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
