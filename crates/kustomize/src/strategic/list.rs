//! Lists whose items have keys.

use super::directive::{Directive, directive};
use super::{Walked, Walker, is_missing, set_key};
use crate::error::Result;
use crate::node::{Data, Kind, Node};
use crate::schema::Place;

type Values = Vec<String>;

impl<'a> Walker<'a> {
    pub(super) fn walk_list(
        &self,
        dest: Option<Node>,
        patch: Option<Node>,
        keys: &[String],
        item: Option<Place<'a>>,
    ) -> Result<Walked> {
        if is_missing(dest.as_ref()) {
            return match patch {
                Some(patch) => self.merge_lists(patch, None, keys, item),
                None => Ok(Walked::default()),
            };
        }
        let Some(mut dest) = dest else {
            return Ok(Walked::default());
        };
        let mut patch = match patch {
            Some(patch) if patch.is_null() => return Ok(Walked::default()),
            patch => patch,
        };
        if let Some(patch) = &patch {
            dest.take_comments_of(patch);
        }
        let found = patch.as_mut().map_or(Ok(Directive::Merge), directive)?;
        match (found, patch) {
            (Directive::Delete, _) => Ok(Walked::default()),
            (Directive::Replace, Some(patch)) => self.merge_lists(patch, None, keys, item),
            (_, patch) => {
                let patch = patch.as_ref().map_or(&[][..], Node::items);
                self.merge_lists(dest, Some(patch), keys, item)
            }
        }
    }

    pub(super) fn normalize_list(
        &self,
        mut node: Node,
        keys: &[String],
        item: Option<Place<'a>>,
    ) -> Result<Option<Node>> {
        if directive(&mut node)? == Directive::Delete {
            return Ok(None);
        }
        Ok(self.merge_lists(node, None, keys, item)?.node)
    }

    /// What has items comes out as a new list, which knows nothing of where the old one stood.
    fn merge_lists(
        &self,
        mut dest: Node,
        patch: Option<&[Node]>,
        keys: &[String],
        item: Option<Place<'a>>,
    ) -> Result<Walked> {
        let Data::Seq(items) = &mut dest.data else {
            return Ok(Walked::own(Some(dest)));
        };
        if !self.merge_items(items, patch, keys, item)? {
            return Ok(Walked::own(Some(dest)));
        }
        let items = std::mem::take(items);
        Ok(Walked::made(Node::seq(items)))
    }

    /// Without a patch, the list is merged with itself. Says whether there was anything to merge.
    fn merge_items(
        &self,
        dest: &mut Vec<Node>,
        patch: Option<&[Node]>,
        keys: &[String],
        place: Option<Place<'a>>,
    ) -> Result<bool> {
        let primitive = vec![String::new()];
        let keys = if keys.is_empty() { &primitive } else { keys };
        // Items of the patch come first.
        let mut all: Vec<Values> = Vec::new();
        for item in patch.unwrap_or_default().iter().chain(dest.iter()) {
            let values = values_of(item, keys);
            if !all.contains(&values) {
                all.push(values);
            }
        }
        if keys.len() > 1 {
            merge_values(&mut all);
        }
        let mut items = Vec::new();
        let mut valid_keys = Vec::new();
        for values in &all {
            let (some_keys, some_values) = validate(&all, values, keys);
            let (by, with) = validate(std::slice::from_ref(&some_values), &some_values, &some_keys);
            let at = position(dest, &by, &with);
            let own = at.map(|at| dest[at].clone());
            let walked = match patch {
                Some(patch) => {
                    let other = position(patch, &by, &with).map(|at| patch[at].clone());
                    self.walk(own, other, place)?
                }
                None => match own {
                    Some(own) => Walked::own(self.normalize(own, place)?),
                    None => Walked::default(),
                },
            };
            valid_keys.clone_from(&some_keys);
            let Some(mut node) = walked.node.filter(|node| !node.is_empty_map()) else {
                set_element(dest, None, &some_keys, &some_values)?;
                continue;
            };
            for (key, value) in some_keys.iter().zip(&some_values) {
                if !key.is_empty() && node.get(key).is_none() && !value.is_empty() {
                    set_key(&mut node, key, value);
                }
            }
            if let (Some(at), true) = (at, walked.in_place) {
                dest[at] = node.clone();
            }
            set_element(&mut items, Some(node), &some_keys, &some_values)?;
        }
        if !all.is_empty() {
            append_items(&mut items, dest, &valid_keys)?;
            *dest = items;
        }
        Ok(!all.is_empty())
    }
}

