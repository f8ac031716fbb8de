//! What a strict reader finds in an object beside what its type has (`fieldValidation`).

use std::collections::HashMap;
use std::fmt;

use json::Value;

/// Something that a strict reader refuses, and others warn of.
#[derive(Clone, Debug)]
pub(crate) enum StrictError {
    /// Keys that came twice in YAML: one error, and as many warnings as it has lines.
    Yaml(yaml::Error),
    /// A field, in the words of upstream.
    Field { path: String, text: String },
}

impl StrictError {
    pub(crate) fn unknown(path: &str) -> Self {
        Self::field(path, "unknown field")
    }

    pub(crate) fn duplicate(path: &str) -> Self {
        Self::field(path, "duplicate field")
    }

    /// `what "path"`
    pub(crate) fn field(path: &str, what: &str) -> Self {
        Self::Field {
            path: path.to_owned(),
            text: format!("{what} \"{path}\""),
        }
    }

    /// An unknown field of a built-in type, whose path is quoted as Go does.
    pub(crate) fn unknown_in_type(path: &str) -> Self {
        Self::Field {
            path: path.to_owned(),
            text: format!("unknown field {}", meta::go::quote(path)),
        }
    }

    /// Whether it is about a field, and that is the field of another one or a part of it.
    pub(crate) fn is_within(&self, outer: &Self) -> bool {
        match (self, outer) {
            (Self::Field { path, .. }, Self::Field { path: outer, .. }) => path
                .strip_prefix(&**outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '['])),
            _ => false,
        }
    }

    pub(crate) fn into_warnings(self) -> Vec<String> {
        match self {
            Self::Yaml(yaml::Error::Unmarshal(lines)) => lines,
            other => vec![other.to_string()],
        }
    }

    fn path(&self) -> Option<&str> {
        match self {
            Self::Yaml(_) => None,
            Self::Field { path, .. } => Some(path),
        }
    }
}

impl fmt::Display for StrictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yaml(error) => error.fmt(f),
            Self::Field { text, .. } => f.write_str(text),
        }
    }
}

/// What a strict reader says about keys that come twice.
pub(crate) fn yaml_duplicates(body: &[u8]) -> Option<StrictError> {
    yaml::to_json_strict(body).err().map(StrictError::Yaml)
}

/// All of them in one text.
pub(crate) fn told(found: &[StrictError]) -> String {
    let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
    format!("strict decoding error: {}", texts.join(", "))
}

/// Upstream tells of fields as it comes upon them.
pub(crate) fn in_document_order(object: &Value, found: &mut [StrictError]) {
    let paths: Vec<String> = (found.iter())
        .filter_map(|it| it.path().map(str::to_owned))
        .collect();
    let mut wanted: Vec<&[u8]> = paths.iter().map(String::as_bytes).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut ranks = HashMap::new();
    rank(object, &wanted, 0, &mut ranks);
    // What is wrong with YAML comes before any field.
    found.sort_by_cached_key(|it| {
        let rank = it.path().map(|path| ranks.get(path.as_bytes()));
        rank.map(|it| it.copied().unwrap_or(usize::MAX))
    });
}

/// Looks for paths below a value whose own path has `length` bytes and is the beginning of all of them. Paths of the
/// document are not built: those that are wanted say which way to go.
fn rank<'a>(
    value: &Value,
    wanted: &[&'a [u8]],
    length: usize,
    ranks: &mut HashMap<&'a [u8], usize>,
) {
    match value {
        Value::Object(fields) => {
            let dot = usize::from(length > 0);
            let wanted = starting(wanted, length, &b"."[..dot]);
            if wanted.is_empty() {
                return;
            }
            for (key, value) in fields.iter() {
                let wanted = starting(wanted, length + dot, key.as_bytes());
                let length = length + dot + key.len();
                let Some(first) = wanted.first() else {
                    continue;
                };
                if first.len() == length {
                    let next = ranks.len();
                    ranks.entry(first).or_insert(next);
                }
                rank(value, wanted, length, ranks);
            }
        }
        Value::Array(items) => {
            let wanted = starting(wanted, length, b"[");
            if wanted.is_empty() {
                return;
            }
            for (index, item) in items.iter().enumerate() {
                let step = format!("[{index}]");
                let wanted = starting(wanted, length, step.as_bytes());
                if !wanted.is_empty() {
                    rank(item, wanted, length + step.len(), ranks);
                }
            }
        }
        _ => {}
    }
}

/// Those of sorted texts that go on with `step` after `length` bytes that they have in common.
fn starting<'a, 'b>(sorted: &'b [&'a [u8]], length: usize, step: &[u8]) -> &'b [&'a [u8]] {
    let sorted = &sorted[sorted.partition_point(|it| it[length..] < *step)..];
    &sorted[..sorted.partition_point(|it| it[length..].starts_with(step))]
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn fields_are_told_in_the_order_of_the_document() {
        let object = json!({
            "z": 1,
            "a.b": {"c": 1},
            "list": [{"y": 1}, {"x": {"w": 1}, "v": 1}],
            "a": {"b": {"c": 1, "d": 1}, "": {"e": 1}},
        });
        let order = [
            "z",
            "a.b",
            "a.b.c",
            "list[0].y",
            "list[1].x",
            "list[1].v",
            "a.b.d",
            "a..e",
        ];
        let expected: Vec<String> = (order.iter())
            .map(|path| format!("unknown field \"{path}\""))
            .collect();
        let mut sorted = order;
        sorted.sort_unstable();
        let mut found: Vec<_> = sorted.into_iter().map(StrictError::unknown).collect();
        found.push(StrictError::unknown("not there"));
        let lines = yaml::Error::Unmarshal(vec!["line 1".into()]);
        found.push(StrictError::Yaml(lines));
        in_document_order(&object, &mut found);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            found.first().map(String::as_str),
            Some("yaml: unmarshal errors:\n  line 1")
        );
        assert_eq!(
            found.last().map(String::as_str),
            Some("unknown field \"not there\"")
        );
        assert_eq!(found[1..=expected.len()], expected);
    }
}
