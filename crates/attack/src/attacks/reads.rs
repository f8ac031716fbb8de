//! Reads of what is not the reader's, and reads that are made expensive.

use std::io::{self, Read as _, Write as _};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use json::json;

use super::crowd;
use crate::client::Client;
use crate::field::{Field, MAPS, NAMESPACE, SECRETS, until_allowed};
use crate::{Attack, Bounds, USUAL, Who};

/// What must never be read by others.
const CANARY: &str = "a-secret-of-somebody-else";

pub(super) const ALL: &[Attack] = &[
    Attack {
        name: "prefix-watch",
        about: "a watch of one Secret that must not show those whose names begin like it",
        who: Who::NoRole,
        bounds: USUAL,
        run: prefix_watch,
    },
    Attack {
        name: "forged-continue",
        about: "continue tokens that point elsewhere, or are none",
        who: Who::Editor,
        bounds: USUAL,
        run: forged_continue,
    },
    Attack {
        name: "path-shapes",
        about: "paths with dots, slashes and escapes that might lead to another namespace",
        who: Who::Editor,
        bounds: USUAL,
        run: path_shapes,
    },
    Attack {
        name: "huge-selectors",
        about: "label and field selectors of 60 KB, over and over",
        who: Who::Editor,
        bounds: Bounds {
            cpu: Duration::from_secs(20),
            ..USUAL
        },
        run: huge_selectors,
    },
];

fn secret(name: &str, namespace: &str) -> json::Value {
    json!({"metadata": {"name": name, "namespace": namespace}, "stringData": {"k": CANARY}})
}

fn prefix_watch(field: &mut Field) -> io::Result<()> {
    let admin = field.admin();
    admin.make(SECRETS, &json!({"metadata": {"name": "db"}}))?;
    admin.make(SECRETS, &secret("db-root", NAMESPACE))?;
    let role = json!({
        "metadata": {"name": "one-secret"},
        "rules": [{"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["db"], "verbs": ["get", "list", "watch"]}],
    });
    let group = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}");
    admin.make(&format!("{group}/roles"), &role)?;
    let binding = json!({
        "metadata": {"name": "one-secret"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "one-secret"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "mallory"}],
    });
    admin.make(&format!("{group}/rolebindings"), &binding)?;
    let mallory = field.mallory();
    until_allowed(&mallory, &format!("{SECRETS}/db"))?;
    for path in [
        format!("/api/v1/watch/namespaces/{NAMESPACE}/secrets/db?timeoutSeconds=2"),
        format!("{SECRETS}?watch=1&fieldSelector=metadata.name%3Ddb&timeoutSeconds=2"),
        format!("{SECRETS}/db?watch=1&timeoutSeconds=2"),
    ] {
        let told = watched(&mallory, &path)?;
        field.tried(1);
        if told.contains("db-root") {
            field.fault(format!("{path} shows db-root"));
        }
    }
    Ok(())
}

/// All that a watch tells until its time is over.
fn watched(client: &Client, path: &str) -> io::Result<String> {
    let mut stream = client.connect()?;
    let authorization = client.authorization();
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{authorization}\r\n"
    );
    stream.write_all(head.as_bytes())?;
    let mut told = Vec::new();
    let _ = stream.read_to_end(&mut told);
    Ok(String::from_utf8_lossy(&told).into_owned())
}

