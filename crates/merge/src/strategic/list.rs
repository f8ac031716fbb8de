//! Lists: by merge key, or as sets of scalars.

use std::collections::{HashMap, HashSet};
use std::mem::{Discriminant, discriminant};

use json::{Number, Object, Value};

use super::{Meta, PATCH, bad_patch_type, merge_map, no_merge_key, order};
use crate::{Error, go};

/// `deletes`: the patch is a `$deleteFromPrimitiveList`, which every list takes.
pub(super) fn merge_list(
    live: Vec<Value>,
    patch: Vec<Value>,
    field: &Meta,
    deletes: bool,
) -> Result<Vec<Value>, Error> {
    if !field.merge && !deletes {
        return Ok(patch);
    }
    if live.is_empty() && patch.is_empty() {
        return Ok(live);
    }
    if !of_maps(&live, &patch)? {
        if deletes {
            let gone: HashSet<Scalar> = patch.iter().map(Scalar::of).collect();
            let mut live = live;
            live.retain(|item| !gone.contains(&Scalar::of(item)));
            return Ok(live);
        }
        let mut seen = HashSet::new();
        let both = live.iter().chain(&patch);
        let merged = both.filter(|item| seen.insert(Scalar::of(item)));
        let merged = merged.cloned().collect();
        return order::interleave(merged, &patch, &live, field.merge_key, false);
    }
    if field.merge_key.is_empty() {
        let name = if deletes { "struct" } else { "slice" };
        return Err(Error::Internal(format!(
            "cannot merge lists without merge key for {name}"
        )));
    }
    let (live, patch) = special_items(live, patch, field.merge_key)?;
    let order = patch.iter().map(|it| key_only(it, field)).collect();
    let order: Vec<Value> = order;
    let before: Vec<Value> = live.iter().map(|it| key_only(it, field)).collect();
    let merged = merge_items(live, patch, field)?;
    order::interleave(merged, &order, &before, field.merge_key, true)
}

/// Enough of an item to find it again.
fn key_only(item: &Value, field: &Meta) -> Value {
    let mut object = Object::with_capacity(1);
    if let Some(key) = item.get(field.merge_key) {
        object.insert(field.merge_key, key.clone());
    }
    object.into()
}

/// Takes the items out of the patch that are directives, and does what they say.
fn special_items(
    mut live: Vec<Value>,
    patch: Vec<Value>,
    merge_key: &str,
) -> Result<(Vec<Value>, Vec<Value>), Error> {
    let mut plain = Vec::with_capacity(patch.len());
    let mut replace = false;
    let mut gone = HashSet::new();
    for item in patch {
        let Value::Object(object) = &item else {
            continue;
        };
        match object.get(PATCH) {
            None => plain.push(item),
            Some(directive) => match directive.as_str() {
                Some("delete") => match object.get(merge_key) {
                    Some(key) => _ = gone.insert(Scalar::of(key).into_owned()),
                    None => return Err(no_merge_key(&item, merge_key)),
                },
                Some("replace") => replace = true,
                Some("merge") => {
                    return Err(Error::Internal(
                        "merging lists cannot yet be specified in the patch".into(),
                    ));
                }
                _ => return Err(bad_patch_type(object)),
            },
        }
    }
    if replace {
        return Ok((plain, Vec::new()));
    }
    if !gone.is_empty() {
        live.retain(|item| {
            let key = item.get(merge_key).map(Scalar::of);
            key.is_none_or(|key| !gone.contains(&key))
        });
    }
    Ok((live, plain))
}

fn merge_items(mut live: Vec<Value>, patch: Vec<Value>, field: &Meta) -> Result<Vec<Value>, Error> {
    let items = field.place.and_then(schema::Place::items);
    let mut places: HashMap<Scalar<'static>, usize> = HashMap::with_capacity(live.len());
    for (at, item) in live.iter().enumerate() {
        if let Some(key) = item.get(field.merge_key) {
            places.entry(Scalar::of(key).into_owned()).or_insert(at);
        }
    }
    for item in patch {
        let Some(key) = item.get(field.merge_key) else {
            return Err(no_merge_key(&item, field.merge_key));
        };
        let key = Scalar::of(key).into_owned();
        match (places.get(&key), item) {
            (Some(&at), Value::Object(item)) => {
                if let Value::Object(current) = live[at].take() {
                    live[at] = merge_map(current, item, items)?.into();
                }
            }
            (_, item) => {
                places.insert(key, live.len());
                live.push(item);
            }
        }
    }
    Ok(live)
}

/// All items must be of one type, which is not a list. Says whether that type is a map.
pub(super) fn of_maps(live: &[Value], patch: &[Value]) -> Result<bool, Error> {
    fn kind(value: &Value) -> (Discriminant<Value>, Option<Discriminant<Number>>) {
        let number = value.as_number().map(|it| discriminant(&it));
        (discriminant(value), number)
    }
    let mut all = live.iter().chain(patch);
    let Some(first) = all.next() else {
        return Err(Error::Internal(
            "no elements in any of the given slices".into(),
        ));
    };
    if let Value::Array(_) = first {
        return Err(Error::Unprocessable(
            "lists of lists are not supported".into(),
        ));
    }
    if first.is_null() || all.any(|item| kind(item) != kind(first)) {
        let lists = [live.to_vec(), patch.to_vec()];
        return Err(Error::Internal(format!(
            "list element types are not identical: {}",
            go::v(&lists.into_iter().collect())
        )));
    }
    Ok(matches!(first, Value::Object(_)))
}

/// What a key or an item of a set can be told apart by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Scalar<'a> {
    Text(std::borrow::Cow<'a, str>),
    Int(i64),
    /// Anything else, as it is written.
    Other(String),
}

impl<'a> Scalar<'a> {
    pub(super) fn of(value: &'a Value) -> Self {
        match value {
            Value::String(it) => Self::Text(it.as_str().into()),
            Value::Number(Number::Int(it)) => Self::Int(*it),
            other => Self::Other(json::to_string(other)),
        }
    }

    fn into_owned(self) -> Scalar<'static> {
        match self {
            Self::Text(it) => Scalar::Text(it.into_owned().into()),
            Self::Int(it) => Scalar::Int(it),
            Self::Other(it) => Scalar::Other(it),
        }
    }
}
