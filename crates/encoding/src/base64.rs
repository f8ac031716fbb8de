//! Base64 as Go's `encoding/base64` reads and writes it. Where neither its leniency nor its errors matter, callers use the
//! `base64` crate itself.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, PAD};

/// Go does not look at the bits that padding leaves over.
const ENGINE: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, PAD.with_decode_allow_trailing_bits(true));

/// Go's `CorruptInputError`: the place where decoding cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("illegal base64 data at input byte {0}")]
pub struct CorruptInput(pub usize);

/// `StdEncoding.EncodeToString`
pub fn encode(bytes: &[u8]) -> String {
    ENGINE.encode(bytes)
}

/// `StdEncoding.DecodeString`: padding is needed, line breaks are skipped.
pub fn decode(text: &str) -> Result<Vec<u8>, CorruptInput> {
    // Only what the crate refuses may have line breaks, or an error that is told by Go's place.
    ENGINE
        .decode(text)
        .or_else(|_| decode_as_go(text.as_bytes()))
}

fn decode_as_go(bytes: &[u8]) -> Result<Vec<u8>, CorruptInput> {
    let wrong = |at: usize| Err(CorruptInput(at));
    let mut out = Vec::with_capacity(bytes.len() / 4 * 3);
    let (mut word, mut digits, mut padding) = (0_u32, 0, 0);
    for (at, byte) in bytes.iter().enumerate() {
        let digit = match byte {
            b'\r' | b'\n' => continue,
            b'=' if digits + padding >= 2 && digits + padding < 4 => {
                padding += 1;
                continue;
            }
            // Go finds a lone padding where it stands, and what follows a full one where that begins.
            _ if padding > 0 => return wrong(if digits + padding < 4 { at - 1 } else { at }),
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return wrong(at),
        };
        word = word << 6 | u32::from(digit);
        digits += 1;
        if digits == 4 {
            out.extend_from_slice(&word.to_be_bytes()[1..]);
            (word, digits) = (0, 0);
        }
    }
    match (digits, padding) {
        (0, 0) => {}
        (2, 2) => out.push((word << 4).to_be_bytes()[2]),
        (3, 1) => out.extend_from_slice(&(word << 6).to_be_bytes()[1..3]),
        (_, 0) => return wrong(bytes.len() - digits),
        _ => return wrong(bytes.len()),
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"\xff\xfe\xfd\xfc", "//79/A=="),
        ] {
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text).unwrap(), bytes);
            assert_eq!(decode_as_go(text.as_bytes()).unwrap(), bytes);
        }
        assert_eq!(decode("Zm\n9v").unwrap(), b"foo");
        assert_eq!(decode("Zh==").unwrap(), b"f");
        for (text, at) in [
            ("Z", 0),
            ("Zm9vZm", 4),
            ("Zg=", 3),
            ("Z===", 1),
            ("Zm9v!", 4),
            ("Zg==Zg==", 4),
        ] {
            let error = decode(text).unwrap_err();
            assert_eq!(error, CorruptInput(at), "{text}");
        }
        assert_eq!(
            CorruptInput(4).to_string(),
            "illegal base64 data at input byte 4"
        );
    }
}
