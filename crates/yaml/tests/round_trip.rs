//! What go-yaml v3 writes for what it read. An empty output stands for the input itself; a second one is that of wide
//! sequences where it differs.

use yaml::{Options, parse, to_string};

#[rustfmt::skip]
const CASES: &[(&str, &str, &str)] = &[
    // quoting
    ("a: 'x'\nb: \"y\"\nc: z\n", "", ""),
    ("a: ''\nb: \"\"\nc:\n", "", ""),
    ("a: 'it''s'\nb: \"tab\\there\"\n", "", ""),
    ("a: \"\\u00e9 \\U0001F600 \\x01\"\n", "a: \"é \\U0001F600 \\x01\"\n", ""),
    ("a: \"long\\\n  folded\"\n", "a: \"longfolded\"\n", ""),
    ("a: 'two\n\n  lines'\n", "", ""),
    ("a: \"\\L\\P\\N\\_\"\n", "a: \"\\L\\P\\N\u{a0}\"\n", ""),
    ("[\"a\", 'b', c, 'd: e']\n", "", ""),
    ("{a: '', b: \"\", c: }\n", "{a: '', b: \"\", c: ''}\n", ""),
    ("a: yes\nb: 'yes'\nc: on\n", "", ""),
    // block scalars
    ("a: |\n  x\n  y\n", "", ""),
    ("a: |-\n  x\n", "", ""),
    ("a: |+\n  x\n\n", "", ""),
    ("a: >\n  folded\n  text\n\n  more\n", "a: >\n  folded text\n\n  more\n\n", ""),
    ("a: >-\n  x\n   indented\n  y\n", "a: >-\n  x\n\n   indented\n  y\n", ""),
    ("a: |2\n   lead\n", "", ""),
    ("a: |\n\n  x\n", "a: |2\n\n  x\n", ""),
    ("a: | # note\n  x\n", "", ""),
    ("- |\n  x\n- >\n  y\n", "- |\n  x\n- >\n  y\n\n", ""),
    ("a: |\n  trailing \n  x\n", "a: \"trailing \\nx\\n\"\n", ""),
    ("a: |\n  \ttab\n", "E:yaml: line 2: found a tab character where an indentation space is expected", ""),
    // collections
    ("a:\n- 1\n- 2\n", "", "a:\n  - 1\n  - 2\n"),
    ("a:\n  - 1\n  - b: 2\n    c: 3\n", "a:\n- 1\n- b: 2\n  c: 3\n", "a:\n  - 1\n  - b: 2\n    c: 3\n"),
    ("- - 1\n  - 2\n- - 3\n", "", ""),
    ("a: []\nb: {}\nc: [1, {d: 2}]\n", "", ""),
    ("? a\n: b\n", "a: b\n", ""),
    ("? [a, b]\n: c\n", "", ""),
    ("? |\n  long\n: x\n", "", ""),
    ("a:\n    b:\n        c: 1\n", "a:\n  b:\n    c: 1\n", ""),
    ("- a: 1\n\n- b: 2\n", "- a: 1\n- b: 2\n", ""),
    ("[a, b: c, {d}]\n", "[a, {b: c}, {d: ''}]\n", ""),
    ("- \n- x\n-\n", "-\n- x\n-\n", ""),
    ("kxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: v\n", "? kxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n: v\n", ""),
    // anchors and tags
    ("a: &x 1\nb: *x\n", "", ""),
    ("a: &m {k: v}\nb:\n  <<: *m\n  c: d\n", "a: &m {k: v}\nb:\n  !!merge <<: *m\n  c: d\n", ""),
    ("a: !!str 1\nb: !!int '2'\n", "", ""),
    ("a: !foo bar\nb: !foo {x: 1}\nc: !<tag:example.com,2000:x> y\n", "", ""),
    ("- &a\n  x: 1\n- *a\n", "", ""),
    ("a: ! 1\n", "a: 1\n", ""),
    ("%YAML 1.1\n%TAG !e! tag:e.com,2000:\n---\na: !e!x 1\n", "a: !<tag:e.com,2000:x> 1\n", ""),
    ("a: !!binary aGk=\nb: !!set {x}\n", "a: !!binary aGk=\nb: !!set {x: ''}\n", ""),
    ("*a : b\n&a c: d\n", "E:yaml: unknown anchor 'a' referenced", ""),
    ("&a c: d\n*a : b\n", "&a c: d\n*a: b\n", ""),
    // documents
    ("a: 1\n---\nb: 2\n", "", ""),
    ("---\na: 1\n...\n---\nb: 2\n", "a: 1\n---\nb: 2\n", ""),
    ("--- x\n", "x\n", ""),
    ("# only a comment\n", "", ""),
    ("", "", ""),
    ("---\n---\n", "\n---\n\n", ""),
    ("a\n", "", ""),
    ("\u{feff}a: 1\n", "a: 1\n", ""),
    ("a: 1\r\nb: 2\r\n", "a: 1\nb: 2\n", ""),
    // comments
    ("# head\na: 1 # line\n# foot\n", "", ""),
    ("# document\n\n# head\na: 1\n", "", ""),
    ("a:\n  # head of b\n  b: 1\n  # foot of b\n\n  # head of c\n  c: 2\n", "", ""),
    ("a: # on the key\n  b: 1\n", "", ""),
    ("- # above\n  a: 1\n- b # beside\n# at the end\n", "", ""),
    ("a: [1, # one\n  2]\n", "", ""),
    ("a:\n  - b\n  # in the list\n# outside\nc: d\n", "a:\n- b\n# in the list\n\n# outside\nc: d\n", "a:\n  - b\n  # in the list\n# outside\nc: d\n"),
    ("a: 1\n\n# apart\n\nb: 2\n", "a: 1\n# apart\nb: 2\n", ""),
    ("# a\n---\n# b\nx: 1\n# c\n", "# a\n# b\nx: 1\n# c\n", ""),
    ("{a: 1, # x\n b: 2}\n", "{a: 1, # x\n  b: 2}\n", ""),
    ("a:\n# dedented\n  b: 1\n", "a:\n  # dedented\n  b: 1\n", ""),
    ("a: 1 #no space\n#tight\nb: 2\n", "", ""),
    ("- a\n  # more\n- b\n", "- a\n# more\n- b\n", ""),
    ("a:\n  b:\n    c: 1\n    # deep\n  # middle\n# outer\n", "", ""),
    ("# one\r\na: 1 # two\r\n", "# one\n\na: 1 # two\n", ""),
    ("# c\n- - x\n", "", ""),
    ("- k:\n  # a\n# b\n  l: v\n", "- k:\n  # a\n\n  # b\n  l: v\n", ""),
    ("- v\n- - x\n# c\n", "- v\n- - x\n\n# c\n", ""),
    ("- # a\r\n   # b\r\n   k: v\r\n# c\r\n   # d\r\n# e\r\n", "- # a\n\n  # b\n  k: v\n  # c\n  # d\n\n# e\n", ""),
    ("k:\n   l: v\n\n# c\n", "k:\n  l: v\n\n# c\n", ""),
    ("k:\n# a\nl:\n# b\n", "k:\n# a\nl:\n\n# b\n", ""),
    ("k:\n# c\n", "k:\n\n# c\n", ""),
    ("# c\n-\n", "-\n\n# c\n", ""),
    // long lines
    ("a: word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word\n", "", ""),
    ("a: \"word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word\\n\"\n", "", ""),
];

#[test]
fn trees_are_written_as_go_yaml_writes_them() {
    for &(input, compact, wide) in CASES {
        let documents = parse(input.as_bytes());
        let compact = if compact.is_empty() { input } else { compact };
        let wide = if wide.is_empty() { compact } else { wide };
        for (options, expected) in [(Options::default(), compact), (Options::wide(), wide)] {
            let written = match &documents {
                Ok(documents) => to_string(documents, options).map_err(|it| it.to_string()),
                Err(error) => Ok(format!("E:{error}")),
            };
            // A comment alone belongs to no document.
            let expected = if input.starts_with("# only") {
                ""
            } else {
                expected
            };
            assert_eq!(written.as_deref(), Ok(expected), "from {input:?}");
        }
    }
}

#[test]
fn a_clone_is_written_alike() {
    for (input, ..) in CASES {
        if let Ok(documents) = parse(input.as_bytes()) {
            assert_eq!(documents.clone(), documents, "{input:?}");
            let options = Options::go_yaml();
            assert_eq!(
                to_string(&documents.clone(), options),
                to_string(&documents, options)
            );
        }
    }
}
