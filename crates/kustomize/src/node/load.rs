//! From text to trees: documents are cut as kyaml cuts them, aliases and merge keys are replaced by what they stand for.

use std::borrow::Cow;
use std::cell::Cell;

use json::Text;
use yaml::{Anchors, Place};

use super::source;
use super::{Data, Node, Style, Tag};
use crate::error::{Error, Result};

/// How deep a tree may be: nothing real comes near, and what recurses here stays within any stack.
const MAX_DEPTH: usize = 500;

/// How many nodes aliases may add in a build.
const MAX_ALIASED: usize = 2_000_000;

thread_local! {
    static ALIASED: Cell<usize> = const { Cell::new(0) };
}

/// A new build counts anew.
pub(crate) fn forget_aliases() {
    ALIASED.set(0);
}

/// An error if a value would be too deep at the end of a path.
pub(crate) fn check_depth(path: usize, value: &Node) -> Result<()> {
    fn fits(node: &Node, levels: usize) -> bool {
        levels > 0
            && match &node.data {
                Data::Scalar(_) => true,
                Data::Seq(items) => items.iter().all(|it| fits(it, levels - 1)),
                Data::Map(pairs) => pairs.iter().all(|(_, it)| fits(it, levels - 1)),
            }
    }
    if fits(value, MAX_DEPTH.saturating_sub(path)) {
        return Ok(());
    }
    Err(Error::from(yaml::Error::TooDeep(MAX_DEPTH)))
}

/// With line breaks as kyaml has them before it cuts.
pub(crate) fn unix_lines(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        text.replace("\r\n", "\n").into()
    } else {
        text.into()
    }
}

/// The texts between lines that start with `---`.
pub(crate) fn split_documents(text: &str) -> Result<Vec<&str>> {
    let mut documents = Vec::new();
    let mut start = 0;
    while let Some(found) = text[start..].find("\n---") {
        let at = start + found;
        let Some(length) = text[at + 1..].find('\n') else {
            break;
        };
        let end = at + 1 + length + 1;
        let separator = &text[at..end];
        let rest = separator[4..].trim();
        if !rest.is_empty() && !rest.starts_with('#') {
            return Err(Error::new(format!(
                "invalid document separator: {}",
                separator.trim()
            )));
        }
        // The line break before the dashes belongs to the document.
        documents.push(&text[start..=at]);
        start = end;
    }
    if !text.is_empty() {
        documents.push(&text[start..]);
    }
    Ok(documents)
}

/// The first document of a text; nothing if there is none, or if it is null.
pub(crate) fn parse_document(text: &str) -> Result<Option<Node>> {
    parse_document_at(text, 0)
}

/// The same, where some lines of its file come before the text.
pub(crate) fn parse_document_at(text: &str, lines_before: u32) -> Result<Option<Node>> {
    let before = source::add(text, lines_before);
    if let Some(node) = yaml::parse_common(text, Nodes { before }) {
        return Ok(Some(node));
    }
    let document = yaml::parse_first(text.as_bytes()).map_err(|error| {
        let line = match &error {
            yaml::Error::Syntax { line, .. } => (*line).max(1),
            _ => 1,
        };
        let (file, line) = source::here(lines_before.saturating_add(line));
        Error::malformed(error).at_line(file.as_deref(), line)
    })?;
    match document {
        Some(document) => load(&document, text, before),
        None => Ok(None),
    }
}

/// A document, by its text; so many lines of others come before its own.
pub(super) fn load(document: &yaml::Node, text: &str, before: u32) -> Result<Option<Node>> {
    let Some(root) = document.content.first() else {
        return Ok(None);
    };
    if root.tag == "!!null" {
        return Ok(None);
    }
    let anchors = if text.contains('*') {
        Anchors::of(document)
    } else {
        Anchors::default()
    };
    let mut loader = Loader {
        anchors,
        before,
        following: 0,
    };
    loader.node(root, 0).map(Some)
}

/// Makes nodes of a text without the tree in between.
struct Nodes {
    /// How many lines of other documents come before.
    before: u32,
}

impl yaml::Builder for Nodes {
    type Node = Node;

    fn scalar(&mut self, text: &str, tag: &'static str, style: Style, place: Place) -> Node {
        node(
            Data::Scalar(text.into()),
            tag_of(tag),
            style,
            place,
            self.before,
        )
    }

    fn sequence(&mut self, items: Vec<Node>, style: Style, place: Place) -> Node {
        node(Data::Seq(items), Tag::Seq, style, place, self.before)
    }

