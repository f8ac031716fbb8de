//! JSON patch (RFC 6902), with the behaviour and the texts that kube-apiserver shows its users: `replace` creates a
//! missing key, negative indices count from the end, a missing value equals null in `test`.

use json::{Limits, Object, Value};

use crate::{Error, go};

/// What kube-apiserver allows in one patch.
pub const MAX_OPERATIONS: usize = 10_000;
/// How much `copy` may add to an object, in bytes of JSON.
pub const MAX_COPY_BYTES: usize = 3 * 1024 * 1024;

/// Applies all operations, or none: on an error the document is gone.
pub fn json_patch(mut doc: Value, patch: Value) -> Result<Value, Error> {
    let operations = decode(patch)?;
    let mut copied = 0;
    for operation in operations {
        run(&mut doc, &operation, &mut copied).map_err(Error::Unprocessable)?;
    }
    Ok(doc)
}

fn decode(patch: Value) -> Result<Vec<Object>, Error> {
    let wrong = |value: &Value, into: &str| {
        let kind = go::json_kind(value);
        Error::BadRequest(format!(
            "json: cannot unmarshal {kind} into Go value of type jsonpatch.{into}"
        ))
    };
    let items = match patch {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        other => return Err(wrong(&other, "Patch")),
    };
    if items.len() > MAX_OPERATIONS {
        return Err(Error::TooLarge(format!(
            "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}",
            items.len()
        )));
    }
    let mut operations = Vec::with_capacity(items.len());
    for item in items {
        operations.push(match item {
            Value::Object(object) => object,
            Value::Null => Object::new(),
            other => return Err(wrong(&other, "Operation")),
        });
    }
    Ok(operations)
}

const MISSING: &str = "missing value";

fn run(doc: &mut Value, operation: &Object, copied: &mut usize) -> Result<(), String> {
    match operation.get("op").and_then(Value::as_str) {
        Some("add") => add(doc, operation),
        Some("remove") => remove(doc, operation),
        Some("replace") => replace(doc, operation),
        Some("move") => r#move(doc, operation),
        Some("test") => test(doc, operation),
        Some("copy") => copy(doc, operation, copied),
        Some(other) => Err(format!("Unexpected kind: {other}")),
        None => Err("Unexpected kind: unknown".into()),
    }
}

/// A pointer of an operation: `path` or `from`.
fn pointer<'a>(operation: &'a Object, name: &str) -> Result<&'a str, String> {
    match operation.get(name) {
        Some(Value::String(it)) => Ok(it),
        None | Some(Value::Null) if name == "from" => {
            Err(format!("operation, missing from field: {MISSING}"))
        }
        None | Some(Value::Null) => Err(format!("operation missing {name} field: {MISSING}")),
        Some(other) => Err(format!(
            "json: cannot unmarshal {} into Go value of type string",
            go::json_kind(other)
        )),
    }
}

fn add(doc: &mut Value, operation: &Object) -> Result<(), String> {
    let path = pointer(operation, "path")
        .map_err(|_| format!("add operation failed to decode path: {MISSING}"))?;
    let Some((parent, key)) = find(doc, path) else {
        return Err(format!(
            "add operation does not apply: doc is missing path: \"{path}\": {MISSING}"
        ));
    };
    let value = operation.get("value").cloned().unwrap_or_default();
    put(parent, &key, path, value).map_err(|why| format!("error in add for path: '{path}': {why}"))
}

fn remove(doc: &mut Value, operation: &Object) -> Result<(), String> {
    let path = pointer(operation, "path")
        .map_err(|_| format!("remove operation failed to decode path: {MISSING}"))?;
    let Some((parent, key)) = find(doc, path) else {
        return Err(format!(
            "remove operation does not apply: doc is missing path: \"{path}\": {MISSING}"
        ));
    };
    match cut(parent, &key) {
        Ok(_) => Ok(()),
        Err(why) => Err(format!("error in remove for path: '{path}': {why}")),
    }
}

fn replace(doc: &mut Value, operation: &Object) -> Result<(), String> {
    let path = pointer(operation, "path")
        .map_err(|why| format!("replace operation failed to decode path: {why}"))?;
    let value = operation.get("value").cloned().unwrap_or_default();
    if path.is_empty() {
        if !matches!(value, Value::Object(_) | Value::Array(_)) {
            return Err("replace operation value must be object or array: %!w(<nil>)".into());
        }
        *doc = value;
        return Ok(());
    }
    let Some((parent, key)) = find(doc, path) else {
        return Err(format!(
            "replace operation does not apply: doc is missing path: {path}: {MISSING}"
        ));
    };
    fits(path, &value)?;
    match parent {
        Value::Object(object) => {
            object.insert(key.as_str(), value);
        }
        Value::Array(items) => match index(&key, items.len()) {
            Ok(at) => items[at] = value,
            Err(_) => {
                return Err(format!(
                    "replace operation does not apply: doc is missing key: {path}: {MISSING}"
                ));
            }
        },
        _ => {}
    }
    Ok(())
}

fn r#move(doc: &mut Value, operation: &Object) -> Result<(), String> {
    let from = pointer(operation, "from")
        .map_err(|why| format!("move operation failed to decode from: {why}"))?;
    let Some((parent, key)) = find(doc, from) else {
        return Err(format!(
            "move operation does not apply: doc is missing from path: {from}: {MISSING}"
        ));
    };
    let value =
        cut(parent, &key).map_err(|why| format!("error in move for path: '{key}': {why}"))?;
    let path = pointer(operation, "path")
        .map_err(|why| format!("move operation failed to decode path: {why}"))?;
    let Some((parent, key)) = find(doc, path) else {
        return Err(format!(
            "move operation does not apply: doc is missing destination path: {path}: {MISSING}"
        ));
    };
    put(parent, &key, path, value).map_err(|why| format!("error in move for path: '{path}': {why}"))
}

