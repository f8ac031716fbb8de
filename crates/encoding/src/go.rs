//! Texts as Go's `fmt` prints them, where Kubernetes' messages show them to users.

use std::fmt::Write as _;
use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

/// `strconv.Quote`, which is `%q` of a string.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for it in text.chars() {
        escape(&mut out, it, '"');
    }
    out.push('"');
    out
}

/// `strconv.QuoteRune`, which is `%q` of a character.
pub fn quote_char(it: char) -> String {
    let mut out = String::from("'");
    escape(&mut out, it, '\'');
    out.push('\'');
    out
}

fn escape(out: &mut String, it: char, mark: char) {
    match it {
        '\\' => out.push_str("\\\\"),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        _ if it == mark => out.extend(['\\', it]),
        ' '..='~' => out.push(it),
        _ => escape_rare(out, it),
    }
}

fn escape_rare(out: &mut String, it: char) {
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

/// `%v` of a float64, `strconv.FormatFloat(it, 'g', -1, 64)`: the shortest digits, with an exponent below 1e-4 and from
/// 1e6 on.
pub fn float(it: f64) -> String {
    match special(it) {
        Some(text) => text.to_owned(),
        None => general(&format!("{it:e}"), || it.to_string()),
    }
}

/// `strconv.FormatFloat(it, 'g', -1, 32)`
pub fn float32(it: f32) -> String {
    match special(it.into()) {
        Some(text) => text.to_owned(),
        None => general(&format!("{it:e}"), || it.to_string()),
    }
}

/// `strconv.FormatFloat(it, 'f', -1, 64)`: the shortest digits, never with an exponent.
pub fn float_fixed(it: f64) -> String {
    special(it).map_or_else(|| it.to_string(), str::to_owned)
}

fn special(it: f64) -> Option<&'static str> {
    match it {
        _ if it.is_nan() => Some("NaN"),
        f64::INFINITY => Some("+Inf"),
        f64::NEG_INFINITY => Some("-Inf"),
        _ => None,
    }
}

fn general(scientific: &str, plain: impl FnOnce() -> String) -> String {
    let (digits, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    // strconv decides as if six digits had been asked for.
    if (-4..6).contains(&exponent) {
        return plain();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// `%q` of each, between commas.
pub fn quote_all<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> String {
    let quoted: Vec<String> = texts.into_iter().map(|it| quote(it.as_ref())).collect();
    quoted.join(", ")
}

/// What `strconv` says of a text that is no number or boolean.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("strconv.{function}: parsing {}: {kind}", quote(.text))]
pub struct NumError {
    pub function: &'static str,
    pub text: String,
    pub kind: NumErrorKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumErrorKind {
    #[error("invalid syntax")]
    Syntax,
    #[error("value out of range")]
    Range,
}

impl NumError {
    pub fn syntax(function: &'static str, text: &str) -> Self {
        Self {
            function,
            text: text.to_owned(),
            kind: NumErrorKind::Syntax,
        }
    }

    pub fn range(function: &'static str, text: &str) -> Self {
        Self {
            kind: NumErrorKind::Range,
            ..Self::syntax(function, text)
        }
    }
}

/// `strconv.Atoi`
pub fn atoi(text: &str) -> Result<i64, NumError> {
    number("Atoi", text)
}

/// `strconv.ParseInt` of a decimal number of 64 bits.
pub fn parse_int(text: &str) -> Result<i64, NumError> {
    number("ParseInt", text)
}

/// `strconv.ParseUint` of a decimal number of 64 bits, which has no sign.
pub fn parse_uint(text: &str) -> Result<u64, NumError> {
    if text.starts_with('+') {
        return Err(NumError::syntax("ParseUint", text));
    }
    number("ParseUint", text)
}

fn number<N: FromStr<Err = ParseIntError>>(
    function: &'static str,
    text: &str,
) -> Result<N, NumError> {
    text.parse()
        .map_err(|error: ParseIntError| match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
                NumError::range(function, text)
            }
            _ => NumError::syntax(function, text),
        })
}

/// `strconv.ParseBool`
pub fn parse_bool(text: &str) -> Result<bool, NumError> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(NumError::syntax("ParseBool", text)),
    }
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
            (9.999_999_999_999_999e-6, "9.999999999999999e-06"),
            (-0.0, "-0"),
            (f64::NEG_INFINITY, "-Inf"),
            (f64::NAN, "NaN"),
        ];
        for (number, want) in floats {
            assert_eq!(float(number), want);
        }
    }

    #[test]
    fn characters_are_quoted_as_go_does() {
        for (it, want) in [
            ('a', "'a'"),
            ('\'', r"'\''"),
            ('"', "'\"'"),
            ('\0', r"'\x00'"),
            ('\u{85}', r"'\u0085'"),
            ('\u{ad}', r"'\u00ad'"),
            ('\u{e9}', "'\u{e9}'"),
        ] {
            assert_eq!(quote_char(it), want);
        }
    }

    #[test]
    fn numbers_are_read_as_go_does() {
        assert_eq!((atoi("+5"), parse_int("-5")), (Ok(5), Ok(-5)));
        assert_eq!(parse_uint("18446744073709551615"), Ok(u64::MAX));
        let told = |it: NumError| it.to_string();
        for (error, want) in [
            (atoi("").unwrap_err(), r#"Atoi: parsing "": invalid syntax"#),
            (
                parse_int("9223372036854775808").unwrap_err(),
                r#"ParseInt: parsing "9223372036854775808": value out of range"#,
            ),
            (
                parse_uint("+5").unwrap_err(),
                r#"ParseUint: parsing "+5": invalid syntax"#,
            ),
            (
                parse_uint("-5").unwrap_err(),
                r#"ParseUint: parsing "-5": invalid syntax"#,
            ),
            (
                parse_bool("yes").unwrap_err(),
                r#"ParseBool: parsing "yes": invalid syntax"#,
            ),
        ] {
            assert_eq!(told(error), format!("strconv.{want}"));
        }
    }
}
