//! `[a, b]` and `{a: b}`, also as JSON writes them.

use std::ops::ControlFlow;

use super::scalars::starts_plain;
use super::{Builder, Reader, Step, unless};
use crate::Style;
use crate::resolve::tag_of;

impl<B: Builder> Reader<'_, B> {
    /// Up to behind the closing bracket.
    pub(super) fn flow(&mut self) -> Step<B::Node> {
        self.enter()?;
        let place = self.place(self.at);
        let is_map = self.byte() == b'{';
        let close = if is_map { b'}' } else { b']' };
        self.at += 1;
        let (items, pairs) = (self.items.len(), self.pairs.len());
        self.flow_space()?;
        if self.byte() == close {
            self.at += 1;
        } else {
            loop {
                if is_map {
                    self.flow_pair()?;
                } else {
                    let item = self.flow_node()?;
                    self.items.push(item);
                }
                self.flow_space()?;
                let next = self.byte();
                self.at += 1;
                match next {
                    b',' => self.flow_space()?,
                    next if next == close => break,
                    _ => return ControlFlow::Break(()),
                }
            }
        }
        self.depth -= 1;
        ControlFlow::Continue(if is_map {
            let pairs = self.pairs.drain(pairs..).collect();
            self.builder.mapping(pairs, Style::Flow, place)
        } else {
            let items = self.items.drain(items..).collect();
            self.builder.sequence(items, Style::Flow, place)
        })
    }

    fn flow_pair(&mut self) -> Step {
        let quoted = matches!(self.byte(), b'"' | b'\'');
        let start = self.at;
        let key = if quoted {
            self.flow_node()?
        } else {
            self.flow_plain()?
        };
        unless(self.byte() != b':' || self.at - start > super::MAX_KEY, ())?;
        self.at += 1;
        unless(!quoted && !self.is_blank_at(self.at), ())?;
        self.flow_space()?;
        let value = self.flow_node()?;
        self.pairs.push((key, value));
        ControlFlow::Continue(())
    }

    fn flow_node(&mut self) -> Step<B::Node> {
        match self.byte() {
            b'[' | b'{' => self.flow(),
            quote @ (b'"' | b'\'') => {
                let start = self.at;
                let node = self.quoted(quote, false)?;
                // What stands behind it on the line would be off by its length in bytes.
                unless(!self.text[start..self.at].is_ascii(), node)
            }
            _ => self.flow_plain(),
        }
    }

    fn flow_plain(&mut self) -> Step<B::Node> {
        let first = self.byte();
        let negative = first == b'-' && self.byte_at(self.at + 1).is_ascii_alphanumeric();
        unless(!starts_plain(first) && !negative || self.is_marker(), ())?;
        let start = self.at;
        let mut end = start;
        loop {
            match self.byte() {
                b',' | b']' | b'}' => break,
                b':' if self.is_blank_at(self.at + 1) => break,
                b':' if self.byte_at(self.at + 1).is_ascii_punctuation()
                    && self.byte_at(self.at + 1) != b'/' =>
                {
                    return ControlFlow::Break(());
                }
                b'?' | b'[' | b'{' | b'\n' | b'\t' | b'#' | 0 | 0x80.. => {
                    return ControlFlow::Break(());
                }
                b' ' => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            self.at += 1;
            end = self.at;
        }
        let text = &self.text[start..end];
        unless(text == "<<" || self.byte() == b':' && end != self.at, ())?;
        let (tag, place) = (tag_of(text), self.place(start));
        ControlFlow::Continue(self.builder.scalar(text, tag, Style::Plain, place))
    }

    /// Blanks and line breaks; comments are not common here.
    fn flow_space(&mut self) -> Step {
        loop {
            match self.byte() {
                b' ' | b'\t' => self.at += 1,
                b'\n' => {
                    self.skip_line_break();
                    unless(self.is_marker(), ())?;
                }
                _ => return unless(self.byte() == b'#', ()),
            }
        }
    }
}
