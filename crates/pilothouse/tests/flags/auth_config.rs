//! `--authentication-config` and `--authorization-config`. Texts are upstream's.

use std::fs;

use json::{Value, json};

use super::program::{Program, run};

fn refusal(flag: &str, kind: &str, config: Value) -> String {
    let place = tempfile::tempdir().expect("a directory");
    let (ok, said) = run(&[
        "serve".to_owned(),
        "--ephemeral".to_owned(),
        written(place.path(), flag, kind, config),
    ]);
    assert!(!ok, "{said}");
    said
}

fn written(place: &std::path::Path, flag: &str, kind: &str, mut config: Value) -> String {
    let fields = config.as_object_mut().expect("an object");
    fields.insert("apiVersion", "apiserver.config.k8s.io/v1");
    fields.insert("kind", kind);
    let file = place.join("config.yaml");
    fs::write(&file, config.to_string()).expect("writable");
    format!("--{flag}={}", file.display())
}

fn authentication(jwt: Value) -> String {
    let config = json!({"jwt": [jwt]});
    refusal(
        "authentication-config",
        "AuthenticationConfiguration",
        config,
    )
}

#[test]
fn issuers_are_validated_and_refused() {
    let issuer = json!({"url": "https://issuer.example.com", "audiences": ["a"]});
    let mappings = |username: Value| json!({"username": username});
    let of = |name: &str| json!({"expression": name});
    let cases = [
        (
            json!({"issuer": {"url": "http://a?b#c", "audiences": ["a", "a"]}, "claimMappings": (mappings(of("claims.sub")))}),
            vec![
                "jwt[0].issuer.url: Invalid value: \"http://a?b#c\": URL scheme must be https",
                "URL must not contain a query",
                "URL must not contain a fragment",
                "jwt[0].issuer.audiences[1]: Duplicate value: \"a\"",
                "audienceMatchPolicy must be MatchAny for multiple audiences",
            ],
        ),
        (
            json!({"issuer": (issuer.clone()), "claimMappings": (mappings(of("claim.sub")))}),
            vec![
                "jwt[0].claimMappings.username.expression: Invalid value: \"claim.sub\": compilation failed: ERROR: <input>:1:1: \
                 undeclared reference to 'claim' (in container '')",
            ],
        ),
        (
            json!({"issuer": (issuer.clone()), "claimMappings": (mappings(of("claims.email")))}),
            vec![
                "jwt[0].claimMappings.username.expression: Invalid value: \"claims.email\": claims.email_verified must be used",
            ],
        ),
        (
            json!({
                "issuer": (issuer.clone()), "claimMappings": (mappings(json!({"claim": "sub"}))),
                "claimValidationRules": [{"expression": "claims.exp"}], "userValidationRules": [{"expression": "user.username"}],
            }),
            vec![
                "jwt[0].claimValidationRules[0].expression: Invalid value: \"claims.exp\": must evaluate to bool",
                "jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set",
                "jwt[0].userValidationRules[0].expression: Invalid value: \"user.username\": must evaluate to bool",
            ],
        ),
        (
            json!({"issuer": issuer, "claimMappings": (mappings(of("'x:' + claims.sub")))}),
            vec!["tokens of other issuers (jwt) are not supported by this server"],
        ),
    ];
    for (jwt, wanted) in cases {
        let said = authentication(jwt);
        for text in wanted {
            assert!(said.contains(text), "{said}\n\n{text}");
        }
    }
}

#[test]
fn authorizers_are_validated_and_used() {
    let refused = |authorizers: Value| {
        let config = json!({"authorizers": authorizers});
        refusal("authorization-config", "AuthorizationConfiguration", config)
    };
    let webhook = |expression: &str| {
        json!([{"type": "Webhook", "name": "w", "webhook": {
            "timeout": "3s", "authorizedTTL": "30s", "unauthorizedTTL": "30s", "subjectAccessReviewVersion": "v1",
            "matchConditionSubjectAccessReviewVersion": "v1", "failurePolicy": "Deny",
            "connectionInfo": {"type": "InClusterConfig"}, "matchConditions": [{"expression": expression}],
        }}])
    };
    for (authorizers, wanted) in [
        (
            json!([]),
            "authorizers: Required value: at least one authorization mode must be defined",
        ),
        (
            json!([{"type": "Odd", "name": "a"}]),
            "authorizers[0].type: Unsupported value: \"Odd\": supported values: ",
        ),
        (
            webhook("request.user"),
            "authorizers[0].matchConditions[0].expression: Invalid value: \"request.user\": must evaluate to bool but got string",
        ),
        (webhook("request.nothing"), "undefined field 'nothing'"),
        (
            webhook("request.user == 'a'"),
            "authorization by webhook is not supported by this server",
        ),
    ] {
        let said = refused(authorizers);
        assert!(said.contains(wanted), "{said}\n\n{wanted}");
    }
    let place = tempfile::tempdir().expect("a directory");
    let config = json!({"authorizers": [{"type": "AlwaysDeny", "name": "nobody"}]});
    let flag = written(
        place.path(),
        "authorization-config",
        "AuthorizationConfiguration",
        config,
    );
    let server = Program::serve(&[flag]);
    server
        .admin()
        .anonymous()
        .get("/api/v1/namespaces")
        .expect(403);
}
