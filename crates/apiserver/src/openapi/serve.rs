//! Answers for documents: hashes, redirects, and what clients may keep.

use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, HeaderValue, IF_NONE_MATCH, LOCATION, VARY,
};
use http::{Response, StatusCode};
use json::{Object, json};
use meta::{Status, time::Time};

use super::cache::{self, WHOLE};
use crate::body::Body;
use crate::catalog::Catalog;
use crate::digest;
use crate::documents::{Request, accepts, page_not_found};
use crate::pipeline::Api;
use crate::respond;

const JSON: &str = "application/json";

/// A form that a document comes in: as clients ask for it, and as it is called in answers.
type Form = (&'static str, &'static str);

const V2: [Form; 3] = [
    (JSON, JSON),
    (
        "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    ),
    (
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    ),
];
const V3: [Form; 3] = [
    (JSON, JSON),
    (
        "application/com.github.proto-openapi.spec.v3@v1.0+protobuf",
        "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
    ),
    (
        "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
        "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
    ),
];

pub(crate) async fn answer(
    api: &Arc<Api>,
    request: &Request<'_>,
    rest: &[&str],
) -> Result<Response<Body>, Status> {
    let ask = Ask {
        hash: request.query.get("hash").map(str::to_owned),
        known: respond::text(request.headers, &IF_NONE_MATCH).map(str::to_owned),
        accept: accepts(request).to_owned(),
        catalog: api.catalog.load_full(),
    };
    // The trailing slash, which is not in `rest`, leads nowhere.
    let slash = request.path.ends_with('/');
    let (api, name) = (api.clone(), rest.get(1..).unwrap_or_default().join("/"));
    let version = rest.first().copied().unwrap_or_default();
    let work: Box<dyn FnOnce() -> Response<Body> + Send> = match (version, &*name) {
        ("v3", "") if !slash => Box::new(move || index(&api, &ask)),
        ("v3", _) if slash => return Ok(not_found()),
        ("v3", _) => Box::new(move || version3(&api, &ask, &name)),
        ("v2", "") if !slash => Box::new(move || version2(&api, &ask)),
        _ => return Ok(page_not_found()),
    };
    // Making a document takes milliseconds, and all of them many.
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Status::internal(error.to_string()))
}

struct Ask {
    hash: Option<String>,
    known: Option<String>,
    accept: String,
    catalog: Arc<Catalog>,
}

fn index(api: &Api, ask: &Ask) -> Response<Body> {
    let names = cache::names(&ask.catalog);
    let mut paths = Object::new();
    for name in &names {
        if let Some((etag, _)) = api.openapi.etag(&ask.catalog, name) {
            paths.push(name, json!({"serverRelativeURL": (url(name, &etag))}));
        }
    }
    api.openapi.retain(&names);
    let body = Bytes::from(json::to_vec(&json!({"paths": paths})));
    let etag = digest::etag(&body);
    tagged(ask, JSON, &etag, || Some(body))
}

fn version3(api: &Api, ask: &Ask, name: &str) -> Response<Body> {
    let Some(document) = Document::new(api, ask, name, &V3) else {
        return empty(StatusCode::NOT_ACCEPTABLE);
    };
    let Some(etag) = document.etag.clone() else {
        return not_found();
    };
    if let Some(hash) = &ask.hash
        && *hash != etag
    {
        let mut response = empty(StatusCode::MOVED_PERMANENTLY);
        let headers = response.headers_mut();
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static(document.content_type),
        );
        insert(headers, &LOCATION, &url(name, &etag));
        insert(headers, &ETAG, &format!("\"{etag}\""));
        return response;
    }
    let mut response = document.answer(ask, name);
    if ask.hash.is_some() {
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, immutable"));
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = since.map_or(0, |it| i64::try_from(it.as_secs()).unwrap_or_default());
        insert(headers, &EXPIRES, &http_date(now + 365 * 86_400));
    }
    response
}

fn version2(api: &Api, ask: &Ask) -> Response<Body> {
    match Document::new(api, ask, WHOLE, &V2) {
        None => empty(StatusCode::NOT_ACCEPTABLE),
        Some(document) => document.answer(ask, WHOLE),
    }
}

/// A document in the form that the client takes.
struct Document {
    content_type: &'static str,
    /// None if there is no such document.
    etag: Option<String>,
    /// Its JSON, if that had to be made to know the tag.
    bytes: Option<Bytes>,
}

