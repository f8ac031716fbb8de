//! Arithmetic, order and membership.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Context, Function, Result};
use crate::ast::operator;
use crate::error::Error;
use crate::value::compare::{compare, equal, is_comparable};
use crate::value::{Blob, List, Str, Value};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        operator::ADD => add,
        "_-_" => subtract,
        "_*_" => multiply,
        "_/_" => divide,
        "_%_" => modulo,
        operator::NEGATE => negate,
        operator::NOT => not,
        "_<_" => |context, args| order(context, args, Ordering::is_lt),
        "_<=_" => |context, args| order(context, args, Ordering::is_le),
        "_>_" => |context, args| order(context, args, Ordering::is_gt),
        "_>=_" => |context, args| order(context, args, Ordering::is_ge),
        operator::IN => member,
        operator::NOT_STRICTLY_FALSE => |_, args| Ok(args[0].clone()),
        "size" => size,
        "type" => |_, args| Ok(Value::Type(Arc::new(args[0].type_of()))),
        "dyn" => |_, args| Ok(args[0].clone()),
        _ => return None,
    })
}

/// The error of an operator whose left side does not know it.
fn unknown(context: &Context) -> Error {
    Error::no_such_overload_of(context.name)
}

fn overflow() -> Error {
    Error::new("integer overflow")
}

fn unsigned_overflow() -> Error {
    Error::new("unsigned integer overflow")
}

fn duration_overflow() -> Error {
    Error::new("duration overflow")
}

fn add<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [a, b] = args else {
        return Err(context.mismatch(args));
    };
    Ok(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Value::Int(a.checked_add(*b).ok_or_else(overflow)?),
        (Value::Uint(a), Value::Uint(b)) => {
            Value::Uint(a.checked_add(*b).ok_or_else(unsigned_overflow)?)
        }
        (Value::Double(a), Value::Double(b)) => Value::Double(a + b),
        (Value::String(a), Value::String(b)) => {
            let mut text = String::with_capacity(a.len() + b.len());
            text.push_str(a);
            text.push_str(b);
            Value::String(Str::from(text))
        }
        (Value::Bytes(a), Value::Bytes(b)) => Value::Bytes(Blob::from([&**a, &**b].concat())),
        (Value::List(a), Value::List(b)) => Value::List(match a.schema() {
            Some(schema) => {
                context.work.take((a.len() + b.len()) as u64)?;
                schema.add(a, b, context.work)?
            }
            None => List::joined(a.clone(), b.clone()),
        }),
        (Value::Duration(a), Value::Duration(b)) => {
            Value::Duration(a.checked_add(*b).ok_or_else(duration_overflow)?)
        }
        (Value::Duration(a), Value::Timestamp(b)) | (Value::Timestamp(b), Value::Duration(a)) => {
            Value::Timestamp(b.add(*a)?)
        }
        (
            Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::List(_)
            | Value::Duration(_)
            | Value::Timestamp(_),
            _,
        ) => return Err(Error::no_such_overload()),
        _ => return Err(unknown(context)),
    })
}

fn subtract<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [a, b] = args else {
        return Err(context.mismatch(args));
    };
    Ok(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Value::Int(a.checked_sub(*b).ok_or_else(overflow)?),
        (Value::Uint(a), Value::Uint(b)) => {
            Value::Uint(a.checked_sub(*b).ok_or_else(unsigned_overflow)?)
        }
        (Value::Double(a), Value::Double(b)) => Value::Double(a - b),
        (Value::Duration(a), Value::Duration(b)) => {
            Value::Duration(a.checked_sub(*b).ok_or_else(duration_overflow)?)
        }
        (Value::Timestamp(a), Value::Duration(b)) => {
            let back = b.checked_neg().ok_or_else(duration_overflow)?;
            Value::Timestamp(a.add(back)?)
        }
        (Value::Timestamp(a), Value::Timestamp(b)) => Value::Duration(a.since(*b)?),
        (
            Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::Duration(_)
            | Value::Timestamp(_),
            _,
        ) => return Err(Error::no_such_overload()),
        _ => return Err(unknown(context)),
    })
}

