//! What the emitter writes with: characters, indicators, indentation and comments. Hot path.

use encoding::percent;

use super::emit::Emitter;
use crate::chars::{is_alpha, is_break, width};

impl Emitter<'_, '_> {
    pub(super) fn write_name(&mut self, name: &str) {
        self.write_all(name);
        self.whitespace = false;
        self.indention = false;
    }

    pub(super) fn write_tag_handle(&mut self, handle: &str) {
        if !self.whitespace {
            self.put(b' ');
        }
        self.write_name(handle);
    }

    pub(super) fn write_tag_content(&mut self, content: &str) {
        let stays = |it| is_alpha(it) || b";/?:@&=+$,_.~*'()[]".contains(&it);
        for byte in percent::encode(content.as_bytes(), stays).bytes() {
            self.put(byte);
        }
        self.whitespace = false;
        self.indention = false;
    }

    pub(super) fn head_comment(&mut self) {
        let tail = std::mem::take(&mut self.comments.tail);
        if !tail.is_empty() {
            self.write_indent();
            self.write_comment(tail);
            self.foot_indent = self.indent.max(0);
        }
        let head = std::mem::take(&mut self.comments.head);
        if !head.is_empty() {
            self.write_indent();
            self.write_comment(head);
        }
    }

    /// Says whether there was one.
    pub(super) fn line_comment(&mut self) -> bool {
        let line = std::mem::take(&mut self.comments.line);
        if line.is_empty() {
            return false;
        }
        if !self.whitespace {
            self.put(b' ');
        }
        self.write_comment(line);
        true
    }

    pub(super) fn foot_comment(&mut self) {
        let foot = std::mem::take(&mut self.comments.foot);
        if !foot.is_empty() {
            self.write_indent();
            self.write_comment(foot);
            self.foot_indent = self.indent.max(0);
        }
    }

    fn write_comment(&mut self, comment: &str) {
        let text = comment.as_bytes();
        let (mut breaks, mut pound) = (false, false);
        let mut i = 0;
        while i < text.len() {
            if is_break(text, i) {
                i += self.write_break(text, i);
                (breaks, pound) = (true, false);
                continue;
            }
            if breaks {
                self.write_indent();
            }
            if !pound {
                if text[i] != b'#' {
                    self.put(b'#');
                    self.put(b' ');
                }
                pound = true;
            }
            i += self.write_char(text, i);
            self.indention = false;
            breaks = false;
        }
        if !breaks {
            self.put_break();
        }
        self.whitespace = true;
    }

    pub(super) fn put(&mut self, byte: u8) {
        self.out.push(byte);
        self.column += 1;
    }

    pub(super) fn put_break(&mut self) {
        self.out.push(b'\n');
        self.column = 0;
        self.indention |= !self.legacy;
    }

    /// Gives the bytes written.
    pub(super) fn write_char(&mut self, text: &[u8], i: usize) -> usize {
        let len = width(text[i]).clamp(1, text.len() - i);
        self.out.extend_from_slice(&text[i..i + len]);
        self.column += 1;
        len
    }

    /// As many characters as stand for nothing but themselves, one at least. Gives the bytes written.
    pub(super) fn write_run(&mut self, text: &[u8], i: usize) -> usize {
        let simple = |it: &&u8| matches!(it, b'!'..=b'&' | b'('..=b'~');
        let len = text[i..].iter().take_while(simple).count();
        if len == 0 {
            return self.write_char(text, i);
        }
        self.out.extend_from_slice(&text[i..i + len]);
        self.column += i64::try_from(len).unwrap_or(i64::MAX);
        len
    }

    /// As many characters as certainly stand on one line, one at least. Gives the bytes written.
    pub(super) fn write_line(&mut self, text: &[u8], i: usize) -> usize {
        let len = text[i..]
            .iter()
            .take_while(|it| matches!(it, b' '..=b'~'))
            .count();
        if len == 0 {
            return self.write_char(text, i);
        }
        self.out.extend_from_slice(&text[i..i + len]);
        self.column += i64::try_from(len).unwrap_or(i64::MAX);
        len
    }

    fn write_all(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
        let count = match text.len() {
            1 => 1,
            _ => text.chars().count(),
        };
        self.column += i64::try_from(count).unwrap_or(i64::MAX);
    }

    pub(super) fn write_break(&mut self, text: &[u8], i: usize) -> usize {
        if text[i] == b'\n' {
            self.put_break();
            return 1;
        }
        let len = self.write_char(text, i);
        self.column = 0;
        self.indention |= !self.legacy;
        len
    }

    pub(super) fn write_indent(&mut self) {
        let indent = self.indent.max(0);
        if !self.indention || self.column > indent || self.column == indent && !self.whitespace {
            self.put_break();
        }
        if self.foot_indent == indent {
            self.put_break();
        }
        if self.column < indent {
            let missing = usize::try_from(indent - self.column).unwrap_or(0);
            self.out.resize(self.out.len() + missing, b' ');
            self.column = indent;
        }
        self.whitespace = true;
        self.indention |= self.legacy;
        self.foot_indent = -1;
    }

    pub(super) fn write_indicator(
        &mut self,
        indicator: &str,
        need_whitespace: bool,
        is_whitespace: bool,
        is_indention: bool,
    ) {
        if need_whitespace && !self.whitespace {
            self.put(b' ');
        }
        self.write_all(indicator);
        self.whitespace = is_whitespace;
        self.indention = self.indention && is_indention;
    }
}
