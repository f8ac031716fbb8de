//! Values as the cases write them.

use cel::{Opaque, Type, Value};
use json::Value as Json;

/// A value that a case binds to a variable. Lives as long as the test.
pub(crate) fn read(text: &Json) -> Value<'static> {
    let object = text.as_object().expect("a typed value");
    let (kind, value) = object.iter().next().expect("a typed value");
    let number = || value.as_str().expect("a number");
    match &**kind {
        "null" => Value::Null,
        "bool" => Value::Bool(value.as_bool().expect("a boolean")),
        "int" => Value::Int(number().parse().expect("an int")),
        "uint" => Value::Uint(number().parse().expect("a uint")),
        "double" => Value::Double(double(value)),
        "string" => Value::string(value.as_str().expect("a string").to_owned()),
        "bytes" => Value::Bytes(base64(value.as_str().expect("base64")).into()),
        "list" => Value::list(value.as_array().expect("a list").iter().map(read).collect()),
        "map" => {
            let mut text = String::from("{");
            let _ = &mut text;
            map(value.as_array().expect("a list of entries"))
        }
        "type" => Value::Type(std::sync::Arc::new(type_named(
            value.as_str().expect("a name"),
        ))),
        "timestamp" => eval(&format!("timestamp('{}')", number())),
        "duration" => eval(&format!("duration('{}')", number())),
        other => panic!("{other} is no type of a binding"),
    }
}

fn map(entries: &[Json]) -> Value<'static> {
    // Maps are made as expressions make them.
    let keys: Vec<(Value, Value)> = entries
        .iter()
        .map(|it| {
            (
                read(&it.as_array().unwrap()[0]),
                read(&it.as_array().unwrap()[1]),
            )
        })
        .collect();
    let names: Vec<String> = (0..keys.len()).map(|it| format!("k{it}: v{it}")).collect();
    let mut env = cel::Env::standard();
    for at in 0..keys.len() {
        env = env
            .variable(&format!("k{at}"), Type::Dyn)
            .variable(&format!("v{at}"), Type::Dyn);
    }
    let program = Box::leak(Box::new(
        env.compile(&format!("{{{}}}", names.join(", ")))
            .unwrap()
            .program()
            .unwrap(),
    ));
    let find = move |name: &str| {
        let at: usize = name[1..].parse().ok()?;
        let (key, value) = keys.get(at)?;
        Some(if name.starts_with('k') {
            key.clone()
        } else {
            value.clone()
        })
    };
    program.evaluate(&find, cel::Limits::default()).0.unwrap()
}

fn eval(text: &str) -> Value<'static> {
    let program = cel::Env::standard()
        .compile(text)
        .unwrap()
        .program()
        .unwrap();
    let program = Box::leak(Box::new(program));
    program
        .evaluate(&|_: &str| None, cel::Limits::default())
        .0
        .unwrap()
}

fn type_named(name: &str) -> Type {
    match name {
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        other => Type::structure(other),
    }
}

fn double(text: &Json) -> f64 {
    match text.as_str().expect("a double") {
        "NaN" => f64::NAN,
        "Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        other => other.parse().expect("a double"),
    }
}

fn base64(text: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for it in text.bytes().filter(|it| *it != b'=') {
        bits = bits << 6
            | u32::try_from(digits.iter().position(|digit| *digit == it).unwrap()).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xff) as u8);
        }
    }
    out
}

/// Whether a value is the expected one.
pub(crate) fn same(wanted: &Json, actual: &Value) -> bool {
    let Some((kind, value)) = wanted.as_object().and_then(|it| it.iter().next()) else {
        return false;
    };
    match (&**kind, actual) {
        ("bool", Value::Bool(it)) => value.as_bool() == Some(*it),
        ("int", Value::Int(it)) => value.as_str() == Some(&it.to_string()),
        ("uint", Value::Uint(it)) => value.as_str() == Some(&it.to_string()),
        ("double", Value::Double(it)) => {
            let wanted = double(value);
            wanted.to_bits() == it.to_bits() || (wanted.is_nan() && it.is_nan())
        }
        ("string", Value::String(it)) => value.as_str() == Some(it),
        ("bytes", Value::Bytes(it)) => base64(value.as_str().unwrap_or("")) == **it,
        ("list", Value::List(list)) => {
            let wanted = value.as_array().expect("a list");
            wanted.len() == list.len()
                && wanted
                    .iter()
                    .zip(list.iter())
                    .all(|(wanted, actual)| actual.is_ok_and(|it| same(wanted, &it)))
        }
        ("map", Value::Map(map)) => {
            let wanted = value.as_array().expect("a list of entries");
            wanted.len() == map.len()
                && wanted.iter().all(|it| {
                    let pair = it.as_array().expect("an entry");
                    map.find(&read(&pair[0]))
                        .is_some_and(|it| it.is_ok_and(|it| same(&pair[1], &it)))
                })
        }
        ("type", Value::Type(it)) => value.as_str() == Some(it.name()),
        ("timestamp", Value::Timestamp(_)) => {
            let Value::Timestamp(wanted) = read(wanted) else {
                return false;
            };
            let Value::Timestamp(actual) = actual else {
                return false;
            };
            (wanted.seconds, wanted.nanos) == (actual.seconds, actual.nanos)
        }
        ("duration", Value::Duration(it)) => {
            matches!(read(wanted), Value::Duration(wanted) if wanted == *it)
        }
        ("optional", Value::Optional(None)) => value.is_null(),
        ("optional", Value::Optional(Some(it))) => !value.is_null() && same(value, it),
        ("opaque", Value::Opaque(it)) => match it {
            Opaque::Format(_) | Opaque::Authz(_) => true,
            other => wanted.str_at(&["text"]) == Some(&other.to_string()),
        },
        ("null", Value::Null) | ("opaque", _) => true,
        _ => false,
    }
}