fn multiply<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [a, b] = args else {
        return Err(context.mismatch(args));
    };
    Ok(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Value::Int(a.checked_mul(*b).ok_or_else(overflow)?),
        (Value::Uint(a), Value::Uint(b)) => {
            Value::Uint(a.checked_mul(*b).ok_or_else(unsigned_overflow)?)
        }
        (Value::Double(a), Value::Double(b)) => Value::Double(a * b),
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), _) => {
            return Err(Error::no_such_overload());
        }
        _ => return Err(unknown(context)),
    })
}

fn divide<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [a, b] = args else {
        return Err(context.mismatch(args));
    };
    Ok(match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            return Err(Error::new("division by zero"));
        }
        (Value::Int(a), Value::Int(b)) => Value::Int(a.checked_div(*b).ok_or_else(overflow)?),
        (Value::Uint(a), Value::Uint(b)) => Value::Uint(a / b),
        (Value::Double(a), Value::Double(b)) => Value::Double(a / b),
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), _) => {
            return Err(Error::no_such_overload());
        }
        _ => return Err(unknown(context)),
    })
}

fn modulo<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [a, b] = args else {
        return Err(context.mismatch(args));
    };
    Ok(match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            return Err(Error::new("modulus by zero"));
        }
        (Value::Int(a), Value::Int(b)) => Value::Int(a.checked_rem(*b).ok_or_else(overflow)?),
        (Value::Uint(a), Value::Uint(b)) => Value::Uint(a % b),
        (Value::Int(_) | Value::Uint(_), _) => return Err(Error::no_such_overload()),
        _ => return Err(unknown(context)),
    })
}

fn negate<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    Ok(match args {
        [Value::Int(it)] => Value::Int(it.checked_neg().ok_or_else(overflow)?),
        [Value::Double(it)] => Value::Double(-it),
        [Value::Duration(it)] => Value::Duration(it.checked_neg().ok_or_else(duration_overflow)?),
        [Value::Bool(_)] => return Err(Error::no_such_overload()),
        _ => return Err(unknown(context)),
    })
}

fn not<'a>(_: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args {
        [Value::Bool(it)] => Ok(Value::Bool(!it)),
        _ => Err(Error::no_such_overload()),
    }
}

fn order<'a>(
    context: &mut Context,
    args: &[Value<'a>],
    holds: fn(Ordering) -> bool,
) -> Result<Value<'a>> {
    let [a, b] = args else {
        return Err(context.mismatch(args));
    };
    if !is_comparable(a) {
        return Err(unknown(context));
    }
    compare(a, b).map(|it| Value::Bool(holds(it)))
}

fn member<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args {
        [value, Value::List(list)] => contains(context, list, value).map(Value::Bool),
        [key, Value::Map(map)] => match map.find(key) {
            Some(Err(error)) if !map.is_empty() || error.is_final() => Err(error),
            found => Ok(Value::Bool(found.is_some())),
        },
        _ => Err(Error::no_such_overload()),
    }
}

/// Whether a list has an element. An element that cannot be compared is an error if no other one is equal.
pub(super) fn contains(context: &mut Context, list: &List, value: &Value) -> Result<bool> {
    let mut failed = None;
    for item in list.iter() {
        match item.and_then(|it| equal(&it, value, context.work)) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(error) if error.is_final() => return Err(error),
            // A list of a Go struct only looks for what is equal.
            Err(_) if list.is_struct() => {}
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    failed.map_or(Ok(false), Err)
}

fn size<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args {
        [it @ (Value::String(_) | Value::Bytes(_) | Value::List(_) | Value::Map(_))] => {
            Ok(Value::Int(i64::try_from(it.size()).unwrap_or(i64::MAX)))
        }
        _ => Err(unknown(context)),
    }
}
