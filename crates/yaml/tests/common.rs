//! The reader for common texts gives what the other gives, or nothing.

use proptest::prelude::*;
use yaml::{Builder, Kind, Node, Pairs, Place, Style, parse_common, parse_first};

struct Nodes;

fn node(kind: Kind, tag: &'static str, style: Style, place: Place) -> Node {
    let mut node = Node::new(kind);
    (node.tag, node.style) = (tag.into(), style);
    (node.line, node.column) = (place.line, place.column);
    node
}

impl Builder for Nodes {
    type Node = Node;

    fn scalar(&mut self, text: &str, tag: &'static str, style: Style, place: Place) -> Node {
        let mut node = node(Kind::Scalar, tag, style, place);
        text.clone_into(&mut node.value);
        node
    }

    fn sequence(&mut self, items: Vec<Node>, style: Style, place: Place) -> Node {
        let mut node = node(Kind::Sequence, "!!seq", style, place);
        node.content = items.into();
        node
    }

    fn mapping(&mut self, pairs: Pairs<Node>, style: Style, place: Place) -> Node {
        let mut node = node(Kind::Mapping, "!!map", style, place);
        node.content = pairs
            .into_iter()
            .flat_map(|(key, value)| [key, value])
            .collect();
        node
    }
}

fn without_comments(node: &mut Node) {
    for take in [
        Node::take_head_comment,
        Node::take_line_comment,
        Node::take_foot_comment,
    ] {
        _ = take(node);
    }
    let mut plain = Node::new(node.kind);
    (plain.style, plain.tagged) = (node.style, node.tagged);
    plain.tag = std::mem::take(&mut node.tag);
    plain.value = std::mem::take(&mut node.value);
    plain.content = std::mem::take(&mut node.content);
    (plain.line, plain.column) = (node.line, node.column);
    plain.content.iter_mut().for_each(without_comments);
    *node = plain;
}

/// Whether it was common.
fn check(text: &str) -> bool {
    let Some(quick) = parse_common(text, Nodes) else {
        return false;
    };
    let slow = parse_first(text.as_bytes()).map(|document| {
        let mut root = document.and_then(|it| it.content.into_vec().into_iter().next());
        root.iter_mut().for_each(without_comments);
        root
    });
    assert_eq!(Ok(Some(quick)), slow, "{text:?}");
    true
}

const COMMON: &[&str] = &[
    "a: b\n",
    "---\na: b\n",
    "# x\n---\n# y\na: b # z\n# w\n",
    "a:\n  b: 1\n  c:\n  - d\n  - e: f\n    g: h\n  -\n  - - i\n    - j\nk:\n",
    "a: |\n  x\n   y\n\n  z\nb: |-\n  x\n\nc: |+\n  x\n\nd: >\n  x\n  y\n\n  z\n   w\n  v\n",
    "a: x\n  y\n\n  z\nb: 'x\n  y''s  \n\n  z'\nc: \"x\\n \n  y\\\"\\\n  \\ z\\u0041\"\n",
    "a: []\nb: {}\nc: [x, 'y', \"z\", 1, http://x:80/y]\nd: {x: y, \"z\":1, w: [v, {u: t}]}\n",
    "{\"a\": {\"b\": [1,\n\t2]},\n\"c\": null}\n",
    "- a\n- b: c\n",
    "a: true\nb: ~\nc: 1.5\nd: 2001-01-01\n1: x\n\"y\": -1\n-z: --w\n",
    "a: é\n# é\nb: 'é'\n",
    "a: v # c\n  # d\nb:   w  \n",
    "  a: b\n  c: d\n",
];

#[test]
fn common_texts_are_common() {
    for text in COMMON {
        assert!(check(text), "{text:?}");
    }
}

#[test]
fn the_rest_is_not() {
    for text in [
        "",
        "a",
        "a: b\n c: d\n",
        "a: &x b\nc: *x\n",
        "<<: {a: b}\n",
        "a: !!str 1\n",
        "a: b\n---\nc: d\n",
        "a: b: c\n",
        "a:\tb\n",
        "a: |2\n   b\n",
        "? a\n: b\n",
        "a: \"\\x4\"\n",
        "a: \"\\q\"\n",
        "a: 'b\n",
        "a: [b\n",
        "a: {\"\\\nb\":1}\n",
        "%YAML 1.1\n---\na: b\n",
        "\u{FEFF}a: b\n",
        "a: b\u{85}c: d\n",
        "a: b\r\n",
    ] {
        assert!(!check(text), "{text:?}");
    }
}

/// Pieces that meet in manifests, so that texts made of them get far.
const PIECES: &[&str] = &[
    "a",
    "b: ",
    "c:",
    "\n",
    "\n",
    "\n",
    "\n  ",
    "\n    ",
    "- ",
    "-",
    " ",
    "  ",
    "d: e\n",
    "- f: g\n",
    "# x",
    " # y\n",
    "[",
    "]",
    "{",
    "}",
    ", ",
    ",",
    ":",
    ": ",
    "'",
    "\"",
    "\\n",
    "\\",
    "\\ ",
    "\\\n",
    "\\x41",
    "|\n",
    "|-\n  ",
    ">\n    ",
    ">+\n",
    "1",
    "true",
    "~",
    "<<",
    "---\n",
    "...",
    "---",
    "\t",
    "é",
    "\u{2028}",
    "2001-01-01",
    "0x1",
    ".",
    "#",
    "&x",
    "*x",
    "!",
    "?",
    "%",
    "\n- ",
    "\n  - ",
    "'x'",
    "\"y\"",
    "h i",
    "x:80",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn pieces(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24)) {
        check(&pieces.concat());
    }

    /// A common text with something put in somewhere.
    #[test]
    fn disturbed(
        text in prop::sample::select(COMMON),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(PIECES), 0..3usize), 1..4),
    ) {
        let mut text = text.to_owned();
        for (at, piece, gone) in changes {
            let boundaries: Vec<usize> = (0..=text.len()).filter(|it| text.is_char_boundary(*it)).collect();
            let from = at.index(boundaries.len());
            let to = (from + gone).min(boundaries.len() - 1);
            text.replace_range(boundaries[from]..boundaries[to], piece);
        }
        check(&text);
    }
}
