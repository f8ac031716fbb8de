//! Writing scalars in their styles. Hot path.

use super::emit::{Context, Emitter};
use crate::Style;
use crate::chars::{at, is_blank, is_blankz, is_break, is_printable, width};

impl Emitter<'_, '_> {
    pub(super) fn write_scalar(&mut self, value: &str, style: Style) {
        let breaks = self.context != Context::SimpleKey;
        match style {
            Style::Plain | Style::Flow => self.write_plain(value.as_bytes(), breaks),
            Style::SingleQuoted => self.write_single_quoted(value.as_bytes(), breaks),
            Style::DoubleQuoted => self.write_double_quoted(value, breaks),
            Style::Literal => self.write_literal(value.as_bytes()),
            Style::Folded => self.write_folded(value.as_bytes()),
        }
    }

    fn too_wide(&self) -> bool {
        self.column > self.best_width
    }

    fn write_plain(&mut self, text: &[u8], allow_breaks: bool) {
        if (self.legacy || !text.is_empty()) && !self.whitespace {
            self.put(b' ');
        }
        self.write_flowing(text, allow_breaks, false);
        if self.legacy || !text.is_empty() {
            self.whitespace = false;
        }
        self.indention = false;
    }

    fn write_single_quoted(&mut self, text: &[u8], allow_breaks: bool) {
        self.write_indicator("'", true, false, false);
        self.write_flowing(text, allow_breaks, true);
        self.write_indicator("'", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn write_flowing(&mut self, text: &[u8], allow_breaks: bool, quoted: bool) {
        let (mut spaces, mut breaks) = (false, false);
        let mut i = 0;
        while i < text.len() {
            if text[i] == b' ' {
                let inside = !quoted || i > 0 && i < text.len() - 1;
                let single = at(text, i + 1) != b' ';
                if allow_breaks && !spaces && self.too_wide() && inside && single {
                    self.write_indent();
                } else {
                    self.put(b' ');
                }
                i += 1;
                spaces = true;
            } else if is_break(text, i) {
                if !breaks && text[i] == b'\n' {
                    self.put_break();
                }
                i += self.write_break(text, i);
                self.indention |= self.legacy;
                breaks = true;
            } else {
                if breaks {
                    self.write_indent();
                }
                if quoted && text[i] == b'\'' {
                    self.put(b'\'');
                    i += self.write_char(text, i);
                } else {
                    i += self.write_run(text, i);
                }
                self.indention = false;
                (spaces, breaks) = (false, false);
            }
        }
    }

    fn write_double_quoted(&mut self, value: &str, allow_breaks: bool) {
        let text = value.as_bytes();
        let mut spaces = false;
        self.write_indicator("\"", true, false, false);
        // go-yaml asks for a BOM at the start whatever character it is at.
        let bom = text.starts_with(b"\xEF\xBB\xBF");
        let mut i = 0;
        while i < text.len() {
            let byte = text[i];
            let raw = is_printable(text, i) && !bom && !is_break(text, i);
            if !raw || matches!(byte, b'"' | b'\\') {
                let it = value.get(i..).and_then(|rest| rest.chars().next());
                self.write_escape(it.unwrap_or('\u{FFFD}'));
                i += width(byte).max(1);
                spaces = false;
            } else if byte == b' ' {
                let inside = i > 0 && i < text.len() - 1;
                if allow_breaks && !spaces && self.too_wide() && inside {
                    self.write_indent();
                    if at(text, i + 1) == b' ' {
                        self.put(b'\\');
                    }
                } else {
                    self.put(b' ');
                }
                i += 1;
                spaces = true;
            } else {
                i += self.write_char(text, i);
                spaces = false;
            }
        }
        self.write_indicator("\"", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn write_escape(&mut self, it: char) {
        let short = match it {
            '\0' => '0',
            '\x07' => 'a',
            '\x08' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\x0B' => 'v',
            '\x0C' => 'f',
            '\r' => 'r',
            '\x1B' => 'e',
            '"' | '\\' => it,
            '\u{85}' => 'N',
            '\u{A0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ => {
                let code = u32::from(it);
                let text = match code {
                    0..=0xFF => format!("\\x{code:02X}"),
                    0x100..=0xFFFF => format!("\\u{code:04X}"),
                    _ => format!("\\U{code:08X}"),
                };
                for byte in text.bytes() {
                    self.put(byte);
                }
                return;
            }
        };
        self.put(b'\\');
        self.put(u8::try_from(short).unwrap_or(b'?'));
    }

    /// Indentation where the text does not show it, and what to do with the last line breaks.
    fn write_hints(&mut self, text: &[u8]) {
        if at(text, 0) == b' ' || is_break(text, 0) {
            let hint = self.best_indent.to_string();
            self.write_indicator(&hint, false, false, false);
        }
        let back = |end: usize| {
            let starts = |i: &usize| text[*i] & 0xC0 != 0x80;
            (0..end).rev().find(starts)
        };
        let chomp = match back(text.len()) {
            Some(last) if is_break(text, last) => match back(last) {
                Some(before) if !is_break(text, before) => "",
                _ => "+",
            },
            _ => "-",
        };
        if !chomp.is_empty() {
            self.write_indicator(chomp, false, false, false);
        }
    }

    fn start_block(&mut self, indicator: &str, text: &[u8]) {
        self.write_indicator(indicator, true, false, false);
        self.write_hints(text);
        if !self.line_comment() {
            self.put_break();
        }
        self.indention |= self.legacy;
        self.whitespace = true;
    }

    fn write_literal(&mut self, text: &[u8]) {
        self.start_block("|", text);
        let mut breaks = true;
        let mut i = 0;
        while i < text.len() {
            if is_break(text, i) {
                i += self.write_break(text, i);
                self.indention |= self.legacy;
                breaks = true;
            } else {
                if breaks {
                    self.write_indent();
                }
                i += self.write_line(text, i);
                self.indention = false;
                breaks = false;
            }
        }
    }

    fn write_folded(&mut self, text: &[u8]) {
        self.start_block(">", text);
        let (mut breaks, mut leading_spaces) = (true, true);
        // Upstream looks from the start of the text, not from here.
        let mut first = 0;
        while is_break(text, first) {
            first += width(text[first]);
        }
        let starts_solid = !is_blankz(text, first);
        let mut i = 0;
        while i < text.len() {
            if is_break(text, i) {
                if !breaks && !leading_spaces && text[i] == b'\n' && starts_solid {
                    self.put_break();
                }
                i += self.write_break(text, i);
                self.indention |= self.legacy;
                breaks = true;
                continue;
            }
            if breaks {
                self.write_indent();
                leading_spaces = is_blank(text, i);
            }
            let fold = text[i] == b' ' && at(text, i + 1) != b' ' && self.too_wide();
            if !breaks && fold {
                self.write_indent();
                i += 1;
            } else {
                i += self.write_char(text, i);
            }
            self.indention = false;
            breaks = false;
        }
    }
}
