//! Patterns as Go's `regexp` reads them, and its words for those it cannot read.

use regex::Regex;
use regex_syntax::ast::ErrorKind;

use crate::error::{Error, Result};

pub(crate) fn compile(pattern: &str) -> Result<Regex> {
    if let Some(why) = refused(pattern) {
        return Err(Error::new(format!("error parsing regexp: {why}")));
    }
    Regex::new(pattern)
        .or_else(|error| Regex::new(&with_plain_braces(pattern)).map_err(|_| error))
        .map_err(|error| Error::new(format!("error parsing regexp: {}", cause(pattern, &error))))
}

/// To Go, a brace that begins no repetition is just a brace.
fn with_plain_braces(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 2);
    let mut escaped = false;
    for (at, c) in pattern.char_indices() {
        let rest = &pattern[at + c.len_utf8()..];
        let repeats = rest.split_once('}').is_some_and(|(inner, _)| {
            inner.starts_with(|it: char| it.is_ascii_digit())
                && inner.bytes().all(|it| it.is_ascii_digit() || it == b',')
        });
        if c == '{' && !escaped && !repeats {
            out.push('\\');
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out
}

fn cause(pattern: &str, error: &regex::Error) -> String {
    if let regex::Error::CompiledTooBig(_) = error {
        return format!("expression too large: `{pattern}`");
    }
    // `regex` tells its syntax errors as text only: the parser below it has them as values.
    let Err(regex_syntax::Error::Parse(parsed)) = regex_syntax::Parser::new().parse(pattern) else {
        return error.to_string();
    };
    let at = parsed.span().start.offset..parsed.span().end.offset;
    let part = pattern.get(at.clone()).unwrap_or(pattern);
    match parsed.kind() {
        ErrorKind::GroupUnclosed => format!("missing closing ): `{pattern}`"),
        ErrorKind::GroupUnopened => format!("unexpected ): `{pattern}`"),
        ErrorKind::ClassUnclosed => {
            let from = pattern.rfind('[').unwrap_or(0);
            format!("missing closing ]: `{}`", &pattern[from..])
        }
        ErrorKind::RepetitionMissing => {
            let operator = lone_operator(pattern).unwrap_or(part);
            format!("missing argument to repetition operator: `{operator}`")
        }
        ErrorKind::ClassRangeInvalid => format!("invalid character class range: `{part}`"),
        ErrorKind::RepetitionCountInvalid => format!("invalid repeat count: `{part}`"),
        ErrorKind::EscapeUnrecognized | ErrorKind::UnsupportedBackreference => {
            format!("invalid escape sequence: `{part}`")
        }
        ErrorKind::FlagUnrecognized | ErrorKind::UnsupportedLookAround => {
            let before = pattern.get(..at.end).unwrap_or(pattern);
            let from = before.rfind("(?").unwrap_or(0);
            let part = before[from..].trim_end_matches('<');
            format!("invalid or unsupported Perl syntax: `{part}`")
        }
        _ => error.to_string(),
    }
}

/// What Go refuses and we would take: operators on operators, and more than a thousand repetitions.
fn refused(pattern: &str) -> Option<String> {
    let bytes = pattern.as_bytes();
    let (mut at, mut in_class, mut before) = (0, false, None);
    while let Some(&byte) = bytes.get(at) {
        let from = at;
        at += 1;
        let operator = match byte {
            b'\\' => {
                at += 1;
                false
            }
            b'[' if !in_class => {
                in_class = true;
                // A bracket at the start of a class is in it.
                at += usize::from(bytes.get(at) == Some(&b'^'));
                at += usize::from(bytes.get(at) == Some(&b']'));
                false
            }
            b']' if in_class => {
                in_class = false;
                false
            }
            _ if in_class => false,
            b'(' if bytes.get(at) == Some(&b'?') => {
                at += 1;
                false
            }
            b'*' | b'+' | b'?' => true,
            b'{' => match repetition(&pattern[from..]) {
                Some((length, most)) => {
                    at = from + length;
                    if most > 1000 {
                        let part = pattern.get(from..at)?;
                        return Some(format!("invalid repeat count: `{part}`"));
                    }
                    true
                }
                None => false,
            },
            _ => false,
        };
        if !operator {
            before = None;
            continue;
        }
        at += usize::from(bytes.get(at) == Some(&b'?'));
        if let Some(before) = before {
            let part = pattern.get(before..at)?;
            return Some(format!("invalid nested repetition operator: `{part}`"));
        }
        before = Some(from);
    }
    None
}

/// How long `{2,3}` is, and the larger of its numbers.
fn repetition(text: &str) -> Option<(usize, u32)> {
    let (inner, _) = text.strip_prefix('{')?.split_once('}')?;
    let (least, most) = inner.split_once(',').unwrap_or((inner, inner));
    let number = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    if least.is_empty() || !number(least) || !number(most) {
        return None;
    }
    let value = |it: &str| {
        it.parse()
            .unwrap_or(if it.is_empty() { 0 } else { u32::MAX })
    };
    Some((inner.len() + 2, value(least).max(value(most))))
}

/// The first operator that has nothing before it to repeat.
fn lone_operator(pattern: &str) -> Option<&str> {
    let mut may_begin = true;
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("(?") {
            // Up to the end of the group's flags or name.
            rest.find([':', '>', ')']).map_or(rest.len(), |it| it + 1)
        } else if first == '\\' {
            2
        } else {
            1
        };
        if may_begin && matches!(first, '*' | '+' | '?') {
            return rest.get(..1);
        }
        may_begin = matches!(first, '(' | '|' | '^');
        rest = rest.get(length..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(pattern: &str) -> String {
        let error = compile(pattern).err().map(|it| it.to_string());
        let error = error.unwrap_or_else(|| "fine".into());
        error.replace("error parsing regexp: ", "")
    }

    #[test]
    fn patterns_are_refused_in_gos_words() {
        for (pattern, wanted) in [
            ("^(?:*)$", "missing argument to repetition operator: `*`"),
            ("^(?:a**)$", "invalid nested repetition operator: `**`"),
            ("^(?:a*?+)$", "invalid nested repetition operator: `*?+`"),
            (
                "^(?:a{2}{3})$",
                "invalid nested repetition operator: `{2}{3}`",
            ),
            ("^(?:a{1001})$", "invalid repeat count: `{1001}`"),
            ("^(?:a{2,1})$", "invalid repeat count: `{2,1}`"),
            ("^(?:[z-a])$", "invalid character class range: `z-a`"),
            (r"^(?:\q)$", r"invalid escape sequence: `\q`"),
            ("^(?:(?z)a)$", "invalid or unsupported Perl syntax: `(?z`"),
            ("^(?:(?=a))$", "invalid or unsupported Perl syntax: `(?=`"),
        ] {
            assert_eq!(why(pattern), wanted, "{pattern}");
        }
    }

    #[test]
    fn letters_of_many_bytes_are_no_trouble() {
        for pattern in [
            "é(?=é)",
            "[é-a]",
            "éé{2,1}",
            r"é\é",
            "é**",
            "{é}",
            "é{1001}",
        ] {
            assert_ne!(why(pattern), "");
        }
    }

    #[test]
    fn what_go_takes_is_taken() {
        for pattern in [
            "a*?",
            "a+b*",
            "[*+]+",
            "[]*]*",
            r"\*+",
            "(?:a+)+",
            "(?i)a?",
            "a{,3}",
            "a{1,1000}?",
        ] {
            assert_eq!(why(pattern), "fine", "{pattern}");
        }
    }
}
