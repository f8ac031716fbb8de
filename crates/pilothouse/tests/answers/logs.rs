//! What is asked of a pod's log is checked, and the log of what never ran is no content.

use json::json;
use testkit::server::Server;

use super::{JSON, send};

#[testkit::requires(test_store)]
#[tokio::test]
async fn of_a_pod_that_nothing_runs() {
    let server = Server::start().await;
    let pod =
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let pods = "/api/v1/namespaces/default/pods";
    server.local().create(pods, &pod).await.unwrap();
    let positive = "must be greater than 0";
    let cases = [
        ("tailLines=3", 204, String::new()),
        (
            "tailLines=x",
            400,
            r#"strconv.ParseInt: parsing "x": invalid syntax"#.to_owned(),
        ),
        (
            "tailLines=-1",
            422,
            "tailLines: Invalid value: -1: must be greater than or equal to 0".to_owned(),
        ),
        (
            "limitBytes=0",
            422,
            format!("limitBytes: Invalid value: 0: {positive}"),
        ),
        (
            "sinceSeconds=0",
            422,
            format!("sinceSeconds: Invalid value: 0: {positive}"),
        ),
        (
            "sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z",
            422,
            "[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"
                .to_owned(),
        ),
        (
            "stream=All",
            422,
            "stream: Forbidden: may not be specified".to_owned(),
        ),
    ];
    for (query, code, text) in cases {
        let path = format!("{pods}/p/log?{query}");
        let (found, _, body) = send(&server, "GET", &path, JSON, b"").await;
        let text = match code {
            422 => format!("PodLogOptions \"p\" is invalid: {text}"),
            _ => text,
        };
        let message = body.str_at(&["message"]).unwrap_or_default();
        assert_eq!((found, message), (code, &*text), "{query}");
    }
}
