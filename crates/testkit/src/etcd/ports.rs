use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the range the kernel takes for outgoing connections: a member that is down keeps its port.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port nobody listens on, given once in this process; other processes begin elsewhere.
pub(super) fn free() -> u16 {
    let begin = std::process::id().wrapping_mul(61) % u32::from(COUNT);
    let begin = u16::try_from(begin).expect("below COUNT");
    (0..COUNT)
        .map(|_| {
            let offset = NEXT.fetch_add(1, Ordering::Relaxed) % COUNT;
            FIRST + (begin + offset) % COUNT
        })
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a free port")
}
