//! Functions of strings. Places are counted in characters.

use super::{Context, Function, Result, formatting};
use crate::error::Error;
use crate::value::{List, Str, Value};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "contains" => |context, args| test(context, args, |a, b| a.contains(b)),
        "startsWith" => |context, args| test(context, args, |a, b| a.starts_with(b)),
        "endsWith" => |context, args| test(context, args, |a, b| a.ends_with(b)),
        "charAt" => char_at,
        "indexOf" => index_of,
        "lastIndexOf" => last_index_of,
        "lowerAscii" => |context, args| map(context, args, str::to_ascii_lowercase),
        "upperAscii" => |context, args| map(context, args, str::to_ascii_uppercase),
        "trim" => |context, args| map(context, args, |it| it.trim().to_owned()),
        "strings.quote" => |context, args| map(context, args, quote),
        "replace" => replace,
        "split" => split,
        "substring" => substring,
        "join" => join,
        "format" => |context, args| match args {
            [Value::String(text), Value::List(list)] => {
                formatting::format(context, text, list).map(text_value)
            }
            _ => Err(context.mismatch(args)),
        },
        _ => return None,
    })
}

fn text_value<'a>(text: String) -> Value<'a> {
    Value::String(Str::from(text))
}

fn out_of_range(at: i64) -> Error {
    Error::new(format!("index out of range: {at}"))
}

fn test<'a>(
    context: &mut Context,
    args: &[Value<'a>],
    of: fn(&str, &str) -> bool,
) -> Result<Value<'a>> {
    match args {
        [Value::String(a), Value::String(b)] => Ok(Value::Bool(of(a, b))),
        [Value::String(_), _] => Err(Error::no_such_overload()),
        _ => Err(context.mismatch(args)),
    }
}

fn map<'a>(context: &mut Context, args: &[Value<'a>], of: fn(&str) -> String) -> Result<Value<'a>> {
    match args {
        [Value::String(it)] => Ok(text_value(of(it))),
        _ => Err(context.mismatch(args)),
    }
}

/// The byte where a character begins; the end of the text is one too.
fn byte_of(text: &str, at: i64) -> Option<usize> {
    let at = usize::try_from(at).ok()?;
    if text.is_ascii() {
        return (at <= text.len()).then_some(at);
    }
    let ends = text.char_indices().map(|it| it.0).chain([text.len()]);
    ends.into_iter().nth(at)
}

fn chars(text: &str) -> i64 {
    let count = if text.is_ascii() {
        text.len()
    } else {
        text.chars().count()
    };
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn char_at<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [Value::String(text), Value::Int(at)] = args else {
        return Err(context.mismatch(args));
    };
    let begin = byte_of(text, *at).ok_or_else(|| out_of_range(*at))?;
    let found = text[begin..].chars().next();
    Ok(text_value(found.map(String::from).unwrap_or_default()))
}

fn index_of<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let (text, part, from) = match args {
        [Value::List(list), item] => {
            return Ok(super::aggregates::position(context, list, item, false));
        }
        [Value::String(text), Value::String(part)] => (text, part, 0),
        [Value::String(text), Value::String(part), Value::Int(from)] => (text, part, *from),
        _ => return Err(context.mismatch(args)),
    };
    if from < 0 {
        return Err(out_of_range(from));
    }
    let length = chars(text);
    if part.is_empty() {
        return Ok(Value::Int(from.min(length)));
    }
    let found = byte_of(text, from)
        .filter(|_| from < length)
        .and_then(|begin| text[begin..].find(&**part).map(|it| begin + it));
    Ok(Value::Int(found.map_or(-1, |it| chars(&text[..it]))))
}

