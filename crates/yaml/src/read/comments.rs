//! Comments, and which token each belongs to, as go-yaml v3 decides it.

use super::scan::{Result, Scanner};
use super::tokens::{Comment, Kind, Mark};
use crate::chars::{at, is_blank, is_break, is_breakz};

/// How far go-yaml looks for the next comment line.
const PEEK: usize = 512;

impl Scanner<'_> {
    /// A comment on the line of the token just scanned.
    pub(super) fn scan_line_comment(&mut self, token: Mark) -> Result {
        if self.newlines > 0 {
            return Ok(());
        }
        let text = &self.input.text;
        let ahead = (0..PEEK).find(|&i| !is_blank(text, self.pos + i));
        let Some(ahead) = ahead.filter(|&i| at(text, self.pos + i) == b'#') else {
            return self.need(1);
        };
        for _ in 0..ahead {
            self.skip();
        }
        let start = self.mark;
        let mut line = Vec::new();
        self.read_comment(&mut line)?;
        self.comments.push_back(Comment {
            token,
            start,
            line: text_of(line),
            ..Comment::default()
        });
        Ok(())
    }

    fn read_comment(&mut self, into: &mut Vec<u8>) -> Result {
        self.need(1)?;
        while !self.is_breakz() {
            self.read_run(into, |byte| matches!(byte, b'!'..=b'~'));
            if !self.is_breakz() {
                self.read(into);
            }
            self.need(1)?;
        }
        Ok(())
    }

    /// `- # comment` above a nested block is a head of that block.
    pub(super) fn turn_line_comment_to_head(&mut self) {
        if self.comments.is_empty() || self.is_break() {
            return;
        }
        let mut last = self.tokens.iter().rev().map(|token| token.kind);
        if last.next() != Some(Kind::BlockEntry) || last.next() != Some(Kind::BlockSequenceStart) {
            return;
        }
        let here = self.mark;
        if let Some(comment) = (self.comments.back_mut()).filter(|it| !it.line.is_empty()) {
            comment.head = std::mem::take(&mut comment.line);
            if comment.start.line == here.line - 1 {
                comment.token = here;
            }
        }
    }

    /// A block ends before the comments that are its parents' feet.
    pub(super) fn before_foot_comments(&self, mark: &mut Mark) {
        let mut stop = mark.index;
        for comment in self.comments.iter().rev() {
            if comment.end.index < stop {
                break;
            }
            if comment.start.column == self.indent + 1 {
                *mark = comment.start;
            }
            stop = comment.scan.index;
        }
    }

    fn next_indent(&self) -> i64 {
        self.indent.max(0)
    }

    /// Comment lines between tokens: the last run is a head of what follows, what stands apart from it or is
    /// indented otherwise is a foot of what came before.
    pub(super) fn scan_comments(&mut self, scan: Mark) -> Result {
        let mut last = self.tokens.iter().rev();
        let mut token = last.next().map(|it| (it.kind, it.start));
        if token.is_some_and(|(kind, _)| kind == Kind::FlowEntry)
            && let Some(before) = last.next()
        {
            token = Some((before.kind, before.start));
        }
        let (after, token_mark) = token.unwrap_or((Kind::StreamStart, self.mark));
        let mut run = Run {
            scan,
            token: token_mark,
            start: Mark::default(),
            text: Vec::new(),
        };
        let mut next_indent = self.next_indent();
        let mut recent_empty = false;
        let mut first_empty = self.newlines <= 1;
        let (mut line, mut column) = (self.mark.line, self.mark.column);
        // A comment that starts on this line can still be a foot.
        let mut foot_line = -1;
        if scan.line > 0 {
            foot_line = self.mark.line - self.newlines + 1;
            if self.newlines == 0 && self.mark.column > 1 {
                foot_line += 1;
            }
        }

        let mut peek = 0;
        while peek < PEEK {
            column += 1;
            let i = self.pos + peek;
            if is_blank(&self.input.text, i) {
                peek += 1;
                continue;
            }
            let here = |column| Mark {
                index: self.mark.index + i64::try_from(peek).unwrap_or(0),
                line,
                column,
            };
            let next = at(&self.input.text, i);
            let close_flow = self.flow_level > 0 && matches!(next, b']' | b'}');
            if close_flow || is_breakz(&self.input.text, i) {
                if close_flow || !recent_empty {
                    let near = run.start.line == foot_line && after != Kind::Value;
                    let dedented = run.start.column - 1 < next_indent;
                    if close_flow || first_empty && (near || dedented) {
                        if dedented && !run.text.is_empty() {
                            run.token = run.start;
                        }
                        run.end_as_foot(here(column), &mut self.comments);
                    } else if !run.text.is_empty() && next != 0 {
                        run.text.push(b'\n');
                    }
                }
                if !is_break(&self.input.text, i) {
                    break;
                }
                first_empty = false;
                recent_empty = true;
                column = 0;
                line += 1;
                peek += 1;
                continue;
            }
            if column - 1 < next_indent && column != run.start.column {
                run.end_as_foot(here(column), &mut self.comments);
            }
            if next != b'#' {
                break;
            }
            if run.text.is_empty() {
                run.start = here(column);
            } else {
                run.text.push(b'\n');
            }
            recent_empty = false;
            self.skip_to(i)?;
            self.read_comment(&mut run.text)?;
            // go-yaml steps on after each comment, so the line break itself is passed over.
            peek = 1;
            column = 0;
            line = self.mark.line;
            next_indent = self.next_indent();
        }
        if !run.text.is_empty() {
            let ahead = i64::try_from(peek).unwrap_or(0);
            self.comments.push_back(Comment {
                scan: run.scan,
                token: run.start,
                start: run.start,
                end: Mark {
                    index: self.mark.index + ahead - 1,
                    line,
                    column,
                },
                head: text_of(run.text),
                ..Comment::default()
            });
        }
        Ok(())
    }

    /// Skips blanks and breaks up to a position.
    fn skip_to(&mut self, position: usize) -> Result {
        while self.pos < position {
            if self.is_break() {
                self.skip_line();
            } else {
                self.skip();
            }
            self.need(1)?;
        }
        Ok(())
    }
}

/// Comment lines that belong together.
struct Run {
    scan: Mark,
    token: Mark,
    start: Mark,
    text: Vec<u8>,
}

impl Run {
    fn end_as_foot(&mut self, end: Mark, comments: &mut std::collections::VecDeque<Comment>) {
        if self.text.is_empty() {
            return;
        }
        comments.push_back(Comment {
            scan: self.scan,
            token: self.token,
            start: self.start,
            end,
            foot: text_of(std::mem::take(&mut self.text)),
            ..Comment::default()
        });
        self.scan = end;
        self.token = end;
    }
}

pub(super) fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
