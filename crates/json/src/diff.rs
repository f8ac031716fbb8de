//! Where two values differ: for tests and for people.

use std::fmt;

use crate::Value;

/// One place where the values differ, as deep as it can be told.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference<'a> {
    /// As `spec.containers[0].name`; empty for the values as a whole.
    pub path: String,
    /// Nothing if only the right has it.
    pub left: Option<&'a Value>,
    /// Nothing if only the left has it.
    pub right: Option<&'a Value>,
}

/// In the order of the left, then what only the right has. Items of arrays are compared by their place.
pub fn diff<'a>(left: &'a Value, right: &'a Value) -> Vec<Difference<'a>> {
    let mut found = Vec::new();
    compare(&mut found, String::new(), Some(left), Some(right));
    found
}

fn compare<'a>(
    found: &mut Vec<Difference<'a>>,
    path: String,
    left: Option<&'a Value>,
    right: Option<&'a Value>,
) {
    if left == right {
        return;
    }
    match (left, right) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let only_right = b.iter().filter(|(key, _)| !a.contains_key(key));
            for (key, _) in a.iter().chain(only_right) {
                let below = if path.is_empty() {
                    key.to_string()
                } else {
                    format!("{path}.{key}")
                };
                compare(found, below, a.get(key), b.get(key));
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            for index in 0..a.len().max(b.len()) {
                let below = format!("{path}[{index}]");
                compare(found, below, a.get(index), b.get(index));
            }
        }
        _ => found.push(Difference { path, left, right }),
    }
}

impl fmt::Display for Difference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() {
            "the value"
        } else {
            &self.path
        };
        match (self.left, self.right) {
            (Some(left), Some(right)) => write!(f, "{path}: {left} became {right}"),
            (Some(left), None) => write!(f, "{path}: {left} is gone"),
            (None, Some(right)) => write!(f, "{path}: {right} is new"),
            (None, None) => write!(f, "{path}: nothing"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn tells_each_place() {
        let cases: [(&str, &str, &[&str]); 7] = [
            ("1", "1", &[]),
            ("1", "1.0", &["the value: 1 became 1"]),
            (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, &[]),
            (
                r#"{"a":1,"b":{"c":[1,2]}}"#,
                r#"{"b":{"c":[1,3,4]},"d":null}"#,
                &[
                    "a: 1 is gone",
                    "b.c[1]: 2 became 3",
                    "b.c[2]: 4 is new",
                    "d: null is new",
                ],
            ),
            ("[1,[2]]", "[1,[]]", &["[1][0]: 2 is gone"]),
            (r#"{"a":[]}"#, r#"{"a":{}}"#, &["a: [] became {}"]),
            (r#"[{"a":1}]"#, r#"[{"a":2}]"#, &["[0].a: 1 became 2"]),
        ];
        for (left, right, expected) in cases {
            let (left, right) = (parse(left.as_bytes()), parse(right.as_bytes()));
            let (left, right) = (left.expect("JSON"), right.expect("JSON"));
            let found: Vec<_> = diff(&left, &right)
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(found, expected);
        }
    }
}
