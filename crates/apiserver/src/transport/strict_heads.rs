//! Hot path. HTTP/1 requests whose lines end with a bare LF are refused.
//!
//! RFC 9112, section 2.2 lets a server take a bare LF for the end of a line, and hyper does. A proxy in front of the
//! server may not: it then sees one request where the server sees two (request smuggling). Each line that ends without CR
//! gets a NUL in the place of its LF before hyper reads it, which is 400 and the end of the connection.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The part of a line that is looked at: the longest name of interest and a length of 20 digits fit in.
const LINE: usize = 64;
const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n";

/// A stream whose heads are checked as they are read.
pub(crate) struct StrictHeads<S> {
    stream: S,
    scanner: Option<Scanner>,
}

impl<S> StrictHeads<S> {
    /// HTTP/2 has no lines: nothing is checked then.
    pub(crate) fn new(stream: S, is_http2: bool) -> Self {
        Self {
            stream,
            scanner: (!is_http2).then(Scanner::default),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StrictHeads<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, into))?;
        if let Some(scanner) = &mut self.scanner {
            scanner.scan(&mut into.filled_mut()[before..]);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StrictHeads<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Before the first line of a connection.
    #[default]
    New,
    /// Within the lines of a head, or before it.
    Head,
    /// So many bytes of a body are still to come.
    Body(u64),
    ChunkSize,
    /// So many bytes of a chunk and the end of its line are still to come.
    Chunk(u64),
    Trailers,
    /// Nothing more is looked at: the connection speaks HTTP/2, or hyper will end it.
    Off,
}

/// Knows where heads begin and end, and nothing else of HTTP.
#[derive(Debug, Default)]
struct Scanner {
    state: State,
    /// The beginning of a line whose end has not arrived yet.
    begun: Vec<u8>,
    /// The last byte that arrived, if the line's end has not.
    ends_with_cr: bool,
    has_lines: bool,
    length: u64,
    is_chunked: bool,
}

impl Scanner {
    fn scan(&mut self, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            match self.state {
                State::Off => return,
                State::Body(left) | State::Chunk(left) => {
                    let taken = usize::try_from(left).map_or(bytes.len(), |it| it.min(bytes.len()));
                    bytes = &mut bytes[taken..];
                    self.pass(left - taken as u64);
                }
                _ => {
                    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                        return self.keep(bytes);
                    };
                    let (line, rest) = bytes.split_at_mut(end + 1);
                    let is_ended = match end {
                        0 => self.ends_with_cr,
                        end => line[end - 1] == b'\r',
                    };
                    if !is_ended {
                        line[end] = 0;
                        self.state = State::Off;
                        return;
                    }
                    self.line(line);
                    bytes = rest;
                }
            }
        }
    }

    /// So many bytes of what is passed over are left.
    fn pass(&mut self, left: u64) {
        self.state = match (self.state, left) {
            (State::Chunk(_), 0) => State::ChunkSize,
            (_, 0) => State::Head,
            (State::Chunk(_), left) => State::Chunk(left),
            (_, left) => State::Body(left),
        };
    }

    /// A part of a line; its end comes with the next bytes.
    fn keep(&mut self, part: &[u8]) {
        let room = LINE - self.begun.len().min(LINE);
        self.begun.extend_from_slice(&part[..room.min(part.len())]);
        self.ends_with_cr = part.last() == Some(&b'\r');
    }

    /// A line with its end.
    fn line(&mut self, line: &[u8]) {
        if self.begun.is_empty() {
            return self.whole_line(line);
        }
        self.keep(line);
        let begun = std::mem::take(&mut self.begun);
        self.whole_line(&begun);
    }

    fn whole_line(&mut self, line: &[u8]) {
        self.ends_with_cr = false;
        let is_empty = line == b"\r\n";
        match self.state {
            State::New if line == HTTP2 => self.state = State::Off,
            State::ChunkSize => {
                self.state = match chunk_size(line) {
                    Some(0) => State::Trailers,
                    Some(size) => State::Chunk(size.saturating_add(2)),
                    None => State::Off,
                };
            }
            State::Trailers if is_empty => self.state = State::Head,
            // Empty lines before a head are passed over.
            State::New | State::Head if is_empty && !self.has_lines => {}
            State::New | State::Head if is_empty => self.end_of_head(),
            State::New | State::Head => {
                self.has_lines = true;
                self.state = State::Head;
                self.field(line);
            }
            State::Trailers | State::Body(_) | State::Chunk(_) | State::Off => {}
        }
    }

    fn end_of_head(&mut self) {
        self.state = match (self.is_chunked, self.length) {
            (true, _) => State::ChunkSize,
            (false, 0) => State::Head,
            (false, length) => State::Body(length),
        };
        (self.has_lines, self.is_chunked, self.length) = (false, false, 0);
    }

    /// What a field says of the body. What hyper refuses, as two lengths, need not be understood.
    fn field(&mut self, line: &[u8]) {
        if !matches!(line[0], b'c' | b'C' | b't' | b'T') {
            return;
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            return;
        };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let value = str::from_utf8(value).ok();
            self.length = value.and_then(|it| it.parse().ok()).unwrap_or(0);
        }
    }
}

