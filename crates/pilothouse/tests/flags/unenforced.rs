//! What is stored and not enforced is never so in silence.

use json::{Value, json};

use super::program::{Program, run};

/// Path, object, and what its warning says; none for what is as usual.
fn cases() -> Vec<(&'static str, Value, &'static str)> {
    let service = json!({
        "metadata": {"name": "v1.metrics.example.com"},
        "spec": {
            "group": "metrics.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100,
            "service": {"namespace": "default", "name": "metrics"}, "insecureSkipTLSVerify": true,
        },
    });
    vec![
        (
            "/api/v1/namespaces/default/resourcequotas",
            json!({"metadata": {"name": "none"}, "spec": {"hard": {"configmaps": "0"}}}),
            "not enforced",
        ),
        (
            "/apis/apiregistration.k8s.io/v1/apiservices",
            service,
            "aggregation is not supported",
        ),
        (
            "/apis/networking.k8s.io/v1/servicecidrs",
            json!({"metadata": {"name": "more"}, "spec": {"cidrs": ["10.200.0.0/24"]}}),
            "not used",
        ),
        (
            "/api/v1/namespaces/default/limitranges",
            json!({"metadata": {"name": "l"}, "spec": {"limits": []}}),
            "",
        ),
    ]
}

#[test]
fn whoever_writes_it_is_warned_and_the_start_lists_it() {
    let server = Program::serve::<&str>(&[]);
    let line = "stored and not enforced by this version: ResourceQuota, ";
    assert!(server.start.contains(line), "{}", server.start);
    let admin = server.admin();
    for (path, object, expected) in cases() {
        let answer = admin.post(path, &object).expect(201);
        let warnings = |head: &str| {
            let lines = head.lines();
            let lines = lines.filter(|it| it.to_ascii_lowercase().starts_with("warning: 299 "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let found = warnings(&answer.head);
        if expected.is_empty() {
            assert_eq!(found, [""; 0], "{path}");
            continue;
        }
        assert_eq!(found.len(), 1, "{path}: {found:?}");
        assert!(found[0].contains(expected), "{path}: {found:?}");
        // Once more when it changes.
        let mut made = answer.json();
        let name = made.str_at(&["metadata", "name"]).unwrap().to_owned();
        if let Some(metadata) = made.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("labels", json!({"a": "b"}));
        }
        let one = format!("{path}/{name}");
        let answer = admin.send("PUT", &one, &json::to_string(&made)).expect(200);
        let again = warnings(&answer.head);
        assert!(again.iter().any(|it| it.contains(expected)), "{again:?}");
    }
    // What is there at the start was warned of by nobody.
    let place = {
        server.signal(rustix::process::Signal::TERM);
        server.ended().2
    };
    let server = Program::serve_in(place, &[] as &[&str]);
    super::program::until("the log has them", || {
        let log = std::fs::read_to_string(server.place().join("stderr")).unwrap();
        log.contains("\"Stored objects are not enforced\" what=\"ResourceQuota\" count=1")
            && log.contains("what=\"APIService of another server\" count=1")
    });
}

#[test]
fn plugins_that_would_enforce_it_are_refused() {
    let name = "ResourceQuota";
    let (ok, said) = run(&["serve", "--ephemeral", "--enable-admission-plugins", name]);
    assert!(!ok, "{said}");
    let expected = format!("plugin \"{name}\" is not enforced by this server");
    assert!(said.contains(&expected), "{said}");
}
