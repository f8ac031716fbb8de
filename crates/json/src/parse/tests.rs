use super::*;
use crate::{Number, json, to_string};

fn read(text: &str) -> Value {
    parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// What RFC 8259 allows, with how it is written back.
#[test]
fn accepts() {
    let cases = [
        (" null ", "null"),
        ("true", "true"),
        ("\t\r\n false\n", "false"),
        ("[]", "[]"),
        ("[ ]", "[]"),
        ("{}", "{}"),
        ("{ }", "{}"),
        ("[1 , 2]", "[1,2]"),
        ("{\"a\" : [ { } , [ ] ] }", r#"{"a":[{},[]]}"#),
        (r#"{"":0}"#, r#"{"":0}"#),
        (r#""""#, r#""""#),
        (r#""\"\\\/\b\f\n\r\t""#, r#""\"\\/\b\f\n\r\t""#),
        (r#""\u0041\u00e9\u20AC""#, "\"Aé€\""),
        (r#""\ud83d\ude00 \uD83D\uDE00""#, "\"😀 😀\""),
        (r#""\u0000\u001f\u007f""#, "\"\\u0000\\u001f\u{7f}\""),
        ("\"é€😀\u{7f}\u{10ffff}\"", "\"é€😀\u{7f}\u{10ffff}\""),
        (
            r#""a longer text without escapes""#,
            r#""a longer text without escapes""#,
        ),
        (
            r#""a longer text \"with\" escapes""#,
            r#""a longer text \"with\" escapes""#,
        ),
        ("[[[[[[[[[[1]]]]]]]]]]", "[[[[[[[[[[1]]]]]]]]]]"),
    ];
    for (text, expected) in cases {
        assert_eq!(to_string(&read(text)), expected, "{text}");
    }
}

/// As Go has it: what no character stands for becomes U+FFFD, one for each half.
#[test]
fn lone_surrogates() {
    let cases = [
        (r#""\ud83d""#, "\u{fffd}"),
        (r#""\ude00""#, "\u{fffd}"),
        (r#""\ud83d!""#, "\u{fffd}!"),
        (r#""\ud83d\n""#, "\u{fffd}\n"),
        (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
        (r#""\ud83d\u0041""#, "\u{fffd}A"),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), Value::from(expected), "{text}");
    }
}

/// As sigs.k8s.io/json tells int64 and float64 apart.
#[test]
fn numbers() {
    let int = Number::Int;
    let float = Number::Float;
    let cases = [
        ("0", int(0)),
        ("-0", int(0)),
        ("-0.0", float(-0.0)),
        ("1", int(1)),
        ("1.0", float(1.0)),
        ("1e3", float(1000.0)),
        ("1E-2", float(0.01)),
        ("-1.5e+3", float(-1500.0)),
        ("123456789012345678", int(123_456_789_012_345_678)),
        ("1234567890123456789", int(1_234_567_890_123_456_789)),
        ("9223372036854775807", int(i64::MAX)),
        ("-9223372036854775808", int(i64::MIN)),
        ("9223372036854775808", float(9_223_372_036_854_775_808.0)),
        ("-9223372036854775809", float(-9_223_372_036_854_775_808.0)),
        ("100000000000000000000", float(1e20)),
        ("1e-400", float(0.0)),
        ("5e-324", float(5e-324)),
        ("1.7976931348623157e308", float(f64::MAX)),
        ("0.1", float(0.1)),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), Value::Number(expected), "{text}");
        let signs = read(text)
            .as_number()
            .map(Number::as_f64)
            .map(f64::is_sign_negative);
        assert_eq!(signs, Some(expected.as_f64().is_sign_negative()), "{text}");
    }
}

/// Where it goes wrong and in which words: those of Go's encoding/json, without `invalid character`.
#[test]
fn rejects() {
    let end = "unexpected end of JSON input";
    let value = "looking for beginning of value";
    let key = "looking for beginning of object key string";
    let cases: &[(&str, usize, &str)] = &[
        ("", 0, end),
        (" ", 1, end),
        ("[", 1, end),
        ("[1", 2, end),
        ("[1,", 3, end),
        ("{", 1, end),
        ("{\"a\"", 4, end),
        ("{\"a\":", 5, end),
        ("{\"a\":1", 6, end),
        ("{\"a\":1,", 7, end),
        ("\"a", 2, end),
        ("x", 0, "'x' looking for beginning of value"),
        ("]", 0, &format!("']' {value}")),
        ("[,1]", 1, &format!("',' {value}")),
        ("[1,]", 3, &format!("']' {value}")),
        ("[1,,2]", 3, &format!("',' {value}")),
        ("{\"a\":}", 5, &format!("'}}' {value}")),
        ("\u{feff}1", 0, &format!("'ï' {value}")),
        ("+1", 0, &format!("'+' {value}")),
        (".5", 0, &format!("'.' {value}")),
        ("NaN", 0, &format!("'N' {value}")),
        ("'a'", 0, &format!("'\\'' {value}")),
        ("\u{0}", 0, &format!("'\\x00' {value}")),
        ("\u{7f}", 0, &format!("'\\x7f' {value}")),
        ("\u{c}", 0, &format!("'\\f' {value}")),
        ("\u{a0}", 0, &format!("'Â' {value}")),
        ("[1}", 2, "'}' after array element"),
        ("[1 2]", 3, "'2' after array element"),
        ("[\"a\",\n4\n,1,", 11, end),
        ("[01]", 2, "'1' after array element"),
        ("{1:1}", 1, &format!("'1' {key}")),
        ("{,}", 1, &format!("',' {key}")),
        ("{\"a\":1,}", 7, &format!("'}}' {key}")),
        ("{\"a\":1,1", 7, &format!("'1' {key}")),
        ("{\"a\"}", 4, "'}' after object key"),
        ("{\"a\" 1}", 5, "'1' after object key"),
        ("{\"a\":1]", 6, "']' after object key:value pair"),
        ("{\"a\":1 \"b\":2}", 7, "'\"' after object key:value pair"),
        ("{}}", 2, "'}' after top-level value"),
        ("1 2", 2, "'2' after top-level value"),
        ("01", 1, "'1' after top-level value"),
        ("1a", 1, "'a' after top-level value"),
        ("truee", 4, "'e' after top-level value"),
        ("-", 1, "' ' in numeric literal"),
        ("-a", 1, "'a' in numeric literal"),
        ("1.", 2, "' ' after decimal point in numeric literal"),
        ("[1.]", 3, "']' after decimal point in numeric literal"),
        ("1e", 2, "' ' in exponent of numeric literal"),
        ("1e+x", 3, "'x' in exponent of numeric literal"),
        ("tru", 3, "' ' in literal true (expecting 'e')"),
        ("trve", 2, "'v' in literal true (expecting 'u')"),
        ("[fals]", 5, "']' in literal false (expecting 'e')"),
        ("nul\n", 3, "'\\n' in literal null (expecting 'l')"),
        ("\"\n\"", 1, "'\\n' in string literal"),
        (
            "\"a longer text before a tab\t\"",
            27,
            "'\\t' in string literal",
        ),
        ("\"\\\"\u{1f}\"", 3, "'\\x1f' in string literal"),
        ("{\"\u{1}\":1}", 2, "'\\x01' in string literal"),
        ("\"\\x\"", 2, "'x' in string escape code"),
        ("\"\\", 2, "' ' in string escape code"),
        ("\"\\'\"", 2, "'\\'' in string escape code"),
        ("\"\\u12g4\"", 5, "'g' in \\u hexadecimal character escape"),
        ("\"\\u12", 5, "' ' in \\u hexadecimal character escape"),
        (
            "\"\\ud83d\\u00\"",
            11,
            "'\"' in \\u hexadecimal character escape",
        ),
    ];
    for (text, offset, what) in cases {
        let error = parse(text.as_bytes()).expect_err(text);
        let what = if *what == end {
            end.to_string()
        } else {
            format!("invalid character {what}")
        };
        assert_eq!(error.to_string(), what, "{text:?}");
        assert_eq!(error.offset, *offset, "{text:?}");
    }
}

/// No float64 holds it; said after errors of syntax, as Go does.
#[test]
fn numbers_out_of_range() {
    let error = parse(b"[1, -1e400, 1e999]").expect_err("too large");
    let expected = "json: cannot unmarshal number -1e400 into Go value of type float64";
    assert_eq!((error.to_string().as_str(), error.offset), (expected, 4));
    let error = parse(b"[1e400}").expect_err("not JSON");
    assert_eq!(error.offset, 6);
}

#[test]
fn strictly_utf8() {
    let cases: [(&[u8], usize, &str); 7] = [
        (b"\"\xff\"", 1, "invalid UTF-8"),
        (b"\"a\xc3\"", 2, "invalid UTF-8"),
        (b"\"\xed\xa0\x80\"", 1, "invalid UTF-8"),
        (b"\"\xc0\x80\"", 1, "invalid UTF-8"),
        (b"\"\xf4\x90\x80\x80\"", 1, "invalid UTF-8"),
        (b"{}\xff", 2, "invalid UTF-8"),
        // What was never meant to be JSON is told as Go tells it.
        (
            b"k8s\0\xff",
            0,
            "invalid character 'k' looking for beginning of value",
        ),
    ];
    for (text, offset, what) in cases {
        let error = parse(text).expect_err("not UTF-8");
        assert_eq!((error.what.as_str(), error.offset), (what, offset));
    }
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
    let limits = Limits { depth: 3 };
    assert!(parse_with(&nested(3), limits).is_ok());
    let error = parse_with(&nested(4), limits).expect_err("too deep");
    assert_eq!(
        error.to_string(),
        "invalid character '[' exceeded max depth"
    );
    assert_eq!(error.offset, 3);
    let error = parse_with(b"[{\"a\":[{}]}]", limits).expect_err("too deep");
    assert_eq!(error.offset, 7);
    assert!(parse_with(b"[[[1]],[[2]],{\"a\":[]}]", limits).is_ok());
    assert!(parse(&nested(512)).is_ok());
    assert!(parse(&vec![b'['; 1 << 20]).is_err());
    assert!(parse("{\"a\":".repeat(1 << 20).as_bytes()).is_err());
}

#[test]
fn duplicates_are_told_and_the_last_wins() {
    let cases: &[(&str, &str, &[&str])] = &[
        (r#"{"a":1,"b":2}"#, r#"{"a":1,"b":2}"#, &[]),
        (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#, &["a"]),
        (r#"{"a":1,"a":2,"a":3}"#, r#"{"a":3}"#, &["a"]),
        (r#"{"a":1,"\u0061":2}"#, r#"{"a":2}"#, &["a"]),
        (r#"{"":1,"":{"":1,"":2}}"#, r#"{"":{"":2}}"#, &["", "."]),
        (
            r#"{"spec":{"containers":[{"name":"a","name":"b"},{"x":1,"name":{"k":1,"k":2}}]},"spec":0}"#,
            r#"{"spec":0}"#,
            &[
                "spec.containers[0].name",
                "spec.containers[1].name.k",
                "spec",
            ],
        ),
        (r#"[[{"a":1,"a":2}]]"#, r#"[[{"a":2}]]"#, &["[0][0].a"]),
        (
            r#"{"a":{"b":1,"b":2},"a":{"b":1,"b":2}}"#,
            r#"{"a":{"b":2}}"#,
            &["a.b", "a"],
        ),
        (
            r#"{"a":[ -1.5e+3 ,true,null,"\"}" ] , "a" : [ ] }"#,
            r#"{"a":[]}"#,
            &["a"],
        ),
    ];
    for (text, written, paths) in cases {
        let parsed = parse_with(text.as_bytes(), Limits::default()).expect(text);
        assert_eq!(to_string(&parsed.value), *written, "{text}");
        assert_eq!(parsed.duplicates, *paths, "{text}");
        assert_eq!(read(text), parsed.value);
    }
}

#[test]
fn duplicates_cost_no_more_than_the_text() {
    let many: Vec<_> = (0..1000)
        .map(|at| format!("\"k{}\":{at}", at % 500))
        .collect();
    let parsed = parse_with(
        format!("{{{}}}", many.join(",")).as_bytes(),
        Limits::default(),
    );
    let parsed = parsed.expect("JSON");
    assert_eq!(parsed.duplicates.len(), 100);
    assert_eq!(parsed.duplicates[99], "k99");
    assert_eq!(parsed.value.get("k499").and_then(Value::as_i64), Some(999));
    let long = "k".repeat(40_000);
    let text = format!("{{\"{long}\":[{}0]}}", "{\"a\":1,\"a\":2},".repeat(50));
    let parsed = parse_with(text.as_bytes(), Limits::default()).expect("JSON");
    assert_eq!(parsed.duplicates.len(), 2);
}

/// Would take minutes were any step linear in the number of keys.
#[test]
fn many_keys() {
    const MANY: usize = 100_000;
    let pairs: Vec<_> = (0..MANY).map(|at| format!("\"key{at}\":{at}")).collect();
    let text = format!("{{{},\"key7\":-7}}", pairs.join(","));
    let parsed = parse_with(text.as_bytes(), Limits::default()).expect("JSON");
    assert_eq!(parsed.duplicates, ["key7"]);
    let object = parsed.value.as_object().expect("an object");
    assert_eq!(object.len(), MANY);
    assert_eq!(object.get("key7"), Some(&json!(-7)));
    assert_eq!(
        object.keys().next_back().map(crate::Text::as_str),
        Some("key99999")
    );
}

/// The scratch a thread keeps holds nothing of a text that failed, and threads do not share it.
#[test]
fn a_failure_leaves_nothing_behind() {
    for _ in 0..3 {
        assert!(parse(br#"{"a":[1,{"b":"unfinished"#).is_err());
        assert_eq!(to_string(&read(r#"{"c":[2]}"#)), r#"{"c":[2]}"#);
    }
    let text = r#"{"a long key of an object":"a long value of an object"}"#;
    let here = read(text);
    let there = std::thread::spawn(move || read(text))
        .join()
        .expect("no panic");
    assert_eq!(here, there);
}
