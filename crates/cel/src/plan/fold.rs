//! What is computed when a program is made.

use super::{Call, Ix, Node};
use crate::env::Options;
use crate::error::Error;
use crate::functions::{self, Context};
use crate::value::compare::Work;
use crate::value::map::Entries;
use crate::value::{List, Map, Value};

type Constant<'n> = Option<&'n Result<Value<'static>, Error>>;

fn constant(nodes: &[Node], ix: Ix) -> Constant<'_> {
    match &nodes[ix as usize] {
        Node::Const { value, .. } => Some(value),
        _ => None,
    }
}

/// A list or a map of constants is a constant.
pub(super) fn aggregate(nodes: &[Node], node: Node) -> Node {
    let value = match &node {
        Node::List { elements, .. } => list(nodes, elements),
        Node::Map { entries, .. } => map(nodes, entries),
        _ => None,
    };
    match value {
        Some(value) => Node::Const {
            id: node.id(),
            value,
        },
        None => node,
    }
}

fn list(nodes: &[Node], elements: &[(Ix, bool)]) -> Option<Result<Value<'static>, Error>> {
    let mut items = Vec::with_capacity(elements.len());
    for (ix, optional) in elements {
        let value = match constant(nodes, *ix)? {
            Ok(value) => value.clone(),
            Err(error) => return Some(Err(error.clone())),
        };
        match (optional, value) {
            (false, value) => items.push(value),
            (true, value) => return Some(Err(functions::not_optional_element(&value))),
        }
    }
    Some(Ok(Value::list(items)))
}

fn map(nodes: &[Node], entries: &[(Ix, Ix, bool)]) -> Option<Result<Value<'static>, Error>> {
    let mut all = Entries::default();
    for (key, value, optional) in entries {
        let (key, value) = match (constant(nodes, *key)?, constant(nodes, *value)?) {
            (Ok(key), Ok(value)) => (key.clone(), value.clone()),
            (Err(error), _) | (_, Err(error)) => return Some(Err(error.clone())),
        };
        if *optional {
            return Some(Err(functions::not_optional_entry(&key, &value)));
        }
        all.insert(key, value);
    }
    Some(Ok(Value::Map(Map::from(all))))
}

/// `x in [...]` with constants of simple types looks `x` up in a set.
pub(super) fn membership(nodes: &[Node], call: &Call) -> Option<Node> {
    let [arg, list] = &call.args[..] else {
        return None;
    };
    let Some(Ok(Value::List(List::Values(items)))) = constant(nodes, *list) else {
        return None;
    };
    if items.is_empty() {
        return Some(Node::Const {
            id: call.id,
            value: Ok(Value::Bool(false)),
        });
    }
    let mut set = Entries::default();
    for item in items.iter() {
        if !matches!(
            item,
            Value::Bool(_)
                | Value::Int(_)
                | Value::Uint(_)
                | Value::Double(_)
                | Value::String(_)
                | Value::Null
        ) {
            return None;
        }
        set.insert(item.clone(), Value::Bool(true));
        for same in same_numbers(item).into_iter().flatten() {
            set.insert(same, Value::Bool(true));
        }
    }
    Some(Node::InSet {
        id: call.id,
        arg: *arg,
        set: Value::Map(Map::from(set)),
    })
}

/// A number in the other types it can be compared with.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "checked by going back"
)]
fn same_numbers(of: &Value) -> [Option<Value<'static>>; 2] {
    match of {
        Value::Double(it) => [
            (*it as i64 as f64 == *it).then_some(Value::Int(*it as i64)),
            (*it as u64 as f64 == *it).then_some(Value::Uint(*it as u64)),
        ],
        Value::Int(it) => [
            Some(Value::Double(*it as f64)),
            u64::try_from(*it).ok().map(Value::Uint),
        ],
        Value::Uint(it) => [
            Some(Value::Double(*it as f64)),
            i64::try_from(*it).ok().map(Value::Int),
        ],
        _ => [None, None],
    }
}

/// A conversion of a constant, such as `int('12')`.
pub(super) fn conversion(
    nodes: &[Node],
    call: &Call,
    options: &Options,
) -> Option<Result<Value<'static>, Error>> {
    let [arg] = &call.args[..] else {
        return None;
    };
    let value = match constant(nodes, *arg)? {
        Ok(value) => value.clone(),
        Err(error) => return Some(Err(error.clone())),
    };
    let mut work = Work(1 << 20);
    let mut context = Context {
        work: &mut work,
        name: &call.name,
        overload: &call.overload,
        regex: None,
        strings: options.strings,
    };
    Some((call.function)(&mut context, &[value]))
}
