//! Heads of requests that are too long, ambiguous, or of another age.

use std::io::Write as _;

use crate::MAPS;
use crate::client::{Client, refused, split};

#[tokio::test]
async fn what_is_not_http_costs_nothing() {
    let client = Client::start().await;
    let code = |request: &[u8]| split(&client.raw(request)).0;
    assert_eq!(code(b"\0\0\0\0"), 400);
    assert!(matches!(code(b"GET / HTTP/9.9\r\n\r\n"), 400 | 505));
    for head in [
        "Content-Length: -1",
        "Content-Length: 1\r\nContent-Length: 2",
        "Transfer-Encoding: gzip",
        "X: a\0b",
    ] {
        let request = format!("POST /livez HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\nab");
        let code = code(request.as_bytes());
        assert!(matches!(code, 400 | 501), "{code} for {head}");
    }
    // The length does not count where chunks do: nothing is left over that could be a second request.
    let smuggled = "POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
                    0\r\n\r\nGET /version HTTP/1.1\r\nHost: x\r\n\r\n";
    let answer = client.raw(smuggled.as_bytes());
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
    // Not TLS at all.
    let mut plain = client.tcp();
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    client.lives();
}

/// A proxy that knows lines by CRLF only would have seen one request here, with a strange header.
#[tokio::test]
async fn lines_end_with_crlf() {
    let client = Client::start().await;
    for request in [
        "GET /livez HTTP/1.1\nHost: x\n\n",
        "GET /livez HTTP/1.1\r\nHost: x\nConnection: close\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: x\r\nX: y\n\nGET /version HTTP/1.1\r\nHost: x\r\n\r\n",
    ] {
        let answer = client.raw(request.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 400 "), "{request:?}: {answer}");
        assert_eq!(
            answer.matches("HTTP/1.1 ").count(),
            1,
            "{request:?}: {answer}"
        );
    }
    // The first is answered, the second ends the connection.
    let second = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /livez HTTP/1.1\nHost: x\n\n";
    let answer = client.raw(second.as_bytes());
    assert_eq!(answer.matches("HTTP/1.1 200 ").count(), 1, "{answer}");
    assert_eq!(answer.matches("HTTP/1.1 400 ").count(), 1, "{answer}");
    client.lives();
}

/// By the codes and in the words of Go's server.
#[tokio::test]
async fn heads_that_go_no_further() {
    let client = Client::start().await;
    let bad = "400 Bad Request";
    let other = "Transfer-Encoding: gzip, chunked";
    let cases = [
        (
            "/livez",
            "X: y",
            400,
            "400 Bad Request: missing required Host header",
        ),
        ("/livez", "Host: a\r\nHost: a", 400, bad),
        (
            "/livez",
            "Host: a/b",
            400,
            "400 Bad Request: malformed Host header",
        ),
        ("/livez%zz", "Host: a", 400, bad),
        (
            "/livez",
            &format!("Host: a\r\n{other}"),
            501,
            "Unsupported transfer encoding",
        ),
        ("/livez", "Host: a\r\nExpect: more", 417, ""),
        ("/livez", "Host: a_b:1\r\nExpect: 100-Continue", 200, "ok"),
        ("/livez?x=%zz", "Host: ", 200, "ok"),
    ];
    for (path, head, code, text) in cases {
        let request = format!("GET {path} HTTP/1.1\r\n{head}\r\nConnection: close\r\n\r\n");
        let answer = split(&client.raw(request.as_bytes()));
        assert_eq!(answer, (code, text.to_owned()), "{path} {head}");
    }
    let request = b"GET /livez HTTP/1.1\r\nHost: <\r\n\r\n";
    let answer = client.raw(request);
    let begin = "HTTP/1.1 400 Bad Request: malformed Host header\r\n";
    assert!(answer.starts_with(begin), "{answer}");
}

/// Browsers and curl are asked by people, who are shown lines, refusals too.
#[tokio::test]
async fn people_get_lines() {
    let client = Client::start().await;
    let path = "/api/v1/namespaces/none";
    let token = "Authorization: Bearer admin-token\r\n";
    let get = |path: &str, headers: &str| client.send("GET", path, headers, b"").1;
    let curl = "User-Agent: curl/8\r\n";
    for (path, headers) in [
        (path, format!("{token}{curl}")),
        (path, curl.to_owned()),
        ("/api/v1/namespaces/default", format!("{token}{curl}")),
        (
            "/version",
            format!("{curl}Accept: application/yaml, application/xml\r\n"),
        ),
        (&format!("{path}?pretty=1"), token.to_owned()),
    ] {
        let body = get(path, &headers);
        let has_lines = body.starts_with("{\n  \"kind\": ") && body.ends_with("\n}");
        assert!(
            has_lines || body.starts_with("apiVersion: v1\ncode: 406"),
            "{body}"
        );
    }
    assert!(get(path, token).starts_with("{\"kind\":"));
    assert!(get(&format!("{path}?pretty=0"), &format!("{token}{curl}")).ends_with("}\n"));
}

#[tokio::test]
async fn long_heads_are_refused() {
    let client = Client::start().await;
    let many = |count| {
        let all = (0..count).map(|it| format!("X-{it}: y\r\n"));
        all.collect::<Vec<_>>().concat()
    };
    assert_eq!(client.send("GET", "/livez", &many(200), b"").0, 200);
    assert_eq!(client.send("GET", "/livez", &many(5000), b"").0, 431);
    let long = |length: usize| format!("X: {}\r\n", "y".repeat(length));
    assert_eq!(client.send("GET", "/livez", &long(900_000), b"").0, 200);
    assert_eq!(client.send("GET", "/livez", &long(2_000_000), b"").0, 431);
    let url = |length: usize| format!("{MAPS}?labelSelector={}", "a".repeat(length));
    refused(
        &client.get(&url(60_000)),
        400,
        "unable to parse requirement",
    );
    let (code, _) = client.get(&url(2_000_000));
    assert!(matches!(code, 414 | 431), "{code}");
    client.lives();
}

#[tokio::test]
async fn other_methods_and_other_ages() {
    let client = Client::start().await;
    for method in ["HEAD", "OPTIONS", "TRACE", "FOO", "get"] {
        let (code, _) = client.admin(method, MAPS, "application/json", b"");
        assert_eq!(code, 405, "{method}");
    }
    let (code, body) = client.admin("HEAD", "/livez", "application/json", b"");
    assert_eq!((code, &*body), (200, ""));
    let old = client.raw(b"GET /livez HTTP/1.0\r\n\r\n");
    assert!(
        old.starts_with("HTTP/1.0 200") && old.ends_with("ok"),
        "{old}"
    );
    let two = client.raw(
        b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /readyz?verbose HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    );
    assert_eq!(two.matches("HTTP/1.1 200").count(), 2, "{two}");
    let (first, second) = (
        two.find("\r\n\r\nok").unwrap(),
        two.find("readyz check passed").unwrap(),
    );
    assert!(first < second, "{two}");
    let body = r#"{"metadata":{"name":"expected"}}"#;
    let request = format!(
        "POST {MAPS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer admin-token\r\n\
         Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let answer = client.raw((request.clone() + body).as_bytes());
    assert!(
        answer.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201"),
        "{answer}"
    );
    // Who may not is told before the body is asked for.
    let stranger = request.replace("admin-token", "bob-token");
    let answer = client.raw(stranger.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    client.lives();
}
