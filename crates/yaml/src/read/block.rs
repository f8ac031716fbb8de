//! Block collections.

use super::events::{Event, EventKind, Parser, Peek, Place, State};
use super::scan::Result;
use super::tokens::{Kind, Mark};

impl Parser<'_> {
    /// Skips a `-`. If a collection follows, the comment above the `-` is that collection's.
    fn entry(&mut self) -> Result<Peek> {
        let stem = self.comments.head.len();
        self.skip();
        let token = self.peek()?;
        let nested = matches!(
            token.kind,
            Kind::BlockSequenceStart | Kind::BlockMappingStart
        );
        if stem > 0 && nested {
            let head = &mut self.comments.head;
            let rest = head.get(stem + 1..).unwrap_or_default().to_owned();
            head.truncate(stem);
            self.stem = Some(std::mem::replace(head, rest));
        }
        Ok(token)
    }

    pub(super) fn block_sequence(&mut self, first: bool) -> Result<Event> {
        self.enter(first)?;
        let token = self.peek()?;
        let then = State::BlockSequence { first: false };
        match token.kind {
            Kind::BlockEntry => match self.entry()?.kind {
                Kind::BlockEntry | Kind::BlockEnd => Ok(self.empty(then, token.end)),
                _ => self.child(then, Place::Block),
            },
            Kind::BlockEnd => Ok(self.leave(EventKind::SequenceEnd, token.start)),
            _ => {
                let context = self.marks.pop();
                self.error(context, "did not find expected '-' indicator", token.start)
            }
        }
    }

    pub(super) fn indentless_sequence(&mut self) -> Result<Event> {
        let token = self.peek()?;
        if token.kind != Kind::BlockEntry {
            self.pop_state();
            return Ok(Event::new(EventKind::SequenceEnd, token.start));
        }
        let then = State::IndentlessSequence;
        match self.entry()?.kind {
            Kind::BlockEntry | Kind::Key | Kind::Value | Kind::BlockEnd => {
                Ok(self.empty(then, token.end))
            }
            _ => self.child(then, Place::Block),
        }
    }

    pub(super) fn block_mapping_key(&mut self, first: bool) -> Result<Event> {
        self.enter(first)?;
        let token = self.peek()?;
        match token.kind {
            Kind::Key => self.block_mapping_node(State::BlockMappingValue, token.end),
            Kind::BlockEnd => {
                let comments = self.take_comments();
                let mut event = self.leave(EventKind::MappingEnd, token.start);
                event.comments = comments;
                Ok(event)
            }
            _ => {
                let context = self.marks.pop();
                self.error(context, "did not find expected key", token.start)
            }
        }
    }

    pub(super) fn block_mapping_value(&mut self) -> Result<Event> {
        let token = self.peek()?;
        let then = State::BlockMappingKey { first: false };
        match token.kind {
            Kind::Value => self.block_mapping_node(then, token.end),
            _ => Ok(self.empty(then, token.start)),
        }
    }

    /// What follows a `?` or `:`.
    fn block_mapping_node(&mut self, then: State, mark: Mark) -> Result<Event> {
        self.skip();
        match self.peek()?.kind {
            Kind::Key | Kind::Value | Kind::BlockEnd => Ok(self.empty(then, mark)),
            _ => self.child(then, Place::BlockOrIndentless),
        }
    }
}
