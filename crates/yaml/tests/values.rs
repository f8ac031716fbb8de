//! JSON as YAML, as sigs.k8s.io/yaml writes it (on go-yaml v2).

use yaml::{to_json, value_to_string};

#[rustfmt::skip]
const CASES: &[(&str, &str)] = &[
    ("null", "null\n"),
    ("true", "true\n"),
    ("1", "1\n"),
    ("1.5", "1.5\n"),
    ("1e21", "1e+21\n"),
    ("1e20", "1e+20\n"),
    ("10000000000000000000", "10000000000000000000\n"),
    ("123456789.5", "1.234567895e+08\n"),
    ("0.00001", "1e-05\n"),
    ("\"x\"", "x\n"),
    ("\"\"", "\"\"\n"),
    ("[]", "[]\n"),
    ("{}", "{}\n"),
    ("{\"a\":[],\"b\":{},\"c\":null}", "a: []\nb: {}\nc: null\n"),
    ("{\"a\":[1,[2,[3]],{\"b\":[4]}]}", "a:\n- 1\n- - 2\n  - - 3\n- b:\n  - 4\n"),
    ("[[],[[1],2]]", "- []\n- - - 1\n  - 2\n"),
    ("[{\"a\":1,\"b\":[{\"c\":2}]}]", "- a: 1\n  b:\n  - c: 2\n"),
    ("{\"z10\":1,\"z9\":2,\"z2\":3,\"Z1\":4,\"amp\":5,\"10\":6,\"2\":7,\"1\":8}", "\"1\": 8\n\"2\": 7\n\"10\": 6\nZ1: 4\namp: 5\nz2: 3\nz9: 2\nz10: 1\n"),
    ("{\"a01b\":2,\"a_b\":3,\"a.b\":4,\"a-b\":5,\"ab\":6,\"a\":7,\"a10\":8,\"a2\":9}", "a: 7\na-b: 5\na.b: 4\na_b: 3\na01b: 2\na2: 9\na10: 8\nab: 6\n"),
    ("{\"x101\":1,\"x12\":2,\"a\":\"1:70\",\"b\":\"1:5\",\"c\":\"12:3a\"}", "a: 1:70\nb: \"1:5\"\nc: 12:3a\nx12: 2\nx101: 1\n"),
    ("{\"y\": \"y\", \"n\": \"n\", \"yes\": \"yes\", \"no\": \"no\", \"on\": \"on\", \"off\": \"off\", \"true\": \"true\", \"null\": \"null\", \"~\": \"~\", \"1234\": \"1234\", \"1e3\": \"1e3\", \"0x1F\": \"0x1F\", \"+1\": \"+1\", \"1:30:00\": \"1:30:00\", \"2020-01-01\": \"2020-01-01\", \"=\": \"=\", \".\": \".\", \"-\": \"-\", \"?\": \"?\", \":\": \":\", \"- a\": \"- a\", \"a: b\": \"a: b\", \"a #b\": \"a #b\", \"#a\": \"#a\", \"&a\": \"&a\", \"*a\": \"*a\", \"!a\": \"!a\", \"|\": \"|\", \"%a\": \"%a\", \"@a\": \"@a\", \"`a\": \"`a\", \"'a\": \"'a\", \"\\\"a\": \"\\\"a\", \"[a\": \"[a\", \"{a\": \"{a\", \"a,b\": \"a,b\", \"a:b\": \"a:b\", \" lead\": \" lead\", \"trail \": \"trail \", \"a\\tb\": \"a\\tb\", \"...\": \"...\", \"---\": \"---\", \"\\u00e9\": \"\\u00e9\", \"0b1\": \"0b1\", \".5\": \".5\", \"1_000\": \"1_000\"}", "' lead': ' lead'\n'!a': '!a'\n'\"a': '\"a'\n'#a': '#a'\n'%a': '%a'\n'&a': '&a'\n'''a': '''a'\n'*a': '*a'\n\"+1\": \"+1\"\n'-': '-'\n'- a': '- a'\n'---': '---'\n.: .\n'...': '...'\n\".5\": \".5\"\n':': ':'\n=: =\n'?': '?'\n'@a': '@a'\n'[a': '[a'\n'`a': '`a'\n'{a': '{a'\n'|': '|'\n\"~\": \"~\"\n\"0b1\": \"0b1\"\n\"0x1F\": \"0x1F\"\n\"1:30:00\": \"1:30:00\"\n\"1_000\": \"1_000\"\n\"1234\": \"1234\"\n\"1e3\": \"1e3\"\n\"2020-01-01\": \"2020-01-01\"\n\"a\\tb\": \"a\\tb\"\n'a #b': 'a #b'\na,b: a,b\n'a: b': 'a: b'\na:b: a:b\n\"n\": \"n\"\n\"no\": \"no\"\n\"null\": \"null\"\n\"off\": \"off\"\n\"on\": \"on\"\n'trail ': 'trail '\n\"true\": \"true\"\n\"y\": \"y\"\n\"yes\": \"yes\"\né: é\n"),
    ("{\"a\": \"x\\ny\", \"b\": \"x\\n\", \"c\": \"x\\n\\n\", \"d\": \"\\nx\", \"e\": \" x\\ny\", \"f\": \"x \\ny\", \"g\": \"x\\ty\\n\", \"h\": \"a\\r\\nb\", \"i\": \"\\n\", \"j\": \"x\\n y\"}", "a: |-\n  x\n  y\nb: |\n  x\nc: |+\n  x\n\nd: |2-\n\n  x\ne: |2-\n   x\n  y\nf: \"x \\ny\"\ng: \"x\\ty\\n\"\nh: \"a\\r\\nb\"\ni: |2+\n\nj: |-\n  x\n   y\n"),
    ("{\"a\": \"word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word \", \"b\": \"word, it's: word, it's: word, it's: word, it's: word, it's: word, it's: word, it's: word, it's: word, it's: word, it's: word, it's: word, it's: \", \"c\": \"word word word word word word word word word word word word word word word word word word word word \\ttab\", \"d\": \"https://xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}", "a: 'word word word word word word word word word word word word word word word word\n  word word word word word word word word word word word word word word '\nb: 'word, it''s: word, it''s: word, it''s: word, it''s: word, it''s: word, it''s:\n  word, it''s: word, it''s: word, it''s: word, it''s: word, it''s: word, it''s: '\nc: \"word word word word word word word word word word word word word word word word\n  word word word word \\ttab\"\nd: https://xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"),
    ("{\"smile\": \"😀\", \"ls\": \"a\\u2028b\", \"bom\": \"\\ufeffab\", \"nbsp\": \"a\\u00a0b\", \"nul\": \"\\u0000\\u0007\\u001b\"}", "bom: \"\\uFEFF\\x61\\x62\"\nls: 'a\u{2028}  b'\nnbsp: a\u{a0}b\nnul: \"\\0\\a\\e\"\nsmile: \"\\U0001F600\"\n"),
    ("{\"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\": 1, \"a\\nb\": 2}", "? |-\n  a\n  b\n: 2\n? kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\n: 1\n"),
    ("{\"<<\":\"<<\"}", "<<: <<\n"),
];

