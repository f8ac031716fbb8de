//! HTTP/2 frames as no client sends them: floods, heads without end, tables that unpack to more than they are.

use std::io::{self, Write as _};
use std::time::Duration;

use crate::client::Stream;
use crate::field::Field;
use crate::http2::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PRIORITY, RST_STREAM, SETTINGS,
    WINDOW_UPDATE, connect, frame, head_frames, header, next, remembered, request,
};
use crate::{Attack, Bounds, USUAL, Who};

/// What a flood may cost until the connection is ended.
const FLOOD: Bounds = Bounds {
    cpu: Duration::from_secs(15),
    bystander: Duration::from_millis(250),
    ..USUAL
};

pub(super) const ALL: &[Attack] = &[
    Attack {
        name: "rapid-reset",
        about: "requests that are taken back as soon as they are made (CVE-2023-44487)",
        who: Who::NoRole,
        bounds: FLOOD,
        run: rapid_reset,
    },
    Attack {
        name: "continuation-flood",
        about: "heads that never end (CVE-2024-27316)",
        who: Who::Anonymous,
        bounds: FLOOD,
        run: continuation_flood,
    },
    Attack {
        name: "control-floods",
        about: "settings, pings, priorities, empty frames and window updates without end, from a client that reads nothing",
        who: Who::Anonymous,
        bounds: FLOOD,
        run: control_floods,
    },
    Attack {
        name: "hpack-bomb",
        about: "a header that is said once and named thousands of times; names by the ten thousand",
        who: Who::Anonymous,
        bounds: FLOOD,
        run: hpack_bomb,
    },
    Attack {
        name: "broken-frames",
        about: "frames of wrong lengths, kinds, streams and orders",
        who: Who::Anonymous,
        bounds: FLOOD,
        run: broken_frames,
    },
];

fn rapid_reset(field: &mut Field) -> io::Result<()> {
    let mallory = field.mallory();
    for _ in 0..field.of(10, 2) {
        let mut stream = connect(&mallory, &[])?;
        let head = request(&mallory, "/api/v1/pods");
        let mut on = 1;
        let ended = (0..100).any(|_| {
            let mut burst = Vec::new();
            for _ in 0..500 {
                burst.extend(frame(HEADERS, END_STREAM | END_HEADERS, on, &head));
                burst.extend(frame(RST_STREAM, 0, on, &8_u32.to_be_bytes()));
                on += 2;
            }
            stream.write_all(&burst).is_err()
        });
        field.tried(usize::try_from(on).unwrap_or(0) / 2);
        if !ended && !hangs_up(&mut stream) {
            field.fault("the server took them all, and the connection goes on");
        }
    }
    Ok(())
}

fn continuation_flood(field: &mut Field) -> io::Result<()> {
    let client = field.anonymous();
    for piece in [&b""[..], &header("x", "y"), &header("x", "y").repeat(1000)] {
        let mut stream = connect(&client, &[])?;
        stream.write_all(&frame(HEADERS, END_STREAM, 1, &request(&client, "/livez")))?;
        let flood = frame(CONTINUATION, 0, 1, piece).repeat(100);
        let sent = (0..20_000)
            .take_while(|_| stream.write_all(&flood).is_ok())
            .count();
        field.tried(sent * 100);
        if sent == 20_000 {
            field.fault(format!(
                "the server took two million pieces of {} bytes",
                piece.len()
            ));
        }
    }
    Ok(())
}

/// Either it hangs up or it stops reading: both bound what it holds and does.
fn control_floods(field: &mut Field) -> io::Result<()> {
    // Reading nothing, the client learns of an end by its writes.
    let client = field.anonymous().patient(Duration::from_secs(2));
    let floods = [
        ("pings", frame(PING, 0, 0, &[0; 8])),
        ("settings", frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0xff, 0xff])),
        ("empty settings", frame(SETTINGS, 0, 0, b"")),
    ];
    for (what, one) in floods {
        let mut stream = connect(&client, &[])?;
        let many = one.repeat(1000);
        let sent = (0..5000)
            .take_while(|_| stream.write_all(&many).is_ok())
            .count();
        field.tried(sent * 1000);
        if sent == 5000 {
            field.fault(format!("{what}: the server took five million, unread"));
        }
    }
    // These ask for nothing: they may be read, but cost CPU only as they come.
    let quiet = [
        frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 1]),
        frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]),
        frame(0xfe, 0, 0, b"unknown"),
    ];
    for one in quiet {
        let mut stream = connect(&client, &[])?;
        let many = one.repeat(1000);
        let sent = (0..field.of(300, 50))
            .take_while(|_| stream.write_all(&many).is_ok())
            .count();
        field.tried(sent * 1000);
    }
    // A body of nothing, in many pieces.
    let mut stream = connect(&client, &[])?;
    let head = [
        header(":method", "POST"),
        header(":scheme", "https"),
        header(":authority", "localhost"),
        header(":path", "/api/v1/namespaces"),
    ];
    stream.write_all(&frame(HEADERS, END_HEADERS, 1, &head.concat()))?;
    let many = frame(DATA, 0, 1, b"").repeat(1000);
    let sent = (0..300)
        .take_while(|_| stream.write_all(&many).is_ok())
        .count();
    field.tried(sent * 1000);
    Ok(())
}

