//! Keys and scalars.

use std::ops::ControlFlow;

use super::{Builder, Key, MAX_KEY, Reader, Step, unless};
use crate::Style;
use crate::resolve::tag_of;

/// Whether a plain scalar can start with this, whatever follows.
pub(super) fn starts_plain(byte: u8) -> bool {
    byte > b' '
        && !matches!(
            byte,
            b'-' | b'?'
                | b':'
                | b','
                | b'['
                | b']'
                | b'{'
                | b'}'
                | b'#'
                | b'&'
                | b'*'
                | b'!'
                | b'|'
                | b'>'
                | b'\''
                | b'"'
                | b'%'
                | b'@'
                | b'`'
        )
}

impl<B: Builder> Reader<'_, B> {
    /// A key and its `:`, if that is what stands here; otherwise nothing is read.
    pub(super) fn key(&mut self) -> Step<Option<Key>> {
        unless(self.is_marker(), ())?;
        let start = self.at;
        let found = match self.byte() {
            quote @ (b'\'' | b'"') => self.quoted_key(start, quote),
            _ => self.plain_key(start)?,
        };
        let Some(key) = found else {
            return ControlFlow::Continue(None);
        };
        let length = key.text.len();
        let odd = length > MAX_KEY || !self.text[key.text.clone()].is_ascii();
        unless(odd, Some(key))
    }

    fn quoted_key(&mut self, start: usize, quote: u8) -> Option<Key> {
        let inner = start + 1;
        let rest = self.bytes.get(inner..)?;
        let end = rest
            .iter()
            .position(|it| matches!(it, b'\'' | b'"' | b'\\' | b'\n'))?;
        let end = inner + end;
        if self.bytes[end] != quote || self.byte_at(end + 1) != b':' || !self.is_blank_at(end + 2) {
            return None;
        }
        self.at = end + 2;
        Some(Key {
            start,
            text: inner..end,
            style: if quote == b'"' {
                Style::DoubleQuoted
            } else {
                Style::SingleQuoted
            },
        })
    }

    fn plain_key(&mut self, start: usize) -> Step<Option<Key>> {
        let mut end = start;
        loop {
            match self.byte_at(end) {
                b'\n' | 0 => return ControlFlow::Continue(None),
                b':' if self.is_blank_at(end + 1) => break,
                b'#' if end > start && self.byte_at(end - 1) == b' ' => {
                    return ControlFlow::Continue(None);
                }
                b'\t' => return ControlFlow::Break(()),
                _ => end += 1,
            }
        }
        let text = &self.bytes[start..end];
        let first = self.byte();
        let plain = starts_plain(first) || first == b'-' && text.len() > 1 && text[1] > b' ';
        let odd = !plain || text == b"<<" || text.last() == Some(&b' ');
        self.at = end + 1;
        unless(
            odd,
            Some(Key {
                start,
                text: start..end,
                style: Style::Plain,
            }),
        )
    }

    pub(super) fn is_blank_at(&self, at: usize) -> bool {
        matches!(self.byte_at(at), b' ' | b'\n' | 0)
    }

    pub(super) fn plain(&mut self, indent: usize) -> Step<B::Node> {
        let first = self.byte();
        let dash = first == b'-' && self.byte_at(self.at + 1) > b' ';
        unless(!starts_plain(first) && !dash || self.is_marker(), ())?;
        let place = self.place(self.at);
        let (from, to) = self.plain_line()?;
        // Most are on one line.
        let commented = self.byte() == b'#';
        if commented || !self.goes_on(indent)? {
            let text = &self.text[from..to];
            let tag = tag_of(text);
            unless(text == "<<", ())?;
            let node = self.builder.scalar(text, tag, Style::Plain, place);
            self.end_of_line()?;
            return ControlFlow::Continue(node);
        }
        self.buffer.clear();
        self.buffer.push_str(&self.text[from..to]);
        loop {
            self.fold();
            let (from, to) = self.plain_line()?;
            self.buffer.push_str(&self.text[from..to]);
            if self.byte() == b'#' || !self.goes_on(indent)? {
                break;
            }
        }
        let text = &self.buffer;
        let node = self.builder.scalar(text, tag_of(text), Style::Plain, place);
        self.end_of_line()?;
        ControlFlow::Continue(node)
    }

    /// The part of a plain scalar that is on this line; stops at the end of the line or at a comment.
    fn plain_line(&mut self) -> Step<(usize, usize)> {
        let from = self.at;
        let mut to = from;
        loop {
            match self.byte() {
                b'\n' | 0 => break,
                b' ' => {
                    self.skip_spaces();
                    if self.byte() == b'#' {
                        break;
                    }
                    continue;
                }
                b':' if self.is_blank_at(self.at + 1) => return ControlFlow::Break(()),
                b'\t' => return ControlFlow::Break(()),
                _ => {}
            }
            self.at += 1;
            to = self.at;
        }
        ControlFlow::Continue((from, to))
    }

    /// At the end of a line of a plain scalar: whether the next line that is not empty belongs to it.
    fn goes_on(&self, indent: usize) -> Step<bool> {
        let mut at = self.at;
        while self.byte_at(at) == b'\n' {
            let start = at + 1;
            at = start;
            while self.byte_at(at) == b' ' {
                at += 1;
            }
            match self.byte_at(at) {
                b'\n' => {}
                b'\t' => return ControlFlow::Break(()),
                0 | b'#' => return ControlFlow::Continue(false),
                _ => return ControlFlow::Continue(at - start > indent),
            }
        }
        ControlFlow::Continue(false)
    }

    /// From the end of a line to the start of the next that is not empty: one line break is a space, more are one less.
    fn fold(&mut self) {
        let mut breaks = 0;
        while self.byte() == b'\n' {
            self.skip_line_break();
            breaks += 1;
            while matches!(self.byte(), b' ' | b'\t') {
                self.at += 1;
            }
        }
        match breaks {
            0 => {}
            1 => self.buffer.push(' '),
            _ => (1..breaks).for_each(|_| self.buffer.push('\n')),
        }
    }

    pub(super) fn single_quoted(&mut self) -> Step<B::Node> {
        let node = self.quoted(b'\'', true)?;
        self.end_of_line()?;
        ControlFlow::Continue(node)
    }

    pub(super) fn double_quoted(&mut self) -> Step<B::Node> {
        let node = self.quoted(b'"', true)?;
        self.end_of_line()?;
        ControlFlow::Continue(node)
    }

    /// Up to behind the closing quote.
    pub(super) fn quoted(&mut self, quote: u8, may_fold: bool) -> Step<B::Node> {
        let place = self.place(self.at);
        let style = if quote == b'"' {
            Style::DoubleQuoted
        } else {
            Style::SingleQuoted
        };
        self.at += 1;
        let start = self.at;
        let special = |it: &u8| matches!(it, b'\'' | b'"' | b'\\' | b'\n');
        // Most have nothing to undo.
        let rest = &self.bytes[start..];
        let Some(length) = rest
            .iter()
            .position(|it| *it == quote || special(it) && *it != other(quote))
        else {
            return ControlFlow::Break(());
        };
        let end = start + length;
        if self.bytes[end] == quote && !(quote == b'\'' && self.byte_at(end + 1) == quote) {
            self.at = end + 1;
            let text = &self.text[start..end];
            return ControlFlow::Continue(self.builder.scalar(text, "!!str", style, place));
        }
        self.buffer.clear();
        self.buffer.push_str(&self.text[start..end]);
        self.at = end;
        loop {
            match self.byte() {
                0 => return ControlFlow::Break(()),
                b'\'' if quote == b'\'' => {
                    self.at += 1;
                    if self.byte() != b'\'' {
                        break;
                    }
                    self.buffer.push('\'');
                    self.at += 1;
                }
                b'"' if quote == b'"' => {
                    self.at += 1;
                    break;
                }
                b'\\' if quote == b'"' => self.escape(may_fold)?,
                b'\n' => {
                    unless(!may_fold, ())?;
                    self.quoted_fold(start)?;
                }
                _ => {
                    let rest = &self.bytes[self.at + 1..];
                    let length = rest.iter().position(special).unwrap_or(rest.len());
                    let end = self.at + 1 + length;
                    self.buffer.push_str(&self.text[self.at..end]);
                    self.at = end;
                }
            }
        }
        let node = self.builder.scalar(&self.buffer, "!!str", style, place);
        ControlFlow::Continue(node)
    }

    /// Blanks before a line break do not count, unless they were written as escapes.
    fn quoted_fold(&mut self, start: usize) -> Step {
        let line = start.max(self.line_start);
        let before = &self.bytes[line..self.at];
        let blanks = before
            .iter()
            .rev()
            .take_while(|it| matches!(it, b' ' | b'\t'))
            .count();
        // An escaped blank ends the run of blanks in the text; which is too odd to care for.
        let escaped = before.len() > blanks && before[before.len() - blanks - 1] == b'\\';
        unless(escaped, ())?;
        self.buffer
            .truncate(self.buffer.len() - blanks.min(self.buffer.len()));
        self.fold();
        unless(self.is_marker(), ())
    }

    fn escape(&mut self, may_fold: bool) -> Step {
        let plain = match self.byte_at(self.at + 1) {
            b'n' => '\n',
            b't' => '\t',
            b'"' => '"',
            b'\\' => '\\',
            b' ' => ' ',
            b'r' => '\r',
            b'x' => return self.code(2),
            b'u' => return self.code(4),
            b'U' => return self.code(8),
            b'\n' if may_fold => return self.escaped_break(),
            _ => return ControlFlow::Break(()),
        };
        self.buffer.push(plain);
        self.at += 2;
        ControlFlow::Continue(())
    }

    fn code(&mut self, digits: usize) -> Step {
        let from = self.at + 2;
        let text = self.bytes.get(from..from + digits).unwrap_or_default();
        let mut code = 0;
        for byte in text {
            match char::from(*byte).to_digit(16) {
                Some(digit) => code = code << 4 | digit,
                None => return ControlFlow::Break(()),
            }
        }
        match char::from_u32(code) {
            Some(it) if !text.is_empty() => self.buffer.push(it),
            _ => return ControlFlow::Break(()),
        }
        self.at = from + digits;
        ControlFlow::Continue(())
    }

    /// A line break that does not count. Empty lines after it do.
    fn escaped_break(&mut self) -> Step {
        self.at += 1;
        let mut first = true;
        while self.byte() == b'\n' {
            if !first {
                self.buffer.push('\n');
            }
            first = false;
            self.skip_line_break();
            while matches!(self.byte(), b' ' | b'\t') {
                self.at += 1;
            }
        }
        unless(self.is_marker(), ())
    }

    pub(super) fn block_scalar(&mut self, indent: usize) -> Step<B::Node> {
        let place = self.place(self.at);
        let literal = self.byte() == b'|';
        self.at += 1;
        let chomp = self.byte();
        if matches!(chomp, b'-' | b'+') {
            self.at += 1;
        }
        self.skip_spaces();
        unless(self.byte() != b'\n', ())?;
        self.skip_line_break();
        self.buffer.clear();
        let (mut breaks, mut widest) = (0, 0);
        // Empty lines before the first one with text, which says how far all are indented.
        let own = loop {
            self.skip_spaces();
            let width = self.at - self.line_start;
            match self.byte() {
                b'\n' => {
                    widest = widest.max(width);
                    breaks += 1;
                    self.skip_line_break();
                }
                0 | b'\t' => return ControlFlow::Break(()),
                _ => break width,
            }
        };
        unless(own <= indent || widest > own, ())?;
        let mut pending = false;
        let mut after_blank = false;
        loop {
            // Stands at the first character of a line of text, behind its indentation.
            let blank = matches!(self.byte(), b' ' | b'\t');
            if !literal && pending && !after_blank && !blank {
                if breaks == 0 {
                    self.buffer.push(' ');
                }
            } else if pending {
                self.buffer.push('\n');
            }
            (0..breaks).for_each(|_| self.buffer.push('\n'));
            after_blank = blank;
            let end = self.line_end(self.at);
            self.buffer.push_str(&self.text[self.at..end]);
            self.at = end;
            breaks = 0;
            pending = self.byte() == b'\n';
            let mut more = false;
            let mut first = true;
            while self.byte() == b'\n' {
                if !first {
                    breaks += 1;
                }
                first = false;
                self.skip_line_break();
                while self.byte() == b' ' && self.at - self.line_start < own {
                    self.at += 1;
                }
                let width = self.at - self.line_start;
                unless(width < own && self.byte() == b'\t', ())?;
                more = width == own && !matches!(self.byte(), b'\n' | 0);
            }
            if !more {
                break;
            }
        }
        if chomp != b'-' && pending {
            self.buffer.push('\n');
        }
        if chomp == b'+' {
            (0..breaks).for_each(|_| self.buffer.push('\n'));
        }
        let style = if literal {
            Style::Literal
        } else {
            Style::Folded
        };
        let node = self.builder.scalar(&self.buffer, "!!str", style, place);
        self.next_content()?;
        ControlFlow::Continue(node)
    }
}

fn other(quote: u8) -> u8 {
    if quote == b'"' { b'\'' } else { b'"' }
}
