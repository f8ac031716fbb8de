//! Decisions and their reasons.

use auth::{Attributes, User, Verdict};

use crate::support::{binding, index, role, rule, user};

#[test]
fn bindings_in_a_namespace() {
    let rbac = index(&[
        ("ClusterRole", role("", "admin", &["*|*|*||*"])),
        (
            "RoleBinding",
            binding(
                "ns1",
                "b",
                ("ClusterRole", "admin"),
                &["User:admin", "Group:admins"],
            ),
        ),
    ]);
    let cases = [
        ("admin", "", "get", "Pods", "ns1", true),
        ("admin", "", "watch", "Pods", "ns1", true),
        ("admin", "group1", "watch", "Foobar", "ns1", true),
        ("joe", "admins", "watch", "Foobar", "ns1", true),
        ("joe", "group1,admins", "watch", "Foobar", "ns1", true),
        ("joe", "group1", "watch", "Foobar", "ns1", false),
        ("admin", "", "GET", "Pods", "ns2", false),
        ("admin", "", "GET", "Nodes", "", false),
        ("admin", "admins", "GET", "Pods", "ns2", false),
        ("admin", "admins", "GET", "Nodes", "", false),
    ];
    for (name, groups, verb, resource, namespace, expected) in cases {
        let user = user(name, groups);
        let attributes = Attributes::resource(&user, verb, "", resource).namespace(namespace);
        assert_eq!(
            rbac.decide(&attributes).allowed(),
            expected,
            "{attributes:?}"
        );
    }
}

#[test]
fn paths() {
    let bind = |name, subjects: &[&str]| binding("", name, ("ClusterRole", name), subjects);
    let rbac = index(&[
        ("ClusterRole", role("", "getter", &["get||||/apis"])),
        ("ClusterRole", role("", "all", &["*||||/apis"])),
        ("ClusterRole", role("", "prefix", &["get||||/apis/*"])),
        (
            "ClusterRoleBinding",
            bind("getter", &["User:foo", "Group:bar"]),
        ),
        (
            "ClusterRoleBinding",
            bind("all", &["User:admin", "Group:admin"]),
        ),
        (
            "ClusterRoleBinding",
            bind("prefix", &["User:prefixed", "Group:prefixed"]),
        ),
    ]);
    let cases = [
        ("foo", "", "get", "/apis", true),
        ("", "bar", "get", "/apis", true),
        ("admin", "", "get", "/apis", true),
        ("", "admin", "get", "/apis", true),
        ("admin", "", "watch", "/apis", true),
        ("", "admin", "watch", "/apis", true),
        ("prefixed", "", "get", "/apis/v1", true),
        ("", "prefixed", "get", "/apis/v1", true),
        ("prefixed", "", "get", "/apis/v1/foobar", true),
        ("", "prefixed", "get", "/apis/v1/foobar", true),
        ("foo", "", "watch", "/apis", false),
        ("", "bar", "watch", "/apis", false),
        ("foo", "", "get", "/api/v1", false),
        ("", "bar", "get", "/api/v1", false),
        ("admin", "", "get", "/api/v1", false),
        ("", "admin", "get", "/api/v1", false),
        ("prefixed", "", "get", "/api/v1", false),
        ("", "prefixed", "get", "/api/v1", false),
    ];
    for (name, groups, verb, path, expected) in cases {
        let user = user(name, groups);
        let attributes = Attributes::path(&user, verb, path);
        assert_eq!(
            rbac.decide(&attributes).allowed(),
            expected,
            "{attributes:?}"
        );
    }
}

/// A rule, and which of the requests it allows, `group resource[/subresource][ name]` with verb1 then verb2.
#[test]
fn rules_of_resources() {
    const PLAIN: [&str; 4] = [
        "group1 resource1",
        "group2 resource1",
        "group1 resource2",
        "group2 resource2",
    ];
    const SUB: [&str; 4] = [
        "group1 resource1/sub1",
        "group2 resource1/sub2",
        "group1 resource2/sub1",
        "group2 resource2/sub1",
    ];
    let cases = [
        ("*|group1|resource1", PLAIN, "1000 1000"),
        ("verb1|*|resource1", PLAIN, "1100 0000"),
        ("verb1|group1|*", PLAIN, "1010 0000"),
        (
            "verb1,verb2|group1,group2|resource1,resource2",
            PLAIN,
            "1111 1111",
        ),
        ("*|*|resource1/sub1", SUB, "1000 1000"),
        ("*|*|*/sub1", SUB, "1011 1011"),
        ("*|*|*", SUB, "1111 1111"),
        ("*|*|resource1", SUB, "0000 0000"),
        ("*|*|*/sub1", PLAIN, "0000 0000"),
        ("*|*|*/*", SUB, "0000 0000"),
        ("*|*|resource1/*", SUB, "0000 0000"),
        ("*|*|resource1/sub1", PLAIN, "0000 0000"),
        ("verb1||resource1", PLAIN, "0000 0000"),
        (
            "*|*|*|n1",
            [
                "group1 resource1 n1",
                "group1 resource1 n2",
                "group1 resource1",
                "group1 resource1 n1x",
            ],
            "1000 1000",
        ),
        (
            "*|*|*|''",
            [
                "group1 resource1 n1",
                "group1 resource1",
                "group2 resource1",
                "group1 resource2 n",
            ],
            "0110 0110",
        ),
    ];
    let user = User::default();
    for (text, requests, expected) in cases {
        let rule = rule(text);
        let found = ["verb1", "verb2"].map(|verb| {
            requests
                .map(|request| {
                    let mut words = request.split(' ');
                    let (group, resource) = (words.next().unwrap(), words.next().unwrap());
                    let (resource, sub) = resource.split_once('/').unwrap_or((resource, ""));
                    let attributes = Attributes::resource(&user, verb, group, resource)
                        .subresource(sub)
                        .name(words.next().unwrap_or_default());
                    if rule.allows(&attributes) { "1" } else { "0" }
                })
                .concat()
        });
        assert_eq!(found.join(" "), expected, "{text} {requests:?}");
    }
}

