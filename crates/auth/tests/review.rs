//! Reviews: read, checked, answered.
#![allow(
    clippy::too_many_lines,
    clippy::type_complexity,
    reason = "tables of cases"
)]

use auth::review::{
    AccessReview, rules_status, self_subject_status, token_asked, token_status, validate_access,
};
use auth::serviceaccount::Authenticated;
use auth::{Decision, Rbac, User};
use json::{Value, json};

/// Upstream's validation cases.
#[test]
fn validates() {
    let resource = json!({"verb": "get", "namespace": "ns"});
    let path = json!({"path": "/api"});
    let one = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    let raw = json!({"fieldSelector": {"rawSelector": "foo", "requirements": [{"key": "k", "operator": "In", "values": ["v"]}]}});
    let empty = json!({"labelSelector": {}});
    let cases: [(&str, Value, &[&str]); 12] = [
        (
            "SubjectAccessReview",
            json!({"spec": {"resourceAttributes": (resource.clone()), "user": "me"}}),
            &[],
        ),
        (
            "SubjectAccessReview",
            json!({"spec": {"nonResourceAttributes": (path.clone()), "groups": ["my-group"]}}),
            &[],
        ),
        (
            "SubjectAccessReview",
            json!({"spec": {"user": "me"}}),
            &[&format!("spec: Invalid value: null: {one}")],
        ),
        (
            "SubjectAccessReview",
            json!({"spec": {"user": "me", "resourceAttributes": (resource.clone()), "nonResourceAttributes": (path.clone())}}),
            &[&format!(
                "spec: Invalid value: {{\"Path\":\"/api\",\"Verb\":\"\"}}: {one}"
            )],
        ),
        (
            "SubjectAccessReview",
            json!({"spec": {"resourceAttributes": (resource.clone())}}),
            &["spec.user: Invalid value: \"\": at least one of user or group must be specified"],
        ),
        (
            "SubjectAccessReview",
            json!({"metadata": {"name": "a"}, "spec": {"resourceAttributes": (resource.clone()), "user": "me"}}),
            &["metadata: Invalid value: {\"name\":\"a\"}: must be empty"],
        ),
        (
            "SubjectAccessReview",
            json!({"spec": {"user": "me", "resourceAttributes": raw}}),
            &[
                "spec.resourceAttributes.fieldSelector.rawSelector: Invalid value: \"foo\": may not specified at the same time as requirements",
            ],
        ),
        (
            "SubjectAccessReview",
            json!({"spec": {"user": "me", "resourceAttributes": empty}}),
            &[
                "spec.resourceAttributes.labelSelector.requirements: Required value: when spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is required",
            ],
        ),
        (
            "SelfSubjectAccessReview",
            json!({"metadata": {"managedFields": [1], "name": ""}, "spec": {"resourceAttributes": (resource.clone())}}),
            &[],
        ),
        (
            "LocalSubjectAccessReview",
            json!({"metadata": {"namespace": "ns"}, "spec": {"user": "me", "resourceAttributes": (resource.clone())}}),
            &[],
        ),
        (
            "LocalSubjectAccessReview",
            json!({"metadata": {"namespace": "other", "name": "x"}, "spec": {"user": "me", "resourceAttributes": resource}}),
            &[
                "metadata: Invalid value: {\"namespace\":\"other\",\"name\":\"x\"}: must be empty except for namespace",
                "spec.resourceAttributes.namespace: Invalid value: \"ns\": must match metadata.namespace",
            ],
        ),
        (
            "LocalSubjectAccessReview",
            json!({"metadata": {"namespace": "ns"}, "spec": {"user": "me", "nonResourceAttributes": path}}),
            &[
                "spec.nonResourceAttributes: Invalid value: {\"Path\":\"/api\",\"Verb\":\"\"}: disallowed on this kind of request",
            ],
        ),
    ];
    for (kind, review, expected) in cases {
        let faults: Vec<_> = validate_access(kind, &review)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(faults, expected, "{kind} {review}");
    }
}

