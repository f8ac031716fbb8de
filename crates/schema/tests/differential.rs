//! What upstream's own decoder and encoders made of many objects, good and bad.

use json::Value;
use schema::{builtin, protobuf};

fn hex(text: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digit).collect()
}

/// Lines of `{"in": object, "error": text, "json": text, "pb": hex}`.
#[test]
fn as_upstream_decodes() {
    let committed = include_str!("golden/decoded.jsonl").to_owned();
    let more =
        std::env::var_os("PILOTHOUSE_DECODED").map(|path| std::fs::read_to_string(path).unwrap());
    let mut wrong = Vec::new();
    let mut seen = 0;
    for line in committed
        .lines()
        .chain(more.iter().flat_map(|it| it.lines()))
    {
        let case = json::parse(line.as_bytes()).unwrap();
        let input = case.get("in").unwrap();
        let api_version = input.str_at(&["apiVersion"]).unwrap();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let kind = input.str_at(&["kind"]).unwrap();
        let Some(schema) = builtin().kind(group, version, kind) else {
            continue;
        };
        let error = case.str_at(&["error"]).unwrap_or_default();
        if error.starts_with("no kind") {
            continue;
        }
        seen += 1;
        let checked = schema::check_types(schema.place(), input)
            .err()
            .map(|it| it.to_string());
        if case.get("json").is_none() {
            if checked.as_deref() != Some(error) {
                wrong.push(format!("{kind}: {checked:?}\n    instead of {error}"));
            }
            continue;
        }
        let unknown = schema::unknown(schema.place(), input).join(", ");
        let wanted = error.trim_start_matches("strict decoding error: ");
        if checked.is_some() || unknown != wanted {
            wrong.push(format!(
                "{kind}: {checked:?} {unknown}\n    instead of {wanted}"
            ));
        }
        let mut canonical = input.clone();
        schema::canonical(schema.place(), &mut canonical);
        let wanted = case.str_at(&["json"]).unwrap();
        if canonical.to_string() != wanted {
            wrong.push(format!(
                "{kind}: {}",
                differ(&canonical.to_string(), wanted)
            ));
        }
        let bytes = hex(case.str_at(&["pb"]).unwrap());
        match protobuf::encode_object(schema.place(), &canonical) {
            Ok(encoded) if encoded == bytes => {}
            other => wrong.push(format!("{kind}: encoded {:?}", other.map(|it| it.len()))),
        }
        match protobuf::decode_object(&bytes) {
            Ok(decoded) if decoded.to_string() == canonical.to_string() => {}
            // Protobuf has no empty lists and maps, only none.
            Ok(decoded) if without_empty(&decoded) == without_empty(&canonical) => {}
            Ok(decoded) => {
                wrong.push(format!(
                    "{kind}: decoded {}",
                    differ(&decoded.to_string(), &canonical.to_string())
                ));
            }
            Err(error) => wrong.push(format!("{kind}: decode: {error}")),
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n{} wrong of {seen}",
        wrong.join("\n"),
        wrong.len()
    );
    assert!(seen > 5, "{seen}");
}

fn without_empty(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let pairs = object
                .iter()
                .map(|(key, value)| (key.clone(), without_empty(value)));
            Value::Object(pairs.filter(|(_, it)| !matches!(it, Value::Null)).collect())
        }
        Value::Array(items) if items.is_empty() => Value::Null,
        Value::Array(items) => items.iter().map(without_empty).collect(),
        other => other.clone(),
    }
}

fn differ(a: &str, b: &str) -> String {
    let at = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let from = at.saturating_sub(60);
    let cut = |text: &str| {
        text.get(from..(at + 80).min(text.len()))
            .unwrap_or_default()
            .to_owned()
    };
    format!("{}\n    instead of {}", cut(a), cut(b))
}
