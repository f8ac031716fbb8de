use super::screen::{Screen, duration, time};
use super::waterfall::Show;
use super::*;

const PLAIN: Screen = Screen {
    width: 90,
    colour: false,
};

/// A request that called a webhook, which told of itself, and failed.
const TRACE: &str = r#"{"resourceSpans":[
 {"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"apiserver"}}]},"scopeSpans":[{"scope":{"name":"pilothouse"},"spans":[
  {"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"0000000000000001","name":"POST /api/v1/namespaces/{:namespace}/configmaps","kind":2,
   "startTimeUnixNano":"1794816696123000000","endTimeUnixNano":"1794816696133000000",
   "attributes":[{"key":"audit-id","value":{"stringValue":"7f9c"}},{"key":"http.response.status_code","value":{"intValue":"500"}}],"status":{"code":2}},
  {"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"0000000000000002","parentSpanId":"0000000000000001","name":"authentication","kind":1,
   "startTimeUnixNano":"1794816696123000000","endTimeUnixNano":"1794816696123050000"},
  {"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"0000000000000003","parentSpanId":"0000000000000001","name":"Create","kind":1,
   "startTimeUnixNano":"1794816696124000000","endTimeUnixNano":"1794816696132000000",
   "events":[{"timeUnixNano":"1794816696124001500","name":"limitedReadBody succeeded","attributes":[{"key":"len","value":{"intValue":"42"}}]}]},
  {"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"0000000000000004","parentSpanId":"0000000000000003","name":"HTTP POST","kind":3,
   "startTimeUnixNano":"1794816696125000000","endTimeUnixNano":"1794816696131000000","status":{"code":2}},
  {"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"0000000000000006","parentSpanId":"0000000000000003","name":"SerializeObject","kind":1,
   "startTimeUnixNano":"1794816696131900000","endTimeUnixNano":"1794816696131900900"}]}]},
 {"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"hook"}}]},"scopeSpans":[{"spans":[
  {"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"0000000000000005","parentSpanId":"0000000000000004","name":"review\u001b[31m","kind":2,
   "startTimeUnixNano":"1794816696126000000","endTimeUnixNano":"1794816696130000000","attributes":[{"key":"tags","value":{"arrayValue":{"values":[{"boolValue":true},{"stringValue":"b"}]}}}],
   "status":{"code":2,"message":"no such policy"}}]}]}]}"#;

fn drawn(screen: &Screen, show: Show) -> String {
    waterfall::render(&json::parse(TRACE.as_bytes()).unwrap(), screen, show).unwrap()
}

#[test]
fn a_waterfall() {
    let expected = include_str!("waterfall.txt");
    assert_eq!(drawn(&PLAIN, Show::default()), expected);
    let all = Show {
        events: true,
        attributes: true,
    };
    assert_eq!(drawn(&PLAIN, all), include_str!("waterfall_all.txt"));
    let coloured = Screen {
        width: 90,
        colour: true,
    };
    let text = drawn(&coloured, Show::default());
    let expected = "\x1b[31m   │  └─ ! [hook] review\u{fffd}[31m";
    assert!(text.contains(expected), "{text:?}");
    // Whatever the width, no line is wider.
    for width in [60, 61, 200] {
        let screen = Screen { width, ..PLAIN };
        for line in drawn(&screen, Show::default()).lines().skip(1) {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

/// Whoever says to be whose child, each span is shown once, and nothing goes on for ever.
#[test]
fn strange_families() {
    let span = |id: u32, parent: u32| {
        format!(
            r#"{{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"{id:016x}","parentSpanId":"{parent:016x}","name":"s{id}","startTimeUnixNano":"5","endTimeUnixNano":"5"}}"#
        )
    };
    let mut deep: Vec<_> = (1..600).map(|id| span(id, id - 1)).collect();
    for families in [
        vec![span(1, 2), span(2, 1)],
        vec![span(1, 1)],
        vec![span(1, 9), span(2, 9), span(3, 1)],
        std::mem::take(&mut deep),
    ] {
        let text = format!(
            r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#,
            families.join(",")
        );
        let text = waterfall::render(
            &json::parse(text.as_bytes()).unwrap(),
            &PLAIN,
            Show::default(),
        );
        let text = text.unwrap();
        assert_eq!(text.lines().count(), families.len() + 2, "{text}");
    }
    let none = json::parse(br#"{"resourceSpans":[]}"#).unwrap();
    let error = waterfall::render(&none, &PLAIN, Show::default()).unwrap_err();
    assert_eq!(error.to_string(), "the trace has no spans");
}

#[test]
fn a_list() {
    let found = r#"{"traces":[
      {"traceID":"4bf92f3577b34da6a3ce929d0e0e4736","rootServiceName":"apiserver","rootTraceName":"POST /api/v1/nodes","startTimeUnixNano":"1794816696123000000","durationMs":10,"durationNano":"10000000","spanCount":6,"errorCount":3,"statusCode":500},
      {"traceID":"00000000000000000000000000000001","rootServiceName":"hook","rootTraceName":"review","startTimeUnixNano":"1794816696000000000","durationMs":0,"durationNano":"999","spanCount":1,"errorCount":0,"partial":true}],
      "matched":5,"kept":{}}"#;
    let shown = list::render(&json::parse(found.as_bytes()).unwrap(), false);
    let expected = "\
TIME                       TRACE ID                           DURATION   SPANS   STATUS          NAME
2026-11-16T08:11:36.123Z   4bf92f3577b34da6a3ce929d0e0e4736   10.0ms     6       500, 3 errors   POST /api/v1/nodes
2026-11-16T08:11:36.000Z   00000000000000000000000000000001   999ns      1       ok              hook: review (its beginning is not here)
... and 3 more; --limit shows up to 1000
";
    assert_eq!(shown, expected);
    let none = json::parse(br#"{"traces":[],"matched":0}"#).unwrap();
    assert!(list::render(&none, false).contains("nothing was recorded yet"));
    assert!(list::render(&none, true).contains("like that"));
}

#[test]
fn times() {
    for (nanos, expected) in [
        (0, "0ns"),
        (999, "999ns"),
        (1_234, "1.23µs"),
        (12_345, "12.3µs"),
        (123_456, "123µs"),
        (999_999, "999µs"),
        (1_000_000, "1.00ms"),
        (61_500_000_000, "61.5s"),
    ] {
        assert_eq!(duration(nanos), expected);
    }
    assert_eq!(time(1_500), "1970-01-01T00:00:00.000Z");
}
