//! Whether an object fits a schema well enough to merge it. Hot path.

use json::Value;

use super::list::Index;
use super::{Atom, Errors, List, ListKind, Map, Scalar, Type};
use crate::fieldpath::Element;
use crate::go;

impl Type<'_> {
    /// Lists that are told apart by key may hold an item twice only where `duplicates` says so.
    pub fn validate(self, value: &Value, duplicates: bool) -> Result<(), Errors> {
        match self.atom_for(Some(value)) {
            Atom { map: Some(map), .. } => validate_map(map, value, duplicates),
            Atom {
                scalar: Some(scalar),
                ..
            } => validate_scalar(scalar, Some(value), ""),
            Atom {
                list: Some(list), ..
            } => validate_list(list, value, duplicates),
            _ => Err(Errors::new("schema error: invalid atom: inlined")),
        }
    }
}

fn validate_map(map: Map, value: &Value, duplicates: bool) -> Result<(), Errors> {
    let object = match value {
        Value::Object(object) => object,
        Value::Null => return Ok(()),
        other => {
            return Err(Errors::new(format!(
                "expected map, got &{{{}}}",
                go::v(other)
            )));
        }
    };
    let mut errors = Errors::default();
    for (key, value) in object.iter() {
        let (ty, _) = map.ty.field(key);
        let element = || Element::field(key);
        if let Type::None = ty {
            errors.add(Errors::new("field not declared in schema").below(element()));
            break;
        }
        if let Err(wrong) = ty.validate(value, duplicates) {
            errors.add(wrong.below(element()));
        }
    }
    errors.result()
}

fn validate_list(list: List, value: &Value, duplicates: bool) -> Result<(), Errors> {
    let items = match value {
        Value::Array(items) => items,
        Value::Null => return Ok(()),
        other => {
            return Err(Errors::new(format!(
                "expected list, got &{{{}}}",
                go::v(other)
            )));
        }
    };
    let mut errors = Errors::default();
    if let ListKind::Atomic = list.kind {
        for (at, item) in (0..).zip(items) {
            if let Err(wrong) = list.items.validate(item, duplicates) {
                errors.add(wrong.below(Element::Index(at)));
            }
        }
        return errors.result();
    }
    let mut elements = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        match list.element(item) {
            Ok(element) => elements.push(element),
            Err(why) => return Err(Errors::new(format!("element {at}: {why}"))),
        }
    }
    let index = Index::new(elements);
    let mut repeated = vec![false; items.len()];
    if !duplicates {
        index.repeated().for_each(|at| repeated[at] = true);
    }
    for (at, (item, element)) in items.iter().zip(&index.elements).enumerate() {
        if repeated[at] {
            errors.add(Errors::new(format!("duplicate entries for key {element}")));
        }
        if let Err(wrong) = list.items.validate(item, duplicates) {
            errors.add(wrong.below(element));
        }
    }
    errors.result()
}

pub(super) fn validate_scalar(
    scalar: Scalar,
    value: Option<&Value>,
    prefix: &str,
) -> Result<(), Errors> {
    let Some(value) = value else { return Ok(()) };
    let fits = match value {
        Value::Null => true,
        Value::Number(_) => matches!(scalar, Scalar::Numeric | Scalar::Untyped),
        Value::String(_) => matches!(scalar, Scalar::String | Scalar::Untyped),
        Value::Bool(_) => matches!(scalar, Scalar::Boolean | Scalar::Untyped),
        _ => false,
    };
    if fits {
        return Ok(());
    }
    Err(Errors::new(match scalar {
        Scalar::Numeric => format!(
            "{prefix}expected numeric (int or float), got {}",
            go::type_name(value)
        ),
        Scalar::String => format!(
            "{prefix}expected string, got &value.valueUnstructured{{Value:{}}}",
            go::sharp_v(value)
        ),
        Scalar::Boolean => format!("{prefix}expected boolean, got &{{{}}}", go::v(value)),
        Scalar::Untyped => format!("{prefix}expected any scalar, got &{{{}}}", go::v(value)),
    }))
}
