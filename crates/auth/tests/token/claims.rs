//! What tokens say, and what still must hold: upstream's claims tests.

use auth::User;
use auth::serviceaccount::{TokenError, TokenSpec, Verified};
use json::{Value, json};

use crate::support::{NOW, cluster, issuer, payload, spec, verifier};

#[test]
fn written_as_upstream_writes_them() {
    let (one, two) = (["1".to_owned()], ["1".to_owned(), "2".to_owned()]);
    let (pod, secret, node) = (
        Some(("mypod", "mypod-uid")),
        Some(("mysecret", "mysecret-uid")),
        Some(("mynode", "mynode-uid")),
    );
    let cases = [
        (
            TokenSpec { pod, ..spec() },
            r#"{"exp":1514764900,"iat":1514764800,"iss":"https://kubernetes.default.svc","jti":"fixed","kubernetes.io":{"namespace":"myns","pod":{"name":"mypod","uid":"mypod-uid"},"serviceaccount":{"name":"mysvcacct","uid":"mysvcacct-uid"}},"nbf":1514764800,"sub":"system:serviceaccount:myns:mysvcacct"}"#,
        ),
        (
            TokenSpec {
                secret,
                audiences: &one,
                ..spec()
            },
            r#"{"aud":["1"],"exp":1514764900,"iat":1514764800,"iss":"https://kubernetes.default.svc","jti":"fixed","kubernetes.io":{"namespace":"myns","secret":{"name":"mysecret","uid":"mysecret-uid"},"serviceaccount":{"name":"mysvcacct","uid":"mysvcacct-uid"}},"nbf":1514764800,"sub":"system:serviceaccount:myns:mysvcacct"}"#,
        ),
        (
            TokenSpec {
                audiences: &two,
                ..spec()
            },
            r#"{"aud":["1","2"],"exp":1514764900,"iat":1514764800,"iss":"https://kubernetes.default.svc","jti":"fixed","kubernetes.io":{"namespace":"myns","serviceaccount":{"name":"mysvcacct","uid":"mysvcacct-uid"}},"nbf":1514764800,"sub":"system:serviceaccount:myns:mysvcacct"}"#,
        ),
        (
            TokenSpec {
                pod,
                node: Some(("mynode", "")),
                expiration_seconds: 86400,
                warn_after_seconds: 3600,
                ..spec()
            },
            r#"{"exp":1514851200,"iat":1514764800,"iss":"https://kubernetes.default.svc","jti":"fixed","kubernetes.io":{"namespace":"myns","node":{"name":"mynode"},"pod":{"name":"mypod","uid":"mypod-uid"},"serviceaccount":{"name":"mysvcacct","uid":"mysvcacct-uid"},"warnafter":1514768400},"nbf":1514764800,"sub":"system:serviceaccount:myns:mysvcacct"}"#,
        ),
    ];
    for (spec, expected) in cases {
        let token = issuer().sign(&spec, NOW).unwrap();
        assert_eq!(json::to_string(&payload(&token)), expected);
    }
    for refused in [
        TokenSpec {
            pod,
            secret,
            ..spec()
        },
        TokenSpec {
            node,
            secret,
            ..spec()
        },
    ] {
        assert_eq!(issuer().sign(&refused, NOW), None);
    }
}

#[test]
fn users() {
    let audiences = ["api".to_owned()];
    let with = |pod, node| TokenSpec {
        pod,
        node,
        audiences: &audiences,
        ..spec()
    };
    let (pod, node) = (Some(("mypod", "mypod-uid")), Some(("mynode", "mynode-uid")));
    let cases: [(TokenSpec, &[(&str, &str)]); 4] = [
        (with(None, None), &[]),
        (
            with(pod, None),
            &[("pod-name", "mypod"), ("pod-uid", "mypod-uid")],
        ),
        (
            with(None, node),
            &[("node-name", "mynode"), ("node-uid", "mynode-uid")],
        ),
        (
            with(pod, Some(("gone", ""))),
            &[
                ("pod-name", "mypod"),
                ("pod-uid", "mypod-uid"),
                ("node-name", "gone"),
            ],
        ),
    ];
    for (spec, extra) in cases {
        let token = issuer().sign(&spec, NOW).unwrap();
        let found = verifier()
            .authenticate(&token, None, NOW, &cluster)
            .unwrap()
            .unwrap();
        let credential = [("credential-id", "JTI=fixed")];
        let extra = extra.iter().chain(&credential).map(|(key, value)| {
            (
                format!("authentication.kubernetes.io/{key}"),
                vec![(*value).to_owned()],
            )
        });
        let mut user = User::new(
            "system:serviceaccount:myns:mysvcacct",
            &["system:serviceaccounts", "system:serviceaccounts:myns"],
        );
        user.uid = "mysvcacct-uid".to_owned();
        user.extra = extra.collect();
        assert_eq!(found.user, user);
        assert_eq!(found.audiences, ["api"]);
    }
}

#[test]
fn times() {
    let token = issuer().sign(&spec(), NOW).unwrap();
    let verifier = verifier();
    let cases = [
        (NOW, None),
        (NOW + 100, None),
        (NOW + 160, None),
        (NOW + 161, Some("service account token has expired")),
        (NOW - 60, None),
        (NOW - 61, Some("service account token is not valid yet")),
    ];
    for (now, error) in cases {
        let found = verifier.authenticate(&token, None, now, &cluster).unwrap();
        assert_eq!(
            found.err().map(|it| it.to_string()).as_deref(),
            error,
            "{}",
            now - NOW
        );
    }
}

