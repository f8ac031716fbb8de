//! Who decides.

use json::json;

use super::program::{Program, run};

const PODS: &str = "/api/v1/namespaces/default/pods";
const TOKENS: &str = "jane-token,jane,jane-uid,developers\n";

#[test]
fn modes_decide() {
    let files = tempfile::tempdir().unwrap();
    let tokens = files.path().join("tokens.csv");
    std::fs::write(&tokens, TOKENS).unwrap();
    let tokens = tokens.to_str().unwrap();
    // What jane may under which modes.
    for (modes, code) in [("RBAC", 403), ("AlwaysDeny,AlwaysAllow", 200)] {
        let server = Program::serve(&[
            "--token-auth-file",
            tokens,
            "--authorization-mode",
            modes,
            "--anonymous-auth=false",
            "--enable-bootstrap-token-auth=false",
        ]);
        let jane = server.admin().with_token("jane-token");
        assert_eq!(jane.whoami().map(|it| it.0), Ok("jane".to_owned()));
        assert_eq!(jane.get(PODS).code, code, "{modes}");
        assert_eq!(server.admin().with_token("other").get(PODS).code, 401);
        assert_eq!(
            server.admin().anonymous().get("/livez").code,
            401,
            "anonymous"
        );
    }
}

/// As upstream: else all could be changed by anybody.
#[test]
fn where_everything_is_allowed_nobody_is_anonymous() {
    let server = Program::serve(&["--authorization-mode", "RBAC,AlwaysAllow"]);
    assert_eq!(server.admin().anonymous().get(PODS).code, 401);
    assert_eq!(server.admin().get(PODS).code, 200);
}

#[test]
fn by_default_anonymous_requests_and_bootstrap_tokens_are_taken() {
    let server = Program::serve(&["--disable-admission-plugins", "NamespaceLifecycle"]);
    let map = json!({"metadata": {"name": "a"}});
    let nowhere = "/api/v1/namespaces/nowhere/configmaps";
    server.admin().post(nowhere, &map).expect(201);
    let nobody = server.admin().anonymous();
    assert_eq!(nobody.get("/livez").code, 200);
    assert_eq!(nobody.get(PODS).code, 403);
    let secret = json!({
        "metadata": {"name": "bootstrap-token-abcdef"},
        "type": "bootstrap.kubernetes.io/token",
        "stringData": {
            "token-id": "abcdef",
            "token-secret": "0123456789abcdef",
            "usage-bootstrap-authentication": "true",
        },
    });
    let secrets = "/api/v1/namespaces/kube-system/secrets";
    server.admin().post(secrets, &secret).expect(201);
    let node = server.admin().with_token("abcdef.0123456789abcdef");
    assert_eq!(
        node.whoami().map(|it| it.0),
        Ok("system:bootstrap:abcdef".to_owned())
    );
}

#[test]
fn modes_and_plugins_that_are_none_are_named() {
    for (modes, expected) in [
        ("rbac", "\"rbac\" is not a valid mode"),
        ("RBAC,RBAC", "more than once"),
        ("Webhook", "Webhook is not supported"),
        ("ABAC", "\"ABAC\" is not a valid mode"),
    ] {
        let (ok, said) = run(&["serve", "--ephemeral", "--authorization-mode", modes]);
        assert!(!ok && said.contains("--authorization-mode"), "{said}");
        assert!(said.contains(expected), "{said}");
    }
    let (ok, said) = run(&[
        "serve",
        "--ephemeral",
        "--enable-admission-plugins=Nonsense",
    ]);
    assert!(!ok && said.contains("Nonsense"), "{said}");
    // Names are looked at before anything is made.
    for flag in ["--enable-admission-plugins", "--controllers"] {
        let parent = tempfile::tempdir().unwrap();
        let data = parent.path().join("data");
        let data_flag = format!("--data-dir={}", data.display());
        let (ok, said) = run(&["serve", &data_flag, &format!("{flag}=Nonsense")]);
        assert!(!ok && said.contains("Nonsense"), "{said}");
        assert!(!data.exists(), "{flag}");
    }
}
