//! Sends what waits: one request for all of it, one attempt, by one process at a time.

mod background;
mod bucket;
mod google;
mod otlp;
mod signature;

pub use self::background::send_in_background;

use std::time::{Duration, SystemTime};

use json::Value;
use telemetry::export::Signal;
use telemetry::metrics::delta::{Counter, Point, join};

use crate::document::document;
use crate::record::unix_seconds;
use crate::{Decision, Destination, Error, Invocation, Plan, Reason, decide, places};

/// How it went.
#[derive(Debug)]
pub enum Sent {
    /// So many payloads are where they should be.
    Payloads(usize),
    Nothing,
    /// Another process is at it.
    Busy,
    /// They stay here: there is no destination.
    Nowhere,
    Off(Reason),
}

/// What is in the spool may be sent: it got there because its user was told, or said where to. So this does not ask
/// again for a terminal.
pub fn send(invocation: &Invocation<'_>) -> Result<Sent, Error> {
    let invocation = &Invocation {
        interactive: true,
        ..*invocation
    };
    let plan = match decide(invocation) {
        Decision::On(plan) => plan,
        Decision::Off(why) => return Ok(Sent::Off(why)),
    };
    let Some(destination) = &plan.destination else {
        return Ok(Sent::Nowhere);
    };
    let spool = plan.spool(invocation);
    if !spool.exists() {
        return Ok(Sent::Nothing);
    }
    let Some(_lock) = spool.lock() else {
        return Ok(Sent::Busy);
    };
    let mut taken = spool.take(invocation.now);
    let documents = std::mem::take(&mut taken.documents);
    let count = documents.len();
    if count == 0 {
        // What cannot be read does not wait for company.
        spool.lose(taken.broken);
        taken.remove();
        return Ok(Sent::Nothing);
    }
    let lost = spool.lost();
    let request = request(documents, lost + taken.broken as u64, invocation.now);
    match deliver(destination, &plan, invocation, &request) {
        Ok(rejected) => {
            taken.remove();
            spool.succeeded(&request);
            spool.forgive(lost);
            if rejected > 0 {
                spool.lose(1);
            }
            Ok(Sent::Payloads(count))
        }
        Err(error @ Error::Refused(_)) => {
            spool.lose(count + taken.broken);
            taken.remove();
            spool.failed();
            Err(error)
        }
        Err(error) => {
            spool.failed();
            Err(error)
        }
    }
}

/// All that waits in one document, and how many have been lost.
pub(crate) fn request(mut documents: Vec<Value>, lost: u64, now: SystemTime) -> Value {
    if lost > 0 {
        let counter = Counter {
            name: "kustomize.usage.lost",
            description: "Payloads that were counted and could not be sent",
            unit: "{payload}",
            points: vec![Point {
                attributes: Vec::new(),
                count: lost,
            }],
        };
        documents.push(document(&[counter], unix_seconds(now)));
    }
    join(documents)
}

pub(crate) fn describe(
    destination: &Destination,
    plan: &Plan,
    invocation: &Invocation<'_>,
) -> String {
    match destination {
        Destination::Otlp => match otlp::target(plan, invocation) {
            Ok(target) => format!("otlp, {}", target.describe(Signal::Metrics)),
            Err(error) => error.to_string(),
        },
        other => other.to_string(),
    }
}

/// How many data points were rejected.
fn deliver(
    destination: &Destination,
    plan: &Plan,
    invocation: &Invocation<'_>,
    request: &Value,
) -> Result<u64, Error> {
    match destination {
        Destination::Otlp => otlp::export(otlp::target(plan, invocation)?, request),
        Destination::Contributors => otlp::export(otlp::contributors()?, request),
        Destination::File(directory) => {
            let later = |error: std::io::Error| Error::Later(error.to_string());
            let name = object_name(invocation.now)?.replace('/', "-");
            places::make_directory(directory).map_err(later)?;
            places::write(&directory.join(name), &json::to_vec(request)).map_err(later)?;
            Ok(0)
        }
        Destination::S3(bucket) => run(bucket::s3(bucket, invocation, request)),
        Destination::Gs(bucket) => run(bucket::gs(bucket, invocation, request)),
    }
}

fn run(work: impl Future<Output = Result<u64, Error>>) -> Result<u64, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::Later(error.to_string()))?;
    runtime.block_on(work)
}

/// For the connection and the answer of a bucket.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The day and a random number, which does not identify the sender.
fn object_name(now: SystemTime) -> Result<String, Error> {
    let mut random = [0; 16];
    aws_lc_rs::rand::fill(&mut random)
        .map_err(|_| Error::Later("there are no random numbers".into()))?;
    let time = timestamp(now);
    let number = u128::from_le_bytes(random);
    Ok(format!("{}/{number:032x}.json", &time[..8]))
}

/// As `20260102T030405Z`.
fn timestamp(now: SystemTime) -> String {
    let seconds = i64::try_from(unix_seconds(now)).unwrap_or_default();
    let time = meta::time::Time::from_unix(seconds, 0).to_string();
    time.replace(['-', ':'], "")
}
