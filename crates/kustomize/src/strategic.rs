//! Strategic merge as kyaml's `merge2` does it, with all that follows from its way of walking two trees at once.

mod directive;
mod list;

use crate::error::Result;
use crate::node::{Data, Kind, Node, Style, Tag};
use crate::schema::{Place, Schema};
use directive::{Directive, directive};

/// Merges a patch into a resource. Null is what is left of one that the patch deletes.
pub(crate) fn merge(dest: &mut Node, patch: Node, schema: &Schema) -> Result<()> {
    let taken = std::mem::replace(dest, Node::tagged(Tag::Null, ""));
    let walker = Walker { schema };
    if let Some(node) = walker.walk(Some(taken), Some(patch), None)?.node {
        *dest = node;
    }
    Ok(())
}

pub(crate) use directive::replaces;

struct Walker<'a> {
    schema: &'a Schema,
}

#[derive(Default)]
struct Walked {
    node: Option<Node>,
    /// A null that stays.
    keep_null: bool,
    /// Whether it is the destination's own node, changed in place.
    in_place: bool,
    /// Whether it is neither the destination's nor the patch's, but made of both.
    made: bool,
}

impl Walked {
    fn own(node: Option<Node>) -> Self {
        Self {
            node,
            in_place: true,
            ..Self::default()
        }
    }

    fn other(node: Option<Node>) -> Self {
        Self {
            node,
            ..Self::default()
        }
    }

    fn made(node: Node) -> Self {
        Self {
            node: Some(node),
            made: true,
            ..Self::default()
        }
    }
}

fn is_missing(node: Option<&Node>) -> bool {
    node.is_none_or(Node::is_null)
}

