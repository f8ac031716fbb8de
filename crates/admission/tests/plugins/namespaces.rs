//! `NamespaceLifecycle`, and classes that objects get from their namespace's cluster.

use admission::{DefaultIngressClass, NamespaceLifecycle, Operation};
use json::{Value, json};

use super::world::Case;

fn namespace(phase: &str) -> Value {
    json!({"metadata": {"name": "shop"}, "status": {"phase": phase}})
}

#[test]
fn objects_need_a_namespace_that_stays() {
    let pod = json!({"metadata": {"name": "web"}});
    let create = || Case::create(&NamespaceLifecycle, "/pods");
    create().with("/namespaces", namespace("Active")).same(&pod);
    assert_eq!(create().err(&pod), "namespaces \"shop\" not found");
    let going = create().with("/namespaces", namespace("Terminating"));
    let refused = going.run(&pod).expect_err("it goes");
    assert_eq!(
        refused.message,
        "pods \"web\" is forbidden: unable to create new content in namespace shop because it is being terminated"
    );
    let cause = json::to_string(&refused.to_value());
    assert!(cause.contains("NamespaceTerminating"), "{cause}");
    let deleted =
        json!({"metadata": {"name": "shop", "deletionTimestamp": "2026-01-01T00:00:00Z"}});
    create().with("/namespaces", deleted).err(&pod);
    // What is there may still be changed and deleted.
    for operation in [Operation::Update, Operation::Delete] {
        Case {
            operation,
            ..create()
        }
        .same(&pod);
    }
    // Without a namespace there is none to look at.
    let cluster = Case {
        namespace: "",
        ..create()
    };
    cluster.same(&pod);
    let review = "authorization.k8s.io/localsubjectaccessreviews";
    Case::create(&NamespaceLifecycle, review).same(&pod);
    let other = Case::create(&NamespaceLifecycle, "authorization.k8s.io/other");
    assert_eq!(other.err(&pod), "namespaces \"shop\" not found");
    let connect = Case {
        operation: Operation::Connect,
        ..create()
    };
    assert!(!connect.handles());
    assert!(create().handles());
}

#[test]
fn the_first_namespaces_stay() {
    for (name, stays) in [
        ("default", true),
        ("kube-system", true),
        ("kube-public", true),
        ("kube-node-lease", false),
        ("shop", false),
    ] {
        let delete = Case {
            operation: Operation::Delete,
            name,
            namespace: name,
            ..Case::create(&NamespaceLifecycle, "/namespaces")
        };
        let refused = delete.run(&Value::Null).err().map(|it| it.message.clone());
        let text = format!("namespaces \"{name}\" is forbidden: this namespace may not be deleted");
        assert_eq!(refused, stays.then_some(text));
        let update = Case {
            operation: Operation::Update,
            ..delete
        };
        update.same(&json!({"metadata": {"name": name}}));
    }
    // Only namespaces of the core group are meant.
    let other = Case {
        operation: Operation::Delete,
        name: "default",
        ..Case::create(&NamespaceLifecycle, "example.com/namespaces")
    };
    other.same(&Value::Null);
}

#[test]
fn an_ingress_gets_the_newest_default_class() {
    let class = |name: &str, created: &str, default: &str| {
        let mut class = json!({"metadata": {"name": name, "creationTimestamp": created}});
        let key = "ingressclass.kubernetes.io/is-default-class";
        meta::object::set_annotation(&mut class, key, default);
        class
    };
    let ingresses = "networking.k8s.io/ingresses";
    let classes = "networking.k8s.io/ingressclasses";
    let create = || {
        Case::create(&DefaultIngressClass, ingresses)
            .with(classes, class("old", "2026-01-01T00:00:00Z", "true"))
            .with(classes, class("b-new", "2026-01-02T00:00:00Z", "true"))
            .with(classes, class("a-new", "2026-01-02T00:00:00Z", "true"))
            .with(classes, class("newest", "2026-01-03T00:00:00Z", "false"))
    };
    let named = |it: Value| it.str_at(&["spec", "ingressClassName"]).map(str::to_owned);
    let bare = json!({"metadata": {"name": "web"}});
    assert_eq!(named(create().ok(&bare)).as_deref(), Some("a-new"));
    assert_eq!(
        named(create().ok(&json!({"spec": {}}))).as_deref(),
        Some("a-new")
    );
    create().same(&json!({"spec": {"ingressClassName": "mine"}}));
    create().same(&json!({"metadata": {"annotations": {"kubernetes.io/ingress.class": "mine"}}}));
    Case::create(&DefaultIngressClass, ingresses).same(&bare);
    let update = Case {
        operation: Operation::Update,
        ..create()
    };
    update.same(&bare);
    let status = Case {
        resource: "networking.k8s.io/ingresses/status",
        ..create()
    };
    status.same(&bare);
    let other = Case {
        resource: "example.com/ingresses",
        ..create()
    };
    other.same(&bare);
}
