//! Small extensions: base64, JSON Patch.

use super::{Function, Result};
use crate::error::Error;
use crate::schema::formats;
use crate::value::{Blob, Str, Value};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "base64.encode" => |context, args| match args {
            [Value::Bytes(it)] => Ok(Value::String(Str::from(formats::encode_base64(it)))),
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
    let bytes = formats::base64(&padded).map_err(Error::new)?;
    Ok(Value::Bytes(Blob::from(bytes)))
}
