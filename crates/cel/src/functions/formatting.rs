//! `"%s".format([...])`, in the style of version 2 of the extension (and of version 4, which the specification has).

use super::{Context, Result};
use crate::error::Error;
use crate::value::time::seconds;
use crate::value::{List, Value};
use encoding::{go, hex};

/// One part of a format.
pub(crate) enum Clause {
    Text(String),
    Verb { verb: char, precision: usize },
}

/// The parts of a format, or what is wrong with it.
pub(crate) fn parse(format: &str) -> Vec<std::result::Result<Clause, String>> {
    let mut clauses = Vec::new();
    let mut text = String::new();
    let mut rest = format.chars().peekable();
    while let Some(it) = rest.next() {
        if it != '%' {
            text.push(it);
            continue;
        }
        if rest.next_if_eq(&'%').is_some() {
            text.push('%');
            continue;
        }
        if !text.is_empty() {
            clauses.push(Ok(Clause::Text(std::mem::take(&mut text))));
        }
        let mut precision = 6;
        if rest.next_if_eq(&'.').is_some() {
            let mut digits = String::new();
            while let Some(it) = rest.next_if(char::is_ascii_digit) {
                digits.push(it);
            }
            precision = digits.parse().unwrap_or(0).min(100);
        }
        clauses.push(match rest.next() {
            None => Err("unexpected end of string".to_owned()),
            Some(verb @ ('s' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o')) => {
                Ok(Clause::Verb { verb, precision })
            }
            Some(other) => Err(format!(
                "could not parse formatting clause: unrecognized formatting clause {}",
                go::quote(&other.to_string())
            )),
        });
    }
    if !text.is_empty() {
        clauses.push(Ok(Clause::Text(text)));
    }
    clauses
}

/// Why a verb does not take values of a type; nothing if it does.
pub(crate) fn refuses(verb: char, type_name: &str) -> Option<String> {
    let fits = match verb {
        'd' | 'o' => matches!(type_name, "int" | "uint"),
        'f' | 'e' => matches!(type_name, "double" | "string"),
        'b' => matches!(type_name, "int" | "uint" | "bool"),
        'x' | 'X' => matches!(type_name, "int" | "uint" | "string" | "bytes"),
        _ => matches!(
            type_name,
            "int"
                | "uint"
                | "double"
                | "bool"
                | "string"
                | "bytes"
                | "list"
                | "map"
                | "null_type"
                | "type"
                | "google.protobuf.Timestamp"
                | "google.protobuf.Duration"
        ),
    };
    if fits {
        return None;
    }
    let why = match verb {
        'd' => "decimal clause can only be used on integers",
        'o' => "octal clause can only be used on integers",
        'f' => "fixed-point clause can only be used on doubles",
        'e' => "scientific clause can only be used on doubles",
        'b' => "only integers and bools can be formatted as binary",
        'x' | 'X' => "only integers, byte buffers, and strings can be formatted as hex",
        _ => {
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
        }
    };
    Some(format!(
        "error during formatting: {why}, was given {type_name}"
    ))
}

pub(super) fn format(context: &mut Context, format: &str, args: &List) -> Result<String> {
    let mut out = String::new();
    let mut next = 0;
    for clause in parse(format) {
        let at = next;
        let is_verb = !matches!(clause, Ok(Clause::Text(_)));
        if is_verb {
            next += 1;
        }
        if is_verb && at >= args.len() {
            return Err(Error::new(format!("index {at} out of range")));
        }
        match clause.map_err(Error::new)? {
            Clause::Text(text) => out.push_str(&text),
            Clause::Verb { verb, precision } => {
                let Some(value) = args.get(at) else { continue };
                write(context, &mut out, verb, precision, &value?)?;
            }
        }
        context.work.take(out.len() as u64 / 64)?;
    }
    Ok(out)
}

fn write(
    context: &mut Context,
    out: &mut String,
    verb: char,
    precision: usize,
    value: &Value,
) -> Result<()> {
    let modern = context.strings >= 4;
    let refused = |value: &Value| {
        let of = value.type_of();
        Error::new(refuses(verb, of.name()).unwrap_or_else(|| "error during formatting".to_owned()))
    };
    let text = match (verb, value) {
        ('s', _) => match (refuses(verb, value.type_of().name()), value) {
            (Some(why), _) => return Err(Error::new(why)),
            (None, Value::List(_) | Value::Map(_)) => nested(context, value)?,
            (None, _) => plain(value, modern),
        },
        ('d', Value::Int(it)) => it.to_string(),
        ('d', Value::Uint(it)) => it.to_string(),
        ('d', Value::Double(it)) if modern && !it.is_finite() => plain(value, true),
        ('f' | 'e', Value::Int(_) | Value::Uint(_)) if modern => {
            let number = as_double(value);
            if verb == 'f' {
                fixed_modern(number, precision)
            } else {
                scientific_modern(number, precision)
            }
        }
        ('f' | 'e', Value::Double(_) | Value::String(_)) => {
            let number = match value {
                Value::Double(it) => *it,
                other => match other.as_str() {
                    Some("NaN") => f64::NAN,
                    Some("Infinity") => f64::INFINITY,
                    Some("-Infinity") => f64::NEG_INFINITY,
                    _ => return Err(refused_string(verb)),
                },
            };
            match (verb, modern) {
                ('f', false) => fixed(number, precision, true),
                ('f', true) => fixed_modern(number, precision),
                (_, false) => scientific(number, precision),
                (_, true) => scientific_modern(number, precision),
            }
        }
        ('b', Value::Int(it)) => signed(*it, |it| format!("{it:b}")),
        ('b', Value::Uint(it)) => format!("{it:b}"),
        ('b', Value::Bool(it)) => u8::from(*it).to_string(),
        ('o', Value::Int(it)) => signed(*it, |it| format!("{it:o}")),
        ('o', Value::Uint(it)) => format!("{it:o}"),
        ('x', Value::Int(it)) => signed(*it, |it| format!("{it:x}")),
        ('X', Value::Int(it)) => signed(*it, |it| format!("{it:X}")),
        ('x', Value::Uint(it)) => format!("{it:x}"),
        ('X', Value::Uint(it)) => format!("{it:X}"),
        ('x', Value::String(it)) => hex::encode(it.as_bytes()),
        ('X', Value::String(it)) => hex::encode_upper(it.as_bytes()),
        ('x', Value::Bytes(it)) => hex::encode(it),
        ('X', Value::Bytes(it)) => hex::encode_upper(it),
        _ => return Err(refused(value)),
    };
    out.push_str(&text);
    Ok(())
}

fn refused_string(verb: char) -> Error {
    let what = if verb == 'f' {
        "fixed-point"
    } else {
        "scientific"
    };
    Error::new(format!(
        "error during formatting: {what} clause can only be used on doubles, was given string"
    ))
}

#[expect(clippy::cast_precision_loss, reason = "what a double can hold")]
fn as_double(value: &Value) -> f64 {
    match value {
        Value::Int(it) => *it as f64,
        Value::Uint(it) => *it as f64,
        _ => 0.0,
    }
}

fn signed(it: i64, of: fn(u64) -> String) -> String {
    let sign = if it < 0 { "-" } else { "" };
    format!("{sign}{}", of(it.unsigned_abs()))
}

/// `%s` of a value that is no aggregate.
fn plain(value: &Value, modern: bool) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Double(it) if modern => match it {
            it if it.is_nan() => "NaN".to_owned(),
            it if it.is_infinite() => if *it > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
            it => go::float_fixed(*it),
        },
        Value::Duration(it) => go::float_fixed(seconds(*it)) + "s",
        other => other.to_string(),
    }
}