impl Document {
    /// None if no form is acceptable.
    fn new(api: &Api, ask: &Ask, name: &str, forms: &[Form]) -> Option<Self> {
        let fits = |media: &str| forms.iter().find(|(known, _)| is(media, known));
        let (_, content_type) = media(&ask.accept).find_map(fits)?;
        let (etag, bytes) = api.openapi.etag(&ask.catalog, name).unzip();
        // All forms have one tag, as upstream has it: `Vary` keeps them apart.
        Some(Self {
            content_type,
            etag,
            bytes: bytes.flatten(),
        })
    }

    fn answer(self, ask: &Ask, name: &str) -> Response<Body> {
        let Some(etag) = &self.etag else {
            return not_found();
        };
        tagged(ask, self.content_type, etag, || {
            if self.content_type == JSON {
                self.bytes.or_else(|| cache::document(&ask.catalog, name))
            } else {
                cache::protobuf(&ask.catalog, name)
            }
        })
    }
}

/// The media types of an Accept header, best first.
fn media(accept: &str) -> impl Iterator<Item = &str> {
    let mut clauses: Vec<(f32, &str)> = Vec::new();
    for clause in accept.split(',').map(str::trim) {
        let mut parts = clause.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let quality = parts.find_map(|it| it.strip_prefix("q="));
        let quality: f32 = quality.and_then(|it| it.parse().ok()).unwrap_or(1.0);
        if !media.is_empty() {
            clauses.push((quality, media));
        }
    }
    if clauses.is_empty() {
        clauses.push((1.0, "*/*"));
    }
    let stars = |media: &str| media.matches('*').count();
    clauses.sort_by(|a, b| b.0.total_cmp(&a.0).then(stars(a.1).cmp(&stars(b.1))));
    clauses.into_iter().map(|(_, media)| media)
}

fn is(media: &str, known: &str) -> bool {
    media == known || media == "*/*" || media == "application/*"
}

fn url(name: &str, etag: &str) -> String {
    format!("/openapi/v3/{name}?hash={etag}")
}

/// Whoever has the bytes already gets none, and none are made.
fn tagged(
    ask: &Ask,
    content_type: &'static str,
    etag: &str,
    bytes: impl FnOnce() -> Option<Bytes>,
) -> Response<Body> {
    let quoted = format!("\"{etag}\"");
    let known = ask.known.as_deref().unwrap_or_default();
    let mut tags = known
        .split(',')
        .map(|it| it.trim().trim_start_matches("W/"));
    let mut response = if tags.any(|it| it == quoted || it == "*") {
        empty(StatusCode::NOT_MODIFIED)
    } else {
        match bytes() {
            Some(bytes) => respond::ok(content_type, bytes),
            None => return not_found(),
        }
    };
    insert(response.headers_mut(), &ETAG, &quoted);
    response
        .headers_mut()
        .insert(VARY, HeaderValue::from_static("Accept"));
    response
}

fn insert(headers: &mut http::HeaderMap, name: &http::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

fn not_found() -> Response<Body> {
    empty(StatusCode::NOT_FOUND)
}

fn empty(code: StatusCode) -> Response<Body> {
    let mut response = respond::with_code(code, JSON, Body::empty());
    let headers = response.headers_mut();
    headers.remove(CONTENT_TYPE);
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    response
}

/// As in `Tue, 16 Nov 2027 00:17:46 GMT`.
fn http_date(seconds: i64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    // 2027-11-16T00:17:46Z
    let time = Time::from_unix(seconds, 0).to_string();
    let part = |from: usize, to: usize| time.get(from..to).unwrap_or_default();
    let month = part(5, 7).parse::<usize>().unwrap_or(1).clamp(1, 12);
    let day = usize::try_from(seconds.div_euclid(86_400).rem_euclid(7)).unwrap_or_default();
    format!(
        "{}, {} {} {} {} GMT",
        DAYS[day],
        part(8, 10),
        MONTHS[month - 1],
        part(0, 4),
        part(11, 19)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_as_http_has_them() {
        assert_eq!(http_date(1_826_324_266), "Tue, 16 Nov 2027 00:17:46 GMT");
        assert_eq!(http_date(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
    }

    #[test]
    fn the_best_media_type_comes_first() {
        let all = |accept| media(accept).collect::<Vec<_>>();
        assert_eq!(all(""), ["*/*"]);
        assert_eq!(
            all("*/*, text/html;q=0.5, a/b"),
            ["a/b", "*/*", "text/html"]
        );
    }
}
