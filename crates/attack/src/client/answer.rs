//! What came back.

use std::io::{self, Read};

use json::Value;

#[derive(Clone, Debug)]
pub struct Answer {
    pub code: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Null if it is none.
    pub fn json(&self) -> Value {
        json::parse(&self.body).unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        let found = lines.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    }

    /// Reads one answer, and leaves what follows. Answers of the kind `100 Continue` are passed over.
    pub(super) fn read(stream: &mut impl Read, without_body: bool) -> io::Result<Self> {
        let head = loop {
            let head = read_until(stream, b"\r\n\r\n")?;
            let head = String::from_utf8_lossy(&head).into_owned();
            if !head.starts_with("HTTP/1.1 1") {
                break head;
            }
        };
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let code = code.ok_or_else(|| io::Error::other(format!("not HTTP: {head}")))?;
        let mut answer = Self {
            code,
            head,
            body: Vec::new(),
        };
        if without_body || code == 204 || code == 304 {
            return Ok(answer);
        }
        if answer.header("transfer-encoding").is_some() {
            answer.body = read_chunks(stream)?;
        } else if let Some(length) = answer.header("content-length") {
            let length = length.parse().map_err(io::Error::other)?;
            answer.body = vec![0; length];
            stream.read_exact(&mut answer.body)?;
        } else {
            stream.read_to_end(&mut answer.body)?;
        }
        Ok(answer)
    }
}

/// Byte by byte: what follows belongs to somebody else. The stream below has a buffer.
fn read_until(stream: &mut impl Read, end: &[u8]) -> io::Result<Vec<u8>> {
    let mut found = Vec::new();
    while !found.ends_with(end) {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        found.push(byte[0]);
    }
    Ok(found)
}

fn read_chunks(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_until(stream, b"\r\n")?;
        let length = String::from_utf8_lossy(&line);
        let length = usize::from_str_radix(length.trim(), 16).map_err(io::Error::other)?;
        let from = body.len();
        body.resize(from + length, 0);
        stream.read_exact(&mut body[from..])?;
        read_until(stream, b"\r\n")?;
        if length == 0 {
            return Ok(body);
        }
    }
}
