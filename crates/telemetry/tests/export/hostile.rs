//! Collectors that are none, or worse: what was sent to them counts as failed, and they cost no more than is known.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use telemetry::export::{End, Outcome, Place, Protocol, Signal, Target, send_once};

const ITEMS: u64 = 3;
/// Never used up: each of them ends what was begun.
const PATIENCE: Duration = Duration::from_secs(300);
/// More than anybody may have to read of an answer.
const ENDLESS: usize = 256 << 20;
/// How much of an endless answer may be on its way when it is broken off.
const TAKEN: usize = 64 << 20;

/// What a frame of HTTP/2 begins with: its length, kind, flags and stream.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(payload.len()).unwrap().to_be_bytes()[1..].to_vec();
    frame.extend_from_slice(&[kind, flags]);
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// Says `first` to the first connection and then `again` and again; how many bytes it could say.
fn collector(first: Vec<u8>, again: Vec<u8>) -> (SocketAddr, mpsc::Receiver<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (done, said) = mpsc::channel();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = done.send(say(&mut stream, &first, &again));
    });
    (address, said)
}

fn say(stream: &mut TcpStream, first: &[u8], again: &[u8]) -> usize {
    // Somebody speaks first, and it is not the collector.
    let mut some = [0; 1024];
    if stream.read(&mut some).is_err() || stream.write_all(first).is_err() {
        return 0;
    }
    let mut said = first.len();
    while !again.is_empty() && said < ENDLESS {
        if stream.write_all(again).is_err() {
            return said;
        }
        said += again.len();
    }
    said
}

fn send(address: SocketAddr, protocol: Protocol, timeout: Duration) -> Outcome {
    let place = Place::Tcp {
        host: address.ip().to_string(),
        port: address.port(),
    };
    let mut target = Target::new(place, protocol);
    target.timeout = timeout;
    send_once(target, Signal::Traces, vec![b'x'; 100], ITEMS, timeout)
}

#[track_caller]
fn lost(outcome: &Outcome, what: &str) {
    assert_eq!((outcome.accepted, outcome.rejected), (0, ITEMS), "{what}");
    assert_eq!(outcome.end, End::Lost, "{what}: {outcome:?}");
    let said = outcome.said.as_deref().unwrap_or_default();
    assert!(!said.is_empty() && said.len() < 2000, "{what}: {said}");
}

/// Those who hang up, talk nonsense, or stop in the middle of a word.
#[test]
fn nonsense() {
    let ok = b"HTTP/1.1 200 OK\r\n".to_vec();
    let headers = frame(1, 4, 1, &[0x88]);
    let settings = frame(4, 0, 0, &[]);
    let cases = [
        ("nothing", Vec::new()),
        ("garbage", b"\x16\x03\x01\x00\xffno such protocol".to_vec()),
        ("half a head", ok.clone()),
        (
            "half a body",
            [&ok[..], b"content-length: 9\r\n\r\nab"].concat(),
        ),
        (
            "a chunk without a length",
            [&ok[..], b"transfer-encoding: chunked\r\n\r\nzz\r\n"].concat(),
        ),
        ("settings, and the end", settings.clone()),
        ("a frame that is too large", frame(0, 0, 1, &vec![0; 40000])),
        (
            "an answer without a status",
            [&settings[..], &headers, &frame(0, 1, 1, b"\0\0\0\0\0")].concat(),
        ),
        (
            "a stream that nobody opened",
            [&settings[..], &frame(1, 4, 99, &[0x88])].concat(),
        ),
        (
            "a reset",
            [&settings[..], &frame(3, 0, 1, &2_u32.to_be_bytes())].concat(),
        ),
        (
            "a farewell",
            [&settings[..], &frame(7, 0, 0, &[0; 8])].concat(),
        ),
    ];
    for (what, says) in cases {
        for protocol in [Protocol::Grpc, Protocol::HttpProtobuf] {
            let (address, _said) = collector(says.clone(), Vec::new());
            lost(
                &send(address, protocol, PATIENCE),
                &format!("{what} by {protocol:?}"),
            );
        }
    }
}

#[test]
fn silence() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    for protocol in [Protocol::Grpc, Protocol::HttpProtobuf] {
        // Connections are made by the system, and nobody takes them.
        lost(
            &send(address, protocol, Duration::from_millis(50)),
            "silence",
        );
    }
}

/// Answers that would never end are not read to their end, however much time there is.
#[test]
fn endless() {
    let http = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\n".to_vec();
    let large = [&http[..], b"content-length: 268435456\r\n\r\n"].concat();
    let chunked = [&http[..], b"transfer-encoding: chunked\r\n\r\n"].concat();
    let chunk = [&b"10000\r\n"[..], &vec![b'x'; 0x10000][..], b"\r\n"].concat();
    let header = [&b"x-a: "[..], &[b'x'; 8000], b"\r\n"].concat();
    let h2 = [frame(4, 0, 0, &[]), frame(1, 0, 1, &[0x88])].concat();
    // A header that goes on and on: a literal of 16 KiB in each frame, none of which is the last.
    let literal = [
        &[0x00, 0x03][..],
        b"x-a",
        &[0x7f, 0x81, 0x7f],
        &[b'x'; 16384 - 128 - 8],
    ]
    .concat();
    let continued = frame(9, 0, 1, &literal);
    // An answer that is only announced, again and again.
    let announced = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1000);
    // The same of HTTP/2: `:status: 103`, as a literal whose name the static table has.
    let hints = frame(1, 4, 1, b"\x08\x03103").repeat(1000);
    // What is no answer to anything.
    let pings = frame(6, 1, 0, &[0; 8]).repeat(1000);
    let cases = [
        (
            "announcements",
            Protocol::HttpProtobuf,
            Vec::new(),
            announced,
        ),
        (
            "a large body",
            Protocol::HttpProtobuf,
            large,
            vec![b'x'; 0x10000],
        ),
        ("chunks", Protocol::HttpProtobuf, chunked, chunk),
        ("headers", Protocol::HttpProtobuf, http.clone(), header),
        ("a line", Protocol::HttpProtobuf, http, vec![b'x'; 0x10000]),
        ("headers of HTTP/2", Protocol::Grpc, h2, continued),
        (
            "announcements of HTTP/2",
            Protocol::Grpc,
            frame(4, 0, 0, &[]),
            hints,
        ),
        ("pings", Protocol::Grpc, frame(4, 0, 0, &[]), pings),
    ];
    for (what, protocol, first, again) in cases {
        let (address, said) = collector(first, again);
        lost(&send(address, protocol, PATIENCE), what);
        let said = said.recv().unwrap();
        assert!(said < TAKEN, "{what}: {said} bytes were taken");
    }
}
