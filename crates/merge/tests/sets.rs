//! Sets of fields: upstream's tables, and the laws that hold for all sets.

use std::collections::BTreeSet;

use json::Value;
use merge::fieldpath::{Element, Filter, Matcher, Path, Set};
use proptest::prelude::*;

fn set(value: &Value) -> Set<'static> {
    Set::from_json(value).expect("a set").into_owned()
}

fn parse(text: &str) -> Value {
    json::parse(text.as_bytes()).expect("JSON")
}

#[test]
fn tables() {
    for line in include_str!("data/sets.jsonl").lines() {
        let line = parse(line);
        let items = line.as_array().expect("a list");
        let Ok(mut left) = Set::from_json(&items[1]) else {
            assert!(items[3].get("error").is_some(), "{line}");
            continue;
        };
        assert!(items[3].get("error").is_none(), "{line}");
        let right = set(&items[2]);
        match items[0].as_str().expect("a name") {
            "Json" => {}
            "Union" => left.union(right),
            "Intersection" => left = left.intersection(&right),
            "Difference" => left.subtract(&right),
            "RecursiveDifference" => left.subtract_recursively(&right),
            "Leaves" => left = left.leaves(),
            other => panic!("{other}"),
        }
        let (got, expected) = (left.to_json(), set(&items[3]).to_json());
        assert_eq!(got.to_string(), expected.to_string(), "{line}");
        assert_eq!(got, items[3], "{line}");
    }
}

