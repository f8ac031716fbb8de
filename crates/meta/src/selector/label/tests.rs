//! Upstream's tables.

use json::json;

use super::*;

type Pairs = [(&'static str, &'static str)];

#[test]
fn good_texts_are_printed_canonically() {
    let table = [
        ("x=a,y=b,z=c", "x=a,y=b,z=c"),
        ("", ""),
        ("x= ,z= ", "x=,z="),
        ("!x", "!x"),
        ("x>1,z<5", "x>1,z<5"),
        ("x=a,a=x", "a=x,x=a"),
        ("\rx", "x"),
        (
            "this-is-a-dns.domain.com/key-with-dash",
            "this-is-a-dns.domain.com/key-with-dash",
        ),
        (
            "0.1.2.domain/99 notin (tick.tack.clock, 10.10.100.1)",
            "0.1.2.domain/99 notin (10.10.100.1,tick.tack.clock)",
        ),
        ("foo  in\t (abc)", "foo in (abc)"),
        ("x notin\n (abc)", "x notin (abc)"),
        ("x in (abc,)", "x in (,abc)"),
        ("x in (abc,abc)", "x in (abc)"),
        ("x in ()", "x in ()"),
        ("x in (a,,a,,a,,a,,)", "x in (,a)"),
        (
            "x notin (abc,,def),bar,z in (),w",
            "bar,w,x notin (,abc,def),z in ()",
        ),
        ("x,y in (a)", "x,y in (a)"),
        ("x==a,y!=b,z in (h,j,i)", "x==a,y!=b,z in (h,i,j)"),
        ("x notin ( )", "x notin ()"),
        ("x notin (, a)", "x notin (,a)"),
        ("a ", "a"),
        ("a in (x,y,notin, z,in)", "a in (in,notin,x,y,z)"),
        ("notin=in", "notin=in"),
        ("in,notin", "in,notin"),
    ];
    for (text, want) in table {
        let selector = LabelSelector::parse(text);
        assert_eq!(
            selector.map(|it| it.to_string()).as_deref(),
            Ok(want),
            "{text}"
        );
    }
}

#[test]
fn bad_texts_are_named() {
    let operators = "in, notin, =, ==, !=, gt, lt";
    let table = [
        ("x,,y", "found ',', expected: identifier after ','"),
        (
            ",x,y",
            "found ',', expected: !, identifier, or 'end of string'",
        ),
        (
            "(",
            "found '(', expected: !, identifier, or 'end of string'",
        ),
        (
            "x nott in (y)",
            &format!("unable to parse requirement: found 'nott', expected: {operators}"),
        ),
        (
            "a (",
            &format!("unable to parse requirement: found '(', expected: {operators}"),
        ),
        ("a in (xyz),", "found '', expected: identifier after ','"),
        (
            "a in (xyz)b notin ()",
            "found 'b', expected: ',' or 'end of string'",
        ),
        (
            "a in (xyz abc)",
            "unable to parse requirement: found 'abc', expected: ',' or ')'",
        ),
        (
            "a notin(",
            "unable to parse requirement: found '', expected: ',', ')' or identifier",
        ),
        (
            "a in b",
            "unable to parse requirement: found 'b' expected: '('",
        ),
        (
            "a in (,",
            "unable to parse requirement: found '', expected: ',', or identifier",
        ),
        ("x==a==b", "found '==', expected: ',' or 'end of string'"),
        ("!x=a", "found '=', expected: ',' or 'end of string'"),
        (
            "!",
            "unable to parse requirement: found '', expected: identifier",
        ),
        (
            "x=!",
            "unable to parse requirement: found '!', expected: identifier",
        ),
        (
            "x<a",
            r#"unable to parse requirement: values[0]: Invalid value: "a": for 'Gt', 'Lt' operators, the value must be an integer"#,
        ),
        (
            "x=a||y",
            r#"unable to parse requirement: values[0][x]: Invalid value: "a||y": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"#,
        ),
        (
            "-",
            r#"unable to parse requirement: <nil>: Invalid value: "-": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"#,
        ),
    ];
    for (text, want) in table {
        let error = LabelSelector::parse(text).map_err(|it| it.to_string());
        assert_eq!(error, Err(want.into()), "{text}");
    }
}

