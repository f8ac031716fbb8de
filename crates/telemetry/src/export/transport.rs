//! Sends messages to a collector, one at a time, again and again where that may help.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use egress::http::SendError;
use http::header::{HeaderValue, USER_AGENT};
use http::{Request, Response};
use hyper::body::Incoming;
use tokio::sync::watch;
use tokio::time::Instant;

use super::connection::Connection;
use super::message::{Message, Pieces};
use super::retry::{Again, Failure, Pauses};
use super::{Protocol, Signal, Target, grpc, http as otlp_http};
use crate::protobuf;

/// The most that a collector may answer.
pub(super) const MAX_ANSWER: usize = 4 << 20;
/// As Go says it.
const LATE: &str = "context deadline exceeded";
/// Of what a collector says, in errors.
const MAX_TEXT: usize = 300;

/// Finds a Service: namespace, name and port to a host and a port.
pub type Resolve = Arc<dyn Fn(&str, &str, u16) -> Result<(String, u16), String> + Send + Sync>;

/// When all must be over, once that is known.
pub(super) type Stop = watch::Receiver<Option<Instant>>;

/// What became of the items of one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The collector has them.
    pub accepted: u64,
    /// It does not, or nobody knows.
    pub rejected: u64,
    /// Why, or what it had to say besides.
    pub said: Option<String>,
    pub end: End,
}

/// What became of a message as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// The collector read it, whatever it did not take of it.
    #[default]
    Taken,
    /// It did not get there, or the collector was busy: another time it may.
    Lost,
    /// The same would be refused again.
    Refused,
}

impl Outcome {
    fn failed(items: u64, said: String, end: End) -> Self {
        Self {
            accepted: 0,
            rejected: items,
            said: Some(said),
            end,
        }
    }
}

/// Sends to one collector, which may be replaced by another at any time. Connects when there is something to send.
pub struct Transport {
    target: Mutex<Arc<Target>>,
    /// With the target that it leads to.
    connection: tokio::sync::Mutex<Option<(Arc<Target>, Connection)>>,
    resolve: OnceLock<Resolve>,
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Transport").field(&self.target()).finish()
    }
}

impl Transport {
    pub fn new(target: Target) -> Self {
        Self {
            target: Mutex::new(Arc::new(target)),
            connection: tokio::sync::Mutex::default(),
            resolve: OnceLock::new(),
        }
    }

