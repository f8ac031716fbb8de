//! With the real programs: `promtool` looks for what is bad style, and Prometheus scrapes a server and evaluates rules as
//! those of kubernetes-mixin.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use json::Value;
use testkit::server::Server;

/// What `promtool` finds fault with, and why it stays: these names are Kubernetes'.
const ALLOWED: &[(&str, &str)] = &[
    (
        "authentication_attempts",
        "counter metrics should have \"_total\" suffix",
    ),
    (
        "authenticated_user_requests",
        "counter metrics should have \"_total\" suffix",
    ),
    (
        "apiserver_admission_webhook_rejection_count",
        "counter metrics should have \"_total\" suffix",
    ),
    (
        "apiserver_admission_webhook_rejection_count",
        "non-histogram and non-summary metrics should not have \"_count\" suffix",
    ),
    (
        "apiserver_admission_webhook_fail_open_count",
        "counter metrics should have \"_total\" suffix",
    ),
    (
        "apiserver_admission_webhook_fail_open_count",
        "non-histogram and non-summary metrics should not have \"_count\" suffix",
    ),
];

/// `$PROMETHEUS` or `$PROMTOOL`, or what is in the path.
fn program(name: &str) -> Command {
    let variable = std::env::var_os(name.to_ascii_uppercase());
    Command::new(variable.unwrap_or_else(|| name.into()))
}

#[testkit::requires(promtool)]
#[tokio::test]
async fn promtool_finds_no_fault_but_with_kubernetes_own_names() {
    let mut promtool = program("promtool");
    let server = Server::start().await;
    super::work(&server).await;
    let text = super::text(&server).await;
    let mut child = promtool
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("run promtool");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    let writing = std::thread::spawn(move || drop(stdin.write_all(text.as_bytes())));
    let done = child.wait_with_output().expect("what promtool says");
    writing.join().expect("it was written");
    let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    let faults = said.lines().filter(|line| {
        let (name, why) = line.split_once(' ').unwrap_or((line, ""));
        !line.is_empty() && !ALLOWED.contains(&(name, why))
    });
    assert_eq!(faults.collect::<Vec<_>>(), Vec::<&str>::new(), "{said}");
}

/// As the rules of kubernetes-mixin for the API server ask: the same metrics, labels and values of labels.
const RULES: &str = r#"
groups:
- name: mixin
  rules:
  - record: code_resource:apiserver_request_total:rate5m
    expr: sum by (code, resource) (rate(apiserver_request_total{job="apiserver", verb=~"LIST|GET"}[5m]))
  - record: written
    expr: sum by (code) (apiserver_request_total{job="apiserver", verb=~"POST|PUT|PATCH|DELETE"})
  - record: slo:read
    expr: sum by (scope) (apiserver_request_sli_duration_seconds_bucket{job="apiserver", verb=~"LIST|GET", subresource!~"proxy|attach|log|exec|portforward", le=~"1(\\.0)?"})
  - record: cluster_quantile:apiserver_request_sli_duration_seconds
    expr: histogram_quantile(0.99, sum by (le, resource) (rate(apiserver_request_sli_duration_seconds_bucket{job="apiserver", verb=~"LIST|GET"}[5m])))
  - record: queues
    expr: sum by (name) (workqueue_adds_total{job="apiserver"})
  - record: depth
    expr: sum by (name) (workqueue_depth{job="apiserver"})
  - record: waited
    expr: histogram_quantile(0.99, sum by (name, le) (rate(workqueue_queue_duration_seconds_bucket{job="apiserver"}[5m])))
  - record: memory
    expr: process_resident_memory_bytes{job="apiserver"}
  - record: cpu
    expr: rate(process_cpu_seconds_total{job="apiserver"}[5m])
  - alert: KubeVersionMismatch
    expr: count by (cluster) (count by (git_version, cluster) (kubernetes_build_info{job="apiserver"})) > 1
  - alert: KubeAPITerminatedRequests
    expr: sum(rate(apiserver_request_terminations_total{job="apiserver"}[10m])) / (sum(rate(apiserver_request_total{job="apiserver"}[10m])) + sum(rate(apiserver_request_terminations_total{job="apiserver"}[10m]))) > 0.20
  - alert: KubeClientCertificateExpiration
    expr: apiserver_client_certificate_expiration_seconds_count{job="apiserver"} > 0 and on (job) histogram_quantile(0.01, sum without (namespace) (rate(apiserver_client_certificate_expiration_seconds_bucket{job="apiserver"}[5m]))) < 604800
