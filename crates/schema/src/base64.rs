//! Standard base64 with padding, strict as Go's `StdEncoding`: newlines are skipped, all else is told by its place.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk
            .iter()
            .fold(0_u32, |word, it| word << 8 | u32::from(*it))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            if place <= chunk.len() {
                let digit = word >> (18 - 6 * place) & 63;
                out.push(char::from(ALPHABET[digit as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

pub(crate) fn decode(text: &str) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let wrong = |at: usize| format!("illegal base64 data at input byte {at}");
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
            _ if padding > 0 => return Err(wrong(if digits + padding < 4 { at - 1 } else { at })),
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err(wrong(at)),
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
        (_, 0) => return Err(wrong(bytes.len() - digits)),
        _ => return Err(wrong(bytes.len())),
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
        }
        assert_eq!(decode("Zm\n9v").unwrap(), b"foo");
        for (text, at) in [
            ("Z", 0),
            ("Zm9vZm", 4),
            ("Zg=", 3),
            ("Z===", 1),
            ("Zm9v!", 4),
            ("Zg==Zg==", 4),
        ] {
            assert_eq!(
                decode(text).unwrap_err(),
                format!("illegal base64 data at input byte {at}"),
                "{text}"
            );
        }
    }
}
