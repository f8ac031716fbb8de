//! HTTP/2 frames by hand, as no client sends them.

use std::io::{self, Read as _, Write as _};

use crate::client::{Client, Stream};

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const ACK: u8 = 1;
pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;

/// `SETTINGS_INITIAL_WINDOW_SIZE`
pub const INITIAL_WINDOW: u16 = 4;
/// `ENHANCE_YOUR_CALM`
pub const CALM: u32 = 11;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

#[derive(Debug)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(0).to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [&head, payload].concat()
}

pub fn settings(all: &[(u16, u32)]) -> Vec<u8> {
    let setting =
        |(key, value): &(u16, u32)| [&key.to_be_bytes()[..], &value.to_be_bytes()].concat();
    let payload: Vec<u8> = all.iter().flat_map(setting).collect();
    frame(SETTINGS, 0, 0, &payload)
}

/// A header that is not to be remembered (RFC 7541, 6.2.2).
pub fn header(name: &str, value: &str) -> Vec<u8> {
    [vec![0], text(name), text(value)].concat()
}

/// One that is (6.2.1): it becomes number 62.
pub fn remembered(name: &str, value: &str) -> Vec<u8> {
    [vec![0x40], text(name), text(value)].concat()
}

/// A GET with the client's token.
pub fn request(client: &Client, path: &str) -> Vec<u8> {
    let mut all = [
        header(":method", "GET"),
        header(":scheme", "https"),
        header(":authority", "localhost"),
        header(":path", path),
    ]
    .concat();
    if let Some(token) = client.token() {
        all.extend(header("authorization", &format!("Bearer {token}")));
    }
    all
}

/// A string as HPACK has it, with its length in front (5.1, 5.2).
fn text(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut length = text.len();
    if length < 127 {
        bytes.push(u8::try_from(length).unwrap_or(0));
    } else {
        bytes.push(127);
        length -= 127;
        while length >= 128 {
            bytes.push(u8::try_from(length % 128).unwrap_or(0) | 128);
            length /= 128;
        }
        bytes.push(u8::try_from(length).unwrap_or(0));
    }
    bytes.extend(text.as_bytes());
    bytes
}

/// A connection, with these settings said first.
pub fn connect(client: &Client, all: &[(u16, u32)]) -> io::Result<Stream> {
    let mut stream = client.connect_http2()?;
    stream.write_all(&[PREFACE, &settings(all)].concat())?;
    stream.flush()?;
    Ok(stream)
}

/// A head in as many frames as it takes.
pub fn head_frames(stream: u32, head: &[u8], end_stream: bool) -> Vec<u8> {
    let mut pieces = head.chunks(16_000).peekable();
    let mut frames = Vec::new();
    let mut kind = HEADERS;
    let mut flags = if end_stream { END_STREAM } else { 0 };
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            flags |= END_HEADERS;
        }
        frames.extend(frame(kind, flags, stream, piece));
        (kind, flags) = (CONTINUATION, 0);
    }
    frames
}

/// The next frame; none when the server has hung up or says nothing.
pub fn next(stream: &mut Stream) -> Option<Frame> {
    let mut head = [0; 9];
    stream.read_exact(&mut head).ok()?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut payload).ok()?;
    Some(Frame {
        kind: head[3],
        flags: head[4],
        stream: u32::from_be_bytes([head[5], head[6], head[7], head[8]]),
        payload,
    })
}

/// The code of the `GOAWAY` with which the server ended the connection, if it did.
pub fn farewell(stream: &mut Stream) -> Option<u32> {
    while let Some(frame) = next(stream) {
        if frame.kind == GOAWAY {
            let code = frame.payload.get(4..8)?;
            return Some(u32::from_be_bytes(code.try_into().ok()?));
        }
    }
    None
}