fn forged_continue(field: &mut Field) -> io::Result<()> {
    let (admin, alice) = (field.admin(), field.alice());
    admin.make(
        "/api/v1/namespaces/quiet/secrets",
        &secret("theirs", "quiet"),
    )?;
    let token = |json: &str| URL_SAFE_NO_PAD.encode(json);
    let start = |start: &str| {
        token(&format!(
            r#"{{"v":"meta.k8s.io/v1","rv":1,"start":"{start}"}}"#
        ))
    };
    let last = |start: &str| {
        token(&format!(
            r#"{{"v":"meta.k8s.io/v1","rv":-1,"start":"{start}"}}"#
        ))
    };
    let long = "a".repeat(40_000);
    let tokens = [
        "x".to_owned(),
        "%00".to_owned(),
        long.clone(),
        token("{}"),
        token("[]"),
        token(r#"{"v":"meta.k8s.io/v1","rv":9223372036854775807,"start":"a"}"#),
        token(r#"{"v":"meta.k8s.io/v1","rv":-9223372036854775808,"start":"a"}"#),
        token(r#"{"v":"meta.k8s.io/v1","rv":1e30,"start":"a"}"#),
        start("../quiet/theirs"),
        start("/registry/secrets/quiet/"),
        start("..\\u002fquiet"),
        start("\\u0000"),
        start("\\ud800"),
        last("../quiet"),
        last("\\u0000\\u0000"),
        last(""),
        last(&long),
        token(&"[".repeat(20_000)),
    ];
    for base in [MAPS, SECRETS] {
        for token in &tokens {
            let answer = alice.get(&format!("{base}?limit=5&continue={token}"));
            let told = field.expect("a forged token", answer, &[200, 400, 410, 431, 414, 504]);
            // A refusal repeats what it was asked.
            if told.is_some_and(|it| it.code == 200 && it.text().contains("theirs")) {
                field.fault(format!("{token} shows a Secret of another namespace"));
            }
        }
    }
    Ok(())
}

fn path_shapes(field: &mut Field) -> io::Result<()> {
    let (admin, alice) = (field.admin(), field.alice());
    admin.make(
        "/api/v1/namespaces/quiet/secrets",
        &secret("theirs", "quiet"),
    )?;
    let own = format!("/api/v1/namespaces/{NAMESPACE}");
    for path in [
        format!("{own}/../quiet/secrets/theirs"),
        format!("{own}/%2e%2e/quiet/secrets/theirs"),
        format!("{own}/secrets/..%2f..%2fquiet%2fsecrets%2ftheirs"),
        format!("{own}/secrets/%2e%2e%2f%2e%2e%2fquiet%2fsecrets%2ftheirs"),
        format!("{own}//secrets"),
        format!("{own}/secrets/../../quiet/secrets/theirs"),
        format!("{own}/secrets%00/../../quiet/secrets/theirs"),
        format!("//api/v1/namespaces/{NAMESPACE}/../quiet/secrets"),
        format!("/api/v1/namespaces/{NAMESPACE}%2f..%2fquiet/secrets"),
        format!("/api/v1/namespaces/{NAMESPACE}/secrets;/../../quiet"),
        "/api/v1/namespaces/quiet/secrets/theirs#/api/v1/namespaces/attack".to_owned(),
        "/api/v1/namespaces/quiet/secrets/theirs?namespace=attack".to_owned(),
        "/api/v1/namespaces/quiet/secrets".to_owned(),
        "/api/v1/secrets?fieldSelector=metadata.namespace%3Dquiet".to_owned(),
        "/api/v1/watch/namespaces/quiet/secrets?timeoutSeconds=1".to_owned(),
        "/apis//v1/namespaces/quiet/secrets".to_owned(),
        "/api/v1/namespaces/quiet/pods/x/../../secrets/theirs".to_owned(),
        "https://127.0.0.1/api/v1/namespaces/quiet/secrets".to_owned(),
    ] {
        let answer = alice.get(&path);
        let told = field.expect(&path, answer, &[200, 301, 400, 403, 404, 405]);
        if told.is_some_and(|it| it.text().contains(&base64_of(CANARY))) {
            field.fault(format!("{path} shows a Secret of another namespace"));
        }
    }
    Ok(())
}

/// As it stands in a Secret.
fn base64_of(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(text)
}

fn huge_selectors(field: &mut Field) -> io::Result<()> {
    let alice = field.alice();
    for number in 0..field.of(200, 20) {
        let labels = json!({"n": (number.to_string())});
        alice.make(
            MAPS,
            &json!({"metadata": {"generateName": "labelled-", "labels": labels}}),
        )?;
    }
    let values: Vec<String> = (0..7000).map(|it| format!("v{it}")).collect();
    let names: Vec<String> = (0..2200)
        .map(|it| format!("metadata.name!%3Dn{it}"))
        .collect();
    let keys: Vec<String> = (0..8000).map(|it| format!("!k{it}")).collect();
    let paths = [
        format!("{MAPS}?labelSelector=n+in+({})", values.join(",")),
        format!("{MAPS}?labelSelector=n+notin+({})", values.join(",")),
        format!("{MAPS}?labelSelector={}", keys.join(",")),
        format!("{MAPS}?fieldSelector={}", names.join(",")),
        format!("{MAPS}?labelSelector={}", "(".repeat(60_000)),
    ];
    let answers = crowd(8, |number| {
        let rounds = (0..10).map(|round| alice.get(&paths[(number + round) % paths.len()]));
        rounds.collect::<Vec<_>>()
    });
    for answer in answers.into_iter().flatten() {
        field.expect("a selector", answer, &[200, 400, 414, 431]);
    }
    Ok(())
}