fn test(doc: &mut Value, operation: &Object) -> Result<(), String> {
    let path = pointer(operation, "path")
        .map_err(|why| format!("test operation failed to decode path: {why}"))?;
    let expected = operation.get("value").unwrap_or(&Value::Null);
    let failed = || Err(format!("testing value {path} failed: test failed"));
    if path.is_empty() {
        return if doc == expected { Ok(()) } else { failed() };
    }
    let Some((parent, key)) = find(doc, path) else {
        return Err(format!(
            "test operation does not apply: is missing path: {path}: {MISSING}"
        ));
    };
    let found =
        get(parent, &key).map_err(|why| format!("error in test for path: '{path}': {why}"))?;
    if found.unwrap_or(&Value::Null) == expected {
        Ok(())
    } else {
        failed()
    }
}

fn copy(doc: &mut Value, operation: &Object, copied: &mut usize) -> Result<(), String> {
    let from = pointer(operation, "from")
        .map_err(|why| format!("copy operation failed to decode from: {why}"))?;
    let Some((parent, key)) = find(doc, from) else {
        return Err(format!(
            "copy operation does not apply: doc is missing from path: {from}: {MISSING}"
        ));
    };
    let found =
        get(parent, &key).map_err(|why| format!("error in copy for from: '{from}': {why}"))?;
    let value = found.cloned().unwrap_or_default();
    let path = pointer(operation, "path")
        .map_err(|_| format!("copy operation failed to decode path: {MISSING}"))?;
    let Some((parent, key)) = find(doc, path) else {
        return Err(format!(
            "copy operation does not apply: doc is missing destination path: {path}: {MISSING}"
        ));
    };
    if !value.is_null() {
        *copied += json::to_vec(&value).len();
    }
    if *copied > MAX_COPY_BYTES {
        return Err(format!(
            "Unable to complete the copy, the accumulated size increase of copy is {copied}, exceeding the limit {MAX_COPY_BYTES}"
        ));
    }
    put(parent, &key, path, value)
        .map_err(|why| format!("error while adding value during copy: {why}"))
}

/// The object or array that holds what the pointer names, and its key there.
fn find<'a>(doc: &'a mut Value, pointer: &str) -> Option<(&'a mut Value, String)> {
    let mut parts = pointer.split('/').skip(1).map(unescape);
    let mut key = parts.next()?;
    let mut holder = doc;
    for next in parts {
        holder = match holder {
            Value::Object(object) => object.get_mut(&key)?,
            Value::Array(items) => {
                let at = index(&key, items.len()).ok()?;
                items.get_mut(at)?
            }
            _ => return None,
        };
        key = next;
    }
    matches!(holder, Value::Object(_) | Value::Array(_)).then_some((holder, key))
}

fn unescape(part: &str) -> String {
    let mut all = String::with_capacity(part.len());
    let mut rest = part;
    while let Some(at) = rest.find('~') {
        all.push_str(&rest[..at]);
        let (with, length) = match rest.as_bytes().get(at + 1) {
            Some(b'0') => ('~', 2),
            Some(b'1') => ('/', 2),
            _ => ('~', 1),
        };
        all.push(with);
        rest = &rest[at + length..];
    }
    all.push_str(rest);
    all
}

fn get<'a>(parent: &'a Value, key: &str) -> Result<Option<&'a Value>, String> {
    match parent {
        Value::Object(object) => Ok(object.get(key)),
        Value::Array(items) => index(key, items.len()).map(|at| items.get(at)),
        _ => Ok(None),
    }
}

fn put(parent: &mut Value, key: &str, path: &str, value: Value) -> Result<(), String> {
    fits(path, &value)?;
    match parent {
        Value::Object(object) => {
            object.insert(key, value);
        }
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => {
            let at = index(key, items.len() + 1).map_err(|why| {
                if why.starts_with("strconv") {
                    format!("value was not a proper array index: '{key}': {why}")
                } else {
                    why
                }
            })?;
            items.insert(at, value);
        }
        _ => {}
    }
    Ok(())
}

fn cut(parent: &mut Value, key: &str) -> Result<Value, String> {
    match parent {
        Value::Object(object) => object
            .remove(key)
            .ok_or_else(|| format!("Unable to remove nonexistent key: {key}: {MISSING}")),
        Value::Array(items) => index(key, items.len()).map(|at| items.remove(at)),
        _ => Ok(Value::Null),
    }
}

/// A position below `length`; negative ones count from the end.
fn index(key: &str, length: usize) -> Result<usize, String> {
    let at = go::atoi(key)?;
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let found = if at < 0 { at + length } else { at };
    match usize::try_from(found) {
        Ok(found) if at < length => Ok(found),
        _ => Err(format!(
            "Unable to access invalid index: {at}: invalid index referenced"
        )),
    }
}

/// Moves and copies could pile values higher than any parser lets in; everything that recurses relies on that bound.
fn fits(path: &str, value: &Value) -> Result<(), String> {
    fn lower_than(value: &Value, limit: usize) -> bool {
        match value {
            Value::Array(items) => {
                limit > 0 && items.iter().all(|item| lower_than(item, limit - 1))
            }
            Value::Object(object) => {
                limit > 0 && object.values().all(|item| lower_than(item, limit - 1))
            }
            _ => true,
        }
    }
    let depth = Limits::default().depth;
    let above = path.bytes().filter(|it| *it == b'/').count();
    if above <= depth && lower_than(value, depth - above) {
        Ok(())
    } else {
        Err(format!("exceeded max depth of {depth}"))
    }
}
