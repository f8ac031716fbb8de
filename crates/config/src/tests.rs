use super::*;
use crate::read as read_file;

const VERSIONS: &[&str] = &["a.example/v1", "a.example/v1beta1"];

fn read(text: &str) -> Result<(Option<String>, Option<i32>, usize), Error> {
    let mut document = Document::parse(text.as_bytes())?;
    document.expect(VERSIONS, &["Thing"])?;
    let fields = document.fields(&["name", "count", "inner", "items", "labels"]);
    let name = fields.text("name")?.map(str::to_owned);
    let count = fields.integer("count")?;
    fields.object("inner", "Inner", &["x"])?;
    let items = fields.objects("items", "Item", &["x"])?;
    for item in &items {
        item.text("x")?;
    }
    let more = fields.texts("labels")?.len();
    let sum = items.len() + more;
    document.finish()?;
    Ok((name, count, sum))
}

#[test]
fn what_is_known_is_read() {
    let yaml = "apiVersion: a.example/v1\nkind: Thing\nname: one\ncount: 3\nitems:\n- x: a\n- {}\nlabels: {a: b}\n";
    assert_eq!(read(yaml), Ok((Some("one".into()), Some(3), 3)));
    let json =
        r#" {"apiVersion": "a.example/v1beta1", "kind": "Thing", "name": null, "inner": {"x": 1}}"#;
    assert_eq!(read(json), Ok((None, None, 0)));
}

#[test]
fn what_is_not_said_may_be_clear() {
    let mut document = Document::parse(b"").unwrap();
    document.expect_or_first(VERSIONS, &["Thing"]).unwrap();
    assert_eq!(document.kind(), "Thing");
    let mut document = Document::parse(b"kind: Other\n").unwrap();
    assert!(document.expect_or_first(VERSIONS, &["Thing"]).is_err());
}

#[test]
fn mistakes_are_told_in_upstreams_words() {
    let head = "apiVersion: a.example/v1\nkind: Thing\n";
    let cases = [
        (
            "kind: Thing\n".to_owned(),
            r#"Object 'apiVersion' is missing in '{"kind":"Thing"}'"#,
        ),
        (String::new(), "Object 'Kind' is missing in 'null'"),
        (
            "apiVersion: v1\nkind: Thing\n".to_owned(),
            r#"no kind "Thing" is registered for version "v1""#,
        ),
        (
            format!("{head}nme: n\n"),
            r#"strict decoding error: unknown field "nme""#,
        ),
        (
            format!("{head}name: a\nname: b\nx: 1\n"),
            "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"name\" already set in map, unknown field \"x\"",
        ),
        (
            r#"{"apiVersion": "a.example/v1", "kind": "Thing", "name": "a", "name": "b"}"#
                .to_owned(),
            r#"strict decoding error: duplicate field "name""#,
        ),
        (
            format!("{head}inner: {{z: 1}}\nitems: [{{}}, {{q: 1}}]\n"),
            r#"strict decoding error: unknown field "inner.z", unknown field "items[1].q""#,
        ),
        (
            format!("{head}name: 1\n"),
            "json: cannot unmarshal number into Go struct field Thing.name of type string",
        ),
        (
            format!("{head}count: 3000000000\n"),
            "json: cannot unmarshal number 3000000000 into Go struct field Thing.count of type int32",
        ),
        (
            format!("{head}count: many\n"),
            "json: cannot unmarshal string into Go struct field Thing.count of type int32",
        ),
        (
            format!("{head}items: {{}}\n"),
            "json: cannot unmarshal object into Go struct field Thing.items of type []v1.Item",
        ),
        (
            format!("{head}items: [{{}}, {{x: true}}]\n"),
            "json: cannot unmarshal bool into Go struct field Item.items.x of type string",
        ),
        (
            format!("{head}items: [1]\n"),
            "json: cannot unmarshal number into Go struct field Thing.items of type v1.Item",
        ),
        (
            "{".to_owned(),
            "couldn't get version/kind; json parse error: unexpected end of JSON input",
        ),
    ];
    for (text, want) in cases {
        let found = read(&text).unwrap_err().to_string();
        assert_eq!(found, want, "{text}");
    }
    let gone = read_file(std::path::Path::new("/no/such")).unwrap_err();
    assert_eq!(gone, "open /no/such: no such file or directory");
    let large = vec![b' '; MAX_BYTES + 1];
    assert_eq!(Document::parse(&large).unwrap_err(), Error::TooLarge);
}