"#;

#[testkit::requires(prometheus)]
#[tokio::test]
async fn prometheus_scrapes_and_evaluates_rules() {
    let prometheus = program("prometheus");
    let server = Server::start().await;
    super::work(&server).await;
    let directory = server.directory().to_owned();
    let mut rules = vec![directory.join("rules.yml")];
    std::fs::write(&rules[0], RULES).expect("write the rules");
    // Rendered rules of kubernetes-mixin, if somebody has them.
    rules.extend(std::env::var_os("KUBERNETES_MIXIN_RULES").map(Into::into));
    let (_running, address) = start(prometheus, &directory, &server.url(), &rules);
    let wanted = |body: &Value| {
        let groups = body.at(&["data", "groups"]).and_then(Value::as_array);
        let rules = groups.into_iter().flatten();
        let rules = rules.filter_map(|it| it.get("rules").and_then(Value::as_array));
        let rules: Vec<&Value> = rules.flatten().collect();
        let health = |it: &&Value| it.str_at(&["health"]) == Some("ok");
        for rule in &rules {
            let failed = rule.str_at(&["lastError"]).unwrap_or_default();
            assert_eq!(failed, "", "{rule}");
        }
        !rules.is_empty() && rules.iter().all(health)
    };
    wait(&address, "/api/v1/rules", wanted).await;
    let lists = |query: &'static str, at_least: usize| {
        let path = format!("/api/v1/query?query={query}");
        let address = address.clone();
        async move {
            let enough = |body: &Value| {
                let found = body.at(&["data", "result"]).and_then(Value::as_array);
                found.is_some_and(|it| it.len() >= at_least)
            };
            wait(&address, &path, enough).await;
        }
    };
    lists("up%20==%201", 1).await;
    lists("slo:read", 3).await;
    lists("written", 3).await;
    lists("queues", 3).await;
    lists("memory", 1).await;
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(
    mut prometheus: Command,
    directory: &Path,
    server: &str,
    rules: &[std::path::PathBuf],
) -> (Running, String) {
    let target = server.trim_start_matches("https://");
    let rules: Vec<_> = rules.iter().map(|it| it.display().to_string()).collect();
    let config = format!(
        "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\n\
         rule_files: [{}]\n\
         scrape_configs:\n\
         - job_name: apiserver\n  \
           scheme: https\n  \
           authorization: {{credentials: admin-token}}\n  \
           tls_config: {{insecure_skip_verify: true}}\n  \
           static_configs: [{{targets: [\"{target}\"]}}]\n",
        rules.join(", ")
    );
    let path = directory.join("prometheus.yml");
    std::fs::write(&path, config).expect("write the configuration");
    // Free a moment ago, as Prometheus takes no port from the kernel; and where nobody else takes one, if there is such.
    let free = TcpListener::bind("127.77.0.1:0").or_else(|_| TcpListener::bind("127.0.0.1:0"));
    let free = free.expect("a port");
    let address = free.local_addr().expect("an address").to_string();
    drop(free);
    let log = std::fs::File::create(directory.join("prometheus.log")).expect("a log");
    let child = prometheus
        .arg(format!("--config.file={}", path.display()))
        .arg(format!(
            "--storage.tsdb.path={}",
            directory.join("tsdb").display()
        ))
        .arg(format!("--web.listen-address={address}"))
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("run prometheus");
    (Running(child), address)
}

/// Asks until the answer is as it should be.
async fn wait(address: &str, path: &str, is_done: impl Fn(&Value) -> bool) {
    let end = Instant::now() + Duration::from_secs(180);
    let mut last = String::new();
    while Instant::now() < end {
        if let Ok(text) = get(address, path).await {
            let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
            if let Ok(body) = json::parse(body.as_bytes())
                && is_done(&body)
            {
                return;
            }
            last = text;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{path}: {last}");
}

/// HTTP/1.0: the answer ends where the connection ends, and comes in one piece.
async fn get(address: &str, path: &str) -> std::io::Result<String> {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut stream = tokio::net::TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    Ok(text)
}
