//! The scanner: characters to tokens, following libyaml. Hot path.

use std::collections::VecDeque;

use super::Dialect;
use super::input::Input;
use super::tokens::{Comment, Data, Kind, Mark, SimpleKey, Token};
use crate::Error;
use crate::chars::{at, break_len, is_blank, is_blankz, is_break, is_breakz, width};

/// go-yaml's bound for both flow and block nesting.
pub(super) const MAX_DEPTH: usize = 10_000;
pub(super) const TOO_DEEP: &str = "exceeded max depth of 10000";

pub(super) type Result<T = ()> = std::result::Result<T, Error>;

pub(super) struct Scanner<'a> {
    pub(super) dialect: Dialect,
    pub(super) input: Input<'a>,
    pub(super) pos: usize,
    pub(super) mark: Mark,
    /// Line breaks since the last character that was not blank.
    pub(super) newlines: i64,
    pub(super) tokens: VecDeque<Token>,
    pub(super) comments: VecDeque<Comment>,
    /// Tokens handed out so far: the number of the one at the head of the queue.
    parsed: usize,
    started: bool,
    pub(super) indent: i64,
    indents: Vec<i64>,
    pub(super) flow_level: usize,
    pub(super) simple_key_allowed: bool,
    /// One for each level of flow.
    pub(super) simple_keys: Vec<SimpleKey>,
    /// Numbers of tokens that wait to become keys, with the level of their key. go-yaml does not take out the number of
    /// a key that timed out, so that one waits for a later key; which error is found first depends on it.
    waiting: VecDeque<(usize, usize)>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(bytes: &'a [u8], dialect: Dialect) -> Self {
        Self {
            dialect,
            input: Input::new(bytes),
            pos: 0,
            mark: Mark::default(),
            newlines: 0,
            tokens: VecDeque::new(),
            comments: VecDeque::new(),
            parsed: 0,
            started: false,
            indent: -1,
            indents: Vec::new(),
            flow_level: 0,
            simple_key_allowed: true,
            simple_keys: vec![SimpleKey::default()],
            waiting: VecDeque::new(),
        }
    }

    /// Makes sure that the head of the queue will not change.
    pub(super) fn fill(&mut self) -> Result {
        // Comments are told apart by the two tokens that follow.
        let ahead = match self.dialect {
            Dialect::V2 => 0,
            Dialect::V3 => 2,
        };
        while self.tokens.len() <= ahead || self.head_may_be_key()? {
            self.fetch()?;
        }
        Ok(())
    }

    pub(super) fn take(&mut self) -> Option<Token> {
        self.parsed += 1;
        self.tokens.pop_front()
    }

    fn head_may_be_key(&mut self) -> Result<bool> {
        while let Some(&(number, level)) = self.waiting.front() {
            if number == self.parsed {
                return self.is_key_valid(level);
            }
            if number > self.parsed {
                break;
            }
            self.waiting.pop_front();
        }
        Ok(false)
    }

    pub(super) fn stop_waiting(&mut self, number: usize) {
        if let Ok(found) = self.waiting.binary_search_by_key(&number, |&(it, _)| it) {
            self.waiting.remove(found);
        }
    }

    pub(super) fn at(&self, offset: usize) -> u8 {
        at(&self.input.text, self.pos + offset)
    }

    pub(super) fn is_blank(&self) -> bool {
        is_blank(&self.input.text, self.pos)
    }

    pub(super) fn is_break(&self) -> bool {
        is_break(&self.input.text, self.pos)
    }

    pub(super) fn is_breakz(&self) -> bool {
        is_breakz(&self.input.text, self.pos)
    }

    pub(super) fn is_blankz(&self, offset: usize) -> bool {
        is_blankz(&self.input.text, self.pos + offset)
    }

    /// Asks for characters before they are looked at; fails where they cannot be read.
    pub(super) fn need(&self, count: usize) -> Result {
        if self.pos.saturating_add(count) > self.input.limit {
            return Err(Error::Syntax {
                line: 0,
                what: self.input.problem.into(),
            });
        }
        Ok(())
    }

    pub(super) fn skip(&mut self) {
        if !self.is_blank() {
            self.newlines = 0;
        }
        self.mark.index += 1;
        self.mark.column += 1;
        self.pos += width(self.at(0)).max(1);
    }

    pub(super) fn read(&mut self, into: &mut Vec<u8>) {
        let from = self.pos.min(self.input.text.len());
        self.skip();
        let to = self.pos.min(self.input.text.len());
        into.extend_from_slice(&self.input.text[from..to]);
    }

    /// Reads the ASCII characters that need no second look.
    pub(super) fn read_run(&mut self, into: &mut Vec<u8>, plain: impl Fn(u8) -> bool) {
        let rest = self.input.text.get(self.pos..).unwrap_or_default();
        let len = rest.iter().take_while(|&&it| plain(it)).count();
        if len > 0 {
            into.extend_from_slice(&rest[..len]);
            self.pos += len;
            let len = i64::try_from(len).unwrap_or(i64::MAX);
            self.mark.index += len;
            self.mark.column += len;
            self.newlines = 0;
        }
    }

    pub(super) fn skip_line(&mut self) {
        let len = break_len(&self.input.text, self.pos);
        if len == 0 {
            return;
        }
        if self.at(0) == b'\r' && self.at(1) == b'\n' {
            self.pos += 1;
            self.mark.index += 1;
        }
        self.pos += len;
        self.mark.index += 1;
        self.mark.line += 1;
        self.mark.column = 0;
        self.newlines += 1;
    }

    /// LS and PS stay, all other breaks become LF.
    pub(super) fn read_line(&mut self, into: &mut Vec<u8>) {
        match break_len(&self.input.text, self.pos) {
            0 => return,
            3 => into.extend_from_slice(&self.input.text[self.pos..self.pos + 3]),
            _ => into.push(b'\n'),
        }
        self.skip_line();
    }

    pub(super) fn error<T>(&self, context: Mark, what: &'static str) -> Result<T> {
        let (context, problem) = (context.line, self.mark.line);
        let line = match self.dialect {
            Dialect::V2 if problem != 0 => problem + 1,
            Dialect::V2 => context,
            Dialect::V3 if context != 0 => context + 1,
            Dialect::V3 if problem != 0 => problem + 1,
            Dialect::V3 => 0,
        };
        Err(Error::Syntax {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            what: what.into(),
        })
    }

    pub(super) fn push(&mut self, kind: Kind, start: Mark, data: Data) {
        self.tokens.push_back(Token {
            kind,
            start,
            end: self.mark,
            data,
        });
    }

    pub(super) fn insert(&mut self, number: usize, kind: Kind, mark: Mark) {
        // A number already handed out puts the token last, as in go-yaml.
        let at = number.checked_sub(self.parsed).unwrap_or(usize::MAX);
        let at = at.min(self.tokens.len());
        self.tokens.insert(
            at,
            Token {
                kind,
                start: mark,
                end: mark,
                data: Data::None,
            },
        );
    }

    fn fetch(&mut self) -> Result {
        self.need(1)?;
        if !self.started {
            self.started = true;
            self.push(Kind::StreamStart, self.mark, Data::None);
            return Ok(());
        }
        let scan = self.mark;
        self.find_next_token()?;
        self.unroll_indent(self.mark.column, scan);
        self.need(4)?;
        let next = self.at(0);
        if next == 0 {
            return self.fetch_stream_end();
        }
        if self.mark.column == 0 {
            if next == b'%' {
                self.reset()?;
                let (kind, start, data) = self.scan_directive()?;
                self.push(kind, start, data);
                return Ok(());
            }
            if let Some(kind) = self.document_indicator() {
                return self.fetch_document_indicator(kind);
            }
        }
        // Comments after ':' and ',' belong to what stands before.
        let mut comment_mark = self.mark;
        let joins = if self.flow_level == 0 { b':' } else { b',' };
        if next == joins
            && let Some(last) = self.tokens.back()
        {
            comment_mark = last.start;
        }
        self.fetch_content(next)?;
        // A comment after a lone '-' becomes the head of what follows.
        let lone = (self.tokens.back()).is_some_and(|last| last.kind == Kind::BlockEntry);
        if self.dialect == Dialect::V3 && !lone {
            self.scan_line_comment(comment_mark)?;
        }
        Ok(())
    }

    /// Whether `---` or `...` stands here, at the start of a line.
    pub(super) fn document_indicator(&self) -> Option<Kind> {
        let rest = self.input.text.get(self.pos..).unwrap_or_default();
        let kind = match rest {
            [b'-', b'-', b'-', ..] => Kind::DocumentStart,
            [b'.', b'.', b'.', ..] => Kind::DocumentEnd,
            _ => return None,
        };
        (self.mark.column == 0 && self.is_blankz(3)).then_some(kind)
    }

    pub(super) fn is_key_valid(&mut self, level: usize) -> Result<bool> {
        let Some(&key) = self.simple_keys.get(level).filter(|key| key.possible) else {
            return Ok(false);
        };
        // A key ends on its line, and within 1024 characters.
        if key.mark.line < self.mark.line || key.mark.index + 1024 < self.mark.index {
            if key.required {
                return self.error(key.mark, "could not find expected ':'");
            }
            self.simple_keys[level].possible = false;
            return Ok(false);
        }
        Ok(true)
    }

    pub(super) fn save_simple_key(&mut self) -> Result {
        if !self.simple_key_allowed {
            return Ok(());
        }
        let key = SimpleKey {
            possible: true,
            required: self.flow_level == 0 && self.indent == self.mark.column,
            number: self.parsed + self.tokens.len(),
            mark: self.mark,
        };
        self.remove_simple_key()?;
        let last = self.simple_keys.len() - 1;
        self.simple_keys[last] = key;
        self.waiting.push_back((key.number, last));
        Ok(())
    }

    pub(super) fn remove_simple_key(&mut self) -> Result {
        let last = self.simple_keys.len() - 1;
        let key = self.simple_keys[last];
        if key.possible && key.required {
            return self.error(key.mark, "could not find expected ':'");
        }
        if key.possible {
            self.simple_keys[last].possible = false;
            self.stop_waiting(key.number);
        }
        Ok(())
    }

    pub(super) fn roll_indent(&mut self, number: usize, kind: Kind, mark: Mark) -> Result {
        if self.flow_level > 0 || self.indent >= mark.column {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = mark.column;
        if self.indents.len() > MAX_DEPTH {
            let context = self.simple_keys.last().map_or(mark, |key| key.mark);
            return self.error(context, TOO_DEEP);
        }
        self.insert(number, kind, mark);
        Ok(())
    }

    pub(super) fn next_number(&self) -> usize {
        self.parsed + self.tokens.len()
    }

    fn unroll_indent(&mut self, column: i64, scan: Mark) {
        if self.flow_level > 0 {
            return;
        }
        let mut mark = scan;
        mark.index -= 1;
        while self.indent > column {
            if self.dialect == Dialect::V2 {
                mark = self.mark;
            }
            self.before_foot_comments(&mut mark);
            self.tokens.push_back(Token {
                kind: Kind::BlockEnd,
                start: mark,
                end: mark,
                data: Data::None,
            });
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    pub(super) fn reset(&mut self) -> Result {
        self.unroll_indent(-1, self.mark);
        self.remove_simple_key()?;
        self.simple_key_allowed = false;
        Ok(())
    }

    fn find_next_token(&mut self) -> Result {
        let scan = self.mark;
        loop {
            self.need(1)?;
            if self.pos == 0 && self.input.text.starts_with(b"\xEF\xBB\xBF") {
                self.skip();
            }
            // Tabs may not indent: not at the start of a line, nor after '-', '?' and ':'.
            let tabs = self.flow_level > 0 || !self.simple_key_allowed;
            while self.at(0) == b' ' || tabs && self.at(0) == b'\t' {
                self.skip();
                self.need(1)?;
            }
            if self.dialect == Dialect::V3 {
                self.turn_line_comment_to_head();
                if self.at(0) == b'#' {
                    self.scan_comments(scan)?;
                }
            } else if self.at(0) == b'#' {
                self.skip_to_break()?;
            }
            if !self.is_break() {
                return Ok(());
            }
            self.need(2)?;
            self.skip_line();
            if self.flow_level == 0 {
                self.simple_key_allowed = true;
            }
        }
    }

    pub(super) fn skip_to_break(&mut self) -> Result {
        while !self.is_breakz() {
            self.skip();
            self.need(1)?;
        }
        Ok(())
    }

    pub(super) fn skip_blanks(&mut self) -> Result {
        self.need(1)?;
        while self.is_blank() {
            self.skip();
            self.need(1)?;
        }
        Ok(())
    }
}
