//! Clients that begin to send a body and do not go on.

use std::io::{Read as _, Write as _};

use json::{Value, json};

use crate::client::{Client, Stream, message, split};
use crate::{MAPS, SCHEMAS, dangling, until};

/// What everybody may ask, without any role.
const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const REVIEW: &str = r#"{"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}"#;
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// A request whose body is waited for: the server says so. Its first answer if it is another one.
fn begin(client: &Client, user: &str, path: &str, length: usize) -> Result<Stream, String> {
    let mut stream = client.connect(&client.tls);
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {user}-token\r\nConnection: close\r\n\
         Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut first = [0; CONTINUE.len()];
    stream.read_exact(&mut first).unwrap();
    if first == CONTINUE {
        return Ok(stream);
    }
    let mut rest = first.to_vec();
    let _ = stream.read_to_end(&mut rest);
    Err(String::from_utf8_lossy(&rest).into_owned())
}

fn finish(mut stream: Stream, body: &str) -> (u16, String) {
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    split(&String::from_utf8_lossy(&answer))
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

/// More than the priority level of both users has seats, and more than all writers that there may be without levels.
const SLOW: usize = 240;
const WRITES: usize = 20;

/// Bob, who has no role, begins requests and sends no bodies. Meanwhile the administrator and alice write.
fn write_beside_slow_bodies(client: &Client) -> Vec<Stream> {
    let slow: Vec<_> = (0..SLOW)
        .map(|number| {
            let begun = begin(client, "bob", REVIEWS, REVIEW.len());
            begun.unwrap_or_else(|answer| panic!("slow body {number}: {answer}"))
        })
        .collect();
    for number in 0..WRITES {
        let (code, body) = client.post(&json::to_vec(&map(&format!("of-the-admin-{number}"))));
        assert_eq!(code, 201, "{body}");
        let (code, body) = client.alice("POST", MAPS, &map(&format!("of-alice-{number}")));
        assert_eq!(code, 201, "{body}");
    }
    // Another slow one of somebody else is answered, too.
    let alice = begin(client, "alice", MAPS, json::to_vec(&map("slow")).len()).unwrap();
    let (code, body) = finish(alice, &json::to_string(&map("slow")));
    assert_eq!(code, 201, "{body}");
    slow
}

/// So are those that made up their mind.
fn finish_all(slow: Vec<Stream>) {
    for stream in slow {
        let (code, body) = finish(stream, REVIEW);
        assert_eq!(code, 201, "{body}");
    }
}

/// The value of a series of the level that bob and alice belong to.
fn figure(metrics: &str, name: &str, labels: &str) -> usize {
    let flow = "flow_schema=\"global-default\",priority_level=\"global-default\"";
    let series = format!(
        "apiserver_flowcontrol_{name}{{{}}} ",
        labels.replace("FLOW", flow)
    );
    let found = metrics.lines().find_map(|it| it.strip_prefix(&series));
    let found = found.unwrap_or_else(|| panic!("{series} is not in\n{metrics}"));
    found.parse().unwrap()
}

/// Nobody is rejected, nobody waits in a queue, and no seat is held.
#[tokio::test]
async fn slow_bodies_of_one_user_keep_nobody_waiting() {
    let client = Client::start().await;
    until(&client, &format!("{SCHEMAS}/global-default"), |it| {
        dangling(it) == Some("False")
    })
    .await;
    client.grant("writer", &[("", "configmaps", "create")]);
    let slow = write_beside_slow_bodies(&client);
    let metrics = client.get("/metrics").1;
    let flow = |name| figure(&metrics, name, "FLOW");
    assert!(flow("dispatched_requests_total") >= SLOW + WRITES);
    assert_eq!(flow("current_executing_seats"), 0, "seats are held");
    assert_eq!(flow("current_inqueue_requests"), 0, "requests wait");
    let waited = "request_wait_duration_seconds";
    let all = figure(
        &metrics,
        &format!("{waited}_count"),
        "execute=\"true\",FLOW",
    );
    let at_once = figure(
        &metrics,
        &format!("{waited}_bucket"),
        "execute=\"true\",FLOW,le=\"0\"",
    );
    assert_eq!(all, at_once, "requests waited");
    assert!(!metrics.contains("apiserver_flowcontrol_rejected_requests_total{"));
    finish_all(slow);
}

/// The same where only the number of requests is limited: 200 writers by default.
#[tokio::test]
async fn slow_bodies_take_no_place() {
    let client = Client::with(|options| options.settings.priority_and_fairness = false).await;
    client.grant("writer", &[("", "configmaps", "create")]);
    finish_all(write_beside_slow_bodies(&client));
}

/// One place is enough for all that send their bodies at once.
#[tokio::test]
async fn a_slow_body_takes_no_place() {
    let client = Client::with(|options| {
        options.settings.priority_and_fairness = false;
        options.settings.max_mutating_requests_inflight = 1;
    })
    .await;
    client.grant("writer", &[("", "configmaps", "create")]);
    let slow = begin(&client, "bob", REVIEWS, REVIEW.len()).unwrap();
    let (code, body) = client.alice("POST", MAPS, &map("of-alice"));
    assert_eq!(code, 201, "{body}");
    assert_eq!(finish(slow, REVIEW).0, 201);
}

/// What is received without a seat is bounded by user: others find room.
#[tokio::test]
async fn a_user_has_only_so_much_room_for_slow_bodies() {
    let room = 1 << 20;
    let client = Client::with(move |options| options.settings.max_slow_body_bytes = room).await;
    client.grant("writer", &[("", "configmaps", "create")]);
    let mut held = Vec::new();
    let refused = loop {
        match begin(&client, "bob", REVIEWS, REVIEW.len()) {
            Ok(stream) => held.push(stream),
            Err(answer) => break answer,
        }
        assert!(held.len() < 1000, "nothing is refused");
    };
    let answer = split(&refused);
    assert_eq!(answer.0, 429, "{refused}");
    let text = message(&answer);
    assert!(
        text.starts_with("too many request bodies of user \"bob\" are being received"),
        "{text}"
    );
    assert!(
        refused
            .to_ascii_lowercase()
            .contains("\r\nretry-after: 1\r\n"),
        "{refused}"
    );
    let alice = begin(&client, "alice", MAPS, json::to_vec(&map("a")).len()).unwrap();
    assert_eq!(finish(alice, &json::to_string(&map("a"))).0, 201);
    assert_eq!(finish(held.pop().unwrap(), REVIEW).0, 201);
    drop(begin(&client, "bob", REVIEWS, REVIEW.len()).unwrap());
}