#[test]
fn json_is_read_as_upstream_reads_it() {
    for (text, expected) in [
        // Not in order, with blanks, keys not in order.
        (
            r#"{"v: 3":{},"f:b":{},"k:{ \"protocol\":\"udp\",\"port\":443}":{},"f:a":{"f:x":{}}}"#,
            r#"{"f:a":{"f:x":{}},"f:b":{},"k:{\"port\":443,\"protocol\":\"udp\"}":{},"v:3":{}}"#,
        ),
        // Kinds of elements that later versions may have are dropped, and so is all below.
        (r#"{"r:Hello":{"f:a":{}},"f:a":{}}"#, r#"{"f:a":{}}"#),
        (r#"{"f:a":{"r:x":{}}}"#, r#"{"f:a":{}}"#),
        (r#"{"f:a":null}"#, r#"{"f:a":{}}"#),
        (
            r#"{"v:\"<a&b>\"":{},"i:-1":{},"f:":{}}"#,
            r#"{"f:":{},"v:\"\\u003ca\\u0026b\\u003e\"":{},"i:-1":{}}"#,
        ),
    ] {
        let value = parse(text);
        let got = Set::from_json(&value).map(|set| set.to_json().to_string());
        let expected = parse(expected).to_string();
        assert_eq!(got.as_ref(), Ok(&expected), "{text}");
    }
    for text in [
        r#"{"f":{}}"#,
        r#"{"fa":{}}"#,
        r#"{"v:":{}}"#,
        r#"{"v:{":{}}"#,
        r#"{"v:1 2":{}}"#,
        r#"{"k:[]":{}}"#,
        r#"{"k:{\"a\":1}x":{}}"#,
        r#"{"i:x":{}}"#,
        r#"{"f:a":1}"#,
        "[]",
        "1",
        r#"{"é":{}}"#,
    ] {
        assert!(Set::from_json(&parse(text)).is_err(), "{text}");
    }
}

#[test]
fn paths_are_shown_as_upstream_shows_them() {
    for (fields, expected) in [
        (r#"{"f:foo":{"i:1":{}}}"#, ".foo[1]"),
        (
            r#"{"f:foo":{"k:{\"a\":\"b\",\"c\":1,\"d\":1.5,\"e\":true}":{}}}"#,
            r#".foo[a="b",c=1,d=1.5,e=true]"#,
        ),
        (
            r#"{"f:foo":{"v:\"b\"":{"v:5":{"v:false":{"v:3.14159":{}}}}}}"#,
            r#".foo[="b"][=5][=false][=3.14159]"#,
        ),
        (
            r#"{"f:a b":{"k:{\"name\":\"app-🚀\"}":{"f:image":{}}}}"#,
            r#".a b[name="app-🚀"].image"#,
        ),
        (r#"{"f:a":{".":{},"f:b":{}},"f:c":{}}"#, ".a\n.c\n.a.b"),
    ] {
        assert_eq!(set(&parse(fields)).to_string(), expected);
    }
}

/// Field, key, value, index; numbers by amount, then strings, booleans.
#[test]
fn elements_have_upstreams_order() {
    let order = [
        "f:",
        "f:a",
        "f:ab",
        "f:b",
        "k:{\"a\":1}",
        "k:{\"a\":1,\"b\":1}",
        "k:{\"a\":2}",
        "k:{\"a\":\"1\"}",
        "k:{\"b\":1}",
        "v:-1",
        "v:1",
        "v:1.5",
        "v:2",
        "v:\"1\"",
        "v:\"a\"",
        "v:false",
        "v:true",
        "v:[]",
        "v:[1]",
        "v:{}",
        "v:null",
        "i:1",
        "i:2",
    ];
    let elements: Vec<_> = order
        .iter()
        .map(|it| {
            Element::from_json_key(it)
                .expect("an element")
                .expect("known")
        })
        .collect();
    assert!(elements.is_sorted_by(|a, b| a < b));
    let (one, float) = (
        Element::from_json_key("v:1"),
        Element::from_json_key("v:1.0"),
    );
    assert_eq!(one, float);
}

#[test]
fn filters() {
    let field = |name: &'static str| Some(Element::field(name));
    let containers = Matcher::prefix(vec![
        field("spec"),
        field("containers"),
        None,
        field("resources"),
    ]);
    let name = Matcher::prefix(vec![field("metadata"), field("name")]);
    let fields = r#"{"f:metadata":{"f:labels":{"f:a":{}},"f:name":{}},"f:spec":{".":{},
        "f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:resources":{"f:limits":{}}}},"f:x":{}}}"#;
    for (filter, expected) in [
        (
            Filter::Include(containers.clone()),
            r#"{"f:spec":{".":{},"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:resources":{"f:limits":{}}}}}}"#,
        ),
        (
            Filter::Include(containers.clone().or(name.clone())),
            r#"{"f:metadata":{"f:name":{}},"f:spec":{".":{},"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:resources":{"f:limits":{}}}}}}"#,
        ),
        (Filter::Include(containers.or(Matcher::default())), fields),
        (
            Filter::Exclude(set(&parse(
                r#"{"f:spec":{"f:containers":{}},"f:metadata":{}}"#,
            ))),
            r#"{"f:spec":{".":{},"f:x":{}}}"#,
        ),
    ] {
        let mut got = set(&parse(fields));
        filter.keep_in(&mut got);
        assert_eq!(got, set(&parse(expected)));
    }
}

fn paths() -> impl Strategy<Value = BTreeSet<Vec<u8>>> {
    prop::collection::btree_set(prop::collection::vec(0..4_u8, 1..4), 0..12)
}

fn of(paths: &BTreeSet<Vec<u8>>) -> Set<'static> {
    let element = |it: &u8| match it {
        0 => Element::field("a"),
        1 => Element::field("b"),
        2 => Element::Index(1),
        _ => Element::Value(std::borrow::Cow::Owned("v".into())),
    };
    (paths.iter())
        .map(|path| Path(path.iter().map(element).collect()))
        .collect()
}

fn is_below(path: &[u8], others: &BTreeSet<Vec<u8>>) -> bool {
    (1..=path.len()).any(|end| others.contains(&path[..end]))
}

proptest! {
    #[test]
    fn sets_obey_their_laws(a in paths(), b in paths()) {
        let (left, right) = (of(&a), of(&b));
        let mut union = left.clone();
        union.union(right.clone());
        prop_assert_eq!(union, of(&(&a | &b)));
        prop_assert_eq!(left.intersection(&right), of(&(&a & &b)));
        let mut difference = left.clone();
        difference.subtract(&right);
        prop_assert_eq!(difference, of(&(&a - &b)));
        let mut recursive = left.clone();
        recursive.subtract_recursively(&right);
        let expected = a.iter().filter(|it| !is_below(it, &b)).cloned().collect();
        prop_assert_eq!(recursive, of(&expected));
        prop_assert_eq!(left.is_within(&right), a.is_subset(&b));
        prop_assert_eq!(left.len(), a.len());
        prop_assert_eq!(left.paths().iter().all(|it| left.has(it)), true);
        let leaf = |path: &&Vec<u8>| !a.iter().any(|it| it.len() > path.len() && it.starts_with(path));
        prop_assert_eq!(left.leaves(), of(&a.iter().filter(leaf).cloned().collect()));
        let json = left.to_json();
        prop_assert_eq!(Set::from_json(&json).expect("what was written"), left);
    }
}
