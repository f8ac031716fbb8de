//! Answers for documents: hashes, redirects, and what clients may keep.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    LAST_MODIFIED, LOCATION, VARY,
};
use http::{Response, StatusCode};
use meta::{Status, time::Time};

use super::cache::{self, Cache, Document, WHOLE};
use crate::handler::respond;
use crate::handler::respond::page_not_found;
use crate::request::NonResourceRequest;
use crate::runtime::clock;
use crate::transport::body::Body;
use crate::transport::gzip;

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
    cache: &Arc<Cache>,
    request: &NonResourceRequest<'_>,
    rest: &[&str],
) -> Result<Response<Body>, Status> {
    // The trailing slash, which is not in `rest`, leads nowhere.
    let slash = request.path.ends_with('/');
    let name = rest.get(1..).unwrap_or_default().join("/");
    let version = rest.first().copied().unwrap_or_default();
    Ok(match (version, &*name) {
        ("v3", "") if !slash => index(cache, request).await,
        ("v3", _) if slash => not_found(),
        ("v3", name) => version3(cache, request, name).await,
        ("v2", "") if !slash => version2(cache, request).await,
        _ => page_not_found(),
    })
}

async fn index(cache: &Arc<Cache>, request: &NonResourceRequest<'_>) -> Response<Body> {
    let Some(index) = cache.index().await else {
        return failed();
    };
    if is_known(request, &index.etag, index.modified) {
        return not_modified(&index.etag);
    }
    let response = respond::ok(JSON, index.body.clone());
    described(response, &index.etag, index.modified)
}

async fn version3(
    cache: &Arc<Cache>,
    request: &NonResourceRequest<'_>,
    name: &str,
) -> Response<Body> {
    let Some(content_type) = form(request, &V3) else {
        return empty(StatusCode::NOT_ACCEPTABLE);
    };
    let Some(document) = cache.document(name).await else {
        return not_found();
    };
    let (etag, hash) = (&document.etag, request.query.get("hash"));
    if let Some(hash) = hash
        && *hash != **etag
    {
        let mut response = empty(StatusCode::MOVED_PERMANENTLY);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        insert(headers, &LOCATION, &cache::url(name, etag));
        insert(headers, &ETAG, &format!("\"{etag}\""));
        return response;
    }
    let mut response = shown(cache, request, name, &document, content_type).await;
    if hash.is_some() {
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, immutable"));
        insert(headers, &EXPIRES, &http_date(clock::unix() + 365 * 86_400));
    }
    response
}

async fn version2(cache: &Arc<Cache>, request: &NonResourceRequest<'_>) -> Response<Body> {
    let Some(content_type) = form(request, &V2) else {
        return empty(StatusCode::NOT_ACCEPTABLE);
    };
    match cache.document(WHOLE).await {
        Some(document) => shown(cache, request, WHOLE, &document, content_type).await,
        None => failed(),
    }
}

/// The best form that the client takes.
fn form(request: &NonResourceRequest<'_>, forms: &[Form]) -> Option<&'static str> {
    let fits = |media: &str| forms.iter().find(|(known, _)| is(media, known));
    let (_, content_type) = media(request.accepts()).find_map(fits)?;
    Some(content_type)
}

/// A document, compressed if the client accepts that; 304 if the client has it already.
async fn shown(
    cache: &Arc<Cache>,
    request: &NonResourceRequest<'_>,
    name: &str,
    document: &Arc<Document>,
    content_type: &'static str,
) -> Response<Body> {
    if is_known(request, &document.etag, document.modified) {
        return not_modified(&document.etag);
    }
    let form = if content_type == JSON {
        document.json.clone()
    } else {
        match cache.protobuf(name, document).await {
            Some(form) => form,
            None => return failed(),
        }
    };
    let is_packed = gzip::is_wanted(request.headers, form.packed.size);
    let bytes = if is_packed {
        form.packed.bytes.clone()
    } else {
        form.plain().await
    };
    let response = respond::ok(content_type, bytes);
    let mut response = described(response, &document.etag, document.modified);
    if is_packed {
        gzip::mark(&mut response);
    }
    response
}

/// Whether the client has it, by tag or, if it names none, by time, as Go's `ServeContent` decides.
fn is_known(request: &NonResourceRequest<'_>, etag: &str, modified: i64) -> bool {
    if let Some(known) = respond::text(request.headers, &IF_NONE_MATCH).filter(|it| !it.is_empty())
    {
        let quoted = format!("\"{etag}\"");
        let tags = known.split(',').map(str::trim);
        let mut tags = tags.map(|it| it.trim_start_matches("W/"));
        return tags.any(|it| it == quoted || it == "*");
    }
    let since = respond::text(request.headers, &IF_MODIFIED_SINCE);
    since
        .and_then(parse_http_date)
        .is_some_and(|it| modified <= it)
}

fn described(mut response: Response<Body>, etag: &str, modified: i64) -> Response<Body> {
    let headers = response.headers_mut();
    insert(headers, &ETAG, &format!("\"{etag}\""));
    insert(headers, &LAST_MODIFIED, &http_date(modified));
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    response
}

fn not_modified(etag: &str) -> Response<Body> {
    let mut response = empty(StatusCode::NOT_MODIFIED);
    insert(response.headers_mut(), &ETAG, &format!("\"{etag}\""));
    response
}

/// Its maker has panicked.
fn failed() -> Response<Body> {
    empty(StatusCode::INTERNAL_SERVER_ERROR)
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

/// Seconds since 1970; any of HTTP's three forms is taken, as by Go's `http.ParseTime`.
fn parse_http_date(text: &str) -> Option<i64> {
    let time = httpdate::parse_http_date(text).ok()?;
    Some(Time::from(time).unix_seconds())
}

/// As in `Tue, 16 Nov 2027 00:17:46 GMT`.
fn http_date(seconds: i64) -> String {
    let since = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + since)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_as_http_has_them() {
        assert_eq!(http_date(1_826_324_266), "Tue, 16 Nov 2027 00:17:46 GMT");
        assert_eq!(http_date(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
        for seconds in [0, 951_782_400, 1_826_324_266] {
            assert_eq!(parse_http_date(&http_date(seconds)), Some(seconds));
        }
        for text in [
            "",
            "now",
            "Tue, 29 Foo 2000 00:00:00 GMT",
            "Tue, 29 Feb 2000 00:00:00 CET",
        ] {
            assert_eq!(parse_http_date(text), None, "{text}");
        }
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
