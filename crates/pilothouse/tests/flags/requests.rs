//! Limits, ranges, expiry, and the log of requests.

use std::io::Write as _;

use json::{Value, json};
use rustix::process::Signal;

use super::client::{Client, finish};
use super::program::{Program, until};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const MAP: &str = r#"{"metadata":{"name":"late"}}"#;
const SERVICES: &str = "/api/v1/namespaces/default/services";

/// One that takes its time holds neither a seat nor a place.
#[test]
fn a_slow_writer_keeps_nobody_waiting() {
    for limit in [
        "--enable-priority-and-fairness",
        "--enable-priority-and-fairness=false",
    ] {
        let server = Program::serve(&[limit, "--max-mutating-requests-inflight", "1"]);
        let client = server.admin();
        let mut first = client.begin_post(MAPS, MAP.len());
        client
            .send("POST", MAPS, r#"{"metadata":{"name":"b"}}"#)
            .expect(201);
        first.write_all(MAP.as_bytes()).unwrap();
        finish(&mut first).unwrap().expect(201);
    }
}

#[test]
fn zero_is_no_limit() {
    let flags = [
        "--enable-priority-and-fairness=false",
        "--max-mutating-requests-inflight=0",
        "--max-requests-inflight=0",
    ];
    let server = Program::serve(&flags);
    let client = server.admin();
    let _first = client.begin_post(MAPS, MAP.len());
    client.send("POST", MAPS, MAP).expect(201);
    client.get(MAPS).expect(200);
}

#[test]
fn what_takes_too_long_is_ended_and_events_are_forgotten() {
    let flags = [
        "--request-timeout=1s",
        "--min-request-timeout=1",
        "--event-ttl=1s",
    ];
    let server = Program::serve(&flags);
    let client = server.admin();
    let event = json!({
        "metadata": {"name": "short"},
        "involvedObject": {"namespace": "default"},
        "reason": "Test",
    });
    let events = "/api/v1/namespaces/default/events";
    // It may be too slow for a second, as a busy machine is.
    until("the event is there", || {
        client.post(events, &event).code != 504
    });
    until("the event is gone", || {
        client.get(&format!("{events}/short")).code == 404
    });
    let mut late = client.begin_post(MAPS, MAP.len());
    finish(&mut late).unwrap().expect(504);
    // A watch without a timeout of its own ends between one and two times the least.
    let mut watch = client.watch(&format!("{MAPS}?watch=true"));
    finish(&mut watch).unwrap();
}

fn service(name: &str, kind: &str) -> Value {
    let ports = json!([{"port": 80}]);
    json!({"metadata": {"name": name}, "spec": {"type": kind, "ports": ports}})
}

fn text<'a>(object: &'a Value, path: &[&str]) -> &'a str {
    object.str_at(path).unwrap_or_default()
}

#[test]
fn services_get_what_the_ranges_have() {
    let flags = [
        "--service-cluster-ip-range=10.7.3.9/29",
        "--service-node-port-range=31000+1",
    ];
    let server = Program::serve(&flags);
    let client = server.admin();
    let own = client
        .get(&format!("{SERVICES}/kubernetes"))
        .expect(200)
        .json();
    assert_eq!(text(&own, &["spec", "clusterIP"]), "10.7.3.9");
    let range = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes";
    let range = client.get(range).expect(200).json();
    assert_eq!(range.at(&["spec", "cidrs"]), Some(&json!(["10.7.3.8/29"])));
    let mut ports = Vec::new();
    for name in ["a", "b"] {
        let made = client
            .post(SERVICES, &service(name, "NodePort"))
            .expect(201)
            .json();
        assert!(
            text(&made, &["spec", "clusterIP"]).starts_with("10.7.3.1"),
            "{made}"
        );
        let port = made.at(&["spec", "ports"]).and_then(Value::as_array);
        let port = port
            .and_then(|it| it[0].get("nodePort"))
            .and_then(Value::as_i64);
        ports.extend(port);
    }
    ports.sort_unstable();
    assert_eq!(ports, [31000, 31001]);
    let full = client.post(SERVICES, &service("c", "NodePort"));
    assert!(full.body.contains("range is full"), "{full:?}");
    // .9 is the server's own, .10 and .11 are taken: three are left.
    for name in ["d", "e", "f"] {
        client
            .post(SERVICES, &service(name, "ClusterIP"))
            .expect(201);
    }
    let full = client
        .post(SERVICES, &service("g", "ClusterIP"))
        .expect(500);
    assert!(full.body.contains("range is full"), "{full:?}");
}

