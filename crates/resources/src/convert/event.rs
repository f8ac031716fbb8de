//! Events of the core group and of events.k8s.io: the same fields under other names.

use json::Object;

/// (core, events.k8s.io)
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

pub(super) fn to_events(event: &mut Object) {
    rename(event, |(core, _)| core, |(_, events)| events);
    // There they are left out when they say nothing.
    event.retain(|key, value| {
        !matches!(key, "reportingController" | "reportingInstance") || value.as_str() != Some("")
    });
}

pub(super) fn to_core(event: &mut Object) {
    rename(event, |(_, events)| events, |(core, _)| core);
}

type Name = (&'static str, &'static str);

fn rename(event: &mut Object, from: fn(Name) -> &'static str, to: fn(Name) -> &'static str) {
    for name in NAMES {
        if let Some(value) = event.remove(from(name)) {
            event.insert(to(name), value);
        }
    }
}

#[test]
fn there_and_back() {
    let core = json::json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod"}, "message": "m", "count": 2, "reason": "r", "type": "Normal",
        "source": {"component": "c"}, "firstTimestamp": null, "reportingComponent": "x", "reportingInstance": "i"
    });
    let mut event = core.clone();
    super::to("", "v1", "Event", &mut event, ("events.k8s.io", "v1")).unwrap();
    let expected = json::json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"},
        "regarding": {"kind": "Pod"}, "note": "m", "deprecatedCount": 2, "reason": "r", "type": "Normal",
        "deprecatedSource": {"component": "c"}, "deprecatedFirstTimestamp": null, "reportingController": "x",
        "reportingInstance": "i"
    });
    assert_eq!(event, expected);
    super::to("events.k8s.io", "v1", "Event", &mut event, ("", "v1")).unwrap();
    assert_eq!(event, core);
    assert!(super::to("", "v1", "Pod", &mut event, ("apps", "v1")).is_err());
}
