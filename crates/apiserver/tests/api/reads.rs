//! Plain GET, LIST and WATCH parse no JSON: what is stored is sent as it is, with its resource version put in.

use apiserver::pipeline::Caller;
use auth::User;
use http::Request;
use http_body_util::BodyExt as _;

use crate::fixture::Fixture;

const KEY: &str = "/configmaps/n/broken";
const PATH: &str = "/api/v1/namespaces/n/configmaps";

/// Begins as canonical bytes do. No parser would take the rest.
fn broken(data: &str) -> String {
    let begin = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"broken","namespace":"n","uid":"u"}"#;
    format!("{begin},{data}")
}

/// With the resource version, as the server sends it.
fn sent(data: &str, revision: u64) -> String {
    let version = format!(r#""uid":"u","resourceVersion":"{revision}""#);
    broken(data).replace(r#""uid":"u""#, &version)
}

#[tokio::test]
async fn plain_reads_parse_no_json() {
    let fixture = Fixture::new();
    let store = fixture.api.store();
    let begun = store.create("/other", "").await.unwrap();
    let revision = store.create(KEY, broken("<one>")).await.unwrap();
    assert!(json::parse(broken("<one>").as_bytes()).is_err());

    let one = fixture
        .request("GET", &format!("{PATH}/broken"), &[], "")
        .await;
    assert_eq!(one.code, 200);
    assert_eq!(one.body, format!("{}\n", sent("<one>", revision)));

    let list = fixture.request("GET", PATH, &[], "").await;
    assert_eq!(list.code, 200);
    let text = String::from_utf8(list.body.to_vec()).unwrap();
    // Items of a list have no kind of their own.
    let item = sent("<one>", revision).replace(r#""kind":"ConfigMap","apiVersion":"v1","#, "");
    assert!(text.contains(&item), "{text}");

    let path = format!("{PATH}?watch=1&resourceVersion={begun}");
    let request = Request::builder().uri(path).body(()).unwrap();
    let (parts, ()) = request.into_parts();
    let caller = Caller::Local(User::new("admin", &["system:masters"]).into());
    let body = apiserver::incoming::RequestBody::Bytes(bytes::Bytes::new());
    let response = apiserver::pipeline::handle(&fixture.api, &caller, parts, body).await;
    let mut events = response.into_body();
    let second = store.update(KEY, broken("<two>"), revision).await.unwrap();
    let expected = format!(
        "{{\"type\":\"ADDED\",\"object\":{}}}\n{{\"type\":\"MODIFIED\",\"object\":{}}}\n",
        sent("<one>", revision),
        sent("<two>", second)
    );
    let mut seen = Vec::new();
    while seen.len() < expected.len() {
        let Ok(frame) = events.frame().await.expect("two events");
        seen.extend_from_slice(frame.data_ref().unwrap());
    }
    assert_eq!(String::from_utf8(seen).unwrap(), expected);

    // The same object in another form has to be read.
    let yaml = [("accept", "application/yaml")];
    let other = fixture
        .request("GET", &format!("{PATH}/broken"), &yaml, "")
        .await;
    assert_eq!(other.code, 500);
}
