//! YAML as JSON: as sigs.k8s.io/yaml converts it, what its strict form says otherwise, and what go-yaml v3 decodes from
//! the tree. An empty text stands for the one before it.

use yaml::{parse_first, to_json, to_json_strict};

#[rustfmt::skip]
const CASES: &[(&str, &str, &str, &str)] = &[
    ("", "null", "", "E:EOF"),
    ("# c\n", "null", "", "E:EOF"),
    ("a: yes\nb: No\nc: on\nd: OFF\ne: y\nf: 'yes'\n", "{\"a\":true,\"b\":false,\"c\":true,\"d\":false,\"e\":true,\"f\":\"yes\"}", "", "{\"a\":\"yes\",\"b\":\"No\",\"c\":\"on\",\"d\":\"OFF\",\"e\":\"y\",\"f\":\"yes\"}"),
    ("a: 0777\nb: 0o17\nc: 0x1F\nd: 0b11\ne: 1_000\nf: +1\ng: -0\n", "{\"a\":511,\"b\":15,\"c\":31,\"d\":3,\"e\":1000,\"f\":1,\"g\":0}", "", ""),
    ("a: 1.0\nb: 1.5\nc: 1e3\nd: .5\ne: 1e21\nf: 1e-7\ng: 123456789.5\n", "{\"a\":1,\"b\":1.5,\"c\":1000,\"d\":0.5,\"e\":1e+21,\"f\":1e-7,\"g\":123456789.5}", "", ""),
    ("a: 9223372036854775807\nb: 123456789012345678901234567890\n", "{\"a\":9223372036854775807,\"b\":1.2345678901234568e+29}", "", ""),
    ("a: ~\nb: null\nc:\nd: ''\n", "{\"a\":null,\"b\":null,\"c\":null,\"d\":\"\"}", "", ""),
    ("a: 2020-01-01\nb: 2020-01-01T10:00:00Z\n", "{\"a\":\"2020-01-01\",\"b\":\"2020-01-01T10:00:00Z\"}", "", "{\"a\":\"2020-01-01T00:00:00Z\",\"b\":\"2020-01-01T10:00:00Z\"}"),
    ("a: 1:30:00\n", "{\"a\":\"1:30:00\"}", "", ""),
    ("a: .inf\n", "E:json: unsupported value: +Inf", "", ""),
    ("a: .nan\n", "E:json: unsupported value: NaN", "", ""),
    ("1: a\ntrue: b\n1.5: c\nx: d\n", "{\"1\":\"a\",\"1.5\":\"c\",\"true\":\"b\",\"x\":\"d\"}", "", ""),
    ("~: x\n", "E:unsupported map key of type: %!s(<nil>), key: <nil>, value: \"x\"", "", "{}"),
    ("18446744073709551615: x\n", "E:unsupported map key of type: uint64, key: 0xffffffffffffffff, value: \"x\"", "", "{\"18446744073709551615\":\"x\"}"),
    ("? [a]\n: b\n", "E:yaml: invalid map key: []interface {}{\"a\"}", "", "E:yaml: unmarshal errors:\n  line 1: cannot unmarshal !!seq into string"),
    ("? {a: 1}\n: b\n", "E:yaml: invalid map key: map[interface {}]interface {}{\"a\":1}", "", "E:yaml: unmarshal errors:\n  line 1: cannot unmarshal !!map into string"),
    ("a: 1\na: 2\n", "{\"a\":2}", "E:yaml: unmarshal errors:\n  line 2: key \"a\" already set in map", "E:yaml: unmarshal errors:\n  line 2: mapping key \"a\" already defined at line 1"),
    ("a: 1\nb:\n  c: 1\n  c: 2\n1: x\n1: y\n0x1: z\n", "{\"1\":\"z\",\"a\":1,\"b\":{\"c\":2}}", "E:yaml: unmarshal errors:\n  line 4: key \"c\" already set in map\n  line 6: key 1 already set in map\n  line 7: key 1 already set in map", "E:yaml: unmarshal errors:\n  line 6: mapping key \"1\" already defined at line 5"),
    ("a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n", "{\"a\":{\"b\":1,\"c\":2},\"d\":{\"b\":1,\"c\":3}}", "E:yaml: unmarshal errors:\n  line 4: key \"c\" already set in map", "{\"a\":{\"b\":1,\"c\":2},\"d\":{\"b\":1,\"c\":3}}"),
    ("d:\n  c: 3\n  <<: {c: 4, e: 5}\n", "{\"d\":{\"c\":4,\"e\":5}}", "E:yaml: unmarshal errors:\n  line 3: key \"c\" already set in map", "{\"d\":{\"c\":3,\"e\":5}}"),
    ("d:\n  <<: [{a: 1}, {a: 2, b: 3}]\n", "{\"d\":{\"a\":1,\"b\":3}}", "E:yaml: unmarshal errors:\n  line 2: key \"a\" already set in map", "{\"d\":{\"a\":1,\"b\":3}}"),
    ("<<: 1\n", "E:yaml: map merge requires map or sequence of maps as the value", "", ""),
    ("<<: [1]\n", "E:yaml: map merge requires map or sequence of maps as the value", "", ""),
    ("a: &a [*a]\n", "E:yaml: anchor 'a' value contains itself", "", ""),
    ("a: &a\n  b: *a\n", "E:yaml: anchor 'a' value contains itself", "", ""),
    ("a: &x 1\nb: [*x, *x]\n", "{\"a\":1,\"b\":[1,1]}", "", ""),
    ("a: !!str 1\nb: !!int '2'\nc: !!float 3\nd: !foo 4\n", "{\"a\":\"1\",\"b\":2,\"c\":3,\"d\":\"4\"}", "", ""),
    ("a: !!int x\n", "E:yaml: cannot decode !!str `x` as a !!int", "", ""),
    ("a: !!bool 1\n", "E:yaml: cannot decode !!int `1` as a !!bool", "", ""),
    ("a: !!binary aGk=\n", "{\"a\":\"hi\"}", "", ""),
    ("a: !!binary a\n", "E:yaml: !!binary value contains invalid base64 data", "", ""),
    ("a: 1\n---\nb: 2\n", "{\"a\":1}", "", ""),
    ("a: <&>\u{2028}\n", "{\"a\":\"\\u003c\\u0026\\u003e\"}", "", ""),
    ("z: 1\na: 2\nZ: 3\n", "{\"Z\":3,\"a\":2,\"z\":1}", "", ""),
    ("- 1\n- [a, {b: c}]\n", "[1,[\"a\",{\"b\":\"c\"}]]", "", ""),
    ("x", "\"x\"", "", ""),
    ("a: \"\\u0000\"\n", "{\"a\":\"\\u0000\"}", "", ""),
    ("{\"a\": \"\\/\"}\n", "E:yaml: found unknown escape character", "", ""),
    ("a: 08\nb: 0b2\nc: 0b-1\nd: .1_0\n", "{\"a\":8,\"b\":\"0b2\",\"c\":-1,\"d\":0.1}", "", ""),
    ("'<<': {a: 1}\n", "{\"\\u003c\\u003c\":{\"a\":1}}", "", ""),
    ("a: 'null'\nb: \"1\"\n", "{\"a\":\"null\",\"b\":\"1\"}", "", ""),
    ("? a\n? b\n", "{\"a\":null,\"b\":null}", "", ""),
    ("*x : 1\n", "E:yaml: unknown anchor 'x' referenced", "", ""),
    ("&x a: 1\n*x : 2\n", "{\"a\":2}", "E:yaml: unmarshal errors:\n  line 2: key \"a\" already set in map", "{\"a\":2}"),
    ("a: 12e03\nb: 1e999\nc: -.5E+2\n", "{\"a\":12000,\"b\":\"1e999\",\"c\":-50}", "", ""),
];

fn shown(result: Result<json::Value, yaml::Error>) -> String {
    result.map_or_else(
        |error| format!("E:{error}"),
        |value| json::to_string(&value),
    )
}

#[test]
fn yaml_becomes_json() {
    for &(input, loose, strict, v3) in CASES {
        let strict = if strict.is_empty() { loose } else { strict };
        let v3 = if v3.is_empty() { strict } else { v3 };
        assert_eq!(shown(to_json(input.as_bytes())), loose, "{input:?}");
        assert_eq!(
            shown(to_json_strict(input.as_bytes())),
            strict,
            "strictly {input:?}"
        );
        let decoded = match parse_first(input.as_bytes()) {
            Ok(Some(document)) => shown(document.to_value()),
            Ok(None) => "E:EOF".into(),
            Err(error) => format!("E:{error}"),
        };
        assert_eq!(decoded, v3, "decoded from the tree of {input:?}");
    }
}
