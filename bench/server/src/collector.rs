//! A collector for the row `trace`, as a process of its own: takes traces by OTLP over gRPC as fast as they come, and counts
//! their spans.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use bytes::{Buf as _, Bytes};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::process::{Process, said};

const PATIENCE: Duration = Duration::from_secs(30);
const LISTENS: &str = "listens at ";
const COUNTED: &str = "spans: ";

/// A running one. Ends with this value.
#[derive(Debug)]
pub(crate) struct Collector {
    process: Process,
    log: PathBuf,
    pub(crate) address: SocketAddr,
}

impl Collector {
    pub(crate) async fn start(dir: &Path) -> Result<Self> {
        let log = dir.join("collector.log");
        let mut command = Command::new(std::env::current_exe()?);
        let mut process = Process::start("collector", command.arg("--collector"), &log)?;
        let begin = Instant::now();
        loop {
            if let Some(address) = said(&log, LISTENS)? {
                let address = address.parse().context("the collector's address")?;
                return Ok(Self {
                    process,
                    log,
                    address,
                });
            }
            process.alive()?;
            ensure!(begin.elapsed() < PATIENCE, "the collector does not start");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// How many spans it took in all.
    pub(crate) async fn stop(self) -> Result<u64> {
        self.process.stop().await?;
        let count = said(&self.log, COUNTED)?;
        let count = count.context("the collector did not say what it took")?;
        count.parse().context("the collector's count")
    }
}

/// The process itself, until it is told to end.
pub(crate) async fn run() -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("{LISTENS}{}", listener.local_addr()?);
    let spans = Arc::new(AtomicU64::new(0));
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => accepted?,
            _ = terminate.recv() => break,
        };
        stream.set_nodelay(true)?;
        let spans = spans.clone();
        let service = service_fn(move |request| {
            let spans = spans.clone();
            async move {
                let taken = take(request).await;
                if let Ok(count) = taken {
                    spans.fetch_add(count, Ordering::Relaxed);
                }
                Ok::<_, Infallible>(answer(taken.is_ok()))
            }
        });
        let server = http2::Builder::new(TokioExecutor::new());
        // A sender that goes away is no business of ours.
        tokio::spawn(server.serve_connection(TokioIo::new(stream), service));
    }
    println!("{COUNTED}{}", spans.load(Ordering::Relaxed));
    Ok(())
}

async fn take(request: Request<Incoming>) -> Result<u64> {
    let body = request.into_body().collect().await?.to_bytes();
    let message = body.get(5..).context("no message")?;
    count(message)
}

fn answer(is_taken: bool) -> Response<impl Body<Data = Bytes, Error = Infallible>> {
    let mut trailers = HeaderMap::new();
    let status = HeaderValue::from_static(if is_taken { "0" } else { "3" });
    trailers.insert("grpc-status", status);
    let message = Full::new(Bytes::from_static(&[0; 5]));
    let body = message.with_trailers(std::future::ready(Some(Ok(trailers))));
    let mut response = Response::new(body);
    let kind = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert("content-type", kind);
    response
}

/// The spans of an `ExportTraceServiceRequest`, each of which must have a trace id and a span id.
fn count(request: &[u8]) -> Result<u64> {
    let mut count = 0;
    each(request, 1, &mut |resource_spans| {
        each(resource_spans, 2, &mut |scope_spans| {
            each(scope_spans, 2, &mut |span| {
                let mut ids = [0; 2];
                each(span, 1, &mut |id| Ok(ids[0] = id.len()))?;
                each(span, 2, &mut |id| Ok(ids[1] = id.len()))?;
                ensure!(ids == [16, 8], "a span without ids");
                count += 1;
                Ok(())
            })
        })
    })?;
    Ok(count)
}

/// Each field of a number that has a length.
fn each(mut message: &[u8], number: u64, found: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    while message.has_remaining() {
        let key = varint(&mut message)?;
        let length = match key & 7 {
            0 => {
                varint(&mut message)?;
                continue;
            }
            1 => 8,
            2 => usize::try_from(varint(&mut message)?)?,
            5 => 4,
            form => bail!("wire type {form}"),
        };
        let (field, rest) = message.split_at_checked(length).context("cut off")?;
        message = rest;
        if key == number << 3 | 2 {
            found(field)?;
        }
    }
    Ok(())
}

fn varint(message: &mut &[u8]) -> Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = message.try_get_u8()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    bail!("a number without end")
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn spans_are_counted_where_they_are() {
        let mut span = vec![0x0a, 16];
        span.extend([7; 16]);
        span.extend([0x12, 8]);
        span.extend([7; 8]);
        let within = |field: u8, message: &[u8]| {
            let length = u8::try_from(message.len()).unwrap();
            [&[field << 3 | 2, length][..], message].concat()
        };
        let scope = [within(1, b""), within(2, &span), within(2, &span)].concat();
        let resource = [within(1, b""), within(2, &scope)].concat();
        let request = [within(1, &resource), within(1, b"")].concat();
        assert_eq!(count(&request).unwrap(), 2);
        assert_eq!(count(b"").unwrap(), 0);
        assert!(count(&request[..9]).is_err());
        let nameless = within(1, &within(2, &within(2, b"")));
        assert!(count(&nameless).is_err());
    }
}
