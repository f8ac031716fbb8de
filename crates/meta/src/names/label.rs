use super::dns::{enclosed, label_prefix};
use super::{EMPTY, max_bytes, pattern};

const LENGTH: usize = 63;
const KEY: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/// A label key: a name, with an optional domain before a slash.
pub fn qualified_name(value: &str) -> Vec<String> {
    let not_a_name = || {
        pattern(
            "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            KEY,
            &["MyName", "my.name", "123-abc"],
        )
    };
    let mut errors = Vec::new();
    let name = match value.split_once('/') {
        None => value,
        Some((_, name)) if name.contains('/') => {
            return vec![format!(
                "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                not_a_name()
            )];
        }
        Some(("", name)) => {
            errors.push(format!("prefix part {EMPTY}"));
            name
        }
        Some((prefix, name)) => {
            let wrong = label_prefix(prefix).into_iter();
            errors.extend(wrong.map(|it| format!("prefix part {it}")));
            name
        }
    };
    if name.is_empty() {
        errors.push(format!("name part {EMPTY}"));
    } else if name.len() > LENGTH {
        errors.push(format!("name part {}", max_bytes(LENGTH)));
    }
    if !is_name(name) {
        errors.push(format!("name part {}", not_a_name()));
    }
    errors
}

pub fn label_value(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > LENGTH {
        errors.push(max_bytes(LENGTH));
    }
    if !value.is_empty() && !is_name(value) {
        errors.push(pattern(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            &format!("({KEY})?"),
            &["MyValue", "my_value", "12345"],
        ));
    }
    errors
}

fn is_name(value: &str) -> bool {
    let outer = |it: u8| it.is_ascii_alphanumeric();
    enclosed(value, outer, |it| {
        it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.')
    })
}

/// A name that may stand in a URL's path, and no more than that.
pub fn path_segment_name(name: &str) -> Vec<String> {
    if name == "." || name == ".." {
        return vec![format!("may not be '{name}'")];
    }
    path_segment_prefix(name)
}

pub fn path_segment_prefix(name: &str) -> Vec<String> {
    let illegal = ['/', '%'].into_iter().filter(|it| name.contains(*it));
    illegal
        .map(|it| format!("may not contain '{it}'"))
        .collect()
}
