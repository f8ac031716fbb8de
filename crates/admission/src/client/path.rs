//! The path of a webhook's URL as client-go sends it: `path.Join("/", path)`, escaped anew.

use std::borrow::Cow;

use encoding::go::quote;
use encoding::percent;

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
pub(super) fn decode(path: &str) -> Result<Cow<'_, [u8]>, String> {
    percent::decode(path.as_bytes()).map_err(|percent::InvalidEscape(wrong)| {
        let wrong = String::from_utf8_lossy(wrong);
        format!("invalid URL escape {}", quote(&wrong))
    })
}

/// As Go's `URL.EscapedPath` writes it.
pub(super) fn escape(path: &[u8]) -> String {
    percent::encode(path, percent::is_path)
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
