//! What is shown to people: indented, and without an end of its last line; errors too.

use apiserver::incoming::RequestBody;
use apiserver::pipeline::Caller;
use auth::User;
use http_body_util::BodyExt as _;
use testkit::server::Server;

#[testkit::requires(test_store)]
#[tokio::test]
async fn to_people_and_to_programs() {
    let server = Server::start().await;
    let (curl, program) = ("curl/8.0", "kubectl/v1.37.0");
    let masters: &[&str] = &["system:masters"];
    let cases = [
        ("/api/v1/namespaces/default", curl, masters, 200, true),
        ("/api/v1/namespaces/default", program, masters, 200, false),
        ("/apis", curl, masters, 200, true),
        ("/api/v1/namespaces/none", curl, masters, 404, true),
        ("/api/v1/namespaces/none", program, masters, 404, false),
        (
            "/api/v1/namespaces/none?pretty=true",
            program,
            masters,
            404,
            true,
        ),
        (
            "/api/v1/namespaces/none?pretty=false",
            curl,
            masters,
            404,
            false,
        ),
        ("/api/v1/none", curl, masters, 404, true),
        ("/api/v1/pods?limit=x", curl, masters, 400, true),
        ("/api/v1/pods?timeout=x", curl, masters, 400, true),
        ("/api/v1/pods", curl, &[], 403, true),
        ("/metrics", program, &[], 403, false),
    ];
    for (path, agent, groups, code, indented) in cases {
        let request = http::Request::builder()
            .uri(path)
            .header("user-agent", agent);
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        let caller = Caller::Local(User::new("somebody", groups).into());
        let api = server.api().clone();
        let body = RequestBody::Bytes(Vec::new().into());
        let response = apiserver::pipeline::handle(&api, &caller, parts, body).await;
        assert_eq!(response.status(), code, "{path} {agent}");
        let Ok(body) = response.into_body().collect().await;
        let body = String::from_utf8_lossy(&body.to_bytes()).into_owned();
        assert_eq!(body.starts_with("{\n  \""), indented, "{path}: {body}");
        assert_eq!(body.ends_with('\n'), !indented, "{path}: {body}");
    }
}
