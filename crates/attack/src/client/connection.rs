//! Requests one after the other on a connection that is kept.

use std::io::{self, BufReader, Write as _};

use super::{Answer, Client, Stream};

#[derive(Debug)]
pub struct Connection {
    client: Client,
    stream: Option<BufReader<Stream>>,
}

impl Connection {
    pub fn new(client: Client) -> Self {
        Self {
            client,
            stream: None,
        }
    }

    pub fn into_client(self) -> Client {
        self.client
    }

    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        kind: &str,
        body: &[u8],
    ) -> io::Result<Answer> {
        self.send_with(method, path, &format!("Content-Type: {kind}\r\n"), body)
    }

    /// With more lines in the head. A connection that the server has ended meanwhile is made anew, once.
    pub fn send_with(
        &mut self,
        method: &str,
        path: &str,
        headers: &str,
        body: &[u8],
    ) -> io::Result<Answer> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\n{}{headers}Content-Length: {}\r\n\r\n",
            self.client.authorization(),
            body.len()
        );
        let is_new = self.stream.is_none();
        match self.exchange(method, head.as_bytes(), body) {
            Err(error) if !is_new && is_end(&error) => self.exchange(method, head.as_bytes(), body),
            other => other,
        }
    }

    fn exchange(&mut self, method: &str, head: &[u8], body: &[u8]) -> io::Result<Answer> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => BufReader::new(self.client.connect()?),
        };
        let written = stream.get_mut().write_all(&[head, body].concat());
        // Also if it could not be written: the server may have refused it and hung up.
        let answer = Answer::read(&mut stream, method == "HEAD");
        let answer = match (answer, written) {
            (Err(_), Err(error)) => return Err(error),
            (answer, _) => answer?,
        };
        let closes = answer
            .header("connection")
            .is_some_and(|it| it.eq_ignore_ascii_case("close"));
        if !closes {
            self.stream = Some(stream);
        }
        Ok(answer)
    }
}

fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(
        error.kind(),
        BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof
    )
}
