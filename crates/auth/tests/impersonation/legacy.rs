//! The verb `impersonate`, and the headers that ask for it.

use auth::impersonation::{is_header, wanted};
use auth::{Attributes, User};

use crate::support::{Fake, first_time, groups};

/// Upstream's authorizer for the old verb.
fn legacy(it: &Attributes) -> bool {
    if it.user.name == "system:admin" {
        return true;
    }
    let authentication = it.api_group == "authentication.k8s.io";
    it.verb == "impersonate"
        && match (&*groups(it, 0), &*groups(it, 1), it.resource) {
            ("wheel" | "regular-impersonater", _, "users")
            | ("sa-impersonater", _, "serviceaccounts")
            | (_, "group-impersonater", "groups")
            | (_, "escaped-scopes" | "almost-escaped-scopes", _) => true,
            (_, "extra-setter-scopes", "userextras") => it.subresource == "scopes",
            (_, "extra-setter-particular-scopes", "userextras") => {
                it.subresource == "scopes" && it.name == "scope-a" && authentication
            }
            (_, "extra-setter-project", "userextras") => {
                it.subresource == "project" && authentication
            }
            ("everything-impersonater", _, "users" | "groups") => it.api_group.is_empty(),
            ("everything-impersonater", _, "uids") => it.name == "some-uid" && authentication,
            ("everything-impersonater", _, "userextras") => {
                it.subresource == "scopes" && authentication
            }
            _ => false,
        }
}

fn headers(text: &[(&'static str, &'static str)]) -> Result<Option<User>, String> {
    wanted(text.iter().copied())
}

