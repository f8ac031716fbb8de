//! Hot path. What nearly all manifests are written in, read in one pass: block collections, scalars on one or more
//! lines, flow collections without surprises. Comments are skipped.
//!
//! **Invariant:** gives up on anything else, and on all errors; what it gives is what [`crate::parse_first`] gives. So
//! there is one reader that knows go-yaml's ways and one that is fast.

mod flow;
mod lines;
mod scalars;

use std::ops::ControlFlow;

use crate::Style;

/// Makes nodes of what is read. Children come before their parents.
pub trait Builder {
    type Node;

    fn scalar(&mut self, text: &str, tag: &'static str, style: Style, place: Place) -> Self::Node;

    fn sequence(&mut self, items: Vec<Self::Node>, style: Style, place: Place) -> Self::Node;

    fn mapping(&mut self, pairs: Pairs<Self::Node>, style: Style, place: Place) -> Self::Node;
}

/// Keys with their values.
pub type Pairs<N> = Vec<(N, N)>;

/// Where a node starts, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

/// Nothing real nests deeper.
const MAX_DEPTH: usize = 60;

/// What libyaml takes as a key in any case.
const MAX_KEY: usize = 128;

/// The first document, if it is a collection that is written in a common way.
pub fn parse_common<B: Builder>(text: &str, builder: B) -> Option<B::Node> {
    if !lines::is_common(text) {
        return None;
    }
    let mut reader = Reader {
        text,
        bytes: text.as_bytes(),
        at: 0,
        line: 0,
        line_start: 0,
        column: None,
        depth: 0,
        builder,
        items: Vec::new(),
        pairs: Vec::new(),
        buffer: String::new(),
    };
    reader.document().continue_value()
}

struct Reader<'t, B: Builder> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    line: u32,
    line_start: usize,
    /// Of the next node, once the one before has been read; none at the end.
    column: Option<usize>,
    depth: usize,
    builder: B,
    /// Children of open collections.
    items: Vec<B::Node>,
    pairs: Pairs<B::Node>,
    buffer: String,
}

/// A break says that this is not common.
type Step<T = ()> = ControlFlow<(), T>;

fn unless<T>(odd: bool, value: T) -> Step<T> {
    if odd {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(value)
    }
}

impl<B: Builder> Reader<'_, B> {
    fn document(&mut self) -> Step<B::Node> {
        self.next_content()?;
        if self.is_marker() && self.rest().starts_with("---") {
            self.at += 3;
            unless(!matches!(self.byte(), b' ' | b'\n'), ())?;
            self.end_of_line()?;
        }
        unless(self.column.is_none(), ())?;
        let root = match self.byte() {
            b'[' | b'{' => {
                let root = self.flow()?;
                self.end_of_line()?;
                root
            }
            b'-' if self.is_entry() => self.sequence(self.column_of(self.at))?,
            _ => match self.key()? {
                Some(key) => self.mapping(self.column_of(key.start), key)?,
                None => return ControlFlow::Break(()),
            },
        };
        unless(self.column.is_some(), root)
    }

    /// A node that stands right of a column. `inline`: behind a key, where no other can stand.
    fn node(&mut self, indent: usize, inline: bool) -> Step<B::Node> {
        match self.byte() {
            b'-' if self.is_entry() => {
                unless(inline, ())?;
                self.sequence(self.column_of(self.at))
            }
            b'[' | b'{' => {
                let node = self.flow()?;
                self.end_of_line()?;
                ControlFlow::Continue(node)
            }
            b'|' | b'>' => self.block_scalar(indent),
            first => {
                if !inline && let Some(key) = self.key()? {
                    return self.mapping(self.column_of(key.start), key);
                }
                match first {
                    b'\'' => self.single_quoted(),
                    b'"' => self.double_quoted(),
                    _ => self.plain(indent),
                }
            }
        }
    }

    fn mapping(&mut self, column: usize, first: Key) -> Step<B::Node> {
        self.enter()?;
        let base = self.pairs.len();
        let place = self.place(first.start);
        let mut key = first;
        loop {
            let node = self.key_node(&key);
            let empty = self.place(self.at);
            let value = if self.is_line_over()? {
                self.next_content()?;
                match self.column {
                    Some(next) if next > column => self.node(column, false)?,
                    Some(next) if next == column && self.is_entry() => self.sequence(column)?,
                    _ => self.builder.scalar("", "!!null", Style::Plain, empty),
                }
            } else {
                self.node(column, true)?
            };
            self.pairs.push((node, value));
            match self.column {
                Some(next) if next == column => {}
                Some(next) if next > column => return ControlFlow::Break(()),
                _ => break,
            }
            match self.key()? {
                Some(next) => key = next,
                None => return ControlFlow::Break(()),
            }
        }
        self.depth -= 1;
        let pairs = self.pairs.drain(base..).collect();
        ControlFlow::Continue(self.builder.mapping(pairs, Style::Plain, place))
    }

    fn sequence(&mut self, column: usize) -> Step<B::Node> {
        self.enter()?;
        let base = self.items.len();
        let place = self.place(self.at);
        loop {
            self.at += 1;
            let empty = self.place(self.at);
            let item = if self.is_line_over()? {
                self.next_content()?;
                match self.column {
                    Some(next) if next > column => self.node(column, false)?,
                    _ => self.builder.scalar("", "!!null", Style::Plain, empty),
                }
            } else {
                self.node(column, false)?
            };
            self.items.push(item);
            match self.column {
                Some(next) if next > column => return ControlFlow::Break(()),
                Some(next) if next == column && self.is_entry() => {}
                _ => break,
            }
        }
        self.depth -= 1;
        let items = self.items.drain(base..).collect();
        ControlFlow::Continue(self.builder.sequence(items, Style::Plain, place))
    }

    fn enter(&mut self) -> Step {
        self.depth += 1;
        unless(self.depth > MAX_DEPTH, ())
    }

    fn key_node(&mut self, key: &Key) -> B::Node {
        let place = self.place(key.start);
        let text = &self.text[key.text.clone()];
        let tag = match key.style {
            Style::Plain => crate::resolve::tag_of(text),
            _ => "!!str",
        };
        self.builder.scalar(text, tag, key.style, place)
    }
}

/// A key, behind whose `:` the reader stands.
struct Key {
    start: usize,
    text: std::ops::Range<usize>,
    style: Style,
}
