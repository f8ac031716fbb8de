//! Lists that are sets or maps have each item once.

use std::collections::HashMap;

use json::{Object, Text, Value};
use meta::field::{Error, ErrorList, Path};

use super::validate::sorted;
use crate::{ListType, Place, Shape};

/// The second of each group of equal items.
pub fn validate_lists(path: &Path<'_>, place: Place<'_>, value: &Value) -> Vec<Error> {
    let mut errors = ErrorList::default();
    walk(path, place, value, &mut errors);
    errors.into_vec()
}

fn walk(path: &Path<'_>, place: Place<'_>, value: &Value, errors: &mut ErrorList) {
    match (place.shape(), value) {
        (Shape::Map { values, .. }, Value::Object(object)) => {
            for (key, value) in object.iter() {
                walk(&path.key(key), place.at(*values), value, errors);
            }
        }
        (Shape::Object { .. }, Value::Object(object)) => {
            for (key, value) in object.iter() {
                if let Some(place) = place.field(key) {
                    walk(&path.child(key), place, value, errors);
                }
            }
        }
        (Shape::List { items, list_type }, Value::Array(all)) => {
            match list_type {
                ListType::Atomic => {}
                ListType::Set => {
                    for index in repeated(all.iter().map(|it| sorted(it).to_string())) {
                        errors
                            .push_with(|| Error::duplicate(path.index(index), sorted(&all[index])));
                    }
                }
                ListType::Map(keys) => map(path, keys, all, errors),
            }
            for (index, item) in all.iter().enumerate() {
                walk(&path.index(index), place.at(*items), item, errors);
            }
        }
        _ => {}
    }
}

fn map(path: &Path<'_>, keys: &[Text], all: &[Value], errors: &mut ErrorList) {
    let wrong = all
        .iter()
        .position(|it| !it.is_null() && it.as_object().is_none());
    if let Some(index) = wrong {
        let detail = "must be an object for an array of list-type map";
        errors.push_with(|| Error::invalid(path.index(index), sorted(&all[index]), detail));
        return;
    }
    let key_of = |item: &Value| -> Value {
        let pairs = keys
            .iter()
            .filter_map(|key| Some((key.clone(), sorted(item.get(key)?))));
        let mut object: Object = pairs.collect();
        object.sort_keys();
        Value::Object(object)
    };
    let found: Vec<Value> = all.iter().map(key_of).collect();
    for index in repeated(found.iter().map(Value::to_string)) {
        errors.push_with(|| Error::duplicate(path.index(index), found[index].clone()));
    }
}

fn repeated(texts: impl Iterator<Item = String>) -> Vec<usize> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut second = Vec::new();
    for (index, text) in texts.enumerate() {
        let times = seen.entry(text).or_default();
        *times += 1;
        if *times == 2 {
            second.push(index);
        }
    }
    second
}
