use super::*;

const POD: &str = r#"{"kind":"Pod","metadata":{"name":"web","labels":{"app":"web","a\u003cb":"<\"}"},
    "resourceVersion" : "17" , "finalizers":["x","}]{["],"empty":{} },"spec":{"metadata":{"name":"inner"},"n":-1.5e3,"t":true}}"#;

#[test]
fn finds_fields() {
    let cases: &[(&[&str], Option<&str>)] = &[
        (&[], Some(POD)),
        (&["kind"], Some("\"Pod\"")),
        (&["metadata", "name"], Some("\"web\"")),
        (&["metadata", "resourceVersion"], Some("\"17\"")),
        (&["metadata", "labels", "app"], Some("\"web\"")),
        (&["metadata", "labels", "a<b"], Some(r#""<\"}""#)),
        (&["metadata", "finalizers"], Some(r#"["x","}]{["]"#)),
        (&["metadata", "empty"], Some("{}")),
        (&["metadata", "empty", "x"], None),
        (&["metadata", "finalizers", "0"], None),
        (&["metadata", "name", "x"], None),
        (&["spec", "metadata", "name"], Some("\"inner\"")),
        (&["spec", "n"], Some("-1.5e3")),
        (&["spec", "t"], Some("true")),
        (&["name"], None),
        (&["spec", "nope"], None),
    ];
    for (path, expected) in cases {
        let found = field(POD.as_bytes(), path).map(|range| &POD[range]);
        assert_eq!(found, *expected, "{path:?}");
    }
    assert_eq!(field(b" [1] ", &[]), Some(1..4));
    assert_eq!(field(b"  7 ", &[]), Some(2..3));
}

#[test]
fn finds_several_in_one_pass() {
    let found = fields(
        POD.as_bytes(),
        [
            &["spec", "n"],
            &["metadata", "labels"],
            &["metadata", "labels", "app"],
            &["nope"],
            &["metadata", "name"],
            &["metadata", "name"],
        ],
    );
    let found = found.map(|range| range.map_or("", |range| &POD[range]));
    let labels = r#"{"app":"web","a\u003cb":"<\"}"}"#;
    assert_eq!(
        found,
        ["-1.5e3", labels, "\"web\"", "", "\"web\"", "\"web\""]
    );
    let [whole, kind] = fields(POD.as_bytes(), [&[], &["kind"]]);
    assert_eq!((whole, kind), (Some(0..POD.len()), Some(8..13)));
    let none: [Option<Range<usize>>; 0] = fields(POD.as_bytes(), []);
    assert!(none.is_empty());
}

#[test]
fn lists_members_and_items() {
    let labels = field(POD.as_bytes(), &["metadata", "labels"]).expect("labels");
    let text = &POD[labels];
    let found: Vec<_> = members(text.as_bytes())
        .map(|(key, range)| (key, string(&text.as_bytes()[range]).expect("a string")))
        .collect();
    assert_eq!(
        found,
        [("app".into(), "web".into()), ("a<b".into(), "<\"}".into())]
    );
    assert!(matches!(found[0], (Cow::Borrowed(_), Cow::Borrowed(_))));
    let text = b" [ 1 , [2,3],\"a\" ,{}] ";
    let found: Vec<_> = items(text).map(|range| &text[range]).collect();
    assert_eq!(found, [&b"1"[..], b"[2,3]", b"\"a\"", b"{}"]);
    assert_eq!(
        members(b"{}").count() + members(b"[1]").count() + items(b"{}").count(),
        0
    );
    assert_eq!(items(b"[]").count(), 0);
    assert_eq!(string(b"\"a\""), Some("a".into()));
    assert_eq!(string(br#""a\n\u00e9""#), Some("a\né".into()));
    for none in [
        &b"a"[..],
        b"",
        b"\"",
        b"\"a",
        b"\"a\"b\"",
        b"1",
        b"\"\\x\"",
        b"\"\\n\"x",
    ] {
        assert_eq!(string(none), None, "{none:?}");
    }
}

/// On what is no JSON the answers mean nothing, but it ends and does not panic.
#[test]
fn survives_anything() {
    for end in 0..POD.len() {
        for text in [&POD.as_bytes()[..end], &POD.as_bytes()[end..]] {
            let paths: [&[&str]; 4] = [&["spec", "n"], &["metadata", "labels"], &[], &["x"]];
            for found in fields(text, paths).into_iter().flatten() {
                assert!(text.get(found).is_some());
            }
            members(text).for_each(drop);
            items(text).for_each(drop);
            string(text);
        }
    }
    assert_eq!(field(&vec![b'{'; 1 << 20], &["a"]), None);
    assert_eq!(
        field("{\"a\":".repeat(1 << 18).as_bytes(), &["a", "a", "b"]),
        None
    );
    for text in [
        "{\"a\"", "{\"a\":", "{\"a\":,", "\"\\", "{\"\\", "[1 2", "[}", "{]", "{1}",
    ] {
        field(text.as_bytes(), &["a"]);
        members(text.as_bytes()).for_each(drop);
        items(text.as_bytes()).for_each(drop);
    }
}