#[test]
fn the_old_verb() {
    type Headers<'a> = &'a [(&'static str, &'static str)];
    type Expected<'a> = Option<(&'a [&'a str], &'a str, &'a [(&'a str, &'a [&'a str])])>;
    let (u, g, i) = ("impersonate-user", "impersonate-group", "impersonate-uid");
    let s = "impersonate-extra-scopes";
    let cases: [(&str, &[&str], Headers, Expected); 23] = [
        ("x", &[], &[(u, "anyone")], None),
        (
            "dev",
            &["wheel"],
            &[(u, "system:admin"), (g, "some-group")],
            None,
        ),
        (
            "dev",
            &["wheel", "group-impersonater"],
            &[(u, "system:admin"), (g, "some-group")],
            Some((&["some-group", "system:authenticated"], "", &[])),
        ),
        (
            "dev",
            &["wheel"],
            &[(u, "system:admin"), (g, "some-group"), (s, "scope-a")],
            None,
        ),
        (
            "dev",
            &["wheel", "extra-setter-project"],
            &[(u, "system:admin"), (g, "some-group"), (s, "scope-a")],
            None,
        ),
        (
            "dev",
            &["wheel", "extra-setter-particular-scopes"],
            &[(u, "system:admin"), (s, "scope-a"), (s, "scope-b")],
            None,
        ),
        (
            "dev",
            &["wheel", "extra-setter-particular-scopes"],
            &[(u, "system:admin"), (s, "scope-a")],
            Some((&["system:authenticated"], "", &[("scopes", &["scope-a"])])),
        ),
        (
            "dev",
            &["wheel", "extra-setter-scopes"],
            &[(u, "system:admin"), (s, "scope-a"), (s, "scope-b")],
            Some((
                &["system:authenticated"],
                "",
                &[("scopes", &["scope-a", "scope-b"])],
            )),
        ),
        (
            "dev",
            &["wheel", "escaped-scopes"],
            &[
                (u, "system:admin"),
                (
                    "impersonate-extra-example.com%2fescaped%e1%9b%84scopes",
                    "scope-a",
                ),
            ],
            Some((
                &["system:authenticated"],
                "",
                &[("example.com/escapedᛄscopes", &["scope-a"])],
            )),
        ),
        (
            "dev",
            &["wheel", "almost-escaped-scopes"],
            &[
                (u, "system:admin"),
                ("impersonate-extra-almost%zzpercent%xxencoded", "scope-a"),
            ],
            Some((
                &["system:authenticated"],
                "",
                &[("almost%zzpercent%xxencoded", &["scope-a"])],
            )),
        ),
        (
            "dev",
            &["regular-impersonater"],
            &[(u, "tester")],
            Some((&["system:authenticated"], "", &[])),
        ),
        ("dev", &["sa-impersonater"], &[(u, "tester")], None),
        (
            "dev",
            &["sa-impersonater"],
            &[(u, "system:serviceaccount:foo:default")],
            Some((
                &[
                    "system:serviceaccounts",
                    "system:serviceaccounts:foo",
                    "system:authenticated",
                ],
                "",
                &[],
            )),
        ),
        (
            "system:admin",
            &[],
            &[(u, "system:anonymous")],
            Some((&["system:unauthenticated"], "", &[])),
        ),
        (
            "system:admin",
            &[],
            &[(u, "unknown"), (g, "system:unauthenticated")],
            Some((&["system:unauthenticated"], "", &[])),
        ),
        (
            "system:admin",
            &[],
            &[(u, "unknown"), (g, "system:authenticated")],
            Some((&["system:authenticated"], "", &[])),
        ),
        (
            "dev",
            &["wheel", "group-impersonater"],
            &[
                (u, "system:admin"),
                (g, "some-group"),
                (g, "system:authenticated"),
            ],
            Some((&["some-group", "system:authenticated"], "", &[])),
        ),
        (
            "system:admin",
            &[],
            &[(u, "system:anonymous"), (g, "system:unauthenticated")],
            Some((&["system:unauthenticated"], "", &[])),
        ),
        (
            "dev",
            &["everything-impersonater"],
            &[(u, "tester"), (i, "some-uid")],
            Some((&["system:authenticated"], "some-uid", &[])),
        ),
        (
            "dev",
            &["everything-impersonater"],
            &[(u, "tester"), (i, "disallowed-uid")],
            None,
        ),
        (
            "dev",
            &["everything-impersonater"],
            &[
                (u, "tester"),
                (i, "some-uid"),
                (g, "system:authenticated"),
                (s, "scope-a"),
                (s, "scope-b"),
            ],
            Some((
                &["system:authenticated"],
                "some-uid",
                &[("scopes", &["scope-a", "scope-b"])],
            )),
        ),
        (
            "system:admin",
            &[],
            &[(u, "system:serviceaccount:foo:default"), (g, "x")],
            Some((&["x", "system:authenticated"], "", &[])),
        ),
        (
            "dev",
            &["wheel"],
            &[(u, "first"), (u, "second")],
            Some((&["system:authenticated"], "", &[])),
        ),
    ];
    for (name, groups, text, expected) in cases {
        let requestor = User::new(name, groups);
        let wanted = headers(text).unwrap().expect("a name is there");
        assert_eq!(wanted.name, text[0].1);
        let attributes = Attributes::resource(&requestor, "get", "", "pods");
        let found = first_time(&Fake::new(legacy), &attributes, &wanted);
        let expected = expected.map(|(groups, uid, extra)| {
            let mut user = User::new(text[0].1, groups);
            uid.clone_into(&mut user.uid);
            let extra = extra.iter().map(|(key, values)| {
                (
                    (*key).to_owned(),
                    values.iter().map(|it| (*it).to_owned()).collect(),
                )
            });
            user.extra = extra.collect();
            user
        });
        assert_eq!(
            found.ok().map(|it| it.user),
            expected,
            "{name} {groups:?} {text:?}"
        );
    }
}

#[test]
fn headers_without_a_name() {
    let cases: [(&[(&'static str, &'static str)], &str); 4] = [
        (
            &[("impersonate-group", "some-group")],
            r#"requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"some-group"}, Extra:map[string][]string(nil)} without impersonating a user name"#,
        ),
        (
            &[("impersonate-uid", "some-uid")],
            r#"requested &user.DefaultInfo{Name:"", UID:"some-uid", Groups:[]string(nil), Extra:map[string][]string(nil)} without impersonating a user name"#,
        ),
        (
            &[("impersonate-extra-scopes", "scope-a")],
            r#"requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"scopes":[]string{"scope-a"}}} without impersonating a user name"#,
        ),
        (
            &[
                ("impersonate-user", ""),
                ("impersonate-user", "x"),
                ("impersonate-group", "a"),
                ("impersonate-group", "b"),
            ],
            r#"requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a", "b"}, Extra:map[string][]string(nil)} without impersonating a user name"#,
        ),
    ];
    for (text, error) in cases {
        assert_eq!(headers(text).unwrap_err(), error);
    }
    assert_eq!(headers(&[("accept", "x"), ("impersonated", "x")]), Ok(None));
    assert_eq!(headers(&[("impersonate-user", "")]), Ok(None));
    assert!(
        is_header("impersonate-extra-x")
            && is_header("impersonate-uid")
            && !is_header("impersonate")
    );
}
