//! Values that may be missing.

use super::{Context, Function, Result};
use crate::error::Error;
use crate::value::Value;

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "optional.of" => |_, args| Ok(Value::some(args[0].clone())),
        "optional.ofNonZeroValue" => |_, args| {
            Ok(if args[0].is_zero() {
                Value::NONE
            } else {
                Value::some(args[0].clone())
            })
        },
        "optional.none" => |_, _| Ok(Value::NONE),
        "value" => |context, args| match args {
            [Value::Optional(Some(it))] => Ok((**it).clone()),
            [Value::Optional(None)] => Err(Error::new("optional.none() dereference")),
            _ => Err(context.mismatch(args)),
        },
        "hasValue" => |context, args| match args {
            [Value::Optional(it)] => Ok(Value::Bool(it.is_some())),
            _ => Err(context.mismatch(args)),
        },
        "first" => |context, args| end(context, args, |_| 0),
        "last" => |context, args| end(context, args, |length| length - 1),
        "optional.unwrap" | "unwrapOpt" => unwrap,
        _ => return None,
    })
}

fn end<'a>(context: &mut Context, args: &[Value<'a>], at: fn(usize) -> usize) -> Result<Value<'a>> {
    let [Value::List(list)] = args else {
        return Err(context.mismatch(args));
    };
    if list.is_empty() {
        return Ok(Value::NONE);
    }
    match list.get(at(list.len())) {
        Some(value) => value.map(Value::some),
        None => Ok(Value::NONE),
    }
}

fn unwrap<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [Value::List(list)] = args else {
        return Err(context.mismatch(args));
    };
    let mut items = Vec::new();
    for item in list.iter() {
        match item? {
            Value::Optional(it) => items.extend(it.map(|it| (*it).clone())),
            other => return Err(Error::new(format!("value {other} is not optional"))),
        }
    }
    Ok(Value::list(items))
}
