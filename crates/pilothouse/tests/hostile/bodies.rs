//! Bodies that are no objects, too large, too deep, in no known form.

use crate::MAPS;
use crate::client::{Client, refused, says};

const LIMIT: usize = 3 << 20;

#[tokio::test]
async fn bodies_that_are_no_objects_are_refused() {
    let client = Client::start().await;
    let cases: [(&[u8], &str); 4] = [
        (
            b"{bad",
            "invalid character 'b' looking for beginning of object key string",
        ),
        (b"[]", "cannot unmarshal array into Go value"),
        (b"", "unexpected end of JSON input"),
        (
            b"{\"metadata\":{\"name\":\"a\"},\"data\":{\"x\":1}}",
            "cannot unmarshal number",
        ),
    ];
    for (body, text) in cases {
        refused(&client.post(body), 400, text);
    }
    refused(
        &client.post(b"{\"metadata\":{\"name\":\"a\xff\"}}"),
        400,
        "",
    );
    for kind in ["application/xml", "application/cbor", "text/plain", ";;"] {
        refused(
            &client.admin("POST", MAPS, kind, b"{}"),
            415,
            "unknown format",
        );
    }
    for body in [&b"k8s\0\xff\xff\xff\xff"[..], b"{}", b""] {
        let kind = "application/vnd.kubernetes.protobuf";
        refused(&client.admin("POST", MAPS, kind, body), 400, "");
    }
    client.lives();
}

#[tokio::test]
async fn bodies_may_be_so_large_and_no_larger() {
    let client = Client::start().await;
    let padded = |length: usize| {
        let start = b"{\"metadata\":{\"name\":\"large\"},\"data\":{\"x\":\"";
        let end = b"\"}}";
        let middle = vec![b'a'; length - start.len() - end.len()];
        [&start[..], &middle, end].concat()
    };
    // As many bytes as a body may have are read: what is wrong is the object.
    refused(
        &client.post(&padded(LIMIT)),
        422,
        "Too long: may not be more than 1048576 bytes",
    );
    let text = "Request entity too large: limit is 3145728";
    says(&client.post(&padded(LIMIT + 1)), 413, text);
    let path = format!("{MAPS}/kube-root-ca.crt?fieldManager=x");
    for kind in [
        "application/merge-patch+json",
        "application/apply-patch+yaml",
        "application/json-patch+json",
    ] {
        let answer = client.admin("PATCH", &path, kind, &padded(LIMIT + 1));
        says(&answer, 413, text);
    }
    // No length in advance, no end in sight.
    let chunk = [b"100000\r\n".as_slice(), &vec![b' '; 1 << 20], b"\r\n"].concat();
    let head = format!(
        "POST {MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nConnection: close\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    let endless = [head.as_bytes(), &chunk.repeat(5), b"0\r\n\r\n"].concat();
    says(&crate::client::split(&client.raw(&endless)), 413, text);
    client.lives();
}

#[tokio::test]
async fn bombs_do_not_go_off() {
    let client = Client::start().await;
    let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
    let deep = [
        b"{\"metadata\":{\"name\":\"a\"},\"data\":".as_slice(),
        &deep,
        b"}",
    ]
    .concat();
    refused(&client.post(&deep), 400, "depth");
    let yaml = "application/yaml";
    let deep = [b"a: ".as_slice(), &vec![b'['; 100_000]].concat();
    refused(
        &client.admin("POST", MAPS, yaml, &deep),
        400,
        "exceeded max depth",
    );
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned()
        + &(b'b'..=b'l')
            .map(|it| (char::from(it), char::from(it - 1)))
            .map(|(it, last)| format!("{it}: &{it} [*{last},*{last},*{last},*{last},*{last},*{last},*{last},*{last},*{last}]\n"))
            .collect::<Vec<_>>()
            .concat();
    refused(
        &client.admin("POST", MAPS, yaml, bomb.as_bytes()),
        400,
        "excessive aliasing",
    );
    // A thousand copies of something large.
    let path = format!("{MAPS}/bomb");
    client.make(
        MAPS,
        &json::json!({"metadata": {"name": "bomb"}, "data": {"x": (&*"x".repeat(100_000))}}),
    );
    let copies =
        (0..1000).map(|it| format!(r#"{{"op":"copy","from":"/data","path":"/data/{it}"}}"#));
    let copies = format!("[{}]", copies.collect::<Vec<_>>().join(","));
    let answer = client.admin(
        "PATCH",
        &path,
        "application/json-patch+json",
        copies.as_bytes(),
    );
    refused(&answer, 422, "");
    let many = format!(
        "[{}]",
        vec![r#"{"op":"test","path":"","value":1}"#; 10_001].join(",")
    );
    let answer = client.admin(
        "PATCH",
        &path,
        "application/json-patch+json",
        many.as_bytes(),
    );
    says(
        &answer,
        413,
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    );
    client.lives();
}

#[tokio::test]
async fn compressed_bodies_are_not_unpacked() {
    let client = Client::start().await;
    let headers = "Authorization: Bearer admin-token\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n";
    let answer = client.send("POST", MAPS, headers, b"\x1f\x8b\x08\0\0\0\0\0\0\x03");
    refused(
        &answer,
        400,
        "invalid character '\\x1f' looking for beginning of value",
    );
}

#[tokio::test]
async fn keys_that_come_twice_are_told_of() {
    let client = Client::start().await;
    let body = br#"{"metadata":{"name":"twice"},"data":{"a":"1","a":"2"}}"#;
    let strict = format!("{MAPS}?fieldValidation=Strict");
    says(
        &client.admin("POST", &strict, "application/json", body),
        400,
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: duplicate field \"data.a\"",
    );
    let request = format!(
        "POST {MAPS}?dryRun=All HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer admin-token\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
        body.len(),
        String::from_utf8_lossy(body)
    );
    let answer = client.raw(request.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    assert!(
        answer.contains("warning: 299 - \"duplicate field \\\"data.a\\\"\""),
        "{answer}"
    );
    assert!(answer.contains("\"a\":\"2\""), "{answer}");
}