#[test]
fn rules_of_paths() {
    let paths = [
        "/foo",
        "/foo/bar",
        "/foo/baz",
        "/foo/bar/one",
        "/foo/baz/one",
        "/notfoo",
        "/notfoo/bar",
    ];
    let cases = [
        ("verb1||||*", "1111111 0000000"),
        ("verb1||||/foo/*", "0111100 0000000"),
        ("verb1||||/foo*", "1111100 0000000"),
        ("*||||/foo,/foo/bar/one", "1001000 1001000"),
        ("*|*|*", "0000000 0000000"),
    ];
    let user = User::default();
    for (text, expected) in cases {
        let rule = rule(text);
        let found = ["verb1", "verb2"].map(|verb| {
            let allows = |path| rule.allows(&Attributes::path(&user, verb, path));
            paths
                .map(|path| if allows(path) { "1" } else { "0" })
                .concat()
        });
        assert_eq!(found.join(" "), expected, "{text}");
    }
    let resource = Attributes::resource(&user, "verb1", "", "pods");
    assert!(
        !rule("*||||*").allows(&resource),
        "a path's rule allows no resource"
    );
}

#[test]
fn who_a_subject_is() {
    let admin = ("ClusterRole", "admin");
    let cases = [
        (
            "ns1",
            "ServiceAccount:robot",
            "system:serviceaccount:ns1:robot",
            "",
            true,
        ),
        (
            "ns1",
            "ServiceAccount:robot",
            "system:serviceaccount:ns2:robot",
            "",
            false,
        ),
        (
            "ns1",
            "ServiceAccount:ns2/robot",
            "system:serviceaccount:ns2:robot",
            "",
            true,
        ),
        (
            "ns1",
            "ServiceAccount:ns2/robot",
            "system:serviceaccount:ns1:robot",
            "",
            false,
        ),
        (
            "",
            "ServiceAccount:robot",
            "system:serviceaccount::robot",
            "",
            false,
        ),
        (
            "",
            "ServiceAccount:ns2/robot",
            "system:serviceaccount:ns2:robot",
            "",
            true,
        ),
        (
            "",
            "User:system:serviceaccount:ns2:robot",
            "system:serviceaccount:ns2:robot",
            "",
            true,
        ),
        (
            "",
            "Group:system:serviceaccounts:ns2",
            "x",
            "system:serviceaccounts:ns2",
            true,
        ),
        ("", "Group:g", "g", "", false),
        ("", "User:g", "x", "g", false),
        ("", "Other:u", "u", "", false),
        ("", "User:*", "u", "", false),
    ];
    for (namespace, subject, name, groups, expected) in cases {
        let kind = if namespace.is_empty() {
            "ClusterRoleBinding"
        } else {
            "RoleBinding"
        };
        let rbac = index(&[
            ("ClusterRole", role("", "admin", &["*|*|*"])),
            (kind, binding(namespace, "b", admin, &[subject])),
        ]);
        let user = user(name, groups);
        let attributes = Attributes::resource(&user, "get", "", "pods").namespace("ns1");
        assert_eq!(
            rbac.decide(&attributes).allowed(),
            expected,
            "{subject} {name}"
        );
    }
}

/// Rights add up: of the user's name, and of each group.
#[test]
fn all_bindings_count() {
    let rbac = index(&[
        ("ClusterRole", role("", "get", &["get|*|*"])),
        ("ClusterRole", role("", "list", &["list|*|*"])),
        ("ClusterRole", role("", "watch", &["watch|*|*"])),
        ("Role", role("ns", "patch", &["patch|*|*"])),
        (
            "ClusterRoleBinding",
            binding("", "1", ("ClusterRole", "get"), &["User:joe"]),
        ),
        (
            "ClusterRoleBinding",
            binding("", "2", ("ClusterRole", "list"), &["Group:a"]),
        ),
        (
            "ClusterRoleBinding",
            binding("", "3", ("ClusterRole", "watch"), &["Group:b"]),
        ),
        (
            "RoleBinding",
            binding("ns", "4", ("Role", "patch"), &["Group:b"]),
        ),
    ]);
    let joe = user("joe", "a,b");
    for (verb, expected) in [
        ("get", true),
        ("list", true),
        ("watch", true),
        ("patch", true),
        ("update", false),
    ] {
        let attributes = Attributes::resource(&joe, verb, "", "pods").namespace("ns");
        assert_eq!(rbac.decide(&attributes).allowed(), expected, "{verb}");
    }
}

