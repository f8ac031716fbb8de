//! Events to trees, without recursion.

use std::borrow::Cow;
use std::collections::HashSet;

use super::Dialect;
use super::events::{Event, EventKind, Parser};
use super::scan::Result;
use crate::resolve::{self, short_tag};
use crate::{Error, Kind, Node, Style};

pub(crate) struct Composer<'a> {
    parser: Parser<'a>,
    dialect: Dialect,
    anchors: HashSet<String>,
}

impl<'a> Composer<'a> {
    pub(crate) fn new(bytes: &'a [u8], dialect: Dialect) -> Self {
        Self {
            parser: Parser::new(bytes, dialect),
            dialect,
            anchors: HashSet::new(),
        }
    }

    /// The next document, or none at the end of the stream.
    pub(crate) fn next(&mut self) -> Result<Option<Node>> {
        let event = self.parser.next()?;
        if event.kind == EventKind::StreamEnd {
            return Ok(None);
        }
        if self.dialect == Dialect::V2 {
            // v3 lets a document see the anchors of those before it.
            self.anchors.clear();
        }
        let mut open = vec![self.node(Kind::Document, event)];
        loop {
            let event = self.parser.next()?;
            let done = match event.kind {
                EventKind::SequenceStart => {
                    open.push(self.node(Kind::Sequence, event));
                    continue;
                }
                EventKind::MappingStart => {
                    open.push(self.node(Kind::Mapping, event));
                    continue;
                }
                EventKind::Scalar => self.node(Kind::Scalar, event),
                EventKind::Alias => self.alias(event)?,
                EventKind::DocumentEnd => {
                    let mut document = open.swap_remove(0);
                    document.set_foot_comment(event.comments.foot);
                    return Ok(Some(document));
                }
                _ => match open.pop() {
                    Some(node) => close(node, event),
                    None => return Ok(None),
                },
            };
            match open.last_mut() {
                Some(parent) => attach(parent, done),
                None => return Ok(None),
            }
        }
    }

    fn alias(&mut self, event: Event) -> Result<Node> {
        let mut node = self.node(Kind::Alias, event);
        node.value = node.take_anchor();
        if !self.anchors.contains(&node.value) {
            return Err(Error::UnknownAnchor(node.value));
        }
        Ok(node)
    }

    fn node(&mut self, kind: Kind, event: Event) -> Node {
        let mut node = Node::new(kind);
        node.style = event.style;
        node.tagged = !event.tag.is_empty() && event.tag != "!";
        node.tag = if self.dialect == Dialect::V2 {
            event.tag.into()
        } else if node.tagged {
            short_tag(&event.tag).into_owned().into()
        } else {
            implied_tag(kind, event.style, &event.value)
        };
        node.value = event.value;
        let place = |it: i64| u32::try_from(it + 1).unwrap_or(u32::MAX);
        (node.line, node.column) = (place(event.start.line), place(event.start.column));
        node.set_head_comment(event.comments.head);
        node.set_line_comment(event.comments.line);
        node.set_foot_comment(event.comments.foot);
        if let Some(name) = event.anchor {
            if kind != Kind::Alias {
                self.anchors.insert(name.clone());
            }
            node.set_anchor(name);
        }
        node
    }
}

fn implied_tag(kind: Kind, style: Style, value: &str) -> Cow<'static, str> {
    Cow::Borrowed(match kind {
        Kind::Sequence => "!!seq",
        Kind::Mapping => "!!map",
        Kind::Scalar if style != Style::Plain => "!!str",
        Kind::Scalar if value == "<<" => "!!merge",
        Kind::Scalar => resolve::tag_of(value),
        Kind::Document | Kind::Alias => "",
    })
}

fn close(mut node: Node, event: Event) -> Node {
    node.set_line_comment(event.comments.line);
    node.set_foot_comment(event.comments.foot);
    if node.kind == Kind::Mapping && node.style != Style::Flow && node.content.len() > 1 {
        let foot = node.take_foot_comment();
        if !foot.is_empty() {
            let last_key = node.content.len() - 2;
            node.content[last_key].set_foot_comment(foot);
        }
    }
    node
}

/// Puts a child in, and moves foot comments to the key they follow.
fn attach(parent: &mut Node, mut child: Node) {
    let at = parent.content.len();
    if parent.kind == Kind::Mapping {
        if at.is_multiple_of(2) {
            // Above a dedented key: the foot of the entry before.
            if parent.style != Style::Flow && at >= 2 && !child.foot_comment().is_empty() {
                let foot = child.take_foot_comment();
                parent.content[at - 2].set_foot_comment(foot);
            }
        } else if parent.content[at - 1].foot_comment().is_empty() {
            let foot = child.take_foot_comment();
            parent.content[at - 1].set_foot_comment(foot);
        }
    }
    parent.content.push(child);
}
