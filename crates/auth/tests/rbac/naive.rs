//! The index decides as reading all objects each time would, whatever came and went before.

use std::collections::BTreeMap;

use auth::rbac::{Binding, Rule};
use auth::{Attributes, Rbac, User};
use json::Value;
use proptest::prelude::*;

use crate::support::{binding, role};

type Objects = BTreeMap<(&'static str, String, String), Value>;

/// Upstream's loop: all cluster bindings, then all of the namespace.
fn naive(objects: &Objects, attributes: &Attributes) -> bool {
    let user = attributes.user;
    objects.iter().any(|((kind, namespace, _), object)| {
        let here = match *kind {
            "ClusterRoleBinding" => true,
            "RoleBinding" => !attributes.namespace.is_empty() && namespace == attributes.namespace,
            _ => false,
        };
        let binding = Binding::of(object);
        let applies = binding.subjects.iter().any(|subject| match &*subject.kind {
            "User" => user.name == subject.name,
            "Group" => user.groups.contains(&subject.name),
            "ServiceAccount" => {
                let home = if subject.namespace.is_empty() {
                    namespace
                } else {
                    &subject.namespace
                };
                !home.is_empty()
                    && user.name == format!("system:serviceaccount:{home}:{}", subject.name)
            }
            _ => false,
        });
        let role = match &*binding.role.kind {
            "ClusterRole" => objects.get(&("ClusterRole", String::new(), binding.role.name)),
            "Role" => objects.get(&("Role", namespace.clone(), binding.role.name)),
            _ => None,
        };
        here && applies
            && role.is_some_and(|role| Rule::all_of(role).iter().any(|it| it.allows(attributes)))
    })
}

#[derive(Clone, Debug)]
enum Step {
    Put(&'static str, &'static str, &'static str, Value),
    Remove(&'static str, &'static str, &'static str),
}

fn step() -> impl Strategy<Value = Step> {
    let of = |kind: &str, namespace: &'static str| {
        if kind.starts_with("Cluster") {
            ""
        } else {
            namespace
        }
    };
    let kind = prop::sample::select(vec![
        "Role",
        "ClusterRole",
        "RoleBinding",
        "ClusterRoleBinding",
    ]);
    let namespace = prop::sample::select(vec!["n1", "n2"]);
    let name = prop::sample::select(vec!["a", "b"]);
    let rules = prop::collection::vec(
        prop::sample::select(vec![
            "get|''|pods",
            "*|''|pods|x",
            "get|*|*/log",
            "list|apps|*",
            "get||||/a*",
            "*||||/b",
        ]),
        0..3,
    );
    let subjects = prop::collection::vec(
        prop::sample::select(vec![
            "User:u",
            "Group:g",
            "Group:h",
            "ServiceAccount:s",
            "ServiceAccount:n2/s",
            "Odd:u",
        ]),
        0..4,
    );
    let target = (
        prop::sample::select(vec!["Role", "ClusterRole", "Odd"]),
        prop::sample::select(vec!["a", "b"]),
    );
    (kind, namespace, name, rules, subjects, target, 0..4_u8).prop_map(
        move |(kind, namespace, name, rules, subjects, target, dice)| {
            let namespace = of(kind, namespace);
            if dice == 0 {
                return Step::Remove(kind, namespace, name);
            }
            let object = if kind.ends_with("Binding") {
                binding(namespace, name, target, &subjects)
            } else {
                role(namespace, name, &rules)
            };
            Step::Put(kind, namespace, name, object)
        },
    )
}

proptest! {
    #[test]
    fn index_agrees(steps in prop::collection::vec(step(), 1..30)) {
        let rbac = Rbac::new();
        let mut objects = Objects::new();
        for step in steps {
            match step {
                Step::Put(kind, namespace, name, object) => {
                    rbac.put(kind, &object);
                    objects.insert((kind, namespace.to_owned(), name.to_owned()), object);
                }
                Step::Remove(kind, namespace, name) => {
                    rbac.remove(kind, namespace, name);
                    objects.remove(&(kind, namespace.to_owned(), name.to_owned()));
                }
            }
        }
        let users = [
            User::new("u", &[]),
            User::new("u", &["g", "h"]),
            User::new("x", &["h"]),
            User::new("system:serviceaccount:n1:s", &[]),
            User::new("system:serviceaccount:n2:s", &["g"]),
        ];
        for user in &users {
            for verb in ["get", "list"] {
                let pods = Attributes::resource(user, verb, "", "pods");
                let all = [
                    pods, pods.namespace("n1"), pods.namespace("n2").name("x"), pods.namespace("n2").subresource("log"),
                    Attributes::resource(user, verb, "apps", "deployments").namespace("n1"),
                    Attributes::path(user, verb, "/ab"), Attributes::path(user, verb, "/b"),
                ];
                for attributes in all {
                    prop_assert_eq!(rbac.decide(&attributes).allowed(), naive(&objects, &attributes), "{:?}", attributes);
                }
            }
        }
    }
}
