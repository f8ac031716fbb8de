//! Equality and order of values. Numbers compare as numbers, whatever their types.

use std::cmp::Ordering;

use super::{List, Map, Opaque, Origin, Value};
use crate::error::Error;
use crate::schema::ListKind;

/// How much may be done that costs nothing, or more than it costs: lists and their elements are counted, and at some point
/// there is no answer. As much as there is takes less than 50 ms and 64 MiB (`bench/cel hostile`).
#[derive(Debug)]
pub(crate) struct Work(pub(crate) u64);

impl Work {
    pub(crate) fn take(&mut self, count: u64) -> Result<(), Error> {
        match self.0.checked_sub(count) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(Error::cost_limit()),
        }
    }
}

#[expect(clippy::match_same_arms, reason = "one arm per type")]
pub(crate) fn equal(a: &Value, b: &Value, work: &mut Work) -> Result<bool, Error> {
    Ok(match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::String(a), Value::String(b)) => **a == **b,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (
            Value::Int(_) | Value::Uint(_) | Value::Double(_),
            Value::Int(_) | Value::Uint(_) | Value::Double(_),
        ) => number(a, b) == Some(Ordering::Equal),
        (Value::Bytes(a), Value::Bytes(b)) => **a == **b,
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b) == Ordering::Equal,
        (Value::List(a), Value::List(b)) => lists(a, b, work)?,
        (Value::List(a), _) if a.is_typed() => return Err(Error::no_such_overload()),
        (Value::Map(a), Value::Map(b)) => maps(a, b, work)?,
        (Value::Map(Map::Json(_, Origin::Schema(_) | Origin::Struct)), _) => {
            return Err(Error::no_such_overload());
        }
        (Value::Type(a), Value::Type(b)) => a.name() == b.name(),
        (Value::Optional(None), Value::Optional(None)) => true,
        (Value::Optional(Some(a)), Value::Optional(Some(b))) => equal(a, b, work)?,
        (Value::Opaque(Opaque::Authz(_)), _) => return Err(Error::no_such_overload()),
        (Value::Opaque(a), Value::Opaque(b)) => a == b,
        (Value::Struct(a), Value::Struct(b)) => {
            if a.name != b.name || a.fields.len() != b.fields.len() {
                return Ok(false);
            }
            for (name, value) in &a.fields {
                match b.field(name) {
                    Some(other) if equal(value, other, work)? => {}
                    _ => return Ok(false),
                }
            }
            true
        }
        (Value::Unknown(a), Value::Unknown(b)) => a == b,
        _ => false,
    })
}

