//! An object without some of its fields, or with only those.

use json::{Object, Value};

use super::{Atom, List, ListKind, Map, Type};
use crate::fieldpath::{Element, Set};

/// What becomes of a list or map when its last item goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emptied {
    /// Null stands there, as in structured-merge-diff.
    Null,
    /// Its field goes, as it does where Go's types leave out what is empty.
    Gone,
}

impl Type<'_> {
    pub fn remove(self, value: &mut Value, fields: &Set, emptied: Emptied) {
        match self.atom_for(Some(value)) {
            Atom { map: Some(map), .. } => remove_fields(map, value, fields, emptied),
            Atom {
                scalar: Some(_), ..
            } => {}
            Atom {
                list: Some(list), ..
            } => remove_items(list, value, fields, emptied),
            _ => *value = Value::Null,
        }
    }

    /// Only the fields of the set, which are leaves.
    pub fn extract(self, value: &Value, fields: &Set) -> Value {
        match self.atom_for(Some(value)) {
            Atom { map: Some(map), .. } => extract_fields(map, value, fields),
            Atom {
                scalar: Some(_), ..
            } => value.clone(),
            Atom {
                list: Some(list), ..
            } => extract_items(list, value, fields),
            _ => Value::Null,
        }
    }
}

fn remove_fields(map: Map, value: &mut Value, fields: &Set, emptied: Emptied) {
    let Value::Object(object) = value else {
        *value = Value::Null;
        return;
    };
    if map.atomic {
        *value = Value::Null;
        return;
    }
    let mut left = 0;
    object.retain(|key, value| {
        let Some(node) = fields.get(&Element::field(key)) else {
            left += 1;
            return true;
        };
        if node.member {
            return false;
        }
        left += 1;
        let was_null = value.is_null();
        map.ty.field(key).0.remove(value, &node.children, emptied);
        emptied == Emptied::Null || was_null || !value.is_null()
    });
    if left == 0 {
        *value = Value::Null;
    }
}

fn remove_items(list: List, value: &mut Value, fields: &Set, emptied: Emptied) {
    let (Value::Array(items), false) = (&mut *value, matches!(list.kind, ListKind::Atomic)) else {
        *value = Value::Null;
        return;
    };
    items.retain_mut(|item| {
        let found = list.element(item).ok();
        let found = found.and_then(|element| fields.get(&element));
        let Some(node) = found else { return true };
        if node.member {
            return false;
        }
        list.items.remove(item, &node.children, emptied);
        true
    });
    if items.is_empty() {
        *value = Value::Null;
    }
}

fn extract_fields(map: Map, value: &Value, fields: &Set) -> Value {
    let object = match value {
        Value::Object(object) if !object.is_empty() && !map.atomic => object,
        Value::Object(_) => return value.clone(),
        _ => return Value::Null,
    };
    let mut out = Object::new();
    for (key, value) in object.iter() {
        let Some(node) = fields.get(&Element::field(key)) else {
            continue;
        };
        let ty = map.ty.field(key).0;
        // A member is taken with what the same set names below: that is what upstream does.
        let below = if node.member { fields } else { &node.children };
        out.push(key.clone(), ty.extract(value, below));
    }
    if out.is_empty() {
        Value::Null
    } else {
        out.into()
    }
}

fn extract_items(list: List, value: &Value, fields: &Set) -> Value {
    let items = match value {
        Value::Array(items) if !items.is_empty() && !matches!(list.kind, ListKind::Atomic) => items,
        Value::Array(_) => return value.clone(),
        _ => return Value::Null,
    };
    let mut out = Vec::new();
    for item in items {
        let found = list.element(item).ok();
        if let Some(node) = found.and_then(|element| fields.get(&element)) {
            out.push(if node.children.is_empty() {
                item.clone()
            } else {
                list.items.extract(item, &node.children)
            });
        }
    }
    if out.is_empty() {
        Value::Null
    } else {
        out.into()
    }
}
