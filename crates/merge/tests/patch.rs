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

/// One patch of many operations does what as many patches of one operation do, of which none finds a list that the one
/// before has taken apart.
#[test]
fn many_edits_of_long_lists() {
    let long: Value = (0..3_000).collect();
    let short: Value = (0..10).collect();
    let doc = json!({"x": {"long": long, "o": {}}, "short": short});
    let mut state = 11_usize;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut long = "/x/long";
    let mut operations = Vec::new();
    for step in 0..600 {
        let at = next(2_000);
        let here = format!("{long}/{at}");
        operations.push(match next(9) {
            0 | 1 => json!({"op": "add", "path": here, "value": {"step": step, "list": [1, 2]}}),
            2 => json!({"op": "remove", "path": here}),
            3 => json!({"op": "replace", "path": here, "value": [step]}),
            4 => json!({"op": "move", "from": here, "path": (format!("{long}/0"))}),
            5 => json!({"op": "move", "from": here, "path": (format!("/short/{}", next(8)))}),
            6 => json!({"op": "copy", "from": here, "path": "/x/o/last"}),
            7 => json!({"op": "add", "path": (format!("{long}/-")), "value": step}),
            _ => {
                let from = long;
                long = if long == "/x/long" {
                    "/x/o/long"
                } else {
                    "/x/long"
                };
                json!({"op": "move", "from": from, "path": long})
            }
        });
        if step % 100 == 99 {
            operations.push(json!({"op": "copy", "from": "/short", "path": "/x/o/copy"}));
        }
    }
    let expected = operations.iter().fold(doc.clone(), |doc, operation| {
        json_patch(doc, [operation.clone()].into_iter().collect()).expect("each applies")
    });
    let patched = json_patch(doc, operations.into_iter().collect()).expect("all apply");
    assert_eq!(patched, expected);
    assert_eq!(patched.to_string(), expected.to_string());
    let whole = json!([{"op": "add", "path": "/short/0", "value": 1}, {"op": "test", "path": "", "value": (patched.clone())}]);
    assert!(json_patch(patched, whole).is_err());
}

/// What goes deeper and comes back again is not too deep, however often it does.
#[test]
fn moves_down_and_up() {
    let doc = json!({"a": {"b": {"c": {}}}, "x": [1]});
    let down = json!({"op": "move", "from": "/x", "path": "/a/b/c/x"});
    let up = json!({"op": "move", "from": "/a/b/c/x", "path": "/x"});
    let all = std::iter::repeat_n([down, up], 5_000).flatten();
    assert!(json_patch(doc, all.collect()).is_ok());
}