fn hpack_bomb(field: &mut Field) -> io::Result<()> {
    let client = field.anonymous();
    let large = remembered("x", &"y".repeat(3900));
    // One byte each names the newest entry of the table.
    let bomb = [request(&client, "/livez"), large, vec![0xbe; 200_000]].concat();
    let names: Vec<u8> = (0..25_000)
        .flat_map(|it| header(&format!("n{it}"), ""))
        .collect();
    let many = [request(&client, "/livez"), names].concat();
    for head in [bomb, many] {
        for _ in 0..field.of(10, 2) {
            let mut stream = connect(&client, &[])?;
            let _ = stream.write_all(&head_frames(1, &head, true));
            field.tried(1);
            if is_served(&mut stream) {
                field.fault("a head of a megabyte and more is served");
            }
        }
    }
    Ok(())
}

/// Whether the answer on stream 1 is a 200, which is one byte in HPACK's table.
fn is_served(stream: &mut Stream) -> bool {
    while let Some(frame) = next(stream) {
        match frame.kind {
            HEADERS if frame.stream == 1 => return frame.payload.first() == Some(&0x88),
            RST_STREAM | crate::http2::GOAWAY => return false,
            _ => {}
        }
    }
    false
}

fn broken_frames(field: &mut Field) -> io::Result<()> {
    let client = field.anonymous().patient(Duration::from_secs(3));
    let head = request(&client, "/livez");
    let whole = frame(HEADERS, END_STREAM | END_HEADERS, 1, &head);
    let mut too_long = frame(DATA, 0, 1, &[]);
    too_long[..3].copy_from_slice(&[0xff, 0xff, 0xff]);
    let cases = [
        frame(DATA, 0, 0, b"x"),
        frame(DATA, 0, 99, b"x"),
        frame(HEADERS, END_HEADERS, 0, &head),
        frame(HEADERS, END_HEADERS, 2, &head),
        frame(HEADERS, END_HEADERS | 8, 1, &[255, 1, 2]),
        frame(HEADERS, END_HEADERS, 1, &[0xff; 100]),
        frame(HEADERS, END_HEADERS, 1, &[0x80]),
        frame(HEADERS, END_HEADERS, 1, &[0x3f, 0xff, 0xff, 0xff, 0x7f]),
        frame(CONTINUATION, END_HEADERS, 1, &head),
        frame(SETTINGS, 0, 0, &[0; 5]),
        frame(SETTINGS, 1, 0, &[0; 6]),
        frame(SETTINGS, 0, 1, &[]),
        frame(SETTINGS, 0, 0, &[0, 4, 0xff, 0xff, 0xff, 0xff]),
        frame(SETTINGS, 0, 0, &[0, 5, 0, 0, 0, 0]),
        frame(PING, 0, 0, &[0; 7]),
        frame(RST_STREAM, 0, 1, &[0; 4]),
        frame(WINDOW_UPDATE, 0, 0, &[0; 4]),
        frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]).repeat(2),
        frame(crate::http2::GOAWAY, 0, 0, &[0xff; 8]),
        frame(5, 0, 1, &[0; 8]),
        [whole.clone(), whole.clone()].concat(),
        [whole, frame(DATA, END_STREAM, 1, b"x")].concat(),
        too_long,
        vec![0xff; 4096],
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
    ];
    for case in cases {
        let mut stream = connect(&client, &[])?;
        let _ = stream.write_all(&case);
        field.tried(1);
        // Whatever comes, until an end or silence.
        while next(&mut stream).is_some_and(|it| it.kind != crate::http2::GOAWAY) {}
    }
    Ok(())
}

/// Whether the server ends the connection within the client's patience.
fn hangs_up(stream: &mut Stream) -> bool {
    use io::Read as _;
    let mut buffer = vec![0; 64 << 10];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => {
                return !matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                );
            }
        }
    }
}
