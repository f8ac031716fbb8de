//! Clients that ask for much and take nothing of it.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use json::json;

use crate::client::{Client, Stream};
use crate::field::{Field, MAPS};
use crate::http2::{
    DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, INITIAL_WINDOW, RST_STREAM, connect, frame,
    next, request,
};
use crate::{Attack, Bounds, USUAL, Who};

/// Unread answers may take this much in all.
const UNREAD: Bounds = Bounds {
    memory_mib: 160,
    cpu: Duration::from_secs(20),
    bystander: Duration::from_millis(250),
    ..USUAL
};

pub(super) const ALL: &[Attack] = &[
    Attack {
        name: "unread-lists",
        about: "200 lists over HTTP/1 that nobody reads: they are cut off, and take little memory until then",
        who: Who::Editor,
        bounds: UNREAD,
        run: unread_lists,
    },
    Attack {
        name: "window-zero-lists",
        about: "40 connections of HTTP/2 with 200 lists each and a window of 0: each is ended",
        who: Who::Editor,
        bounds: UNREAD,
        run: window_zero_lists,
    },
    Attack {
        name: "drip-readers",
        about: "lists of which a client takes a byte at a time",
        who: Who::Editor,
        bounds: UNREAD,
        run: drip_readers,
    },
];

/// A list of some megabytes.
fn fill(field: &Field) -> io::Result<()> {
    let alice = field.alice();
    let text = "x y\n".repeat(12_500);
    for number in 0..field.of(80, 20) {
        let map =
            json!({"metadata": {"name": (format!("large-{number}"))}, "data": {"text": (&*text)}});
        alice.make(MAPS, &map)?;
    }
    Ok(())
}

fn ask(client: &Client) -> io::Result<Stream> {
    let mut stream = client.connect()?;
    let head = format!(
        "GET {MAPS} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{}\r\n",
        client.authorization()
    );
    stream.write_all(head.as_bytes())?;
    Ok(stream)
}

fn unread_lists(field: &mut Field) -> io::Result<()> {
    fill(field)?;
    let alice = field.alice();
    let before = field.server.usage().descriptors;
    let count = field.of(200, 40);
    let open = (0..count)
        .map(|_| ask(&alice))
        .collect::<io::Result<Vec<_>>>()?;
    field.tried(count);
    let limit = field.server.request_timeout() * 2 + Duration::from_secs(20);
    field.until("unread answers are cut off", limit, |field| {
        field.server.usage().descriptors < before + 20
    });
    drop(open);
    Ok(())
}

fn window_zero_lists(field: &mut Field) -> io::Result<()> {
    fill(field)?;
    let alice = field.alice();
    let (connections, each) = (field.of(40, 4), field.of(200, 50));
    let mut open = Vec::new();
    for _ in 0..connections {
        let mut stream = connect(&alice, &[(INITIAL_WINDOW, 0)])?;
        let head = request(&alice, MAPS);
        let numbers = (0..u32::try_from(each).unwrap_or(0)).map(|it| it * 2 + 1);
        let all: Vec<u8> = numbers
            .flat_map(|on| frame(HEADERS, END_STREAM | END_HEADERS, on, &head))
            .collect();
        stream.write_all(&all)?;
        open.push(stream);
    }
    field.tried(connections * each);
    // All are over within the time of a request: by the end of the stream, or of the connection.
    let deadline = Instant::now() + field.server.request_timeout() * 2 + Duration::from_secs(20);
    let mut left = 0;
    for mut stream in open {
        let mut ended = 0;
        while ended < each {
            let patience = deadline.saturating_duration_since(Instant::now());
            let patience = patience.max(Duration::from_millis(100));
            stream.sock.set_read_timeout(Some(patience))?;
            match next(&mut stream) {
                Some(frame) if frame.kind == RST_STREAM => ended += 1,
                Some(frame) if frame.kind == GOAWAY => ended = each,
                // A refusal that is nothing but a head.
                Some(frame) if frame.kind == HEADERS && frame.flags & END_STREAM != 0 => ended += 1,
                Some(frame) if frame.kind == DATA && frame.flags & END_STREAM != 0 => ended += 1,
                Some(_) => {}
                None if Instant::now() < deadline => ended = each,
                None => {
                    left += each - ended;
                    break;
                }
            }
        }
    }
    if left > 0 {
        field.fault(format!(
            "{left} of {} streams stay for ever",
            connections * each
        ));
    }
    Ok(())
}

fn drip_readers(field: &mut Field) -> io::Result<()> {
    use io::Read as _;
    fill(field)?;
    let alice = field.alice();
    let before = field.server.usage().descriptors;
    let count = field.of(100, 10);
    let mut open = (0..count)
        .map(|_| ask(&alice))
        .collect::<io::Result<Vec<_>>>()?;
    field.tried(count);
    let limit = field.server.request_timeout() * 2 + Duration::from_secs(20);
    let deadline = Instant::now() + limit;
    loop {
        for stream in &mut open {
            stream
                .sock
                .set_read_timeout(Some(Duration::from_millis(1)))?;
            let _ = stream.read(&mut [0]);
        }
        if field.server.usage().descriptors < before + 20 {
            return Ok(());
        }
        if Instant::now() > deadline {
            field.fault(format!(
                "who reads a byte at a time is not cut off within {limit:?}"
            ));
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
