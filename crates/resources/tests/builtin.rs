//! The rows of built-in kinds.

use resources::{Verb, builtin};

#[test]
fn rows() {
    let pods = builtin().find("", "v1", "pods").unwrap();
    assert_eq!(pods.api_version(), "v1");
    assert_eq!(
        (&*pods.kind, &*pods.singular, pods.namespaced),
        ("Pod", "pod", true)
    );
    assert_eq!(pods.list_kind.as_deref(), Some("PodList"));
    assert_eq!((&*pods.short_names[0], &*pods.categories[0]), ("po", "all"));
    assert_eq!(pods.verbs.iter().count(), 8);
    let names: Vec<&str> = pods.subresources.iter().map(|it| &*it.name).collect();
    assert_eq!(
        names,
        [
            "attach",
            "binding",
            "ephemeralcontainers",
            "eviction",
            "exec",
            "log",
            "portforward",
            "proxy",
            "resize",
            "status"
        ]
    );
    let eviction = pods.subresource("eviction").unwrap();
    assert_eq!(
        (&*eviction.group, &*eviction.version, &*eviction.kind),
        ("policy", "v1", "Eviction")
    );
    assert!(eviction.foreign && !pods.subresource("status").unwrap().foreign);
    assert!(
        !builtin()
            .find("", "v1", "namespaces")
            .unwrap()
            .verbs
            .contains(Verb::DeleteCollection)
    );
    let reviews = builtin()
        .kind("authentication.k8s.io", "v1", "TokenReview")
        .unwrap();
    assert_eq!(reviews.verbs.iter().collect::<Vec<_>>(), [Verb::Create]);
    assert!(reviews.prefix.is_none() && reviews.list_kind.is_none());
}

#[test]
fn keys_as_kube_apiserver_lays_them_out() {
    for (group, plural, namespace, expected) in [
        ("", "services", Some("a"), "services/specs/a/x"),
        ("", "endpoints", Some("a"), "services/endpoints/a/x"),
        ("", "nodes", None, "minions/x"),
        ("", "replicationcontrollers", Some("a"), "controllers/a/x"),
        ("networking.k8s.io", "ingresses", Some("a"), "ingress/a/x"),
        ("apps", "deployments", Some("a"), "deployments/a/x"),
        ("", "namespaces", None, "namespaces/x"),
        ("events.k8s.io", "events", Some("a"), "events/a/x"),
        (
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            None,
            "apiextensions.k8s.io/customresourcedefinitions/x",
        ),
    ] {
        let row = builtin().find(group, "v1", plural).unwrap();
        assert_eq!(row.key(namespace, "x").as_deref(), Some(expected));
    }
    let events = builtin().find("events.k8s.io", "v1", "events").unwrap();
    assert_eq!((&*events.stored.0, &*events.stored.1), ("", "v1"));
}

#[test]
fn groups_stand_in_the_order_of_discovery() {
    let groups: Vec<&str> = builtin().groups().map(|it| &**it).collect();
    assert_eq!(
        groups[..5],
        [
            "apiregistration.k8s.io",
            "",
            "apps",
            "events.k8s.io",
            "authentication.k8s.io"
        ]
    );
    // 24 of Kubernetes, and `features.k8s.io`.
    assert_eq!(groups.len(), 25);
    let scaling: Vec<&str> = builtin()
        .versions
        .iter()
        .filter(|it| it.group == *"autoscaling")
        .map(|it| &*it.version)
        .collect();
    assert_eq!(scaling, ["v2", "v1"]);
}

#[test]
fn only_stable_versions_are_served_by_default() {
    for row in &builtin().resources {
        let is_stable = !row.version.contains('a') && !row.version.contains('b');
        let is_ours = row.group == *"features.k8s.io";
        assert_eq!(
            row.served_by_default,
            is_stable || is_ours,
            "{} {}",
            row.group,
            row.version
        );
    }
}

#[test]
fn every_row_has_its_types() {
    for row in &builtin().resources {
        assert!(row.builtin_schema().is_some(), "{}", row.schema);
        let find = |group, version, kind| schema::builtin().kind(group, version, kind);
        assert!(
            find(&row.group, &row.version, &row.kind).is_some(),
            "{}",
            row.kind
        );
        assert_eq!(
            row.list_kind.is_some(),
            row.verbs.contains(Verb::List),
            "{}",
            row.plural
        );
        if let Some(list) = &row.list_kind {
            assert!(find(&row.group, &row.version, list).is_some(), "{list}");
        }
        for sub in &row.subresources {
            assert!(
                find(&sub.group, &sub.version, &sub.kind).is_some(),
                "{}/{}",
                row.plural,
                sub.name
            );
        }
        assert_eq!(
            row.prefix.is_some(),
            row.verbs.contains(Verb::Watch),
            "{}",
            row.plural
        );
    }
}
