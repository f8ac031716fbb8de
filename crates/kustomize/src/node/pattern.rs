//! Paths that may lead to many nodes: `*` for every item, `[name=pattern]` for those that match.

use std::borrow::Cow;

use super::load::load;
use super::path::{blank, index_number, is_list_index, kind_before, split_name_value};
use super::{Data, Kind, Node, Style, Tag, is_non_string, to_commented_yaml};
use crate::error::{Error, Result};
use crate::regexp;

/// What to make where a path ends in nothing, if anything.
pub(crate) type Create = Option<Kind>;

type Visit<'v> = &'v mut dyn FnMut(&mut Node) -> Result<()>;

impl Node {
    /// Visits each node that the path leads to, and tells how many.
    pub(crate) fn visit_matches(
        &mut self,
        path: &[String],
        create: Create,
        visit: Visit<'_>,
    ) -> Result<usize> {
        let Some((part, rest)) = path.split_first() else {
            visit(self)?;
            return Ok(1);
        };
        if let Some(index) = index_number(part) {
            self.visit_index(index, rest, create, visit)
        } else if is_list_index(part) {
            self.visit_selected(part, rest, create, visit)
        } else if part == "*" {
            self.expect(Kind::Seq)?;
            let mut count = 0;
            for item in self.items_mut() {
                count += item.visit_matches(rest, create, visit)?;
            }
            Ok(count)
        } else {
            self.visit_field(part, rest, create, visit)
        }
    }

    fn visit_field(
        &mut self,
        name: &str,
        rest: &[String],
        create: Create,
        visit: Visit<'_>,
    ) -> Result<usize> {
        if name.is_empty() && !self.is_null() {
            // Upstream takes it for the value of a scalar.
            self.expect(Kind::Scalar)?;
            return Ok(0);
        }
        if self.field(name)?.is_none() {
            let Some(kind) = create else {
                return Ok(0);
            };
            let next = rest.first().map(String::as_str);
            let new = blank(kind_before(next, kind));
            if self.is_null() {
                // What is set on null is lost, but counts as found.
                let mut lost = new;
                return lost.visit_matches(rest, create, visit);
            }
            self.push(name, new, Style::Plain);
        }
        let Some(field) = self.get_mut(name) else {
            return Ok(0);
        };
        if field.kind() == Kind::Scalar && !rest.is_empty() {
            // A document inside of a string: what is found there counts, what is set there is lost.
            let Some(document) = yaml::parse_first(field.raw().as_bytes())? else {
                let wanted = kind_before(rest.first().map(String::as_str), Kind::Map);
                return Err(Error::new(format!(
                    "wrong node kind: expected {} but got : node contents:\nnull\n",
                    wanted.name()
                )));
            };
            let inner = load(&document, field.raw(), 0)?;
            let mut inner = inner.unwrap_or_else(|| Node::tagged(Tag::Null, "null"));
            return inner.visit_matches(rest, create, visit);
        }
        field.visit_matches(rest, create, visit)
    }

    fn visit_index(
        &mut self,
        index: usize,
        rest: &[String],
        create: Create,
        visit: Visit<'_>,
    ) -> Result<usize> {
        self.expect(Kind::Seq)?;
        let length = self.items().len();
        if let (Some(kind), true) = (create, length == index) {
            let mut new = blank(kind_before(rest.first().map(String::as_str), kind));
            match &mut self.data {
                Data::Seq(items) => items.push(new),
                // What is set on null is lost, but counts as found.
                _ => return new.visit_matches(rest, create, visit),
            }
        }
        let length = self.items().len();
        let Some(item) = self.items_mut().get_mut(index) else {
            return Err(Error::new(format!(
                "index {index} specified but only {length} elements found"
            )));
        };
        item.visit_matches(rest, create, visit)
    }

    fn visit_selected(
        &mut self,
        part: &str,
        rest: &[String],
        create: Create,
        visit: Visit<'_>,
    ) -> Result<usize> {
        let (name, pattern) = split_name_value(part)?;
        self.expect(Kind::Seq)?;
        // Most are plain texts, and compiling is dear where it is done for each resource.
        let plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'/');
        let regex = if pattern.bytes().all(plain) {
            None
        } else {
            Some(regexp::compile(pattern)?)
        };
        let is_match = |text: &str| match &regex {
            Some(regex) => regex.is_match(text),
            None => text.contains(pattern),
        };
        let mut count = 0;
        for item in self.items_mut() {
            let text = if name.is_empty() {
                as_written(item)
            } else {
                match item.get(name) {
                    Some(value) => as_written(value),
                    None => continue,
                }
            };
            if !is_match(text.trim()) {
                continue;
            }
            if name.is_empty() {
                visit(item)?;
                count += 1;
            } else {
                count += item.visit_matches(rest, create, visit)?;
            }
        }
        if create.is_none() || count > 0 {
            return Ok(count);
        }
        let value = Node::plain(pattern);
        let mut item = value;
        if !name.is_empty() {
            let mut map = Node::map();
            map.push(name, item, Style::Plain);
            item = map;
        }
        if !is_match(pattern) {
            return Err(Error::new(format!(
                "failed to create element for {part:?}: it would not match itself"
            )));
        }
        let Data::Seq(items) = &mut self.data else {
            // What is added to null is lost, but counts as found.
            let mut lost = Node::seq(vec![item]);
            return lost.visit_selected(part, rest, create, visit);
        };
        items.push(item);
        self.visit_selected(part, rest, create, visit)
    }
}

/// Patterns see a value as it stands in YAML, with its quotes and comments.
fn as_written(node: &Node) -> Cow<'_, str> {
    let text = node.raw();
    let word = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.');
    let plain = node.tag == Tag::Str && node.style == Style::Plain;
    let is_word = plain && !text.is_empty() && text.bytes().all(word) && !is_non_string(text);
    if is_word && node.rare().is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(to_commented_yaml(node))
}
