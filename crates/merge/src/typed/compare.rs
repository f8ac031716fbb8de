//! What changed from one object to another. Hot path.

use json::{Object, Value};

use super::list::Index;
use super::validate::validate_scalar;
use super::{Atom, Errors, List, ListKind, Map, Scalar, Type};
use crate::fieldpath::{Element, Filter, Node, Set};
use crate::value;

/// No field is in two of these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison<'v> {
    pub removed: Set<'v>,
    pub modified: Set<'v>,
    pub added: Set<'v>,
}

impl Comparison<'_> {
    pub fn is_same(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }

    pub(crate) fn filter(&mut self, filter: Option<&Filter>) {
        if let Some(filter) = filter {
            filter.keep_in(&mut self.removed);
            filter.keep_in(&mut self.modified);
            filter.keep_in(&mut self.added);
        }
    }
}

/// Changes at one value: by itself, and in it.
#[derive(Default)]
struct Delta<'v> {
    removed: bool,
    modified: bool,
    added: bool,
    below: Comparison<'v>,
}

type Side<'v> = Option<&'v Value>;

impl<'a> Type<'a> {
    pub fn compare<'v>(self, left: &'v Value, right: &'v Value) -> Result<Comparison<'v>, Errors>
    where
        'a: 'v,
    {
        Ok(self.delta(Some(left), Some(right))?.below)
    }

    fn delta<'v>(self, left: Side<'v>, right: Side<'v>) -> Result<Delta<'v>, Errors>
    where
        'a: 'v,
    {
        let (l, r) = (self.atom_for(left), self.atom_for(right));
        let mut delta = Delta::default();
        let leaf = match (left, right) {
            (_, None) => l.delta(left, right, &mut delta)?,
            (None, _) => r.delta(left, right, &mut delta)?,
            _ if l.same(&r) => r.delta(left, right, &mut delta)?,
            _ => {
                l.delta(left, right, &mut delta)?;
                r.delta(left, right, &mut delta)?
            }
        };
        if !leaf {
            delta.added |= left.is_none();
            delta.removed |= right.is_none();
        }
        Ok(delta)
    }
}

impl<'v> Delta<'v> {
    fn leaf(&mut self, left: Side, right: Side) {
        match (left, right) {
            (None, _) => self.added = true,
            (_, None) => self.removed = true,
            (Some(left), Some(right)) => self.modified |= !value::equal(left, right),
        }
    }

    fn join(&mut self, element: &Element<'v>, child: Delta<'v>) {
        let Comparison {
            removed,
            modified,
            added,
        } = &mut self.below;
        for (set, member, children) in [
            (removed, child.removed, child.below.removed),
            (modified, child.modified, child.below.modified),
            (added, child.added, child.below.added),
        ] {
            if member || !children.is_empty() {
                let element = element.clone();
                set.0.push(Node {
                    element,
                    member,
                    children,
                });
            }
        }
    }

    /// Nodes have come in any order; where two kinds of value were compared, maybe twice.
    fn sort(&mut self) {
        let below = &mut self.below;
        for set in [&mut below.removed, &mut below.modified, &mut below.added] {
            let mut sorted = Set::new();
            let nodes = std::mem::take(&mut set.0);
            if nodes.is_sorted_by(|a, b| a.element < b.element) {
                set.0 = nodes;
                continue;
            }
            let mut nodes = Set::from_nodes(nodes).0;
            nodes.dedup_by(|b, a| {
                let same = a.element == b.element;
                if same {
                    a.member |= b.member;
                    a.children.union(std::mem::take(&mut b.children));
                }
                same
            });
            sorted.0 = nodes;
            *set = sorted;
        }
    }
}

impl<'a> Atom<'a> {
    /// Says whether the value was compared as a whole.
    fn delta<'v>(
        self,
        left: Side<'v>,
        right: Side<'v>,
        delta: &mut Delta<'v>,
    ) -> Result<bool, Errors>
    where
        'a: 'v,
    {
        match self {
            Atom { map: Some(map), .. } => map_delta(map, left, right, delta),
            Atom {
                scalar: Some(scalar),
                ..
            } => {
                scalar_fits(scalar, left, right)?;
                delta.leaf(left, right);
                Ok(true)
            }
            Atom {
                list: Some(list), ..
            } => list_delta(list, left, right, delta),
            _ => Err(Errors::new("schema error: invalid atom: inlined")),
        }
    }
}

