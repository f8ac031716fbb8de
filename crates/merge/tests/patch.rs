//! JSON patches and merge patches, made at random, with what kube-apiserver's library makes of them; and the limits.

use json::{Value, json};
use merge::{Error, json_patch, merge_patch};

#[test]
fn patches_give_what_upstream_gives() {
    let mut wrong = Vec::new();
    let text = include_str!("data/patch.jsonl");
    for line in text.lines() {
        let line = json::parse(line.as_bytes()).expect("JSON");
        let items = line.as_array().expect("a list");
        let (doc, patch) = (items[1].clone(), items[2].clone());
        let got = match items[0].as_str() {
            Some("json") => json_patch(doc, patch),
            _ => merge_patch(doc, patch),
        };
        let got = got.unwrap_or_else(|why| json!({ "error": (why.to_string()) }));
        if got != items[3] {
            wrong.push(format!("{line}\n   got {got}"));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

fn operations(count: usize, operation: &Value) -> Value {
    std::iter::repeat_n(operation.clone(), count).collect()
}

#[test]
fn limits() {
    let doc = json!({"a": {}});
    let add = json!({"op": "add", "path": "/a/b", "value": 1});
    assert!(json_patch(doc.clone(), operations(10_000, &add)).is_ok());
    assert_eq!(
        json_patch(doc, operations(10_001, &add)),
        Err(Error::TooLarge(
            "The allowed maximum operations in a JSON patch is 10000, got 10001".into()
        ))
    );

    // Each copy doubles the object.
    let doc = json!({"a": {"text": "1234567890"}});
    let copy: Value = (0..30)
        .map(|at| json!({"op": "copy", "from": "/a", "path": (format!("/a/{at}"))}))
        .collect();
    let error = json_patch(doc, copy).expect_err("too much");
    assert_eq!(
        error.to_string(),
        "Unable to complete the copy, the accumulated size increase of copy is 3407881, exceeding the limit 3145728"
    );

    // Moves could build what no parser would read.
    let deep = |depth: usize| (0..depth).fold(json!({}), |below, _| json!({"a": below}));
    let doc = json!({"x": (deep(300)), "y": (deep(300))});
    let into = format!("/x{}/b", "/a".repeat(300));
    let error = json_patch(
        doc,
        json!([{"op": "move", "from": "/y", "path": (into.as_str())}]),
    );
    assert_eq!(
        error.expect_err("too deep").to_string(),
        format!("error in move for path: '{into}': exceeded max depth of 512")
    );
}

/// Which status each failure becomes.
#[test]
fn classes() {
    let doc = || json!({"a": 1});
    let failed = json_patch(doc(), json!([{"op": "remove", "path": "/b"}]));
    assert!(matches!(failed, Err(Error::Unprocessable(_))), "{failed:?}");
    let failed = json_patch(doc(), json!({}));
    assert!(matches!(failed, Err(Error::BadRequest(_))), "{failed:?}");
    let failed = merge_patch(doc(), Value::Null);
    assert!(matches!(failed, Err(Error::BadRequest(_))), "{failed:?}");
}
