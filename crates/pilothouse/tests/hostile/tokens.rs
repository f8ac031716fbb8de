//! Tokens that are not, not yet, no longer, or of somebody else.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use json::{Value, json};

use crate::MAPS;
use crate::client::{Client, DEADLINE, refused, says};

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";

fn ask(client: &Client, account: &str, request: &Value) -> (u16, String) {
    let path = format!("{ACCOUNTS}/{account}/token");
    client.admin("POST", &path, "application/json", &json::to_vec(request))
}

fn token(client: &Client, account: &str, spec: &Value) -> String {
    let (code, body) = ask(client, account, &json!({"spec": (spec.clone())}));
    assert_eq!(code, 201, "{body}");
    let answer = json::parse(body.as_bytes()).unwrap();
    answer.str_at(&["status", "token"]).unwrap().to_owned()
}

/// 401 for nobody, 403 for somebody who may not.
fn with(client: &Client, token: &str) -> u16 {
    let headers = format!("Authorization: Bearer {token}\r\n");
    client.send("GET", MAPS, &headers, b"").0
}

fn delete(client: &Client, path: &str) {
    let now = json::to_vec(&json!({"gracePeriodSeconds": 0}));
    let (code, body) = client.admin("DELETE", path, "application/json", &now);
    assert!(matches!(code, 200 | 202), "{body}");
    let started = Instant::now();
    while client.get(path).0 != 404 {
        assert!(started.elapsed() < DEADLINE, "{path} stays");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[tokio::test]
async fn nobody_gets_in_with_what_is_not_theirs() {
    let client = Client::start().await;
    client.make(ACCOUNTS, &json!({"metadata": {"name": "sa"}}));
    let good = token(&client, "sa", &json!({}));
    assert_eq!(with(&client, &good), 403, "known, without rights");
    let mut parts = good.split('.');
    let (header, claims, signature) = (
        parts.next().unwrap(),
        parts.next().unwrap(),
        parts.next().unwrap(),
    );
    let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(json::to_vec(value));
    let kid = {
        let header = BASE64_URL_SAFE_NO_PAD.decode(header).unwrap();
        let header = json::parse(&header).unwrap();
        header.str_at(&["kid"]).unwrap_or_default().to_owned()
    };
    let foreign = Client::start().await;
    foreign.make(ACCOUNTS, &json!({"metadata": {"name": "sa"}}));
    let bad = [
        "x".to_owned(),
        "a.b.c".to_owned(),
        "a".repeat(100_000),
        format!("{good}A"),
        format!("{header}.{claims}."),
        format!("{}.{claims}.", part(&json!({"alg": "none"}))),
        format!(
            "{}.{claims}.{signature}",
            part(&json!({"alg": "none", "kid": (&*kid)}))
        ),
        format!(
            "{}.{claims}.{signature}",
            part(&json!({"alg": "HS256", "kid": (&*kid)}))
        ),
        format!(
            "{}.{claims}.{signature}",
            part(&json!({"alg": "ES256", "kid": "../../dev/null"}))
        ),
        // The same issuer, the same names, another key.
        token(&foreign, "sa", &json!({})),
        // For somebody else.
        token(&client, "sa", &json!({"audiences": ["vault"]})),
        token(&client, "sa", &json!({"audiences": [""]})),
    ];
    for token in &bad {
        assert_eq!(with(&client, token), 401, "{token:.80}");
    }
    let bytes = "Authorization: Bearer \u{e9}\r\n";
    assert_eq!(client.send("GET", MAPS, bytes, b"").0, 401);
    let two = format!("Authorization: Bearer x\r\nAuthorization: Bearer {good}\r\n");
    assert_eq!(client.send("GET", MAPS, &two, b"").0, 401);
    // Only what is no bearer's is as good as nothing.
    refused(
        &client.send("GET", MAPS, "Authorization: Basic YTpi\r\n", b""),
        403,
        "User \"system:anonymous\" cannot list resource \"configmaps\"",
    );
    client.lives();
}

#[tokio::test]
async fn tokens_die_with_what_they_are_bound_to() {
    let client = Client::start().await;
    let secrets = "/api/v1/namespaces/default/secrets";
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({
        "metadata": {"name": "p"},
        "spec": {"serviceAccountName": "sa", "containers": [{"name": "c", "image": "i"}]},
    });
    client.make(ACCOUNTS, &json!({"metadata": {"name": "sa"}}));
    client.make(secrets, &json!({"metadata": {"name": "s"}}));
    client.make(pods, &pod);
    let bound = |kind: &str, name: &str| json!({"boundObjectRef": {"kind": kind, "apiVersion": "v1", "name": name}});
    // None of these is used before what it is bound to is gone: a token that was just good may be so for a moment.
    let of_secret = token(&client, "sa", &bound("Secret", "s"));
    let of_pod = token(&client, "sa", &bound("Pod", "p"));
    let of_account = token(&client, "sa", &json!({}));
    let unused = [of_secret, of_pod];
    delete(&client, &format!("{secrets}/s"));
    delete(&client, &format!("{pods}/p"));
    for token in &unused {
        assert_eq!(with(&client, token), 401);
    }
    // Nor do others of the same name bring them back.
    client.make(secrets, &json!({"metadata": {"name": "s"}}));
    client.make(pods, &pod);
    for token in &unused {
        assert_eq!(with(&client, token), 401);
    }
    delete(&client, &format!("{ACCOUNTS}/sa"));
    assert_eq!(with(&client, &of_account), 401);
    client.make(ACCOUNTS, &json!({"metadata": {"name": "sa"}}));
    assert_eq!(with(&client, &of_account), 401);
}

#[tokio::test]
async fn token_requests_ask_for_no_more_than_there_is() {
    let client = Client::start().await;
    for name in ["sa", "other"] {
        client.make(ACCOUNTS, &json!({"metadata": {"name": name}}));
    }
    client.make(
        "/api/v1/namespaces/default/pods",
        &json!({"metadata": {"name": "p"}, "spec": {"serviceAccountName": "other", "containers": [{"name": "c", "image": "i"}]}}),
    );
    client.grant(
        "accounts",
        &[
            ("", "serviceaccounts", "create"),
            ("", "serviceaccounts", "update"),
        ],
    );
    let path = format!("{ACCOUNTS}/sa/token");
    says(
        &client.alice("POST", &path, &json!({})),
        403,
        "serviceaccounts \"sa\" is forbidden: User \"alice\" cannot create resource \"serviceaccounts/token\" in API group \"\" in the namespace \"default\"",
    );
    let invalid = "TokenRequest.authentication.k8s.io";
    let bound = |kind: &str, version: &str, uid: &str| json!({"spec": {"boundObjectRef": {"kind": kind, "apiVersion": version, "name": "p", "uid": uid}}});
    let uid = {
        let (_, body) = client.get(&format!("{ACCOUNTS}/sa"));
        let account = json::parse(body.as_bytes()).unwrap();
        account.str_at(&["metadata", "uid"]).unwrap().to_owned()
    };
    for (request, code, text) in [
        (
            json!({"metadata": {"name": "other"}}),
            422,
            format!("{invalid} \"sa\" is invalid: metadata.name: Invalid value: \"other\": must match the service account name if specified"),
        ),
        (
            json!({"metadata": {"namespace": "kube-system"}}),
            400,
            "the namespace of the provided object does not match the namespace sent on the request".to_owned(),
        ),
        (
            json!({"metadata": {"uid": "123"}}),
            409,
            format!("Operation cannot be fulfilled on {invalid} \"sa\": the UID in the token request (123) does not match the UID of the service account ({uid})"),
        ),
        (
            json!({"spec": {"expirationSeconds": 1}}),
            422,
            format!("{invalid} \"\" is invalid: spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes"),
        ),
        (
            json!({"spec": {"expirationSeconds": 99_999_999_999_i64}}),
            422,
            format!("{invalid} \"\" is invalid: spec.expirationSeconds: Invalid value: 99999999999: may not specify a duration larger than 2^32 seconds"),
        ),
        (
            bound("ConfigMap", "v1", ""),
            400,
            "cannot bind token to object of type /v1, Kind=ConfigMap".to_owned(),
        ),
        (
            bound("Pod", "v1", ""),
            400,
            "cannot bind token for serviceaccount \"sa\" to pod running with different serviceaccount name.".to_owned(),
        ),
        (
            bound("Secret", "v1", ""),
            404,
            "secrets \"p\" not found".to_owned(),
        ),
    ] {
        says(&ask(&client, "sa", &request), code, &text);
    }
    let stale = bound("Pod", "v1", "x");
    says(
        &ask(&client, "other", &stale),
        409,
        "Operation cannot be fulfilled on Pod \"p\": the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated",
    );
}
