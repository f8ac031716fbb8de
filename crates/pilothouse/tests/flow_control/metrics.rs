//! Kubernetes' own list of its metrics against what is served after requests were executed, queued and rejected.

use std::net::TcpListener;

use json::json;

use crate::client::{Client, DEADLINE};
use crate::{LEVELS, MAPS, SCHEMAS, dangling, parse, until, upstream};

const PREFIX: &str = "apiserver_flowcontrol_";
const NARROW: &str = r#"flow_schema="narrow",priority_level="narrow""#;
/// What needs years of virtual time, and a request for more seats than are free while some are: upstream shows them after that
/// only, too.
const NOT_SEEN: [&str; 2] = [
    "apiserver_flowcontrol_epoch_advance_total",
    "apiserver_flowcontrol_request_dispatch_no_accommodation_total",
];

/// A level with one seat and one place in one queue, for alice.
fn narrow_level(client: &Client) {
    let queuing = json!({"queues": 1, "handSize": 1, "queueLengthLimit": 1});
    let level = json!({
        "metadata": {"name": "narrow"},
        "spec": {"type": "Limited", "limited": {
            "nominalConcurrencyShares": 1,
            "borrowingLimitPercent": 0,
            "limitResponse": {"type": "Queue", "queuing": queuing},
        }},
    });
    client.make(LEVELS, &level);
    let rule = json!({
        "subjects": [{"kind": "User", "user": {"name": "alice"}}],
        "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}],
    });
    let schema = json!({
        "metadata": {"name": "narrow"},
        "spec": {
            "matchingPrecedence": 50,
            "priorityLevelConfiguration": {"name": "narrow"},
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [rule],
        },
    });
    client.make(SCHEMAS, &schema);
}

/// Whoever creates a `ConfigMap` waits for this webhook, which takes connections and says nothing.
fn silent_webhook(client: &Client) -> TcpListener {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", silent.local_addr().unwrap());
    let rule = json!({
        "operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
    });
    let hook = json!({
        "name": "silent.example.com",
        "clientConfig": {"url": url},
        "rules": [rule],
        "failurePolicy": "Ignore",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 30,
    });
    client.make(
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        &json!({"metadata": {"name": "silent"}, "webhooks": [hook]}),
    );
    silent
}

#[testkit::requires(metrics_list)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_names_and_labels_are_upstreams() {
    let client = Client::with(|options| {
        options.settings.max_requests_inflight = 1;
        options.settings.max_mutating_requests_inflight = 1;
    })
    .await;
    client.grant("writer", &[("", "configmaps", "create")]);
    narrow_level(&client);
    until(&client, &format!("{SCHEMAS}/narrow"), |it| {
        dangling(it) == Some("False")
    })
    .await;
    let silent = silent_webhook(&client);
    let metrics = std::thread::scope(|scope| {
        // One is executed, one waits, the others are rejected.
        let client = &client;
        let create = move |number: usize| {
            let name = format!("map-{number}");
            client.alice("POST", MAPS, &json!({"metadata": {"name": name}}))
        };
        let all: Vec<_> = (0..4)
            .map(|number| scope.spawn(move || create(number)))
            .collect();
        let started = std::time::Instant::now();
        let metrics = loop {
            let metrics = client.get("/metrics").1;
            let rejected = format!("{PREFIX}rejected_requests_total{{");
            let waiting = format!("{PREFIX}current_inqueue_requests{{{NARROW}}} 1\n");
            if metrics.contains(&rejected) && metrics.contains(&waiting) {
                break metrics;
            }
            assert!(started.elapsed() < DEADLINE, "{metrics}");
        };
        drop(silent);
        for request in all {
            let (code, body) = request.join().unwrap();
            assert!(matches!(code, 201 | 429), "{code} {body}");
        }
        metrics
    });
    let theirs = upstream::read();
    let ours: Vec<_> = parse::families(&metrics)
        .into_iter()
        .filter(|it| it.name.starts_with(PREFIX))
        .collect();
    for family in &ours {
        assert!(theirs.compare(family), "upstream has no {}", family.name);
    }
    let missing: Vec<&str> = theirs
        .names()
        .filter(|it| it.starts_with(PREFIX) && !NOT_SEEN.contains(it))
        .filter(|it| !ours.iter().any(|family| family.name == *it))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
    assert!(ours.len() >= 30, "only {} families", ours.len());
}
