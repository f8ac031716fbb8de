//! What others send: spans to the receiver, words to search by, headers of context, settings. Nothing panics, everything is
//! counted, nothing grows.

#![no_main]

use bytes::Bytes;
use fuzz::Dice;
use http::{HeaderMap, HeaderValue, StatusCode};
use libfuzzer_sys::fuzz_target;
use telemetry::context::{TraceContext, TraceId, baggage};
use telemetry::metrics::View;
use telemetry::recent::{LEAST_BYTES, Query, Recent};
use telemetry::{otlp, receive};

fuzz_target!(|bytes: &[u8]| {
    let mut dice = Dice(bytes);
    match dice.below(8) {
        0 => received(dice.rest()),
        1..=3 => received(&request(&mut dice)),
        4 => sent(&mut dice),
        5 => searched(&mut dice),
        6 => headers(dice.rest()),
        _ => settings(dice.rest()),
    }
});

/// Some hundred spans at most; each is counted, whatever becomes of it.
fn received(message: &[u8]) {
    let recent = Recent::new(LEAST_BYTES);
    let read = otlp::request(message);
    let shown = otlp::to_json(message);
    let Ok(taken) = recent.receive(message) else {
        assert_eq!(recent.numbers().received_spans, 0, "nothing of it counts");
        return;
    };
    let numbers = recent.numbers();
    assert!(numbers.bytes <= numbers.capacity);
    assert_eq!(numbers.refused_spans, taken.rejected);
    assert_eq!(taken.rejected > 0, !taken.said.is_empty());
    let sent: usize = read
        .expect("what is taken can be read")
        .iter()
        .map(|it| it.spans.len())
        .sum();
    assert_eq!(numbers.received_spans + taken.rejected, sent as u64);
    // JSON says the same, and is read as the same.
    let shown = shown.expect("what is taken can be shown");
    let again = otlp::from_json(&shown).expect("what is shown is read");
    assert_eq!(otlp::to_json(&again).expect("as before"), shown);
    let (found, matched) = recent.search(&Query::default());
    let kept = numbers.newest + numbers.errors + numbers.slowest;
    assert_eq!(matched as u64, kept);
    assert!(found.len() <= matched);
    for summary in found {
        let id = summary.to_value();
        let id = id.str_at(&["traceID"]).and_then(|it| TraceId::parse(it.as_bytes()));
        let trace = recent.get(id.expect("an id")).expect("it is listed");
        trace.to_value().expect("what is kept can be shown");
        let spans = otlp::request(&trace.to_protobuf()).expect("and read");
        assert!(spans.iter().all(|it| !it.spans.is_empty()));
    }
    // What comes twice is kept once.
    let before = recent.numbers();
    recent.receive(message).expect("it was taken before");
    if before.evicted == 0 && taken.rejected == 0 {
        assert_eq!(recent.numbers().bytes, before.bytes);
    }
}

