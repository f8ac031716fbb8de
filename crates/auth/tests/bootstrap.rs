//! The default policy against upstream's golden files, what it lets whom do, and reconciliation.
#![allow(
    clippy::too_many_lines,
    clippy::type_complexity,
    reason = "tables of cases"
)]

use std::path::PathBuf;

use auth::bootstrap::{Reconciled, bootstrap, node_rules, reconcile};
use auth::rbac::{Rule, aggregated_rules};
use auth::{Attributes, Rbac, User};
use json::{Object, Value, json};

/// Upstream's sources, where `KUBERNETES_SOURCE` says or beside the repository.
fn upstream() -> PathBuf {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../peers/k8s");
    let root = std::env::var_os("KUBERNETES_SOURCE").map_or_else(beside, PathBuf::from);
    root.join("plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata")
}

#[requires::requires(kubernetes_source)]
#[test]
fn is_upstreams() {
    let folder = upstream();
    let key = |object: &Value| {
        ["kind", "metadata"].map(|it| {
            let at = |key| object.str_at(&[it, key]).unwrap_or_default().to_owned();
            object
                .str_at(&[it])
                .map_or_else(|| at("namespace") + "/" + &at("name"), str::to_owned)
        })
    };
    let files = [
        "cluster-roles",
        "controller-roles",
        "namespace-roles",
        "cluster-role-bindings",
        "controller-role-bindings",
        "namespace-role-bindings",
    ];
    let mut expected: Vec<Value> = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(folder.join(file).with_extension("yaml")).unwrap();
        let list = yaml(&text);
        expected.extend(
            list.get("items")
                .and_then(Value::as_array)
                .unwrap()
                .iter()
                .cloned(),
        );
    }
    // What upstream does not serve its role cannot allow.
    let ours = json!({"verbs": ["get"], "nonResourceURLs": ["/debug/traces", "/debug/traces/*"]});
    let monitoring = expected
        .iter_mut()
        .find(|it| it.str_at(&["metadata", "name"]) == Some("system:monitoring"));
    let rules = monitoring.and_then(|it| it.get_mut("rules")?.as_array_mut());
    rules.unwrap().push(ours);
    let found = bootstrap().into_iter().map(|it| it.object);
    let is_ours = |it: &Value| {
        let name = it.str_at(&["metadata", "name"]).unwrap_or_default();
        name.starts_with("system:features-")
    };
    let (ours, mut found): (Vec<Value>, Vec<Value>) = found.partition(is_ours);
    assert_eq!(
        ours.len(),
        4,
        "three roles, and a binding for components that report"
    );
    expected.sort_by_key(key);
    found.sort_by_key(key);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected, "{:?}", key(expected));
    }
}

/// Just enough YAML for those files: block maps and lists of scalars.
fn yaml(text: &str) -> Value {
    let lines: Vec<(usize, &str)> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| (line.len() - line.trim_start().len(), line.trim_start()))
        .collect();
    let mut at = 0;
    block(&lines, &mut at, 0)
}

fn block(lines: &[(usize, &str)], at: &mut usize, indent: usize) -> Value {
    if lines[*at].1.starts_with("- ") {
        let mut items = Vec::new();
        while *at < lines.len() && lines[*at].0 == indent && lines[*at].1.starts_with("- ") {
            let rest = &lines[*at].1[2..];
            if rest.contains(": ") || rest.ends_with(':') {
                // The item is a map that starts on this line: read it as if the dash were a space.
                let mut shifted = lines.to_vec();
                shifted[*at] = (indent + 2, rest);
                items.push(block(&shifted, at, indent + 2));
            } else {
                items.push(scalar(rest));
                *at += 1;
            }
        }
        return items.into();
    }
    let mut map = Object::new();
    while *at < lines.len() && lines[*at].0 == indent && !lines[*at].1.starts_with("- ") {
        let line = lines[*at].1;
        *at += 1;
        if let Some(key) = line.strip_suffix(':') {
            let deeper = lines[*at].0;
            map.insert(key, block(lines, at, deeper));
        } else {
            let (key, value) = line.split_once(": ").unwrap();
            map.insert(key, scalar(value));
        }
    }
    map.into()
}

fn scalar(text: &str) -> Value {
    match text {
        "null" => Value::Null,
        text => text.trim_matches(['"', '\'']).into(),
    }
}

/// A cluster with nothing but the defaults, aggregation done.
fn cluster() -> Rbac {
    let rbac = Rbac::new();
    let mut all = bootstrap();
    // Until nothing changes: `admin` takes from `edit`, which takes from `view`.
    while let Some((at, rules)) = all.iter().enumerate().find_map(|(at, it)| {
        let roles = all.iter().filter(|it| it.kind == "ClusterRole");
        Some((
            at,
            aggregated_rules(&it.object, roles.map(|it| &it.object))?,
        ))
    }) {
        all[at]
            .object
            .as_object_mut()
            .unwrap()
            .insert("rules", rules);
    }
    for it in &all {
        rbac.put(it.kind, &it.object);
    }
    rbac
}

