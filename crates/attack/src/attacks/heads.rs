//! Heads of requests that are ambiguous, too long, or of another age: what one server reads as one request, another may
//! read as two (RFC 9112, 11.2).

use std::io;

use crate::client::Client;
use crate::field::Field;
use crate::{Attack, USUAL, Who};

pub(super) const ALL: &[Attack] = &[
    Attack {
        name: "smuggling",
        about: "two lengths, a length and chunks, folded lines, spaces before colons, chunk extensions, odd chunks",
        who: Who::NoRole,
        bounds: USUAL,
        run: smuggling,
    },
    Attack {
        name: "bare-line-feeds",
        about: "heads whose lines end without a carriage return",
        who: Who::NoRole,
        bounds: USUAL,
        run: bare_line_feeds,
    },
    Attack {
        name: "huge-heads",
        about: "headers by the thousand, of megabytes, URLs of megabytes, paths of a hundred thousand parts",
        who: Who::NoRole,
        bounds: USUAL,
        run: huge_heads,
    },
];

/// The request that must not be found behind another one.
const HIDDEN: &str = "GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// The codes of all answers that came, in order.
fn codes(client: &Client, request: &[u8]) -> io::Result<Vec<u16>> {
    let answer = client.raw(request)?;
    let text = String::from_utf8_lossy(&answer);
    let codes = text
        .match_indices("HTTP/1.1 ")
        .map(|(at, _)| &text[at + 9..]);
    Ok(codes
        .filter_map(|rest| rest.get(..3)?.parse().ok())
        .collect())
}

fn smuggling(field: &mut Field) -> io::Result<()> {
    let mallory = field.mallory().patient(std::time::Duration::from_secs(5));
    let hidden = HIDDEN.len();
    let chunk = |extension: &str| format!("Transfer-Encoding: chunked\r\n\r\n0{extension}\r\n\r\n");
    let cases = [
        // Chunks win over a length, and the connection ends; or it is refused.
        format!("Content-Length: {hidden}\r\n{}{HIDDEN}", chunk("")),
        format!("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n{HIDDEN}"),
        format!("Content-Length: 0\r\nContent-Length: {hidden}\r\n\r\n{HIDDEN}"),
        format!("Content-Length: 0, {hidden}\r\n\r\n{HIDDEN}"),
        format!("Content-Length: +0\r\n\r\n{HIDDEN}"),
        format!("Content-Length: 0x0\r\n\r\n{HIDDEN}"),
        format!("Content-Length: -1\r\n\r\n{HIDDEN}"),
        format!("Content-Length: 99999999999999999999\r\n\r\n{HIDDEN}"),
        format!("Content-Length : {hidden}\r\n\r\n{HIDDEN}"),
        format!("X: a\r\n Content-Length: {hidden}\r\n\r\n{HIDDEN}"),
        format!("X: a\r\n\tb\r\nContent-Length: 0\r\n\r\n{HIDDEN}"),
        format!(" Content-Length: {hidden}\r\n\r\n{HIDDEN}"),
        format!("Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{HIDDEN}"),
        format!("Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n{HIDDEN}"),
        format!("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n{HIDDEN}"),
        format!("Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n{HIDDEN}"),
        format!("Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n{HIDDEN}"),
        format!("Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n{HIDDEN}"),
        format!("Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n{HIDDEN}"),
        format!("Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n\r\n{HIDDEN}"),
        format!("Transfer-Encoding: chunked\r\n\r\n1\r\naX0\r\n\r\n{HIDDEN}"),
        format!("Transfer-Encoding: chunked\r\n\r\n0\n\n{HIDDEN}"),
        format!("{}{HIDDEN}", chunk(&format!(";{}", "x".repeat(100_000)))),
        format!("X: a\rContent-Length: {hidden}\r\n\r\n{HIDDEN}"),
        format!("X: a\0b\r\n\r\n{HIDDEN}"),
        format!("X\u{7f}: b\r\n\r\n{HIDDEN}"),
        format!("Host: other\r\n\r\n{HIDDEN}"),
    ];
    // Two right ones behind each other have two answers: else nothing would be seen here.
    let two = format!("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n{HIDDEN}");
    let seen = codes(&mallory, two.as_bytes())?;
    if seen != [200, 200] {
        field.fault(format!("{seen:?} for two right requests"));
    }
    for case in cases {
        let request = format!("POST /livez HTTP/1.1\r\nHost: localhost\r\n{case}");
        let codes = codes(&mallory, request.as_bytes())?;
        field.tried(1);
        // One answer, or none where the connection was ended at once, and never that of the second request.
        if codes.len() > 1 {
            field.fault(format!("{codes:?} for {}", request.escape_debug()));
        }
    }
    Ok(())
}

fn bare_line_feeds(field: &mut Field) -> io::Result<()> {
    let mallory = field.mallory().patient(std::time::Duration::from_secs(5));
    for request in [
        "GET /livez HTTP/1.1\nHost: localhost\n\n",
        "GET /livez HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: y\n\r\n",
        "GET /livez HTTP/1.1\nHost: localhost\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: y\r\n\n",
    ] {
        let codes = codes(&mallory, request.as_bytes())?;
        field.tried(1);
        if codes.first().is_some_and(|code| *code != 400) {
            field.fault(format!("{codes:?} for {}", request.escape_debug()));
        }
    }
    // The answer may come before the body is read; what stands behind such a body must not be taken for a request.
    let next = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for path in ["/livez", "/api/v1/namespaces"] {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\n\r\n{next}"
        );
        let codes = codes(&mallory, request.as_bytes())?;
        field.tried(1);
        if !matches!(codes[..], [] | [400 | 403]) {
            field.fault(format!("{codes:?} for {}", request.escape_debug()));
        }
    }
    Ok(())
}

fn huge_heads(field: &mut Field) -> io::Result<()> {
    let mallory = field.mallory();
    let many: String = (0..5000).map(|it| format!("X-{it}: y\r\n")).collect();
    let same = "Accept: a\r\n".repeat(5000);
    let long = format!("X: {}\r\n", "y".repeat(2 << 20));
    let accept = format!("Accept: {}\r\n", "application/json;q=0.1,".repeat(40_000));
    let mut all = vec![
        ("/livez".to_owned(), many),
        ("/livez".to_owned(), same),
        ("/livez".to_owned(), long),
        ("/api/v1/namespaces".to_owned(), accept),
        (
            format!("/api/v1/namespaces?x={}", "a".repeat(2 << 20)),
            String::new(),
        ),
        (format!("/api/v1{}", "/a".repeat(30_000)), String::new()),
        (
            format!("/api/v1/namespaces/{}", "%2e%2e%2f".repeat(6000)),
            String::new(),
        ),
        (format!("/api?{}", "a=b&".repeat(15_000)), String::new()),
        (format!("/{}", "../".repeat(20_000)), String::new()),
    ];
    all.extend((0..20).map(|it| (format!("/api/v1/namespaces/%{it:02x}"), String::new())));
    for (path, headers) in all {
        let mut connection = crate::client::Connection::new(mallory.clone());
        let answer = connection.send_with("GET", &path, &headers, b"");
        let short: String = path.chars().take(40).collect();
        field.expect(&short, answer, &[200, 301, 400, 403, 404, 406, 414, 431]);
    }
    Ok(())
}
