//! What `/metrics` shows after some work: Kubernetes' names, types, labels and buckets, and its values of labels.

#[path = "metrics/objects.rs"]
mod objects;
#[path = "metrics/parse.rs"]
mod parse;
#[path = "metrics/prometheus.rs"]
mod prometheus;
#[path = "metrics/upstream.rs"]
mod upstream;
#[path = "world/world.rs"]
mod world;

use apiserver::incoming::RequestBody;
use apiserver::pipeline::Caller;
use auth::User;
use http_body_util::BodyExt as _;
use json::json;
use testkit::server::Server;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

/// Asks as an admin; the answer's code, type and text.
async fn ask(
    server: &Server,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, String, String) {
    ask_as(server, "admin", method, path, headers, body).await
}

async fn ask_as(
    server: &Server,
    user: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, String, String) {
    let mut request = http::Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, ()) = request.body(()).expect("a request").into_parts();
    let groups: &[&str] = if user == "admin" {
        &["system:masters"]
    } else {
        &[]
    };
    let caller = Caller::Local(User::new(user, groups).into());
    let body = RequestBody::Bytes(body.to_owned().into());
    let response = apiserver::pipeline::handle(server.api(), &caller, parts, body).await;
    let code = response.status().as_u16();
    let media = response.headers().get("content-type");
    let media = media.map_or("", |it| it.to_str().expect("text")).to_owned();
    let Ok(body) = response.into_body().collect().await;
    let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
    (code, media, text)
}

async fn text(server: &Server) -> String {
    let (code, media, text) = ask(server, "GET", "/metrics", &[], "").await;
    assert_eq!(
        (code, &*media),
        (200, "text/plain; version=0.0.4; charset=utf-8")
    );
    text
}

const JSON: (&str, &str) = ("content-type", "application/json");

/// A little of everything.
async fn work(server: &Server) {
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}});
    let map = json::to_string(&map);
    let one = format!("{MAPS}/a");
    let code = |(code, ..): (u16, String, String)| code;
    assert_eq!(code(ask(server, "POST", MAPS, &[JSON], &map).await), 201);
    assert_eq!(code(ask(server, "POST", MAPS, &[JSON], &map).await), 409);
    let dry = format!("{MAPS}?dryRun=All");
    assert_eq!(code(ask(server, "POST", &dry, &[JSON], &map).await), 409);
    let dry = format!("{MAPS}?dryRun=Some");
    assert_eq!(code(ask(server, "POST", &dry, &[JSON], &map).await), 422);
    assert_eq!(code(ask(server, "GET", &one, &[], "").await), 200);
    assert_eq!(
        code(ask(server, "GET", &format!("{MAPS}/b"), &[], "").await),
        404
    );
    assert_eq!(code(ask(server, "GET", MAPS, &[], "").await), 200);
    assert_eq!(
        code(ask(server, "GET", "/api/v1/configmaps", &[], "").await),
        200
    );
    assert_eq!(code(ask(server, "PUT", &one, &[JSON], &map).await), 200);
    let merge = ("content-type", "application/merge-patch+json");
    assert_eq!(code(ask(server, "PATCH", &one, &[merge], "{}").await), 200);
    let apply = ("content-type", "application/apply-patch+yaml");
    let applied = format!("{one}?fieldManager=test&force=true");
    assert_eq!(
        code(ask(server, "PATCH", &applied, &[apply], &map).await),
        200
    );
    let mut watch = server
        .local()
        .watch(&format!("{MAPS}?watch=true"))
        .await
        .expect("a watch");
    assert_eq!(watch.next().await.expect("an event").0, "ADDED");
    drop(watch);
    assert_eq!(code(ask(server, "DELETE", &one, &[], "").await), 200);
    assert_eq!(code(ask(server, "DELETE", MAPS, &[], "").await), 200);
    let status = format!("{DEPLOYMENTS}/x/status");
    assert_eq!(
        code(ask(server, "PATCH", &status, &[merge], "{}").await),
        404
    );
    // Nobody handles these, and their words must not become labels.
    assert_eq!(
        code(ask(server, "GET", &format!("{one}/madeup"), &[], "").await),
        404
    );
    assert_eq!(code(ask(server, "OPTIONS", &one, &[], "").await), 405);
    assert_eq!(code(ask(server, "GET", "/madeup", &[], "").await), 404);
    assert_eq!(
        code(ask(server, "GET", "/apis/made.up/v1/things", &[], "").await),
        404
    );
    assert_eq!(
        code(ask_as(server, "mallory", "GET", MAPS, &[], "").await),
        403
    );
    // Whom RBAC allows it, and something that is on its way out.
    let scheduler = "system:kube-scheduler";
    assert_eq!(
        code(ask_as(server, scheduler, "GET", "/api/v1/pods", &[], "").await),
        200
    );
    assert_eq!(
        code(ask(server, "GET", "/api/v1/endpoints", &[], "").await),
        200
    );
    assert_eq!(code(ask(server, "GET", "/readyz", &[], "").await), 200);
    assert_eq!(code(ask(server, "GET", "/openapi/v3", &[], "").await), 200);
    let aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    assert_eq!(
        code(ask(server, "GET", "/apis", &[("accept", aggregated)], "").await),
        200
    );
    assert_eq!(code(ask(server, "GET", "/apis", &[], "").await), 200);
}

