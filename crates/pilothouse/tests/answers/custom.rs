//! Custom resources that are scaled and patched, and what their definitions may say.

use json::{Value, json};
use testkit::server::Server;

use super::{JSON, ask, refused, send};

pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
pub(crate) const THINGS: &str = "/apis/example.com/v1/namespaces/default/things";

pub(crate) fn definition(versions: &Value) -> Value {
    json!({
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": (versions.clone()),
        },
    })
}

fn version(name: &str, storage: bool) -> Value {
    json!({
        "name": name,
        "served": true,
        "storage": storage,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
        "subresources": {"scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
        }},
    })
}

pub(crate) fn thing(name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": name},
        "spec": (spec.clone()),
    })
}

pub(crate) async fn with_things() -> Server {
    let server = Server::start().await;
    let versions = json!([(version("v1", true)), (version("v1beta1", false))]);
    let local = server.local();
    local
        .create(DEFINITIONS, &definition(&versions))
        .await
        .unwrap();
    server
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn things_are_scaled() {
    let server = with_things().await;
    let local = server.local();
    let made = thing("t", &json!({"replicas": 1}));
    local.create(THINGS, &made).await.unwrap();
    let scale = format!("{THINGS}/t/scale");
    let wanted = |replicas: i64| json!({"metadata": {"name": "t"}, "spec": {"replicas": replicas}});
    // Whoever names no version takes what is there.
    let scaled = local.update(&scale, &wanted(3)).await.unwrap();
    assert_eq!(scaled.at(&["spec", "replicas"]), Some(&json!(3)));
    let text = "Thing.example.com \"t\" is invalid: .spec.replicas: Invalid value: -5: should be a non-negative integer";
    refused(local.update(&scale, &wanted(-5)).await, 422, text);
    let nameless = json!({"spec": {"replicas": 1}});
    let text =
        "the name of the object (none based on URL) was undeterminable: name must be provided";
    let none = local
        .update(&format!("{THINGS}/none/scale"), &nameless)
        .await;
    refused(none, 400, text);

    for (spec, why) in [
        (
            json!({"replicas": 3_000_000_000_i64}),
            "3000000000: should be less than or equal to 2147483647",
        ),
        (
            json!({"replicas": true}),
            "0: .spec.replicas accessor error: true is of the type bool, expected int64",
        ),
    ] {
        let text =
            format!("Thing.example.com \"u\" is invalid: .spec.replicas: Invalid value: {why}");
        refused(local.create(THINGS, &thing("u", &spec)).await, 422, &text);
    }
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn things_stay_what_they_are() {
    let server = with_things().await;
    let local = server.local();
    local.create(THINGS, &thing("t", &json!({}))).await.unwrap();
    let one = format!("{THINGS}/t");
    for (patch, code, text) in [
        (
            json!({"apiVersion": "example.com/v1beta1"}),
            422,
            "Thing.example.com \"t\" is invalid: apiVersion: Invalid value: \"example.com/v1beta1\": must be example.com/v1",
        ),
        (
            json!({"apiVersion": "v1", "kind": "Foo"}),
            422,
            "Foo \"t\" is invalid: [kind: Invalid value: \"Foo\": must be Thing, apiVersion: Invalid value: \"v1\": must be example.com/v1]",
        ),
        (
            json!({"apiVersion": null}),
            500,
            "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'",
        ),
    ] {
        refused(local.merge_patch(&one, &patch).await, code, text);
    }
    for (patch, end) in [
        (
            json!({"apiVersion": "a/b/c"}),
            "unexpected GroupVersion string: a/b/c",
        ),
        (
            json!({"apiVersion": 5}),
            "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .apiVersion of type string",
        ),
        (json!({"kind": ""}), "}}'"),
    ] {
        let status = local.merge_patch(&one, &patch).await.unwrap_err();
        assert!(
            status.code == 422 && status.message.ends_with(end),
            "{status}"
        );
    }
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn finalizers_that_may_be_anybodys() {
    let server = with_things().await;
    let mut made = thing("t", &json!({}));
    let metadata =
        json!({"name": "t", "finalizers": ["example.com/fine", "mine", "a.b", "orphan"]});
    made.as_object_mut()
        .expect("an object")
        .insert("metadata", metadata);
    let body = json::to_vec(&made);
    let (code, warnings, _) = send(&server, "POST", THINGS, "application/json", &body).await;
    let rest = "to avoid accidental conflicts with other finalizer writers";
    let want = [
        format!(
            r#"299 - "metadata.finalizers: \"a.b\": prefer a domain-qualified finalizer name including a path (/) {rest}""#
        ),
        format!(
            r#"299 - "metadata.finalizers: \"mine\": prefer a domain-qualified finalizer name {rest}""#
        ),
    ];
    assert_eq!((code, warnings), (201, want.into()));
    // Those that were there are not told again.
    let patch = br#"{"metadata": {"labels": {"a": "b"}}}"#;
    let one = format!("{THINGS}/t");
    let (code, warnings, _) = send(
        &server,
        "PATCH",
        &one,
        "application/merge-patch+json",
        patch,
    )
    .await;
    assert_eq!((code, warnings), (200, Vec::new()));
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn versions_of_definitions() {
    let server = Server::start().await;
    let causes = async |versions: Value| {
        let answer = server
            .local()
            .create(DEFINITIONS, &definition(&versions))
            .await;
        let details = answer.expect_err("a refusal").details.expect("details");
        let causes = details.causes.into_iter();
        let told: Vec<String> = causes
            .map(|it| format!("{}: {}", it.field, it.message))
            .collect();
        told
    };
    let twice = causes(json!([(version("v1", true)), (version("v2", true))])).await;
    let stored = "status.storedVersions: Invalid value: [\"v1\"]: must have the storage version v2";
    assert!(twice.iter().any(|it| it == stored), "{twice:#?}");
    let odd = causes(json!([(version("V1", true))])).await;
    let first = "spec.version: Invalid value: \"V1\": a DNS-1035 label";
    assert!(odd.iter().any(|it| it.starts_with(first)), "{odd:#?}");
    let none = causes(json!([])).await;
    let storage = "spec.versions: Invalid value: null: must have exactly one version marked as storage version";
    assert!(none.iter().any(|it| it == storage), "{none:#?}");
}

fn with_parts() -> Value {
    let part = json!({
        "type": "object",
        "x-kubernetes-embedded-resource": true,
        "properties": {"data": {"type": "string"}},
    });
    let spec = json!({"type": "object", "properties": {"known": {"type": "string"}, "part": part}});
    let mut version = version("v1", true);
    let fields = version.as_object_mut().expect("an object");
    fields.insert(
        "schema",
        json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}),
    );
    fields.remove("subresources");
    definition(&json!([version]))
}

/// Objects in objects are objects, whichever way they come.
#[testkit::requires(test_store)]
#[tokio::test]
async fn things_have_parts() {
    let server = Server::start().await;
    let local = server.local();
    local.create(DEFINITIONS, &with_parts()).await.unwrap();
    let part = json!({"apiVersion": "v1", "kind": "Part", "metadata": {"name": "p", "x": 1}});
    let odd = thing("t", &json!({"part": part, "z": 1}));
    let path = format!("{THINGS}?fieldValidation=Strict");
    let (code, _, body) = send(&server, "POST", &path, JSON, &json::to_vec(&odd)).await;
    let text = r#"Thing in version "v1" cannot be handled as a Thing: strict decoding error: unknown field "spec.z", unknown field "spec.part.metadata.x""#;
    assert_eq!((code, body.str_at(&["message"])), (400, Some(text)));
    let part = json!({"apiVersion": "v1", "kind": "Part", "metadata": {"name": "p", "labels": {"a": "b"}}});
    let applied = json::to_vec(&thing("t", &json!({"part": part})));
    let path = format!("{THINGS}/t?fieldManager=m");
    let media = "application/apply-patch+yaml";
    let (code, _, body) = send(&server, "PATCH", &path, media, &applied).await;
    assert_eq!(code, 201, "{body:?}");
}

/// Their kinds are nobody's types: protobuf has no form of them.
#[testkit::requires(test_store)]
#[tokio::test]
async fn things_are_text() {
    let server = with_things().await;
    let made = thing("t", &json!({}));
    server.local().create(THINGS, &made).await.unwrap();
    let path = format!("{THINGS}/t");
    let protobuf = "application/vnd.kubernetes.protobuf";
    let get = async |accept: &str| ask(&server, "GET", &path, accept, &Value::Null).await;
    assert_eq!(get(protobuf).await.0, 406);
    let (code, _, body) = get(&format!("{protobuf},{JSON}")).await;
    assert_eq!((code, body.str_at(&["kind"])), (200, Some("Thing")));
}

/// Each version knows its own fields: what comes from another has no more, and what rests has its defaults.
#[testkit::requires(test_store)]
#[tokio::test]
async fn things_have_the_fields_of_their_version() {
    let server = Server::start().await;
    let local = server.local();
    let with = |name: &str, storage: bool, own: &str| {
        let mut version = version(name, storage);
        let fields = version.as_object_mut().expect("an object");
        let mut known = json::Object::new();
        known.insert("both", json!({"type": "string"}));
        known.insert(own, json!({"type": "string", "default": "given"}));
        let spec = json!({"type": "object", "properties": known});
        let schema = json!({"type": "object", "properties": {"spec": spec}});
        fields.insert("schema", json!({"openAPIV3Schema": schema}));
        fields.remove("subresources");
        version
    };
    let versions = json!([(with("v1", true, "old")), (with("v2", false, "new"))]);
    local
        .create(DEFINITIONS, &definition(&versions))
        .await
        .unwrap();
    let new = "/apis/example.com/v2/namespaces/default/things";
    let mut made = thing("t", &json!({"both": "x", "new": "y"}));
    let fields = made.as_object_mut().expect("an object");
    fields.insert("apiVersion", "example.com/v2");
    local.create(new, &made).await.unwrap();
    let spec = async |path: String| {
        let found = local.get(&path).await.unwrap();
        found.get("spec").cloned().unwrap_or_default()
    };
    let old = json!({"both": "x", "old": "given"});
    assert_eq!(spec(format!("{THINGS}/t")).await, old);
    assert_eq!(spec(format!("{new}/t")).await, json!({"both": "x"}));
}