fn values_of(item: &Node, keys: &[String]) -> Values {
    if keys.first().is_some_and(String::is_empty) {
        return vec![item.raw().to_string()];
    }
    let value = |key: &String| {
        let found = item.get(key).filter(|it| !it.is_empty());
        found.map_or_else(String::new, |it| it.raw().to_string())
    };
    keys.iter().map(value).collect()
}

/// Fills in what one of two otherwise equal rows lacks.
fn merge_values(all: &mut [Values]) {
    for i in 0..all.len() {
        let first = all[i].clone();
        for j in 0..all.len() {
            if let Some(values) = fill(&first, &all[j]) {
                all[i].clone_from(&values);
                all[j] = values;
            }
        }
    }
}

fn fill(a: &Values, b: &Values) -> Option<Values> {
    let mut common = false;
    let mut filled = Vec::with_capacity(a.len());
    for (x, y) in a.iter().zip(b) {
        if x == y {
            common = true;
        } else if !x.is_empty() && !y.is_empty() {
            return None;
        }
        filled.push(if x.is_empty() { y.clone() } else { x.clone() });
    }
    common.then_some(filled)
}

/// The keys that have a value in any row, and the values of one row for them.
fn validate(all: &[Values], values: &Values, keys: &[String]) -> (Vec<String>, Values) {
    let valid: Vec<bool> = (0..keys.len())
        .map(|at| {
            all.iter()
                .any(|row| row.get(at).is_some_and(|it| !it.is_empty()))
        })
        .collect();
    if !valid.contains(&true) {
        return (keys.to_vec(), values.clone());
    }
    let pick = |from: &[String]| {
        let pairs = from.iter().zip(&valid);
        pairs
            .filter(|(_, valid)| **valid)
            .map(|(it, _)| it.clone())
            .collect()
    };
    (pick(keys), pick(values))
}

fn position(items: &[Node], keys: &[String], values: &[String]) -> Option<usize> {
    items.iter().position(|item| {
        if keys.first().is_none_or(String::is_empty) {
            return item.raw().as_str() == values.first().map_or("", String::as_str);
        }
        item.kind() == Kind::Map
            && keys
                .iter()
                .zip(values)
                .all(|(key, value)| item.get(key).is_some_and(|it| it.raw().as_str() == value))
    })
}

/// Appends the items of one list to another, where they replace those with the same keys.
fn append_items(to: &mut Vec<Node>, from: &mut Vec<Node>, keys: &[String]) -> Result<()> {
    for item in std::mem::take(from) {
        if keys.first().is_none_or(String::is_empty) {
            let value = item.raw().to_string();
            set_element(to, Some(item), &[String::new()], &[value])?;
            continue;
        }
        let mut values = Vec::new();
        for key in keys {
            match item.field(key)? {
                Some(value) => values.push(value.raw().to_string()),
                None => to.push(item.clone()),
            }
        }
        if keys.len() > 1 {
            set_element(to, None, keys, &values)?;
        }
        set_element(to, Some(item), keys, &values)?;
    }
    Ok(())
}

/// kyaml's `ElementSetter`: replaces the items that match, or appends; without an element, removes them.
pub(super) fn set_element(
    items: &mut Vec<Node>,
    element: Option<Node>,
    keys: &[String],
    values: &[String],
) -> Result<()> {
    let for_maps = keys.first().is_some_and(|key| !key.is_empty())
        && values.first().is_some_and(|value| !value.is_empty());
    let mut matched = false;
    let mut kept = Vec::with_capacity(items.len() + 1);
    for item in items.drain(..) {
        if item.is_empty_map() {
            continue;
        }
        if item.kind() != Kind::Map && for_maps {
            kept.push(item);
            continue;
        }
        if !matches(&item, keys, values)? {
            if !values.is_empty() {
                kept.push(item);
            }
            continue;
        }
        matched = true;
        if let Some(element) = &element {
            kept.push(element.clone());
        }
    }
    *items = kept;
    if let Some(element) = element
        && !element.is_null()
        && !matched
    {
        items.push(element);
    }
    Ok(())
}

fn matches(item: &Node, keys: &[String], values: &[String]) -> Result<bool> {
    let mut found = false;
    for (at, key) in keys.iter().enumerate() {
        // Beyond the values, what was found before counts.
        if let Some(value) = values.get(at) {
            found = if key.is_empty() {
                item.expect(Kind::Scalar)?;
                item.value() == value
            } else {
                let field = item.field(key)?;
                field.is_some_and(|it| value.is_empty() || it.raw().as_str() == value)
            };
        }
        if !found {
            return Ok(false);
        }
    }
    Ok(found)
}
