//! Parse, write, parse again: the same. And serde_json takes and refuses the same texts. And nothing panics.

#![no_main]

use json::{Limits, Number, Value};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    // The scanner gives no promise on what is no JSON but that it ends.
    let _ = json::scan::fields(text, [&["a"], &["metadata", "labels"], &[]]);
    json::scan::members(text).for_each(drop);
    json::scan::items(text).for_each(drop);

    // serde_json's depth.
    let parsed = json::parse_with(text, Limits { depth: 127 });
    let theirs = serde_json::from_slice::<serde_json::Value>(text);
    let value = match (parsed, theirs) {
        (Ok(parsed), Ok(_)) => parsed.value,
        (Ok(parsed), Err(error)) => {
            // Ours makes U+FFFD of lone surrogates.
            let error = error.to_string();
            assert!(
                error.contains("surrogate") || error.contains("hex escape"),
                "{error}"
            );
            parsed.value
        }
        (Err(error), Ok(_)) => panic!("{error}"),
        (Err(_), Err(_)) => return,
    };
    let written = json::to_vec(&value);
    let again = json::parse(&written).expect("what is written is JSON");
    assert!(same(&value, &again));
    // `-0.0` is written `-0`, which is read as the integer, as Go does: from then on nothing changes.
    let written = json::to_vec(&again);
    assert_eq!(json::parse(&written).as_ref(), Ok(&again));
    let pretty = json::to_string_pretty(&value, "  ");
    assert_eq!(json::parse(pretty.as_bytes()).as_ref(), Ok(&again));
    if let Value::Object(object) = &again {
        for (key, value) in object.iter() {
            let range = json::scan::field(&written, &[key]).expect("it is there");
            assert_eq!(json::parse(&written[range]).as_ref(), Ok(value));
        }
    }
});

/// Go writes whole floats without a point, so they come back as integers.
fn same(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Number(Number::Float(before)), Value::Number(after)) => *before == after.as_f64(),
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len() && before.iter().zip(after).all(|(a, b)| same(a, b))
        }
        (Value::Object(before), Value::Object(after)) => {
            before.len() == after.len()
                && before
                    .iter()
                    .zip(after.iter())
                    .all(|(a, b)| a.0 == b.0 && same(a.1, b.1))
        }
        _ => before == after,
    }
}
