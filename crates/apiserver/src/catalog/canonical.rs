//! Hot path. The canonical bytes of an object: the JSON that goes on the wire, without the resource version, which only
//! the store knows.
//!
//! Canonical bytes begin `{"kind":K,"apiVersion":V,"metadata":{"name":N`, or apiVersion first, as those of custom objects
//! do that lack no default; generateName, namespace and selfLink may follow, then `"uid":U`. The resource version is
//! spliced in behind the uid without reading any JSON. What is in another form, as custom resources that kube-apiserver wrote, is not touched here.

use store::Revision;

const METADATA: &[u8] = b"\"metadata\":{\"name\":\"";
const UID: &[u8] = b",\"uid\":\"";
/// What may stand between name and uid.
const BETWEEN: [&[u8]; 3] = [
    b",\"generateName\":\"",
    b",\"namespace\":\"",
    b",\"selfLink\":\"",
];

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

/// Whether a custom object was written here, with all defaults that the version it rests in had then.
pub(crate) fn is_whole(stored: &[u8]) -> bool {
    stored.starts_with(b"{\"apiVersion\"") && splice_point(stored).is_some()
}

/// Right behind the uid's closing quote.
fn splice_point(stored: &[u8]) -> Option<usize> {
    let (first, second): (&[u8], &[u8]) = if stored.starts_with(b"{\"kind\":\"") {
        (b"{\"kind\":\"", b",\"apiVersion\":\"")
    } else {
        (b"{\"apiVersion\":\"", b",\"kind\":\"")
    };
    let at = string_end(stored, 0, first)?;
    let at = string_end(stored, at, second)?;
    let mut at = string_end(stored, expect(stored, at, b",")?, METADATA)?;
    for field in BETWEEN {
        at = string_end(stored, at, field).unwrap_or(at);
    }
    string_end(stored, at, UID)
}

fn expect(text: &[u8], at: usize, what: &[u8]) -> Option<usize> {
    text[at..].starts_with(what).then_some(at + what.len())
}

/// Right behind the closing quote of a string that begins, after `before`, at `at`.
fn string_end(text: &[u8], at: usize, before: &[u8]) -> Option<usize> {
    let mut at = expect(text, at, before)?;
    loop {
        at += text[at..]
            .iter()
            .position(|byte| matches!(byte, b'"' | b'\\'))?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        // What is escaped is no end.
        at += 2;
        if at > text.len() {
            return None;
        }
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
        for other in [
            // As kube-apiserver writes custom resources: what looks right is not this object's own metadata.
            r#"{"apiVersion":"v1","kind":"A","metadata":{"creationTimestamp":null,"name":"a","uid":"u"},"spec":{"template":{"metadata":{"name":"b","uid":"c"}}}}"#,
            r#"{"apiVersion":"v1","kind":"A","metadata":{"name":"a","labels":{"x":"y"},"uid":"u"}}"#,
            r#"{"apiVersion":"v1","kind":"A","metadata":{"name":"a","ownerReferences":[{"x":"y","uid":"u"}]}}"#,
            r#"{"kind":"A","apiVersion":"v1","metadata":{"name":"a\"#,
        ] {
            assert!(!splice(&mut Vec::new(), other.as_bytes(), 1), "{other}");
        }
        let all = br#"{"apiVersion":"v1","kind":"A","metadata":{"name":"a","generateName":"a","namespace":"n","uid":"u"}}"#;
        assert!(splice(&mut Vec::new(), all, 1));
    }
}
