//! JSON patch (RFC 6902), with the behaviour and the texts that kube-apiserver shows its users: `replace` creates a
//! missing key, negative indices count from the end, a missing value equals null in `test`.
//!
//! An operation costs what its own text and the values it adds or copies have, and the logarithm of the list it edits.

mod document;
mod sequence;

use encoding::go::{NumError, atoi};
use json::{Limits, Object, Value};

use crate::{Error, go};
use document::{Node, measure};

/// What kube-apiserver allows in one patch.
pub const MAX_OPERATIONS: usize = 10_000;
/// How much `copy` may add to an object, in bytes of JSON.
pub const MAX_COPY_BYTES: usize = 3 * 1024 * 1024;

/// Applies all operations, or none: on an error the document is gone.
pub fn json_patch(doc: Value, patch: Value) -> Result<Value, Error> {
    let mut patching = Patching::new(doc);
    patching.run_all(patch)?;
    Ok(patching.doc.into_value())
}

/// As [`json_patch`]; nothing if a `test` finds another value than it asks for.
pub fn json_patch_if_tests_pass(doc: Value, patch: Value) -> Result<Option<Value>, Error> {
    let mut patching = Patching::new(doc);
    match patching.run_all(patch) {
        Ok(()) => Ok(Some(patching.doc.into_value())),
        Err(_) if patching.test_failed => Ok(None),
        Err(error) => Err(error),
    }
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

struct Patching {
    doc: Node,
    /// Bytes that `copy` has added.
    copied: usize,
    /// At most how deep the document is, once that was asked for.
    depth: Option<usize>,
    /// How many values were looked at to find that out.
    measured: usize,
    /// The patch ended at a `test` that found another value.
    test_failed: bool,
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

impl Patching {
    fn new(doc: Value) -> Self {
        Self {
            doc: Node::Whole(doc),
            copied: 0,
            depth: None,
            measured: 0,
            test_failed: false,
        }
    }

    fn run_all(&mut self, patch: Value) -> Result<(), Error> {
        for operation in decode(patch)? {
            self.run(&operation).map_err(Error::Unprocessable)?;
        }
        Ok(())
    }

    fn run(&mut self, operation: &Object) -> Result<(), String> {
        match operation.get("op").and_then(Value::as_str) {
            Some("add") => self.add(operation),
            Some("remove") => self.remove(operation),
            Some("replace") => self.replace(operation),
            Some("move") => self.r#move(operation),
            Some("test") => self.test(operation),
            Some("copy") => self.copy(operation),
            Some(other) => Err(format!("Unexpected kind: {other}")),
            None => Err("Unexpected kind: unknown".into()),
        }
    }

    fn add(&mut self, operation: &Object) -> Result<(), String> {
        let path = pointer(operation, "path")
            .map_err(|_| format!("add operation failed to decode path: {MISSING}"))?;
        if self.find(path).is_none() {
            return Err(format!(
                "add operation does not apply: doc is missing path: \"{path}\": {MISSING}"
            ));
        }
        let value = operation.get("value").cloned().unwrap_or_default();
        self.put(path, value)
            .map_err(|why| format!("error in add for path: '{path}': {why}"))
    }

    fn remove(&mut self, operation: &Object) -> Result<(), String> {
        let path = pointer(operation, "path")
            .map_err(|_| format!("remove operation failed to decode path: {MISSING}"))?;
        let Some((parent, key)) = self.find(path) else {
            return Err(format!(
                "remove operation does not apply: doc is missing path: \"{path}\": {MISSING}"
            ));
        };
        match parent.cut(&key) {
            Ok(_) => Ok(()),
            Err(why) => Err(format!("error in remove for path: '{path}': {why}")),
        }
    }

    fn replace(&mut self, operation: &Object) -> Result<(), String> {
        let path = pointer(operation, "path")
            .map_err(|why| format!("replace operation failed to decode path: {why}"))?;
        let value = operation.get("value").cloned().unwrap_or_default();
        if path.is_empty() {
            if !matches!(value, Value::Object(_) | Value::Array(_)) {
                return Err("replace operation value must be object or array: %!w(<nil>)".into());
            }
            self.doc = Node::Whole(value);
            self.depth = None;
            return Ok(());
        }
        if self.find(path).is_none() {
            return Err(format!(
                "replace operation does not apply: doc is missing path: {path}: {MISSING}"
            ));
        }
        self.fits(path, &value)?;
        let replaced =
            (self.find(path)).map_or(Ok(()), |(parent, key)| parent.replace(&key, value));
        replaced.map_err(|_| {
            format!("replace operation does not apply: doc is missing key: {path}: {MISSING}")
        })
    }

    fn r#move(&mut self, operation: &Object) -> Result<(), String> {
        let from = pointer(operation, "from")
            .map_err(|why| format!("move operation failed to decode from: {why}"))?;
        let Some((parent, key)) = self.find(from) else {
            return Err(format!(
                "move operation does not apply: doc is missing from path: {from}: {MISSING}"
            ));
        };
        let value = parent
            .cut(&key)
            .map_err(|why| format!("error in move for path: '{key}': {why}"))?;
        let path = pointer(operation, "path")
            .map_err(|why| format!("move operation failed to decode path: {why}"))?;
        if self.find(path).is_none() {
            return Err(format!(
                "move operation does not apply: doc is missing destination path: {path}: {MISSING}"
            ));
        }
        self.fits_moved(from, path, &value)
            .and_then(|()| self.put_node(path, value))
            .map_err(|why| format!("error in move for path: '{path}': {why}"))
    }

    fn test(&mut self, operation: &Object) -> Result<(), String> {
        let path = pointer(operation, "path")
            .map_err(|why| format!("test operation failed to decode path: {why}"))?;
        let expected = operation.get("value").unwrap_or(&Value::Null);
        if path.is_empty() {
            let passes = document::Found::Node(&self.doc).equals(expected);
            return self.tested(path, passes);
        }
        let Some((parent, key)) = self.find(path) else {
            return Err(format!(
                "test operation does not apply: is missing path: {path}: {MISSING}"
            ));
        };
        let found = parent
            .get(&key)
            .map_err(|why| format!("error in test for path: '{path}': {why}"))?;
        let passes = found.map_or(expected.is_null(), |it| it.equals(expected));
        self.tested(path, passes)
    }

    fn tested(&mut self, path: &str, passes: bool) -> Result<(), String> {
        if passes {
            return Ok(());
        }
        self.test_failed = true;
        Err(format!("testing value {path} failed: test failed"))
    }

    fn copy(&mut self, operation: &Object) -> Result<(), String> {
        let from = pointer(operation, "from")
            .map_err(|why| format!("copy operation failed to decode from: {why}"))?;
        let Some((parent, key)) = self.find(from) else {
            return Err(format!(
                "copy operation does not apply: doc is missing from path: {from}: {MISSING}"
            ));
        };
        let found = parent
            .get(&key)
            .map_err(|why| format!("error in copy for from: '{from}': {why}"))?;
        let value = found.map(document::Found::to_value).unwrap_or_default();
        let path = pointer(operation, "path")
            .map_err(|_| format!("copy operation failed to decode path: {MISSING}"))?;
        if self.find(path).is_none() {
            return Err(format!(
                "copy operation does not apply: doc is missing destination path: {path}: {MISSING}"
            ));
        }
        if !value.is_null() {
            self.copied += json::to_vec(&value).len();
        }
        if self.copied > MAX_COPY_BYTES {
            let copied = self.copied;
            return Err(format!(
                "Unable to complete the copy, the accumulated size increase of copy is {copied}, exceeding the limit {MAX_COPY_BYTES}"
            ));
        }
        self.put(path, value)
            .map_err(|why| format!("error while adding value during copy: {why}"))
    }

    fn put(&mut self, path: &str, value: Value) -> Result<(), String> {
        self.fits(path, &value)?;
        self.put_node(path, Node::Whole(value))
    }

    fn put_node(&mut self, path: &str, value: Node) -> Result<(), String> {
        (self.find(path)).map_or(Ok(()), |(parent, key)| parent.put(&key, value))
    }

    /// The object or array that holds what the pointer names, and its key there.
    fn find(&mut self, pointer: &str) -> Option<(&mut Node, String)> {
        let mut parts = pointer.split('/').skip(1).map(unescape);
        let mut key = parts.next()?;
        let mut holder = &mut self.doc;
        for next in parts {
            holder = holder.child_mut(&key)?;
            key = next;
        }
        holder.is_container().then_some((holder, key))
    }

    /// Moves and copies could pile values higher than any parser lets in; everything that recurses relies on that bound.
    fn fits(&mut self, path: &str, value: &Value) -> Result<(), String> {
        let depth = levels(path) + measure(value).0;
        if let Some(known) = &mut self.depth {
            *known = depth.max(*known);
        }
        within(depth)
    }

    /// The same for a value of the document, which is not measured as long as no value of it could be too deep there.
    fn fits_moved(&mut self, from: &str, path: &str, value: &Node) -> Result<(), String> {
        let known = match self.depth {
            Some(known) => known,
            None => self.measure(value, from)?,
        };
        let depth = levels(path) + known.saturating_sub(levels(from));
        if within(depth).is_ok() {
            self.depth = Some(depth.max(known));
            return Ok(());
        }
        let known = self.measure(value, from)?;
        let depth = levels(path) + value.measure().0;
        self.depth = Some(depth.max(known));
        within(depth)
    }

    /// How deep the document is with a value that was taken out of it. Looking is bounded: what has moved so often, and
    /// so near to the limit, counts as too deep.
    fn measure(&mut self, value: &Node, from: &str) -> Result<usize, String> {
        let ((depth, count), (below, more)) = (self.doc.measure(), value.measure());
        self.measured += count + more;
        if self.measured > FREE_MEASURES + MEASURES * (count + more) {
            return within(usize::MAX).map(|()| usize::MAX);
        }
        Ok(depth.max(levels(from) + below))
    }
}

/// How many values a patch may look at to find out how deep they are, however small the document is.
const FREE_MEASURES: usize = 1 << 20;
/// And how often all of a large document.
const MEASURES: usize = 64;

/// How many arrays and objects are above what a pointer names.
fn levels(pointer: &str) -> usize {
    pointer.bytes().filter(|it| *it == b'/').count()
}

fn within(depth: usize) -> Result<(), String> {
    let limit = Limits::default().depth;
    if depth <= limit {
        Ok(())
    } else {
        Err(format!("exceeded max depth of {limit}"))
    }
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

/// A position below `length`; negative ones count from the end.
fn index(key: &str, length: usize) -> Result<usize, IndexError> {
    let at = atoi(key)?;
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let found = if at < 0 { at + length } else { at };
    match usize::try_from(found) {
        Ok(found) if at < length => Ok(found),
        _ => Err(IndexError::OutOfBounds(at)),
    }
}

/// Why a key leads to no item of a list.
#[derive(Debug, thiserror::Error)]
enum IndexError {
    #[error("{0}")]
    NoNumber(#[from] NumError),
    #[error("Unable to access invalid index: {0}: invalid index referenced")]
    OutOfBounds(i64),
}

impl From<IndexError> for String {
    fn from(error: IndexError) -> Self {
        error.to_string()
    }
}
