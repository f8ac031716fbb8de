//! Sets of fields seen through a schema.

use super::{Atom, ListKind, Type};
use crate::fieldpath::{Element, Set};

impl Type<'_> {
    /// A set that was written before a list or map became atomic owns it as a whole now.
    pub fn reconcile(self, set: &mut Set) {
        let atom = self.atom();
        match atom {
            Atom { map: Some(map), .. } => {
                if map.ty.is_deduced_map() {
                    return;
                }
                for node in &mut set.0 {
                    let ty = match &node.element {
                        Element::Field(name) => self.field(name).0,
                        _ => self.field("").0,
                    };
                    ty.reconcile_node(&mut node.member, &mut node.children);
                }
            }
            Atom {
                scalar: None,
                list: Some(list),
                ..
            } => {
                for node in &mut set.0 {
                    (list.items).reconcile_node(&mut node.member, &mut node.children);
                }
            }
            _ => {}
        }
    }

    fn reconcile_node(self, member: &mut bool, children: &mut Set) {
        if children.is_empty() {
            return;
        }
        let atomic = match self.atom() {
            Atom { map: Some(map), .. } => !map.ty.is_deduced_map() && map.atomic,
            Atom {
                scalar: None,
                list: Some(list),
                ..
            } => matches!(list.kind, ListKind::Atomic),
            _ => return,
        };
        if atomic {
            *member = true;
            *children = Set::new();
        } else {
            self.reconcile(children);
        }
    }

    /// Makes members of the fields that have members below and that the schema names: they go when all in them goes.
    pub fn own_named_fields(self, set: &mut Set) {
        for node in &mut set.0 {
            if node.children.is_empty() {
                continue;
            }
            let below = match (&node.element, self.atom()) {
                (Element::Field(name), Atom { map: Some(_), .. }) => {
                    let (ty, named) = self.field(name);
                    node.member |= named;
                    ty
                }
                (
                    Element::Key(_),
                    Atom {
                        list: Some(list), ..
                    },
                ) => list.items,
                _ => Type::None,
            };
            below.own_named_fields(&mut node.children);
        }
    }
}
