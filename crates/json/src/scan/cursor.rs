//! A place in JSON text that is known to be well-formed.

use std::borrow::Cow;
use std::ops::Range;

use crate::find;

#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

/// A key with its quotes, as it stands in the text.
pub(super) struct Key<'a> {
    quoted: &'a [u8],
    escaped: bool,
}

impl<'a> Key<'a> {
    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        super::string(self.quoted)
    }

    #[inline]
    pub(super) fn is(&self, key: &str) -> bool {
        if self.escaped {
            return self.text().is_some_and(|text| text == key);
        }
        matches!(self.quoted, [_, plain @ .., _] if plain == key.as_bytes())
    }
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    pub(super) fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    #[inline]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    pub(super) fn comma(&mut self) {
        self.space();
        self.eat(b',');
    }

    /// The next key with its colon; nothing at the end of the object.
    #[inline]
    pub(super) fn key(&mut self) -> Option<Key<'a>> {
        self.space();
        let start = self.at;
        if !self.eat(b'"') {
            return None;
        }
        let escaped = self.string()?;
        let quoted = &self.text[start..self.at];
        self.space();
        self.eat(b':').then_some(Key { quoted, escaped })
    }

    /// Where the next value stands; nothing at the end of the array.
    #[inline]
    pub(super) fn value(&mut self) -> Option<Range<usize>> {
        self.space();
        let start = self.at;
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.string()?;
            }
            b'{' | b'[' => {
                self.at += 1;
                self.close(1)?;
            }
            _ => {
                let rest = &self.text[start..];
                let end = rest.iter().position(|byte| {
                    matches!(
                        byte,
                        b',' | b']' | b'}' | b'"' | b' ' | b'\t' | b'\n' | b'\r'
                    )
                });
                self.at += end.unwrap_or(rest.len());
            }
        }
        (self.at > start).then_some(start..self.at)
    }

    /// To after the end of so many arrays and objects.
    pub(super) fn close(&mut self, mut depth: usize) -> Option<()> {
        while depth > 0 {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'"' => {
                    self.string()?;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
        }
        Some(())
    }

    /// From after the opening quote to after the closing one. True if there are escapes.
    #[inline]
    fn string(&mut self) -> Option<bool> {
        let mut escaped = false;
        loop {
            self.at = find::quote(self.text, self.at);
            if self.peek()? == b'"' {
                self.at += 1;
                return Some(escaped);
            }
            escaped = true;
            self.at += 2;
        }
    }
}
