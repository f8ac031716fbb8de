//! Lists of many at once: those that are the same share what they send, and no others do.

use apiserver::body::Body;
use apiserver::incoming::RequestBody;
use apiserver::pipeline::Caller;
use auth::User;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use json::{Value, json};
use testkit::server::Server;

use super::custom::{THINGS, thing, with_things};

/// Of each kind in each namespace: several pieces.
const COUNT: usize = 16;
const SIZE: usize = 24_000;
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const METADATA: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

fn maps(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps")
}

fn text(letter: &str) -> String {
    letter.repeat(SIZE)
}

/// Even, or odd.
fn letter(at: usize) -> &'static str {
    if at.is_multiple_of(2) { "e" } else { "o" }
}

fn large(name: &str, letter: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"is": letter}}, "data": {"text": (text(letter))}})
}

/// One kind in two namespaces and a custom one, at two versions. Names come before those that the server itself makes.
async fn with_many() -> Server {
    let server = with_things().await;
    let local = server.local();
    for namespace in ["ca", "cb"] {
        let made = json!({"metadata": {"name": namespace}});
        local.create("/api/v1/namespaces", &made).await.unwrap();
        for at in 0..COUNT {
            let made = large(&format!("{namespace}-{at:02}"), letter(at));
            local.create(&maps(namespace), &made).await.unwrap();
        }
    }
    for at in 0..COUNT {
        let made = thing(&format!("thing-{at:02}"), &json!({"text": (text("t"))}));
        local.create(THINGS, &made).await.unwrap();
    }
    server
}

/// An answer that has begun.
async fn begin(server: &Server, path: &str, accept: &str) -> Body {
    let request = http::Request::builder().uri(path).header("accept", accept);
    let (parts, ()) = request.body(()).expect("a request").into_parts();
    let caller = Caller::Local(User::new("admin", &["system:masters"]).into());
    let api = server.api().clone();
    let body = RequestBody::Bytes(Bytes::new());
    let response = apiserver::pipeline::handle(&api, &caller, parts, body).await;
    assert_eq!(response.status().as_u16(), 200, "{path}");
    response.into_body()
}

async fn piece(body: &mut Body) -> Option<Bytes> {
    let frame = body.frame().await?.expect("a piece");
    Some(frame.into_data().expect("no trailers"))
}

async fn rest(mut body: Body) -> Vec<Bytes> {
    let mut all = Vec::new();
    while let Some(piece) = piece(&mut body).await {
        all.push(piece);
    }
    all
}

fn read(pieces: &[Bytes]) -> Value {
    json::parse(&pieces.concat()).expect("a list")
}

/// Names, and the first letter of what each says. The server may make some, too.
fn said(list: &Value) -> Vec<(String, String)> {
    let items = list.get("items").and_then(Value::as_array).expect("items");
    let said = items.iter().filter_map(|item| {
        let text = item.str_at(&["data", "text"]);
        let text = text.or_else(|| item.str_at(&["spec", "text"]))?;
        let name = item.str_at(&["metadata", "name"])?;
        Some((name.to_owned(), text.get(..1)?.to_owned()))
    });
    said.collect()
}

fn revision(list: &Value) -> &str {
    list.str_at(&["metadata", "resourceVersion"])
        .expect("a version")
}