/// Of `1f;name=value`.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit());
    let digits = str::from_utf8(&line[..digits.count()]).ok()?;
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GET: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

    /// Where a NUL was put, if anywhere, whatever the pieces that the bytes arrive in.
    fn refused_at(text: &str) -> Option<usize> {
        let places = (1..=text.len()).map(|piece| {
            let mut scanner = Scanner::default();
            let mut bytes = text.as_bytes().to_vec();
            bytes.chunks_mut(piece).for_each(|it| scanner.scan(it));
            let changed = bytes.iter().zip(text.as_bytes()).position(|(a, b)| a != b);
            if let Some(at) = changed {
                assert_eq!((bytes[at], text.as_bytes()[at]), (0, b'\n'));
            }
            changed
        });
        let places: Vec<_> = places.collect();
        assert!(
            places.iter().all(|it| *it == places[0]),
            "{text:?}: {places:?}"
        );
        places[0]
    }

    #[test]
    fn a_line_of_a_head_ends_with_crlf() {
        for head in [
            "GET / HTTP/1.1\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\n\n",
            "GET / HTTP/1.1\r\nA: b\r\n c\nHost: x\r\n\r\n",
            "\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
        ] {
            let want = head.match_indices('\n').map(|(at, _)| at);
            let want = want.clone().find(|at| !head[..*at].ends_with('\r'));
            assert_eq!(refused_at(head), want, "{head:?}");
            // And of every request of a connection.
            let second = format!("\r\n{GET}{head}");
            let want = want.map(|it| it + GET.len() + 2);
            assert_eq!(refused_at(&second), want, "{second:?}");
        }
        assert_eq!(refused_at(GET), None);
        assert_eq!(refused_at("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\n\n"), None);
    }

    #[test]
    fn a_body_has_any_bytes() {
        let body = "{\n\n\r\n\r\nGET /\n}";
        let length = body.len();
        let long = "y".repeat(3 * LINE);
        for head in [
            format!("POST / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{body}"),
            format!("POST / HTTP/1.1\r\ncONTENT-lENGTH:{length} \r\nX: {long}\r\n\r\n{body}"),
            format!("POST / HTTP/1.1\r\nX: {long}\r\ncontent-length: {length}\r\n\r\n{body}"),
            format!(
                "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n\
                 {length:x};a=b\r\n{body}\r\n1\r\n\n\r\n0\r\nTrailer: x\r\n\r\n"
            ),
        ] {
            let text = format!("{head}{GET}");
            assert_eq!(refused_at(&text), None, "{text:?}");
            let next = format!("{head}GET / HTTP/1.1\n");
            assert_eq!(refused_at(&next), Some(next.len() - 1), "{next:?}");
        }
        let trailer = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\n\r\n";
        assert_eq!(refused_at(trailer), Some(trailer.len() - 3));
    }
}
