//! Bodies that are made to do harm.

use encoding::gzip;
use http::StatusCode;
use http::header::CONTENT_ENCODING;

use super::*;
use crate::protobuf::Message;
use crate::recent::LEAST_BYTES;

fn headers(kind: &'static str, encoding: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
    headers.insert("grpc-encoding", HeaderValue::from_static(encoding));
    headers
}

/// A span with an attribute that lies so deep.
fn nested(depth: usize) -> Vec<u8> {
    let mut value = Message::default();
    value.number(2, 1);
    for _ in 1..depth {
        let mut list = Message::default();
        list.bytes(1, &value.0);
        value = Message::default();
        value.bytes(5, &list.0);
    }
    let mut request = Message::default();
    request.message(1, |resource_spans| {
        resource_spans.message(2, |scope_spans| {
            scope_spans.message(2, |span| {
                span.bytes(1, &[1; 16]);
                span.bytes(2, &[1; 8]);
                span.message(9, |attribute| {
                    attribute.text(1, "a");
                    attribute.bytes(2, &value.0);
                });
            });
        });
    });
    request.0
}

#[test]
fn what_is_made_to_do_harm_is_refused_and_leaves_nothing() {
    const PROTOBUF: &str = "application/x-protobuf";
    const JSON: &str = "application/json";
    let recent = Recent::new(LEAST_BYTES);
    let nothing = recent.numbers();
    let bomb = gzip::pack(&vec![0; 64 << 20]);
    assert!(bomb.len() < MAX_BYTES);
    // Each of them is two bytes here, and a hundred in memory.
    let many = b"\x12\0".repeat(100_000);
    let mut spans = Message::default();
    spans.message(1, |it| it.bytes(2, &many));
    let deep = "[".repeat(1 << 20);
    let wide = format!("{{\"resourceSpans\":[{}{{}}]}}", "{},".repeat(200_000));
    let cases = [
        (PROTOBUF, "gzip", bomb, StatusCode::PAYLOAD_TOO_LARGE),
        (PROTOBUF, "identity", nested(17), StatusCode::BAD_REQUEST),
        (PROTOBUF, "identity", spans.0, StatusCode::BAD_REQUEST),
        (
            PROTOBUF,
            "identity",
            vec![0x0a; 1000],
            StatusCode::BAD_REQUEST,
        ),
        (
            PROTOBUF,
            "identity",
            vec![0xff; 1000],
            StatusCode::BAD_REQUEST,
        ),
        (JSON, "identity", deep.into(), StatusCode::BAD_REQUEST),
        (JSON, "identity", wide.into(), StatusCode::OK),
    ];
    for (at, (kind, encoding, body, code)) in cases.into_iter().enumerate() {
        let answer = take_in(&recent, &headers(kind, encoding), &body.into());
        assert_eq!(answer.status(), code, "{at}");
        let found = recent.numbers();
        assert_eq!(
            (found.bytes, found.received_spans),
            (nothing.bytes, 0),
            "{at}"
        );
    }
    let told = |body: Vec<u8>| {
        let answer = take_in(&recent, &headers("application/grpc", "gzip"), &body.into());
        let status = answer.headers().get("grpc-status");
        status.and_then(|it| it.to_str().ok()).map(str::to_owned)
    };
    for body in [
        &b""[..],
        b"\0\0\0\0",
        b"\0\0\0\0\x05ab",
        b"\x02\0\0\0\0",
        b"\x01\0\0\0\x01x",
    ] {
        assert_eq!(told(body.to_vec()).as_deref(), Some("3"), "{body:?}");
    }
    assert_eq!(recent.numbers(), nothing);
    // What is as deep as is allowed is taken.
    let answer = take_in(&recent, &headers(PROTOBUF, "identity"), &nested(16).into());
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(recent.numbers().received_spans, 1);
}