fn lists(a: &List, b: &List, work: &mut Work) -> Result<bool, Error> {
    if a.len() != b.len() {
        return Ok(false);
    }
    work.take(4 + a.len() as u64 / 8)?;
    match a.schema().map(crate::schema::Schema::list_kind) {
        Some(ListKind::Set) => return sets(a, b, work),
        Some(ListKind::Map) => return keyed(a, b, work),
        _ => {}
    }
    for (one, other) in a.iter().zip(b.iter()) {
        match equal(&one?, &other?, work) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(error) if a.is_struct() && !error.is_final() => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// The same elements in any order.
fn sets(a: &List, b: &List, work: &mut Work) -> Result<bool, Error> {
    let (a, b) = (a.values()?, b.values()?);
    let contains = |all: &[Value], one: &Value, work: &mut Work| -> Result<bool, Error> {
        work.take(all.len() as u64)?;
        for it in all {
            if equal(it, one, work)? {
                return Ok(true);
            }
        }
        Ok(false)
    };
    for one in &b {
        if !contains(&a, one, work)? {
            return Ok(false);
        }
    }
    for one in &a {
        if !contains(&b, one, work)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The same elements by their keys, in any order.
fn keyed(a: &List, b: &List, work: &mut Work) -> Result<bool, Error> {
    let Some(schema) = a.schema() else {
        return Ok(false);
    };
    let (a, b) = (a.values()?, b.values()?);
    let mut seen = vec![false; a.len()];
    for one in &b {
        work.take(a.len() as u64)?;
        let mut found = false;
        // The last of several with the same keys counts.
        for (at, other) in a.iter().enumerate().rev() {
            if schema.has_same_keys(one, other, work)? {
                if !equal(other, one, work)? {
                    return Ok(false);
                }
                found = true;
                seen[at] = true;
                break;
            }
        }
        if !found {
            return Ok(false);
        }
    }
    Ok(seen.iter().all(|it| *it))
}

fn maps(a: &Map, b: &Map, work: &mut Work) -> Result<bool, Error> {
    if a.len() != b.len() {
        return Ok(false);
    }
    work.take(4 + a.len() as u64 / 2)?;
    if let Map::Json(object, Origin::Schema(schema)) = a {
        return schema.equal(object, b, work);
    }
    if let (Map::Json(a, _), Map::Json(b, _)) = (a, b)
        && a.is_same(b)
    {
        return Ok(true);
    }
    for (key, value) in a.pairs() {
        match b.find(&key) {
            Some(other) => {
                if !equal(&value?, &other?, work)? {
                    return Ok(false);
                }
            }
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// The order of two values of types that have one.
pub(crate) fn compare(a: &Value, b: &Value) -> Result<Ordering, Error> {
    Ok(match (a, b) {
        (
            Value::Int(_) | Value::Uint(_) | Value::Double(_),
            Value::Int(_) | Value::Uint(_) | Value::Double(_),
        ) => {
            return number(a, b).ok_or_else(|| Error::new("NaN values cannot be ordered"));
        }
        (Value::String(a), Value::String(b)) => (**a).cmp(&**b),
        (Value::Bytes(a), Value::Bytes(b)) => (**a).cmp(&**b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Duration(a), Value::Duration(b)) => a.cmp(b),
        (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
        _ => return Err(Error::no_such_overload()),
    })
}

/// Whether a value can be on the left of `<`.
pub(crate) fn is_comparable(value: &Value) -> bool {
    matches!(
        value,
        Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Bool(_)
            | Value::Duration(_)
            | Value::Timestamp(_)
    )
}

#[expect(clippy::cast_precision_loss, reason = "ranges are looked at before")]
fn number(a: &Value, b: &Value) -> Option<Ordering> {
    let int_uint = |a: i64, b: u64| u64::try_from(a).map_or(Ordering::Less, |a| a.cmp(&b));
    let double_int = |a: f64, b: i64| {
        if a < -9_223_372_036_854_775_808.0 {
            Ordering::Less
        } else if a > 9_223_372_036_854_775_808.0 {
            Ordering::Greater
        } else {
            a.partial_cmp(&(b as f64)).unwrap_or(Ordering::Equal)
        }
    };
    let double_uint = |a: f64, b: u64| {
        if a < 0.0 {
            Ordering::Less
        } else if a > 18_446_744_073_709_551_616.0 {
            Ordering::Greater
        } else {
            a.partial_cmp(&(b as f64)).unwrap_or(Ordering::Equal)
        }
    };
    match (a, b) {
        (Value::Double(it), _) | (_, Value::Double(it)) if it.is_nan() => None,
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Uint(b)) => Some(int_uint(*a, *b)),
        (Value::Uint(a), Value::Int(b)) => Some(int_uint(*b, *a).reverse()),
        (Value::Double(a), Value::Int(b)) => Some(double_int(*a, *b)),
        (Value::Int(a), Value::Double(b)) => Some(double_int(*b, *a).reverse()),
        (Value::Double(a), Value::Uint(b)) => Some(double_uint(*a, *b)),
        (Value::Uint(a), Value::Double(b)) => Some(double_uint(*b, *a).reverse()),
        _ => None,
    }
}
