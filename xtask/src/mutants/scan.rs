//! Rust text as far as planting faults needs it: what is code, and where brackets end.

/// The text with comments, strings and characters blanked out, byte for byte in the same places; line ends stay.
pub(super) fn mask(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut masked = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => line_end(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => comment_end(bytes, at),
            b'"' => string_end(bytes, at),
            b'r' if is_raw_string(bytes, at) => raw_string_end(bytes, at),
            b'\'' => char_end(bytes, at),
            _ => at,
        };
        for byte in masked.iter_mut().take(end).skip(at) {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end.max(at + 1);
    }
    masked
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    let length = bytes[at..].iter().position(|it| *it == b'\n');
    length.map_or(bytes.len(), |length| at + length)
}

fn comment_end(bytes: &[u8], at: usize) -> usize {
    let (mut depth, mut at) = (1, at + 2);
    while at < bytes.len() && depth > 0 {
        match &bytes[at..bytes.len().min(at + 2)] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    at
}

fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn is_raw_string(bytes: &[u8], at: usize) -> bool {
    let is_word = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_';
    // `br` begins one, too.
    let before = at.checked_sub(1).and_then(|it| bytes.get(it));
    let fresh = match before {
        Some(b'b') => !at.checked_sub(2).is_some_and(|it| is_word(&bytes[it])),
        other => !other.is_some_and(is_word),
    };
    let hashes = bytes[at + 1..].iter().take_while(|it| **it == b'#').count();
    fresh && bytes.get(at + 1 + hashes) == Some(&b'"')
}

fn raw_string_end(bytes: &[u8], at: usize) -> usize {
    let hashes = bytes[at + 1..].iter().take_while(|it| **it == b'#').count();
    let mut end = vec![b'"'];
    end.resize(hashes + 1, b'#');
    let start = at + hashes + 2;
    let rest = bytes.get(start..).unwrap_or_default();
    let length = rest.windows(end.len()).position(|it| it == end);
    length.map_or(bytes.len(), |length| start + length + end.len())
}

/// The end of a character; for a lifetime, its place.
fn char_end(bytes: &[u8], at: usize) -> usize {
    if bytes.get(at + 1) == Some(&b'\\') {
        let rest = bytes.get(at + 3..).unwrap_or_default();
        let length = rest.iter().position(|it| *it == b'\'');
        return length.map_or(bytes.len(), |length| at + 3 + length + 1);
    }
    // A character has up to four bytes.
    let close = (2..=5).find(|it| bytes.get(at + it) == Some(&b'\''));
    match close {
        Some(2) => at + 3,
        Some(length) if !bytes[at + 1].is_ascii() => at + length + 1,
        _ => at,
    }
}

/// The place of the bracket that closes the one at `open`.
pub(super) fn closing(code: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in code.iter().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The first of these bytes outside of brackets, from `start` on; nothing if a bracket closes before.
pub(super) fn outside(code: &[u8], start: usize, wanted: &[u8]) -> Option<usize> {
    let mut at = start;
    while at < code.len() {
        let byte = code[at];
        if wanted.contains(&byte) {
            return Some(at);
        }
        at = match byte {
            b'(' | b'[' | b'{' => closing(code, at)? + 1,
            b')' | b']' | b'}' => return None,
            _ => at + 1,
        };
    }
    None
}

/// Parts that only tests have: items behind `#[cfg(test)]`.
pub(super) fn test_parts(code: &[u8]) -> Vec<(usize, usize)> {
    let mark = b"#[cfg(test)]";
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(found) = code[at..].windows(mark.len()).position(|it| it == mark) {
        let start = at + found;
        let after = start + mark.len();
        let end = outside(code, after, b";{").and_then(|it| match code[it] {
            b'{' => closing(code, it),
            _ => Some(it),
        });
        let end = end.map_or(code.len(), |it| it + 1);
        parts.push((start, end));
        at = end;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of the code, and where it is.
    #[track_caller]
    fn leaves(text: &str, code: &str) {
        let masked = String::from_utf8(mask(text)).expect("whole characters are blanked out");
        let words: Vec<&str> = masked.split_whitespace().collect();
        assert_eq!(words.join(" "), code);
        assert_eq!(masked.len(), text.len());
        assert_eq!(masked.lines().count(), text.lines().count());
    }

    #[test]
    fn what_is_no_code_is_blank() {
        leaves("a // b\nc", "a c");
        leaves("a /* /* b */ */ c", "a c");
        leaves(r#"a "b\"{" c"#, "a c");
        leaves(r##"r#"b"{"# c"##, "c");
        leaves("'{' '\\'' 'a: &'b str 'ä'", "'a: &'b str");
        leaves("for_r\"x\"", "for_r");
    }

    #[test]
    fn brackets_are_matched() {
        let code = b"f(a, [b]) { c } ;";
        assert_eq!(closing(code, 1), Some(8));
        assert_eq!(outside(code, 0, b";"), Some(16));
        assert_eq!(outside(code, 0, b"{"), Some(10));
        assert_eq!(outside(code, 2, b";"), None);
    }

    #[test]
    fn tests_are_left_alone() {
        let code = b"fn a() {} #[cfg(test)] mod tests { x } fn b() {} #[cfg(test)] mod c;";
        let parts = test_parts(code);
        assert_eq!(parts, [(10, 38), (49, 68)]);
    }
}
