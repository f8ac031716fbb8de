//! Names of properties in expressions: `a-b` is written `a__dash__b`.

use std::borrow::Cow;

use crate::parser::RESERVED;

/// Words of the grammar that are not names of variables either.
const KEYWORDS: &[&str] = &["true", "false", "null", "in"];

pub(crate) fn is_reserved(name: &str) -> bool {
    KEYWORDS.contains(&name) || RESERVED.contains(&name)
}

/// Nothing if the name cannot be written in an expression.
pub(crate) fn escape(name: &str) -> Option<Cow<'_, str>> {
    if name.is_empty() || name.starts_with(|it: char| it.is_ascii_digit()) {
        return None;
    }
    if is_reserved(name) {
        return Some(format!("__{name}__").into());
    }
    let plain = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
    if name.bytes().all(plain) && !name.contains("__") {
        return Some(name.into());
    }
    let mut out = String::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let (text, length) = match first {
            '_' if rest.starts_with("__") => ("__underscores__", 2),
            '.' => ("__dot__", 1),
            '-' => ("__dash__", 1),
            '/' => ("__slash__", 1),
            it if it.is_ascii_alphanumeric() || it == '_' => (&rest[..1], 1),
            _ => return None,
        };
        out.push_str(text);
        rest = &rest[length..];
    }
    Some(out.into())
}

/// Nothing if it has an escape that is none.
pub(crate) fn unescape(name: &str) -> Option<Cow<'_, str>> {
    if !name.contains("__") {
        return Some(name.into());
    }
    let mut out = String::new();
    let mut rest = name;
    while let Some(begin) = rest.find("__") {
        let behind = &rest[begin + 2..];
        // An escape has something without underscores between two pairs of them.
        let length = behind.find('_').unwrap_or(behind.len());
        if length == 0 || !behind[length..].starts_with("__") {
            out.push_str(&rest[..=begin]);
            rest = &rest[begin + 1..];
            continue;
        }
        out.push_str(&rest[..begin]);
        match &behind[..length] {
            "underscores" => out.push_str("__"),
            "dot" => out.push('.'),
            "dash" => out.push('-'),
            "slash" => out.push('/'),
            word if is_reserved(word) && name.len() == word.len() + 4 => out.push_str(word),
            _ => return None,
        }
        rest = &behind[length + 2..];
    }
    out.push_str(rest);
    Some(out.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for (name, escaped) in [
            ("a", "a"),
            ("a-b.c/d", "a__dash__b__dot__c__slash__d"),
            ("a__b", "a__underscores__b"),
            ("namespace", "__namespace__"),
            ("_x", "_x"),
        ] {
            assert_eq!(escape(name).as_deref(), Some(escaped));
            assert_eq!(unescape(escaped).as_deref(), Some(name));
        }
        assert_eq!(escape("1a"), None);
        assert_eq!(escape("a b"), None);
        assert_eq!(unescape("__nope__"), None);
    }
}
