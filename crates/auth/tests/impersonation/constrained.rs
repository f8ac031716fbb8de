//! Impersonation by mode, each with what it may be used for.

use auth::impersonation::{Forbidden, Impersonated, LastModes};
use auth::{Attributes, User};

use crate::support::{Fake, again, first_time, groups};

/// Upstream's authorizer for constrained impersonation.
fn constrained(it: &Attributes) -> bool {
    let user = &*it.user.name;
    let first = &*groups(it, 0);
    match (user, it.verb, it.resource) {
        ("sa-impersonater", "impersonate:serviceaccount", "serviceaccounts")
        | ("node-impersonater", "impersonate:arbitrary-node", "nodes")
        | ("user-impersonater", "impersonate:user-info", "users" | "uids")
        | (
            "many-groups-impersonater" | "many-extras-impersonater" | "mixed-impersonater",
            "impersonate:user-info",
            "users",
        )
        | ("legacy-impersonater", "impersonate", _) => true,
        (_, "impersonate:associated-node", "nodes") => first == "associate-node-impersonater",
        ("many-groups-impersonater", "impersonate:user-info", "groups") => it.name == "*",
        ("mixed-impersonater", "impersonate:user-info", "groups") => it.name != "*",
        (_, "impersonate:user-info", "groups") => first == "group-impersonater",
        ("many-extras-impersonater", "impersonate:user-info", "userextras") => {
            it.subresource == "*" && it.name == "*"
        }
        ("mixed-impersonater", "impersonate:user-info", "userextras") => {
            it.subresource == "tags.io/env" && it.name != "*"
        }
        (_, "impersonate:user-info", "userextras") => {
            first == "extra-setter-scopes" && it.subresource == "pandas.io/scopes"
        }
        (_, verb, _) => {
            verb.starts_with("impersonate-on:") && (verb.ends_with("list") || verb.ends_with("get"))
        }
    }
}

fn pods<'a>(user: &'a User, verb: &'a str) -> Attributes<'a> {
    Attributes::resource(user, verb, "", "pods")
        .namespace("bar")
        .name("foo")
}

fn allowed(user: &User, constraint: &str, found: Result<Impersonated, Forbidden>) {
    let found = found.expect("allowed");
    assert_eq!((&found.user, &*found.constraint), (user, constraint));
}

#[test]
fn constrained_modes() {
    let fake = Fake::new(constrained);
    let of = |name: &str, groups: &[&str]| User::new(name, groups);
    let run = |requestor: &User, verb: &str, wanted: &User| {
        first_time(&fake, &pods(requestor, verb), wanted)
    };

    let sa = of("system:serviceaccount:default:default", &[]);
    let groups = [
        "system:serviceaccounts",
        "system:serviceaccounts:default",
        "system:authenticated",
    ];
    let found = run(&of("sa-impersonater", &[]), "get", &sa);
    allowed(
        &User {
            groups: groups.map(str::to_owned).into(),
            ..sa
        },
        "impersonate:serviceaccount",
        found,
    );
    assert_eq!(
        fake.asked(),
        [
            "+impersonate-on:serviceaccount:get :pods foo in bar",
            "+impersonate:serviceaccount authentication.k8s.io:serviceaccounts default in default",
        ]
    );

    let node = of("system:node:node1", &[]);
    let full = of(
        "system:node:node1",
        &["system:nodes", "system:authenticated"],
    );
    allowed(
        &full,
        "impersonate:arbitrary-node",
        run(&of("node-impersonater", &[]), "get", &node),
    );
    fake.asked();

    let mut agent = of(
        "system:serviceaccount:default:default",
        &["associate-node-impersonater"],
    );
    let key = "authentication.kubernetes.io/node-name".to_owned();
    agent.extra.insert(key.clone(), vec!["node1".to_owned()]);
    allowed(
        &full,
        "impersonate:associated-node",
        run(&agent, "get", &node),
    );
    assert_eq!(
        fake.asked(),
        [
            "+impersonate-on:associated-node:get :pods foo in bar",
            "+impersonate:associated-node authentication.k8s.io:nodes *"
        ]
    );
    agent.extra.insert(key, vec!["node2".to_owned()]);
    assert_eq!(
        run(&agent, "get", &node).unwrap_err().message,
        r#"nodes.authentication.k8s.io "node1" is forbidden: User "system:serviceaccount:default:default" cannot impersonate:arbitrary-node resource "nodes" in API group "authentication.k8s.io" at the cluster scope: deny by default"#
    );
    assert_eq!(
        fake.asked(),
        [
            "+impersonate-on:arbitrary-node:get :pods foo in bar",
            "-impersonate:arbitrary-node authentication.k8s.io:nodes node1",
            "-impersonate :users system:node:node1",
        ]
    );

    let found = run(&of("legacy-impersonater", &[]), "get", &of("anyone", &[]));
    allowed(&of("anyone", &["system:authenticated"]), "", found);
    assert_eq!(
        fake.asked(),
        [
            "+impersonate-on:user-info:get :pods foo in bar",
            "-impersonate:user-info authentication.k8s.io:users anyone",
            "+impersonate :users anyone",
        ]
    );
}