#[test]
fn asks_about_a_subject() {
    let review = json!({"spec": {
        "user": "u", "uid": "i", "groups": ["a", "b"], "extra": {"k": ["1", "2"]},
        "resourceAttributes": {
            "verb": "list", "group": "apps", "resource": "deployments", "subresource": "scale", "namespace": "ns", "name": "n",
            "fieldSelector": {"requirements": [
                {"key": "metadata.name", "operator": "In", "values": ["x"]},
                {"key": "y", "operator": "Exists"},
            ]},
            "labelSelector": {"requirements": [
                {"key": "a", "operator": "In", "values": ["1", "2"]},
                {"key": "b", "operator": "DoesNotExist"},
            ]},
        },
    }});
    let read = AccessReview::of_subject(&review);
    let it = read.attributes();
    assert_eq!(
        (&*it.user.name, &*it.user.uid, it.user.groups.len()),
        ("u", "i", 2)
    );
    assert_eq!(it.user.extra["k"], ["1", "2"]);
    assert_eq!(
        (
            it.verb,
            it.api_group,
            it.version,
            it.resource,
            it.subresource,
            it.namespace,
            it.name
        ),
        ("list", "apps", "*", "deployments", "scale", "ns", "n")
    );
    assert_eq!(
        (it.field_selector, it.label_selector),
        ("metadata.name=x", "a in (1,2),!b")
    );
    let status = read.status(&Decision::allow("because"));
    assert_eq!(
        status.to_string(),
        r#"{"allowed":true,"reason":"because","evaluationError":"spec.resourceAttributes.fieldSelector partially ignored due to parse error"}"#
    );
}

#[test]
fn asks_about_oneself() {
    let me = User::new("me", &["g"]);
    let review = json!({"spec": {"nonResourceAttributes": {"verb": "get", "path": "/healthz"}}});
    let read = AccessReview::of_self(&review, &me);
    let it = read.attributes();
    assert!(!it.is_resource_request);
    assert_eq!(
        (&*it.user.name, it.verb, it.path),
        ("me", "get", "/healthz")
    );
    let cases = [
        (Decision::no_opinion(""), r#"{"allowed":false}"#),
        (
            Decision::deny("no"),
            r#"{"allowed":false,"denied":true,"reason":"no"}"#,
        ),
    ];
    for (decision, status) in cases {
        assert_eq!(read.status(&decision).to_string(), status);
    }
}

#[test]
fn lists_rules() {
    let rbac = Rbac::new();
    rbac.put(
        "ClusterRole",
        &json!({"metadata": {"name": "r"}, "rules": [
            {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["x"]},
            {"verbs": ["get"], "nonResourceURLs": ["/a"]},
        ]}),
    );
    let binding = |name: &str, role: &str| {
        json!({
            "metadata": {"name": name, "namespace": "ns"},
            "roleRef": {"kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "User", "name": "me"}],
        })
    };
    rbac.put("RoleBinding", &binding("a", "r"));
    let me = User::new("me", &[]);
    let ask = |user: &User, namespace: &str| {
        let review = json!({"spec": {"namespace": namespace}});
        rules_status(&rbac, user, &review, true).map(|it| it.to_string())
    };
    assert_eq!(
        ask(&me, "ns").unwrap(),
        r#"{"resourceRules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["x"]}],"nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/a"]}],"incomplete":false}"#
    );
    assert_eq!(ask(&me, ""), Err("no namespace on request"));
    rbac.put("RoleBinding", &binding("b", "gone"));
    assert!(ask(&me, "ns").unwrap().ends_with(
        r#""evaluationError":"clusterrole.rbac.authorization.k8s.io \"gone\" not found"}"#
    ));
    let node = User::new("system:node:n", &["system:nodes"]);
    assert_eq!(
        ask(&node, "ns").unwrap(),
        r#"{"resourceRules":[],"nonResourceRules":[],"incomplete":true,"evaluationError":"node authorizer does not support user rule resolution"}"#
    );
}

#[test]
fn reviews_tokens() {
    let empty = json!({"spec": {}});
    let refused = token_asked(&empty);
    assert_eq!(
        refused.unwrap_err(),
        "token is required for TokenReview in authentication"
    );
    let review = json!({"spec": {"token": "t", "audiences": ["a"]}});
    let asked = token_asked(&review).unwrap();
    assert_eq!(
        (asked.token, asked.audiences),
        ("t", Some(vec!["a".to_owned()]))
    );
    let none = json!({"spec": {"token": "t", "audiences": []}});
    assert_eq!(token_asked(&none).unwrap().audiences, None);

    let mut user = User::new("me", &["g"]);
    user.extra.insert("k".to_owned(), vec!["v".to_owned()]);
    let found = Ok(Authenticated {
        user: user.clone(),
        audiences: vec!["a".to_owned()],
    });
    assert_eq!(
        token_status(&found).to_string(),
        r#"{"authenticated":true,"user":{"username":"me","groups":["g"],"extra":{"k":["v"]}},"audiences":["a"]}"#
    );
    assert_eq!(
        token_status(&Err("no".to_owned())).to_string(),
        r#"{"user":{},"error":"no"}"#
    );
    assert_eq!(
        self_subject_status(&user).to_string(),
        r#"{"userInfo":{"username":"me","groups":["g"],"extra":{"k":["v"]}}}"#
    );
}
