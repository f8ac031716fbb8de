use super::nodes::{Nodes, until};
use json::{Value, json};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn map(name: &str, value: usize) -> Value {
    json!({"metadata": {"name": name}, "data": {"k": (value.to_string())}})
}

fn value(map: &Value) -> &str {
    map.str_at(&["data", "k"]).unwrap_or_default()
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn what_one_was_answered_the_others_know() {
    let nodes = Nodes::start(3).await;
    let mut watch = nodes
        .client(2)
        .watch(&format!("{MAPS}?watch=true&resourceVersion=0"))
        .await
        .unwrap();
    for round in 0..12 {
        let [one, two, three] = [0, 1, 2].map(|at| nodes.client(round + at));
        let name = format!("m-{round}");
        let path = format!("{MAPS}/{name}");
        let made = one.create(MAPS, &map(&name, 0)).await.unwrap();
        assert_eq!(two.get(&path).await.unwrap(), made);
        // At the version that another server gave.
        let mut next = made.clone();
        *next.at_mut(&["data", "k"]).unwrap() = "1".into();
        let next = three.update(&path, &next).await.unwrap();
        // No version named: takes what is there, and it is not what this server saw first.
        let again = two.update(&path, &map(&name, 0)).await.unwrap();
        assert_ne!(
            meta::object::resource_version(&again),
            meta::object::resource_version(&next)
        );
        let all = one.items(MAPS).await.unwrap();
        let listed = all.iter().find(|it| meta::object::name(it) == name);
        assert_eq!(listed.map(value), Some("0"));
        let stale = three.update(&path, &next).await.unwrap_err();
        assert!(stale.is_conflict(), "{stale}");
        let patch = json!({"data": {"k": "2"}});
        let patched = one.merge_patch(&path, &patch).await.unwrap();
        assert_eq!(value(&patched), "2");
        three.delete(&path, &Value::Null).await.unwrap();
        assert!(one.get(&path).await.unwrap_err().is_not_found());
        assert!(
            two.update(&path, &map(&name, 0))
                .await
                .unwrap_err()
                .is_not_found()
        );
    }
    // Each change once, in order.
    for round in 0..12 {
        let name = format!("m-{round}");
        for (kind, data) in [
            ("ADDED", "0"),
            ("MODIFIED", "1"),
            ("MODIFIED", "0"),
            ("MODIFIED", "2"),
            ("DELETED", "2"),
        ] {
            let (told, object) = loop {
                let next = watch.next().await.expect("an event");
                // The controllers' own.
                if meta::object::name(&next.1).starts_with("m-") {
                    break next;
                }
            };
            let seen = (&*told, meta::object::name(&object), value(&object));
            assert_eq!(seen, (kind, &*name, data));
        }
    }
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn what_the_servers_learn_from_objects_holds_on_all_at_once() {
    let nodes = Nodes::start(3).await;
    for round in 0..6 {
        let [one, two, three] = [0, 1, 2].map(|at| nodes.client(round + at));
        let name = format!("n-{round}");
        let namespace = json!({"metadata": {"name": (name.clone())}});
        one.create("/api/v1/namespaces", &namespace).await.unwrap();
        let maps = format!("/api/v1/namespaces/{name}/configmaps");
        two.create(&maps, &map("m", 1)).await.unwrap();

        let group = format!("g{round}.example.com");
        let definition = json!({
            "metadata": {"name": (format!("things.{group}"))},
            "spec": {
                "group": (group.clone()),
                "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
            },
        });
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        two.create(definitions, &definition).await.unwrap();
        let things = format!("/apis/{group}/v1/namespaces/{name}/things");
        let thing = json!({"apiVersion": (format!("{group}/v1")), "kind": "Thing", "metadata": {"name": "t"}, "a": 1});
        three.create(&things, &thing).await.unwrap();
        let found = one.get(&format!("{things}/t")).await.unwrap();
        assert_eq!(found.get("a"), Some(&json!(1)));

        let alice = nodes.as_user(round + 2, "alice");
        let refused = alice.get(&format!("{maps}/m")).await.unwrap_err();
        assert_eq!(refused.code, 403, "{refused}");
        let rbac = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{name}");
        let role = json!({"metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]});
        one.create(&format!("{rbac}/roles"), &role).await.unwrap();
        let binding = json!({
            "metadata": {"name": "b"},
            "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "alice"}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
        });
        let bindings = format!("{rbac}/rolebindings");
        two.create(&bindings, &binding).await.unwrap();
        alice.get(&format!("{maps}/m")).await.unwrap();
        two.delete(&format!("{bindings}/b"), &Value::Null)
            .await
            .unwrap();
        let begun = std::time::Instant::now();
        while alice.get(&format!("{maps}/m")).await.is_ok() {
            assert!(begun.elapsed().as_secs() < 60, "the right is still there");
            tokio::task::yield_now().await;
        }

        let account = json!({"metadata": {"name": "robot"}});
        let accounts = format!("/api/v1/namespaces/{name}/serviceaccounts");
        one.create(&accounts, &account).await.unwrap();
        let token = two
            .create(&format!("{accounts}/robot/token"), &json!({"spec": {}}))
            .await
            .unwrap();
        let token = token.str_at(&["status", "token"]).expect("a token");
        let review = json!({"spec": {"token": token}});
        let reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
        let review = three.create(reviews, &review).await.unwrap();
        assert_eq!(
            review.str_at(&["status", "user", "username"]),
            Some(&*format!("system:serviceaccount:{name}:robot"))
        );
    }
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn a_change_of_a_definition_reaches_all() {
    let nodes = Nodes::start(2).await;
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let definition = json!({
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    nodes
        .client(0)
        .create(definitions, &definition)
        .await
        .unwrap();
    let things = "/apis/example.com/v1/things";
    let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}});
    nodes.client(1).create(things, &thing).await.unwrap();
    let path = format!("{definitions}/things.example.com");
    nodes.client(1).delete(&path, &Value::Null).await.unwrap();
    for client in [nodes.client(0), nodes.client(1)] {
        super::nodes::until_gone(client, &path).await;
    }
    // Made anew, it begins empty.
    nodes
        .client(1)
        .create(definitions, &definition)
        .await
        .unwrap();
    until(nodes.client(0), things, |it| {
        it.get("items")
            .and_then(Value::as_array)
            .is_some_and(Vec::is_empty)
    })
    .await;
}