/// One side at least must be a valid scalar.
pub(super) fn scalar_fits(scalar: Scalar, left: Side, right: Side) -> Result<(), Errors> {
    let l = validate_scalar(scalar, left, "lhs: ");
    let r = validate_scalar(scalar, right, "rhs: ");
    match (l, r) {
        (Err(mut l), Err(r)) => {
            l.add(r);
            Err(l)
        }
        _ => Ok(()),
    }
}

fn map_delta<'v>(
    map: Map<'v>,
    left: Side<'v>,
    right: Side<'v>,
    delta: &mut Delta<'v>,
) -> Result<bool, Errors> {
    let l = left.and_then(Value::as_object);
    let r = right.and_then(Value::as_object);
    if map.atomic || (l.is_none_or(Object::is_empty) && r.is_none_or(Object::is_empty)) {
        delta.leaf(left, right);
        return Ok(true);
    }
    let mut errors = Errors::default();
    value::zip(l, r, |key, left, right| {
        let element = Element::field(key);
        match map.ty.field(key).0.delta(left, right) {
            Ok(child) => delta.join(&element, child),
            Err(wrong) => errors.add(wrong.below(&element)),
        }
    });
    errors.result()?;
    delta.sort();
    Ok(false)
}

fn list_delta<'v>(
    list: List<'v>,
    left: Side<'v>,
    right: Side<'v>,
    delta: &mut Delta<'v>,
) -> Result<bool, Errors> {
    let l = left.and_then(Value::as_array).map_or(&[][..], |it| it);
    let r = right.and_then(Value::as_array).map_or(&[][..], |it| it);
    if matches!(list.kind, ListKind::Atomic) || (l.is_empty() && r.is_empty()) {
        delta.leaf(left, right);
        return Ok(true);
    }
    if l.len() == r.len() && l.iter().zip(r).all(|(l, r)| value::equal(l, r)) {
        return Ok(false);
    }
    let mut errors = Errors::default();
    let mut index = |items: &'v [Value]| {
        let mut kept = Vec::with_capacity(items.len());
        let mut elements = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            match list.element(item) {
                Ok(element) => {
                    elements.push(element);
                    kept.push(item);
                }
                Err(why) => errors.add(Errors::new(format!("element {at}: {why}"))),
            }
        }
        (kept, Index::new(elements))
    };
    let (l, lefts) = index(l);
    let (r, rights) = index(r);
    let mut item = |element: &Element<'v>, left: Side<'v>, right: Side<'v>| {
        list.items.delta(left, right).unwrap_or_else(|wrong| {
            errors.add(wrong.below(element));
            Delta::default()
        })
    };
    for (at, element) in lefts.elements.iter().enumerate() {
        let (before, after) = (lefts.find(element), rights.find(element));
        if before[0] != at {
            continue;
        }
        let child = match (before, after) {
            (&[one], []) => item(element, Some(l[one]), None),
            (&[one], &[other]) => item(element, Some(l[one]), Some(r[other])),
            // Items that come twice are compared as one.
            (&[one], [_, ..]) => {
                let mut child = item(element, Some(l[one]), None);
                child.added = true;
                child
            }
            (_, []) => Delta {
                removed: true,
                ..Delta::default()
            },
            (_, &[other]) => {
                let mut child = item(element, None, Some(r[other]));
                child.removed = true;
                child
            }
            (before, after) => Delta {
                modified: before.len() != after.len()
                    || (before.iter().zip(after)).any(|(a, b)| !value::equal(l[*a], r[*b])),
                ..Delta::default()
            },
        };
        delta.join(element, child);
    }
    for (at, element) in rights.elements.iter().enumerate() {
        let after = rights.find(element);
        if after[0] != at || !lefts.find(element).is_empty() {
            continue;
        }
        let child = if let &[one] = after {
            item(element, None, Some(r[one]))
        } else {
            Delta {
                added: true,
                ..Delta::default()
            }
        };
        delta.join(element, child);
    }
    errors.result()?;
    delta.sort();
    Ok(false)
}
