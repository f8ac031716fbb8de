//! Whether rules encompass others: upstream's policy comparator cases.

use auth::rbac::missing;

use crate::support::rules;

/// What the owner holds, what is requested, what is missing.
#[test]
fn what_is_missing() {
    let cases: [(&[&str], &[&str], &[&str]); 27] = [
        (&["get|v1|builds"], &["get|v1|builds"], &[]),
        (&["get|v1|*/scale"], &["get|v1|foo/scale"], &[]),
        (
            &["get|v1|*/scale"],
            &["get|v1|foo/status"],
            &["get|v1|foo/status"],
        ),
        (
            &[
                "delete|v1|deployments",
                "delete|v1|builds",
                "update|v1|builds,deployments",
            ],
            &["delete,update|v1|builds,deployments"],
            &[],
        ),
        (
            &[
                "delete|group1|deployments",
                "delete|group1|builds",
                "update|group1|builds,deployments",
                "delete|group2|deployments",
                "delete|group2|builds",
                "update|group2|builds,deployments",
            ],
            &["delete,update|group1,group2|builds,deployments"],
            &[],
        ),
        (
            &["delete,update|group1,group2|builds,deployments"],
            &[
                "delete|group1|deployments",
                "update|group1|builds,deployments",
                "delete|group2|builds",
            ],
            &[],
        ),
        (
            &["delete,update|v1|builds,deployments", "delete|v1|pods"],
            &["delete,update|v1|builds,deployments,pods"],
            &["update|v1|pods"],
        ),
        (&["get|*|roles"], &["get|group1,group2|roles"], &[]),
        (
            &["get|dummy-group|roles"],
            &["get|*|roles"],
            &["get|*|roles"],
        ),
        (&["get|*|roles"], &["get|*|roles"], &[]),
        (&["*|v1|roles"], &["watch,list|v1|roles"], &[]),
        (
            &["get,list,watch,create,update,delete,exec|v1|roles"],
            &["*|v1|roles"],
            &["*|v1|roles"],
        ),
        (&["*|v1|roles"], &["*|v1|roles"], &[]),
        (&["get|v1|*"], &["get|v1|resourcegroup:deployments"], &[]),
        (
            &["get|v1|roles,resourcegroup:deployments"],
            &["get|v1|*"],
            &["get|v1|*"],
        ),
        (&["get|v1|*"], &["get|v1|*"], &[]),
        (&["get|v1|pods"], &["get|v1|pods|foo,bar"], &[]),
        (&["get|v1|pods|foo,bar"], &["get|v1|pods"], &["get|v1|pods"]),
        (
            &["get|v1|pods|foo,bar"],
            &["get|v1|pods|foo,baz"],
            &["get|v1|pods|baz"],
        ),
        (&["*||||/apis"], &["*||||/apis"], &[]),
        (&["*||||*"], &["*||||/apis,/apis/v1,/"], &[]),
        (
            &["*||||/apis/*"],
            &["get||||/apis,/apis/v1"],
            &["get||||/apis"],
        ),
        (&["*||||/apis/*"], &["get||||/apis/v1/foo,/apis/v1"], &[]),
        (&["get|v1|builds||/apis"], &["get|v1|builds||/apis"], &[]),
        (
            &["get|v1|builds"],
            &["get|v1|builds||/apis"],
            &["get||||/apis"],
        ),
        (
            &["get|v1|pods|foo||", "get|v1|pods|bar"],
            &["get|v1|pods|foo,bar"],
            &[],
        ),
        (&[], &["|v1|pods"], &[]),
    ];
    for (owner, requested, expected) in cases {
        let found = missing(&rules(owner), &rules(requested));
        assert_eq!(found, rules(expected), "{owner:?} {requested:?}");
    }
}

#[test]
fn urls_cover_urls() {
    let cases = [
        ("*", "/", true),
        ("*", "/api", true),
        ("/*", "/", true),
        ("/*", "/foo", true),
        ("/api", "/api", true),
        ("/apis", "/api", false),
        ("/api/v1", "/api", false),
        ("/api/v1", "/api/v1", true),
        ("/api/*", "/api/v1", true),
        ("/api/*", "/api", false),
        ("/api/*/*", "/api/v1", false),
        ("/*/v1/*", "/api/v1", false),
    ];
    for (owner, requested, covered) in cases {
        let url = |it| rules(&[&format!("get||||{it}")]);
        assert_eq!(
            missing(&url(owner), &url(requested)).is_empty(),
            covered,
            "{owner} {requested}"
        );
    }
}

/// Lists multiply: a request of a few kilobytes must not become billions of rules.
#[test]
fn a_huge_product_is_not_spelled_out() {
    let many = |prefix| {
        (0..2000)
            .map(|at| format!("{prefix}{at}"))
            .collect::<Vec<_>>()
    };
    let rule = auth::rbac::Rule {
        verbs: many("v"),
        api_groups: many("g"),
        resources: many("r"),
        ..Default::default()
    };
    assert_eq!(
        missing(&[], std::slice::from_ref(&rule)),
        std::slice::from_ref(&rule)
    );
    assert_eq!(missing(&rules(&["*|*|*"]), &[rule]), []);
}
