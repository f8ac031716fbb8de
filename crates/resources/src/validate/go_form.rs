//! Values as upstream prints its internal types: all fields of a struct, in its order and with Go's names.

use std::collections::HashMap;
use std::sync::OnceLock;

use json::{Object, Value};

use super::words::read_quantity;

/// A type a paragraph: its name, then its fields as Go name, JSON name and type. Types are `s`, `b`, `i` and `q` for
/// texts, booleans, integers and quantities, `map`, `any`, or another struct, after `*` or `[]`.
const TYPES: &str = include_str!("go_types.txt");

struct Field {
    go: &'static str,
    json: &'static str,
    kind: &'static str,
}

fn types() -> &'static HashMap<&'static str, Vec<Field>> {
    static PARSED: OnceLock<HashMap<&'static str, Vec<Field>>> = OnceLock::new();
    PARSED.get_or_init(|| {
        let mut all: HashMap<&str, Vec<Field>> = HashMap::new();
        let mut name = "";
        for line in TYPES.lines() {
            let mut words = line.split_whitespace();
            let mut word = || words.next().unwrap_or_default();
            if line.starts_with(' ') {
                let (go, json, kind) = (word(), word(), word());
                all.entry(name).or_default().push(Field { go, json, kind });
            } else {
                name = line;
            }
        }
        all
    })
}

/// Recurses as deep as the value is, which the parser bounds.
pub(super) fn go_form(kind: &str, value: &Value) -> Value {
    if let Some(kind) = kind.strip_prefix('*') {
        return if value.is_null() {
            Value::Null
        } else {
            go_form(kind, value)
        };
    }
    if let Some(kind) = kind.strip_prefix("[]") {
        return match value {
            Value::Array(items) if !items.is_empty() => {
                items.iter().map(|it| go_form(kind, it)).collect()
            }
            _ => Value::Null,
        };
    }
    let or = |zero: Value| if value.is_null() { zero } else { value.clone() };
    match kind {
        "s" => or("".into()),
        "b" => or(false.into()),
        "i" => or(0.into()),
        "q" => read_quantity(value).map_or("0".into(), |it| it.to_string().into()),
        "map" => match value {
            Value::Object(pairs) if !pairs.is_empty() => {
                let mut pairs = pairs.clone();
                pairs.sort_keys();
                Value::Object(pairs)
            }
            _ => Value::Null,
        },
        "any" => value.clone(),
        _ => of_struct(kind, value),
    }
}

fn of_struct(kind: &str, value: &Value) -> Value {
    let fields = types().get(kind).map(Vec::as_slice).unwrap_or_default();
    let mut out = Object::with_capacity(fields.len());
    for field in fields {
        let own = value.get(field.json).unwrap_or(&Value::Null);
        // An embedded struct has no name of its own.
        if field.go == "-" {
            for (key, value) in own.as_object().into_iter().flat_map(Object::iter) {
                out.insert(key.clone(), value.clone());
            }
        } else {
            out.insert(field.go, go_form(field.kind, own));
        }
    }
    Value::Object(out)
}