#[test]
fn matching() {
    let table: [(&str, &Pairs, bool); 21] = [
        ("", &[("x", "y")], true),
        ("x=y", &[("x", "y")], true),
        ("x=y,z=w", &[("x", "y"), ("z", "w")], true),
        ("x!=y,z!=w", &[("x", "z"), ("z", "a")], true),
        ("notin=in", &[("notin", "in")], true),
        ("x", &[("x", "z")], true),
        ("!x", &[("y", "z")], true),
        ("x>1", &[("x", "2")], true),
        ("x<1", &[("x", "0")], true),
        ("x notin (),y", &[("y", "")], true),
        ("x=z", &[], false),
        ("x=y", &[("x", "z")], false),
        ("x=y,z=w", &[("x", "w"), ("z", "w")], false),
        ("x!=y,z!=w", &[("x", "z"), ("z", "w")], false),
        ("x", &[("y", "z")], false),
        ("!x", &[("x", "z")], false),
        ("x>1", &[("x", "0")], false),
        ("x<1", &[("x", "2")], false),
        ("x>1", &[("x", "v2")], false),
        ("x in ()", &[("y", "baz")], false),
        (
            "x in (foo),y in (alpha)",
            &[("x", "foo"), ("y", "baz")],
            false,
        ),
    ];
    for (text, labels, want) in table {
        let selector = LabelSelector::parse(text).expect("all of the table parse");
        assert_eq!(selector.matches_pairs(labels), want, "{text} {labels:?}");
        let object: Object = labels.iter().copied().collect();
        assert_eq!(selector.matches(Some(&object)), want, "{text} {labels:?}");
    }
    assert!(LabelSelector::everything().matches(None));
    assert!(!LabelSelector::nothing().matches(None));
}

#[test]
fn requirements_are_checked() {
    let long = "a".repeat(64);
    let table: [(&str, Operator, &[&str], &str); 9] = [
        (
            "x",
            Operator::In,
            &[],
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        ),
        ("x", Operator::NotIn, &["foo"], ""),
        (
            "x",
            Operator::Equals,
            &["bar", "foo"],
            r#"values: Invalid value: ["bar","foo"]: exact-match compatibility requires one single value"#,
        ),
        ("x", Operator::Exists, &[], ""),
        (
            "x",
            Operator::Exists,
            &["foo"],
            r#"values: Invalid value: ["foo"]: values set must be empty for exists and does not exist"#,
        ),
        ("x", Operator::GreaterThan, &["1"], ""),
        (
            "x",
            Operator::LessThan,
            &[],
            "values: Invalid value: null: for 'Gt', 'Lt' operators, exactly one value is required",
        ),
        (
            "x",
            Operator::Equals,
            &[&long],
            &format!(r#"values[0][x]: Invalid value: "{long}": must be no more than 63 bytes"#),
        ),
        (
            &long,
            Operator::Exists,
            &[],
            &format!(r#"key: Invalid value: "{long}": name part must be no more than 63 bytes"#),
        ),
    ];
    for (key, operator, values, want) in table {
        let values = values.iter().map(ToString::to_string).collect();
        let error = Requirement::new(key, operator, values).err();
        assert_eq!(error.map(|it| it.to_string()).unwrap_or_default(), want);
    }
}

#[test]
fn objects() {
    let expression = json!({"key": "baz", "operator": "In", "values": ["qux", "norf"]});
    let expressions = json!([expression]);
    let table = [
        (json!({}), Ok("")),
        (json!({"matchLabels": {"foo": "bar"}}), Ok("foo=bar")),
        (
            json!({"matchLabels": {"foo": "bar"}, "matchExpressions": expressions}),
            Ok("baz in (norf,qux),foo=bar"),
        ),
        (
            json!({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}),
            Ok("!a"),
        ),
        (
            json!({"matchExpressions": [{"key": "a", "operator": "x"}]}),
            Err(r#""x" is not a valid label selector operator"#),
        ),
        (
            json!({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["q"]}]}),
            Err(
                r#"values: Invalid value: ["q"]: values set must be empty for exists and does not exist"#,
            ),
        ),
    ];
    for (object, want) in table {
        let got = LabelSelector::from_value(Some(&object));
        let got = got.map(|it| it.to_string()).map_err(|it| it.to_string());
        assert_eq!(got.as_deref().map_err(|it| &**it), want);
    }
    assert_eq!(
        LabelSelector::from_value(None),
        Ok(LabelSelector::nothing())
    );
}

#[test]
fn exact_matches() {
    let table = [
        ("key in (value)", Some("value")),
        ("key in (value,value2)", None),
        ("key=value", Some("value")),
        ("key==value,other", Some("value")),
        ("key!=value", None),
        ("other=value", None),
    ];
    for (text, want) in table {
        let selector = LabelSelector::parse(text).unwrap_or_default();
        assert_eq!(selector.exact_match("key"), want, "{text}");
    }
}
