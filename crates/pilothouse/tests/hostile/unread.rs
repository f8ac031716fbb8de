//! Clients that ask and do not read: their responses end at their deadline, and what is held for them is bounded.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use json::json;
use pilothouse::server::Options;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use crate::MAPS;
use crate::client::{Client, DEADLINE, Stream, message};

const COUNT: usize = 10;
const SIZE: usize = 1 << 20;

type Sender = SendRequest<Empty<Bytes>>;

/// A server with ten megabytes to list, all of which users may read.
async fn server(change: impl FnOnce(&mut Options) + Send + 'static) -> Client {
    let client = Client::with(change).await;
    let local = client.server.local();
    let text = "x".repeat(SIZE - 1000);
    for name in 0..COUNT {
        // Before all others.
        let name = format!("a-large-{name}");
        let map = json!({"metadata": {"name": name}, "data": {"text": (&*text)}});
        local.create(MAPS, &map).await.unwrap();
    }
    let binding = json!({
        "metadata": {"name": "readers"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [
            {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "alice"},
            {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "bob"},
        ],
    });
    let bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    local.create(bindings, &binding).await.unwrap();
    client
}

/// A connection of HTTP/2 that takes so many bytes of each response.
async fn connect(client: &Client, window: u32) -> Sender {
    let socket = tokio::net::TcpStream::connect(client.server.address)
        .await
        .unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let tls = tokio_rustls::TlsConnector::from(client.http2());
    let stream = tls.connect(name, socket).await.unwrap();
    let mut builder = Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(window);
    let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

async fn get(sender: &mut Sender, user: &str, path: &str) -> Response<Incoming> {
    let request = Request::get(format!("https://localhost{path}"))
        .header("authorization", format!("Bearer {user}-token"))
        .body(Empty::new())
        .unwrap();
    sender.ready().await.unwrap();
    sender.send_request(request).await.unwrap()
}

/// A value of `/metrics`, over all labels.
fn metric(client: &Client, name: &str) -> f64 {
    let (code, text) = client.admin("GET", "/metrics", "", b"");
    assert_eq!(code, 200, "{text}");
    let lines = text.lines().filter(|it| !it.starts_with('#'));
    let lines = lines.filter(|it| it.starts_with(name));
    let values = lines.filter_map(|it| it.rsplit(' ').next()?.parse::<f64>().ok());
    values.sum()
}

#[track_caller]
fn eventually(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < DEADLINE, "not {what} in time");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// With the smallest buffer that the kernel grants.
fn slow(client: &Client) -> Stream {
    let kind = socket2::Type::STREAM;
    let socket = socket2::Socket::new(socket2::Domain::IPV4, kind, None).unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(&client.server.address.into()).unwrap();
    let socket = TcpStream::from(socket);
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let session = ClientConnection::new(client.tls.clone(), name).unwrap();
    StreamOwned::new(session, socket)
}

fn ask(stream: &mut Stream, user: &str) {
    let request =
        format!("GET {MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {user}-token\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_response_over_http1_ends_at_its_deadline_however_slowly_it_is_read() {
    let client = server(|it| it.settings.request_timeout = Duration::from_secs(4)).await;
    let mut stream = slow(&client);
    ask(&mut stream, "alice");
    let started = Instant::now();
    let mut taken = 0;
    // A little now and then: nobody can say that it takes nothing.
    while metric(&client, "apiserver_request_aborts_total") < 1.0 {
        assert!(
            started.elapsed() < DEADLINE,
            "it goes on, after {taken} bytes"
        );
        let mut some = [0; 512];
        taken += stream.read(&mut some).unwrap_or(0);
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut rest = Vec::new();
    let ended = stream.read_to_end(&mut rest);
    assert!(taken + rest.len() < COUNT * SIZE, "{ended:?}");
    let terminated = metric(&client, "apiserver_request_terminations_total{code=\"504\"");
    assert!(terminated >= 1.0, "{terminated}");
    eventually("given back", || {
        metric(&client, "pilothouse_unread_response_bytes") == 0.0
    });
    client.lives();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_that_nobody_reads_are_reset_at_their_deadline() {
    let client = server(|it| {
        it.settings.request_timeout = Duration::from_secs(4);
        // It would keep so many large lists of one user waiting.
        it.settings.priority_and_fairness = false;
    })
    .await;
    let cases = [
        (0, MAPS),
        (1, MAPS),
        (100_000, MAPS),
        (0, "/api/v1/namespaces"),
    ];
    let mut aborts = 0.0;
    for (window, path) in cases {
        let mut sender = connect(&client, window).await;
        let mut bodies = Vec::new();
        for _ in 0..20 {
            let response = get(&mut sender, "alice", path).await;
            assert_eq!(response.status(), 200);
            bodies.push(response.into_body());
        }
        if path == MAPS {
            aborts += 20.0;
            eventually("cut off", || {
                metric(&client, "apiserver_request_aborts_total") >= aborts
            });
        }
        for body in &mut bodies {
            // What fits the window may come before.
            let end = async {
                loop {
                    match body.frame().await {
                        Some(Ok(_)) => {}
                        other => return other,
                    }
                }
            };
            let end = tokio::time::timeout(DEADLINE, end).await.expect("an end");
            let error = end.expect("no end of the body").expect_err("an error");
            assert!(format!("{error:?}").contains("Reset"), "{error:?}");
        }
        // The connection goes on.
        assert_eq!(get(&mut sender, "alice", "/livez").await.status(), 200);
        eventually("given back", || {
            metric(&client, "pilothouse_unread_response_bytes") == 0.0
        });
    }
}

/// A stream that has got its last byte from us cannot be reset any more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_whose_last_bytes_nobody_reads_is_closed() {
    let client = Client::with(|it| it.settings.request_timeout = Duration::from_secs(2)).await;
    let mut sender = connect(&client, 1).await;
    let mut bodies = Vec::new();
    for _ in 0..20 {
        let response = get(&mut sender, "admin", "/api/v1/namespaces/default").await;
        assert_eq!(response.status(), 200);
        bodies.push(response.into_body());
    }
    let gone = async {
        while sender.ready().await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(DEADLINE, gone).await.expect("an end");
    client.lives();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_reads_slowly_gets_everything_before_the_deadline() {
    let client = server(|_| {}).await;
    let mut stream = client.connect(&client.tls);
    ask(&mut stream, "alice");
    let mut all = 0;
    let mut some = vec![0; 64 << 10];
    while all < COUNT * SIZE - 100_000 {
        let taken = stream.read(&mut some).unwrap();
        assert!(taken > 0, "the end after {all} bytes");
        all += taken;
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(metric(&client, "apiserver_request_aborts_total") == 0.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_who_does_not_read_is_refused_and_others_are_not() {
    let client = server(|it| it.settings.unread.per_user = 4 << 20).await;
    let mut sender = connect(&client, 0).await;
    let mut bodies = Vec::new();
    let refusal = loop {
        let response = get(&mut sender, "alice", MAPS).await;
        if response.status() == 429 {
            break response;
        }
        assert_eq!(response.status(), 200);
        bodies.push(response.into_body());
        assert!(bodies.len() < 100, "no end of what is held for one user");
    };
    assert_eq!(refusal.headers()["retry-after"], "1");
    let answer = client.user("alice", "GET", MAPS, "", b"");
    assert_eq!(answer.0, 429);
    assert_eq!(
        message(&answer),
        "Too many requests: user \"alice\" has 4194304 bytes or more of responses that were not read; \
         read them, then try again."
    );
    assert_eq!(client.user("alice", "GET", "/livez", "", b"").0, 200);
    assert_eq!(client.user("bob", "GET", MAPS, "", b"").0, 200);
    drop((bodies, sender, refusal));
    eventually("served again", || {
        client.user("alice", "GET", MAPS, "", b"").0 == 200
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_does_not_read_is_refused_and_others_are_not() {
    let client = server(|it| it.settings.unread.per_connection = 4 << 20).await;
    let mut sender = connect(&client, 0).await;
    let mut bodies = Vec::new();
    loop {
        let response = get(&mut sender, "alice", MAPS).await;
        if response.status() == 429 {
            break;
        }
        assert_eq!(response.status(), 200);
        bodies.push(response.into_body());
        assert!(
            bodies.len() < 100,
            "no end of what is held for one connection"
        );
    }
    assert_eq!(client.user("alice", "GET", MAPS, "", b"").0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_that_is_unread_is_bounded_and_whoever_reads_is_served() {
    let client = server(|it| {
        it.settings.unread.total = 8 << 20;
        it.settings.unread.per_user = 6 << 20;
    })
    .await;
    let mut senders = Vec::new();
    let mut bodies = Vec::new();
    for user in ["alice", "bob"] {
        let mut sender = connect(&client, 0).await;
        loop {
            let response = get(&mut sender, user, MAPS).await;
            if response.status() == 429 {
                break;
            }
            assert_eq!(response.status(), 200);
            bodies.push(response.into_body());
            assert!(bodies.len() < 100, "no end of what is held for all");
        }
        senders.push(sender);
    }
    let held = metric(&client, "pilothouse_unread_response_bytes");
    assert!(
        ((8 << 20).into()..=f64::from(10 << 20)).contains(&held),
        "{held}"
    );
    // The administrator has read everything.
    assert_eq!(client.admin("GET", MAPS, "", b"").0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_over_http1_that_nobody_reads_holds_little() {
    const READERS: u32 = 40;
    let client = server(|_| {}).await;
    let path = "/api/v1/namespaces/default/secrets";
    let local = client.server.local();
    let text = "eHh4".repeat(20_000);
    for name in 0..100 {
        let name = format!("some-{name}");
        let secret = json!({"metadata": {"name": name}, "data": {"text": (&*text)}});
        local.create(path, &secret).await.unwrap();
    }
    let _open: Vec<_> = (0..READERS)
        .map(|number| {
            let mut stream = slow(&client);
            // Lists that nobody shares: each is made for itself.
            let request = format!(
                "GET {path}?labelSelector=a!%3D{number} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n\r\n"
            );
            stream.write_all(request.as_bytes()).unwrap();
            let mut first = [0; 1];
            stream.read_exact(&mut first).unwrap();
            stream
        })
        .collect();
    let held = || metric(&client, "pilothouse_unread_response_bytes");
    // A piece of the list for each at least; and no more than what is encrypted beside it.
    eventually("held", || held() >= f64::from(READERS * (128 << 10)));
    let each = held() / f64::from(READERS);
    assert!(each < f64::from(600 << 10), "{each} bytes for each list");
}
