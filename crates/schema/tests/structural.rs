//! Structural schemas do what apiextensions does with them.

use json::Value;
use meta::field::{Error, Path};
use schema::structural;

fn sorted(errors: &[Error]) -> Vec<String> {
    let mut texts: Vec<String> = errors.iter().map(Error::to_string).collect();
    texts.sort();
    texts
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// 3.0 is 3 once it is written.
fn again(value: &Value) -> Value {
    json::parse(&json::to_vec(value)).unwrap()
}

/// Lines of a schema, a value, perhaps an old value, and what upstream's packages made of them.
#[test]
fn as_apiextensions_does() {
    let committed = include_str!("golden/structural.jsonl").to_owned();
    let more = std::env::var_os("PILOTHOUSE_STRUCTURAL")
        .map(|path| std::fs::read_to_string(path).unwrap());
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for line in committed
        .lines()
        .chain(more.iter().flat_map(|it| it.lines()))
    {
        let case = json::parse(line.as_bytes()).unwrap();
        if case.get("bad").is_some() || case.get("panic").is_some() {
            continue;
        }
        seen += 1;
        let (written, value) = (case.get("schema").unwrap(), case.get("value").unwrap());
        let schema = structural::from_json_schema_props(written).unwrap();
        let place = schema.place();
        let mut compare = |what: &str, found: String, wanted: String| {
            if found != wanted {
                wrong.push(format!(
                    "{what}: {found}\n    instead of {wanted}\n    {written}\n    {value}"
                ));
            }
        };
        let same =
            |what: &str, compare: &mut dyn FnMut(&str, String, String), found: Vec<String>| {
                compare(what, found.join("\n"), texts(case.get(what)).join("\n"));
            };
        let path = Path::new("s");
        same(
            "structural",
            &mut compare,
            sorted(&structural::check(&path, written)),
        );
        let unknown: Vec<String> = texts(case.get("unknown"))
            .iter()
            .map(|it| format!("unknown field {it:?}"))
            .collect();
        compare(
            "unknown",
            schema::unknown(place, value).join("\n"),
            unknown.join("\n"),
        );
        let mut pruned = value.clone();
        schema::prune(place, &mut pruned);
        if again(&pruned) != *case.get("pruned").unwrap() {
            compare(
                "pruned",
                pruned.to_string(),
                case.get("pruned").unwrap().to_string(),
            );
        }
        structural::drop_nulls(place, &mut pruned);
        structural::default(place, &mut pruned);
        if again(&pruned) != *case.get("defaulted").unwrap() {
            compare(
                "defaulted",
                pruned.to_string(),
                case.get("defaulted").unwrap().to_string(),
            );
        }
        same(
            "errors",
            &mut compare,
            sorted(&structural::validate(place, value)),
        );
        let lists = structural::validate_lists(&Path::root(), place, value);
        same("lists", &mut compare, sorted(&lists));
        if let Some(old) = case.get("old") {
            same(
                "update",
                &mut compare,
                sorted(&structural::validate_update(place, value, old)),
            );
        }
    }
    let shown = wrong[..wrong.len().min(40)].join("\n");
    assert!(wrong.is_empty(), "{shown}\n{} wrong of {seen}", wrong.len());
}

#[test]
fn objects_in_objects() {
    let schema = structural::from_json_schema_props(&json::json!({
        "type": "object",
        "properties": {"inner": {
            "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true
        }}
    }))
    .unwrap();
    let bad = json::json!({
        "apiVersion": "a/v1", "kind": "A", "metadata": {"name": "x", "foo": 1, "labels": {"b": "1", "a": "2"}},
        "inner": {"apiVersion": "a/b/c", "kind": "1x", "metadata": {"name": "x/y", "generation": "one"}}
    });
    let root = Path::root();
    let mut strict = bad.clone();
    let error = structural::coerce(&root, schema.place(), &mut strict, true, false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "inner.metadata: Invalid value: {\"name\":\"x/y\",\"generation\":\"one\"}: json: cannot unmarshal string into \
         Go struct field ObjectMeta.generation of type int64"
    );
    let mut loose = bad.clone();
    let unknown = structural::coerce(&root, schema.place(), &mut loose, true, true).unwrap();
    assert_eq!(unknown, ["metadata.foo"]);
    assert_eq!(
        loose.get("metadata").unwrap().to_string(),
        r#"{"name":"x","labels":{"a":"2","b":"1"}}"#
    );
    assert_eq!(
        loose.at(&["inner", "metadata"]).unwrap().to_string(),
        r#"{"name":"x/y"}"#
    );
    let errors = sorted(&structural::validate_embedded(
        &root,
        schema.place(),
        &loose,
        true,
    ));
    assert_eq!(errors.len(), 3, "{errors:#?}");
    assert!(
        errors[0].starts_with(
            "inner.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string"
        )
    );
    assert!(errors[1].starts_with("inner.kind: Invalid value: \"1x\": may have mixed case"));
    assert!(errors[2].starts_with("inner.metadata.name: Invalid value: \"x/y\""));
}

fn size(errors: &[Error]) -> usize {
    errors.iter().map(|it| it.to_string().len()).sum()
}

/// A long key above many faults is not copied into an error for each of them.
#[test]
fn errors_are_bounded() {
    let written = json::json!({
        "type": "object",
        "additionalProperties": {"type": "object", "additionalProperties": {"type": "integer"}},
    });
    let schema = structural::from_json_schema_props(&written).unwrap();
    let wrong: json::Object = (0..15_000).map(|it| (it.to_string(), "x")).collect();
    let short = json::json!({"k": (wrong.clone())});
    let errors = structural::validate(schema.place(), &short);
    assert_eq!(errors.len(), meta::field::MAX_ERRORS);
    let first = "k.0: Invalid value: \"string\": .k.0 in body must be of type integer: \"string\"";
    assert_eq!(errors[0].to_string(), first);
    let key = "k".repeat(100_000);
    let long: json::Object = [(key, Value::from(wrong))].into_iter().collect();
    let errors = structural::validate(schema.place(), &long.into());
    assert!(
        !errors.is_empty() && size(&errors) < 2_000_000,
        "{}",
        size(&errors)
    );
}

/// The same for unknown fields.
#[test]
fn unknown_fields_are_bounded() {
    let written = json::json!({
        "type": "object",
        "additionalProperties": {"type": "object", "properties": {"a": {"type": "string"}}},
    });
    let schema = structural::from_json_schema_props(&written).unwrap();
    let unknown: json::Object = (0..15_000).map(|it| (it.to_string(), 1)).collect();
    let key = "k".repeat(100_000);
    let long: json::Object = [(key, Value::from(unknown))].into_iter().collect();
    let paths = schema::unknown_paths(schema.place(), &long.into());
    let bytes: usize = paths.iter().map(String::len).sum();
    assert!(!paths.is_empty() && bytes < 200_000, "{bytes}");
}

/// Many alternatives for many items are a product that an object may not ask for.
#[test]
fn steps_are_bounded() {
    let alternative = |it: i64| json::json!({"properties": {"a": {"minimum": it, "maximum": it}}});
    let schema = |count: i64| {
        let any: Value = (0..count).map(alternative).collect();
        let item =
            json::json!({"type": "object", "properties": {"a": {"type": "integer"}}, "anyOf": any});
        let written =
            json::json!({"type": "object", "properties": {"l": {"type": "array", "items": item}}});
        structural::from_json_schema_props(&written).unwrap()
    };
    let object = |count: i64, last: i64| {
        let items: Value = (0..count).map(|_| json::json!({"a": last})).collect();
        json::json!({"l": items})
    };
    let few = schema(20);
    assert!(structural::validate(few.place(), &object(5_000, 19)).is_empty());
    let many = schema(2_000);
    let errors = structural::validate(many.place(), &object(2_000, 1_999));
    let text = "<nil>: Forbidden: validating the object against the schema of its definition takes too many steps";
    assert_eq!(sorted(&errors), [text]);
    assert!(structural::validate(many.place(), &object(20, 1_999)).is_empty());
}
