//! Input made to hurt: each case ends soon, with an error or with a tree that can be used.

use std::fmt::Write as _;

use yaml::{Error, Options, parse, to_json, to_string};

fn said(text: &str) -> String {
    parse(text.as_bytes()).map_or_else(|error| error.to_string(), |_| "-".into())
}

#[test]
fn nesting_is_bounded_as_in_go_yaml() {
    let cases = [
        ("[".repeat(10_001), "yaml: exceeded max depth of 10000"),
        ("{a: ".repeat(10_001), "yaml: exceeded max depth of 10000"),
        ("- ".repeat(10_001), "yaml: exceeded max depth of 10000"),
        ("? ".repeat(10_001), "yaml: exceeded max depth of 10000"),
        (format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)), "-"),
        (format!("{}a", "- ".repeat(10_000)), "-"),
    ];
    for (text, expected) in cases {
        assert_eq!(said(&text), expected, "{}...", &text[..10]);
    }
}

#[test]
fn the_deepest_tree_can_be_cloned_compared_written_and_dropped() {
    let text = format!(
        "{}{}{}",
        "- ".repeat(5_000),
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let tree = parse(text.as_bytes()).expect("within the bounds");
    let copy = tree.clone();
    assert!(copy == tree);
    assert_eq!(
        to_string(&copy, Options::default()).map(|it| it.len()),
        Ok(30_001)
    );
    assert_eq!(tree[0].to_value(), Err(Error::TooDeep(512)));
    assert_eq!(to_json(text.as_bytes()), Err(Error::TooDeep(512)));
}

#[test]
fn laughter_is_not_expanded() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for i in 1..9 {
        let items = vec![format!("*a{}", i - 1); 9].join(", ");
        writeln!(text, "a{i}: &a{i} [{items}]").expect("a string takes all");
    }
    assert_eq!(to_json(text.as_bytes()), Err(Error::ExcessiveAliasing));
    let tree = parse(text.as_bytes()).expect("the tree keeps its aliases");
    assert_eq!(tree[0].to_value(), Err(Error::ExcessiveAliasing));
}

#[test]
fn a_long_text_is_not_copied_without_end() {
    let text = format!("- &a {}\n{}", "x".repeat(1 << 20), "- *a\n".repeat(100));
    assert_eq!(to_json(text.as_bytes()), Err(Error::ExcessiveAliasing));
}

#[test]
fn many_equal_keys_have_few_words() {
    let text = "a: 1\n".repeat(20_000);
    let tree = parse(text.as_bytes()).expect("a tree may have equal keys");
    let Err(Error::Unmarshal(problems)) = tree[0].to_value() else {
        panic!("equal keys are refused");
    };
    assert_eq!(problems.len(), 1000);
    assert_eq!(
        problems[0],
        "line 2: mapping key \"a\" already defined at line 1"
    );
}

#[test]
fn many_keys_take_no_time() {
    let mut text = String::new();
    for i in 0..100_000 {
        writeln!(text, "key{i}: {i}").expect("a string takes all");
    }
    let value = yaml::to_json_strict(text.as_bytes()).expect("all keys differ");
    assert_eq!(value.as_object().map(json::Object::len), Some(100_000));
}
