//! Scalars: block, quoted and plain. Hot path.

use super::comments::text_of;
use super::scan::{Result, Scanner};
use super::tokens::{Data, Kind, Mark, Token};
use crate::Style;
use crate::chars::is_break;

/// The white space met inside a scalar, until it is known what it stands for.
#[derive(Default)]
struct Space {
    /// Whether a line break was seen.
    leading: bool,
    blanks: Vec<u8>,
    first_break: Vec<u8>,
    more_breaks: Vec<u8>,
}

impl Space {
    /// One line break folds to a space, more to one less.
    fn join(&mut self, into: &mut Vec<u8>) {
        if self.leading {
            if self.first_break.first() != Some(&b'\n') {
                into.append(&mut self.first_break);
                into.append(&mut self.more_breaks);
            } else if self.more_breaks.is_empty() {
                into.push(b' ');
            } else {
                into.append(&mut self.more_breaks);
            }
            self.first_break.clear();
            self.leading = false;
        } else {
            into.append(&mut self.blanks);
        }
    }
}

fn scalar(start: Mark, end: Mark, value: Vec<u8>, style: Style) -> Token {
    Token {
        kind: Kind::Scalar,
        start,
        end,
        data: Data::Scalar(text_of(value), style),
    }
}

impl Scanner<'_> {
    pub(super) fn scan_block_scalar(&mut self, literal: bool) -> Result<Token> {
        let start = self.mark;
        self.skip();
        let (chomping, increment) = self.scan_block_header(start)?;
        self.skip_blanks()?;
        if self.at(0) == b'#' {
            if self.dialect == super::Dialect::V3 {
                self.scan_line_comment(start)?;
            }
            self.skip_to_break()?;
        }
        if !self.is_breakz() {
            return self.error(start, "did not find expected comment or line break");
        }
        self.need(2)?;
        self.skip_line();

        let mut end = self.mark;
        let mut indent = match increment {
            0 => 0,
            it => self.indent.max(0) + it,
        };
        let (mut value, mut first_break, mut breaks) = (Vec::new(), Vec::new(), Vec::new());
        self.scan_block_breaks(&mut indent, &mut breaks, start, &mut end)?;
        let mut after_blank = false;
        self.need(1)?;
        while self.mark.column == indent && self.at(0) != 0 {
            let blank = self.is_blank();
            if !literal && !after_blank && !blank && first_break.first() == Some(&b'\n') {
                if breaks.is_empty() {
                    value.push(b' ');
                }
                first_break.clear();
            } else {
                value.append(&mut first_break);
            }
            value.append(&mut breaks);
            after_blank = blank;
            while !self.is_breakz() {
                self.read_run(&mut value, |byte| matches!(byte, b'!'..=b'~'));
                if !self.is_breakz() {
                    self.read(&mut value);
                }
                self.need(1)?;
            }
            self.need(2)?;
            self.read_line(&mut first_break);
            self.scan_block_breaks(&mut indent, &mut breaks, start, &mut end)?;
        }
        if chomping != Chomp::Strip {
            value.append(&mut first_break);
        }
        if chomping == Chomp::Keep {
            value.append(&mut breaks);
        }
        let style = if literal {
            Style::Literal
        } else {
            Style::Folded
        };
        Ok(scalar(start, end, value, style))
    }

    /// Chomping and indentation, in either order.
    fn scan_block_header(&mut self, start: Mark) -> Result<(Chomp, i64)> {
        let (mut chomping, mut increment) = (None, None);
        loop {
            self.need(1)?;
            match self.at(0) {
                b'+' if chomping.is_none() => chomping = Some(Chomp::Keep),
                b'-' if chomping.is_none() => chomping = Some(Chomp::Strip),
                b'0' if increment.is_none() => {
                    return self.error(start, "found an indentation indicator equal to 0");
                }
                digit @ b'1'..=b'9' if increment.is_none() => increment = Some(digit - b'0'),
                _ => {
                    let chomping = chomping.unwrap_or(Chomp::Clip);
                    return Ok((chomping, increment.unwrap_or(0).into()));
                }
            }
            self.skip();
        }
    }

    fn scan_block_breaks(
        &mut self,
        indent: &mut i64,
        breaks: &mut Vec<u8>,
        start: Mark,
        end: &mut Mark,
    ) -> Result {
        *end = self.mark;
        let mut widest = 0;
        loop {
            self.need(1)?;
            while (*indent == 0 || self.mark.column < *indent) && self.at(0) == b' ' {
                self.skip();
                self.need(1)?;
            }
            widest = widest.max(self.mark.column);
            if (*indent == 0 || self.mark.column < *indent) && self.at(0) == b'\t' {
                let what = "found a tab character where an indentation space is expected";
                return self.error(start, what);
            }
            if !self.is_break() {
                break;
            }
            self.need(2)?;
            self.read_line(breaks);
            *end = self.mark;
        }
        if *indent == 0 {
            *indent = widest.max(self.indent + 1).max(1);
        }
        Ok(())
    }

    pub(super) fn scan_quoted_scalar(&mut self, single: bool) -> Result<Token> {
        let start = self.mark;
        let quote = self.at(0);
        self.skip();
        let mut value = Vec::new();
        let mut space = Space::default();
        loop {
            self.need(4)?;
            if self.document_indicator().is_some() {
                return self.error(start, "found unexpected document indicator");
            }
            if self.at(0) == 0 {
                return self.error(start, "found unexpected end of stream");
            }
            space.leading = false;
            while !self.is_blankz(0) {
                self.read_run(&mut value, |byte| {
                    matches!(byte, b'!'..=b'~') && !matches!(byte, b'\'' | b'"' | b'\\')
                });
                let escape = !single && self.at(0) == b'\\';
                if self.is_blankz(0) {
                    break;
                } else if self.at(0) == quote {
                    if !(single && self.at(1) == b'\'') {
                        break;
                    }
                    self.skip();
                    self.read(&mut value);
                } else if escape && is_break(&self.input.text, self.pos + 1) {
                    self.need(3)?;
                    self.skip();
                    self.skip_line();
                    space.leading = true;
                    break;
                } else if escape {
                    self.scan_escape(start, &mut value)?;
                } else {
                    self.read(&mut value);
                }
                self.need(2)?;
            }
            self.need(1)?;
            if self.at(0) == quote {
                break;
            }
            self.scan_space(&mut space, None)?;
            space.join(&mut value);
        }
        self.skip();
        let style = if single {
            Style::SingleQuoted
        } else {
            Style::DoubleQuoted
        };
        Ok(scalar(start, self.mark, value, style))
    }

    fn scan_escape(&mut self, start: Mark, value: &mut Vec<u8>) -> Result {
        let plain = match self.at(1) {
            b'0' => "\0",
            b'a' => "\x07",
            b'b' => "\x08",
            b't' | b'\t' => "\t",
            b'n' => "\n",
            b'v' => "\x0B",
            b'f' => "\x0C",
            b'r' => "\r",
            b'e' => "\x1B",
            b' ' => " ",
            b'"' => "\"",
            b'\'' => "'",
            b'\\' => "\\",
            b'N' => "\u{85}",
            b'_' => "\u{A0}",
            b'L' => "\u{2028}",
            b'P' => "\u{2029}",
            b'x' => return self.scan_code(2, start, value),
            b'u' => return self.scan_code(4, start, value),
            b'U' => return self.scan_code(8, start, value),
            _ => return self.error(start, "found unknown escape character"),
        };
        value.extend_from_slice(plain.as_bytes());
        self.skip();
        self.skip();
        Ok(())
    }

    fn scan_code(&mut self, digits: usize, start: Mark, value: &mut Vec<u8>) -> Result {
        self.skip();
        self.skip();
        self.need(digits)?;
        let mut code = 0u32;
        for i in 0..digits {
            let Some(digit) = char::from(self.at(i)).to_digit(16) else {
                return self.error(start, "did not find expected hexdecimal number");
            };
            code = code << 4 | digit;
        }
        let Some(it) = char::from_u32(code) else {
            return self.error(start, "found invalid Unicode character escape code");
        };
        value.extend_from_slice(it.encode_utf8(&mut [0; 4]).as_bytes());
        for _ in 0..digits {
            self.skip();
        }
        Ok(())
    }

    /// Blanks and breaks. In a plain scalar, `indent` is what a tab may not stand left of.
    fn scan_space(&mut self, space: &mut Space, indent: Option<(i64, Mark)>) -> Result {
        loop {
            if self.is_blank() {
                if let Some((indent, start)) = indent
                    && space.leading
                    && self.mark.column < indent
                    && self.at(0) == b'\t'
                {
                    return self.error(start, "found a tab character that violates indentation");
                }
                if space.leading {
                    self.skip();
                } else {
                    self.read(&mut space.blanks);
                }
            } else if self.is_break() {
                self.need(2)?;
                if space.leading {
                    self.read_line(&mut space.more_breaks);
                } else {
                    space.blanks.clear();
                    self.read_line(&mut space.first_break);
                    space.leading = true;
                }
            } else {
                return Ok(());
            }
            self.need(1)?;
        }
    }

    pub(super) fn scan_plain_scalar(&mut self) -> Result<Token> {
        let (start, mut end) = (self.mark, self.mark);
        let indent = self.indent + 1;
        let flow = self.flow_level > 0;
        let mut value = Vec::new();
        let mut space = Space::default();
        loop {
            self.need(4)?;
            if self.document_indicator().is_some() || self.at(0) == b'#' {
                break;
            }
            while !self.is_blankz(0) {
                let next = self.at(0);
                if next == b':' && self.is_blankz(1)
                    || flow && matches!(next, b',' | b'?' | b'[' | b']' | b'{' | b'}')
                {
                    break;
                }
                if space.leading || !space.blanks.is_empty() {
                    space.join(&mut value);
                }
                self.read(&mut value);
                self.read_run(&mut value, |byte| {
                    byte.is_ascii_alphanumeric() || matches!(byte, b'-'..=b'/' | b'_')
                });
                end = self.mark;
                self.need(2)?;
            }
            if !(self.is_blank() || self.is_break()) {
                break;
            }
            self.scan_space(&mut space, Some((indent, start)))?;
            if !flow && self.mark.column < indent {
                break;
            }
        }
        if space.leading {
            self.simple_key_allowed = true;
        }
        Ok(scalar(start, end, value, Style::Plain))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    Strip,
    Clip,
    Keep,
}
