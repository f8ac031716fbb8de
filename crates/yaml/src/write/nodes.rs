//! Trees to text.

use super::Options;
use super::emit::{Comments, Emitter, Event, Kind as Is};
use crate::resolve::{short_tag, tag_of};
use crate::{Error, Kind, Node, Style};

/// One or more documents, `---` between them. What is no document is written as one.
pub fn to_string(documents: &[Node], options: Options) -> Result<String, Error> {
    let mut out = Vec::new();
    write(&mut out, documents, options)?;
    Ok(String::from_utf8(out)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

pub fn write(out: &mut Vec<u8>, documents: &[Node], options: Options) -> Result<(), Error> {
    let mut emitter = Emitter::new(out, options, false);
    for document in documents {
        let mut start = Event::new(Is::DocumentStart);
        let mut end = Event::new(Is::DocumentEnd);
        let root = match document.kind {
            Kind::Document => {
                start.comments.head = document.head_comment();
                end.comments.foot = document.foot_comment();
                document.content.first()
            }
            _ => Some(document),
        };
        emitter.emit(&start)?;
        if let Some(root) = root {
            write_tree(&mut emitter, root)?;
        } else {
            let mut null = Event::new(Is::Scalar);
            null.value = "null";
            emitter.emit(&null)?;
        }
        emitter.emit(&end)?;
    }
    Ok(())
}

/// A collection being written.
struct Open<'a> {
    node: &'a Node,
    next: usize,
    /// Its own foot; none if it is a key, where the mapping sees to it.
    foot: &'a str,
    /// The foot of the last key, which comes after its value.
    tail: &'a str,
}

fn write_tree<'a>(emitter: &mut Emitter<'a, '_>, root: &'a Node) -> Result<(), Error> {
    let mut open: Vec<Open<'a>> = Vec::new();
    let mut next = Some((root, "", false));
    loop {
        if let Some((node, tail, is_key)) = next.take() {
            let event = event_of(node, tail, is_key);
            emitter.emit(&event)?;
            if matches!(node.kind, Kind::Sequence | Kind::Mapping) {
                open.push(Open {
                    node,
                    next: 0,
                    foot: if is_key { "" } else { node.foot_comment() },
                    tail: "",
                });
            }
        }
        let Some(top) = open.last_mut() else {
            return Ok(());
        };
        let content = &top.node.content;
        let mapping = top.node.kind == Kind::Mapping;
        let whole = top.next + usize::from(mapping && top.next % 2 == 0) < content.len();
        if whole {
            let child = &content[top.next];
            let is_key = mapping && top.next % 2 == 0;
            let tail = if is_key {
                std::mem::replace(&mut top.tail, child.foot_comment())
            } else {
                ""
            };
            top.next += 1;
            next = Some((child, tail, is_key));
        } else {
            let mut event = Event::new(if mapping {
                Is::MappingEnd
            } else {
                Is::SequenceEnd
            });
            event.comments = Comments {
                head: "",
                line: top.node.line_comment(),
                foot: top.foot,
                tail: top.tail,
            };
            emitter.emit(&event)?;
            open.pop();
        }
    }
}

/// How a node starts (or, if it has no children, all of it).
fn event_of<'a>(node: &'a Node, tail: &'a str, is_key: bool) -> Event<'a, 'a> {
    let collection = matches!(node.kind, Kind::Sequence | Kind::Mapping);
    let kind = match node.kind {
        Kind::Sequence => Is::SequenceStart(node.content.is_empty()),
        Kind::Mapping => Is::MappingStart(node.content.len() < 2),
        Kind::Alias => Is::Alias,
        Kind::Scalar | Kind::Document => Is::Scalar,
    };
    let mut event = Event::new(kind);
    event.style = node.style;
    event.anchor = node.anchor();
    event.comments.head = node.head_comment();
    if !collection {
        event.comments.line = node.line_comment();
        if !is_key {
            event.comments.foot = node.foot_comment();
        }
    }
    if !matches!(node.kind, Kind::Sequence | Kind::Alias) {
        event.comments.tail = tail;
    }
    match node.kind {
        Kind::Alias => event.anchor = &node.value,
        Kind::Sequence => event.tag = written_tag(node, "!!seq"),
        Kind::Mapping => event.tag = written_tag(node, "!!map"),
        Kind::Scalar | Kind::Document => {
            event.value = &node.value;
            scalar_tag(node, &mut event);
        }
    }
    event
}

fn written_tag<'a>(node: &'a Node, implied: &str) -> &'a str {
    if !node.tagged && short_tag(&node.tag) == implied {
        return "";
    }
    &node.tag
}

/// Leaves the tag out where the reader finds it again, by quoting if need be.
fn scalar_tag<'a>(node: &'a Node, event: &mut Event<'a, '_>) {
    let plain = matches!(node.style, Style::Plain | Style::Flow);
    let mut quote = false;
    event.tag = &node.tag;
    if !node.tag.is_empty() && !node.tagged {
        let tag = short_tag(&node.tag);
        if tag == "!!str" && !plain || tag_of(&node.value) == tag {
            event.tag = "";
        } else if tag == "!!str" {
            event.tag = "";
            quote = true;
        }
    }
    if plain && node.value.contains('\n') {
        event.style = Style::Literal;
    } else if plain && quote {
        event.style = Style::DoubleQuoted;
    }
}