    pub fn target(&self) -> Arc<Target> {
        let target = self.target.lock();
        target.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Holds from the next attempt on.
    pub fn replace(&self, target: Target) {
        let mut place = self.target.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Arc::new(target);
    }

    /// How Services are found; whoever says so first counts.
    pub fn resolve_services(&self, resolve: Resolve) {
        let _ = self.resolve.set(resolve);
    }

    /// Sends a message with so many items in it, for at most `patience`.
    pub async fn send(
        &self,
        signal: Signal,
        message: Bytes,
        items: u64,
        patience: Duration,
    ) -> Outcome {
        let (_never, stop) = watch::channel(None);
        let message = message.into();
        let sent = self.send_until(stop, signal, &message, items, patience);
        sent.await
    }

    /// The same, but once `stop` says when all must be over, what fails is not tried again.
    pub(super) async fn send_until(
        &self,
        mut stop: Stop,
        signal: Signal,
        message: &Message,
        items: u64,
        patience: Duration,
    ) -> Outcome {
        let end = Instant::now() + patience;
        // Any number will do.
        let mut pauses = Pauses::new(u32::try_from(message.len()).unwrap_or_default());
        loop {
            let failure = match self.within(signal, message, end, &mut stop).await {
                Ok(answer) => return accepted(&answer, items),
                Err(failure) => failure,
            };
            let pause = failure.again.pause(&mut pauses);
            let next = pause.and_then(|it| Instant::now().checked_add(it));
            let stopping = stop.borrow().is_some();
            let Some(next) = next.filter(|it| *it < end && !stopping) else {
                let end = match failure.again {
                    Again::Never => End::Refused,
                    Again::Sometime | Again::After(_) => End::Lost,
                };
                return Outcome::failed(items, failure.text, end);
            };
            tokio::select! {
                () = tokio::time::sleep_until(next) => {}
                // One last attempt.
                () = stopped(&mut stop) => {}
            }
        }
    }

    /// One attempt, which ends when its own time, that of the message, or all time is over.
    async fn within(
        &self,
        signal: Signal,
        message: &Message,
        end: Instant,
        stop: &mut Stop,
    ) -> Result<Bytes, Failure> {
        let target = self.target();
        let timeout = target.timeout;
        let end = end.min(Instant::now() + timeout);
        let attempt = self.attempt(target, signal, message);
        let over = async {
            stopped(stop).await;
            let at = *stop.borrow();
            match at {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        // An attempt that is broken off takes its connection with it.
        tokio::select! {
            done = attempt => done,
            () = tokio::time::sleep_until(end) => Err(Failure::lost(LATE)),
            () = over => Err(Failure::lost(LATE)),
        }
    }

    async fn attempt(
        &self,
        target: Arc<Target>,
        signal: Signal,
        message: &Message,
    ) -> Result<Bytes, Failure> {
        let mut place = self.connection.lock().await;
        let kept = place.take();
        let kept = kept.filter(|(to, it)| Arc::ptr_eq(to, &target) && it.is_open());
        if let Some((_, mut connection)) = kept {
            let sent = connection.send(request(&target, signal, message)?).await;
            // If it was closed while nobody looked, nothing was sent: a new one will do.
            if !sent.as_ref().is_err_and(SendError::was_not_sent) {
                let answer = answer(target.protocol, sent).await;
                connection.end();
                *place = Some((target, connection));
                return answer;
            }
        }
        let opened = Connection::open(&target, self.resolve.get()).await;
        let mut connection = opened.map_err(Failure::lost)?;
        let sent = connection.send(request(&target, signal, message)?).await;
        let answer = answer(target.protocol, sent).await;
        connection.end();
        *place = Some((target, connection));
        answer
    }
}

fn request(target: &Target, signal: Signal, message: &Message) -> Result<Request<Pieces>, Failure> {
    let request = match target.protocol {
        Protocol::Grpc => grpc::request(target, signal, message),
        Protocol::HttpProtobuf => otlp_http::request(target, signal, message),
    };
    let mut request = request.map_err(|error| Failure::refused(error.to_string()))?;
    let headers = request.headers_mut();
    headers.insert(USER_AGENT, HeaderValue::from_static("pilothouse"));
    for (name, value) in &target.headers {
        headers.insert(name, value.clone());
    }
    Ok(request)
}

async fn answer(
    protocol: Protocol,
    sent: Result<Response<Incoming>, SendError>,
) -> Result<Bytes, Failure> {
    let response = sent.map_err(|error| Failure::lost(causes(&error)))?;
    match protocol {
        Protocol::Grpc => grpc::answer(response).await,
        Protocol::HttpProtobuf => otlp_http::answer(response).await,
    }
}

/// With what is behind it: what hyper says alone is of little help.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let all = std::iter::successors(Some(error), |it| it.source());
    let texts: Vec<_> = all.map(ToString::to_string).collect();
    shortened(&texts.join(": "))
}

/// Comes back when it is known when all must be over.
async fn stopped(stop: &mut Stop) {
    if stop.wait_for(Option::is_some).await.is_err() {
        // Nobody is left to say so.
        std::future::pending::<()>().await;
    }
}

/// An `Export…ServiceResponse`: `partial_success` tells how many were not taken, in all signals alike.
fn accepted(answer: &[u8], items: u64) -> Outcome {
    let partial = protobuf::bytes_at(answer, 1).unwrap_or_default();
    // A negative number, large here, says nothing.
    let rejected = i64::try_from(protobuf::number_at(partial, 1)).unwrap_or(0);
    let rejected = rejected.unsigned_abs().min(items);
    let said = protobuf::bytes_at(partial, 2).unwrap_or_default();
    let said = String::from_utf8_lossy(said);
    Outcome {
        accepted: items - rejected,
        rejected,
        said: (!said.is_empty()).then(|| shortened(&said)),
        end: End::Taken,
    }
}

pub(super) fn shortened(text: &str) -> String {
    let printable = |it: char| if it.is_control() { ' ' } else { it };
    text.chars().take(MAX_TEXT).map(printable).collect()
}

/// One attempt to send one message to one collector, for who then ends. Blocks, for at most `timeout`.
pub fn send_once(
    target: Target,
    signal: Signal,
    message: Vec<u8>,
    items: u64,
    timeout: Duration,
) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            return Outcome::failed(items, error.to_string(), End::Lost);
        }
    };
    let transport = Transport::new(target);
    let message = Bytes::from(message).into();
    // What is about to end tries once.
    let (_sender, stop) = watch::channel(Some(Instant::now() + timeout));
    let outcome = runtime.block_on(transport.send_until(stop, signal, &message, items, timeout));
    // A name that is still being looked up does not hold up the caller.
    runtime.shutdown_background();
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_success() {
        let answer = |rejected, said: &str| {
            let mut answer = protobuf::Message::default();
            answer.message(1, |partial| {
                partial.number(1, rejected);
                partial.text(2, said);
            });
            answer.0
        };
        let most = answer(u64::MAX, "");
        let answer = answer(3, "too\nold");
        let outcome = accepted(&answer, 10);
        assert_eq!((outcome.accepted, outcome.rejected), (7, 3));
        assert_eq!(outcome.said.as_deref(), Some("too old"));
        assert_eq!(accepted(&answer, 2).rejected, 2);
        assert_eq!(accepted(b"", 2).accepted, 2);
        assert_eq!(accepted(&most, 2).rejected, 0);
    }
}