/// A past state: what is written meanwhile makes no other list of it.
async fn past(server: &Server) -> String {
    let list = server.local().get(&maps("ca")).await.unwrap();
    let made = json!({"metadata": {"name": "later"}});
    let made = server.local().create(&maps("default"), &made).await;
    made.unwrap();
    format!(
        "resourceVersionMatch=Exact&resourceVersion={}",
        revision(&list)
    )
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn the_same_lists_at_once_are_the_same_bytes() {
    let server = with_many().await;
    let exact = past(&server).await;
    for (path, count) in [
        (format!("{}?{exact}", maps("ca")), COUNT),
        (format!("{}?limit=14&{exact}", maps("ca")), 14),
        (format!("{THINGS}?{exact}"), COUNT),
    ] {
        let first = rest(begin(&server, &path, "application/json").await).await;
        let second = rest(begin(&server, &path, "application/json").await).await;
        assert!(first.len() > 2 && first == second, "{path}");
        let same = first.iter().zip(&second);
        assert!(same.clone().all(|(a, b)| a.as_ptr() == b.as_ptr()));
        assert_eq!(said(&read(&second)).len(), count);
        // Who begins when the first pieces are gone makes what is missing.
        let late = first[2..].to_vec();
        let whole = first.concat();
        drop((first, second));
        let third = rest(begin(&server, &path, "application/json").await).await;
        assert_eq!(third.concat(), whole, "{path}");
        drop(late);
    }
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn lists_that_differ_share_nothing() {
    let server = with_many().await;
    let exact = past(&server).await;
    let json = "application/json";
    let (one, two) = (maps("ca"), maps("cb"));
    let first = format!("{one}?limit=10&{exact}");
    let first = read(&rest(begin(&server, &first, json).await).await);
    let next = first.str_at(&["metadata", "continue"]).expect("more");
    let beta = THINGS.replace("/v1/", "/v1beta1/");
    let lists = [
        (format!("{one}?{exact}"), json),
        (format!("{two}?{exact}"), json),
        (format!("/api/v1/configmaps?{exact}"), json),
        (format!("{one}?limit=10&{exact}"), json),
        (format!("{one}?limit=11&{exact}"), json),
        (format!("{one}?limit=10&continue={next}"), json),
        (format!("{one}?limit=11&continue={next}"), json),
        (format!("{one}?labelSelector=is%3De&{exact}"), json),
        (format!("{one}?labelSelector=is%3Do&{exact}"), json),
        (format!("{one}?limit=10&labelSelector=is%3Do&{exact}"), json),
        (
            format!("{one}?fieldSelector=metadata.name!%3Dca-03&{exact}"),
            json,
        ),
        (format!("{one}?pretty=true&{exact}"), json),
        (format!("{one}?{exact}"), TABLE),
        (format!("{one}?includeObject=Object&{exact}"), TABLE),
        (format!("{one}?{exact}"), METADATA),
        (format!("{one}?{exact}"), "application/yaml"),
        (
            format!("{one}?{exact}"),
            "application/vnd.kubernetes.protobuf",
        ),
        (format!("{THINGS}?{exact}"), json),
        (format!("{beta}?{exact}"), json),
    ];
    // A piece of each in turn, twice each: all are under way at once.
    let mut under_way = Vec::new();
    for (path, accept) in lists.iter().chain(&lists) {
        let body = begin(&server, path, accept).await;
        under_way.push((path, accept, body, Vec::new(), false));
    }
    while under_way.iter().any(|it| !it.4) {
        for (_, _, body, pieces, is_done) in &mut under_way {
            match piece(body).await {
                Some(piece) => pieces.push(piece),
                None => *is_done = true,
            }
        }
    }
    let half = under_way.split_off(lists.len());
    for ((path, accept, _, pieces, _), other) in under_way.iter().zip(&half) {
        if **accept == TABLE {
            // Ages go on.
            assert_eq!(read(pieces).str_at(&["kind"]), Some("Table"));
            continue;
        }
        let same = pieces.concat() == other.3.concat();
        assert!(same, "{path} {accept}");
        if **accept != json {
            continue;
        }
        let list = read(pieces);
        let all = |what: &'static str| (0..COUNT).map(move |at| format!("{what}-{at:02}"));
        let mut want: Vec<String> = match &**path {
            path if path.contains("things") => all("thing").collect(),
            path if path.starts_with("/api/v1/configmaps") => all("ca").chain(all("cb")).collect(),
            path if path.starts_with(&two) => all("cb").collect(),
            _ => all("ca").collect(),
        };
        let is =
            |name: &str, rest: usize| name[name.len() - 2..].parse::<usize>().unwrap() % 2 == rest;
        if path.contains("%3De") {
            want.retain(|it| is(it, 0));
        } else if path.contains("is%3Do") {
            want.retain(|it| is(it, 1));
        } else if path.contains("fieldSelector") {
            want.retain(|it| it != "ca-03");
        }
        if path.contains("continue=") {
            want.drain(..10);
        }
        for limit in [10, 11] {
            if path.contains(&format!("limit={limit}")) {
                want.truncate(limit);
            }
        }
        let names: Vec<String> = said(&list).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, want, "{path}");
        for item in list.get("items").and_then(Value::as_array).unwrap() {
            let version = path.contains("things").then(|| {
                let beta = path.contains("v1beta1");
                if beta {
                    "example.com/v1beta1"
                } else {
                    "example.com/v1"
                }
            });
            assert_eq!(item.str_at(&["apiVersion"]), version, "{path}");
        }
    }
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn a_list_is_of_one_state_whatever_is_written_meanwhile() {
    let server = with_many().await;
    let local = server.local();
    let path = maps("ca");
    let mut old = begin(&server, &path, "application/json").await;
    let first = piece(&mut old).await.expect("a piece");
    let mut changed = large("ca-15", "n");
    local
        .update(&format!("{path}/ca-15"), &changed)
        .await
        .unwrap();
    changed = large("ca-99", "n");
    local.create(&path, &changed).await.unwrap();
    local
        .delete(&format!("{path}/ca-00"), &json!({}))
        .await
        .unwrap();
    let new = read(&rest(begin(&server, &path, "application/json").await).await);
    let mut pieces = vec![first];
    pieces.extend(rest(old).await);
    let old = read(&pieces);
    assert_ne!(revision(&old), revision(&new));
    let pair = |at: usize, letter: &str| (format!("ca-{at:02}"), letter.to_owned());
    let mut want: Vec<_> = (0..COUNT).map(|at| pair(at, letter(at))).collect();
    assert_eq!(said(&old), want);
    want.remove(0);
    want[COUNT - 2] = pair(15, "n");
    want.push(pair(99, "n"));
    assert_eq!(said(&new), want);
}

/// The memory of what a fast one has taken is used again; a slow one makes what it needs.
#[testkit::requires(test_store)]
#[tokio::test]
async fn nobody_waits_for_a_slow_one_nor_does_it_lose_anything() {
    let server = with_many().await;
    let exact = past(&server).await;
    let path = format!("{}?{exact}", maps("ca"));
    let mut slow = begin(&server, &path, "application/json").await;
    let mut pieces = vec![piece(&mut slow).await.expect("a piece")];
    let whole = rest(begin(&server, &path, "application/json").await)
        .await
        .concat();
    for other in [maps("cb"), THINGS.to_owned()] {
        let other = rest(begin(&server, &other, "application/json").await).await;
        assert_ne!(other.concat(), whole);
    }
    pieces.extend(rest(slow).await);
    assert_eq!(pieces.concat(), whole);
}
