//! The fields that an object mentions, as a set. Hot path.

use json::Value;

use super::{Atom, List, ListKind, Map, Type};
use crate::fieldpath::{Element, Node, Set};

impl<'a> Type<'a> {
    /// Every leaf and every item of a list or map. The object has been validated.
    pub fn to_set<'v>(self, value: &'v Value) -> Set<'v>
    where
        'a: 'v,
    {
        self.fields(value).1
    }

    /// Whether the value is a member by itself, and the members in it.
    fn fields<'v>(self, value: &'v Value) -> (bool, Set<'v>)
    where
        'a: 'v,
    {
        match self.atom_for(Some(value)) {
            Atom { map: Some(map), .. } => map_fields(map, value),
            Atom {
                scalar: Some(_), ..
            } => (true, Set::new()),
            Atom {
                list: Some(list), ..
            } => list_fields(list, value),
            _ => (false, Set::new()),
        }
    }
}

fn map_fields<'v>(map: Map<'v>, value: &'v Value) -> (bool, Set<'v>) {
    let object = match value {
        _ if map.atomic => return (true, Set::new()),
        Value::Object(object) => object,
        _ => return (false, Set::new()),
    };
    let mut nodes = Vec::with_capacity(object.len());
    for (key, value) in object.iter() {
        let (ty, named) = map.ty.field(key);
        let (member, children) = ty.fields(value);
        let empty = match value {
            Value::Null => true,
            Value::Object(object) => object.is_empty(),
            _ => false,
        };
        let member = member || empty || !named;
        if member || !children.is_empty() {
            nodes.push(Node {
                element: Element::field(key),
                member,
                children,
            });
        }
    }
    (false, Set::from_nodes(nodes))
}

fn list_fields<'v>(list: List<'v>, value: &'v Value) -> (bool, Set<'v>) {
    let items = match (list.kind, value) {
        (ListKind::Atomic, _) => return (true, Set::new()),
        (_, Value::Array(items)) => items,
        _ => return (false, Set::new()),
    };
    let mut nodes = Vec::with_capacity(items.len());
    for item in items {
        if let Ok(element) = list.element(item) {
            nodes.push(Node {
                element,
                member: true,
                children: list.items.fields(item).1,
            });
        }
    }
    let mut set = Set::from_nodes(nodes);
    // Items that come twice are owned as one, whatever is in them.
    set.0.dedup_by(|b, a| {
        let same = a.element == b.element;
        if same {
            a.children = Set::new();
        }
        same
    });
    (false, set)
}
