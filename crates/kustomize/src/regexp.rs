//! Patterns as Go's `regexp` reads them, and its words for those it cannot read.

use regex::Regex;

use crate::error::{Error, Result};

pub(crate) fn compile(pattern: &str) -> Result<Regex> {
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
    let text = error.to_string();
    let has = |words: &str| text.contains(words);
    if has("unclosed group") {
        format!("missing closing ): `{pattern}`")
    } else if has("unopened group") {
        format!("unexpected ): `{pattern}`")
    } else if has("unclosed character class") {
        let from = pattern.rfind('[').unwrap_or(0);
        format!("missing closing ]: `{}`", &pattern[from..])
    } else if has("repetition operator missing expression") {
        let operator = lone_operator(pattern).unwrap_or("*");
        format!("missing argument to repetition operator: `{operator}`")
    } else if has("compiled regex exceeds size limit") {
        format!("expression too large: `{pattern}`")
    } else {
        text
    }
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
