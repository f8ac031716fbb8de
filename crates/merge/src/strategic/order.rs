//! In which order merged items stand: the patch's order first, then the live order, interleaved as well as both allow.

use std::collections::{HashMap, HashSet};

use json::{Object, Value};
use schema::Place;

use super::list::{Scalar, merge_list, of_maps};
use super::{PATCH, SET_ORDER, bad_type, lookup, no_merge_key, without_directives};
use crate::{Error, go};

/// Merges each list that comes with a `$setElementOrder/<list>`, and takes both out of the patch.
pub(super) fn set_element_order(
    live: &mut Object,
    patch: &mut Object,
    place: Option<Place>,
) -> Result<(), Error> {
    let directives = patch.keys().filter(|key| key.starts_with(SET_ORDER));
    let directives: Vec<_> = directives.cloned().collect();
    for directive in directives {
        let order = match patch.remove(&directive) {
            Some(Value::Array(order)) => order,
            other => {
                let other = other.unwrap_or_default();
                return Err(bad_type("[]interface {}", &other));
            }
        };
        let Some((SET_ORDER, key)) = directive.split_once('/') else {
            return Err(wrong());
        };
        let before = list(live.get(key))?;
        let wanted = list(patch.get(key))?;
        let field = lookup(place, key)?;
        check(wanted.unwrap_or(&[]), &order, field.merge_key)?;
        let (before, wanted) = (before.map(<[_]>::to_vec), wanted.map(<[_]>::to_vec));
        let merged = match (&before, &wanted) {
            (None, None) => continue,
            (Some(before), None) => before.clone(),
            (None, Some(wanted)) => match without_directives(wanted.clone().into()) {
                Some(Value::Array(wanted)) => wanted,
                _ => continue,
            },
            (Some(before), Some(wanted)) => {
                merge_list(before.clone(), wanted.clone(), &field, false)?
            }
        };
        let (mut before, wanted) = (before.unwrap_or_default(), wanted.unwrap_or_default());
        let maps = of_maps(&before, &wanted)?;
        if maps && field.merge {
            refill(&mut before, &wanted, field.merge_key);
        }
        let merged = interleave(merged, &order, &before, field.merge_key, maps)?;
        live.insert(key, merged);
        patch.remove(key);
    }
    Ok(())
}

/// The live order after deletions: upstream deletes in place, and what the patch adds falls into the places that became
/// free, so that new items stand where deleted ones stood.
fn refill(live: &mut Vec<Value>, patch: &[Value], merge_key: &str) {
    let key = |item: &Value| item.get(merge_key).map(json::to_string);
    let deletes = |item: &&Value| item.get(PATCH).and_then(Value::as_str) == Some("delete");
    let gone: HashSet<_> = patch.iter().filter(deletes).filter_map(key).collect();
    let before = live.len();
    live.retain(|item| key(item).is_none_or(|key| !gone.contains(&key)));
    let mut there: HashSet<_> = live.iter().filter_map(key).collect();
    let added = patch.iter().filter(|item| item.get(PATCH).is_none());
    let added = added.filter(|item| key(item).is_some_and(|key| there.insert(key)));
    live.extend(added.take(before - live.len()).cloned().collect::<Vec<_>>());
}

fn wrong() -> Error {
    Error::BadRequest("invalid patch format of setElementOrder list".into())
}

fn list(value: Option<&Value>) -> Result<Option<&[Value]>, Error> {
    match value {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(other) => Err(bad_type("[]interface {}", other)),
    }
}

/// The patch's items must stand in the order list, in the same order.
fn check(patch: &[Value], order: &[Value], merge_key: &str) -> Result<(), Error> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let key = |item: &Value| -> Result<Value, Error> {
        if merge_key.is_empty() {
            return Ok(item.clone());
        }
        match item {
            Value::Object(object) => match object.get(merge_key) {
                Some(key) => Ok(key.clone()),
                None => Err(no_merge_key(item, merge_key)),
            },
            other => Err(bad_type("map[string]interface {}", other)),
        }
    };
    let mut rest = order.iter();
    for item in patch {
        if !merge_key.is_empty() && !matches!(item, Value::Object(_)) {
            return Err(bad_type("map[string]interface {}", item));
        }
        if item.get(PATCH).is_some() {
            continue;
        }
        let wanted = key(item)?;
        loop {
            let Some(next) = rest.next() else {
                return Err(Error::Internal(format!(
                    "The order in patch list:\n{}\n doesn't match {SET_ORDER} list:\n{}\n",
                    go::v(&patch.to_vec().into()),
                    go::v(&order.to_vec().into())
                )));
            };
            if key(next)? == wanted {
                break;
            }
        }
    }
    Ok(())
}

/// Items that `order` names stand in its order, the others in the order of `live`; where both are in `live`, its order
/// says how the two interleave.
pub(super) fn interleave(
    merged: Vec<Value>,
    order: &[Value],
    live: &[Value],
    merge_key: &str,
    maps: bool,
) -> Result<Vec<Value>, Error> {
    let keyed = maps || !merge_key.is_empty();
    if keyed {
        for item in merged.iter().chain(order).chain(live) {
            match item {
                Value::Object(object) if object.contains_key(merge_key) => {}
                Value::Object(_) => return Err(no_merge_key(item, merge_key)),
                other => return Err(bad_type("map[string]interface {}", other)),
            }
        }
    }
    let wanted = ranks(order, merge_key, keyed);
    let before = ranks(live, merge_key, keyed);
    let rank = |ranks: &HashMap<Scalar, usize>, item: &Value| {
        let name = Scalar::of(key_of(item, merge_key, keyed));
        ranks.get(&name).copied()
    };
    let place = |item: &Value| rank(&before, item);

    let (mut patch, mut server): (Vec<_>, Vec<_>) =
        (merged.into_iter()).partition(|item| rank(&wanted, item).is_some());
    patch.sort_by_key(|item| rank(&wanted, item));
    server.sort_by_key(|item| place(item).unwrap_or(usize::MAX));

    let mut all = Vec::with_capacity(patch.len() + server.len());
    let mut server = server.into_iter().peekable();
    for item in patch {
        if let Some(at) = place(&item) {
            while let Some(next) = server.next_if(|next| place(next).is_some_and(|it| it < at)) {
                all.push(next);
            }
        }
        all.push(item);
    }
    all.extend(server);
    Ok(all)
}

fn key_of<'a>(item: &'a Value, merge_key: &str, keyed: bool) -> &'a Value {
    if keyed {
        item.get(merge_key).unwrap_or(&Value::Null)
    } else {
        item
    }
}

fn ranks<'a>(items: &'a [Value], merge_key: &str, keyed: bool) -> HashMap<Scalar<'a>, usize> {
    let mut ranks = HashMap::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let name = Scalar::of(key_of(item, merge_key, keyed));
        ranks.entry(name).or_insert(at);
    }
    ranks
}
