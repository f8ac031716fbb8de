//! Numbers and strings as Go writes them.

use std::fmt::Write as _;

/// Digits, and where the point is: `0.ddd * 10^exponent`.
fn shortest(value: f64) -> (String, i32) {
    let text = format!("{:e}", value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: String = mantissa.chars().filter(|it| *it != '.').collect();
    let exponent: i32 = exponent.parse().unwrap_or(0);
    (digits, exponent + 1)
}

fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value.is_infinite() {
        Some(if value > 0.0 { "+Inf" } else { "-Inf" })
    } else {
        None
    }
}

/// `%g`
pub(crate) fn general(value: f64) -> String {
    if let Some(text) = special(value) {
        return text.to_owned();
    }
    let (digits, point) = shortest(value);
    let exponent = point - 1;
    if value != 0.0 && !(-4..6).contains(&exponent) {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let mark = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{first}{point}{rest}e{mark}{:02}", exponent.abs());
    }
    fixed(value)
}

/// `strconv.FormatFloat(value, 'f', -1, 64)`
pub(crate) fn fixed(value: f64) -> String {
    match special(value) {
        Some(text) => text.to_owned(),
        None => format!("{value}"),
    }
}

/// `strconv.Quote`
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
            ' ' => out.push(' '),
            it if it.is_ascii_graphic() => out.push(it),
            it if it.is_ascii() => {
                let _ = write!(out, "\\x{:02x}", u32::from(it));
            }
            it if is_print(it) => out.push(it),
            it if u32::from(it) < 0x1_0000 => {
                let _ = write!(out, "\\u{:04x}", u32::from(it));
            }
            it => {
                let _ = write!(out, "\\U{:08x}", u32::from(it));
            }
        }
    }
    out.push('"');
    out
}

/// Letters, marks, numbers, punctuation and symbols; of spaces only the ASCII one.
fn is_print(it: char) -> bool {
    !it.is_control()
        && !it.is_whitespace()
        && !matches!(it, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e000}'..='\u{f8ff}' | '\u{ad}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_written_as_go_writes_them() {
        let cases = [
            (1.5, "1.5"),
            (1e6, "1e+06"),
            (100_000.0, "100000"),
            (123_456_789.0, "1.23456789e+08"),
            (1e-7, "1e-07"),
            (0.0001, "0.0001"),
            (-0.0, "-0"),
            (f64::NEG_INFINITY, "-Inf"),
        ];
        for (value, wanted) in cases {
            assert_eq!(general(value), wanted);
        }
    }
}
