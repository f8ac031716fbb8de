//! Text to tokens, with the lexical grammar of cel-go. Errors are told as ANTLR tells them: the text from the begin
//! of the token to the character that does not fit, which is skipped too.

mod string;

use crate::source::Issues;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub(crate) enum Kind {
    Eof,
    Equals,
    NotEquals,
    In,
    Less,
    LessEquals,
    GreaterEquals,
    Greater,
    And,
    Or,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    LParen,
    RParen,
    Dot,
    Comma,
    Minus,
    Exclam,
    Question,
    Colon,
    Plus,
    Star,
    Slash,
    Percent,
    True,
    False,
    Null,
    Float,
    Int,
    Uint,
    String,
    Bytes,
    Ident,
    EscIdent,
}

impl Kind {
    /// How an error names it.
    pub(crate) fn display(self) -> &'static str {
        const NAMES: [&str; 36] = [
            "<EOF>",
            "'=='",
            "'!='",
            "'in'",
            "'<'",
            "'<='",
            "'>='",
            "'>'",
            "'&&'",
            "'||'",
            "'['",
            "']'",
            "'{'",
            "'}'",
            "'('",
            "')'",
            "'.'",
            "','",
            "'-'",
            "'!'",
            "'?'",
            "':'",
            "'+'",
            "'*'",
            "'/'",
            "'%'",
            "'true'",
            "'false'",
            "'null'",
            "NUM_FLOAT",
            "NUM_INT",
            "NUM_UINT",
            "STRING",
            "BYTES",
            "IDENTIFIER",
            "ESC_IDENTIFIER",
        ];
        NAMES[self as usize]
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Token {
    pub(crate) fn text(self, source: &str) -> &str {
        &source[self.start as usize..self.end as usize]
    }
}

/// All tokens, the last of which is the end. Characters that belong to none are reported and skipped.
pub(crate) fn tokens(source: &str, issues: &mut Issues) -> Vec<Token> {
    let bytes = source.as_bytes();
    let mut all = Vec::with_capacity(source.len() / 3 + 4);
    let mut at = 0;
    while let Some(begin) = skip(bytes, at) {
        at = match next(source, begin) {
            Ok((kind, end)) => {
                all.push(token(kind, begin, end));
                end
            }
            Err(stop) => {
                let end = source[stop..]
                    .chars()
                    .next()
                    .map_or(stop, |it| stop + it.len_utf8());
                issues.report(
                    begin,
                    format!(
                        "Syntax error: token recognition error at: '{}'",
                        &source[begin..end]
                    ),
                );
                end
            }
        };
    }
    all.push(token(Kind::Eof, source.len(), source.len()));
    all
}

fn token(kind: Kind, start: usize, end: usize) -> Token {
    let narrow = |it| u32::try_from(it).unwrap_or(u32::MAX);
    Token {
        kind,
        start: narrow(start),
        end: narrow(end),
    }
}

/// Behind blanks and comments, unless nothing is left.
fn skip(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'\t' | b' ' | b'\r' | b'\n' | 0x0c => at += 1,
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                let rest = &bytes[at..];
                at += rest
                    .iter()
                    .position(|it| *it == b'\n')
                    .unwrap_or(rest.len());
            }
            _ => return Some(at),
        }
    }
}

