//! Functions of lists, sets and maps.

use std::cmp::Ordering;

use super::{Context, Function, Result, operators};
use crate::error::Error;
use crate::value::compare::{compare, equal, is_comparable};
use crate::value::map::Entries;
use crate::value::{List, Map, Str, Value};

/// `lists.range` makes no longer lists.
const MAX_RANGE: i64 = 1_000_000;

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "isSorted" => is_sorted,
        "sum" => sum,
        "min" => |context, args| extremum(context, args, Ordering::Greater),
        "max" => |context, args| extremum(context, args, Ordering::Less),
        "includes" => includes,
        "slice" => slice,
        "flatten" => flatten,
        "sort" => |context, args| match args {
            [Value::List(list)] => sort(context, list, list),
            _ => Err(Error::no_such_overload_of(context.name)),
        },
        "@sortByAssociatedKeys" => |context, args| match args {
            [Value::List(list), Value::List(keys)] => sort(context, list, keys),
            _ => Err(Error::no_such_overload_of(context.name)),
        },
        "lists.range" => range,
        "reverse" => reverse,
        "distinct" => distinct,
        "sets.contains" => |context, args| sets(context, args, all),
        "sets.equivalent" => |context, args| {
            sets(context, args, |context, a, b| {
                Ok(all(context, a, b)? && all(context, b, a)?)
            })
        },
        "sets.intersects" => |context, args| sets(context, args, any),
        "cel.@mapInsert" => insert,
        _ => return None,
    })
}

fn is_sorted<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [Value::List(list)] = args else {
        return Err(context.mismatch(args));
    };
    let mut before: Option<Value> = None;
    for it in list.iter() {
        let it = it?;
        if !is_comparable(&it) {
            return Err(Error::no_such_overload());
        }
        if let Some(before) = &before
            && compare(before, &it).is_ok_and(Ordering::is_gt)
        {
            return Ok(Value::Bool(false));
        }
        before = Some(it);
    }
    Ok(Value::Bool(true))
}

fn sum<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [Value::List(list)] = args else {
        return Err(context.mismatch(args));
    };
    let add = operators::find("_+_").ok_or_else(Error::no_such_overload)?;
    let mut total: Option<Value> = None;
    for it in list.iter() {
        let it = it?;
        total = Some(match total {
            None if matches!(
                it,
                Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::Duration(_)
            ) =>
            {
                it
            }
            None => return Err(Error::no_such_overload()),
            Some(total) => add(context, &[total, it])?,
        });
    }
    Ok(total.unwrap_or(match context.overload {
        "list_uint_sum_uint" => Value::Uint(0),
        "list_double_sum_double" => Value::Double(0.0),
        "list_duration_sum_duration" => Value::Duration(0),
        _ => Value::Int(0),
    }))
}

fn extremum<'a>(
    context: &mut Context,
    args: &[Value<'a>],
    replaced: Ordering,
) -> Result<Value<'a>> {
    let [Value::List(list)] = args else {
        return Err(context.mismatch(args));
    };
    let mut best: Option<Value> = None;
    for it in list.iter() {
        let it = it?;
        if !is_comparable(&it) {
            return Err(Error::no_such_overload());
        }
        best = Some(match best {
            Some(best) if compare(&best, &it).is_ok_and(|it| it == replaced) => it,
            Some(best) => best,
            None => it,
        });
    }
    best.ok_or_else(|| Error::new(format!("{} called on empty list", context.name)))
}

/// Where an element is, from the begin or from the end.
pub(super) fn position<'a>(
    context: &mut Context,
    list: &List<'a>,
    item: &Value<'a>,
    last: bool,
) -> Value<'a> {
    let mut found = -1;
    for (index, it) in list.iter().enumerate() {
        if matches!(it.and_then(|it| equal(&it, item, context.work)), Ok(true)) {
            found = i64::try_from(index).unwrap_or(i64::MAX);
            if !last {
                break;
            }
        }
    }
    Value::Int(found)
}

fn includes<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [target, item] = args else {
        return Err(context.mismatch(args));
    };
    let Value::List(list) = target else {
        let same = equal(target, item, context.work);
        return Ok(Value::Bool(matches!(same, Ok(true))));
    };
    for it in list.iter() {
        if matches!(it.and_then(|it| equal(&it, item, context.work)), Ok(true)) {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn slice<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [Value::List(list), Value::Int(start), Value::Int(end)] = args else {
        return Err(context.mismatch(args));
    };
    let what = format!("cannot slice({start}, {end})");
    let (Ok(from), Ok(to)) = (usize::try_from(*start), usize::try_from(*end)) else {
        return Err(Error::new(format!(
            "{what}, negative indexes not supported"
        )));
    };
    if from > to {
        return Err(Error::new(format!(
            "{what}, start index must be less than or equal to end index"
        )));
    }
    if to > list.len() {
        return Err(Error::new(format!("{what}, list is length {}", list.len())));
    }
    context.work.take(to as u64)?;
    let items: Result<Vec<Value>> = list.iter().take(to).skip(from).collect();
    items.map(Value::list)
}

fn flatten<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let (list, depth) = match args {
        [Value::List(list)] => (list, 1),
        [Value::List(list), Value::Int(depth)] => (list, *depth),
        [other] => {
            let call = format_args!("{}.flatten()", full_type(other));
            return Err(Error::no_such_overload_of(call));
        }
        [Value::List(_), other] => {
            return Err(Error::internal(format_args!(
                "interface conversion: ref.Val is {}, not types.Int",
                other.go_type()
            )));
        }
        [target, arg] => {
            let call = format_args!("{}.flatten({})", full_type(target), full_type(arg));
            return Err(Error::no_such_overload_of(call));
        }
        _ => return Err(context.mismatch(args)),
    };
    let depth = u64::try_from(depth).map_err(|_| Error::new("level must be non-negative"))?;
    let mut out = Vec::new();
    flat(context, list, depth, &mut out)?;
    Ok(Value::list(out))
}

