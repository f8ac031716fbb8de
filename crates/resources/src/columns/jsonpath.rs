//! The `JSONPath` of `kubectl`, as far as one path goes: fields, indexes, slices, wildcards, descent, unions and filters.

use std::cmp::Ordering;

use json::{Number, Value};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unrecognized column definition {0:?}")]
pub struct JsonPathError(pub String);

/// More steps than any path needs; filters nest no deeper either.
const MOST: usize = 64;
/// A path with descents can find more than there is; no column shows that much.
const MOST_FOUND: usize = 10_000;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path(Vec<Step>);

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    Slice {
        from: Option<i64>,
        to: To,
        step: usize,
    },
    Wildcard,
    Descent,
    Union(Vec<Path>),
    Filter(Box<Filter>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum To {
    End,
    /// One element: the index is the slice.
    Single,
    At(i64),
}

#[derive(Clone, Debug, PartialEq)]
struct Filter {
    left: Operand,
    compare: Option<(Compare, Operand)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Compare {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Path(Path),
    Literal(Value),
}

impl Path {
    pub(super) fn parse(text: &str) -> Result<Self, JsonPathError> {
        let error = || JsonPathError(text.to_owned());
        let inner = text
            .strip_prefix('{')
            .and_then(|it| it.strip_suffix('}'))
            .unwrap_or(text);
        let mut parser = Parser {
            rest: inner.trim(),
            depth: 0,
        };
        let path = parser.path().ok_or_else(error)?;
        if parser.rest.is_empty() {
            Ok(path)
        } else {
            Err(error())
        }
    }

    /// The first value found; nothing if there is none or the path does not fit the value.
    pub(super) fn first<'a>(&self, root: &'a Value) -> Option<&'a Value> {
        self.find(root)?.first().copied()
    }

    fn find<'a>(&self, root: &'a Value) -> Option<Vec<&'a Value>> {
        let mut found = vec![root];
        for step in &self.0 {
            found = step.find(&found)?;
            found.truncate(MOST_FOUND);
        }
        Some(found)
    }
}

impl Step {
    fn find<'a>(&self, input: &[&'a Value]) -> Option<Vec<&'a Value>> {
        let mut out = Vec::new();
        match self {
            Self::Field(key) => out.extend(input.iter().filter_map(|it| it.get(key))),
            Self::Wildcard => input.iter().for_each(|it| out.extend(children(it))),
            Self::Descent => input.iter().for_each(|it| descend(it, &mut out)),
            Self::Slice { from, to, step } => {
                for value in input.iter().filter(|it| !it.is_null()) {
                    let items = value.as_array()?;
                    out.extend(slice(items, *from, *to)?.iter().step_by(*step));
                }
            }
            Self::Union(paths) => {
                for path in paths {
                    for value in input {
                        out.extend(path.find(value)?);
                    }
                }
            }
            Self::Filter(filter) => {
                for value in input {
                    for item in value.as_array()? {
                        if filter.passes(item)? {
                            out.push(item);
                        }
                    }
                }
            }
        }
        Some(out)
    }
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(object) => object.values().collect(),
        _ => Vec::new(),
    }
}

fn descend<'a>(value: &'a Value, out: &mut Vec<&'a Value>) {
    let below = children(value);
    if !below.is_empty() && out.len() < MOST_FOUND {
        out.push(value);
        for it in below {
            descend(it, out);
        }
    }
}

fn slice(items: &[Value], from: Option<i64>, to: To) -> Option<&[Value]> {
    let length = i64::try_from(items.len()).ok()?;
    let counted = |it: i64| if it < 0 { it + length } else { it };
    let start = counted(from.unwrap_or(0));
    let end = match to {
        To::End => length,
        To::Single => start.saturating_add(1),
        To::At(end) => counted(end),
    };
    if start == end {
        return Some(&[]);
    }
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
    // An index beyond the end is an error, not nothing.
    items.get(start..end)
}

impl Filter {
    fn passes(&self, item: &Value) -> Option<bool> {
        let Some((compare, right)) = &self.compare else {
            return Some(self.left.find(item).is_some_and(|it| !it.is_empty()));
        };
        let (left, right) = (self.left.find(item)?, right.find(item)?);
        match (left.as_slice(), right.as_slice()) {
            ([], _) | (_, []) => Some(false),
            ([left], [right]) => compare.holds(left, right),
            _ => None,
        }
    }
}

