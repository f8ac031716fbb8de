//! Go's regular expressions on the `regex` crate, whose syntax is a little different, with bounds on their size.

use std::fmt::Write as _;

use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::ast::ErrorKind;

/// No longer expression is taken.
const MAX_TEXT: usize = 100_000;
/// No larger automaton is made.
const MAX_SIZE: usize = 2 << 20;
/// Nor one with more groups within groups.
const MAX_DEPTH: u32 = 1000;

#[derive(Clone, Debug)]
pub(crate) struct Regexp {
    regex: Regex,
}

impl Regexp {
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        if pattern.len() > MAX_TEXT {
            return Err("error parsing regexp: expression too large".to_owned());
        }
        let translated =
            translate(pattern).map_err(|why| format!("error parsing regexp: {why}"))?;
        RegexBuilder::new(&translated)
            .size_limit(MAX_SIZE)
            .dfa_size_limit(MAX_SIZE)
            .nest_limit(MAX_DEPTH)
            .build()
            .map(|regex| Self { regex })
            .map_err(|error| {
                format!(
                    "error parsing regexp: {}",
                    explain(pattern, &translated, &error)
                )
            })
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    pub(crate) fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.regex.find(text).map(|it| it.as_str())
    }

    pub(crate) fn find_all<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.regex.find_iter(text).map(|it| it.as_str())
    }

    /// How many groups it has.
    pub(crate) fn groups(&self) -> usize {
        self.regex.captures_len() - 1
    }

    /// The first group of every match, or the whole match if there is no group.
    pub(crate) fn captures<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let group = self.groups().min(1);
        self.regex
            .captures_iter(text)
            .filter_map(move |it| it.get(group).map(|it| it.as_str()))
    }

    /// Replaces matches; `\1` stands for a group.
    pub(crate) fn replace(&self, text: &str, new: &str, count: usize) -> Result<String, String> {
        let mut out = String::new();
        let mut end = 0;
        for found in self.regex.captures_iter(text).take(count) {
            let Some(whole) = found.get(0) else { continue };
            out.push_str(&text[end..whole.start()]);
            end = whole.end();
            let mut rest = new.chars();
            while let Some(it) = rest.next() {
                if it != '\\' {
                    out.push(it);
                    continue;
                }
                match rest.next() {
                    Some('\\') => out.push('\\'),
                    Some(digit) if digit.is_ascii_digit() => {
                        let group = digit.to_digit(10).unwrap_or(0) as usize;
                        if group > self.groups() {
                            return Err(format!(
                                "replacement string references group {group} but regex has only {} group(s)",
                                self.groups()
                            ));
                        }
                        out.push_str(found.get(group).map_or("", |it| it.as_str()));
                    }
                    _ => {
                        return Err(
                            "invalid replacement string: \\ must be followed by a digit or \\"
                                .to_owned(),
                        );
                    }
                }
            }
        }
        out.push_str(&text[end..]);
        Ok(out)
    }
}