#[test]
fn json_becomes_yaml() {
    for (input, expected) in CASES {
        let value = json::parse(input.as_bytes()).expect(input);
        assert_eq!(value_to_string(&value), *expected, "{input}");
        // Upstream does not quote this key, and so cannot read it again.
        if !expected.starts_with("<<") {
            assert_eq!(
                to_json(expected.as_bytes()),
                Ok(value),
                "back from {expected:?}"
            );
        }
    }
}

/// As kustomize shows an object that cannot become JSON.
#[test]
fn what_is_read_is_shown_in_gos_syntax() {
    let shown = |text: &str| {
        let document = yaml::parse_first(text.as_bytes()).expect("it is YAML");
        document.and_then(|it| it.go_syntax()).unwrap_or_default()
    };
    assert_eq!(
        shown("1: {x: y, 1: b, true: c, 1.5: d, -3: e, a: s}\n"),
        "map[string]interface {}{\"1\":map[interface {}]interface {}{\"a\":\"s\", \"x\":\"y\", -3:\"e\", 1:\"b\", 1.5:\"d\", true:\"c\"}}"
    );
    assert_eq!(
        shown(
            "a: [1, 1.0, 123456789.5, 0.00001, .inf, null, 18446744073709551615, 2020-01-02, {}]\n"
        ),
        "map[string]interface {}{\"a\":[]interface {}{1, 1, 1.234567895e+08, 1e-05, +Inf, interface {}(nil), 0xffffffffffffffff, time.Date(2020, time.January, 2, 0, 0, 0, 0, time.UTC), map[string]interface {}{}}}"
    );
    assert_eq!(shown("a: &b {c: 1}\nd: *b\n"), "");
}