#[test]
fn reasons() {
    let rbac = index(&[
        ("ClusterRole", role("", "reader", &["get|''|pods"])),
        ("Role", role("ns", "reader", &["list|''|pods"])),
        (
            "ClusterRoleBinding",
            binding("", "c", ("ClusterRole", "reader"), &["Group:a", "Group:g"]),
        ),
        (
            "RoleBinding",
            binding("ns", "r", ("Role", "reader"), &["ServiceAccount:sa"]),
        ),
        (
            "ClusterRoleBinding",
            binding("", "lost", ("ClusterRole", "gone"), &["User:lost"]),
        ),
        (
            "RoleBinding",
            binding("ns", "lost", ("Role", "gone"), &["User:lost"]),
        ),
        (
            "RoleBinding",
            binding("ns", "odd", ("Rolle", "x"), &["User:odd"]),
        ),
    ]);
    let cases = [
        (
            "u",
            "g,a",
            "get",
            r#"RBAC: allowed by ClusterRoleBinding "c" of ClusterRole "reader" to Group "a""#,
        ),
        (
            "system:serviceaccount:ns:sa",
            "",
            "list",
            r#"RBAC: allowed by RoleBinding "r/ns" of Role "reader" to ServiceAccount "sa/ns""#,
        ),
        ("u", "", "get", ""),
        (
            "lost",
            "",
            "get",
            r#"RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "gone" not found]"#,
        ),
        (
            "odd",
            "",
            "get",
            r#"RBAC: unsupported role reference kind: "Rolle""#,
        ),
    ];
    for (name, groups, verb, reason) in cases {
        let user = user(name, groups);
        let attributes = Attributes::resource(&user, verb, "", "pods").namespace("ns");
        let decision = rbac.decide(&attributes);
        assert_eq!(decision.reason, reason);
        assert_ne!(
            decision.verdict,
            Verdict::Deny,
            "RBAC never denies for good"
        );
    }
}

#[test]
fn objects_come_and_go() {
    let rbac = index(&[]);
    let joe = user("joe", "");
    let allowed = |verb| {
        let attributes = Attributes::resource(&joe, verb, "", "pods").namespace("ns");
        rbac.decide(&attributes).allowed()
    };
    let reader = ("Role", "reader");
    rbac.put(
        "RoleBinding",
        &binding("ns", "b", reader, &["User:joe", "User:joe"]),
    );
    assert!(!allowed("get"));
    rbac.put("Role", &role("ns", "reader", &["get|''|pods"]));
    assert!(allowed("get"));
    rbac.put("Role", &role("ns", "reader", &["list|''|pods"]));
    assert!(!allowed("get") && allowed("list"), "replaced");
    rbac.put("RoleBinding", &binding("ns", "b", reader, &["User:ann"]));
    assert!(!allowed("list"), "no longer a subject");
    rbac.put("RoleBinding", &binding("ns", "b", reader, &["User:joe"]));
    rbac.remove("RoleBinding", "other", "b");
    rbac.remove("ClusterRoleBinding", "ns", "b");
    assert!(allowed("list"));
    rbac.remove("RoleBinding", "ns", "b");
    assert!(!allowed("list"));

    rbac.put(
        "RoleBinding",
        &binding("", "b", ("ClusterRole", "all"), &["User:joe"]),
    );
    rbac.put("ClusterRole", &role("", "all", &["*|*|*"]));
    assert!(
        !allowed("list"),
        "a RoleBinding without a namespace binds nowhere"
    );
}

#[test]
fn rules_for_lists_what_holds() {
    let rbac = index(&[
        ("ClusterRole", role("", "c", &["get|''|nodes"])),
        ("Role", role("ns", "r", &["get|''|pods", "list|''|pods"])),
        (
            "ClusterRoleBinding",
            binding("", "z", ("ClusterRole", "c"), &["User:joe", "Group:g"]),
        ),
        (
            "RoleBinding",
            binding("ns", "a", ("Role", "r"), &["Group:g"]),
        ),
        (
            "RoleBinding",
            binding("ns", "b", ("Role", "gone"), &["Group:g"]),
        ),
    ]);
    let joe = user("joe", "g");
    let (found, errors) = rbac.rules_for(&joe, "ns");
    let verbs: Vec<_> = found.iter().map(auth::rbac::Rule::compact).collect();
    assert_eq!(
        verbs,
        [
            r#"{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}"#,
            r#"{APIGroups:[""], Resources:["pods"], Verbs:["get"]}"#,
            r#"{APIGroups:[""], Resources:["pods"], Verbs:["list"]}"#,
        ]
    );
    assert_eq!(
        errors,
        [r#"role.rbac.authorization.k8s.io "gone" not found"#]
    );
    assert_eq!(rbac.rules_for(&joe, "").0.len(), 1);
}
