//! Connections that are opened and not used, or used as slowly as can be.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use rustix::process::{Resource, getrlimit};

use crate::MAPS;
use crate::client::{Client, Stream, says, split};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How many connections this process may have beside everything else: each takes two, one at each end.
fn room(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    wanted.min(limit.saturating_sub(400) / 2)
}

/// What comes until the other end hangs up.
fn rest(stream: &mut Stream) -> String {
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    String::from_utf8_lossy(&all).into_owned()
}

#[tokio::test]
async fn who_asks_nothing_is_hung_up_on() {
    let client = Client::with(|options| {
        options.settings.header_timeout = Duration::from_secs(8);
    })
    .await;
    let silent: Vec<_> = (0..room(2000)).map(|_| client.tcp()).collect();
    let http2 = client.http2();
    let half = b"GET /livez HTTP/1.1\r\nHost:".as_slice();
    // Nothing, not even what HTTP/2 begins with; that and nothing else; half a head.
    let cases = [
        (&client.tls, &b""[..]),
        (&http2, b""),
        (&http2, &PREFACE[..10]),
        (&http2, PREFACE),
        (&client.tls, half),
    ];
    let mut open = Vec::new();
    for (tls, bytes) in cases {
        for _ in 0..10 {
            let mut stream = client.connect(tls);
            // On a slow machine it may be hung up on before it has said anything.
            let _ = stream.conn.complete_io(&mut stream.sock);
            let _ = stream.write_all(bytes);
            open.push(stream);
        }
    }
    client.lives();
    for mut stream in open {
        let said = rest(&mut stream);
        assert!(!said.contains("200 OK"), "{said}");
    }
    for mut stream in silent {
        // An end, or a reset: anything but silence.
        let read = stream.read(&mut [0; 16]);
        let waits = read.as_ref().is_err_and(|it| {
            matches!(
                it.kind(),
                std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
            )
        });
        assert!(!waits, "{read:?}");
    }
    client.lives();
}

#[tokio::test]
async fn slow_bodies_run_out_of_time() {
    let client = Client::with(|options| {
        options.settings.request_timeout = Duration::from_secs(10);
    })
    .await;
    let head = |length: &str| {
        format!(
            "POST {MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n\
             Content-Type: application/json\r\n{length}\r\n\r\n"
        )
    };
    let mut slow: Vec<_> = (0..30)
        .map(|it| {
            let mut stream = client.connect(&client.tls);
            let chunked = it % 2 == 0;
            let head = if chunked {
                head("Transfer-Encoding: chunked") + "1\r\n{\r\n"
            } else {
                head("Content-Length: 100000") + "{"
            };
            stream.write_all(head.as_bytes()).unwrap();
            (stream, chunked)
        })
        .collect();
    // Others go on meanwhile, and one byte more now and then does not help.
    for round in 0..3 {
        let made = client.make(
            MAPS,
            &json::json!({"metadata": {"name": (format!("quick-{round}"))}}),
        );
        assert!(made.at(&["metadata", "uid"]).is_some());
        for (stream, chunked) in &mut slow {
            // The server may have given up on it.
            let byte: &[u8] = if *chunked { b"1\r\n \r\n" } else { b" " };
            let _ = stream.write_all(byte);
        }
    }
    for (mut stream, _) in slow {
        let answer = split(&rest(&mut stream));
        says(
            &answer,
            504,
            "Timeout: request did not complete within the allotted timeout",
        );
    }
    client.lives();
}
