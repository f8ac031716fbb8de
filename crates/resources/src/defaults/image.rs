//! The tag of an image reference.

/// Whether the tag is `latest`, written or implied. A reference that is none has no tag.
pub(crate) fn is_latest(reference: &str) -> bool {
    let (rest, digest) = match reference.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (reference, None),
    };
    let name_at = rest.rfind('/').map_or(0, |at| at + 1);
    let (name, tag) = match rest[name_at..].rfind(':') {
        Some(at) => (&rest[..name_at + at], Some(&rest[name_at + at + 1..])),
        None => (rest, None),
    };
    if !is_name(name) || digest.is_some_and(|it| !it.contains(':')) {
        return false;
    }
    match tag {
        Some(tag) => tag == "latest",
        None => digest.is_none(),
    }
}

fn is_name(name: &str) -> bool {
    let path = match name.split_once('/') {
        Some((domain, path)) if is_domain(domain) => path,
        _ => name,
    };
    let is_id = name.len() == 64 && name.bytes().all(|it| it.is_ascii_hexdigit());
    !is_id && path.split('/').all(is_component)
}

fn is_domain(part: &str) -> bool {
    part == "localhost"
        || part.contains(['.', ':'])
        || part.bytes().any(|it| it.is_ascii_uppercase())
}

/// Lower case letters and digits, with `.`, `_`, `__` or dashes between.
fn is_component(part: &str) -> bool {
    let plain = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    let bytes = part.as_bytes();
    let ends =
        bytes.first().is_some_and(|it| plain(*it)) && bytes.last().is_some_and(|it| plain(*it));
    ends && bytes.split(|it| plain(*it)).all(|between| {
        matches!(between, b"" | b"." | b"_" | b"__") || between.iter().all(|it| *it == b'-')
    })
}

#[test]
fn tags() {
    for (reference, latest) in [
        ("nginx", true),
        ("nginx:latest", true),
        ("nginx:1.2", false),
        ("localhost:5000/nginx", true),
        ("localhost:5000/nginx:1", false),
        ("nginx@sha256:abc", false),
        ("nginx:latest@sha256:abc", true),
        ("", false),
        ("Nginx", false),
        ("Host/nginx", true),
        ("a//b", false),
        ("a__b-c.d", true),
        ("a..b", false),
    ] {
        assert_eq!(is_latest(reference), latest, "{reference}");
    }
}
