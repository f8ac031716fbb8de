use super::*;
use crate::{json, parse};

fn pointer(text: &str) -> Pointer {
    text.parse().expect("a pointer")
}

/// The examples of RFC 6901, section 5.
#[test]
fn rfc_examples() {
    let value = json!({
        "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8,
    });
    let cases = [
        ("/foo", json!(["bar", "baz"])),
        ("/foo/0", json!("bar")),
        ("/", json!(0)),
        ("/a~1b", json!(1)),
        ("/c%d", json!(2)),
        ("/e^f", json!(3)),
        ("/g|h", json!(4)),
        ("/i\\j", json!(5)),
        ("/k\"l", json!(6)),
        ("/ ", json!(7)),
        ("/m~0n", json!(8)),
        ("", value.clone()),
    ];
    for (text, expected) in cases {
        assert_eq!(pointer(text).get(&value), Some(&expected), "{text}");
        assert_eq!(pointer(text).to_string(), text);
        let mut value = value.clone();
        assert_eq!(
            pointer(text).get_mut(&mut value),
            Some(&mut expected.clone())
        );
    }
    for text in [
        "/nope", "/foo/2", "/foo/-", "/foo/00", "/foo/+1", "/a/b", "/foo/0/x",
    ] {
        assert_eq!(pointer(text).get(&value), None, "{text}");
    }
    assert_eq!(pointer("/~01").tokens(), ["~1"]);
    assert_eq!(
        "a".parse::<Pointer>(),
        Err(PointerError::NoSlash("a".into()))
    );
    for text in ["/~", "/~2", "/a~/b"] {
        let error = PointerError::Escape(text.into());
        assert_eq!(text.parse::<Pointer>(), Err(error));
    }
}

#[test]
fn set_and_remove() {
    // pointer, what set(.., 9) leaves, what remove leaves; errors by a word of theirs
    let cases = [
        ("", "9", "whole"),
        ("/a", r#"{"a":9,"l":[1,2]}"#, r#"{"l":[1,2]}"#),
        ("/b", r#"{"a":{"x":1},"l":[1,2],"b":9}"#, "no value at"),
        (
            "/a/x",
            r#"{"a":{"x":9},"l":[1,2]}"#,
            r#"{"a":{},"l":[1,2]}"#,
        ),
        (
            "/l/0",
            r#"{"a":{"x":1},"l":[9,2]}"#,
            r#"{"a":{"x":1},"l":[2]}"#,
        ),
        ("/l/2", r#"{"a":{"x":1},"l":[1,2,9]}"#, "2 items"),
        ("/l/-", r#"{"a":{"x":1},"l":[1,2,9]}"#, "2 items"),
        ("/l/3", "2 items", "2 items"),
        ("/l/01", "2 items", "2 items"),
        ("/a/x/y", "neither", "neither"),
        ("/n/y", "no value at \"/n\"", "no value at \"/n\""),
    ];
    for (text, set, removed) in cases {
        let start = parse(br#"{"a":{"x":1},"l":[1,2]}"#).expect("JSON");
        let mut value = start.clone();
        match pointer(text).set(&mut value, 9) {
            Ok(before) => {
                assert_eq!(value.to_string(), set, "{text}");
                assert_eq!(before.as_ref(), pointer(text).get(&start), "{text}");
            }
            Err(error) => assert!(error.to_string().contains(set), "{text}: {error}"),
        }
        let mut value = start.clone();
        match pointer(text).remove(&mut value) {
            Ok(before) => {
                assert_eq!(value.to_string(), removed, "{text}");
                assert_eq!(Some(&before), pointer(text).get(&start), "{text}");
            }
            Err(error) => {
                assert!(error.to_string().contains(removed), "{text}: {error}");
                assert_eq!(value, start);
            }
        }
    }
    let mut empty = json!([]);
    assert!(pointer("/0").remove(&mut empty).is_err());
}
