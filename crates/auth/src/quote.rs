//! Texts as Go's `%q` writes them, since upstream's messages are full of it.

use std::fmt::Write as _;

/// `%q` of a string.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for it in text.chars() {
        match it {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0b' => out.push_str("\\v"),
            '\0'..='\x1f' | '\x7f' => {
                let _ = write!(out, "\\x{:02x}", it as u32);
            }
            '\u{80}'..='\u{a0}' | '\u{ad}' | '\u{2028}'..='\u{202e}' | '\u{feff}' => {
                let _ = write!(out, "\\u{:04x}", it as u32);
            }
            it => out.push(it),
        }
    }
    out.push('"');
    out
}

/// `%q` of a slice of strings.
pub(crate) fn quote_all<T: AsRef<str>>(texts: &[T]) -> String {
    let all: Vec<_> = texts.iter().map(|it| quote(it.as_ref())).collect();
    format!("[{}]", all.join(" "))
}

/// Several errors as Go's `Aggregate` writes them: each once, in brackets if there is more than one.
pub(crate) fn aggregate<'a>(errors: impl IntoIterator<Item = &'a String>) -> String {
    let mut unique: Vec<&str> = Vec::new();
    for error in errors {
        if !unique.contains(&error.as_str()) {
            unique.push(error);
        }
    }
    match unique[..] {
        [only] => only.to_owned(),
        _ => format!("[{}]", unique.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_as_go_does() {
        assert_eq!(quote("a\"b\\c\n\u{1}é\u{85}"), r#""a\"b\\c\n\x01é\u0085""#);
        assert_eq!(quote_all(&["a", "b"]), r#"["a" "b"]"#);
        assert_eq!(quote_all::<&str>(&[]), "[]");
    }

    #[test]
    fn aggregates() {
        let [a, b] = ["a".to_owned(), "b".to_owned()];
        assert_eq!(aggregate([&a, &a]), "a");
        assert_eq!(aggregate([&a, &b, &a]), "[a, b]");
    }
}