/// The same requests to a kube-apiserver 1.37 are counted under the same labels.
#[tokio::test]
async fn labels_have_the_values_that_upstream_gives_them() {
    let server = Server::start().await;
    work(&server).await;
    let text = text(&server).await;
    // Controllers ask, too: at least so many.
    let total = |labels: &str, count: u32| {
        let series = format!("apiserver_request_total{{{labels}}} ");
        let found = text.lines().find_map(|it| it.strip_prefix(&series));
        let found = found.and_then(|it| it.parse::<u32>().ok());
        let all: Vec<_> = text
            .lines()
            .filter(|it| it.starts_with("apiserver_request_total"))
            .collect();
        assert!(
            found.is_some_and(|it| it >= count),
            "{series}{count} is not in\n{}",
            all.join("\n")
        );
    };
    let maps = |code: u16, dry_run: &str, scope: &str, verb: &str, count| {
        total(
            &format!(
                "code=\"{code}\",component=\"apiserver\",dry_run=\"{dry_run}\",group=\"\",resource=\"configmaps\",scope=\"{scope}\",subresource=\"\",verb=\"{verb}\",version=\"v1\""
            ),
            count,
        );
    };
    maps(409, "", "resource", "POST", 1);
    maps(409, "All", "resource", "POST", 1);
    maps(422, "invalid", "resource", "POST", 1);
    maps(200, "", "resource", "GET", 1);
    maps(200, "", "namespace", "LIST", 1);
    maps(200, "", "namespace", "WATCH", 1);
    maps(200, "", "resource", "PUT", 1);
    maps(200, "", "resource", "PATCH", 1);
    maps(200, "", "resource", "DELETE", 1);
    maps(200, "", "namespace", "DELETE", 1);
    let other = |component: &str, subresource: &str| {
        total(
            &format!(
                "code=\"200\",component=\"{component}\",dry_run=\"\",group=\"\",resource=\"\",scope=\"\",subresource=\"{subresource}\",verb=\"GET\",version=\"\""
            ),
            1,
        );
    };
    other("", "/readyz");
    other("", "openapi/v3");
    other("apiserver", "apis");
    total(
        "code=\"404\",component=\"apiserver\",dry_run=\"\",group=\"apps\",resource=\"deployments\",scope=\"resource\",subresource=\"status\",verb=\"PATCH\",version=\"v1\"",
        1,
    );
    for line in text.lines() {
        let words = ["madeup", "made.up", "mallory"];
        assert!(!words.iter().any(|it| line.contains(it)), "{line}");
    }
    let has = |line: &str| assert!(text.contains(line), "{line} is not in\n{text}");
    has("authorization_attempts_total{result=\"no-opinion\"} 1");
    has("apiserver_watch_events_total{group=\"\",resource=\"configmaps\",version=\"v1\"} ");
    has("etcd_requests_total{group=\"\",operation=\"delete\",resource=\"configmaps\"} ");
    has(
        "apiserver_admission_controller_admission_duration_seconds_count{name=\"NamespaceLifecycle\",operation=\"CREATE\",rejected=\"false\",type=\"admit\"} ",
    );
    has("workqueue_adds_total{name=\"namespace\"} ");
    has("apiserver_resource_objects{group=\"apps\",resource=\"deployments\"} 0\n");
    has("kubernetes_build_info{");
    has("kubernetes_feature_enabled{name=\"WatchList\",stage=\"BETA\"} 1\n");
    has("kubernetes_feature_enabled{name=\"CBORServingAndStorage\",stage=\"ALPHA\"} 0\n");
    // GA has no word of its own upstream.
    has("kubernetes_feature_enabled{name=\"NodeSwap\",stage=\"\"} 1\n");
    has("kubernetes_feature_enabled{name=\"AllAlpha\",stage=\"ALPHA\"} 0\n");
    has(
        "# HELP kubernetes_feature_enabled [BETA] This metric records the data about the stage and enablement of a k8s feature.\n",
    );
    has(
        "version_info{binary=\"1.37.0\",component=\"kube\",emulation=\"1.37\",min_compat=\"1.36\"} 1\n",
    );
    has(
        "apiserver_authorization_decisions_total{decision=\"allowed\",name=\"rbac\",type=\"RBAC\"} 1\n",
    );
    has(
        "apiserver_requested_deprecated_apis{group=\"\",removed_release=\"\",resource=\"endpoints\",subresource=\"\",version=\"v1\"} 1\n",
    );
    let passed = |filter: &str| {
        let count =
            format!("apiserver_request_filter_duration_seconds_count{{filter=\"{filter}\"}} ");
        let found = text.lines().find_map(|it| it.strip_prefix(&count));
        found.and_then(|it| it.parse::<u32>().ok()).unwrap_or(0)
    };
    // Mallory was known, and got no further than to be refused.
    let filters = [
        "authentication",
        "constrainedimpersonation",
        "priorityandfairness",
    ];
    assert!(
        filters
            .iter()
            .all(|it| passed(it) > passed("authorization"))
    );
    assert!(passed("authorization") > 20);
}

