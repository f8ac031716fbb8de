//! HTTP/2 frames as no client sends them.

use std::io::{Read as _, Write as _};

use crate::client::{Client, Stream};

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// `ENHANCE_YOUR_CALM`
const CALM: u32 = 11;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [&head, payload].concat()
}

/// A header that is not to be remembered (RFC 7541, 6.2.2); names and values are short.
fn header(name: &str, value: &str) -> Vec<u8> {
    let text = |it: &str| [&[u8::try_from(it.len()).unwrap()], it.as_bytes()].concat();
    [vec![0], text(name), text(value)].concat()
}

fn request(path: &str) -> Vec<u8> {
    [
        header(":method", "GET"),
        header(":scheme", "https"),
        header(":authority", "x"),
        header(":path", path),
        header("authorization", "Bearer admin-token"),
    ]
    .concat()
}

fn connect(client: &Client) -> Stream {
    let mut stream = client.connect(&client.http2());
    let hello = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(SETTINGS, 0, 0, b""),
    ];
    stream.write_all(&hello.concat()).unwrap();
    stream
}

/// Kind, stream and payload of the next frame; none when the server has hung up.
fn next(stream: &mut Stream) -> Option<(u8, u32, Vec<u8>)> {
    let mut head = [0; 9];
    stream.read_exact(&mut head).ok()?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut payload).ok()?;
    let on = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
    Some((head[3], on, payload))
}

/// Reason the server went away, if it said so before it hung up.
fn farewell(stream: &mut Stream) -> Option<u32> {
    while let Some((kind, _, payload)) = next(stream) {
        if kind == GOAWAY {
            return Some(u32::from_be_bytes(payload[4..8].try_into().unwrap()));
        }
    }
    None
}

/// CVE-2023-44487: requests that are taken back as soon as they are made.
#[tokio::test]
async fn requests_that_are_taken_back_end_the_connection() {
    let client = Client::start().await;
    let mut stream = connect(&client);
    let mut on = 1;
    let mut ended = false;
    for _ in 0..200 {
        let mut burst = Vec::new();
        for _ in 0..500 {
            burst.extend(frame(
                HEADERS,
                END_STREAM | END_HEADERS,
                on,
                &request("/api/v1/pods"),
            ));
            burst.extend(frame(RST_STREAM, 0, on, &8_u32.to_be_bytes()));
            on += 2;
        }
        ended = stream.write_all(&burst).is_err();
        if ended {
            break;
        }
    }
    if !ended {
        assert_eq!(farewell(&mut stream), Some(CALM));
    }
    client.lives();
}

/// CVE-2024-27316: a head that never ends.
#[tokio::test]
async fn heads_that_never_end_end_the_connection() {
    let client = Client::start().await;
    for piece in [&b""[..], &header("x", "y"), &header("x", "y").repeat(1000)] {
        let mut stream = connect(&client);
        stream
            .write_all(&frame(HEADERS, END_STREAM, 1, &request("/livez")))
            .unwrap();
        let flood = frame(CONTINUATION, 0, 1, piece).repeat(100);
        // Five million pieces at most, if nothing stopped it.
        let ended = (0..50_000).any(|_| stream.write_all(&flood).is_err());
        assert!(ended, "the server took it all");
    }
    client.lives();
}

/// Frames that ask for answers, from a client that does not read them.
#[tokio::test]
async fn who_does_not_read_is_not_answered_for_ever() {
    let client = Client::start().await;
    let mut stream = connect(&client);
    stream
        .sock
        .set_write_timeout(Some(std::time::Duration::from_millis(500)))
        .unwrap();
    let pings = frame(PING, 0, 0, &[0; 8]).repeat(1000);
    // Either it hangs up, or it stops reading: both bound what it holds.
    let stopped = (0..20_000).any(|_| stream.write_all(&pings).is_err());
    assert!(stopped, "the server took it all");
    client.lives();
}

#[tokio::test]
async fn many_and_large_headers_are_refused() {
    let client = Client::start().await;
    let mut stream = connect(&client);
    // More names than a header map can hold, in no more bytes than a head may have.
    let mut names = Vec::new();
    let letters: Vec<char> = ('a'..='z').chain('0'..='9').collect();
    'all: for a in &letters {
        for b in &letters {
            for c in &letters {
                names.extend(header(&format!("{a}{b}{c}"), ""));
                if names.len() > 25_000 * 6 {
                    break 'all;
                }
            }
        }
    }
    let head = [request("/livez"), names].concat();
    let mut pieces = head.chunks(16_000).peekable();
    let first = pieces.next().unwrap();
    let mut frames = frame(HEADERS, END_STREAM, 1, first);
    while let Some(piece) = pieces.next() {
        let last = pieces.peek().is_none();
        let flags = if last { END_HEADERS } else { 0 };
        frames.extend(frame(CONTINUATION, flags, 1, piece));
    }
    stream.write_all(&frames).unwrap();
    // 431, or an end of the stream or of the connection, but no 200, which is one byte in HPACK's static table.
    while let Some((kind, on, payload)) = next(&mut stream) {
        match kind {
            HEADERS if on == 1 => {
                assert_ne!(payload.first(), Some(&0x88));
                break;
            }
            RST_STREAM | GOAWAY => break,
            _ => {}
        }
    }
    client.lives();
}
