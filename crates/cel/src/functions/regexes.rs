//! Functions with regular expressions.

use std::borrow::Cow;

use encoding::go::quote;

use super::{Context, Function, Result};
use crate::error::Error;
use crate::regexp::Regexp;
use crate::value::{Str, Value};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "matches" => matches,
        "find" => find_first,
        "findAll" => find_all,
        "regex.extract" => extract,
        "regex.extractAll" => extract_all,
        "regex.replace" => replace,
        _ => return None,
    })
}

/// The constant expression of the call, or one that is made now.
fn compiled<'c>(
    context: &Context<'c>,
    pattern: &str,
) -> std::result::Result<Cow<'c, Regexp>, String> {
    match context.regex {
        Some(regex) => Ok(Cow::Borrowed(regex)),
        None => Regexp::new(pattern).map(Cow::Owned),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn illegal(why: String) -> Error {
    Error::new(format!("Illegal regex: {why}"))
}

fn text<'a>(it: &str) -> Value<'a> {
    Value::String(Str::from(it.to_owned()))
}

fn matches<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args {
        [Value::String(it), Value::String(pattern)] => {
            let regex = compiled(context, pattern).map_err(Error::new)?;
            Ok(Value::Bool(regex.is_match(it)))
        }
        [Value::String(_), _] => Err(Error::no_such_overload()),
        _ => Err(context.mismatch(args)),
    }
}

fn find_first<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [Value::String(it), Value::String(pattern)] = args else {
        return Err(context.mismatch(args));
    };
    let regex = compiled(context, pattern).map_err(illegal)?;
    Ok(text(regex.find(it).unwrap_or("")))
}

fn find_all<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let (it, pattern, count) = match args {
        [Value::String(it), Value::String(pattern)] => (it, pattern, -1),
        [Value::String(it), Value::String(pattern), Value::Int(count)] => (it, pattern, *count),
        _ => return Err(context.mismatch(args)),
    };
    let regex = compiled(context, pattern).map_err(illegal)?;
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    Ok(Value::list(
        regex.find_all(it).take(count).map(text).collect(),
    ))
}

fn extract<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [Value::String(it), Value::String(pattern)] = args else {
        return Err(context.mismatch(args));
    };
    let regex = compiled(context, pattern)
        .map_err(|why| Error::new(format!("given regex is invalid: {why}")))?;
    if regex.groups() > 1 {
        return Err(several(pattern));
    }
    Ok(match regex.captures(it).next() {
        Some(found) => Value::some(text(found)),
        None => Value::NONE,
    })
}

fn several(pattern: &str) -> Error {
    Error::new(format!(
        "regular expression has more than one capturing group: {}",
        quote(pattern)
    ))
}

fn extract_all<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [Value::String(it), Value::String(pattern)] = args else {
        return Err(context.mismatch(args));
    };
    let regex = compiled(context, pattern)
        .map_err(|why| Error::new(format!("given regex is invalid: {why}")))?;
    if regex.groups() > 1 {
        return Err(several(pattern));
    }
    Ok(Value::list(regex.captures(it).map(text).collect()))
}

fn replace<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let (it, pattern, new, count) = match args {
        [
            Value::String(it),
            Value::String(pattern),
            Value::String(new),
        ] => (it, pattern, new, -1),
        [
            Value::String(it),
            Value::String(pattern),
            Value::String(new),
            Value::Int(count),
        ] => (it, pattern, new, *count),
        _ => return Err(context.mismatch(args)),
    };
    let regex = compiled(context, pattern)
        .map_err(|why| Error::new(format!("given regex is invalid: {why}")))?;
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let replaced = regex.replace(it, new, count).map_err(Error::new)?;
    Ok(Value::String(Str::from(replaced)))
}
