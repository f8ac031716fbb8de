//! Random values survive being written and read, and a second parser agrees with ours on random text.

use json::{
    Limits, Number, Object, Value, parse, parse_with, scan, to_string, to_string_pretty, to_vec,
};
use proptest::prelude::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,12}",
        "[a-zA-Z:/.{}\"]{10,40}",
        ".{0,12}",
        "[\\x00-\\x20<>&\u{2028}\u{2029}\\\\\"é€😀]{0,20}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1000..1000_i64).prop_map(Value::from),
        // Go writes whole floats without a point, so they come back as integers.
        any::<f64>()
            .prop_filter("with a fraction", |it| it.is_finite() && it.fract() != 0.0)
            .prop_map(|it| Value::Number(Number::Float(it))),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 10, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            prop::collection::vec((text(), inner), 0..8)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Object>())),
        ]
    })
}

/// JSON, and what a slip makes of it.
fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    let slip = prop_oneof![
        prop::sample::select(
            [
                "{",
                "}",
                "[",
                "]",
                ",",
                ":",
                "\"",
                "\\",
                "\\u00e9",
                "0",
                "-",
                "1e5",
                ".",
                "e",
                " ",
                "\n",
                "nul",
                "true",
                "\u{0}",
                "é",
                "\"a\":1,",
                "1E400",
                "-0",
                "18446744073709551615",
            ]
            .as_slice()
        )
        .prop_map(|it| it.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 1..3),
    ];
    (
        value(),
        any::<bool>(),
        prop::option::of((any::<prop::sample::Index>(), slip, 0..4_usize)),
    )
        .prop_map(|(value, pretty, slip)| {
            let mut text = if pretty {
                to_string_pretty(&value, "\t").into_bytes()
            } else {
                to_vec(&value)
            };
            if let Some((at, slip, cut)) = slip {
                let at = at.index(text.len() + 1);
                let end = text.len().min(at + cut);
                text.splice(at..end, slip);
            }
            text
        })
}

fn same(ours: &Value, theirs: &serde_json::Value) -> bool {
    match (ours, theirs) {
        (Value::Null, serde_json::Value::Null) => true,
        (Value::Bool(a), serde_json::Value::Bool(b)) => a == b,
        (Value::Number(a), serde_json::Value::Number(b)) => match a.as_i64() {
            Some(a) => b.as_i64() == Some(a) || a == 0 && b.as_f64() == Some(0.0),
            None => b.as_f64() == Some(a.as_f64()),
        },
        (Value::String(a), serde_json::Value::String(b)) => *a == *b.as_str(),
        (Value::Array(a), serde_json::Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), serde_json::Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key.as_str()).is_some_and(|b| same(a, b)))
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn values_survive_the_way_through_text(value in value()) {
        let text = to_vec(&value);
        let parsed = parse_with(&text, Limits::default()).expect("what is written is JSON");
        prop_assert_eq!(&parsed.value, &value);
        prop_assert!(parsed.duplicates.is_empty());
        prop_assert_eq!(to_vec(&parsed.value), text);
        let pretty = to_string_pretty(&value, "  ");
        prop_assert_eq!(&parse(pretty.as_bytes()).expect("JSON"), &value);
        let theirs: serde_json::Value = serde_json::from_str(&pretty).expect("JSON");
        prop_assert!(same(&value, &theirs));
    }

    #[test]
    fn another_parser_agrees(text in nearly_json()) {
        match (parse(&text), serde_json::from_slice::<serde_json::Value>(&text)) {
            (Ok(ours), Ok(theirs)) => prop_assert!(same(&ours, &theirs), "{} {}", ours, theirs),
            (Err(_), Err(_)) => {}
            // Ours makes U+FFFD of lone surrogates.
            (Ok(_), Err(error)) => prop_assert!(
                error.to_string().contains("surrogate") || error.to_string().contains("hex escape"),
                "{} {}", error, String::from_utf8_lossy(&text)
            ),
            (Err(error), Ok(_)) => prop_assert!(false, "{} {}", error, String::from_utf8_lossy(&text)),
        }
    }

    /// The scanner finds in the text what the tree has.
    #[test]
    fn scanner_agrees_with_tree(value in value()) {
        for text in [to_string(&value), to_string_pretty(&value, " ")] {
            let text = text.as_bytes();
            let mut ways = vec![(Vec::new(), &value)];
            while let Some((path, value)) = ways.pop() {
                let keys: Vec<&str> = path.clone();
                let range = scan::field(text, &keys).expect("a field");
                prop_assert_eq!(&parse(&text[range.clone()]).expect("JSON"), value);
                if let Value::Object(object) = value {
                    let members: Vec<_> = scan::members(&text[range.clone()]).map(|(key, _)| key).collect();
                    prop_assert!(members.iter().map(|key| &**key).eq(object.keys().map(|key| &**key)));
                    ways.extend(object.iter().map(|(key, value)| {
                        let mut path = path.clone();
                        path.push(key.as_str());
                        (path, value)
                    }));
                }
                if let Value::Array(items) = value {
                    prop_assert_eq!(scan::items(&text[range]).count(), items.len());
                }
            }
        }
    }
}