/// Classes such as `\d` are about ASCII in Go; a bracket within a set is a character.
#[expect(clippy::too_many_lines, reason = "one arm per escape")]
fn translate(pattern: &str) -> Result<String, String> {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern.char_indices().peekable();
    let mut in_set = false;
    while let Some((at, it)) = rest.next() {
        match it {
            '\\' => {
                let Some((_, code)) = rest.next() else {
                    return Err("trailing backslash at end of expression: ``".to_owned());
                };
                match code {
                    'd' => out.push_str(if in_set { "0-9" } else { "[0-9]" }),
                    'D' => out.push_str("[^0-9]"),
                    'w' => out.push_str(if in_set { "0-9A-Za-z_" } else { "[0-9A-Za-z_]" }),
                    'W' => out.push_str("[^0-9A-Za-z_]"),
                    's' => out.push_str(if in_set {
                        r"\t\n\x0c\r\x20"
                    } else {
                        r"[\t\n\x0c\r\x20]"
                    }),
                    'S' => out.push_str(r"[^\t\n\x0c\r\x20]"),
                    'b' if !in_set => out.push_str(r"(?-u:\b)"),
                    'B' if !in_set => out.push_str(r"(?-u:\B)"),
                    'Q' if !in_set => {
                        let begin = at + 2;
                        let end = pattern[begin..]
                            .find("\\E")
                            .map_or(pattern.len(), |it| begin + it);
                        out.push_str(&regex_syntax::escape(&pattern[begin..end]));
                        while rest
                            .next_if(|next| next.0 < (end + 2).min(pattern.len()))
                            .is_some()
                        {}
                    }
                    'x' | 'p' | 'P' => {
                        out.push('\\');
                        out.push(code);
                        // What stands in braces belongs to it.
                        if let Some(length) = pattern[at + 2..]
                            .strip_prefix('{')
                            .and_then(|it| it.find('}'))
                        {
                            let end = at + 2 + length + 2;
                            out.push_str(&pattern[at + 2..end]);
                            while rest.next_if(|next| next.0 < end).is_some() {}
                        }
                    }
                    'a' | 'f' | 'n' | 'r' | 't' | 'v' | 'A' | 'z' => {
                        out.push('\\');
                        out.push(code);
                    }
                    '0'..='7' => {
                        let begin = at + 1;
                        let digits = pattern[begin..]
                            .bytes()
                            .take(3)
                            .take_while(|it| matches!(it, b'0'..=b'7'))
                            .count();
                        if code != '0' && digits < 2 {
                            return Err(format!("invalid escape sequence: `\\{code}`"));
                        }
                        let value =
                            u32::from_str_radix(&pattern[begin..begin + digits], 8).unwrap_or(0);
                        let _ = write!(out, "\\x{{{value:x}}}");
                        for _ in 1..digits {
                            rest.next();
                        }
                    }
                    it if it.is_ascii_punctuation() => {
                        out.push('\\');
                        out.push(it);
                    }
                    it => return Err(format!("invalid escape sequence: `\\{it}`")),
                }
            }
            '[' if in_set => {
                // `[:alpha:]` is a class, anything else is a bracket.
                if pattern[at..].starts_with("[:") && pattern[at + 2..].contains(":]") {
                    let end = at + 2 + pattern[at + 2..].find(":]").unwrap_or(0) + 2;
                    out.push_str(&pattern[at..end]);
                    while rest.next_if(|next| next.0 < end).is_some() {}
                } else {
                    out.push_str("\\[");
                }
            }
            '[' => {
                in_set = true;
                out.push('[');
                if rest.next_if(|next| next.1 == '^').is_some() {
                    out.push('^');
                }
                if rest.next_if(|next| next.1 == ']').is_some() {
                    out.push_str("\\]");
                }
            }
            ']' if in_set => {
                in_set = false;
                out.push(']');
            }
            '&' | '~' if in_set => {
                out.push('\\');
                out.push(it);
            }
            '-' if in_set && rest.peek().is_some_and(|next| next.1 == '-') => out.push_str("\\-"),
            '{' if !in_set && !is_repetition(&pattern[at..]) => out.push_str("\\{"),
            '*' | '+' | '?' | '{' if !in_set => {
                let length = if it == '{' {
                    pattern[at..].find('}').unwrap_or(0) + 1
                } else {
                    1
                };
                let end = at + length;
                out.push_str(&pattern[at..end]);
                while rest.next_if(|next| next.0 < end).is_some() {}
                let mut behind = end;
                if rest.next_if(|next| next.1 == '?').is_some() {
                    out.push('?');
                    behind += 1;
                }
                let next = &pattern[behind..];
                if next.starts_with(['*', '+', '?'])
                    || (next.starts_with('{') && is_repetition(next))
                {
                    return Err(format!(
                        "invalid nested repetition operator: `{}`",
                        &pattern[at..=behind]
                    ));
                }
            }
            '}' if !in_set => out.push('}'),
            other => out.push(other),
        }
    }
    if in_set {
        let begin = pattern.rfind('[').unwrap_or(0);
        return Err(format!("missing closing ]: `{}`", &pattern[begin..]));
    }
    Ok(out)
}

/// `{2}`, `{2,}` or `{2,3}`; any other brace is a character.
fn is_repetition(text: &str) -> bool {
    let Some(end) = text.find('}') else {
        return false;
    };
    let inner = &text[1..end];
    let (min, max) = inner.split_once(',').unwrap_or((inner, ""));
    let digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    !min.is_empty() && digits(min) && digits(max)
}

/// The error in Go's words, as far as they are known.
fn explain(pattern: &str, translated: &str, error: &regex::Error) -> String {
    if let regex::Error::CompiledTooBig(_) = error {
        return "expression too large".to_owned();
    }
    // `regex` tells its syntax errors as text only: the parser below it has them as values.
    let parsed = ParserBuilder::new()
        .nest_limit(MAX_DEPTH)
        .build()
        .parse(translated);
    let kind = match &parsed {
        Err(regex_syntax::Error::Parse(error)) => Some(error.kind()),
        _ => None,
    };
    match kind {
        Some(ErrorKind::GroupUnclosed) => format!("missing closing ): `{pattern}`"),
        Some(ErrorKind::GroupUnopened) => format!("unexpected ): `{pattern}`"),
        Some(ErrorKind::RepetitionMissing) => {
            let operator = pattern
                .find(['*', '+', '?'])
                .map_or("", |it| &pattern[it..=it]);
            format!("missing argument to repetition operator: `{operator}`")
        }
        _ => format!("invalid syntax: `{pattern}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_about_ascii() {
        for (pattern, text, wanted) in [
            (r"^\d+$", "١", false),
            (r"^[\w-]+$", "a-b", true),
            (r"^[[:alpha:]]$", "a", true),
            (r"\Qa.b\E+", "a.bb", true),
            (r"^[a[]$", "[", true),
            (r"^a{$", "a{", true),
            (r"\bfoo\b", "a foo b", true),
        ] {
            assert_eq!(
                Regexp::new(pattern).unwrap().is_match(text),
                wanted,
                "{pattern}"
            );
        }
        assert!(Regexp::new("(").is_err());
        assert!(Regexp::new(r"\y").is_err());
    }

    #[test]
    fn expressions_are_bounded() {
        assert!(Regexp::new(r"([\p{L}]{1000}){1000}").is_err());
    }
}