#[test]
fn many_at_once() {
    let fake = Fake::new(constrained);
    let run = |requestor: &str, wanted: &User| {
        let requestor = User::new(requestor, &[]);
        first_time(&fake, &pods(&requestor, "get"), wanted)
    };
    let many = User::new("bob", &["g1", "g2", "g3", "g4"]);
    assert!(run("many-groups-impersonater", &many).is_ok());
    assert_eq!(
        fake.asked().last().unwrap(),
        "+impersonate:user-info authentication.k8s.io:groups *"
    );
    assert!(run("mixed-impersonater", &many).is_ok());
    assert_eq!(fake.asked().len(), 2 + 1 + 4);
    let few = User::new("bob", &["g1", "g2", "g3"]);
    assert!(
        run("many-groups-impersonater", &few).is_err(),
        "no wildcard for three"
    );

    let mut extras = User::new("bob", &[]);
    extras.extra.insert(
        "tags.io/env".to_owned(),
        ["a", "b", "c", "d"].map(str::to_owned).into(),
    );
    fake.asked();
    assert!(run("many-extras-impersonater", &extras).is_ok());
    assert_eq!(
        fake.asked().last().unwrap(),
        "+impersonate:user-info authentication.k8s.io:userextras/* *"
    );
    assert!(run("mixed-impersonater", &extras).is_ok());
}

#[test]
fn refusals() {
    let fake = Fake::new(constrained);
    let with_groups = |groups: &[&str]| User::new("bob", groups);
    let with_extra = |key: &str, values: &[&str]| {
        let mut user = User::new("system:admin", &[]);
        user.extra.insert(
            key.to_owned(),
            values.iter().map(|it| (*it).to_owned()).collect(),
        );
        user
    };
    let extra = r#"userextras.authentication.k8s.io is forbidden: User "user-impersonater" cannot impersonate:user-info resource "userextras" in API group "authentication.k8s.io" at the cluster scope: "#;
    let cases = [
        (
            "tester",
            "get",
            User::new("anyone", &[]),
            r#"users.authentication.k8s.io "anyone" is forbidden: User "tester" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope: deny by default"#.to_owned(),
        ),
        (
            "user-impersonater",
            "create",
            User::new("anyone", &[]),
            r#"pods "foo" is forbidden: User "user-impersonater" cannot impersonate-on:user-info:create resource "pods" in API group "" in the namespace "bar": deny by default"#.to_owned(),
        ),
        (
            "sa-impersonater",
            "get",
            User::new("system:node:node1", &[]),
            r#"nodes.authentication.k8s.io "node1" is forbidden: User "sa-impersonater" cannot impersonate:arbitrary-node resource "nodes" in API group "authentication.k8s.io" at the cluster scope: deny by default"#.to_owned(),
        ),
        (
            "user-impersonater",
            "get",
            with_groups(&["system:masters"]),
            r#"groups.authentication.k8s.io "system:masters" is forbidden: User "user-impersonater" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed"#.to_owned(),
        ),
        (
            "user-impersonater",
            "get",
            with_groups(&["a", ""]),
            r#"groups.authentication.k8s.io is forbidden: User "user-impersonater" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the empty string group is not allowed"#.to_owned(),
        ),
        (
            "user-impersonater",
            "get",
            with_extra("pandas.io/scopes", &["scope-a", "scope-b"]),
            r#"userextras.authentication.k8s.io "scope-a" is forbidden: User "user-impersonater" cannot impersonate:user-info resource "userextras/pandas.io/scopes" in API group "authentication.k8s.io" at the cluster scope: deny by default"#.to_owned(),
        ),
        (
            "user-impersonater",
            "get",
            with_extra("scopes", &["a"]),
            format!("{extra}impersonating an invalid key in extra is not allowed: extra.key: Invalid value: \"scopes\": must be a domain-prefixed path (such as \"acme.io/foo\")"),
        ),
        ("user-impersonater", "get", with_extra("", &["a"]), format!("{extra}impersonating the empty string key in extra is not allowed")),
        (
            "user-impersonater",
            "get",
            with_extra("a.io/B", &["a"]),
            format!("{extra}impersonating a non-lowercase key in extra is not allowed: \"a.io/B\""),
        ),
        ("user-impersonater", "get", with_extra("a.io/b", &[""]), format!("{extra}impersonating the empty string value in extra is not allowed")),
    ];
    for (requestor, verb, wanted, message) in cases {
        let requestor = User::new(requestor, &[]);
        let found = first_time(&fake, &pods(&requestor, verb), &wanted);
        assert_eq!(found.unwrap_err().message, message);
    }
}

#[test]
fn what_worked_last_is_tried_first() {
    let all = Fake::new(|it| it.user.name == "admin");
    let last = LastModes::default();
    let admin = User::new("admin", &[]);
    let node = User::new("system:node:n1", &[]);
    let groups = |of: &User, wanted: &User| {
        let found = again(&last, &all, &pods(of, "get"), wanted).expect("allowed");
        (found.user.groups.join(" "), found.constraint)
    };
    let is = |groups: &str, constraint: &str| (groups.to_owned(), constraint.to_owned());

    let narrow = is(
        "system:nodes system:authenticated",
        "impersonate:arbitrary-node",
    );
    assert_eq!(groups(&admin, &node), narrow);
    // Only the old verb allows a node with groups of one's own, and then it allows the node alone as well.
    let with = User::new("system:node:n1", &["g"]);
    assert_eq!(groups(&admin, &with), is("g system:authenticated", ""));
    all.asked();
    assert_eq!(groups(&admin, &node), is("system:authenticated", ""));
    assert_eq!(all.asked(), ["+impersonate :users system:node:n1"]);
    // It allows all that is asked for, so there it stays.
    let bob = User::new("bob", &[]);
    assert_eq!(groups(&admin, &bob), is("system:authenticated", ""));

    // The refusal is that of the mode tried first.
    let none = Fake::new(|_| false);
    let refused = |last: &LastModes| {
        let found = again(last, &none, &pods(&admin, "get"), &bob);
        found.expect_err("refused").message
    };
    assert!(refused(&last).contains("cannot impersonate resource \"users\""));
    assert!(refused(&LastModes::default()).contains("cannot impersonate-on:user-info:get"));
}
