//! UUIDs (RFC 9562) as Kubernetes has them in `metadata.uid`.

use crate::hex;

/// A version 4 UUID of random bytes.
pub fn v4(mut random: [u8; 16]) -> String {
    random[6] = random[6] & 0x0f | 0x40;
    random[8] = random[8] & 0x3f | 0x80;
    let digits = hex::encode(&random);
    let mut out = String::with_capacity(36);
    for (index, part) in [0..8, 8..12, 12..16, 16..20, 20..32]
        .into_iter()
        .enumerate()
    {
        if index > 0 {
            out.push('-');
        }
        out.push_str(&digits[part]);
    }
    out
}

/// The number of a UUID that is written with dashes and in lower case, as the API server writes them.
pub fn parse(text: &str) -> Option<u128> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 {
        return None;
    }
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate() {
        match (at, byte) {
            (8 | 13 | 18 | 23, b'-') => {}
            (8 | 13 | 18 | 23, _) => return None,
            // Two spellings of one number are two names.
            (_, b'0'..=b'9') => number = number << 4 | u128::from(byte - b'0'),
            (_, b'a'..=b'f') => number = number << 4 | u128::from(byte - b'a' + 10),
            _ => return None,
        }
    }
    Some(number)
}

/// As go-openapi's `strfmt` reads the format `uuid`: the 32 digits, in any case; each dash may be missing.
pub fn digits(text: &str) -> Option<[u8; 32]> {
    let (mut digits, mut rest) = ([0; 32], text.as_bytes());
    let mut out = digits.iter_mut();
    for (index, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
        let (part, behind) = rest.split_at_checked(length)?;
        for (byte, digit) in part.iter().zip(&mut out) {
            *digit = byte
                .is_ascii_hexdigit()
                .then(|| byte.to_ascii_lowercase())?;
        }
        rest = behind;
    }
    rest.is_empty().then_some(digits)
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
        for (byte, text) in table {
            assert_eq!(v4([byte; 16]), text);
        }
        assert_eq!(parse(&v4([0; 16])), Some(0x4000_8000_0000_0000_0000));
        assert_eq!(parse("00000000-0000-0000-0000-0000000000aF"), None);
        assert_eq!(parse("00000000-0000-0000-0000-0000000000af"), Some(0xaf));
        assert_eq!(parse("00000000x0000-0000-0000-0000000000af"), None);
    }

    #[test]
    fn a_format_may_lack_dashes() {
        let want = Some(*b"a8098c1af86e11dabd1a00112444be1e");
        for text in [
            "a8098c1a-f86e-11da-bd1a-00112444be1e",
            "A8098C1Af86e11dabd1a00112444be1e",
            "a8098c1af86e-11dabd1a-00112444be1e",
        ] {
            assert_eq!(digits(text), want, "{text}");
        }
        for text in [
            "",
            "a8098c1a",
            "a8098c1a-f86e-11da-bd1a-00112444be1g",
            "a8098c1a--f86e-11da-bd1a-00112444be1e",
            "a8098c1a-f86e-11da-bd1a-00112444be1e0",
        ] {
            assert_eq!(digits(text), None, "{text}");
        }
    }
}
