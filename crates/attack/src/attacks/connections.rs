//! Connections that are opened and not used, or used as slowly as can be.

use std::io::{self, Write as _};
use std::time::Duration;

use rustix::process::{Resource, getrlimit};

use crate::bystander;
use crate::client::Stream;
use crate::field::Field;
use crate::{Attack, Bounds, USUAL, Who};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(super) const ALL: &[Attack] = &[
    Attack {
        name: "slow-bodies",
        about: "240 writes of a user without any role whose bodies come byte by byte",
        who: Who::NoRole,
        bounds: USUAL,
        run: slow_bodies,
    },
    Attack {
        name: "slow-starts",
        about: "connections that stall: in silence, in the TLS handshake, in the head, after HTTP/2's preface",
        who: Who::Anonymous,
        bounds: USUAL,
        run: slow_starts,
    },
    Attack {
        name: "many-connections",
        about: "thousands of connections that are kept and do nothing",
        who: Who::Anonymous,
        bounds: Bounds {
            memory_mib: 384,
            cpu: Duration::from_secs(20),
            bystander: Duration::from_millis(250),
            ..USUAL
        },
        run: many_connections,
    },
    Attack {
        name: "connection-churn",
        about: "connections that are opened and dropped: before, within and after the handshake",
        who: Who::Anonymous,
        bounds: Bounds {
            cpu: Duration::from_secs(20),
            bystander: Duration::from_millis(250),
            ..USUAL
        },
        run: connection_churn,
    },
];

/// How many descriptors this process may still have.
fn room(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    wanted.min(limit.saturating_sub(200))
}

fn slow_bodies(field: &mut Field) -> io::Result<()> {
    let mallory = field.mallory();
    let count = field.of(240, 240);
    let reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let mut open: Vec<Stream> = Vec::new();
    for _ in 0..count {
        let head = format!(
            "POST {reviews} HTTP/1.1\r\nHost: localhost\r\n{}Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{{",
            mallory.authorization()
        );
        let mut stream = mallory.connect()?;
        stream.write_all(head.as_bytes())?;
        open.push(stream);
    }
    field.tried(count);
    let path = format!("/api/v1/namespaces/{}/configmaps", bystander::NAMESPACE);
    for _ in 0..field.of(100, 20) {
        for stream in &mut open {
            // Those that are refused are at an end.
            let _ = stream.write_all(b" ");
        }
        let map = json::json!({"metadata": {"generateName": "meanwhile-"}});
        let answer = field.admin().post(&path, &map);
        field.expect("a write of the administrator", answer, &[201]);
    }
    Ok(())
}

fn slow_starts(field: &mut Field) -> io::Result<()> {
    let client = field.anonymous();
    let before = field.server.usage().descriptors;
    let each = room(1200).min(field.of(1200, 120)) / 6;
    let mut sockets = Vec::new();
    let mut streams = Vec::new();
    for _ in 0..each {
        sockets.push(client.tcp()?);
        let mut half = client.tcp()?;
        // The beginning of a ClientHello that says it is longer.
        half.write_all(&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3])?;
        sockets.push(half);
        for (http2, bytes) in [
            (false, &b"GET /livez HTTP/1.1\r\nHost: lo"[..]),
            (false, b""),
            (true, PREFACE),
            (true, &PREFACE[..9]),
        ] {
            let stream = if http2 {
                client.connect_http2()
            } else {
                client.connect()
            };
            let mut stream = stream?;
            stream.conn.complete_io(&mut stream.sock)?;
            stream.write_all(bytes)?;
            streams.push(stream);
        }
    }
    field.tried(sockets.len() + streams.len());
    // Some send a little, again and again; it does not help them.
    for _ in 0..20 {
        for stream in streams.iter_mut().step_by(4) {
            let _ = stream.write_all(b"c");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let few = before + 20;
    field.until(
        "stalled connections are ended",
        Duration::from_secs(60),
        |field| field.server.usage().descriptors < few,
    );
    Ok(())
}

fn many_connections(field: &mut Field) -> io::Result<()> {
    let client = field.anonymous();
    let count = room(4000).min(field.of(4000, 300));
    let mut open = Vec::new();
    for _ in 0..count {
        let mut stream = client.connect()?;
        stream.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
        open.push(stream);
    }
    field.tried(count);
    let answer = field.admin().get("/api/v1/namespaces");
    field.expect("a list beside them", answer, &[200]);
    Ok(())
}

fn connection_churn(field: &mut Field) -> io::Result<()> {
    let client = field.anonymous();
    let before = field.server.usage().descriptors;
    let count = field.of(4000, 400);
    for number in 0..count {
        match number % 4 {
            0 => drop(client.tcp()?),
            1 => client.tcp()?.write_all(&[0x16, 3, 1, 2, 0])?,
            2 => {
                let mut stream = client.connect()?;
                // It may be cut off at any point.
                let _ = stream.conn.complete_io(&mut stream.sock);
            }
            _ => {
                let mut stream = client.connect_http2()?;
                let _ = stream.write_all(PREFACE);
            }
        }
    }
    field.tried(count);
    field.until(
        "dropped connections are forgotten",
        Duration::from_secs(60),
        |field| field.server.usage().descriptors < before + 20,
    );
    Ok(())
}
