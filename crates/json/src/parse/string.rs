//! Hot path. Strings: a run without escapes is taken as it stands.

use std::borrow::Cow;

use super::Limits;
use super::parser::Parser;
use crate::find;

impl<'a> Parser<'a> {
    /// From the opening quote to after the closing one. Nothing, and nothing is taken, if it is not that simple: then
    /// `unescape` knows more.
    #[inline]
    pub(super) fn plain_string(&mut self) -> Option<&'a str> {
        let start = self.at + 1;
        let end = find::string_end(self.bytes, start);
        if self.bytes.get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        self.text.get(start..end)
    }

    /// Reads a string with escapes into `scratch.unescaped`.
    #[cold]
    pub(super) fn unescape(&mut self) -> Option<()> {
        self.at += 1;
        self.scratch.unescaped.clear();
        let mut start = self.at;
        loop {
            self.at = find::string_end(self.bytes, self.at);
            let run = self.text.get(start..self.at)?;
            self.scratch.unescaped.push_str(run);
            let ends = self.peek();
            if ends != Some(b'"') && ends != Some(b'\\') {
                return self.unexpected("in string literal");
            }
            self.at += 1;
            if ends == Some(b'"') {
                return Some(());
            }
            start = self.at;
            if let Some(b'"' | b'\\' | b'/') = self.peek() {
                // Stands for itself, so it begins the next run.
                self.at += 1;
            } else {
                let found = self.escape()?;
                self.scratch.unescaped.push(found);
                start = self.at;
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let found = match self.peek() {
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return self.unexpected_within("in string escape code"),
        };
        self.at += 1;
        Some(found)
    }

    /// A lone surrogate becomes U+FFFD, as Go has it.
    fn unicode(&mut self) -> Option<char> {
        let high = self.hex()?;
        if let 0xd800..=0xdbff = high
            && self.bytes[self.at..].starts_with(b"\\u")
        {
            let back = self.at;
            self.at += 2;
            let low = self.hex()?;
            if let 0xdc00..=0xdfff = low {
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = back;
        }
        Some(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Option<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|it| char::from(it).to_digit(16));
            let Some(digit) = digit else {
                return self.unexpected_within("in \\u hexadecimal character escape");
            };
            code = code << 4 | digit;
            self.at += 1;
        }
        Some(code)
    }
}

/// What a quoted string says; nothing if the text is none.
pub(crate) fn unquote(text: &[u8]) -> Option<Cow<'_, str>> {
    let text = std::str::from_utf8(text).ok()?;
    if !text.starts_with('"') {
        return None;
    }
    let plain = &text[1..];
    if find::string_end(plain.as_bytes(), 0) + 1 == plain.len() {
        return plain.strip_suffix('"').map(Cow::Borrowed);
    }
    let mut parser = Parser::of(text, Limits::default());
    parser.unescape()?;
    let found = parser.scratch.unescaped.clone();
    let whole = parser.at == text.len();
    parser.give_back();
    whole.then_some(Cow::Owned(found))
}
