//! Small extensions: base64, JSON Patch.

use encoding::base64;

use super::{Function, Result};
use crate::error::Error;
use crate::value::{Blob, Str, Value};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "base64.encode" => |context, args| match args {
            [Value::Bytes(it)] => Ok(Value::String(Str::from(base64::encode(it)))),
            _ => Err(context.mismatch(args)),
        },
        "base64.decode" => |context, args| match args {
            [Value::String(it)] => decode(it),
            _ => Err(context.mismatch(args)),
        },
        "jsonpatch.escapeKey" => |context, args| match args {
            [Value::String(it)] => Ok(Value::String(Str::from(
                it.replace('~', "~0").replace('/', "~1"),
            ))),
            _ => Err(context.mismatch(args)),
        },
        _ => return None,
    })
}

/// With or without padding.
fn decode<'a>(text: &str) -> Result<Value<'a>> {
    let mut padded = text.to_owned();
    while !padded.len().is_multiple_of(4) {
        padded.push('=');
    }
    let bytes = base64::decode(&padded).map_err(|error| Error::new(error.to_string()))?;
    Ok(Value::Bytes(Blob::from(bytes)))
}
