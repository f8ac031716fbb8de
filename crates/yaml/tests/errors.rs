//! What is wrong with a text: as a tree (go-yaml v3), and on the way to JSON (v2). A dash stands for nothing wrong.

use yaml::{parse, to_json};

#[rustfmt::skip]
const CASES: &[(&[u8], &str, &str)] = &[
    (b"a: b: c\n", "yaml: mapping values are not allowed in this context", "yaml: mapping values are not allowed in this context"),
    (b"x: 1\ny\nz: 2\n", "yaml: line 2: could not find expected ':'", "yaml: line 3: could not find expected ':'"),
    (b"a:\n\t- b\n", "yaml: line 2: found character that cannot start any token", "yaml: line 2: found character that cannot start any token"),
    (b"a: [1, 2\n", "yaml: line 1: did not find expected ',' or ']'", "yaml: line 1: did not find expected ',' or ']'"),
    (b"a: {b: 1\n", "yaml: line 1: did not find expected ',' or '}'", "yaml: line 1: did not find expected ',' or '}'"),
    (b"a: 'x\n", "yaml: line 2: found unexpected end of stream", "yaml: line 2: found unexpected end of stream"),
    (b"a: \"\\q\"\n", "yaml: found unknown escape character", "yaml: found unknown escape character"),
    (b"a: \"\\ud800\"\n", "yaml: found invalid Unicode character escape code", "yaml: found invalid Unicode character escape code"),
    (b"a: *nope\n", "yaml: unknown anchor 'nope' referenced", "yaml: unknown anchor 'nope' referenced"),
    (b"a: @x\n", "yaml: found character that cannot start any token", "yaml: found character that cannot start any token"),
    (b"a: `x`\n", "yaml: found character that cannot start any token", "yaml: found character that cannot start any token"),
    (b"a: %x\n", "yaml: found character that cannot start any token", "yaml: found character that cannot start any token"),
    (b"- a\nb: c\n", "yaml: line 1: did not find expected '-' indicator", "yaml: line 1: did not find expected '-' indicator"),
    (b"a:\n  b: 1\n c: 2\n", "yaml: line 2: did not find expected key", "yaml: line 2: did not find expected key"),
    (b"%FOO x\n---\na: 1\n", "yaml: found unknown directive name", "yaml: found unknown directive name"),
    (b"%YAML 1.2\n---\na\n", "yaml: found incompatible YAML document", "yaml: found incompatible YAML document"),
    (b"a: |0\n  x\n", "yaml: found an indentation indicator equal to 0", "yaml: found an indentation indicator equal to 0"),
    (b"a: | x\n", "yaml: did not find expected comment or line break", "yaml: did not find expected comment or line break"),
    (b"a: !<x\n", "yaml: did not find the expected '>'", "yaml: did not find the expected '>'"),
    (b"a: &\n", "yaml: did not find expected alphabetic or numeric character", "yaml: did not find expected alphabetic or numeric character"),
    (b"a: !e!x y\n", "yaml: found undefined tag handle", "yaml: found undefined tag handle"),
    (b"%TAG ! x\n%TAG ! y\n---\na\n", "yaml: line 1: found duplicate %TAG directive", "yaml: line 1: found duplicate %TAG directive"),
    (b"{a: b\nc: d}\n", "yaml: line 1: did not find expected ',' or '}'", "yaml: line 1: did not find expected ',' or '}'"),
    (b"]", "yaml: did not find expected node content", "yaml: did not find expected node content"),
    (b"a\x01", "yaml: control characters are not allowed", "yaml: control characters are not allowed"),
    (b"a\xff", "yaml: invalid leading UTF-8 octet", "yaml: invalid leading UTF-8 octet"),
    (b"k: v\n- x\n", "yaml: line 1: did not find expected key", "yaml: line 1: did not find expected key"),
    (b"a: 1\n---\nb: [\n", "yaml: line 3: did not find expected node content", "-"),
    (b"a: >\n\t x\n", "yaml: line 2: found a tab character where an indentation space is expected", "yaml: line 2: found a tab character where an indentation space is expected"),
    (b"? a\n? b\n: c\n d\n", "-", "-"),
    (b"'a': 'b' 'c'\n", "yaml: did not find expected key", "yaml: did not find expected key"),
    (b"a: b\n  c: d\n", "yaml: line 2: mapping values are not allowed in this context", "yaml: line 2: mapping values are not allowed in this context"),
    (b"key: [a]]\n", "yaml: did not find expected key", "yaml: did not find expected key"),
    (b"- - -\n -\n", "yaml: line 1: did not find expected '-' indicator", "yaml: line 1: did not find expected '-' indicator"),
    (b"a: \"x\n---\nb\"\n", "yaml: line 2: found unexpected document indicator", "yaml: line 2: found unexpected document indicator"),
    (b"\xef\xbf\xbe", "yaml: control characters are not allowed", "yaml: control characters are not allowed"),
    (b"a: \xc2\x80\n", "yaml: control characters are not allowed", "yaml: control characters are not allowed"),
    (b"a: \xef\xbf\xbf\n", "yaml: control characters are not allowed", "yaml: control characters are not allowed"),
    (b"{kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk: 1}\n", "yaml: did not find expected ',' or '}'", "yaml: did not find expected ',' or '}'"),
    (b"{a: 1, a 2}: x: y\n", "yaml: mapping values are not allowed in this context", "yaml: mapping values are not allowed in this context"),
];

fn said<T>(result: Result<T, yaml::Error>) -> String {
    result.err().map_or_else(|| "-".into(), |it| it.to_string())
}

#[test]
fn errors_are_in_go_yamls_words() {
    for &(input, tree, json) in CASES {
        let text = String::from_utf8_lossy(input);
        assert_eq!(said(parse(input)), tree, "tree of {text:?}");
        assert_eq!(said(to_json(input)), json, "JSON of {text:?}");
    }
}
