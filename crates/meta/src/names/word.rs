use super::dns::SUBDOMAIN_LENGTH;
use super::{EMPTY, max_length, pattern};

fn all(text: &str, allowed: fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(allowed)
}

fn unless(fine: bool, error: impl FnOnce() -> String) -> Vec<String> {
    if fine {
        return Vec::new();
    }
    vec![error()]
}

pub fn c_identifier(value: &str) -> Vec<String> {
    let chars = all(value, |it| it.is_ascii_alphanumeric() || it == b'_');
    let fine = chars && !value.starts_with(|it: char| it.is_ascii_digit());
    unless(fine, || {
        pattern(
            "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
            "[A-Za-z_][A-Za-z0-9_]*",
            &["my_name", "MY_NAME", "MyName"],
        )
    })
}

pub fn in_range(value: i64, min: i64, max: i64) -> Vec<String> {
    unless((min..=max).contains(&value), || {
        format!("must be between {min} and {max}, inclusive")
    })
}

pub fn port_number(port: i64) -> Vec<String> {
    in_range(port, 1, 65535)
}

pub fn user_id(id: i64) -> Vec<String> {
    in_range(id, 0, i32::MAX.into())
}

pub fn group_id(id: i64) -> Vec<String> {
    in_range(id, 0, i32::MAX.into())
}

/// The service name of RFC 6335 that IANA keeps.
pub fn port_name(port: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if port.len() > 15 {
        errors.push(max_length(15));
    }
    let lower = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    if !all(port, lower) {
        errors
            .push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".into());
    }
    if !port.contains(|it: char| it.is_ascii_lowercase()) {
        errors.push("must contain at least one letter (a-z)".into());
    }
    if port.contains("--") {
        errors.push("must not contain consecutive hyphens".into());
    }
    if port.starts_with('-') || port.ends_with('-') {
        errors.push("must not begin or end with a hyphen".into());
    }
    errors
}

pub fn percent(value: &str) -> Vec<String> {
    let number = value.strip_suffix('%').unwrap_or_default();
    unless(all(number, |it| it.is_ascii_digit()), || {
        pattern(
            "a valid percent string must be a numeric string followed by an ending '%'",
            "[0-9]+%",
            &["1%", "93%"],
        )
    })
}

pub fn http_header_name(value: &str) -> Vec<String> {
    let fine = all(value, |it| it.is_ascii_alphanumeric() || it == b'-');
    unless(fine, || {
        pattern(
            "a valid HTTP header must consist of alphanumeric characters or '-'",
            "[-A-Za-z0-9]+",
            &["X-Header-Name"],
        )
    })
}

fn is_key_byte(it: u8) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.' | b'_')
}

pub fn env_var_name(value: &str) -> Vec<String> {
    let fine = all(value, is_key_byte) && !value.starts_with(|it: char| it.is_ascii_digit());
    let mut errors = unless(fine, || {
        pattern(
            "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
            "[-._a-zA-Z][-._a-zA-Z0-9]*",
            &["my.env-name", "MY_ENV.NAME", "MyEnvName1"],
        )
    });
    errors.extend(up_a_directory(value));
    errors
}

pub fn relaxed_env_var_name(value: &str) -> Vec<String> {
    if value.is_empty() {
        return vec![format!("environment variable name {EMPTY}")];
    }
    let fine = value
        .bytes()
        .all(|it| matches!(it, b' '..=b'~') && it != b'=');
    unless(fine, || {
        "a valid environment variable name must consist only of printable ASCII characters other than '='".into()
    })
}

/// Keys of `ConfigMap` and `Secret` data, which become file names.
pub fn config_map_key(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > SUBDOMAIN_LENGTH {
        errors.push(max_length(SUBDOMAIN_LENGTH));
    }
    if !all(value, is_key_byte) {
        errors.push(pattern(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
            "[-._a-zA-Z0-9]+",
            &["key.name", "KEY_NAME", "key-name"],
        ));
    }
    errors.extend(up_a_directory(value));
    errors
}

fn up_a_directory(value: &str) -> Option<String> {
    match value {
        "." | ".." => Some(format!("must not be '{value}'")),
        _ => value
            .starts_with("..")
            .then(|| "must not start with '..'".into()),
    }
}

/// The reason of a `metav1.Condition`.
pub fn condition_reason(value: &str) -> Vec<String> {
    let chars = all(value, |it| {
        it.is_ascii_alphanumeric() || matches!(it, b'_' | b',' | b':')
    });
    let fine = chars
        && value.starts_with(|it: char| it.is_ascii_alphabetic())
        && !value.ends_with([',', ':']);
    unless(fine, || {
        pattern(
            "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
            "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?",
            &[
                "my_name",
                "MY_NAME",
                "MyName",
                "ReasonA,ReasonB",
                "ReasonA:ReasonB",
            ],
        )
    })
}

/// A whole number of any size as it is usually written.
pub fn decimal_integer(value: &str) -> Vec<String> {
    if value.is_empty() {
        return vec![EMPTY.into()];
    }
    let digits = value.strip_prefix('-').unwrap_or(value);
    let fine = all(digits, |it| it.is_ascii_digit()) && (value == "0" || !digits.starts_with('0'));
    unless(fine, || {
        "must be a valid decimal integer in canonical form".into()
    })
}
