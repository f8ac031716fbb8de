//! What a plain scalar means.

mod number;
mod timestamp;

use std::borrow::Cow;

pub(crate) use number::{format_float, format_float32};
pub(crate) use timestamp::Timestamp;

const LONG_PREFIX: &str = "tag:yaml.org,2002:";

/// A scalar that was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    /// Beyond int64.
    Uint(u64),
    Float(f64),
    Timestamp(Timestamp),
    String,
}

impl Scalar {
    pub(crate) fn tag(&self) -> &'static str {
        match self {
            Self::Null => "!!null",
            Self::Bool(_) => "!!bool",
            Self::Int(_) | Self::Uint(_) => "!!int",
            Self::Float(_) => "!!float",
            Self::Timestamp(_) => "!!timestamp",
            Self::String => "!!str",
        }
    }
}

/// Whether booleans and octals are YAML 1.1's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// `yes`, `on` and `y` are booleans; there is no `0o`-only octal.
    V2,
    V3,
}

/// The tag of a plain scalar, by go-yaml v3's rules.
pub(crate) fn tag_of(text: &str) -> &'static str {
    resolve(text, Rules::V3, true).tag()
}

/// `timestamps` is false where a tag other than `!!timestamp` was given.
pub(crate) fn resolve(text: &str, rules: Rules, timestamps: bool) -> Scalar {
    let Some(&first) = text.as_bytes().first() else {
        return Scalar::Null;
    };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => {
            word(text, rules)
        }
        b'.' | b'+' | b'-' | b'0'..=b'9' => {
            match text {
                ".nan" | ".NaN" | ".NAN" => return Scalar::Float(f64::NAN),
                ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
                    return Scalar::Float(f64::INFINITY);
                }
                "-.inf" | "-.Inf" | "-.INF" => return Scalar::Float(f64::NEG_INFINITY),
                _ => {}
            }
            if timestamps && let Some(it) = Timestamp::parse(text) {
                return Scalar::Timestamp(it);
            }
            number::parse(text, rules).unwrap_or(Scalar::String)
        }
        _ => Scalar::String,
    }
}

fn word(text: &str, rules: Rules) -> Scalar {
    match text {
        "true" | "True" | "TRUE" => Scalar::Bool(true),
        "false" | "False" | "FALSE" => Scalar::Bool(false),
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        _ if rules == Rules::V3 => Scalar::String,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Scalar::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Scalar::Bool(false),
        _ => Scalar::String,
    }
}

/// A number in base 60, as YAML 1.1 has them: read as a string, but quoted for others.
pub(crate) fn is_base60(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = digits.split(':');
    let first = parts.next().unwrap_or_default().as_bytes();
    let number = |it: &[u8]| it.iter().all(|it| it.is_ascii_digit() || *it == b'_');
    if !first.first().is_some_and(u8::is_ascii_digit) || !number(first) {
        return false;
    }
    let rest: Vec<&str> = parts.collect();
    let Some((last, middle)) = rest.split_last() else {
        return false;
    };
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    let sixty = |it: &str| match it.as_bytes() {
        [a] => a.is_ascii_digit(),
        [a, b] => matches!(a, b'0'..=b'5') && b.is_ascii_digit(),
        _ => false,
    };
    middle.iter().all(|it| sixty(it)) && sixty(last) && number(fraction.as_bytes())
}

pub(crate) fn short_tag(tag: &str) -> Cow<'_, str> {
    match tag.strip_prefix(LONG_PREFIX) {
        Some(rest) => Cow::Owned(format!("!!{rest}")),
        None => Cow::Borrowed(tag),
    }
}
