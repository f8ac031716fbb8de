//! From one type to another.

use super::{Context, Function, Result};
use crate::error::Error;
use crate::value::time::seconds;
use crate::value::{Blob, Opaque, Str, Timestamp, Value};
use encoding::duration;
use encoding::go;

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "bool" => to_bool,
        "bytes" => to_bytes,
        "double" => to_double,
        "duration" => to_duration,
        "int" => to_int,
        "string" => to_string,
        "timestamp" => to_timestamp,
        "uint" => to_uint,
        _ => return None,
    })
}

fn failed(from: &str, to: &str) -> Error {
    Error::new(format!("type conversion error from '{from}' to '{to}'"))
}

fn overflow() -> Error {
    Error::new("integer overflow")
}

fn unsigned_overflow() -> Error {
    Error::new("unsigned integer overflow")
}

fn to_bool<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args {
        [it @ Value::Bool(_)] => Ok(it.clone()),
        [Value::String(it)] => match &**it {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(failed("string", "bool")),
        },
        _ => Err(context.mismatch(args)),
    }
}

fn to_bytes<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args {
        [it @ Value::Bytes(_)] => Ok(it.clone()),
        [Value::String(it)] => Ok(Value::Bytes(Blob::from(it.as_bytes().to_vec()))),
        _ => Err(context.mismatch(args)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "what a double can hold")]
fn to_double<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args {
        [it @ Value::Double(_)] => Ok(it.clone()),
        [Value::Int(it)] => Ok(Value::Double(*it as f64)),
        [Value::Uint(it)] => Ok(Value::Double(*it as f64)),
        [Value::String(it)] => parse_double(it)
            .map(Value::Double)
            .ok_or_else(|| failed("string", "double")),
        _ => Err(context.mismatch(args)),
    }
}

/// As Go parses it: what is too large is an error, unless it is called infinite.
fn parse_double(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let is_named = text
        .bytes()
        .any(|it| matches!(it, b'i' | b'I' | b'n' | b'N'));
    (value.is_finite() || is_named).then_some(value)
}

fn to_duration<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args {
        [it @ Value::Duration(_)] => Ok(it.clone()),
        [Value::String(it)] => duration::parse(it)
            .map(Value::Duration)
            .map_err(|_| failed("string", "google.protobuf.Duration")),
        _ => Err(context.mismatch(args)),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is looked at before"
)]
fn to_int<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args {
        [it @ Value::Int(_)] => Ok(it.clone()),
        [Value::Uint(it)] => i64::try_from(*it).map(Value::Int).map_err(|_| overflow()),
        [Value::Double(it)] => {
            let limit = 9_223_372_036_854_775_808.0;
            if it.is_nan() || *it <= -limit || *it >= limit {
                return Err(overflow());
            }
            Ok(Value::Int(*it as i64))
        }
        [Value::String(it)] => it
            .parse()
            .map(Value::Int)
            .map_err(|_| failed("string", "int")),
        [Value::Timestamp(it)] => Ok(Value::Int(it.seconds)),
        [Value::Duration(it)] => Ok(Value::Int(*it)),
        _ => Err(context.mismatch(args)),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is looked at before"
)]
fn to_uint<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args {
        [it @ Value::Uint(_)] => Ok(it.clone()),
        [Value::Int(it)] => u64::try_from(*it)
            .map(Value::Uint)
            .map_err(|_| unsigned_overflow()),
        [Value::Double(it)] => {
            if it.is_nan() || *it < 0.0 || *it >= 18_446_744_073_709_551_616.0 {
                return Err(unsigned_overflow());
            }
            Ok(Value::Uint(*it as u64))
        }
        [Value::String(it)] if !it.starts_with('+') => it
            .parse()
            .map(Value::Uint)
            .map_err(|_| failed("string", "uint")),
        [Value::String(_)] => Err(failed("string", "uint")),
        _ => Err(context.mismatch(args)),
    }
}

fn to_string<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let text = match args {
        [it @ Value::String(_)] => return Ok(it.clone()),
        [Value::Bool(it)] => it.to_string(),
        [Value::Int(it)] => it.to_string(),
        [Value::Uint(it)] => it.to_string(),
        [Value::Double(it)] => go::float(*it),
        [Value::Bytes(it)] => String::from_utf8(it.to_vec())
            .map_err(|_| Error::new("invalid UTF-8 in bytes, cannot convert to string"))?,
        [Value::Timestamp(it)] => it.to_rfc3339(),
        [Value::Duration(it)] => go::float_fixed(seconds(*it)) + "s",
        [Value::Opaque(it @ (Opaque::Ip(_) | Opaque::Cidr(_)))] => it.to_string(),
        _ => return Err(context.mismatch(args)),
    };
    Ok(Value::String(Str::from(text)))
}

fn to_timestamp<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args {
        [it @ Value::Timestamp(_)] => Ok(it.clone()),
        [Value::Int(it)] => Timestamp::from_unix(*it).map(Value::Timestamp),
        [Value::String(it)] => Timestamp::parse(it)
            .unwrap_or_else(|| Err(failed("string", "google.protobuf.Timestamp")))
            .map(Value::Timestamp),
        _ => Err(context.mismatch(args)),
    }
}