impl Operand {
    fn find<'a>(&'a self, item: &'a Value) -> Option<Vec<&'a Value>> {
        match self {
            Self::Path(path) => path.find(item),
            Self::Literal(value) => Some(vec![value]),
        }
    }
}

impl Compare {
    /// Values of different kinds do not compare.
    fn holds(self, left: &Value, right: &Value) -> Option<bool> {
        let order = match (left, right) {
            (Value::String(a), Value::String(b)) => a.cmp(b),
            (Value::Number(Number::Int(a)), Value::Number(Number::Int(b))) => a.cmp(b),
            (Value::Number(a), Value::Number(b)) => a.as_f64().partial_cmp(&b.as_f64())?,
            (Value::Bool(a), Value::Bool(b)) if matches!(self, Self::Equal | Self::NotEqual) => {
                a.cmp(b)
            }
            _ => return None,
        };
        Some(match self {
            Self::Equal => order == Ordering::Equal,
            Self::NotEqual => order != Ordering::Equal,
            Self::Less => order == Ordering::Less,
            Self::LessEqual => order != Ordering::Greater,
            Self::Greater => order == Ordering::Greater,
            Self::GreaterEqual => order != Ordering::Less,
        })
    }
}

/// As text: JSON for what has parts, Go's `%v` for the rest.
pub(super) fn print(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".into(),
        Value::String(it) => it.to_string(),
        Value::Array(_) | Value::Object(_) => json::to_string(&sorted(value)),
        Value::Number(Number::Float(it)) if it.abs() < 1e-4 && *it != 0.0 => {
            let text = format!("{it:e}");
            let (digits, exponent) = text.split_once("e-").unwrap_or((&text, "0"));
            format!("{digits}e-{exponent:0>2}")
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut object: json::Object = object
                .iter()
                .map(|(key, it)| (key.clone(), sorted(it)))
                .collect();
            object.sort_keys();
            object.into()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn path(&mut self) -> Option<Path> {
        let mut steps = Vec::new();
        self.eat("$");
        while steps.len() < MOST {
            if self.eat("..") {
                steps.push(Step::Descent);
                if !self.rest.starts_with('[') {
                    steps.push(self.field()?);
                }
            } else if self.eat(".") {
                // A dot alone is the value itself.
                if !self.rest.is_empty() && !self.rest.starts_with('[') {
                    steps.push(self.field()?);
                }
            } else if self.eat("[") {
                steps.push(self.bracket()?);
            } else {
                return (!steps.is_empty() || self.rest.is_empty()).then_some(Path(steps));
            }
        }
        None
    }

    fn eat(&mut self, token: &str) -> bool {
        let after = self.rest.strip_prefix(token);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn field(&mut self) -> Option<Step> {
        let mut name = String::new();
        let mut chars = self.rest.char_indices();
        let mut end = self.rest.len();
        while let Some((at, it)) = chars.next() {
            match it {
                '\\' => name.push(chars.next()?.1),
                '.' | '[' | ']' | ')' | '=' | '!' | '<' | '>' | ' ' | '}' | '{' | ',' => {
                    end = at;
                    break;
                }
                _ => name.push(it),
            }
        }
        self.rest = &self.rest[end..];
        match name.as_str() {
            "" => None,
            "*" => Some(Step::Wildcard),
            _ => Some(Step::Field(name)),
        }
    }

    fn bracket(&mut self) -> Option<Step> {
        if self.eat("?(") {
            return self.filter();
        }
        let mut all = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            all.push(self.entry()?);
            self.rest = self.rest.trim_start();
            if self.eat("]") {
                break;
            }
            if !self.eat(",") || all.len() > MOST {
                return None;
            }
        }
        if all.len() == 1 {
            return all.pop();
        }
        Some(Step::Union(
            all.into_iter().map(|it| Path(vec![it])).collect(),
        ))
    }

    fn entry(&mut self) -> Option<Step> {
        if self.eat("*") {
            return Some(Step::Wildcard);
        }
        if let Some(name) = self.quoted() {
            return Some(Step::Field(name));
        }
        let end = self.rest.find([',', ']'])?;
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        let mut parts = text.trim().split(':');
        let number = |it: &str| {
            if it.is_empty() {
                Some(None)
            } else {
                it.parse().ok().map(Some)
            }
        };
        let from = number(parts.next()?)?;
        let Some(to) = parts.next() else {
            from?;
            return Some(Step::Slice {
                from,
                to: To::Single,
                step: 1,
            });
        };
        let to = number(to)?.map_or(To::End, To::At);
        let step = match parts.next() {
            Some(step) => number(step)?.map_or(Some(1), |it: i64| usize::try_from(it).ok())?,
            None => 1,
        };
        (step > 0 && parts.next().is_none()).then_some(Step::Slice { from, to, step })
    }

    fn quoted(&mut self) -> Option<String> {
        let quote = self
            .rest
            .chars()
            .next()
            .filter(|it| matches!(it, '\'' | '"'))?;
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, it)) = chars.next() {
            if it == quote {
                self.rest = &self.rest[at + 1..];
                return Some(text);
            }
            text.push(if it == '\\' { chars.next()?.1 } else { it });
        }
        None
    }

    fn filter(&mut self) -> Option<Step> {
        self.depth += 1;
        if self.depth > 8 {
            return None;
        }
        let left = self.operand()?;
        let compare = match self.compare() {
            Some(compare) => Some((compare, self.operand()?)),
            None => None,
        };
        self.rest = self.rest.trim_start();
        self.depth -= 1;
        let closed = self.eat(")") && self.eat("]");
        closed.then(|| Step::Filter(Box::new(Filter { left, compare })))
    }

    fn compare(&mut self) -> Option<Compare> {
        self.rest = self.rest.trim_start();
        let all = [
            ("==", Compare::Equal),
            ("!=", Compare::NotEqual),
            ("<=", Compare::LessEqual),
            (">=", Compare::GreaterEqual),
            ("<", Compare::Less),
            (">", Compare::Greater),
        ];
        all.into_iter()
            .find(|(token, _)| self.eat(token))
            .map(|(_, it)| it)
    }

    fn operand(&mut self) -> Option<Operand> {
        self.rest = self.rest.trim_start();
        if self.eat("@") {
            return self.path().map(Operand::Path);
        }
        if let Some(text) = self.quoted() {
            return Some(Operand::Literal(text.into()));
        }
        let end = self
            .rest
            .find([')', ' ', '=', '!', '<', '>'])
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        let value = json::parse(word.as_bytes()).ok()?;
        matches!(value, Value::Bool(_) | Value::Number(_)).then_some(Operand::Literal(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let object = json::parse(
            br#"{"a":{"b":[1,2,3],"c.d":"x"},"n":null,"f":1.5,"t":true,"z":{"y":1,"x":[]},
                "conditions":[{"type":"A","status":"False","n":1},{"type":"Ready","status":"True","n":2}]}"#,
        )
        .unwrap();
        for (path, found) in [
            (".a.b[0]", Some("1")),
            (".a.b[-1]", Some("3")),
            (".a.b[5]", None),
            (".a.b[1:]", Some("2")),
            (".a.b[0:0]", None),
            (".a.b[*]", Some("1")),
            (".a.b", Some("[1,2,3]")),
            (".a.c\\.d", Some("x")),
            (".a['c.d']", Some("x")),
            ("$.a.b[2]", Some("3")),
            ("{.a.b[2]}", Some("3")),
            (".conditions[?(@.type==\"Ready\")].status", Some("True")),
            (".conditions[?(@.type=='Nope')].status", None),
            (".conditions[?(@.n > 1)].type", Some("Ready")),
            (".conditions[?(@.missing)].type", None),
            (".conditions[?(@.status)].type", Some("A")),
            (".missing.deep", None),
            (".n", Some("<no value>")),
            (".f", Some("1.5")),
            (".t", Some("true")),
            (".z", Some(r#"{"x":[],"y":1}"#)),
            ("..status", Some("False")),
            (".conditions[0,1].type", Some("A")),
        ] {
            let parsed = Path::parse(path).unwrap();
            assert_eq!(parsed.first(&object).map(print).as_deref(), found, "{path}");
        }
        for bad in [
            ".a[",
            ".a[?(@.b==]",
            ".a[x]",
            ".a..",
            "a b",
            ".a[1:2:0]",
            ".a[?(@.b=='x')",
            ".a]",
        ] {
            assert!(Path::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(print(&Value::from(Number::Float(0.00001))), "1e-05");
    }
}