#[test]
fn at_level_three_each_request_is_told_and_no_secret() {
    let server = Program::serve(&["-v", "3"]);
    let admin = server.admin();
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"password": "hunter2"}});
    let path = "/api/v1/namespaces/default/secrets?fieldManager=me&access_token=hidden1";
    admin.post(path, &secret).expect(201);
    let account = json!({"metadata": {"name": "robot"}});
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    admin.post(accounts, &account).expect(201);
    let token = admin
        .post(&format!("{accounts}/robot/token"), &json!({}))
        .expect(201)
        .json();
    let token = text(&token, &["status", "token"]).to_owned();
    let robot = Client::new(&server.kubeconfig()).with_token(&token);
    robot
        .get("/api/v1/namespaces/default/pods?limit=7")
        .expect(403);
    server
        .admin()
        .with_token("forged-token")
        .get("/version")
        .expect(401);
    server.signal(Signal::TERM);
    let (_, said, _place) = server.ended();
    let line = |parts: &[&str]| {
        said.lines()
            .any(|line| line.starts_with('I') && parts.iter().all(|it| line.contains(it)))
    };
    let created = [
        r#" "HTTP" verb="CREATE""#,
        r#"URI="/api/v1/namespaces/default/secrets?fieldManager=me&access_token=***""#,
        r#"userAgent="flags-test""#,
        r#"user="kubernetes-admin""#,
        r#"srcIP="127.0.0.1:"#,
        "latency=\"",
        "resp=201",
    ];
    assert!(line(&created), "{said}");
    let listed = [
        r#"verb="LIST""#,
        "pods?limit=7",
        r#"user="system:serviceaccount:default:robot""#,
        "resp=403",
    ];
    assert!(line(&listed), "{said}");
    assert!(
        line(&[r#"verb="GET" URI="/version""#, r#"user="""#, "resp=401"]),
        "{said}"
    );
    let signature = token.rsplit('.').next().unwrap();
    for hidden in [
        "hunter2",
        "aHVudGVyMg",
        "hidden1",
        "forged-token",
        signature,
    ] {
        assert!(!said.contains(hidden), "{hidden} is in the log");
    }
}

/// With one chance in fifty, a connection outlives thousands of requests only if nothing is done about it.
#[tokio::test]
async fn clients_of_http2_are_sent_away_now_and_then() {
    use http_body_util::{BodyExt as _, Empty};
    use hyper_util::rt::{TokioExecutor, TokioIo};
    let server = Program::serve(&["--goaway-chance", "0.02"]);
    let client = server.admin();
    let mut tls = client.tls();
    tls.alpn_protocols = vec![b"h2".to_vec()];
    let socket = tokio::net::TcpStream::connect(client.address)
        .await
        .unwrap();
    let tls = tokio_rustls::TlsConnector::from(std::sync::Arc::new(tls));
    let stream = tls.connect(client.name(), socket).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    let connection = tokio::spawn(connection);
    for _ in 0..5000 {
        if sender.ready().await.is_err() {
            break;
        }
        let request = hyper::Request::get("https://x/livez");
        let request = request.body(Empty::<bytes::Bytes>::new()).unwrap();
        // What was sent before the goodbye is answered; what comes later may be refused.
        let Ok(answer) = sender.send_request(request).await else {
            break;
        };
        assert_eq!(answer.status(), 200);
        answer.into_body().collect().await.unwrap();
    }
    let ended = tokio::time::timeout(std::time::Duration::from_secs(60), connection).await;
    assert!(ended.is_ok(), "the connection goes on");
}

#[test]
fn metrics_are_protobuf_for_who_asks_for_it() {
    let server = Program::serve::<&str>(&[]);
    let kind = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
    let admin = server.admin();
    admin.get("/api/v1/namespaces").expect(200);
    let text = admin.get("/metrics").expect(200);
    assert!(text.body.starts_with("# HELP "), "{}", text.head);
    let asking = server.admin().with_headers(&format!("Accept: {kind}\r\n"));
    let answer = asking.get("/metrics").expect(200);
    let head = answer.head.to_ascii_lowercase();
    let expected = "content-type: application/vnd.google.protobuf; proto=io.prometheus.client.metricfamily; encoding=delimited";
    assert!(head.contains(expected), "{head}");
    assert!(answer.body.contains("apiserver_request_duration_seconds"));
    assert!(!answer.body.contains("# HELP"));
}

/// The `apf_*` fields of kube-apiserver's log.
#[test]
fn the_log_tells_what_flow_control_made_of_a_request() {
    let server = Program::serve(&["-v", "3"]);
    let admin = server.admin();
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    admin
        .post(accounts, &json!({"metadata": {"name": "robot"}}))
        .expect(201);
    let token = admin
        .post(&format!("{accounts}/robot/token"), &json!({}))
        .expect(201)
        .json();
    let token = text(&token, &["status", "token"]).to_owned();
    let robot = Client::new(&server.kubeconfig()).with_token(&token);
    // The default objects are made after the server is ready.
    let schemas = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/service-accounts";
    until("the FlowSchema is there", || {
        admin.get(schemas).body.contains("Dangling")
    });
    robot.get("/api/v1/namespaces/default/pods").expect(403);
    admin
        .get("/api/v1/namespaces/default/secrets?watch=true&timeoutSeconds=1")
        .expect(200);
    server.signal(Signal::TERM);
    let (_, said, _place) = server.ended();
    let line = |parts: &[&str]| {
        let found = said
            .lines()
            .any(|line| parts.iter().all(|it| line.contains(it)));
        assert!(found, "{parts:?}: {said}");
    };
    let estimate = r#"apf_iseats=1 apf_fseats=0 apf_additionalLatency="0s""#;
    let executed = format!(
        r#"apf_pl="workload-low" apf_fs="service-accounts" {estimate} apf_execution_time=""#
    );
    line(&[r#"verb="LIST""#, "resp=403", &executed]);
    let begun = format!(r#"apf_pl="exempt" apf_fs="exempt" {estimate} apf_init_latency=""#);
    line(&[r#"verb="WATCH""#, &begun, r#"" apf_execution_time=""#]);
}
