use super::*;

/// All that a message of traces can have, as OTLP's mapping has it.
const ALL: &str = r#"{"resourceSpans":[{
  "resource":{"attributes":[{"key":"service.name","value":{"stringValue":"hook"}}],"droppedAttributesCount":1,
    "entityRefs":[{"schemaUrl":"s","type":"service","idKeys":["service.name"],"descriptionKeys":["a","b"]}]},
  "scopeSpans":[{
    "scope":{"name":"lib","version":"1.2","attributes":[{"key":"x","value":{"boolValue":false}}],"droppedAttributesCount":2},
    "spans":[{
      "traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","traceState":"a=b",
      "parentSpanId":"eee19b7ec3c1b173","flags":257,"name":"I'm a span","kind":2,
      "startTimeUnixNano":"1544712660000000000","endTimeUnixNano":"18446744073709551615",
      "attributes":[
        {"key":"int","value":{"intValue":"-9007199254740993"}},
        {"key":"double","value":{"doubleValue":1.5}},
        {"key":"nan","value":{"doubleValue":"NaN"}},
        {"key":"less","value":{"doubleValue":"-Infinity"}},
        {"key":"bytes","value":{"bytesValue":"AQL/"}},
        {"key":"empty","value":{"stringValue":""}},
        {"key":"none","value":{}},
        {"key":"list","value":{"arrayValue":{"values":[{"intValue":"0"},{"arrayValue":{}}]}}},
        {"key":"map","value":{"kvlistValue":{"values":[{"key":"k","value":{"boolValue":true}}]}}}],
      "droppedAttributesCount":3,
      "events":[{"timeUnixNano":"1544712660300000000","name":"e","attributes":[{"key":"n","value":{"intValue":"7"}}],"droppedAttributesCount":4}],
      "droppedEventsCount":5,
      "links":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b175","traceState":"c=d","attributes":[],"droppedAttributesCount":6,"flags":1}],
      "droppedLinksCount":7,
      "status":{"message":"oh","code":2}}],
    "schemaUrl":"https://one"}],
  "schemaUrl":"https://two"}]}"#;

#[test]
fn there_and_back() {
    let value = json::parse(ALL.as_bytes()).unwrap();
    let bytes = from_json(&value).unwrap();
    check(&bytes).unwrap();
    let mut expected = value.clone();
    // An empty list is as good as none.
    let link = ["resourceSpans", "scopeSpans", "spans", "links"]
        .iter()
        .try_fold(&mut expected, |value, name| {
            value.get_mut(name)?.as_array_mut()?.first_mut()
        });
    link.unwrap().as_object_mut().unwrap().remove("attributes");
    assert_eq!(to_json(&bytes).unwrap(), expected);
    // And as the other reader has it.
    let read = super::super::request(&bytes).unwrap();
    let span = &read[0].spans[0];
    assert_eq!(span.scope, "lib");
    assert_eq!(span.span_id.to_string(), "eee19b7ec3c1b174");
    assert_eq!((span.kind, span.flags, span.end), (2, 257, u64::MAX));
    assert_eq!(
        span.attribute("int"),
        Some(&crate::otlp::Value::Int(-9_007_199_254_740_993))
    );
    assert_eq!(span.events[0].name, "e");
    assert!(span.is_error && span.message == "oh");
}

#[test]
fn what_senders_write_otherwise() {
    let text = r#"{"resourceSpans":[{"unknown":1,"scopeSpans":[{"spans":[{"traceId":"5B8EFFF798038103D269B633813FC60C",
      "spanId":null,"kind":"SPAN_KIND_CLIENT","startTimeUnixNano":1544712660000000000,
      "attributes":[{"key":"a","value":{"intValue":5}},{"key":"b","value":{"doubleValue":2}}]}]}]}]}"#;
    let bytes = from_json(&json::parse(text.as_bytes()).unwrap()).unwrap();
    let read = super::super::request(&bytes).unwrap();
    let span = &read[0].spans[0];
    assert_eq!(
        span.trace_id.to_string(),
        "5b8efff798038103d269b633813fc60c"
    );
    assert!(span.span_id.is_none());
    assert_eq!((span.kind, span.start), (3, 1_544_712_660_000_000_000));
    assert_eq!(span.attribute("a"), Some(&crate::otlp::Value::Int(5)));
    assert_eq!(span.attribute("b"), Some(&crate::otlp::Value::Double(2.0)));
}

#[test]
fn what_is_wrong_is_named() {
    let span = |fields: &str| {
        format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{{fields}}}]}}]}}]}}"#)
    };
    for (text, expected) in [
        (
            "[]".to_owned(),
            "an object with resourceSpans is expected, not array",
        ),
        (r#"{"resourceSpans":{}}"#.to_owned(), "resourceSpans is not"),
        (span(r#""traceId":"xy""#), "traceId is not"),
        (span(r#""traceId":"abc""#), "traceId is not"),
        (span(r#""traceId":"é""#), "traceId is not"),
        (span(r#""name":1"#), "name is not"),
        (span(r#""kind":"CLIENT""#), "kind is not"),
        (
            span(r#""startTimeUnixNano":"-1""#),
            "startTimeUnixNano is not",
        ),
        (span(r#""flags":4294967296"#), "flags is not"),
        (
            span(r#""attributes":[1]"#),
            "an object with key is expected",
        ),
        (
            span(r#""attributes":[{"key":"a","value":{"boolValue":"x"}}]"#),
            "boolValue is not",
        ),
        (
            span(r#""attributes":[{"key":"a","value":{"bytesValue":"*"}}]"#),
            "bytesValue is not",
        ),
    ] {
        let error = from_json(&json::parse(text.as_bytes()).unwrap()).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
}

/// Values within values: as deep as the other reader goes, and no deeper.
#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| {
        let open = r#"{"arrayValue":{"values":["#.repeat(depth - 1);
        let close = "]}}".repeat(depth - 1);
        let value = format!(r#"{open}{{"boolValue":true}}{close}"#);
        let span = format!(r#"{{"attributes":[{{"key":"a","value":{value}}}]}}"#);
        format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{span}]}}]}}]}}"#)
    };
    let parse = |text: String| json::parse(text.as_bytes()).unwrap();
    let bytes = from_json(&parse(nested(DEPTH))).unwrap();
    check(&bytes).unwrap();
    to_json(&bytes).unwrap();
    super::super::request(&bytes).unwrap();
    let deep = parse(nested(DEPTH + 1));
    assert!(matches!(from_json(&deep), Err(Error::Deep)));
    // On the wire it can be nested without any table's help.
    let mut value = Vec::new();
    for _ in 0..10_000 {
        let mut array = Message::default();
        array.bytes(1, &value);
        let mut any = Message::default();
        any.bytes(5, &array.0);
        value = any.0;
    }
    let mut pair = Message::default();
    pair.bytes(2, &value);
    let mut request = Message::default();
    request.message(1, |it| {
        it.message(1, |resource| resource.bytes(1, &pair.0));
    });
    assert!(matches!(check(&request.0), Err(Error::Deep)));
    assert!(matches!(to_json(&request.0), Err(Error::Deep)));
}

#[test]
fn texts_are_utf8() {
    let mut request = Message::default();
    request.message(1, |it| it.bytes(3, b"\xff"));
    assert!(matches!(check(&request.0), Err(Error::Text)));
    for length in 0..request.0.len() - 1 {
        // Whatever is cut off is an error or nothing, never a panic.
        let _ = to_json(&request.0[..=length]);
    }
}
