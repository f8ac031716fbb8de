//! Where a string literal ends.

/// The end of the string that begins with the quote at `begin`, or the place of the first character that fits no
/// string.
pub(super) fn quoted(source: &str, begin: usize, raw: bool) -> Result<usize, usize> {
    let bytes = source.as_bytes();
    let quote = bytes[begin];
    let triple = [quote; 3];
    if bytes[begin..].starts_with(&triple) {
        // An unfinished one leaves the first two quotes as an empty string.
        return Ok(long(bytes, begin + 3, &triple, raw).unwrap_or(begin + 2));
    }
    let mut at = begin + 1;
    loop {
        match bytes.get(at) {
            None | Some(b'\n' | b'\r') => return Err(at),
            Some(it) if *it == quote => return Ok(at + 1),
            Some(b'\\') if !raw => at = escape(bytes, at)?,
            Some(_) => at += 1,
        }
    }
}

fn long(bytes: &[u8], mut at: usize, triple: &[u8], raw: bool) -> Option<usize> {
    loop {
        if bytes.get(at..)?.starts_with(triple) {
            return Some(at + 3);
        }
        at = match bytes.get(at)? {
            b'\\' if !raw => escape(bytes, at).ok()?,
            _ => at + 1,
        };
    }
}

/// Behind an escape sequence, or where it goes wrong.
fn escape(bytes: &[u8], at: usize) -> Result<usize, usize> {
    let hex = |count: usize| {
        let end = at + 2 + count;
        (at + 2..end)
            .find(|it| !bytes.get(*it).is_some_and(u8::is_ascii_hexdigit))
            .map_or(Ok(end), Err)
    };
    match bytes.get(at + 1) {
        Some(
            b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`',
        ) => Ok(at + 2),
        Some(b'x' | b'X') => hex(2),
        Some(b'u') => hex(4),
        Some(b'U') => hex(8),
        Some(b'0'..=b'3') => (at + 2..at + 4)
            .find(|it| !matches!(bytes.get(*it), Some(b'0'..=b'7')))
            .map_or(Ok(at + 4), Err),
        _ => Err(at + 1),
    }
}
