use super::*;
use crate::{json, parse};

/// Golden: what Go's encoding/json writes for these.
#[test]
fn strings() {
    let cases = [
        ("", r#""""#),
        ("plain", r#""plain""#),
        ("\" \\ /", r#""\" \\ /""#),
        ("\u{8}\u{c}\n\r\t", r#""\b\f\n\r\t""#),
        (
            "\0\u{1}\u{b}\u{1f}\u{7f}",
            "\"\\u0000\\u0001\\u000b\\u001f\u{7f}\"",
        ),
        (
            "<a href='x'>&amp;</a>",
            r#""\u003ca href='x'\u003e\u0026amp;\u003c/a\u003e""#,
        ),
        (
            "\u{2027}\u{2028}\u{2029}\u{202a}",
            "\"\u{2027}\\u2028\\u2029\u{202a}\"",
        ),
        ("\u{e2}\u{20ac}\u{fffd}😀", "\"\u{e2}\u{20ac}\u{fffd}😀\""),
        (
            "sixteen bytes and more, then \"quoted\" and <more>",
            r#""sixteen bytes and more, then \"quoted\" and \u003cmore\u003e""#,
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(to_string(&text.into()), expected);
        let mut object = crate::Object::new();
        object.insert(text, 1);
        assert_eq!(to_string(&object.into()), format!("{{{expected}:1}}"));
    }
}

/// Golden: what Go's encoding/json writes for these.
#[test]
fn numbers() {
    let ints = [0, 1, -1, 9, 10, 99, 100, i64::MAX, i64::MIN, 1_048_723];
    for int in ints {
        assert_eq!(to_string(&int.into()), int.to_string());
    }
    let floats = [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (0.1, "0.1"),
        (0.05, "0.05"),
        (1e-6, "0.000001"),
        (9.99e-7, "9.99e-7"),
        (1e-7, "1e-7"),
        (-1.25e-10, "-1.25e-10"),
        (1e20, "100000000000000000000"),
        (123_456_789_012_345_680_000.0, "123456789012345680000"),
        (9_223_372_036_854_775_808.0, "9223372036854776000"),
        (1e21, "1e+21"),
        (-1.5e300, "-1.5e+300"),
        (f64::MAX, "1.7976931348623157e+308"),
        (5e-324, "5e-324"),
        (1234.5678, "1234.5678"),
        // Two shortest texts are equally near.
        (-1_790_334_602_500_417.0 / 8.0, "-223791825312552.12"),
        (f64::NAN, "null"),
        (f64::INFINITY, "null"),
    ];
    for (float, expected) in floats {
        assert_eq!(to_string(&Value::Number(Number::Float(float))), expected);
    }
}

/// Golden: what Go's `MarshalIndent` writes.
#[test]
fn pretty() {
    let value = json!({"a": [1, {"b": "<"}, [], {}], "c": {}, "d": null});
    let four = r#"{
    "a": [
        1,
        {
            "b": "\u003c"
        },
        [],
        {}
    ],
    "c": {},
    "d": null
}"#;
    assert_eq!(to_string_pretty(&value, "    "), four);
    assert_eq!(to_string_pretty(&value, "  "), four.replace("    ", "  "));
    assert_eq!(parse(four.as_bytes()), Ok(value));
    assert_eq!(to_string_pretty(&json!([]), "  "), "[]");
    assert_eq!(to_string_pretty(&json!(1), "  "), "1");
}
