//! API Priority and Fairness in a whole server: one client does not keep another waiting, objects count as soon as their
//! status says so, and what debugging shows.

#[path = "flow_control/api.rs"]
mod api;
#[path = "hostile/client.rs"]
#[allow(dead_code, reason = "each story uses its part")]
mod client;
#[path = "flow_control/metrics.rs"]
mod metrics;
#[path = "metrics/parse.rs"]
mod parse;
#[path = "flow_control/slow_bodies.rs"]
mod slow_bodies;
#[path = "metrics/upstream.rs"]
mod upstream;

use json::{Value, json};

use client::{Client, DEADLINE};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const SCHEMAS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";
const LEVELS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations";

/// Until an object is as expected.
async fn until(client: &Client, path: &str, is: impl Fn(&Value) -> bool) -> Value {
    let (local, started) = (client.server.local(), std::time::Instant::now());
    loop {
        let found = local.get(path).await.unwrap_or_default();
        if is(&found) {
            return found;
        }
        assert!(started.elapsed() < DEADLINE, "{path}: {found}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

fn dangling(schema: &Value) -> Option<&str> {
    let all = schema.at(&["status", "conditions"])?.as_array()?;
    let found = all
        .iter()
        .find(|it| it.str_at(&["type"]) == Some("Dangling"))?;
    found.str_at(&["status"])
}

/// The head of an answer, in small letters.
fn head(client: &Client, method: &str, path: &str, headers: &str) -> String {
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n{headers}\r\n"
    );
    let answer = client.raw(request.as_bytes());
    let head = answer.split_once("\r\n\r\n").map_or("", |(head, _)| head);
    head.to_ascii_lowercase()
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .find_map(|it| it.strip_prefix(name)?.strip_prefix(": "))
}

/// Upstream's test "should ensure that requests can be classified by adding `FlowSchema` and `PriorityLevelConfiguration`".
#[tokio::test]
async fn requests_are_classified_by_new_objects() {
    let client = Client::start().await;
    let level = client.make(
        LEVELS,
        &json!({
            "metadata": {"name": "e2e-level"},
            "spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 1, "limitResponse": {"type": "Reject"}}},
        }),
    );
    let rule = json!({
        "subjects": [{"kind": "User", "user": {"name": "noxu"}}],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    });
    let schema = client.make(
        SCHEMAS,
        &json!({
            "metadata": {"name": "e2e-schema"},
            "spec": {
                "matchingPrecedence": 1000,
                "priorityLevelConfiguration": {"name": "e2e-level"},
                "distinguisherMethod": {"type": "ByUser"},
                "rules": [rule],
            },
        }),
    );
    let path = format!("{SCHEMAS}/e2e-schema");
    until(&client, &path, |it| dangling(it) == Some("False")).await;
    let uid = |it: &Value| it.str_at(&["metadata", "uid"]).unwrap().to_owned();
    let ask = |user: &str| {
        let headers = format!("Authorization: Bearer admin-token\r\nImpersonate-User: {user}\r\n");
        let head = head(&client, "GET", "/version", &headers);
        let get = |name| header(&head, name).unwrap_or_default().to_owned();
        [
            get("x-kubernetes-pf-flowschema-uid"),
            get("x-kubernetes-pf-prioritylevel-uid"),
        ]
    };
    assert_eq!(ask("noxu"), [uid(&schema), uid(&level)]);
    let other = ask("foo");
    assert!(other.iter().all(|it| !it.is_empty()), "{other:?}");
    assert_ne!(other, [uid(&schema), uid(&level)]);
    // A level that is gone leaves its schema dangling, and its requests go where others go.
    let local = client.server.local();
    local
        .delete(&format!("{LEVELS}/e2e-level"), &Value::Null)
        .await
        .unwrap();
    until(&client, &path, |it| dangling(it) == Some("True")).await;
    assert_eq!(ask("noxu"), other);
}

/// What is mandatory is repaired, what is suggested is left to whoever says so, what was ours once goes.
#[tokio::test]
async fn default_objects_are_kept() {
    let client = Client::start().await;
    let local = client.server.local();
    for (path, names) in [(LEVELS, 8), (SCHEMAS, 11)] {
        let count = |it: &Value| {
            it.get("items")
                .and_then(Value::as_array)
                .map_or(0, Vec::len)
        };
        until(&client, path, |it| count(it) == names).await;
    }
    let shares = |it: &Value| {
        let path = ["spec", "limited", "nominalConcurrencyShares"];
        it.at(&path).and_then(Value::as_i64)
    };
    let set = |shares: i64| json!({"spec": {"limited": {"nominalConcurrencyShares": shares}}});
    for (name, before) in [("catch-all", 5), ("workload-low", 100)] {
        let path = format!("{LEVELS}/{name}");
        local.merge_patch(&path, &set(77)).await.unwrap();
        until(&client, &path, |it| shares(it) == Some(before)).await;
    }
    let path = format!("{LEVELS}/workload-low");
    let mine = json!({
        "metadata": {"annotations": {"apf.kubernetes.io/autoupdate-spec": "false"}},
        "spec": {"limited": {"nominalConcurrencyShares": 77}},
    });
    local.merge_patch(&path, &mine).await.unwrap();
    let once = json!({
        "metadata": {"name": "once-ours", "annotations": {"apf.kubernetes.io/autoupdate-spec": "true"}},
        "spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 1, "limitResponse": {"type": "Reject"}}},
    });
    local.create(LEVELS, &once).await.unwrap();
    until(&client, &format!("{LEVELS}/once-ours"), Value::is_null).await;
    local
        .delete(&format!("{SCHEMAS}/exempt"), &Value::Null)
        .await
        .unwrap();
    until(&client, &format!("{SCHEMAS}/exempt"), |it| {
        dangling(it) == Some("False")
    })
    .await;
    let kept = local.get(&path).await.unwrap();
    assert_eq!(shares(&kept), Some(77));
    let metrics = client.get("/metrics").1;
    // 600 seats: 77 of 222 shares now.
    let line = "apiserver_flowcontrol_nominal_limit_seats{priority_level=\"workload-low\"} 209\n";
    assert!(metrics.contains(line), "{metrics}");
}

#[tokio::test]
async fn queues_can_be_looked_at() {
    let client = Client::start().await;
    until(&client, &format!("{LEVELS}/system"), |it| !it.is_null()).await;
    until(&client, &format!("{SCHEMAS}/global-default"), |it| {
        dangling(it) == Some("False")
    })
    .await;
    let (code, _) = client.user("alice", "GET", "/version", "", b"");
    assert_eq!(code, 200);
    let root = "/debug/api_priority_and_fairness";
    let (code, levels) = client.get(&format!("{root}/dump_priority_levels"));
    assert_eq!(code, 200);
    let cells = |line: &str| {
        line.split(',')
            .map(|it| it.trim().to_owned())
            .collect::<Vec<_>>()
    };
    let mut rows = levels.lines().map(cells);
    let headers = "PriorityLevelName,ActiveQueues,IsIdle,IsQuiescing,WaitingRequests,ExecutingRequests,\
                   DispatchedRequests,RejectedRequests,TimedoutRequests,CancelledRequests";
    assert_eq!(rows.next(), Some(cells(headers)));
    let rows: Vec<_> = rows.collect();
    let names: Vec<_> = rows.iter().map(|it| &*it[0]).collect();
    let expected = [
        "catch-all",
        "exempt",
        "global-default",
        "leader-election",
        "node-high",
        "system",
        "workload-high",
        "workload-low",
    ];
    assert_eq!(names, expected);
    assert!(rows[2][6].parse::<u32>().unwrap() > 0, "{levels}");
    // Whoever asks is served itself.
    assert_eq!((&*rows[1][2], &*rows[1][5]), ("false", "1"));
    let (_, queues) = client.get(&format!("{root}/dump_queues"));
    assert_eq!(queues.lines().count(), 1 + 3 * 128 + 2 * 64 + 16);
    let (_, requests) = client.get(&format!("{root}/dump_requests?includeRequestDetails=1"));
    let mut rows = requests.lines().map(cells);
    assert_eq!(rows.next().unwrap().len(), 18);
    // Again the one that asks.
    let own = rows.find(|it| it[0] == "exempt").expect("a row");
    assert_eq!(own[1..4], ["exempt", "-1", "-1"], "{requests}");
    let path = format!("{root}/dump_requests");
    assert_eq!(own[11..13], ["get", &*path], "{requests}");
    assert_eq!(client.get(&format!("{root}/dump_nothing")).0, 404);
    let (code, _) = client.user("alice", "GET", &format!("{root}/dump_queues"), "", b"");
    assert_eq!(code, 403);
}

/// All that upstream has, but for what needs trouble first: rejections, wide requests and years of virtual time.
#[tokio::test]
async fn numbers_have_upstreams_names() {
    let client = Client::start().await;
    until(&client, &format!("{SCHEMAS}/global-default"), |it| {
        dangling(it) == Some("False")
    })
    .await;
    client.grant("writer", &[("", "configmaps", "create")]);
    let (code, body) = client.alice("POST", MAPS, &json!({"metadata": {"name": "a"}}));
    assert_eq!(code, 201, "{body}");
    let metrics = client.get("/metrics").1;
    let by_flow = "{flow_schema=\"global-default\",priority_level=\"global-default\"}";
    let of_level = "{priority_level=\"global-default\"}";
    let by_level = [
        "current_limit_seats",
        "current_r",
        "demand_seats_average",
        "demand_seats_high_watermark",
        "demand_seats_smoothed",
        "demand_seats_stdev",
        "dispatch_r",
        "latest_s",
        "lower_limit_seats",
        "nominal_limit_seats",
        "target_seats",
        "upper_limit_seats",
    ];
    let flows = [
        "current_executing_requests",
        "current_executing_seats",
        "current_inqueue_requests",
        "current_inqueue_seats",
        "dispatched_requests_total",
        "request_queue_length_after_enqueue_count",
        "watch_count_samples_count",
        "work_estimated_seats_count",
    ];
    let by_level = by_level.map(|it| format!("{it}{of_level}"));
    let flows = flows.map(|it| format!("{it}{by_flow}"));
    let others = [
        "demand_seats_count{priority_level=\"exempt\"}",
        "next_discounted_s_bounds{bound=\"max\",priority_level=\"global-default\"}",
        "next_s_bounds{bound=\"min\",priority_level=\"global-default\"}",
        "priority_level_request_utilization_count{phase=\"waiting\",priority_level=\"system\"}",
        "priority_level_seat_utilization_count{phase=\"executing\",priority_level=\"exempt\"}",
        "read_vs_write_current_requests_count{phase=\"executing\",request_kind=\"mutating\"}",
        "request_execution_seconds_count{flow_schema=\"global-default\",priority_level=\"global-default\",type=\"regular\"}",
        "request_wait_duration_seconds_count{execute=\"true\",flow_schema=\"global-default\",priority_level=\"global-default\"}",
        "seat_fair_frac",
    ];
    let all = by_level
        .into_iter()
        .chain(flows)
        .chain(others.map(str::to_owned));
    for name in all {
        let line = format!("apiserver_flowcontrol_{name} ");
        assert!(metrics.contains(&line), "{line}");
    }
}
