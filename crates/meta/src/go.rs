//! Texts as Go's `fmt` prints them, where Kubernetes' messages show them to users.

use std::fmt::Write as _;

/// `%q` of a string.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for it in text.chars() {
        match it {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            ' '..='~' => out.push(it),
            _ => quote_rare(&mut out, it),
        }
    }
    out.push('"');
    out
}

fn quote_rare(out: &mut String, it: char) {
    let code = u32::from(it);
    match code {
        ..0x20 | 0x7f => write!(out, "\\x{code:02x}"),
        _ if is_print(it) => out.write_char(it),
        ..0x1_0000 => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    }
    .expect("a String takes all");
}

/// `unicode.IsPrint`: Rust's own notion, which escapes a combining mark only where it begins a text.
pub fn is_print(it: char) -> bool {
    let after_letter: String = ['a', it].iter().collect();
    it == '\'' || it == '"' || it == '\\' || after_letter.escape_debug().count() == 2
}

/// `%v` of a float64: the shortest digits, with an exponent below 1e-4 and from 1e6 on.
pub fn float(it: f64) -> String {
    let text = format!("{it:e}");
    let Some((digits, exponent)) = text.split_once('e') else {
        return text;
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return it.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// `%q` of each, between commas.
pub fn quote_all<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> String {
    let quoted: Vec<String> = texts.into_iter().map(|it| quote(it.as_ref())).collect();
    quoted.join(", ")
}

/// `strconv.ParseInt` or `Atoi`, with what it says.
pub fn parse_int(function: &str, text: &str) -> Result<i64, String> {
    use std::num::IntErrorKind;
    text.parse().map_err(|error: std::num::ParseIntError| {
        let what = match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        format!("strconv.{function}: parsing {}: {what}", quote(text))
    })
}

/// What the system said, as Go words it: `no such file or directory`.
pub fn system_error(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = match text.rfind(" (os error ") {
        Some(at) => &text[..at],
        None => return text,
    };
    let mut letters = text.chars();
    let first = letters.next().map(|it| it.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What go1.26 printed.
    #[test]
    fn prints_as_go() {
        let strings = [
            ("a\u{301}", "\"a\u{301}\""),
            ("\u{301}x", "\"\u{301}x\""),
            ("\u{a0}", r#""\u00a0""#),
            ("\u{200b}", r#""\u200b""#),
            ("\u{7f}\0", r#""\x7f\x00""#),
            ("é😀'", "\"é😀'\""),
            ("\u{e0001}", r#""\U000e0001""#),
            ("\u{2028}", r#""\u2028""#),
            ("\t\u{7}\u{b}\\\"", r#""\t\a\v\\\"""#),
        ];
        for (text, want) in strings {
            assert_eq!(quote(text), want);
        }
        let floats = [
            (1.0, "1"),
            (0.1, "0.1"),
            (123_456.0, "123456"),
            (1e6, "1e+06"),
            (1_234_567.5, "1.2345675e+06"),
            (1e21, "1e+21"),
            (1e-4, "0.0001"),
            (-2.5e-7, "-2.5e-07"),
        ];
        for (number, want) in floats {
            assert_eq!(float(number), want);
        }
    }
}