    fn mapping(&mut self, pairs: Vec<(Node, Node)>, style: Style, place: Place) -> Node {
        node(Data::Map(pairs), Tag::Map, style, place, self.before)
    }
}

fn node(data: Data, tag: Tag, style: Style, place: Place, before: u32) -> Node {
    let node = Node {
        data,
        line: 0,
        column: 0,
        tag,
        style,
    };
    node.at(before.saturating_add(place.line), place.column)
}

struct Loader<'a> {
    anchors: Anchors<'a>,
    before: u32,
    following: usize,
}

impl<'a> Loader<'a> {
    fn node(&mut self, node: &'a yaml::Node, depth: usize) -> Result<Node> {
        if depth > MAX_DEPTH {
            return Err(yaml::Error::TooDeep(MAX_DEPTH).into());
        }
        if self.following > 0 {
            let aliased = ALIASED.get() + 1;
            ALIASED.set(aliased);
            if aliased > MAX_ALIASED {
                return Err(yaml::Error::ExcessiveAliasing.into());
            }
        }
        let data = match node.kind {
            yaml::Kind::Alias => {
                let Some(target) = self.anchors.target(node) else {
                    return Err(yaml::Error::UnknownAnchor(node.value.clone()).into());
                };
                self.following += 1;
                let copy = self.node(target, depth + 1);
                self.following -= 1;
                return copy;
            }
            yaml::Kind::Scalar => Data::Scalar(Text::from(node.value.as_str())),
            yaml::Kind::Sequence => {
                let items = node.content.iter().map(|item| self.node(item, depth + 1));
                Data::Seq(items.collect::<Result<_>>()?)
            }
            yaml::Kind::Mapping | yaml::Kind::Document => Data::Map(self.pairs(node, depth)?),
        };
        let place = Place {
            line: node.line,
            column: node.column,
        };
        let tag = tag_of(&node.tag);
        Ok(self::node(data, tag, node.style, place, self.before))
    }

    fn pairs(&mut self, node: &'a yaml::Node, depth: usize) -> Result<Vec<(Node, Node)>> {
        let mut pairs = Vec::with_capacity(node.content.len() / 2);
        let mut merge = None;
        for (key, value) in node.pairs() {
            if key.tag == "!!merge" {
                if merge.is_some() {
                    return Err(Error::new("duplicate merge key"));
                }
                merge = Some(value);
                continue;
            }
            pairs.push((self.node(key, depth + 1)?, self.node(value, depth + 1)?));
        }
        let Some(merge) = merge else {
            return Ok(pairs);
        };
        let own = pairs.len();
        for source in self.merge_sources(merge)? {
            let source = self.node(source, depth + 1)?;
            let Data::Map(more) = source.data else {
                continue;
            };
            for (key, value) in more {
                let same = pairs.iter().position(|(it, _)| it.raw() == key.raw());
                match same {
                    Some(at) if at < own => {}
                    // What comes earlier in the list of sources wins, and is applied later.
                    Some(at) => pairs[at] = (key, value),
                    None => pairs.push((key, value)),
                }
            }
        }
        Ok(pairs)
    }

    /// In the order they are applied: the last first.
    fn merge_sources(&self, value: &'a yaml::Node) -> Result<Vec<&'a yaml::Node>> {
        match value.kind {
            yaml::Kind::Mapping => Ok(vec![value]),
            yaml::Kind::Alias => match self.anchors.target(value) {
                Some(target) if target.kind == yaml::Kind::Mapping => Ok(vec![value]),
                Some(_) => Err(Error::new(
                    "invalid map merge: received alias for a non-map value",
                )),
                None => Err(yaml::Error::UnknownAnchor(value.value.clone()).into()),
            },
            yaml::Kind::Sequence => {
                let mut all = Vec::new();
                for item in value.content.iter().rev() {
                    if item.kind == yaml::Kind::Sequence {
                        return Err(Error::new("invalid map merge: received a nested sequence"));
                    }
                    all.extend(self.merge_sources(item)?);
                }
                Ok(all)
            }
            _ => Err(Error::new(
                "map merge requires map or sequence of maps as the value",
            )),
        }
    }
}

fn tag_of(name: &str) -> Tag {
    match name {
        "!!str" => Tag::Str,
        "" => Tag::None,
        "!!null" => Tag::Null,
        "!!bool" => Tag::Bool,
        "!!int" => Tag::Int,
        "!!float" => Tag::Float,
        "!!timestamp" => Tag::Timestamp,
        "!!binary" => Tag::Binary,
        "!!merge" => Tag::Merge,
        "!!map" => Tag::Map,
        "!!seq" => Tag::Seq,
        _ => Tag::Other,
    }
}
