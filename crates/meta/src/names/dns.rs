use super::{max_bytes, max_length, pattern};

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const LABEL_LENGTH: usize = 63;
pub(super) const SUBDOMAIN_LENGTH: usize = 253;

pub fn dns1123_label(value: &str) -> Vec<String> {
    let mut errors = too_long(value, LABEL_LENGTH);
    if is_label(value) {
        return errors;
    }
    errors.push(if is_subdomain(value) {
        "must not contain dots".into()
    } else {
        pattern(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            LABEL,
            &["my-name", "123-abc"],
        )
    });
    errors
}

pub fn dns1123_subdomain(value: &str) -> Vec<String> {
    let mut errors = too_long(value, SUBDOMAIN_LENGTH);
    if !is_subdomain(value) {
        errors.push(not_a_subdomain());
    }
    errors
}

/// The same for the prefix of a label key, whose texts count bytes.
pub(super) fn label_prefix(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > SUBDOMAIN_LENGTH {
        errors.push(max_bytes(SUBDOMAIN_LENGTH));
    }
    if !is_subdomain(value) {
        errors.push(not_a_subdomain());
    }
    errors
}

pub fn dns1123_subdomain_caseless(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > SUBDOMAIN_LENGTH {
        errors.push(max_bytes(SUBDOMAIN_LENGTH));
    }
    if !is_subdomain(&value.to_ascii_lowercase()) {
        errors.push(pattern(
            "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            SUBDOMAIN,
            &["Example.com"],
        ));
    }
    errors
}

pub fn dns1123_subdomain_with_underscore(value: &str) -> Vec<String> {
    let mut errors = too_long(value, SUBDOMAIN_LENGTH);
    let label = |it: &str| {
        let rest = it.strip_prefix('_').unwrap_or(it);
        enclosed(rest, is_lower, |it| {
            is_lower(it) || it == b'-' || it == b'_'
        })
    };
    if !value.split('.').all(label) {
        errors.push(pattern(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
            r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*",
            &["example.com"],
        ));
    }
    errors
}

pub fn wildcard_dns1123_subdomain(value: &str) -> Vec<String> {
    let mut errors = too_long(value, SUBDOMAIN_LENGTH);
    if !value.strip_prefix("*.").is_some_and(is_subdomain) {
        errors.push(pattern(
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
            &format!(r"\*\.{SUBDOMAIN}"),
            &["*.example.com"],
        ));
    }
    errors
}

pub fn dns1035_label(value: &str) -> Vec<String> {
    let mut errors = too_long(value, LABEL_LENGTH);
    if !is_label(value) || !value.starts_with(|it: char| it.is_ascii_lowercase()) {
        errors.push(pattern(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            "[a-z]([-a-z0-9]*[a-z0-9])?",
            &["my-name", "abc-123"],
        ));
    }
    errors
}

fn not_a_subdomain() -> String {
    pattern(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        SUBDOMAIN,
        &["example.com"],
    )
}

fn too_long(value: &str, length: usize) -> Vec<String> {
    if value.len() > length {
        return vec![max_length(length)];
    }
    Vec::new()
}

fn is_subdomain(value: &str) -> bool {
    value.split('.').all(is_label)
}

fn is_label(value: &str) -> bool {
    enclosed(value, is_lower, |it| is_lower(it) || it == b'-')
}

fn is_lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// Not empty, of `inner` bytes, with `outer` ones at both ends.
pub(super) fn enclosed(text: &str, outer: fn(u8) -> bool, inner: fn(u8) -> bool) -> bool {
    match text.as_bytes() {
        [] => false,
        [one] => outer(*one),
        [first, middle @ .., last] => {
            outer(*first) && outer(*last) && middle.iter().all(|it| inner(*it))
        }
    }
}