#[test]
fn lets_whom_do_what() {
    let rbac = cluster();
    let joe = User::new("joe", &["system:authenticated"]);
    let root = User::new("root", &["system:masters", "system:authenticated"]);
    let nobody = User::anonymous();
    let garbage = User::new(
        "system:serviceaccount:kube-system:generic-garbage-collector",
        &["system:serviceaccounts"],
    );
    let scheduler = User::new("system:kube-scheduler", &[]);
    let review = Attributes::resource(
        &joe,
        "create",
        "authorization.k8s.io",
        "selfsubjectaccessreviews",
    );
    let cases = [
        (Attributes::path(&joe, "get", "/apis/apps/v1"), true),
        (Attributes::path(&nobody, "get", "/apis"), false),
        (Attributes::path(&nobody, "get", "/healthz"), true),
        (Attributes::path(&nobody, "get", "/version/"), true),
        (Attributes::path(&joe, "get", "/metrics"), false),
        (review, true),
        (
            Attributes {
                user: &nobody,
                ..review
            },
            false,
        ),
        (
            Attributes::resource(&joe, "get", "", "pods").namespace("default"),
            false,
        ),
        (Attributes::resource(&root, "nuke", "any", "thing"), true),
        (Attributes::path(&root, "get", "/metrics"), true),
        (
            Attributes::resource(&garbage, "delete", "any", "thing").name("x"),
            true,
        ),
        (
            Attributes::resource(&garbage, "create", "any", "thing").name("x"),
            false,
        ),
        (
            Attributes::resource(&scheduler, "create", "", "pods").subresource("binding"),
            true,
        ),
        (
            Attributes::resource(&scheduler, "create", "", "pods"),
            false,
        ),
    ];
    for (attributes, expected) in cases {
        assert_eq!(
            rbac.decide(&attributes).allowed(),
            expected,
            "{attributes:?}"
        );
    }
}

#[test]
fn admin_is_aggregated_from_edit_and_view() {
    let rbac = cluster();
    rbac.put(
        "RoleBinding",
        &json!({
            "metadata": {"name": "b", "namespace": "ns"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "admin"},
            "subjects": [{"kind": "User", "name": "ann"}],
        }),
    );
    let ann = User::new("ann", &[]);
    let allowed = |verb, group, resource| {
        let attributes = Attributes::resource(&ann, verb, group, resource).namespace("ns");
        rbac.decide(&attributes).allowed()
    };
    assert!(allowed("list", "", "configmaps"), "of view");
    assert!(allowed("delete", "apps", "deployments"), "of edit");
    assert!(
        allowed("create", "rbac.authorization.k8s.io", "rolebindings"),
        "of admin"
    );
    assert!(!allowed("update", "", "resourcequotas"));
}

#[test]
fn nothing_to_reconcile_in_a_fresh_cluster() {
    for it in bootstrap() {
        assert_eq!(
            reconcile(Some(&it.object), &it.object),
            Reconciled::Unchanged
        );
        assert_eq!(reconcile(None, &it.object), Reconciled::Create(it.object));
    }
}

fn map(pairs: &[(&str, &str)]) -> Value {
    pairs.iter().copied().collect::<Object>().into()
}

/// Upstream's cases with union: rules, labels and annotations as expected, as they are, and as they become.
#[test]
fn reconciles_roles() {
    type Role<'a> = (
        &'a [&'a str],
        &'a [(&'a str, &'a str)],
        &'a [(&'a str, &'a str)],
    );
    let role = |(resources, labels, annotations): Role| {
        let rules = resources.iter().map(|resource| Rule {
            verbs: vec!["get".to_owned()],
            api_groups: vec![String::new()],
            resources: vec![(*resource).to_owned()],
            ..Rule::default()
        });
        let rules: Value = rules.map(|it| it.to_value()).collect();
        json!({"metadata": {"labels": (map(labels)), "annotations": (map(annotations))}, "rules": rules})
    };
    let cases: [(Role, Role, Option<Role>); 9] = [
        ((&[], &[], &[]), (&[], &[], &[]), None),
        ((&["a"], &[], &[]), (&["a"], &[], &[]), None),
        ((&["a"], &[], &[]), (&["a", "b"], &[], &[]), None),
        (
            (&["a"], &[], &[]),
            (&["b"], &[], &[]),
            Some((&["b", "a"], &[], &[])),
        ),
        (
            (&["a"], &[("1", "a")], &[]),
            (&["a"], &[("2", "b")], &[]),
            Some((&["a"], &[("1", "a"), ("2", "b")], &[])),
        ),
        (
            (&["a"], &[("1", "a")], &[]),
            (&["a"], &[("1", "b")], &[]),
            None,
        ),
        (
            (&["a"], &[("1", "a")], &[]),
            (&["b"], &[("1", "b")], &[]),
            Some((&["b", "a"], &[("1", "b")], &[])),
        ),
        (
            (&["a"], &[], &[("1", "a")]),
            (&["a"], &[], &[("2", "b")]),
            Some((&["a"], &[], &[("1", "a"), ("2", "b")])),
        ),
        (
            (
                &["pods", "nodes", "secrets"],
                &[("env", "prod"), ("color", "blue")],
                &[("description", "fancy"), ("system", "true")],
            ),
            (
                &["nodes", "images", "projects"],
                &[("color", "red"), ("team", "pm")],
                &[("system", "false"), ("vip", "yes")],
            ),
            Some((
                &["nodes", "images", "projects", "pods", "secrets"],
                &[("env", "prod"), ("color", "red"), ("team", "pm")],
                &[
                    ("description", "fancy"),
                    ("system", "false"),
                    ("vip", "yes"),
                ],
            )),
        ),
    ];
    for (expected, actual, outcome) in cases {
        let outcome = outcome.map_or(Reconciled::Unchanged, |it| Reconciled::Update(role(it)));
        assert_eq!(
            reconcile(Some(&role(actual)), &role(expected)),
            outcome,
            "{expected:?} {actual:?}"
        );
    }
}

