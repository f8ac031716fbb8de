//! Connections that are kept for the next request.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyper::body::Body;

use super::Connection;

/// Idle connections to one server.
#[derive(Debug)]
pub struct Pool<B> {
    idle: Mutex<Vec<(Connection<B>, Instant)>>,
    most: usize,
    age: Duration,
}

impl<B> Pool<B>
where
    B: Body + Unpin + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    /// Keeps at most `most` connections, each for at most `age`.
    pub fn new(most: usize, age: Duration) -> Self {
        Self {
            idle: Mutex::default(),
            most,
            age,
        }
    }

    /// The one that was used last, if it is still open.
    pub fn take(&self) -> Option<Connection<B>> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(it, since)| it.is_open() && since.elapsed() < self.age);
        idle.pop().map(|(connection, _)| connection)
    }

    /// Keeps a connection whose last answer was read to its end.
    pub fn keep(&self, connection: Connection<B>) {
        if !connection.is_open() {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < self.most {
            idle.push((connection, Instant::now()));
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http_body_util::Full;

    use super::*;
    use crate::http::Version;

    #[tokio::test]
    async fn a_few_are_kept_while_they_are_open_and_young() {
        let pool: Pool<Full<Bytes>> = Pool::new(2, Duration::from_secs(60));
        let mut ends = Vec::new();
        for _ in 0..3 {
            let (here, there) = tokio::io::duplex(1024);
            pool.keep(Connection::over(Version::Http1, here).await.unwrap());
            ends.push(there);
        }
        drop(ends.pop());
        let first = pool.take().expect("two were kept");
        // The other end of the one that is left goes away.
        ends.remove(0);
        while pool.idle.lock().unwrap()[0].0.is_open() {
            tokio::task::yield_now().await;
        }
        assert!(pool.take().is_none());
        pool.keep(first);
        let old: Pool<Full<Bytes>> = Pool::new(2, Duration::ZERO);
        old.keep(pool.take().expect("it was kept"));
        assert!(old.take().is_none());
    }
}