/// A value within an aggregate.
fn nested(context: &mut Context, value: &Value) -> Result<String> {
    let length = match value {
        Value::String(it) => it.len(),
        Value::Bytes(it) => it.len(),
        _ => 0,
    };
    context.work.take(4 + length as u64 / 16)?;
    let modern = context.strings >= 4;
    Ok(match value {
        Value::List(list) => {
            let mut parts = Vec::new();
            for it in list.iter() {
                parts.push(nested(context, &it?)?);
            }
            format!("[{}]", parts.join(", "))
        }
        Value::Map(map) => {
            let mut parts = Vec::new();
            for (key, value) in map.pairs() {
                let key = match &key {
                    Value::String(it) if !modern => go::quote(it),
                    Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_) => {
                        key.to_string()
                    }
                    other => {
                        return Err(Error::new(format!(
                            "error during formatting: no formatting function for map key of type {}",
                            other.type_name()
                        )));
                    }
                };
                let value = nested(context, &value?)?;
                parts.push((key, value));
            }
            parts.sort();
            let separator = if modern { ": " } else { ":" };
            let parts: Vec<String> = parts
                .into_iter()
                .map(|(key, value)| format!("{key}{separator}{value}"))
                .collect();
            format!("{{{}}}", parts.join(", "))
        }
        other if modern => plain(other, true),
        Value::String(it) => go::quote(it),
        Value::Bytes(it) => format!("b{}", go::quote(&String::from_utf8_lossy(it))),
        Value::Double(it) if !it.is_finite() => go::quote(if it.is_nan() {
            "NaN"
        } else if *it > 0.0 {
            "+Inf"
        } else {
            "-Inf"
        }),
        Value::Double(it) => format!("{it:.6}"),
        Value::Timestamp(_) => format!("timestamp({})", go::quote(&value.to_string())),
        Value::Duration(_) => format!("duration({})", go::quote(&plain(value, false))),
        Value::Type(it) => format!("type({})", it.name()),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) => plain(value, false),
        other => {
            return Err(Error::new(format!(
                "error during formatting: no formatting function for {}",
                other.type_name()
            )));
        }
    })
}

fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value.is_infinite() {
        Some(if value > 0.0 { "∞" } else { "-∞" })
    } else {
        None
    }
}

/// With commas between thousands, as the printer of the locale writes it.
fn fixed(value: f64, precision: usize, grouped: bool) -> String {
    if let Some(text) = special(value) {
        return text.to_owned();
    }
    let text = format!("{value:.precision$}");
    if !grouped {
        return text;
    }
    let (number, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let (sign, digits) = number
        .strip_prefix('-')
        .map_or(("", number), |it| ("-", it));
    let mut out = sign.to_owned();
    for (index, it) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(it);
    }
    if !decimals.is_empty() {
        out.push('.');
        out.push_str(decimals);
    }
    out
}

/// The precision is taken as a width.
fn scientific(value: f64, width: usize) -> String {
    let text = if let Some(text) = special(value) {
        text.to_owned()
    } else {
        const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
        let text = format!("{value:.6e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if exponent < 0 { "⁻" } else { "" };
        let digits: String = format!("{:02}", exponent.abs())
            .bytes()
            .map(|it| RAISED[usize::from(it - b'0')])
            .collect();
        format!("{mantissa}×10{sign}{digits}")
    };
    let missing = width.saturating_sub(text.chars().count());
    " ".repeat(missing) + &text
}

fn named(value: f64) -> Option<&'static str> {
    match special(value)? {
        "∞" => Some("Infinity"),
        "-∞" => Some("-Infinity"),
        other => Some(other),
    }
}

fn fixed_modern(value: f64, precision: usize) -> String {
    named(value).map_or_else(|| fixed(value, precision, false), str::to_owned)
}

fn scientific_modern(value: f64, precision: usize) -> String {
    if let Some(text) = named(value) {
        return text.to_owned();
    }
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}