impl<'a> Walker<'a> {
    fn place(&self, known: Option<Place<'a>>, nodes: [Option<&Node>; 2]) -> Option<Place<'a>> {
        known.or_else(|| {
            nodes
                .into_iter()
                .flatten()
                .find_map(|node| self.schema.of(node))
        })
    }

    fn walk(
        &self,
        dest: Option<Node>,
        patch: Option<Node>,
        place: Option<Place<'a>>,
    ) -> Result<Walked> {
        let place = self.place(place, [dest.as_ref(), patch.as_ref()]);
        let kind = [dest.as_ref(), patch.as_ref()]
            .into_iter()
            .flatten()
            .find(|node| !node.is_null())
            .map(Node::kind);
        if let Some(kind) = kind {
            for node in [dest.as_ref(), patch.as_ref()].into_iter().flatten() {
                node.expect(kind)
                    .map_err(|error| error.at_node(patch.as_ref().unwrap_or(node)))?;
            }
        }
        match kind {
            Some(Kind::Map) | None => self.walk_map(dest, patch, place),
            Some(Kind::Seq) => match place.and_then(Place::merge_keys) {
                Some(keys) => self.walk_list(dest, patch, keys, place.and_then(Place::items)),
                None if patch.is_some() => Ok(Walked::other(patch)),
                None => Ok(Walked::own(dest)),
            },
            Some(Kind::Scalar) if patch.is_some() => Ok(Walked::other(patch)),
            Some(Kind::Scalar) => Ok(Walked::own(dest)),
        }
    }

    fn walk_map(
        &self,
        dest: Option<Node>,
        mut patch: Option<Node>,
        place: Option<Place<'a>>,
    ) -> Result<Walked> {
        if is_missing(dest.as_ref()) {
            let Some(patch) = &mut patch else {
                // A null that was written out stays, one that is just nothing goes.
                let text = dest.as_ref().map(Node::raw).filter(|text| !text.is_empty());
                return Ok(Walked {
                    node: text.map(|text| Node::tagged(Tag::Null, text.clone())),
                    keep_null: true,
                    ..Walked::default()
                });
            };
            if directive(patch) == Ok(Directive::Delete) {
                return Ok(Walked::default());
            }
            self.normalize_fields(patch, place)?;
            return Ok(Walked::other(Some(patch.clone())));
        }
        let (Some(mut dest), patch) = (dest, patch) else {
            return Ok(Walked::default());
        };
        let Some(mut patch) = patch else {
            self.merge_fields(&mut dest, None, place)?;
            return Ok(Walked::own(Some(dest)));
        };
        if patch.is_null() {
            return Ok(Walked::default());
        }
        dest.take_comments_of(&patch);
        match directive(&mut patch)? {
            Directive::Delete => Ok(Walked::default()),
            Directive::Replace => {
                self.normalize_fields(&mut patch, place)?;
                Ok(Walked::other(Some(patch)))
            }
            Directive::Merge => {
                self.merge_fields(&mut dest, Some(patch), place)?;
                Ok(Walked::own(Some(dest)))
            }
        }
    }

    fn merge_fields(
        &self,
        dest: &mut Node,
        patch: Option<Node>,
        place: Option<Place<'a>>,
    ) -> Result<()> {
        let mut patch = match patch.map(|it| it.data) {
            Some(Data::Map(pairs)) => pairs,
            _ => Vec::new(),
        };
        let Data::Map(pairs) = &mut dest.data else {
            return Ok(());
        };
        let mut gone = Vec::new();
        for (at, (key, value)) in pairs.iter_mut().enumerate() {
            let other = patch.iter().position(|(it, _)| it.raw() == key.raw());
            let other = other.map(|at| patch.remove(at).1);
            if other.is_none() && value.kind() == Kind::Scalar && !value.is_null() {
                value.quote_if_needed();
                continue;
            }
            let style = match &other {
                Some(other) if is_empty_collection(value) => other.style,
                _ => value.style,
            };
            let mut place_holder = Node::tagged(Tag::Null, "");
            (place_holder.line, place_holder.column) = (value.line, value.column);
            let own = std::mem::replace(value, place_holder);
            let field = place.and_then(|place| place.field(key.raw()));
            let walked = self.walk(Some(own), other, field)?;
            match walked.node {
                Some(mut node) if walked.keep_null || !node.is_null() => {
                    node.style = style;
                    if walked.in_place {
                        *value = node;
                    } else {
                        value.overwrite(node);
                    }
                }
                _ => gone.push(at),
            }
        }
        let emptied = !gone.is_empty();
        for at in gone.into_iter().rev() {
            pairs.remove(at);
        }
        if emptied && pairs.is_empty() {
            dest.mark_emptied();
        }
        patch.sort_by(|(a, _), (b, _)| a.raw().cmp(b.raw()));
        for (key, value) in patch {
            let field = place.and_then(|place| place.field(key.raw()));
            let walked = self.walk(None, Some(value), field)?;
            if let Some(node) = walked.node
                && dest.get(key.raw()).is_none()
            {
                // Upstream finds the style of the key by the value, which it does not know if it is new.
                let style = if walked.made { Style::Plain } else { key.style };
                dest.set_field_with(key.raw(), node, style, walked.keep_null)?;
            }
        }
        Ok(())
    }

    /// What becomes of a tree that is merged with itself, which is how new parts come in: directives are followed,
    /// nulls go, items with equal keys become one.
    fn normalize(&self, mut node: Node, place: Option<Place<'a>>) -> Result<Option<Node>> {
        let place = self.place(place, [Some(&node), None]);
        if node.is_null() {
            return Ok(Some(node));
        }
        match node.kind() {
            Kind::Scalar => {
                node.quote_if_needed();
                Ok(Some(node))
            }
            Kind::Map => {
                if directive(&mut node)? == Directive::Delete {
                    return Ok(None);
                }
                self.normalize_fields(&mut node, place)?;
                Ok(Some(node))
            }
            Kind::Seq => match place.and_then(Place::merge_keys) {
                Some(keys) => self.normalize_list(node, keys, place.and_then(Place::items)),
                None => Ok(Some(node)),
            },
        }
    }

    fn normalize_fields(&self, node: &mut Node, place: Option<Place<'a>>) -> Result<()> {
        let Data::Map(pairs) = &mut node.data else {
            return Ok(());
        };
        let mut gone = Vec::new();
        for (at, (key, value)) in pairs.iter_mut().enumerate() {
            let style = value.style;
            let own = std::mem::replace(value, Node::tagged(Tag::Null, ""));
            let field = place.and_then(|place| place.field(key.raw()));
            match self.normalize(own, field)? {
                Some(mut node) if !node.is_null() => {
                    if node.kind() != Kind::Scalar {
                        node.style = style;
                    }
                    *value = node;
                }
                _ => gone.push(at),
            }
        }
        let emptied = !gone.is_empty();
        for at in gone.into_iter().rev() {
            pairs.remove(at);
        }
        if emptied && pairs.is_empty() {
            node.mark_emptied();
        }
        Ok(())
    }
}

fn is_empty_collection(node: &Node) -> bool {
    match &node.data {
        Data::Scalar(_) => false,
        Data::Map(pairs) => pairs.is_empty(),
        Data::Seq(items) => items.is_empty(),
    }
}

/// A key and its value, for lists of maps.
fn set_key(node: &mut Node, key: &str, value: &str) {
    node.push(key, Node::plain(value), Style::Plain);
}
