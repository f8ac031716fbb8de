//! Flow collections.

use super::events::{Event, EventKind, Parser, Peek, Place, State};
use super::scan::Result;
use super::tokens::Kind;
use crate::Style;

impl Parser<'_> {
    /// Skips the `,` before all but the first entry.
    fn flow_entry(&mut self, first: bool, end: Kind, what: &'static str) -> Result<Peek> {
        self.enter(first)?;
        let token = self.peek()?;
        if first || token.kind == end {
            return Ok(token);
        }
        if token.kind != Kind::FlowEntry {
            let context = self.marks.pop();
            return self.error(context, what, token.start);
        }
        self.skip();
        self.peek()
    }

    pub(super) fn flow_sequence(&mut self, first: bool) -> Result<Event> {
        let what = "did not find expected ',' or ']'";
        let token = self.flow_entry(first, Kind::FlowSequenceEnd, what)?;
        match token.kind {
            Kind::FlowSequenceEnd => {
                let comments = self.take_comments();
                let mut event = self.leave(EventKind::SequenceEnd, token.start);
                event.comments = comments;
                Ok(event)
            }
            Kind::Key => {
                self.state = State::FlowSequenceMappingKey;
                self.skip();
                let mut event = Event::new(EventKind::MappingStart, token.start);
                event.style = Style::Flow;
                Ok(event)
            }
            _ => self.child(State::FlowSequence { first: false }, Place::Flow),
        }
    }

    pub(super) fn flow_sequence_mapping_key(&mut self) -> Result<Event> {
        let token = self.peek()?;
        let then = State::FlowSequenceMappingValue;
        match token.kind {
            Kind::Value | Kind::FlowEntry | Kind::FlowSequenceEnd => {
                self.skip();
                Ok(self.empty(then, token.end))
            }
            _ => self.child(then, Place::Flow),
        }
    }

    pub(super) fn flow_sequence_mapping_value(&mut self) -> Result<Event> {
        let token = self.peek()?;
        let then = State::FlowSequenceMappingEnd;
        if token.kind == Kind::Value {
            self.skip();
            let next = self.peek()?;
            if !matches!(next.kind, Kind::FlowEntry | Kind::FlowSequenceEnd) {
                return self.child(then, Place::Flow);
            }
        }
        Ok(self.empty(then, token.start))
    }

    pub(super) fn flow_mapping_key(&mut self, first: bool) -> Result<Event> {
        let what = "did not find expected ',' or '}'";
        let token = self.flow_entry(first, Kind::FlowMappingEnd, what)?;
        match token.kind {
            Kind::FlowMappingEnd => {
                let comments = self.take_comments();
                let mut event = self.leave(EventKind::MappingEnd, token.start);
                event.comments = comments;
                Ok(event)
            }
            Kind::Key => {
                let then = State::FlowMappingValue { empty: false };
                self.skip();
                let token = self.peek()?;
                match token.kind {
                    Kind::Value | Kind::FlowEntry | Kind::FlowMappingEnd => {
                        Ok(self.empty(then, token.start))
                    }
                    _ => self.child(then, Place::Flow),
                }
            }
            _ => self.child(State::FlowMappingValue { empty: true }, Place::Flow),
        }
    }

    pub(super) fn flow_mapping_value(&mut self, empty: bool) -> Result<Event> {
        let mut token = self.peek()?;
        let then = State::FlowMappingKey { first: false };
        if !empty && token.kind == Kind::Value {
            self.skip();
            token = self.peek()?;
            if !matches!(token.kind, Kind::FlowEntry | Kind::FlowMappingEnd) {
                return self.child(then, Place::Flow);
            }
        }
        Ok(self.empty(then, token.start))
    }
}