#[testkit::requires(metrics_list)]
#[tokio::test]
async fn names_types_labels_and_buckets_are_upstreams() {
    let upstream = upstream::read();
    let server = Server::start().await;
    work(&server).await;
    let (_, _, slis) = ask(&server, "GET", "/metrics/slis", &[], "").await;
    let text = text(&server).await + &slis;
    let mut compared = 0;
    for family in parse::families(&text) {
        if upstream.compare(&family) {
            compared += 1;
        }
    }
    assert!(compared >= 30, "only {compared} of ours are upstream's");
}

#[tokio::test]
async fn open_metrics_if_it_is_asked_for() {
    let server = Server::start().await;
    let accept = (
        "accept",
        "application/openmetrics-text;version=1.0.0,text/plain;q=0.5",
    );
    let (code, media, text) = ask(&server, "GET", "/metrics", &[accept], "").await;
    let expected = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!((code, &*media), (200, expected));
    assert!(text.contains("# TYPE apiserver_request counter\n") && text.ends_with("# EOF\n"));
}

#[tokio::test]
async fn numbers_are_only_shown_if_that_is_wanted() {
    let server = Server::start_with(|options| options.settings.serve_metrics = false).await;
    for path in ["/metrics", "/metrics/slis"] {
        assert_eq!(ask(&server, "GET", path, &[], "").await.0, 404, "{path}");
    }
}

#[tokio::test]
async fn the_log_is_told_what_to_tell() {
    let server = Server::start().await;
    let (code, _, said) = ask(&server, "PUT", "/debug/flags/v", &[], "1").await;
    assert_eq!(
        (code, &*said),
        (200, "successfully set klog.logging.verbosity to 1")
    );
    let (code, _, said) = ask(&server, "PUT", "/debug/flags/v", &[], "x").await;
    let expected =
        "failed set klog.logging.verbosity x: strconv.ParseInt: parsing \"x\": invalid syntax";
    assert_eq!((code, &*said), (400, expected));
    assert_eq!(
        ask(&server, "PUT", "/debug/flags/vmodule", &[], "http*=2")
            .await
            .0,
        200
    );
    assert_eq!(
        ask(&server, "PUT", "/debug/flags/vmodule", &[], "x")
            .await
            .0,
        400
    );
    let (code, _, said) = ask(&server, "GET", "/debug/flags/v", &[], "").await;
    assert_eq!((code, &*said), (406, "unsupported http method"));
    assert_eq!(
        ask(&server, "GET", "/debug/flags/other", &[], "").await.0,
        404
    );
    assert_eq!(
        ask_as(&server, "mallory", "PUT", "/debug/flags/v", &[], "9")
            .await
            .0,
        403
    );
}
