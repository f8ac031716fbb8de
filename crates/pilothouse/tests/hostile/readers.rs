//! Clients that ask for much and take nothing of it: an answer is made as it is taken.

use json::{Value, json};

use crate::MAPS;
use crate::client::Client;

const COUNT: usize = 4;
const SIZE: usize = 200_000;

async fn with_large_objects(client: &Client) {
    let local = client.server.local();
    let text = "x y\n".repeat(SIZE / 4);
    for name in 0..COUNT {
        let name = format!("large-{name}");
        let map = json!({"metadata": {"name": name}, "data": {"text": (&*text)}});
        local.create(MAPS, &map).await.unwrap();
    }
}

/// The lengths of the chunks of an answer, and all of them together.
fn chunks(client: &Client, path: &str, accept: &str) -> (Vec<usize>, Vec<u8>) {
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nConnection: close\r\nAccept: {accept}\r\n\r\n"
    );
    let answer = client.bytes(request.as_bytes());
    let end = b"\r\n";
    let find = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|it| it == what);
    let head = find(&answer, b"\r\n\r\n").expect("a head");
    let (head, mut rest) = answer.split_at(head + 4);
    if !String::from_utf8_lossy(head).contains("transfer-encoding: chunked") {
        return (vec![rest.len()], rest.to_vec());
    }
    let (mut lengths, mut body) = (Vec::new(), Vec::new());
    while let Some(at) = find(rest, end) {
        let length = std::str::from_utf8(&rest[..at]).expect("a length");
        let length = usize::from_str_radix(length, 16).expect("the length of a chunk");
        let from = at + end.len();
        lengths.push(length);
        body.extend_from_slice(&rest[from..from + length]);
        rest = &rest[from + length + end.len()..];
    }
    (lengths, body)
}

#[track_caller]
fn in_pieces(lengths: &[usize]) {
    assert!(lengths.iter().sum::<usize>() > COUNT * SIZE, "{lengths:?}");
    assert!(lengths.iter().all(|it| *it < 3 * SIZE), "{lengths:?}");
}

#[tokio::test]
async fn a_list_of_large_objects_is_made_in_pieces() {
    let client = Client::start().await;
    with_large_objects(&client).await;
    let (lengths, plain) = chunks(&client, MAPS, "application/json");
    in_pieces(&lengths);
    let items = |list: &Value| list.get("items").cloned().expect("items");
    let plain = items(&json::parse(&plain).unwrap());
    let (lengths, pretty) = chunks(&client, &format!("{MAPS}?pretty=true"), "application/json");
    in_pieces(&lengths);
    // Byte for byte as if it were written at once.
    let read = json::parse(&pretty).unwrap();
    let want = json::to_string_pretty(&read, "  ");
    assert!(pretty == want.as_bytes() && items(&read) == plain);
    let (lengths, yaml) = chunks(&client, MAPS, "application/yaml");
    in_pieces(&lengths);
    let read = yaml::to_json(&yaml).unwrap();
    let want = yaml::value_to_string(&read);
    assert!(yaml == want.as_bytes() && items(&read) == plain);
}

#[tokio::test]
async fn protobuf_is_made_twice_where_there_is_no_room() {
    let mut bodies = Vec::new();
    for room in [64 << 20, 0] {
        let client = Client::with(move |options| options.settings.max_held_list_bytes = room).await;
        with_large_objects(&client).await;
        let protobuf = "application/vnd.kubernetes.protobuf";
        let (lengths, body) = chunks(&client, MAPS, protobuf);
        in_pieces(&lengths);
        let whole = schema::protobuf::decode_object(&body).unwrap();
        let items = whole.get("items").and_then(Value::as_array).unwrap();
        let names = items
            .iter()
            .filter_map(|it| it.str_at(&["metadata", "name"]));
        let names: Vec<_> = names.map(str::to_owned).collect();
        let all = format!("{protobuf};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
        let (_, body) = chunks(&client, MAPS, &all);
        let metadata = schema::protobuf::decode_object(&body).unwrap();
        let count = metadata
            .get("items")
            .and_then(Value::as_array)
            .map(Vec::len);
        assert_eq!(count, Some(items.len()));
        bodies.push(names);
    }
    assert_eq!(bodies[0], bodies[1]);
    assert!(bodies[0].len() >= COUNT, "{bodies:?}");
}