fn full_type(of: &Value) -> String {
    of.type_of().to_string()
}

fn flat<'a>(
    context: &mut Context,
    list: &List<'a>,
    depth: u64,
    out: &mut Vec<Value<'a>>,
) -> Result<()> {
    // Its cost does not count what is in the lists.
    context.work.take(4 * list.len() as u64)?;
    for it in list.iter() {
        match it? {
            Value::List(inner) if depth > 0 => flat(context, &inner, depth - 1, out)?,
            other => out.push(other),
        }
    }
    Ok(())
}

fn sort<'a>(context: &mut Context, list: &List<'a>, keys: &List<'a>) -> Result<Value<'a>> {
    if list.len() != keys.len() {
        return Err(Error::new(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} elements respectively",
            list.len(),
            keys.len()
        )));
    }
    if list.is_empty() {
        return Ok(Value::List(list.clone()));
    }
    context.work.take(list.len() as u64)?;
    let keys = keys.values()?;
    if !is_comparable(&keys[0]) {
        return Err(Error::new("list elements must be comparable"));
    }
    if keys
        .iter()
        .any(|it| std::mem::discriminant(it) != std::mem::discriminant(&keys[0]))
    {
        return Err(Error::new("list elements must have the same type"));
    }
    let mut pairs: Vec<(Value, Value)> = keys.into_iter().zip(list.values()?).collect();
    pairs.sort_by(|a, b| compare(&a.0, &b.0).unwrap_or(Ordering::Equal));
    Ok(Value::list(pairs.into_iter().map(|it| it.1).collect()))
}

fn range<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [Value::Int(count)] = args else {
        return Err(context.mismatch(args));
    };
    if *count < 0 {
        return Err(Error::new(format!(
            "lists.range: size must be non-negative, got {count}"
        )));
    }
    if *count > MAX_RANGE {
        return Err(Error::new(format!(
            "lists.range: size {count} exceeds maximum allowed ({MAX_RANGE})"
        )));
    }
    context.work.take(count.unsigned_abs())?;
    Ok(Value::list((0..*count).map(Value::Int).collect()))
}

fn reverse<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args {
        [Value::List(list)] => {
            context.work.take(list.len() as u64)?;
            let mut items = list.values()?;
            items.reverse();
            Ok(Value::list(items))
        }
        [Value::String(it)] => Ok(Value::String(Str::from(
            it.chars().rev().collect::<String>(),
        ))),
        _ => Err(context.mismatch(args)),
    }
}

fn distinct<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [Value::List(list)] = args else {
        return Err(context.mismatch(args));
    };
    let mut seen: Vec<Value> = Vec::new();
    for it in list.iter() {
        let it = it?;
        context.work.take(seen.len() as u64)?;
        let mut known = false;
        for other in &seen {
            if matches!(equal(&it, other, context.work), Ok(true)) {
                known = true;
                break;
            }
        }
        if !known {
            seen.push(it);
        }
    }
    Ok(Value::list(seen))
}

fn sets<'a>(
    context: &mut Context,
    args: &[Value<'a>],
    of: fn(&mut Context, &List, &List) -> Result<bool>,
) -> Result<Value<'a>> {
    match args {
        [Value::List(a), Value::List(b)] => of(context, a, b).map(Value::Bool),
        _ => Err(context.mismatch(args)),
    }
}

/// Whether the first has all of the second.
fn all(context: &mut Context, a: &List, b: &List) -> Result<bool> {
    for it in b.iter() {
        if !operators::contains(context, a, &it?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn any(context: &mut Context, a: &List, b: &List) -> Result<bool> {
    for it in a.iter() {
        if matches!(operators::contains(context, b, &it?), Ok(true)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn insert<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let mut entries = Entries::default();
    let more: Vec<(Value, Result<Value>)> = match args {
        [Value::Map(_), Value::Map(more)] => more.pairs(),
        [Value::Map(_), key, value] => vec![(key.clone(), Ok(value.clone()))],
        _ => return Err(context.mismatch(args)),
    };
    let Value::Map(map) = &args[0] else {
        return Err(context.mismatch(args));
    };
    for (key, value) in map.pairs() {
        entries.insert(key, value?);
    }
    for (key, value) in more {
        let text = key.to_string();
        if entries.insert(key, value?) {
            return Err(Error::new(format!(
                "insert failed: key {text} already exists"
            )));
        }
    }
    Ok(Value::Map(Map::from(entries)))
}
