//! The parser: tokens to events, a state machine following libyaml's grammar. Comments gather here until an event
//! takes them.

use super::Dialect;
use super::scan::{Result, Scanner};
use super::tokens::{Data, Kind, Mark, Token};
use crate::{Error, Style};

const DEFAULT_TAGS: [(&str, &str); 2] = [("!", "!"), ("!!", "tag:yaml.org,2002:")];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    StreamEnd,
    DocumentStart,
    DocumentEnd,
    Alias,
    Scalar,
    SequenceStart,
    SequenceEnd,
    MappingStart,
    MappingEnd,
}

#[derive(Debug)]
pub(super) struct Event {
    pub(super) kind: EventKind,
    pub(super) start: Mark,
    pub(super) anchor: Option<String>,
    pub(super) tag: String,
    pub(super) value: String,
    pub(super) style: Style,
    pub(super) comments: Comments,
}

#[derive(Debug, Default)]
pub(super) struct Comments {
    pub(super) head: String,
    pub(super) line: String,
    pub(super) foot: String,
}

impl Event {
    pub(super) fn new(kind: EventKind, start: Mark) -> Self {
        Self {
            kind,
            start,
            anchor: None,
            tag: String::new(),
            value: String::new(),
            style: Style::Plain,
            comments: Comments::default(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    ImplicitDocumentStart,
    DocumentStart,
    DocumentContent,
    DocumentEnd,
    BlockNode,
    BlockSequence { first: bool },
    IndentlessSequence,
    BlockMappingKey { first: bool },
    BlockMappingValue,
    FlowSequence { first: bool },
    FlowSequenceMappingKey,
    FlowSequenceMappingValue,
    FlowSequenceMappingEnd,
    FlowMappingKey { first: bool },
    FlowMappingValue { empty: bool },
    End,
}

/// Which content a node may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Block,
    BlockOrIndentless,
    Flow,
}

#[derive(Clone, Copy)]
pub(super) struct Peek {
    pub(super) kind: Kind,
    pub(super) start: Mark,
    pub(super) end: Mark,
}

pub(super) struct Parser<'a> {
    scanner: Scanner<'a>,
    pub(super) state: State,
    states: Vec<State>,
    /// Where the open collections started, for errors.
    pub(super) marks: Vec<Mark>,
    tag_directives: Vec<(String, String)>,
    pub(super) comments: Comments,
    /// The head comment of an item, which goes to the collection inside it as a whole.
    pub(super) stem: Option<String>,
    started: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn new(bytes: &'a [u8], dialect: Dialect) -> Self {
        let bytes = if bytes.is_empty() { b"\n" } else { bytes };
        Self {
            scanner: Scanner::new(bytes, dialect),
            state: State::ImplicitDocumentStart,
            states: Vec::new(),
            marks: Vec::new(),
            tag_directives: Vec::new(),
            comments: Comments::default(),
            stem: None,
            started: false,
        }
    }

    pub(super) fn next(&mut self) -> Result<Event> {
        if !self.started {
            self.started = true;
            self.peek()?;
            self.skip();
        }
        match self.state {
            State::ImplicitDocumentStart => self.document_start(true),
            State::DocumentStart => self.document_start(false),
            State::DocumentContent => self.document_content(),
            State::DocumentEnd => self.document_end(),
            State::BlockNode => self.node(Place::Block),
            State::BlockSequence { first } => self.block_sequence(first),
            State::IndentlessSequence => self.indentless_sequence(),
            State::BlockMappingKey { first } => self.block_mapping_key(first),
            State::BlockMappingValue => self.block_mapping_value(),
            State::FlowSequence { first } => self.flow_sequence(first),
            State::FlowSequenceMappingKey => self.flow_sequence_mapping_key(),
            State::FlowSequenceMappingValue => self.flow_sequence_mapping_value(),
            State::FlowSequenceMappingEnd => {
                let token = self.peek()?;
                self.state = State::FlowSequence { first: false };
                Ok(Event::new(EventKind::MappingEnd, token.start))
            }
            State::FlowMappingKey { first } => self.flow_mapping_key(first),
            State::FlowMappingValue { empty } => self.flow_mapping_value(empty),
            State::End => Ok(Event::new(EventKind::StreamEnd, self.scanner.mark)),
        }
    }

    pub(super) fn peek(&mut self) -> Result<Peek> {
        self.scanner.fill()?;
        let Some(token) = self.scanner.tokens.front() else {
            return self.error(None, "did not find expected token", self.scanner.mark);
        };
        let peek = Peek {
            kind: token.kind,
            start: token.start,
            end: token.end,
        };
        self.unfold_comments(peek);
        Ok(peek)
    }

    /// Takes up the comments that stand before a token.
    fn unfold_comments(&mut self, token: Peek) {
        fn join(all: &mut String, more: &str) {
            if !more.is_empty() {
                if !all.is_empty() {
                    all.push('\n');
                }
                all.push_str(more);
            }
        }
        while let Some(comment) = self.scanner.comments.front()
            && token.start.index >= comment.token.index
            // An end has no head: it is for what follows.
            && (token.kind != Kind::BlockEnd || comment.head.is_empty())
        {
            join(&mut self.comments.head, &comment.head);
            join(&mut self.comments.foot, &comment.foot);
            join(&mut self.comments.line, &comment.line);
            self.scanner.comments.pop_front();
        }
    }

    pub(super) fn skip(&mut self) -> Option<Token> {
        self.scanner.take()
    }

    pub(super) fn pop_state(&mut self) {
        self.state = self.states.pop().unwrap_or(State::End);
    }

    pub(super) fn take_comments(&mut self) -> Comments {
        self.stem = None;
        std::mem::take(&mut self.comments)
    }

    pub(super) fn error<T>(
        &self,
        context: Option<Mark>,
        what: &'static str,
        problem: Mark,
    ) -> Result<T> {
        let context = context.map_or(0, |mark| mark.line);
        let line = match self.scanner.dialect {
            Dialect::V2 if problem.line != 0 => problem.line,
            Dialect::V3 if context == 0 => problem.line,
            _ => context,
        };
        Err(Error::Syntax {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            what: what.into(),
        })
    }

    fn document_start(&mut self, implicit: bool) -> Result<Event> {
        let mut token = self.peek()?;
        while !implicit && token.kind == Kind::DocumentEnd {
            self.skip();
            token = self.peek()?;
        }
        if token.kind == Kind::StreamEnd {
            self.state = State::End;
            self.skip();
            return Ok(Event::new(EventKind::StreamEnd, token.start));
        }
        let mut event = Event::new(EventKind::DocumentStart, token.start);
        let explicit = matches!(
            token.kind,
            Kind::VersionDirective | Kind::TagDirective | Kind::DocumentStart
        );
        if implicit && !explicit {
            self.directives()?;
            self.states.push(State::DocumentEnd);
            self.state = State::BlockNode;
            event.comments.head = split_document_head(&mut self.comments.head);
            return Ok(event);
        }
        self.directives()?;
        let token = self.peek()?;
        if token.kind != Kind::DocumentStart {
            return self.error(None, "did not find expected <document start>", token.start);
        }
        self.states.push(State::DocumentEnd);
        self.state = State::DocumentContent;
        self.skip();
        Ok(event)
    }

    fn directives(&mut self) -> Result {
        let mut versions = 0;
        loop {
            let token = self.peek()?;
            if !matches!(token.kind, Kind::VersionDirective | Kind::TagDirective) {
                break;
            }
            match self.scanner.tokens.front().map(|token| &token.data) {
                Some(&Data::Version(major, minor)) => {
                    versions += 1;
                    if versions > 1 {
                        return self.error(None, "found duplicate %YAML directive", token.start);
                    }
                    if (major, minor) != (1, 1) {
                        return self.error(None, "found incompatible YAML document", token.start);
                    }
                }
                Some(Data::Tag(handle, prefix)) => {
                    if self.tag_directives.iter().any(|(it, _)| it == handle) {
                        return self.error(None, "found duplicate %TAG directive", token.start);
                    }
                    self.tag_directives.push((handle.clone(), prefix.clone()));
                }
                _ => {}
            }
            self.skip();
        }
        for (handle, prefix) in DEFAULT_TAGS {
            if !self.tag_directives.iter().any(|(it, _)| it == handle) {
                self.tag_directives.push((handle.into(), prefix.into()));
            }
        }
        Ok(())
    }

    fn document_content(&mut self) -> Result<Event> {
        let token = self.peek()?;
        match token.kind {
            Kind::VersionDirective
            | Kind::TagDirective
            | Kind::DocumentStart
            | Kind::DocumentEnd
            | Kind::StreamEnd => {
                self.pop_state();
                Ok(Event::new(EventKind::Scalar, token.start))
            }
            _ => self.node(Place::Block),
        }
    }

    fn document_end(&mut self) -> Result<Event> {
        let token = self.peek()?;
        if token.kind == Kind::DocumentEnd {
            self.skip();
        }
        self.tag_directives.clear();
        self.state = State::DocumentStart;
        let mut event = Event::new(EventKind::DocumentEnd, token.start);
        event.comments = self.take_comments();
        if event.comments.foot.is_empty() {
            event.comments.foot = std::mem::take(&mut event.comments.head);
        }
        Ok(event)
    }

    pub(super) fn node(&mut self, place: Place) -> Result<Event> {
        let mut token = self.peek()?;
        let start = token.start;
        if token.kind == Kind::Alias {
            self.pop_state();
            let mut event = Event::new(EventKind::Alias, start);
            event.comments = self.take_comments();
            if let Some(Data::Name(name)) = self.skip().map(|token| token.data) {
                event.anchor = Some(name);
            }
            return Ok(event);
        }
        let (mut anchor, mut tag) = (None, None);
        loop {
            match token.kind {
                Kind::Anchor if anchor.is_none() => {
                    if let Some(Data::Name(name)) = self.skip().map(|token| token.data) {
                        anchor = Some(name);
                    }
                }
                Kind::Tag if tag.is_none() => {
                    if let Some(Data::Tag(handle, suffix)) = self.skip().map(|token| token.data) {
                        tag = Some((handle, suffix, token.start));
                    }
                }
                _ => break,
            }
            token = self.peek()?;
        }
        let tag = match tag {
            None => String::new(),
            Some((handle, suffix, _)) if handle.is_empty() => suffix,
            Some((handle, suffix, mark)) => {
                let found = self.tag_directives.iter().find(|(it, _)| *it == handle);
                let tag = found.map_or_else(String::new, |(_, prefix)| format!("{prefix}{suffix}"));
                if tag.is_empty() {
                    return self.error(Some(start), "found undefined tag handle", mark);
                }
                tag
            }
        };
        let mut event = Event::new(EventKind::Scalar, start);
        let bare = anchor.as_ref().is_none_or(String::is_empty) && tag.is_empty();
        (event.anchor, event.tag) = (anchor, tag);
        match token.kind {
            Kind::BlockEntry if place == Place::BlockOrIndentless => {
                self.state = State::IndentlessSequence;
                event.kind = EventKind::SequenceStart;
            }
            Kind::Scalar => {
                self.pop_state();
                event.comments = self.take_comments();
                if let Some(Data::Scalar(value, style)) = self.skip().map(|token| token.data) {
                    (event.value, event.style) = (value, style);
                }
            }
            Kind::FlowSequenceStart => {
                self.state = State::FlowSequence { first: true };
                (event.kind, event.style) = (EventKind::SequenceStart, Style::Flow);
                event.comments = self.take_comments();
            }
            Kind::FlowMappingStart => {
                self.state = State::FlowMappingKey { first: true };
                (event.kind, event.style) = (EventKind::MappingStart, Style::Flow);
                event.comments = self.take_comments();
            }
            Kind::BlockSequenceStart if place != Place::Flow => {
                self.state = State::BlockSequence { first: true };
                event.kind = EventKind::SequenceStart;
                event.comments.head = self.stem.take().unwrap_or_default();
            }
            Kind::BlockMappingStart if place != Place::Flow => {
                self.state = State::BlockMappingKey { first: true };
                event.kind = EventKind::MappingStart;
                event.comments.head = self.stem.take().unwrap_or_default();
            }
            _ if bare => {
                return self.error(
                    Some(start),
                    "did not find expected node content",
                    token.start,
                );
            }
            _ => self.pop_state(),
        }
        Ok(event)
    }

    pub(super) fn enter(&mut self, first: bool) -> Result {
        if first {
            let token = self.peek()?;
            self.marks.push(token.start);
            self.skip();
        }
        Ok(())
    }

    pub(super) fn leave(&mut self, kind: EventKind, start: Mark) -> Event {
        self.pop_state();
        self.marks.pop();
        self.skip();
        Event::new(kind, start)
    }

    pub(super) fn child(&mut self, then: State, place: Place) -> Result<Event> {
        self.states.push(then);
        self.node(place)
    }

    pub(super) fn empty(&mut self, then: State, mark: Mark) -> Event {
        self.state = then;
        Event::new(EventKind::Scalar, mark)
    }
}

/// What stands above the last empty line is the document's head, the rest is the first node's.
fn split_document_head(head: &mut String) -> String {
    let bytes = head.as_bytes();
    let end = (1..bytes.len()).rev().find_map(|i| match bytes[i] {
        b'\n' if i == bytes.len() - 1 => Some((i, i)),
        b'\n' if bytes[i - 1] == b'\n' => Some((i - 1, i)),
        _ => None,
    });
    let Some((end, at)) = end else {
        return String::new();
    };
    let rest = head[at + 1..].to_owned();
    head.truncate(end);
    std::mem::replace(head, rest)
}
