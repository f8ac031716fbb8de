//! `/debug/traces`: the traces that this server keeps, as a list, or one as OTLP has it.

use std::sync::Arc;

use http::header::ALLOW;
use http::{HeaderValue, Method, Response};
use json::{Value, json};
use meta::Status;
use meta::status::Reason;
use telemetry::context::TraceId;
use telemetry::recent::{Numbers, Query, Recent, Summary};
use tokio::sync::Mutex;

use crate::handler::respond;
use crate::handler::respond::page_not_found;
use crate::request::NonResourceRequest;
use crate::state::Api;
use crate::transport::body::Body;

const JSON: &str = "application/json";
const PROTOBUF: &str = "application/x-protobuf";

pub(crate) async fn answer(
    api: &Api,
    request: &NonResourceRequest<'_>,
    rest: &[&str],
) -> Result<Response<Body>, Status> {
    if !matches!(*request.method, Method::GET | Method::HEAD) {
        let mut response =
            respond::refused(&respond::not_allowed(), request.headers, request.query);
        let get = HeaderValue::from_static("GET, HEAD");
        response.headers_mut().insert(ALLOW, get);
        return Ok(response);
    }
    let recent = api.recent().cloned().ok_or_else(|| {
        not_found("no traces are kept: this server was started without --debug-traces")
    })?;
    match rest {
        [] => {
            let query = Query::parse(request.query.pairs());
            let query = query.map_err(|error| Status::bad_request(error.to_string()))?;
            let found = aside(recent, move |recent| list(recent, &query)).await?;
            Ok(respond::ok(JSON, found))
        }
        [id] => {
            let wrong = || {
                let id = meta::go::quote(id);
                Status::bad_request(format!("{id} is no trace id: it has 32 hexadecimal digits"))
            };
            let id = TraceId::parse(id.to_ascii_lowercase().as_bytes()).ok_or_else(wrong)?;
            let protobuf = request.accepts().split(',').any(|it| it.trim() == PROTOBUF);
            let found = aside(recent, move |recent| one(recent, id, protobuf)).await?;
            let none = || {
                not_found(&format!(
                    "no trace {id} is kept: it was not recorded, or it made room for newer ones"
                ))
            };
            let media = if protobuf { PROTOBUF } else { JSON };
            Ok(respond::ok(media, found.ok_or_else(none)?))
        }
        _ => Ok(page_not_found()),
    }
}

/// On a blocking thread, one at a time: a search reads all traces that are kept.
async fn aside<T: Send + 'static>(
    recent: Arc<Recent>,
    work: impl FnOnce(&Recent) -> T + Send + 'static,
) -> Result<T, Status> {
    static ONE: Mutex<()> = Mutex::const_new(());
    let _one = ONE.lock().await;
    let done = tokio::task::spawn_blocking(move || work(&recent)).await;
    done.map_err(|_| Status::internal("the search failed"))
}

fn list(recent: &Recent, query: &Query) -> Vec<u8> {
    let (found, matched) = recent.search(query);
    let traces: Vec<Value> = found.iter().map(Summary::to_value).collect();
    let list = json!({
        "traces": traces,
        "matched": (number(matched as u64)),
        "kept": (kept(recent.numbers())),
    });
    json::to_vec(&list)
}

fn kept(numbers: Numbers) -> Value {
    json!({
        "newest": (number(numbers.newest)),
        "errors": (number(numbers.errors)),
        "slowest": (number(numbers.slowest)),
        "evicted": (number(numbers.evicted)),
        "bytes": (number(numbers.bytes)),
        "capacityBytes": (number(numbers.capacity)),
    })
}

fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn one(recent: &Recent, id: TraceId, protobuf: bool) -> Option<Vec<u8>> {
    let found = recent.get(id)?;
    if protobuf {
        return Some(found.to_protobuf());
    }
    // What is kept was read before.
    found.to_value().ok().map(|it| json::to_vec(&it))
}

fn not_found(text: &str) -> Status {
    Status::failure(404, Reason::NotFound, text)
}
