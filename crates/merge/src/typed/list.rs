//! What tells the items of a list apart. Hot path.

use std::borrow::Cow;

use json::{Text, Value};
use schema::Shape;

use super::{List, ListKind, Type};
use crate::fieldpath::Element;

impl<'a> List<'a> {
    /// The element that names an item. The schema, too, may lend its words.
    pub(super) fn element<'v>(&self, item: &'v Value) -> Result<Element<'v>, String>
    where
        'a: 'v,
    {
        match self.kind {
            ListKind::Atomic => Err("invalid indexing of non-associative list".into()),
            ListKind::Set => match item {
                Value::Object(_) => {
                    Err("associative list without keys has an element that's a map type".into())
                }
                Value::Array(_) => {
                    Err("not supported: associative list with lists as elements".into())
                }
                Value::Null => Err(
                    "associative list without keys has an element that's an explicit null".into(),
                ),
                _ => Ok(Element::Value(Cow::Borrowed(item))),
            },
            ListKind::Keys(names) => self.keys(names, item),
        }
    }

    fn keys<'v>(&self, names: &'v [Text], item: &'v Value) -> Result<Element<'v>, String>
    where
        'a: 'v,
    {
        let object = match item {
            Value::Object(object) => object,
            Value::Null => {
                return Err("associative list with keys may not have a null element".into());
            }
            _ => return Err("associative list with keys may not have non-map elements".into()),
        };
        let mut keys = Vec::with_capacity(names.len());
        for name in names {
            let value = match object.get(name) {
                Some(value) => Some(value),
                None => self.default(name)?,
            };
            if let Some(value) = value {
                keys.push((Cow::Borrowed(name.as_str()), Cow::Borrowed(value)));
            }
        }
        if keys.is_empty() && !names.is_empty() {
            let names: Vec<_> = names.iter().map(|it| encoding::go::quote(it)).collect();
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
                names.join(" ")
            ));
        }
        if keys.len() > 1 {
            keys.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
        Ok(Element::Key(keys))
    }

    /// A key that is not there is known by its default, as `protocol: TCP` of a port is.
    fn default(&self, name: &str) -> Result<Option<&'a Value>, String> {
        let Type::Place { place, .. } = self.items else {
            return Ok(None);
        };
        match place.shape() {
            Shape::Object { .. } => Ok(place.field(name).and_then(|it| it.node().default.as_ref())),
            Shape::Map { .. } | Shape::Any => Ok(None),
            _ => Err(format!(
                "couldn't find default value for {name}: associative list may not have non-map types"
            )),
        }
    }
}

/// The elements of a list's items in order, and where each is.
pub(super) struct Index<'v> {
    pub(super) elements: Vec<Element<'v>>,
    sorted: Vec<usize>,
}

impl<'v> Index<'v> {
    pub(super) fn new(elements: Vec<Element<'v>>) -> Self {
        let mut sorted: Vec<usize> = (0..elements.len()).collect();
        sorted.sort_by(|a, b| elements[*a].cmp(&elements[*b]));
        Self { elements, sorted }
    }

    /// All positions of an element, in order.
    pub(super) fn find(&self, element: &Element) -> &[usize] {
        let from = (self.sorted).partition_point(|at| self.elements[*at] < *element);
        let same = (self.sorted[from..]).partition_point(|at| self.elements[*at] == *element);
        &self.sorted[from..from + same]
    }

    /// Elements that come more than once, as pairs of their first two positions.
    pub(super) fn repeated(&self) -> impl Iterator<Item = usize> {
        let pairs = self.sorted.windows(2);
        pairs
            .filter(|pair| self.elements[pair[0]] == self.elements[pair[1]])
            .map(|pair| pair[1])
    }
}
