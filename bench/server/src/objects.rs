//! Paths, bodies and requests.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, USER_AGENT};
use http::{Method, Request, Uri};
use http_body_util::Full;

pub(crate) const NAMESPACE: &str = "bench";
pub(crate) const NAMESPACES: &str = "/api/v1/namespaces";
pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/bench/configmaps";
pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

pub(crate) const JSON: &str = "application/json";
pub(crate) const MERGE_PATCH: &str = "application/merge-patch+json";
pub(crate) const APPLY: &str = "application/apply-patch+yaml";

pub(crate) fn namespace() -> Bytes {
    format!(r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{NAMESPACE}"}}}}"#)
        .into()
}

/// 1 KiB of data, a label.
pub(crate) fn config_map(name: &str, fill: &str) -> Bytes {
    let payload = fill.repeat(1024);
    format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","namespace":"{NAMESPACE}","labels":{{"app":"bench"}}}},"data":{{"payload":"{payload}"}}}}"#
    )
    .into()
}

/// A definition of `{plural}.bench.example.com`.
pub(crate) fn definition(plural: &str) -> Bytes {
    format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"{plural}.bench.example.com"}},
"spec":{{"group":"bench.example.com","scope":"Namespaced","names":{{"plural":"{plural}","singular":"{plural}1","kind":"Kind{plural}","listKind":"List{plural}"}},
"versions":[{{"name":"v1","served":true,"storage":true,"subresources":{{"status":{{}}}},"schema":{{"openAPIV3Schema":{{"type":"object","properties":{{
"spec":{{"type":"object","required":["size"],"properties":{{"size":{{"type":"integer","minimum":0}},"color":{{"type":"string","enum":["red","green"]}},
"payload":{{"type":"string"}},"items":{{"type":"array","items":{{"type":"string"}}}}}}}},
"status":{{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}}}}}}]}}}}"#
    )
    .into()
}

/// Where resources of a definition are.
pub(crate) fn custom_path(plural: &str) -> String {
    format!("/apis/bench.example.com/v1/namespaces/{NAMESPACE}/{plural}")
}

pub(crate) fn custom(plural: &str, number: usize, color: &str) -> Bytes {
    let payload = "x".repeat(1024);
    format!(
        r#"{{"apiVersion":"bench.example.com/v1","kind":"Kind{plural}","metadata":{{"name":"w{number}","namespace":"{NAMESPACE}"}},"spec":{{"size":{number},"color":"{color}","payload":"{payload}","items":["a","b","c"]}}}}"#
    )
    .into()
}

/// Of all requests with a body of this type.
pub(crate) fn headers(content_type: Option<&'static str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static("bench-server"));
    headers.insert(ACCEPT, HeaderValue::from_static(JSON));
    if let Some(content_type) = content_type {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    headers
}

pub(crate) fn request(
    method: &Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method.clone();
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    request
}

pub(crate) fn get(uri: Uri) -> Request<Full<Bytes>> {
    request(&Method::GET, uri, headers(None), Bytes::new())
}

pub(crate) fn post(uri: Uri, body: Bytes) -> Request<Full<Bytes>> {
    request(&Method::POST, uri, headers(Some(JSON)), body)
}
