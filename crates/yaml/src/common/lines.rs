//! Lines, comments and what stands where.

use std::ops::ControlFlow;

use super::{Builder, Place, Reader, Step, unless};

/// Whether a text has no characters that count as line breaks but are none to most, nor any that YAML refuses.
pub(super) fn is_common(text: &str) -> bool {
    let bytes = text.as_bytes();
    // All of them are looked at, which processors do many at a time.
    let mut any_odd = false;
    for byte in bytes {
        any_odd |= matches!(byte, 0..=8 | 11..=31 | 0x7F);
    }
    if any_odd {
        return false;
    }
    // C1 controls with NEL, LS and PS, the byte order mark, and what is no character.
    let odd = |it: char| {
        matches!(
            it,
            '\u{80}'..='\u{9F}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}'
        )
    };
    text.is_ascii() || !text.contains(odd)
}

impl<B: Builder> Reader<'_, B> {
    /// What is read now; past the end stands NUL, which no common text contains.
    pub(super) fn byte(&self) -> u8 {
        self.byte_at(self.at)
    }

    pub(super) fn byte_at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    pub(super) fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn column_of(&self, at: usize) -> usize {
        at - self.line_start
    }

    /// Right only where nothing but ASCII stands before it on the line.
    pub(super) fn place(&self, at: usize) -> Place {
        let column = u32::try_from(self.column_of(at)).unwrap_or(u32::MAX);
        Place {
            line: self.line + 1,
            column: column.saturating_add(1),
        }
    }

    /// Whether a `-` that stands here starts an item.
    pub(super) fn is_entry(&self) -> bool {
        self.byte() == b'-' && matches!(self.byte_at(self.at + 1), b' ' | b'\n' | 0)
    }

    pub(super) fn skip_spaces(&mut self) {
        while self.byte() == b' ' {
            self.at += 1;
        }
    }

    pub(super) fn skip_line_break(&mut self) {
        self.at += 1;
        self.line += 1;
        self.line_start = self.at;
    }

    /// Where the line ends.
    pub(super) fn line_end(&self, from: usize) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        rest.find('\n').map_or(self.text.len(), |it| from + it)
    }

    /// Whether nothing but a comment follows on the line. Stops before what follows.
    pub(super) fn is_line_over(&mut self) -> Step<bool> {
        self.skip_spaces();
        match self.byte() {
            b'\n' | 0 => ControlFlow::Continue(true),
            b'#' => {
                let apart = self.at == self.line_start || self.byte_at(self.at - 1) == b' ';
                self.at = self.line_end(self.at);
                unless(!apart, true)
            }
            b'\t' => ControlFlow::Break(()),
            _ => ControlFlow::Continue(false),
        }
    }

    /// After a value: goes on to the next line that has something.
    pub(super) fn end_of_line(&mut self) -> Step {
        let over = self.is_line_over()?;
        unless(!over, ())?;
        self.next_content()
    }

    /// From the start or the end of a line.
    pub(super) fn next_content(&mut self) -> Step {
        loop {
            if self.byte() == b'\n' {
                self.skip_line_break();
            }
            if self.is_line_over()? {
                if self.at >= self.bytes.len() {
                    self.column = None;
                    return ControlFlow::Continue(());
                }
                continue;
            }
            self.column = Some(self.at - self.line_start);
            return ControlFlow::Continue(());
        }
    }

    /// Whether a document may start or end here, or a directive stand.
    pub(super) fn is_marker(&self) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at == self.line_start
            && (rest.starts_with(b"---") || rest.starts_with(b"...") || rest.starts_with(b"%"))
    }
}
