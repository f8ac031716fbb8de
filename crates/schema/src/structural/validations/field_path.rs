//! Paths that rules and selectable fields name: `.spec.a['b.c']`.

use json::Value;

use super::{below, properties};

/// A path that a schema has.
#[derive(Debug)]
pub(in crate::structural) struct FieldPath<'a> {
    /// As errors write it: `spec.a[b.c]`.
    pub(in crate::structural) path: String,
    /// The name of the first field.
    pub(in crate::structural) root: String,
    /// What is there; nothing where a map takes any value.
    pub(in crate::structural) schema: Option<&'a Value>,
}

const END: &str = "unexpected end of JSON path";
const NO_FIELD: &str = "does not refer to a valid field";

/// Reads a path as upstream's `ValidFieldPath` does, or says what is wrong with it.
pub(in crate::structural) fn field_path<'a>(
    schema: &'a Value,
    path: &str,
    allow_array_notation: bool,
) -> Result<FieldPath<'a>, String> {
    let mut tokens = Tokens(path);
    let mut found = FieldPath {
        path: String::new(),
        root: String::new(),
        schema: Some(schema),
    };
    while let Some(token) = tokens.next() {
        match token {
            "[" if !allow_array_notation => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let token = tokens.next().ok_or(END)?;
                let quoted = token
                    .strip_prefix('\'')
                    .and_then(|it| it.strip_suffix('\''));
                let quoted = quoted
                    .ok_or_else(|| format!("expected single quoted string but got {token}"))?;
                found.step(&unescape(quoted)?)?;
                match tokens.next().ok_or(END)? {
                    "]" => {}
                    other => return Err(format!("expected ] but got {other}")),
                }
            }
            "." => found.step(tokens.next().ok_or(END)?)?,
            other => return Err(format!("expected [ or . but got: {other}")),
        }
    }
    Ok(found)
}

impl FieldPath<'_> {
    /// A field of an object, or any key of a map.
    fn step(&mut self, name: &str) -> Result<(), String> {
        let schema = self.schema.ok_or(NO_FIELD)?;
        let is_first = self.path.is_empty();
        if properties(schema).next().is_some() {
            self.schema = Some(schema.at(&["properties", name]).ok_or(NO_FIELD)?);
            match name {
                "" => self.path.push_str("[]"),
                name => {
                    self.path.push_str(if is_first { "" } else { "." });
                    self.path.push_str(name);
                }
            }
        } else if schema
            .get("additionalProperties")
            .is_some_and(|it| !it.is_null())
        {
            self.schema = below(schema, "additionalProperties");
            self.path.push('[');
            self.path.push_str(name);
            self.path.push(']');
        } else {
            return Err(NO_FIELD.to_owned());
        }
        if is_first {
            self.root.clone_from(&self.path);
        }
        Ok(())
    }
}

/// Dots, brackets, and what is between them. Quotes keep them together.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.0;
        let bytes = text.as_bytes();
        let first = *bytes.first()?;
        let end = if first == b'\'' {
            let closes = |at: &usize| bytes[*at] == b'\'' && bytes[at - 1] != b'\\';
            (1..bytes.len()).find(closes).map(|at| at + 1)
        } else if is_delimiter(first) {
            Some(1)
        } else {
            bytes.iter().position(|it| is_delimiter(*it))
        };
        let (token, rest) = text.split_at(end.unwrap_or(text.len()));
        self.0 = rest;
        Some(token)
    }
}

fn is_delimiter(it: u8) -> bool {
    matches!(it, b'.' | b'[' | b']')
}

fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(it) = chars.next() {
        if it != '\\' {
            out.push(it);
            continue;
        }
        out.push(match chars.next() {
            Some('a') => '\u{7}',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some(it @ ('\'' | '\\')) => it,
            Some(it) => {
                return Err(format!(
                    "invalid string literal: invalid escape char \\{it}"
                ));
            }
            None => '\\',
        });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn paths_as_upstream_reads_them() {
        let schema = json!({"properties": {
            "a": {"properties": {"b.c": {"type": "string"}, "it's": {"type": "string"}}},
            "map": {"additionalProperties": {"properties": {"x": {"type": "integer"}}}},
            "list": {"type": "array", "items": {"properties": {"b": {"type": "string"}}}},
        }});
        let path = |text: &str| match field_path(&schema, text, true) {
            Ok(it) => it.path,
            Err(why) => format!("! {why}"),
        };
        for (text, expected) in [
            (".a", "a"),
            (".a['b.c']", "a.b.c"),
            ("['a']['it\\'s']", "a.it's"),
            (".map.anything.x", "map[anything].x"),
            (".map['any.thing']", "map[any.thing]"),
            (".a.b", "! does not refer to a valid field"),
            (".list[0].b", "! expected single quoted string but got 0"),
            (".list.b", "! does not refer to a valid field"),
            (".", "! unexpected end of JSON path"),
            ("..", "! does not refer to a valid field"),
            ("a", "! expected [ or . but got: a"),
            (".a['b", "! expected single quoted string but got 'b"),
            (".a['b.c'", "! unexpected end of JSON path"),
            (".a['b.c'.", "! expected ] but got ."),
            (
                ".a['\\q']",
                "! invalid string literal: invalid escape char \\q",
            ),
        ] {
            assert_eq!(path(text), expected, "{text}");
        }
        let found = field_path(&schema, ".a['b.c']", true).unwrap();
        assert_eq!(found.root, "a");
        assert_eq!(found.schema, Some(&json!({"type": "string"})));
        let refused = field_path(&schema, ".a['b.c']", false).unwrap_err();
        assert_eq!(refused, "array notation is not allowed");
    }
}