fn last_index_of<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let (text, part, from) = match args {
        [Value::List(list), item] => {
            return Ok(super::aggregates::position(context, list, item, true));
        }
        [Value::String(text), Value::String(part)] => (text, part, None),
        [Value::String(text), Value::String(part), Value::Int(from)] => (text, part, Some(*from)),
        _ => return Err(context.mismatch(args)),
    };
    let length = chars(text);
    if let Some(from) = from.filter(|it| *it < 0) {
        return Err(out_of_range(from));
    }
    if part.is_empty() {
        return Ok(Value::Int(from.unwrap_or(length).min(length)));
    }
    if from.is_some_and(|it| it >= length) || part.len() > text.len() {
        return Ok(Value::Int(-1));
    }
    // It begins there or before.
    let last = from.unwrap_or(length).min(length - chars(part));
    let end = byte_of(text, last).map_or(0, |it| (it + part.len()).min(text.len()));
    let end = (0..=end)
        .rev()
        .find(|it| text.is_char_boundary(*it))
        .unwrap_or(0);
    let found = text[..end].rfind(&**part);
    Ok(Value::Int(found.map_or(-1, |it| chars(&text[..it]))))
}

fn replace<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let (text, old, new, count) = match args {
        [Value::String(text), Value::String(old), Value::String(new)] => (text, old, new, -1),
        [
            Value::String(text),
            Value::String(old),
            Value::String(new),
            Value::Int(count),
        ] => (text, old, new, *count),
        _ => return Err(context.mismatch(args)),
    };
    // An empty text is found before and behind every character.
    let found = if old.is_empty() {
        text.chars().count() + 1
    } else {
        text.matches(&**old).count()
    };
    let count = usize::try_from(count).unwrap_or(found).min(found);
    let size = text.len().saturating_add(count.saturating_mul(new.len()));
    context.work.take((size / 10) as u64)?;
    Ok(text_value(text.replacen(&**old, new, count)))
}

fn split<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let (text, separator, count) = match args {
        [Value::String(text), Value::String(separator)] => (text, separator, -1),
        [
            Value::String(text),
            Value::String(separator),
            Value::Int(count),
        ] => (text, separator, *count),
        _ => return Err(context.mismatch(args)),
    };
    let own = |it: &str| text_value(it.to_owned());
    let parts: Vec<Value> = match usize::try_from(count) {
        Ok(0) => Vec::new(),
        limit if separator.is_empty() => {
            let limit = limit.unwrap_or(usize::MAX);
            let mut parts: Vec<Value> = Vec::new();
            let mut rest: &str = text;
            while let Some(it) = rest.chars().next() {
                if parts.len() + 1 == limit {
                    parts.push(own(rest));
                    break;
                }
                let (first, behind) = rest.split_at(it.len_utf8());
                parts.push(own(first));
                rest = behind;
            }
            parts
        }
        Ok(limit) => text.splitn(limit, &**separator).map(own).collect(),
        Err(_) => text.split(&**separator).map(own).collect(),
    };
    Ok(Value::list(parts))
}

fn substring<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let (text, start, end) = match args {
        [Value::String(text), Value::Int(start)] => (text, *start, None),
        [Value::String(text), Value::Int(start), Value::Int(end)] => (text, *start, Some(*end)),
        _ => return Err(context.mismatch(args)),
    };
    if let Some(end) = end.filter(|end| start > *end) {
        return Err(Error::new(format!(
            "invalid substring range. start: {start}, end: {end}"
        )));
    }
    let begin = byte_of(text, start).ok_or_else(|| out_of_range(start))?;
    let end = match end {
        Some(end) => byte_of(text, end).ok_or_else(|| out_of_range(end))?,
        None => text.len(),
    };
    Ok(match text {
        Str::Borrowed(it) => Value::String(Str::Borrowed(&it[begin..end])),
        Str::Shared(it) => text_value(it[begin..end].to_owned()),
    })
}

fn join<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let (list, separator): (&List, &str) = match args {
        [Value::List(list)] => (list, ""),
        [Value::List(list), Value::String(separator)] => (list, separator),
        _ => return Err(context.mismatch(args)),
    };
    let mut text = String::new();
    for (index, it) in list.iter().enumerate() {
        if index > 0 {
            text.push_str(separator);
        }
        match it? {
            Value::String(it) => {
                context
                    .work
                    .take(1 + (it.len() + separator.len()) as u64 / 10)?;
                text.push_str(&it);
            }
            other => {
                return Err(Error::new(format!("join: invalid input: {other}")));
            }
        }
    }
    Ok(text_value(text))
}

/// In quotes, with escapes for what does not print.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for it in text.chars() {
        match it {
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0b' => out.push_str("\\v"),
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            it => out.push(it),
        }
    }
    out.push('"');
    out
}
