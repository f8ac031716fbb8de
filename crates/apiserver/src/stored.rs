//! Hot path. Objects rest as the JSON that goes on the wire, but for the resource version, which only the store knows.
//!
//! Canonical bytes begin `{"kind":K,"apiVersion":V,"metadata":{"name":N`, or apiVersion first, and hold
//! `metadata.uid` before anything that a user can fill freely: the resource version is spliced in behind the uid
//! without reading any JSON. Strings before it cannot imitate it: a quote inside a string is escaped.

use store::Revision;

const METADATA: &[u8] = b"\"metadata\":{\"name\":\"";
const UID: &[u8] = b"\"uid\":\"";

/// Appends the object with its resource version. False, with nothing appended, if the bytes are not canonical.
pub(crate) fn splice(out: &mut Vec<u8>, stored: &[u8], revision: Revision) -> bool {
    splice_without(out, stored, revision, 1)
}

/// The same, without what stands in the first `head` bytes behind the opening brace.
pub(crate) fn splice_without(
    out: &mut Vec<u8>,
    stored: &[u8],
    revision: Revision,
    head: usize,
) -> bool {
    let Some(at) = splice_point(stored) else {
        return false;
    };
    out.reserve(stored.len() + 42);
    out.push(b'{');
    out.extend_from_slice(&stored[head..at]);
    out.extend_from_slice(b",\"resourceVersion\":\"");
    decimal(out, revision);
    out.push(b'"');
    out.extend_from_slice(&stored[at..]);
    true
}

/// Right behind the uid's closing quote.
fn splice_point(stored: &[u8]) -> Option<usize> {
    if !stored.starts_with(b"{\"kind\":\"") && !stored.starts_with(b"{\"apiVersion\":\"") {
        return None;
    }
    let metadata = find(stored, METADATA)? + METADATA.len();
    let uid = metadata + find(&stored[metadata..], UID)? + UID.len();
    let end = uid + stored[uid..].iter().position(|byte| *byte == b'"')?;
    Some(end + 1)
}

/// Where the needle first begins. It begins with a quote, which is rare enough to look for alone.
fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].iter().position(|byte| *byte == needle[0])?;
        if text[at..].starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
}

fn decimal(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(number % 10).expect("a digit");
        number /= 10;
        if number == 0 {
            return out.extend_from_slice(&digits[at..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resource_version_stands_behind_the_uid() {
        let stored = br#"{"kind":"A","apiVersion":"v1","metadata":{"name":"\"uid\":\"x","uid":"u-1","labels":{"uid":"no"}}}"#;
        let mut out = Vec::new();
        assert!(splice(&mut out, stored, 1204));
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"{"kind":"A","apiVersion":"v1","metadata":{"name":"\"uid\":\"x","uid":"u-1","resourceVersion":"1204","labels":{"uid":"no"}}}"#
        );
        assert!(!splice(&mut Vec::new(), b"k8s\0", 1));
        assert!(!splice(&mut Vec::new(), b"{\"kind\":\"A\"}", 1));
        let sorted =
            br#"{"apiVersion":"v1","kind":"A","metadata":{"annotations":{},"name":"a","uid":"u"}}"#;
        assert!(!splice(&mut Vec::new(), sorted, 1));
    }
}
