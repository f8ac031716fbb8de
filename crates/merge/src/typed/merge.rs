//! An object with a partial one laid over it, in place: what the partial one does not name is not touched. Hot path.

use std::collections::HashMap;

use json::{Object, Value};

use super::compare::scalar_fits;
use super::list::Index;
use super::{Atom, Errors, List, ListKind, Map, Type};
use crate::fieldpath::Element;

impl Type<'_> {
    /// Removes nothing. Leaves of `right` win; items of lists stand in its order where it has them. After an error
    /// `left` is of no use.
    pub fn merge(self, left: &mut Value, right: &Value) -> Result<(), Errors> {
        let (l, r) = (self.atom_for(Some(left)), self.atom_for(Some(right)));
        if !l.same(&r) {
            // For its errors only: where kinds differ, the right stands.
            l.merge(&mut left.clone(), right)?;
        }
        r.merge(left, right)
    }
}

impl Atom<'_> {
    fn merge(&self, left: &mut Value, right: &Value) -> Result<(), Errors> {
        match self {
            Atom { map: Some(map), .. } => merge_map(*map, left, right),
            Atom {
                scalar: Some(scalar),
                ..
            } => {
                scalar_fits(*scalar, Some(left), Some(right))?;
                left.clone_from(right);
                Ok(())
            }
            Atom {
                list: Some(list), ..
            } => merge_list(*list, left, right),
            _ => Err(Errors::new("schema error: invalid atom: inlined")),
        }
    }
}

fn merge_map(map: Map, left: &mut Value, right: &Value) -> Result<(), Errors> {
    let (l, r) = match (&mut *left, right) {
        (Value::Object(l), Value::Object(r)) if !map.atomic && !l.is_empty() => (l, r),
        // An empty or null map does not take away what is in a granular one.
        (Value::Object(l), _) if !map.atomic && !l.is_empty() => return Ok(()),
        _ => {
            left.clone_from(right);
            return Ok(());
        }
    };
    let mut errors = Errors::default();
    let mut field = |key: &str, left: &mut Value, right: &Value| {
        if let Err(wrong) = map.ty.field(key).0.merge(left, right) {
            errors.add(wrong.below(Element::field(key)));
        }
    };
    merge_objects(l, r, &mut field);
    errors.result()
}

fn merge_objects(
    left: &mut Object,
    right: &Object,
    field: &mut impl FnMut(&str, &mut Value, &Value),
) {
    const SMALL: usize = 32;
    if left.len() <= SMALL || right.len() <= SMALL {
        for (key, value) in right.iter() {
            match left.get_mut(key) {
                Some(there) => field(key, there, value),
                None => left.push(key.clone(), value.clone()),
            }
        }
        return;
    }
    let mut rest: HashMap<&str, &Value> = right.iter().map(|(key, it)| (&**key, it)).collect();
    for (key, there) in left.iter_mut() {
        if let Some(value) = rest.remove(key.as_str()) {
            field(key, there, value);
        }
    }
    for (key, value) in right.iter() {
        if rest.contains_key(key.as_str()) {
            left.push(key.clone(), value.clone());
        }
    }
}

fn merge_list(list: List, left: &mut Value, right: &Value) -> Result<(), Errors> {
    let granular = !matches!(list.kind, ListKind::Atomic);
    let (l, r) = match (&mut *left, right) {
        (Value::Array(l), Value::Array(r)) if granular && !l.is_empty() && !r.is_empty() => (l, r),
        (Value::Array(l), Value::Array(_) | Value::Null) if granular && !l.is_empty() => {
            return Ok(());
        }
        _ => {
            left.clone_from(right);
            return Ok(());
        }
    };
    let mut errors = Errors::default();
    let steps = {
        let rights = elements(list, r, &mut errors);
        let lefts = elements(list, l, &mut errors);
        errors.result()?;
        let (lefts, rights) = (Index::new(lefts), Index::new(rights));
        if let Some(at) = rights.repeated().min() {
            let element = &rights.elements[at];
            return Err(Errors::new(format!("duplicate entries for key {element}")));
        }
        interleave(&lefts, &rights)
    };
    let mut errors = Errors::default();
    let mut out = Vec::with_capacity(steps.len());
    for step in steps {
        let (mut item, from) = match step {
            Step::Keep(at) => {
                out.push(l[at].take());
                continue;
            }
            Step::Add(from) => {
                out.push(r[from].clone());
                continue;
            }
            Step::Merge(at, from) => (l[at].take(), from),
            // What came twice is replaced, not merged with.
            Step::Replace(from) => (Value::Null, from),
        };
        if let Err(wrong) = list.items.merge(&mut item, &r[from])
            && let Ok(element) = list.element(&r[from])
        {
            errors.add(wrong.below(element));
        }
        out.push(item);
    }
    *l = out;
    errors.result()
}

fn elements<'v>(list: List<'v>, items: &'v [Value], errors: &mut Errors) -> Vec<Element<'v>> {
    let mut elements = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        match list.element(item) {
            Ok(element) => elements.push(element),
            Err(why) => errors.add(Errors::new(format!("element {at}: {why}"))),
        }
    }
    elements
}

/// Where an item of the merged list comes from.
enum Step {
    Keep(usize),
    Add(usize),
    Merge(usize, usize),
    Replace(usize),
}

/// Walks both lists at once. Items that both have come in the order of the right; an item that only the left has stays
/// behind the one it stood behind.
fn interleave(lefts: &Index, rights: &Index) -> Vec<Step> {
    let (l, r) = (lefts.elements.len(), rights.elements.len());
    let mut steps = Vec::with_capacity(l.max(r));
    let step = |at: usize| match lefts.find(&rights.elements[at]) {
        [] => Step::Add(at),
        &[before] => Step::Merge(before, at),
        _ => Step::Replace(at),
    };
    let there: Vec<Option<usize>> = (lefts.elements.iter())
        .map(|element| rights.find(element).first().copied())
        .collect();
    let mut merged = vec![false; r];
    // The items that both have and that are still to come.
    let mut shared = (0..r)
        .filter(|at| !lefts.find(&rights.elements[*at]).is_empty())
        .peekable();
    let (mut i, mut j) = (0, 0);
    while i < l || j < r {
        if i < l {
            if j < r {
                if there[i] == Some(j) {
                    merged[j] = true;
                    steps.push(step(j));
                    i += 1;
                    j += 1;
                    shared.next();
                    continue;
                }
                if there[i].is_some() && shared.peek().is_some_and(|it| Some(*it) != there[i]) {
                    // Shared, but not the one that comes next.
                    i += 1;
                    continue;
                }
            }
            match there[i] {
                None => {
                    steps.push(Step::Keep(i));
                    i += 1;
                    continue;
                }
                Some(there) if merged[there] => i += 1,
                Some(_) => {}
            }
        }
        if j < r {
            merged[j] = true;
            steps.push(step(j));
            j += 1;
        }
    }
    steps
}
