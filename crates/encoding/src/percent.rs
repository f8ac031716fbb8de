//! Percent-encoding (RFC 3986).

use std::borrow::Cow;

use crate::hex;

/// Bytes for which `stays` holds are kept; all others become `%XX`.
pub fn encode(bytes: &[u8], stays: impl Fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(bytes.len());
    encode_to(&mut out, bytes, stays);
    out
}

pub fn encode_to(out: &mut String, bytes: &[u8], stays: impl Fn(u8) -> bool) {
    for byte in bytes {
        if byte.is_ascii() && stays(*byte) {
            out.push(char::from(*byte));
        } else {
            out.push('%');
            out.extend(hex::upper_pair(*byte).map(char::from));
        }
    }
}

/// RFC 3986's unreserved characters.
pub fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// What Go's `URL.EscapedPath` never escapes.
pub fn is_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte)
}

/// A percent sign that is not followed by two digits: the sign, and up to two bytes behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidEscape<'a>(pub &'a [u8]);

/// Errs at the first percent sign that begins no escape.
pub fn decode(text: &[u8]) -> Result<Cow<'_, [u8]>, InvalidEscape<'_>> {
    let Some(first) = text.iter().position(|it| *it == b'%') else {
        return Ok(Cow::Borrowed(text));
    };
    let mut out = Vec::with_capacity(text.len());
    out.extend_from_slice(&text[..first]);
    let mut rest = &text[first..];
    while let [byte, after @ ..] = rest {
        if *byte != b'%' {
            out.push(*byte);
            rest = after;
            continue;
        }
        let Some((decoded, after)) = escape(after) else {
            return Err(InvalidEscape(&rest[..rest.len().min(3)]));
        };
        out.push(decoded);
        rest = after;
    }
    Ok(Cow::Owned(out))
}

/// What is no escape stays as it is.
pub fn decode_lenient(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'%') {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        let escaped = if *byte == b'%' { escape(after) } else { None };
        let (decoded, after) = escaped.unwrap_or((*byte, after));
        out.push(decoded);
        rest = after;
    }
    Cow::Owned(out)
}

fn escape(behind: &[u8]) -> Option<(u8, &[u8])> {
    let [high, low, after @ ..] = behind else {
        return None;
    };
    Some((hex::byte(*high, *low)?, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        let encoded = encode("a/b é%~".as_bytes(), is_unreserved);
        assert_eq!(encoded, "a%2Fb%20%C3%A9%25~");
        assert_eq!(decode(encoded.as_bytes()).unwrap(), "a/b é%~".as_bytes());
        assert!(matches!(decode(b"plain"), Ok(Cow::Borrowed(b"plain"))));
        assert_eq!(encode(b"/a:b!", is_path), "/a:b%21");
    }

    #[test]
    fn what_is_no_escape() {
        for (text, wrong, lenient) in [
            ("a%", "%", "a%"),
            ("a%4", "%4", "a%4"),
            ("%zz%41", "%zz", "%zzA"),
            ("%+1", "%+1", "%+1"),
            ("%41%4", "%4", "A%4"),
            ("%%41", "%%4", "%A"),
        ] {
            assert_eq!(
                decode(text.as_bytes()),
                Err(InvalidEscape(wrong.as_bytes())),
                "{text}"
            );
            assert_eq!(
                decode_lenient(text.as_bytes()),
                lenient.as_bytes(),
                "{text}"
            );
        }
    }
}