/// As HTTP or gRPC bring it.
fn sent(dice: &mut Dice<'_>) {
    let recent = Recent::new(LEAST_BYTES);
    let mut headers = HeaderMap::new();
    let kinds = [
        "application/grpc",
        "application/x-protobuf",
        "application/json; charset=utf-8",
        "text/plain",
    ];
    let kind = dice.one(&kinds);
    headers.insert("content-type", HeaderValue::from_static(kind));
    let packed = dice.one(&["identity", "gzip", "br"]);
    for name in ["content-encoding", "grpc-encoding"] {
        headers.insert(name, HeaderValue::from_static(packed));
    }
    let mut body = Vec::new();
    if kind == kinds[0] && dice.below(4) > 0 {
        body.push(dice.byte() & 1);
        let length = u32::try_from(dice.0.len().saturating_sub(1)).unwrap_or_default();
        body.extend_from_slice(&length.to_be_bytes());
    }
    if packed == "gzip" && dice.below(4) > 0 {
        body.extend_from_slice(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
    }
    body.extend_from_slice(dice.rest());
    let answer = receive::take_in(&recent, &headers, &Bytes::from(body));
    let known = [200, 400, 413, 415].map(|it| StatusCode::from_u16(it).expect("a code"));
    assert!(known.contains(&answer.status()));
    let numbers = recent.numbers();
    assert!(numbers.bytes <= numbers.capacity);
}

/// Any parameters, over some spans.
fn searched(dice: &mut Dice<'_>) {
    let recent = Recent::new(LEAST_BYTES);
    let words = [
        "name", "attribute", "minDuration", "maxDuration", "error", "traceID", "auditID", "limit",
        "sort", "x",
    ];
    let count = dice.below(4);
    let mut pairs = Vec::new();
    for _ in 0..count {
        let key = dice.one(&words).to_owned();
        let length = dice.below(12);
        let (text, rest) = dice.0.split_at(length.min(dice.0.len()));
        dice.0 = rest;
        pairs.push((key, String::from_utf8_lossy(text).into_owned()));
    }
    let message = request(dice);
    let _ = recent.receive(&message);
    if let Ok(query) = Query::parse(&pairs) {
        let all = recent.search(&Query::default()).1;
        let (found, matched) = recent.search(&query);
        assert!(found.len() <= matched && matched <= all);
    }
}

fn headers(bytes: &[u8]) {
    let (parent, rest) = bytes.split_at(bytes.len().min(60));
    if let Some(context) = TraceContext::parse(parent) {
        assert_eq!(TraceContext::parse(&context.write()), Some(context));
    }
    let pieces = || rest.split(|it| *it == b'\n');
    let read = TraceContext::read([parent].into_iter(), pieces());
    if let Some(state) = read.and_then(|it| it.state) {
        let again = TraceContext::read([parent].into_iter(), [state.as_bytes()].into_iter());
        let again = again.and_then(|it| it.state).expect("what we send we read");
        assert_eq!(again, state);
    }
    if let Some(read) = baggage::read(pieces()) {
        let again = baggage::read([read.as_bytes()].into_iter());
        assert_eq!(again.as_ref(), Some(&read));
    }
}

fn settings(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    for key in [
        "metricsExposure",
        "namespaces",
        "bucketBoundaries",
        "metricsRefreshInterval",
    ] {
        let (_, bad) = View::read(|name| (name == key).then_some(text));
        assert!(bad.len() <= 1);
    }
}

/// A message that is near enough to an `ExportTraceServiceRequest`.
fn request(dice: &mut Dice<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..=dice.below(2) {
        let mut resource_spans = Vec::new();
        if dice.below(2) == 1 {
            let resource = repeated(dice, 1, 2, |dice| attribute(dice, 3));
            field(&mut resource_spans, 1, &resource);
        }
        for _ in 0..=dice.below(2) {
            let spans = repeated(dice, 2, 4, span);
            field(&mut resource_spans, 2, &spans);
        }
        field(&mut out, 1, &resource_spans);
    }
    // And something that is not.
    out.extend_from_slice(dice.rest());
    out
}

fn span(dice: &mut Dice<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    // Few ids, so that spans meet; one is none.
    field(&mut out, 1, &[dice.byte() % 4; 16]);
    field(&mut out, 2, &[dice.byte() % 8; 8]);
    for _ in 0..dice.below(6) {
        match dice.below(8) {
            0 => field(&mut out, 4, &[dice.byte() % 8; 8]),
            1 => field(&mut out, 5, dice.word().as_bytes()),
            2 => fixed(&mut out, 7, u64::from(dice.byte()) << 56),
            3 => fixed(&mut out, 8, u64::from(dice.byte())),
            4 => field(&mut out, 15, &[0x18, dice.byte() % 4]),
            5 => {
                let event = repeated(dice, 3, 2, |dice| attribute(dice, 2));
                field(&mut out, 11, &event);
            }
            6 => field(&mut out, 13, &[dice.byte(); 3]),
            _ => field(&mut out, 9, &attribute(dice, 20)),
        }
    }
    out
}

fn attribute(dice: &mut Dice<'_>, depth: usize) -> Vec<u8> {
    let mut out = Vec::new();
    field(&mut out, 1, dice.word().as_bytes());
    field(&mut out, 2, &value(dice, depth));
    out
}

fn value(dice: &mut Dice<'_>, depth: usize) -> Vec<u8> {
    let mut out = Vec::new();
    match dice.below(if depth == 0 { 5 } else { 7 }) {
        0 => field(&mut out, 1, dice.word().as_bytes()),
        1 => out.extend_from_slice(&[0x10, dice.byte() & 1]),
        2 => out.extend_from_slice(&[0x18, dice.byte() & 0x7f]),
        3 => fixed(&mut out, 4, u64::from(dice.byte()) << 52),
        4 => field(&mut out, 7, &[dice.byte()]),
        5 => {
            let list = repeated(dice, 1, 2, |dice| value(dice, depth - 1));
            field(&mut out, 5, &list);
        }
        _ => {
            let map = repeated(dice, 1, 2, |dice| attribute(dice, depth - 1));
            field(&mut out, 6, &map);
        }
    }
    out
}

fn repeated(
    dice: &mut Dice<'_>,
    number: u8,
    most: usize,
    mut one: impl FnMut(&mut Dice<'_>) -> Vec<u8>,
) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..=dice.below(most) {
        let made = one(dice);
        field(&mut out, number, &made);
    }
    out
}

fn field(out: &mut Vec<u8>, number: u8, bytes: &[u8]) {
    out.push(number << 3 | 2);
    let mut length = bytes.len();
    while length >= 0x80 {
        out.push(length.to_le_bytes()[0] | 0x80);
        length >>= 7;
    }
    out.push(length.to_le_bytes()[0]);
    out.extend_from_slice(bytes);
}

fn fixed(out: &mut Vec<u8>, number: u8, value: u64) {
    out.push(number << 3 | 1);
    out.extend_from_slice(&value.to_le_bytes());
}
