//! Bodies and patches that say odd things of themselves, or nothing.

use json::{Value, json};
use testkit::server::Server;

use super::custom::{THINGS, thing, with_things};
use super::{JSON, MAPS, map, send};

const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const STEPS: &str = "application/json-patch+json";
const NAMELESS: &str =
    "the name of the object (a based on URL) was undeterminable: name must be provided";

/// Code and message, of a success the code alone.
async fn said(server: &Server, method: &str, path: &str, media: &str, body: &str) -> (u16, String) {
    let (code, _, answer) = send(server, method, path, media, body.as_bytes()).await;
    let text = answer.str_at(&["message"]).unwrap_or_default().to_owned();
    (code, text)
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn patches_in_every_shape() {
    let server = Server::start().await;
    let local = server.local();
    local.create(MAPS, &map(&json!({}))).await.unwrap();
    let into = "json: cannot unmarshal array into Go value of type map[string]interface {}";
    let step = "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp";
    let cases = [
        (MERGE, "", "{\"metadata\":null}", 400, NAMELESS),
        (MERGE, "", "{\"metadata\":{\"name\":null}}", 400, NAMELESS),
        (MERGE, "", "{\"apiVersion\":null}", 400, NAMELESS),
        (STRATEGIC, "", "{\"metadata\":null}", 400, NAMELESS),
        (STRATEGIC, "", "{\"$patch\":\"replace\"}", 400, NAMELESS),
        (
            STEPS,
            "",
            "[{\"op\":\"remove\",\"path\":\"/metadata\"}]",
            400,
            NAMELESS,
        ),
        (MERGE, "", "null", 400, "Invalid JSON Patch"),
        (STRATEGIC, "", "null", 200, ""),
        (STRATEGIC, "", "[]", 400, into),
        (
            MERGE,
            "",
            "[]",
            400,
            &format!("error decoding patch: {into}"),
        ),
        (
            MERGE,
            "",
            "5",
            400,
            "error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}",
        ),
        // Whatever it is called, it is what it was.
        (
            STRATEGIC,
            "",
            "{\"kind\":\"X\",\"apiVersion\":\"a/b/c\"}",
            200,
            "",
        ),
        (
            STRATEGIC,
            "",
            "{\"apiVersion\":5}",
            422,
            " \"\" is invalid: patch: Invalid value: \"map[apiVersion:5]\": cannot convert int64 to string",
        ),
        (
            STRATEGIC,
            "",
            "{\"data\":{\"k\":5}}",
            422,
            " \"\" is invalid: patch: Invalid value: \"map[data:map[k:5]]\": cannot convert int64 to string",
        ),
        (STEPS, "", "[5]", 400, step),
        (
            STEPS,
            "Ignore",
            "[5]",
            400,
            "json: cannot unmarshal number into Go value of type jsonpatch.Operation",
        ),
        (
            STEPS,
            "",
            "[{\"op\":5}]",
            400,
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
        ),
        (
            MERGE,
            "Ignore",
            "[]",
            422,
            " \"\" is invalid: patch: Invalid value: \"[]\": couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }",
        ),
    ];
    for (media, validation, body, code, text) in cases {
        let path = format!("{MAPS}/a?dryRun=All&fieldValidation={validation}");
        let answer = said(&server, "PATCH", &path, media, body).await;
        assert_eq!(answer, (code, text.to_owned()), "{media} {body}");
    }
    for media in [MERGE, STRATEGIC, STEPS] {
        for body in ["", "{", "[", "nul", "{}x", "{} {}"] {
            let answer = said(&server, "PATCH", &format!("{MAPS}/a"), media, body).await;
            assert_eq!(answer, (400, "invalid JSON patch".into()), "{media} {body}");
        }
    }
    // Who is not there is told before what is wrong.
    let answer = said(&server, "PATCH", &format!("{MAPS}/none"), MERGE, "[]").await;
    assert_eq!(answer, (404, "configmaps \"none\" not found".into()));
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn what_bodies_call_themselves() {
    let server = with_things().await;
    let unread = |kind: &str, why: &str, body: &str| {
        let begin: String = body.chars().take(30).collect();
        let more = if body.len() > 30 { " ..." } else { "" };
        format!(
            "the object provided is unrecognized (must be of type {kind}): {why} ({begin}{more})"
        )
    };
    let slashes = r#"{"apiVersion":"a/b/c","kind":"ConfigMap","metadata":{"name":"b"}}"#;
    let number = r#"{"kind":5,"metadata":{"name":"b"}}"#;
    let open = r#"{"apiVersion":"a/","metadata":{"name":"b"}}"#;
    let parse = "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string";
    let other =
        "the API version in the data () does not match the expected API version (example.com/v1)";
    let null = r#"{"kind":"Thing","apiVersion":null}"#;
    let cases = [
        (MAPS, slashes, 400, unread("ConfigMap", "unexpected GroupVersion string: a/b/c", slashes)),
        (THINGS, slashes, 400, unread("Thing", "unexpected GroupVersion string: a/b/c", slashes)),
        (MAPS, number, 400, unread("ConfigMap", parse, number)),
        (THINGS, number, 400, unread("Thing", parse, number)),
        (
            MAPS,
            open,
            400,
            format!("ConfigMap in version \"\" cannot be handled as a ConfigMap: Object 'apiVersion' is missing in '{open}'"),
        ),
        (MAPS, r#"{"apiVersion":"/v1","metadata":{"name":"b"}}"#, 201, String::new()),
        (MAPS, r#"{"apiVersion":"/","metadata":{"name":"c"}}"#, 201, String::new()),
        (THINGS, "{}", 400, unread("Thing", "Object 'Kind' is missing in '{}'", "{}")),
        (THINGS, r#"{"kind":"Thing","metadata":{"name":"b"}}"#, 400, other.into()),
        (THINGS, r#"{"kind":"Thing","apiVersion":"/"}"#, 400, other.into()),
        (
            THINGS,
            null,
            400,
            "Thing in version \"\" cannot be handled as a Thing: .apiVersion accessor error: <nil> is of the type <nil>, expected string".into(),
        ),
    ];
    for (path, body, code, text) in cases {
        let answer = said(&server, "POST", path, JSON, body).await;
        assert_eq!(answer, (code, text), "{path} {body}");
    }
    let applied = format!("{MAPS}/a?fieldManager=m");
    let apply = "application/apply-patch+yaml";
    let answer = said(&server, "PATCH", &applied, apply, slashes).await;
    assert_eq!(answer, (400, "invalid object type: /, Kind=".into()));
    let answer = said(&server, "DELETE", &format!("{MAPS}/b"), JSON, slashes).await;
    assert_eq!(
        answer,
        (400, "unexpected GroupVersion string: a/b/c".into())
    );
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn paths_below_and_beside_custom_resources() {
    let server = with_things().await;
    let local = server.local();
    local.create(THINGS, &thing("t", &json!({}))).await.unwrap();
    let not_found = "things.example.com \"t\" not found";
    let unsupported =
        |verb: &str| format!("{verb} is not supported on resources of kind \"things.example.com\"");
    let one = format!("{THINGS}/t");
    let none = "the server could not find the requested resource".to_owned();
    let cases = [
        ("GET", format!("{one}/status"), 404, not_found.into()),
        ("HEAD", format!("{one}/nope"), 404, String::new()),
        ("OPTIONS", format!("{one}/nope/x"), 404, not_found.into()),
        ("DELETE", format!("{one}/scale"), 405, unsupported("delete")),
        ("POST", format!("{one}/scale"), 405, unsupported("create")),
        ("OPTIONS", one.clone(), 405, unsupported("")),
        ("POST", one.clone(), 405, unsupported("create")),
        ("PUT", THINGS.into(), 400, "name must be provided".into()),
        ("HEAD", one, 200, String::new()),
        // Nobody's page, without a Status.
        (
            "GET",
            "/apis/example.com/v1/things/t".into(),
            404,
            String::new(),
        ),
        (
            "GET",
            format!("{MAPS}/kube-root-ca.crt/status"),
            404,
            none.clone(),
        ),
        (
            "PUT",
            "/api/v1/namespaces/default/pods/p/status/x".into(),
            404,
            none,
        ),
    ];
    for (method, path, code, text) in cases {
        let answer = said(&server, method, &path, JSON, "").await;
        assert_eq!(answer, (code, text), "{method} {path}");
    }
    // What is empty is not what is not there.
    let patch = json!({"list": []});
    let patched = local.merge_patch(&format!("{THINGS}/t"), &patch).await;
    let generation = patched.unwrap().at(&["metadata", "generation"]).cloned();
    assert_eq!(generation, Some(Value::from(2)));
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn pairs_and_profiles_that_do_not_fit_are_told_of() {
    let server = Server::start().await;
    let secret = json!({
        "metadata": {"name": "s"},
        "type": "kubernetes.io/tls",
        "data": {"tls.crt": "eA==", "tls.key": ""},
    });
    let path = "/api/v1/namespaces/default/secrets";
    let (code, warnings, _) = send(&server, "POST", path, JSON, &json::to_vec(&secret)).await;
    let want = "299 - \"tls: failed to find any PEM data in certificate input\"";
    assert_eq!((code, &*warnings), (201, &[want.to_owned()][..]));
    let key = "container.apparmor.security.beta.kubernetes.io/c";
    let want = format!(
        "299 - \"metadata.annotations[{key}]: deprecated since v1.30; use the \\\"appArmorProfile\\\" field instead\""
    );
    let path = "/api/v1/namespaces/default/pods?dryRun=All";
    for (annotation, of_pod, code, told) in [
        ("runtime/default", "Unconfined", 201, true),
        ("runtime/default", "RuntimeDefault", 201, false),
        // A refusal comes with what was to be said.
        ("bad", "RuntimeDefault", 422, true),
    ] {
        let pod = json!({
            "metadata": {"name": "p", "annotations": {"container.apparmor.security.beta.kubernetes.io/c": annotation}},
            "spec": {
                "securityContext": {"appArmorProfile": {"type": of_pod}},
                "containers": [{"name": "c", "image": "i"}],
            },
        });
        let (found, warnings, body) = send(&server, "POST", path, JSON, &json::to_vec(&pod)).await;
        assert_eq!(found, code, "{body}");
        assert_eq!(warnings.contains(&want), told, "{annotation}: {warnings:?}");
    }
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn what_new_objects_keep() {
    let server = Server::start().await;
    let local = server.local();
    // Not all kinds mind whose a finalizer is.
    let lease = json!({"metadata": {"name": "l", "finalizers": ["mine"]}, "spec": {}});
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    local.create(leases, &lease).await.unwrap();
    let text = "ConfigMap \"a\" is invalid: metadata.finalizers[0]: Invalid value: \"mine\": name is neither a standard finalizer name nor is it fully qualified";
    let refused = local
        .create(MAPS, &map(&json!({"finalizers": ["mine"]})))
        .await;
    super::refused(refused, 422, text);
    // A feature that is off leaves nothing behind, right or wrong.
    let job = json!({
        "metadata": {"name": "j"},
        "spec": {"template": {"spec": {
            "restartPolicy": "Never",
            "schedulingGroup": {"podGroupName": "Bad_"},
            "containers": [{"name": "c", "image": "i"}],
        }}},
    });
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let made = local.create(jobs, &job).await.unwrap();
    let path = &["spec", "template", "spec", "schedulingGroup"];
    assert_eq!(made.at(path), None);
}
