//! More watches than anyone needs, on one server.

use std::time::Instant;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use json::json;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;

use crate::MAPS;
use crate::client::{Client, DEADLINE};

const CONNECTIONS: usize = 10;
const EACH: usize = 200;

async fn connect(client: &Client) -> SendRequest<Empty<Bytes>> {
    let socket = TcpStream::connect(client.server.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let tls = tokio_rustls::TlsConnector::from(client.http2());
    let stream = tls.connect(name, socket).await.unwrap();
    let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    sender
}

async fn watch(sender: &mut SendRequest<Empty<Bytes>>, version: &str) -> Incoming {
    let request = Request::get(format!(
        "https://localhost{MAPS}?watch=1&resourceVersion={version}"
    ))
    .header("authorization", "Bearer admin-token")
    .body(Empty::new())
    .unwrap();
    sender.ready().await.unwrap();
    let response = sender.send_request(request).await.unwrap();
    assert_eq!(response.status(), 200);
    response.into_body()
}

/// Reads until the second object; all that was said till then.
async fn told(mut body: Incoming) -> (Incoming, String) {
    let mut text = String::new();
    while !text.contains("\"name\":\"second\"") {
        let frame = body.frame().await.expect("more").expect("a frame");
        text.push_str(&String::from_utf8_lossy(frame.data_ref().expect("data")));
    }
    (body, text)
}

/// What the kernel says this process holds, in KiB; zero where it does not say.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|it| it.starts_with("VmRSS:"));
    let number = line.and_then(|it| it.split_whitespace().nth(1));
    number.and_then(|it| it.parse().ok()).unwrap_or(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_watches_are_each_told_once() {
    let client = Client::start().await;
    let local = client.server.local();
    let watchers = || client.server.api().store().stats().0.watchers;
    let list = local.get(MAPS).await.unwrap();
    let version = list
        .str_at(&["metadata", "resourceVersion"])
        .unwrap()
        .to_owned();
    let (before, small) = (watchers(), resident());
    let mut watches = Vec::new();
    let mut senders = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut sender = connect(&client).await;
        for _ in 0..EACH {
            watches.push(watch(&mut sender, &version).await);
        }
        senders.push(sender);
    }
    assert!(watchers() >= before + (CONNECTIONS * EACH) as u64);
    // Both ends are in here, and other tests may be.
    let each = resident().saturating_sub(small) / watches.len();
    assert!(each < 200, "{each} KiB for each watch");
    eprintln!("{each} KiB for each watch");
    for name in ["first", "second"] {
        local
            .create(MAPS, &json!({"metadata": {"name": name}}))
            .await
            .unwrap();
    }
    let mut open = Vec::new();
    for body in watches {
        let (body, text) = tokio::time::timeout(DEADLINE, told(body))
            .await
            .expect("in time");
        for name in ["first", "second"] {
            let count = text.matches(&format!("\"name\":\"{name}\"")).count();
            assert_eq!(count, 1, "{name} in {text}");
        }
        open.push(body);
    }
    drop(open);
    drop(senders);
    let started = Instant::now();
    // A few watches are the server's own; those may come and go.
    while watchers() >= before + 100 {
        assert!(started.elapsed() < DEADLINE, "{} watch still", watchers());
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}