#[test]
fn audiences() {
    let verifier = verifier();
    let list = |texts: &[&str]| texts.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
    let cases: [(&[&str], Option<&[&str]>, Result<&[&str], &str>); 6] = [
        (&[], None, Ok(&["api"])),
        (&["api", "other"], None, Ok(&["api"])),
        (
            &["other"],
            None,
            Err(r#"token audiences ["other"] is invalid for the target audiences ["api"]"#),
        ),
        (&["other"], Some(&["x", "other"]), Ok(&["other"])),
        (
            &["api"],
            Some(&["x"]),
            Err(r#"token audiences ["api"] is invalid for the target audiences ["x"]"#),
        ),
        (
            &[],
            Some(&["x"]),
            Err(r#"token audiences ["api"] is invalid for the target audiences ["x"]"#),
        ),
    ];
    for (own, asked, expected) in cases {
        let own = list(own);
        let token = issuer()
            .sign(
                &TokenSpec {
                    audiences: &own,
                    ..spec()
                },
                NOW,
            )
            .unwrap();
        let asked = asked.map(list);
        let found = verifier
            .authenticate(&token, asked.as_deref(), NOW, &cluster)
            .unwrap();
        let found = found.map(|it| it.audiences).map_err(|it| it.to_string());
        assert_eq!(found, expected.map(list).map_err(str::to_owned));
    }
}

/// What is gone, another or being deleted invalidates the token.
#[test]
fn references() {
    let (pod, secret, node) = (
        Some(("mypod", "mypod-uid")),
        Some(("mysecret", "mysecret-uid")),
        Some(("mynode", "mynode-uid")),
    );
    let object = |uid: &str, deleted: i64| {
        let day = |seconds: i64| format!("2018-01-01T00:{:02}:{:02}Z", seconds / 60, seconds % 60);
        let mut object = json!({"metadata": {"uid": uid}});
        if deleted > 0 {
            let metadata = object.get_mut("metadata").unwrap().as_object_mut().unwrap();
            metadata.insert("deletionTimestamp", day(deleted));
        }
        Some(object)
    };
    let now = NOW + 120;
    let gone = "service account token has been invalidated";
    let cases: [(TokenSpec, &str, Option<Value>, Option<&str>); 15] = [
        (
            spec(),
            "serviceaccounts",
            None,
            Some(r#"serviceaccounts "mysvcacct" not found"#),
        ),
        (
            spec(),
            "serviceaccounts",
            object("x", 0),
            Some("service account UID (x) does not match claim (mysvcacct-uid)"),
        ),
        (
            spec(),
            "serviceaccounts",
            object("mysvcacct-uid", 59),
            Some("service account myns/mysvcacct has been deleted"),
        ),
        (spec(), "serviceaccounts", object("mysvcacct-uid", 60), None),
        (spec(), "pods", None, None),
        (TokenSpec { pod, ..spec() }, "pods", None, Some(gone)),
        (
            TokenSpec { pod, ..spec() },
            "pods",
            object("x", 0),
            Some("pod UID (x) does not match service account pod ref claim (mypod-uid)"),
        ),
        (
            TokenSpec { pod, ..spec() },
            "pods",
            object("mypod-uid", 59),
            Some(gone),
        ),
        (
            TokenSpec { pod, ..spec() },
            "pods",
            object("mypod-uid", 60),
            None,
        ),
        (TokenSpec { secret, ..spec() }, "secrets", None, Some(gone)),
        (
            TokenSpec { secret, ..spec() },
            "secrets",
            object("x", 0),
            Some("secret UID (x) does not match service account secret ref claim (mysecret-uid)"),
        ),
        (TokenSpec { node, ..spec() }, "nodes", None, Some(gone)),
        (
            TokenSpec { node, ..spec() },
            "nodes",
            object("x", 0),
            Some("node UID (x) does not match service account node ref claim (mynode-uid)"),
        ),
        (
            TokenSpec { node, ..spec() },
            "nodes",
            object("mynode-uid", 1),
            Some(gone),
        ),
        (
            TokenSpec {
                pod,
                node,
                ..spec()
            },
            "nodes",
            None,
            None,
        ),
    ];
    for (spec, changed, object, error) in cases {
        let token = issuer().sign(&spec, NOW).unwrap();
        let lookup = |resource: &str, namespace: &str, name: &str| {
            if resource == changed {
                object.clone()
            } else {
                cluster(resource, namespace, name)
            }
        };
        let found = verifier().authenticate(&token, None, now, &lookup).unwrap();
        assert_eq!(
            found.err().map(|it| it.to_string()).as_deref(),
            error,
            "{spec:?} {changed} {object:?}"
        );
    }
}

#[test]
fn tells_what_to_look_up_and_when_it_is_stale() {
    let spec = TokenSpec {
        pod: Some(("mypod", "u")),
        warn_after_seconds: 10,
        ..spec()
    };
    let token = issuer().sign(&spec, NOW).unwrap();
    let (verified, _) = verifier().verify(&token, None, NOW).unwrap().unwrap();
    let Verified::Bound(claims) = verified else {
        panic!("not legacy")
    };
    let found: Vec<_> = claims
        .references()
        .iter()
        .map(|it| (it.resource, &*it.name))
        .collect();
    assert_eq!(found, [("serviceaccounts", "mysvcacct"), ("pods", "mypod")]);
    assert_eq!(
        [NOW, NOW + 10, NOW + 15].map(|now| claims.stale_seconds(now)),
        [None, None, Some(5)]
    );
    assert_ne!(claims.check(&cluster, NOW), Ok(()));
    assert!(matches!(
        claims.check(&cluster, NOW),
        Err(TokenError::OtherUid { .. })
    ));
}