/// The longest token that begins here, or where it went wrong.
fn next(source: &str, begin: usize) -> Result<(Kind, usize), usize> {
    let bytes = source.as_bytes();
    let peek = |ahead: usize| bytes.get(begin + ahead).copied();
    let one = |kind| Ok((kind, begin + 1));
    let two = |kind| Ok((kind, begin + 2));
    match bytes[begin] {
        b'=' if peek(1) == Some(b'=') => two(Kind::Equals),
        b'!' if peek(1) == Some(b'=') => two(Kind::NotEquals),
        b'!' => one(Kind::Exclam),
        b'<' if peek(1) == Some(b'=') => two(Kind::LessEquals),
        b'<' => one(Kind::Less),
        b'>' if peek(1) == Some(b'=') => two(Kind::GreaterEquals),
        b'>' => one(Kind::Greater),
        b'&' if peek(1) == Some(b'&') => two(Kind::And),
        b'|' if peek(1) == Some(b'|') => two(Kind::Or),
        b'=' | b'&' | b'|' => Err(begin + 1),
        b'[' => one(Kind::LBracket),
        b']' => one(Kind::RBracket),
        b'{' => one(Kind::LBrace),
        b'}' => one(Kind::RBrace),
        b'(' => one(Kind::LParen),
        b')' => one(Kind::RParen),
        b',' => one(Kind::Comma),
        b'-' => one(Kind::Minus),
        b'?' => one(Kind::Question),
        b':' => one(Kind::Colon),
        b'+' => one(Kind::Plus),
        b'*' => one(Kind::Star),
        b'/' => one(Kind::Slash),
        b'%' => one(Kind::Percent),
        b'.' if peek(1).is_some_and(|it| it.is_ascii_digit()) => {
            Ok((Kind::Float, fraction(bytes, begin)))
        }
        b'.' => one(Kind::Dot),
        b'0'..=b'9' => Ok(number(bytes, begin)),
        b'"' | b'\'' => string::quoted(source, begin, false).map(|end| (Kind::String, end)),
        b'`' => escaped_ident(bytes, begin).map(|end| (Kind::EscIdent, end)),
        b'A'..=b'Z' | b'a'..=b'z' | b'_' => Ok(word(source, begin)),
        _ => Err(begin),
    }
}

fn digits(bytes: &[u8], at: usize, is: impl Fn(&u8) -> bool) -> usize {
    at + bytes[at..].iter().take_while(|it| is(it)).count()
}

/// A point, digits and an exponent. The point has a digit behind it.
fn fraction(bytes: &[u8], at: usize) -> usize {
    exponent(bytes, digits(bytes, at + 1, u8::is_ascii_digit))
}

/// Behind an exponent if there is a whole one.
fn exponent(bytes: &[u8], at: usize) -> usize {
    let Some(b'e' | b'E') = bytes.get(at) else {
        return at;
    };
    let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
    let begin = at + 1 + sign;
    if bytes.get(begin).is_some_and(u8::is_ascii_digit) {
        digits(bytes, begin, u8::is_ascii_digit)
    } else {
        at
    }
}

fn number(bytes: &[u8], begin: usize) -> (Kind, usize) {
    let suffix = |end: usize| match bytes.get(end) {
        Some(b'u' | b'U') => (Kind::Uint, end + 1),
        _ => (Kind::Int, end),
    };
    if bytes[begin..].starts_with(b"0x") && bytes.get(begin + 2).is_some_and(u8::is_ascii_hexdigit)
    {
        return suffix(digits(bytes, begin + 2, u8::is_ascii_hexdigit));
    }
    let end = digits(bytes, begin, u8::is_ascii_digit);
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        return (Kind::Float, fraction(bytes, end));
    }
    match exponent(bytes, end) {
        same if same == end => suffix(end),
        behind => (Kind::Float, behind),
    }
}

/// An identifier, a keyword, or a string with a prefix.
fn word(source: &str, begin: usize) -> (Kind, usize) {
    let bytes = source.as_bytes();
    let end = digits(bytes, begin, |it| it.is_ascii_alphanumeric() || *it == b'_');
    if let Some(b'"' | b'\'') = bytes.get(end) {
        let (kind, raw) = match &source[begin..end] {
            "r" | "R" => (Kind::String, true),
            "b" | "B" => (Kind::Bytes, false),
            "br" | "bR" | "Br" | "BR" => (Kind::Bytes, true),
            _ => (Kind::Ident, false),
        };
        // An unfinished string leaves the prefix as an identifier.
        if kind != Kind::Ident
            && let Ok(end) = string::quoted(source, end, raw)
        {
            return (kind, end);
        }
    }
    let kind = match &source[begin..end] {
        "in" => Kind::In,
        "true" => Kind::True,
        "false" => Kind::False,
        "null" => Kind::Null,
        _ => Kind::Ident,
    };
    (kind, end)
}

fn escaped_ident(bytes: &[u8], begin: usize) -> Result<usize, usize> {
    let allowed = |it: &u8| it.is_ascii_alphanumeric() || b"_.-/ ".contains(it);
    let end = digits(bytes, begin + 1, allowed);
    match bytes.get(end) {
        Some(b'`') if end > begin + 1 => Ok(end + 1),
        _ => Err(end),
    }
}

#[cfg(test)]
mod tests;
