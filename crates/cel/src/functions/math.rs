//! The extension for mathematics.

use std::cmp::Ordering;

use super::{Context, Function, Result};
use crate::error::Error;
use crate::value::Value;
use crate::value::compare::compare;

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "math.@min" => |context, args| extremum(context, args, Ordering::Less),
        "math.@max" => |context, args| extremum(context, args, Ordering::Greater),
        "math.ceil" => |context, args| double(context, args, f64::ceil),
        "math.floor" => |context, args| double(context, args, f64::floor),
        "math.round" => |context, args| double(context, args, f64::round),
        "math.trunc" => |context, args| double(context, args, f64::trunc),
        "math.isInf" => |context, args| test(context, args, f64::is_infinite),
        "math.isNaN" => |context, args| test(context, args, f64::is_nan),
        "math.isFinite" => |context, args| test(context, args, f64::is_finite),
        "math.abs" => abs,
        "math.sign" => sign,
        "math.sqrt" => sqrt,
        "math.bitAnd" => |context, args| bits(context, args, |a, b| a & b),
        "math.bitOr" => |context, args| bits(context, args, |a, b| a | b),
        "math.bitXor" => |context, args| bits(context, args, |a, b| a ^ b),
        "math.bitNot" => |context, args| match args {
            [Value::Int(it)] => Ok(Value::Int(!it)),
            [Value::Uint(it)] => Ok(Value::Uint(!it)),
            _ => Err(context.mismatch(args)),
        },
        "math.bitShiftLeft" => |context, args| shift(context, args, true),
        "math.bitShiftRight" => |context, args| shift(context, args, false),
        _ => return None,
    })
}

fn extremum<'a>(context: &mut Context, args: &[Value<'a>], wanted: Ordering) -> Result<Value<'a>> {
    let items = match args {
        [Value::List(list)] => list.values()?,
        _ => args.to_vec(),
    };
    let mut best: Option<Value<'a>> = None;
    for it in items {
        if !matches!(it, Value::Int(_) | Value::Uint(_) | Value::Double(_)) {
            return Err(context.mismatch(args));
        }
        let better = match &best {
            Some(best) => compare(&it, best)? == wanted,
            None => true,
        };
        if better {
            best = Some(it);
        }
    }
    best.ok_or_else(|| {
        let name = if wanted == Ordering::Less {
            "math.@min"
        } else {
            "math.@max"
        };
        Error::new(format!("{name}(list) argument must not be empty"))
    })
}

fn double<'a>(context: &mut Context, args: &[Value<'a>], of: fn(f64) -> f64) -> Result<Value<'a>> {
    match args {
        [Value::Double(it)] => Ok(Value::Double(of(*it))),
        _ => Err(context.mismatch(args)),
    }
}

fn test<'a>(context: &mut Context, args: &[Value<'a>], of: fn(f64) -> bool) -> Result<Value<'a>> {
    match args {
        [Value::Double(it)] => Ok(Value::Bool(of(*it))),
        _ => Err(context.mismatch(args)),
    }
}

fn abs<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args {
        [Value::Double(it)] => Ok(Value::Double(it.abs())),
        [Value::Int(it)] => it
            .checked_abs()
            .map(Value::Int)
            .ok_or_else(|| Error::new("integer overflow")),
        [Value::Uint(it)] => Ok(Value::Uint(*it)),
        _ => Err(context.mismatch(args)),
    }
}

fn sign<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args {
        [Value::Double(it)] if it.is_nan() || *it == 0.0 => Ok(Value::Double(*it)),
        [Value::Double(it)] => Ok(Value::Double(it.signum())),
        [Value::Int(it)] => Ok(Value::Int(it.signum())),
        [Value::Uint(it)] => Ok(Value::Uint(u64::from(*it > 0))),
        _ => Err(context.mismatch(args)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "what a double can hold")]
fn sqrt<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args {
        [Value::Double(it)] => Ok(Value::Double(it.sqrt())),
        [Value::Int(it)] => Ok(Value::Double((*it as f64).sqrt())),
        [Value::Uint(it)] => Ok(Value::Double((*it as f64).sqrt())),
        _ => Err(context.mismatch(args)),
    }
}

fn bits<'a>(
    context: &mut Context,
    args: &[Value<'a>],
    of: fn(u64, u64) -> u64,
) -> Result<Value<'a>> {
    match args {
        [Value::Int(a), Value::Int(b)] => Ok(Value::Int(
            of(a.cast_unsigned(), b.cast_unsigned()).cast_signed(),
        )),
        [Value::Uint(a), Value::Uint(b)] => Ok(Value::Uint(of(*a, *b))),
        _ => Err(context.mismatch(args)),
    }
}

fn shift<'a>(context: &mut Context, args: &[Value<'a>], left: bool) -> Result<Value<'a>> {
    let by = match args {
        [_, Value::Int(by)] if *by < 0 => {
            let name = if left {
                "math.bitShiftLeft"
            } else {
                "math.bitShiftRight"
            };
            return Err(Error::new(format!("{name}() negative offset: {by}")));
        }
        [_, Value::Int(by)] => u32::try_from(*by).unwrap_or(u32::MAX),
        _ => return Err(context.mismatch(args)),
    };
    let moved = |it: u64| {
        let result = if left {
            it.checked_shl(by)
        } else {
            it.checked_shr(by)
        };
        result.unwrap_or(0)
    };
    match &args[0] {
        Value::Int(it) => Ok(Value::Int(moved(it.cast_unsigned()).cast_signed())),
        Value::Uint(it) => Ok(Value::Uint(moved(*it))),
        _ => Err(context.mismatch(args)),
    }
}
