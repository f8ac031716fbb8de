//! The path of a webhook's URL as client-go sends it: `path.Join("/", path)`, escaped anew.

/// `//a/./b/../c/` is `/a/c`.
pub(super) fn clean(path: &[u8]) -> Vec<u8> {
    let mut segments: Vec<&[u8]> = Vec::new();
    for segment in path.split(|byte| *byte == b'/') {
        match segment {
            b"" | b"." => {}
            b".." => drop(segments.pop()),
            other => segments.push(other),
        }
    }
    let mut clean = Vec::with_capacity(path.len() + 1);
    for segment in segments {
        clean.push(b'/');
        clean.extend_from_slice(segment);
    }
    if clean.is_empty() {
        clean.push(b'/');
    }
    clean
}

/// As Go's `URL.Path` has it. Errs with the escape that is none.
pub(super) fn decode(path: &str) -> Result<Vec<u8>, String> {
    let mut decoded = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte != b'%' {
            decoded.push(byte);
            rest = after;
            continue;
        }
        let digit = |at: usize| char::from(*after.get(at)?).to_digit(16);
        let code = digit(0).zip(digit(1)).map(|(high, low)| high << 4 | low);
        let Some(code) = code.and_then(|it| u8::try_from(it).ok()) else {
            let wrong = String::from_utf8_lossy(&rest[..rest.len().min(3)]);
            return Err(format!("invalid URL escape {}", meta::go::quote(&wrong)));
        };
        decoded.push(code);
        rest = &after[2..];
    }
    Ok(decoded)
}

/// As Go's `URL.EscapedPath` writes it.
pub(super) fn escape(path: &[u8]) -> String {
    let mut escaped = String::with_capacity(path.len());
    for &byte in path {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push('%');
            for digit in [byte >> 4, byte & 0x0f] {
                escaped.push(char::from(b"0123456789ABCDEF"[usize::from(digit)]));
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_and_escaped_as_upstream() {
        let cases = [
            ("", "/"),
            ("/", "/"),
            ("//path", "/path"),
            ("/x/", "/x"),
            ("/a/../b", "/b"),
            ("/../../b/.", "/b"),
            ("/a%2Fb", "/a/b"),
            ("/a%2f%2e%2e/b", "/b"),
            ("/a%25b%20c%3Fd", "/a%25b%20c%3Fd"),
            ("/a!b*c'd(e)", "/a%21b%2Ac%27d%28e%29"),
            ("/a:b@c;d=e,f+g$h&i~j", "/a:b@c;d=e,f+g$h&i~j"),
            ("/%c3%a9", "/%C3%A9"),
        ];
        for (path, want) in cases {
            let sent = decode(path).map(|it| escape(&clean(&it)));
            assert_eq!(sent.as_deref(), Ok(want), "{path}");
        }
        for (path, wrong) in [("/%zz/x", "%zz"), ("/a%2", "%2"), ("/%", "%")] {
            let want = format!("invalid URL escape \"{wrong}\"");
            assert_eq!(decode(path), Err(want));
        }
    }
}