#[test]
fn reconciles_aggregation() {
    let role = |selectors: &[&str]| {
        let selectors: Value = selectors
            .iter()
            .map(|it| json!({"matchLabels": (map(&[(*it, "x")]))}))
            .collect();
        json!({"metadata": {}, "rules": null, "aggregationRule": {"clusterRoleSelectors": selectors}})
    };
    let plain = json!({"metadata": {}, "rules": null});
    let cases = [
        (role(&["a"]), role(&["a"]), Reconciled::Unchanged),
        (
            role(&["a"]),
            role(&["b"]),
            Reconciled::Update(role(&["b", "a"])),
        ),
        (
            role(&["a"]),
            plain.clone(),
            Reconciled::Update(role(&["a"])),
        ),
        (role(&[]), plain.clone(), Reconciled::Unchanged),
        (
            plain.clone(),
            role(&["a"]),
            Reconciled::Update(plain.clone()),
        ),
    ];
    for (expected, actual, outcome) in cases {
        assert_eq!(
            reconcile(Some(&actual), &expected),
            outcome,
            "{expected} {actual}"
        );
    }
}

#[test]
fn reconciles_bindings() {
    let binding = |role: &str, subjects: &[&str]| {
        let subjects: Value = subjects
            .iter()
            .map(|it| json!({"kind": "User", "name": (*it)}))
            .collect();
        json!({"metadata": {}, "roleRef": {"kind": "ClusterRole", "name": role}, "subjects": subjects})
    };
    let cases = [
        (
            binding("r", &["a"]),
            binding("r", &["a"]),
            Reconciled::Unchanged,
        ),
        (
            binding("r", &["a"]),
            binding("r", &["a", "b"]),
            Reconciled::Unchanged,
        ),
        (
            binding("r", &["a", "a"]),
            binding("r", &["b"]),
            Reconciled::Update(binding("r", &["b", "a"])),
        ),
        (
            binding("r", &["a"]),
            binding("s", &["a"]),
            Reconciled::Recreate(binding("r", &["a"])),
        ),
    ];
    for (expected, actual, outcome) in cases {
        assert_eq!(
            reconcile(Some(&actual), &expected),
            outcome,
            "{expected} {actual}"
        );
    }
    let mut protected = binding("s", &[]);
    let annotations = json!({"rbac.authorization.kubernetes.io/autoupdate": "false"});
    let metadata = protected
        .get_mut("metadata")
        .unwrap()
        .as_object_mut()
        .unwrap();
    metadata.insert("annotations", annotations);
    assert_eq!(
        reconcile(Some(&protected), &binding("r", &[])),
        Reconciled::Protected
    );
    assert_eq!(
        reconcile(Some(&protected), &binding("s", &[])),
        Reconciled::Unchanged
    );
}

#[test]
fn every_default_is_a_whole_object() {
    for made in bootstrap() {
        let text = |path: &[&str]| made.object.str_at(path).unwrap_or_default();
        assert_eq!(text(&["kind"]), made.kind);
        assert_eq!(text(&["apiVersion"]), "rbac.authorization.k8s.io/v1");
        assert!(!text(&["metadata", "name"]).is_empty());
        let namespaced = matches!(made.kind, "Role" | "RoleBinding");
        assert_eq!(!text(&["metadata", "namespace"]).is_empty(), namespaced);
    }
    // What the Node mode allows is the role that kubelets once had.
    let rules = node_rules();
    let role = bootstrap().into_iter().find(|it| {
        it.kind == "ClusterRole" && it.object.str_at(&["metadata", "name"]) == Some("system:node")
    });
    let role = role.expect("it is there for its name").object;
    let count = role.get("rules").and_then(Value::as_array).map(Vec::len);
    assert_eq!(Some(rules.len()), count);
    assert!(!rules.is_empty());
}
