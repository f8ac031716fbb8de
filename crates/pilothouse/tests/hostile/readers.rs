//! Clients that ask for much and take nothing of it: an answer is made as it is taken.

use json::json;

use crate::MAPS;
use crate::client::Client;

#[tokio::test]
async fn a_list_of_large_objects_is_made_in_pieces() {
    let client = Client::start().await;
    let local = client.server.local();
    let (count, size) = (4, 400_000);
    let text = "x".repeat(size);
    for name in 0..count {
        let map =
            json!({"metadata": {"name": (format!("large-{name}"))}, "data": {"text": (&*text)}});
        local.create(MAPS, &map).await.unwrap();
    }
    let head = "Host: x\r\nAuthorization: Bearer admin-token\r\nConnection: close";
    let answer = client.raw(format!("GET {MAPS} HTTP/1.1\r\n{head}\r\n\r\n").as_bytes());
    let (_, mut rest) = answer.split_once("\r\n\r\n").unwrap();
    let mut chunks = Vec::new();
    while let Some((length, more)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).expect("the length of a chunk");
        chunks.push(length);
        rest = &more[length + 2..];
    }
    assert!(chunks.iter().sum::<usize>() > count * size, "{chunks:?}");
    assert!(chunks.iter().all(|it| *it < 2 * size), "{chunks:?}");
}
