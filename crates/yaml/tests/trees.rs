//! Trees in the hand: reading, changing, making them; and what goes with them.

use json::{Number, json};
use yaml::{
    Anchors, Kind, Node, Options, SequenceStyle, Style, is_non_string, parse, sequence_style_of,
    split_documents, to_string,
};

fn tree(text: &str) -> Node {
    let mut documents = parse(text.as_bytes()).expect(text);
    documents.remove(0)
}

#[test]
fn a_node_knows_its_place_tag_and_style() {
    let root = tree(
        "a: 1\nb:\n  - 'x'\n  - &n !t {c: |\n}\n"
            .replace("|\n", "y")
            .as_str(),
    );
    let a = root.get("a").expect("a");
    assert_eq!((a.line, a.column, &*a.tag), (1, 4, "!!int"));
    let b = root.get("b").expect("b");
    assert_eq!((b.kind, b.style, b.line), (Kind::Sequence, Style::Plain, 3));
    assert_eq!(
        (b.content[0].style, &*b.content[0].tag),
        (Style::SingleQuoted, "!!str")
    );
    let map = &b.content[1];
    assert_eq!((map.anchor(), &*map.tag, map.tagged), ("n", "!t", true));
    assert_eq!(map.style, Style::Flow);
}

#[test]
fn comments_belong_to_their_nodes() {
    let root = tree("# doc\n\n# head\na: 1 # line\n# foot\n\nb:\n  # inner\n  - x # beside\n");
    assert_eq!(root.head_comment(), "# doc");
    let map = &root.content[0];
    let (key, value) = map.pairs().next().expect("a");
    assert_eq!(
        (key.head_comment(), key.foot_comment()),
        ("# head", "# foot")
    );
    assert_eq!(value.line_comment(), "# line");
    let item = &root.get("b").expect("b").content[0];
    assert_eq!(
        (item.head_comment(), item.line_comment()),
        ("# inner", "# beside")
    );
}

#[test]
fn a_changed_tree_keeps_the_rest() {
    let mut root = tree("# head\na: 'x' # line\nb: [1, 2]\n");
    let a = root.get_mut("a").expect("a");
    a.value = "y".into();
    a.set_line_comment("");
    let b = root.get_mut("b").expect("b");
    b.content.push(Node::string("3"));
    b.content.push(Node::string("on"));
    let written = to_string(&[root], Options::default());
    assert_eq!(
        written.as_deref(),
        Ok("# head\na: 'y'\nb: [1, 2, \"3\", on]\n")
    );
}

#[test]
fn a_style_that_cannot_hold_the_text_gives_way() {
    let cases = [
        (Style::SingleQuoted, "x\n y", "\"x\\n y\"\n"),
        (Style::Literal, "x \ny", "\"x \\ny\"\n"),
        (Style::Literal, " x\n", "|4\n     x\n"),
        (Style::Plain, "a: b", "'a: b'\n"),
        (Style::Plain, "x\ny", "|-\n    x\n    y\n"),
    ];
    for (style, text, expected) in cases {
        let mut node = Node::scalar("!!str", text);
        node.style = style;
        let written = to_string(&[node], Options::go_yaml());
        assert_eq!(written.as_deref(), Ok(expected), "{text:?}");
    }
}

#[test]
fn a_value_becomes_a_tree() {
    let value = json!({
        "z10": "yes", "z9": 1, "Z": [true, (Number::Float(1.5)), null], "s": "a\nb\n", "n": "1:30",
        "empty": {}, "list": [{"b": 1, "a": "x: y"}], "x1b": 0, "x1": 0, "x10": 0
    });
    let written = to_string(&[Node::from(&value)], Options::default());
    let expected = "Z:\n- true\n- 1.5\n- null\nempty: {}\nlist:\n- a: 'x: y'\n  b: 1\n\"n\": \"1:30\"\n\
        s: |\n  a\n  b\nx1: 0\nx1b: 0\nx10: 0\nz9: 1\nz10: \"yes\"\n";
    assert_eq!(written.as_deref(), Ok(expected));
    assert_eq!(tree(expected).to_value(), Ok(value));
}

#[test]
fn what_yaml_1_1_takes_for_something_else() {
    for text in [
        "on", "y", "1", "1e3", "0x1", "~", "true", ".inf", "a: b", "- a", "[a]", "# c",
    ] {
        assert!(is_non_string(text), "{text}");
    }
    for text in [
        "",
        "a",
        "onn",
        "2020-01-01",
        "1:30",
        "a\nb: c",
        "*a",
        "{",
        "'on'",
        "<<",
    ] {
        assert!(!is_non_string(text), "{text}");
    }
}

#[test]
fn the_first_sequence_sets_the_style() {
    use SequenceStyle::{Compact, Wide};
    let cases = [
        ("a:\n- b\n", Compact),
        ("a:\n  - b\n", Wide),
        ("- a\n", Compact),
        ("a:\n   - b\nc:\n  - d\n", Wide),
        ("a: # note\n  # more\n  - b\n", Wide),
        ("a: b:\n  - c\nd:\n- e\n", Compact),
        ("a: x\n", Compact),
    ];
    for (text, style) in cases {
        assert_eq!(sequence_style_of(text), style, "{text:?}");
    }
}

#[test]
fn documents_are_cut_at_lines_of_dashes() {
    let cases: [(&str, &[&str]); 7] = [
        ("", &[]),
        ("a", &["a"]),
        ("a\n---\nb\n", &["a", "b\n"]),
        ("---\na\n--- # note\nb", &["---\na", "b"]),
        ("a\n---", &["a"]),
        ("a\n---\n---\nb", &["a", "---\nb"]),
        ("a\n---b", &["a\n---b"]),
    ];
    for (text, expected) in cases {
        let parts: Vec<_> = split_documents(text.as_bytes()).collect();
        let expected: Vec<_> = expected.iter().map(|it| it.as_bytes()).collect();
        assert_eq!(parts, expected, "{text:?}");
    }
}

#[test]
fn an_alias_stands_for_the_last_anchor_before_it() {
    let root = tree("a: &x 1\nb: *x\nc: &x 2\nd: *x\n");
    let anchors = Anchors::of(&root);
    let target = |key| {
        let alias = root.get(key)?;
        anchors.target(alias).map(|it| it.value.as_str())
    };
    assert_eq!((target("b"), target("d")), (Some("1"), Some("2")));
    assert_eq!(target("a"), None);
}
