//! Which lists of which kinds are merged, and by which keys: facts from the schema that kustomize has built in
//! (Kubernetes 1.21.2), or from the user's.

mod custom;

use std::collections::HashMap;

use crate::node::Node;

#[derive(Debug, Default)]
pub(crate) struct Schema {
    kinds: HashMap<(String, String), usize>,
    named: HashMap<String, usize>,
    types: Vec<Type>,
}

#[derive(Debug, Default)]
struct Type {
    fields: Vec<(String, Shape)>,
    /// Of all other fields.
    others: Option<Shape>,
}

/// Lists and maps around a type, and how the outermost list is merged.
#[derive(Clone, Debug, Default)]
struct Shape {
    around: Vec<Around>,
    inner: Option<usize>,
    merge_keys: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    List,
    Map,
}

/// A place in the schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    schema: &'a Schema,
    at: At<'a>,
}

#[derive(Clone, Copy, Debug)]
enum At<'a> {
    Type(usize),
    /// Inside of so many of its lists and maps.
    Shape(&'a Shape, usize),
}

impl Schema {
    pub(crate) fn builtin() -> Self {
        let mut schema = Self::default();
        for row in include_str!("../tables/merge_lists.txt").lines() {
            let mut words = row.split(' ');
            let Some(name) = words.next() else { continue };
            if name == "type" {
                let definition = words.next().unwrap_or_default().to_owned();
                schema.named.insert(definition, schema.types.len());
                for kind in words {
                    let (api_version, kind) = kind.split_once(',').unwrap_or((kind, ""));
                    let key = (api_version.to_owned(), kind.to_owned());
                    schema.kinds.insert(key, schema.types.len());
                }
                schema.types.push(Type::default());
                continue;
            }
            let mut shape = Shape::default();
            let mut target = words.next().unwrap_or("-");
            loop {
                let (around, rest) = match target.as_bytes() {
                    [b'[', ..] => (Around::List, &target[1..]),
                    [b'{', ..] => (Around::Map, &target[1..]),
                    _ => break,
                };
                shape.around.push(around);
                target = rest;
            }
            shape.inner = target.parse().ok();
            if words.next() == Some("merge") {
                let keys = words.next().map(|keys| keys.split(',').map(str::to_owned));
                shape.merge_keys = Some(keys.map(Iterator::collect).unwrap_or_default());
            }
            if let Some(last) = schema.types.last_mut() {
                last.fields.push((name.to_owned(), shape));
            }
        }
        schema
    }

    /// By its own apiVersion and kind.
    pub(crate) fn of(&self, node: &Node) -> Option<Place<'_>> {
        let api_version = node.get("apiVersion")?.value();
        let kind = node.get("kind")?.value();
        if api_version.is_empty() || kind.is_empty() {
            return None;
        }
        self.named(api_version, kind)
    }

    pub(crate) fn named(&self, api_version: &str, kind: &str) -> Option<Place<'_>> {
        let key = (api_version.to_owned(), kind.to_owned());
        let found = self.kinds.get(&key)?;
        Some(Place {
            schema: self,
            at: At::Type(*found),
        })
    }
}

impl<'a> Place<'a> {
    pub(crate) fn field(self, name: &str) -> Option<Self> {
        let at = match self.at {
            At::Shape(shape, depth) if depth < shape.around.len() => {
                (shape.around[depth] == Around::Map).then_some(At::Shape(shape, depth + 1))?
            }
            at => {
                let of = match at {
                    At::Type(of) => of,
                    At::Shape(shape, _) => shape.inner?,
                };
                let of = self.schema.types.get(of)?;
                let found = of.fields.iter().find(|(it, _)| it == name);
                let shape = found.map(|(_, shape)| shape).or(of.others.as_ref())?;
                At::Shape(shape, 0)
            }
        };
        Some(Self {
            schema: self.schema,
            at,
        })
    }

    pub(crate) fn items(self) -> Option<Self> {
        match self.at {
            At::Shape(shape, depth) if shape.around.get(depth) == Some(&Around::List) => {
                Some(Self {
                    schema: self.schema,
                    at: At::Shape(shape, depth + 1),
                })
            }
            _ => None,
        }
    }

    /// The keys by which the items of this list are merged, if they are; none for plain values.
    pub(crate) fn merge_keys(self) -> Option<&'a [String]> {
        match self.at {
            At::Shape(shape, 0) => shape.merge_keys.as_deref(),
            _ => None,
        }
    }
}
