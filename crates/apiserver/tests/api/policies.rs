//! Validating admission policies, in force as soon as they are written.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use admission::Chain;
use admission::policy::ValidatingAdmissionPolicy;
use apiserver::request_log::RequestLog;
use json::{Value, json};
use meta::Status;

use crate::fixture::Fixture;

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
const NAMESPACES: &str = "/api/v1/namespaces";
const MAPS: &str = "/api/v1/namespaces/n/configmaps";

async fn fixture() -> Fixture {
    let fixture = Fixture::with(|config| {
        let metrics = Arc::new(admission::Metrics::new(&config.metrics));
        let plugin = ValidatingAdmissionPolicy::new(
            config.authorizer.clone(),
            metrics.clone(),
            Arc::default(),
        );
        config.admission = Chain::new(vec![Box::new(plugin)], metrics);
    });
    for name in ["n", "other"] {
        let namespace = json!({"metadata": {"name": name, "labels": {"name": name}}});
        fixture.admin.create(NAMESPACES, &namespace).await.unwrap();
    }
    fixture
}

/// A policy for all config maps and its binding, with these fields of their specs.
async fn put(fixture: &Fixture, name: &str, spec: Value, binding: Value) {
    let mut policy = json!({
        "metadata": {"name": name},
        "spec": {"matchConstraints": {"resourceRules": [{
            "apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"],
        }]}},
    });
    merge(&mut policy, "spec", spec);
    fixture.admin.create(POLICIES, &policy).await.unwrap();
    let mut bound = json!({
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    });
    merge(&mut bound, "spec", binding);
    fixture.admin.create(BINDINGS, &bound).await.unwrap();
}

fn merge(into: &mut Value, key: &str, from: Value) {
    let Value::Object(from) = from else {
        panic!("no object");
    };
    let into = into.get_mut(key).and_then(Value::as_object_mut).unwrap();
    for (key, value) in from {
        into.insert(key, value);
    }
}

fn map(name: &str, data: Value) -> Value {
    json!({"metadata": {"name": name}, "data": data})
}

fn refused(result: Result<Value, Status>) -> String {
    let status = result.expect_err("a refusal");
    format!(
        "{} {} {}",
        status.code,
        status.reason.as_str(),
        status.message
    )
}

#[tokio::test]
async fn what_a_policy_denies_is_not_done() {
    let fixture = fixture().await;
    let rules = json!([{
        "expression": "object.data.size() < 2",
        "messageExpression": "'too many keys: ' + string(object.data.size())",
        "reason": "Forbidden",
    }]);
    let spec = json!({"validations": rules});
    put(&fixture, "size", spec, json!({})).await;
    let admin = &fixture.admin;
    admin
        .create(MAPS, &map("a", json!({"k": "v"})))
        .await
        .unwrap();
    let status = admin
        .create(MAPS, &map("b", json!({"k": "v", "l": "w"})))
        .await
        .unwrap_err();
    assert_eq!(
        status.to_value(),
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "configmaps \"b\" is forbidden: ValidatingAdmissionPolicy 'size' with binding 'size' denied request: too many keys: 2",
            "reason": "Forbidden",
            "details": {"name": "b", "kind": "configmaps", "causes": [
                {"message": "ValidatingAdmissionPolicy 'size' with binding 'size' denied request: too many keys: 2"},
            ]},
            "code": 403,
        })
    );
    let change = json!({"data": {"l": "w"}});
    let changed = admin.merge_patch(&format!("{MAPS}/a"), &change).await;
    assert!(refused(changed).contains("too many keys: 2"));
    // What is gone from the policy is gone.
    let path = format!("{POLICIES}/size");
    let rules = json!({"spec": {"validations": [{"expression": "true"}]}});
    admin.merge_patch(&path, &rules).await.unwrap();
    admin
        .merge_patch(&format!("{MAPS}/a"), &change)
        .await
        .unwrap();
    // Without a binding, nothing is in force.
    let rules = json!({"spec": {"validations": [{"expression": "false"}]}});
    admin.merge_patch(&path, &rules).await.unwrap();
    let denied = refused(admin.create(MAPS, &map("c", json!({}))).await);
    assert_eq!(
        denied,
        "422 Invalid configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'size' with binding 'size' denied request: failed \
         expression: false"
    );
    admin
        .delete(&format!("{BINDINGS}/size"), &Value::Null)
        .await
        .unwrap();
    admin.create(MAPS, &map("c", json!({}))).await.unwrap();
}

#[tokio::test]
async fn policies_may_only_warn_or_tell_the_audit_log() {
    let fixture = fixture().await;
    let spec = json!({
        "validations": [{"expression": "has(object.data)", "message": "no data"}],
        "auditAnnotations": [{"key": "name", "valueExpression": "'was ' + object.metadata.name"}],
    });
    let binding = json!({"validationActions": ["Warn", "Audit"]});
    put(&fixture, "data", spec, binding).await;
    let body = json::to_vec(&json!({"metadata": {"name": "a"}}));
    let headers = [("content-type", "application/json")];
    let answer = fixture.request("POST", MAPS, &headers, body).await;
    assert_eq!(answer.code, 201);
    assert_eq!(
        answer.header("warning"),
        "299 - \"Validation failed for ValidatingAdmissionPolicy 'data' with binding 'data': no data\""
    );
}

#[tokio::test]
async fn parameters_come_from_objects() {
    let fixture = fixture().await;
    let admin = &fixture.admin;
    let limit = |max: &str| json!({"metadata": {"name": "limit", "labels": {"limits": "yes"}}, "data": {"max": max}});
    let others = "/api/v1/namespaces/other/configmaps";
    let spec = json!({
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConditions": [{"name": "not-itself", "expression": "object.metadata.name != 'limit'"}],
        "validations": [{
            "expression": "object.data.size() <= int(params.data.max)",
            "messageExpression": "'at most ' + params.data.max + ' of ' + params.metadata.namespace + ' ' + params.kind",
        }],
    });
    let binding = json!({"paramRef": {"name": "limit", "parameterNotFoundAction": "Deny"}});
    put(&fixture, "limits", spec, binding).await;
    let two = map("two", json!({"a": "", "b": ""}));
    // That of the namespace of the request.
    assert_eq!(
        refused(admin.create(MAPS, &two).await),
        "422 Invalid configmaps \"two\" is forbidden: ValidatingAdmissionPolicy 'limits' with binding 'limits' denied request: \
         failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    );
    let path = format!("{BINDINGS}/limits");
    let allow = json!({"spec": {"paramRef": {"parameterNotFoundAction": "Allow"}}});
    admin.merge_patch(&path, &allow).await.unwrap();
    admin.create(MAPS, &limit("1")).await.unwrap();
    admin.create(others, &limit("2")).await.unwrap();
    let denied = refused(admin.create(MAPS, &two).await);
    assert!(
        denied.ends_with("denied request: at most 1 of n ConfigMap"),
        "{denied}"
    );
    admin.create(others, &two).await.unwrap();
    // One namespace for all.
    let other = json!({"spec": {"paramRef": {"namespace": "other"}}});
    admin.merge_patch(&path, &other).await.unwrap();
    admin.create(MAPS, &two).await.unwrap();
    // All that are selected.
    let selected = json!({"spec": {"paramRef": {
        "name": null, "namespace": null, "selector": {"matchLabels": {"limits": "yes"}},
    }}});
    admin.merge_patch(&path, &selected).await.unwrap();
    let three = map("three", json!({"a": "", "b": "", "c": ""}));
    let denied = refused(admin.create(others, &three).await);
    assert!(
        denied.ends_with("denied request: at most 2 of other ConfigMap"),
        "{denied}"
    );
}

#[tokio::test]
async fn parameters_may_be_of_a_custom_kind() {
    let fixture = fixture().await;
    let admin = &fixture.admin;
    let spec = json!({
        "paramKind": {"apiVersion": "example.com/v1", "kind": "Limit"},
        "validations": [{"expression": "object.data.size() <= params.spec.max"}],
    });
    let binding = json!({"paramRef": {"name": "strict", "parameterNotFoundAction": "Deny"}});
    put(&fixture, "custom", spec, binding).await;
    let one = map("one", json!({"a": ""}));
    let denied = refused(admin.create(MAPS, &one).await);
    assert_eq!(
        denied,
        "422 Invalid configmaps \"one\" is forbidden: ValidatingAdmissionPolicy 'custom' denied request: failed to configure \
         policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'"
    );
    let schema = json!({"type": "object", "properties": {"max": {"type": "integer"}}});
    fixture.define("limits", "Limit", "Cluster", schema).await;
    let limit = json!({
        "apiVersion": "example.com/v1", "kind": "Limit", "metadata": {"name": "strict"}, "spec": {"max": 0},
    });
    let limits = "/apis/example.com/v1/limits";
    admin.create(limits, &limit).await.unwrap();
    let denied = refused(admin.create(MAPS, &one).await);
    assert!(
        denied.ends_with("failed expression: object.data.size() <= params.spec.max"),
        "{denied}"
    );
    let more = json!({"spec": {"max": 1}});
    admin
        .merge_patch(&format!("{limits}/strict"), &more)
        .await
        .unwrap();
    admin.create(MAPS, &one).await.unwrap();
}

#[tokio::test]
async fn namespaces_and_objects_are_selected() {
    let fixture = fixture().await;
    let admin = &fixture.admin;
    let spec = json!({
        "matchConstraints": {
            "namespaceSelector": {"matchLabels": {"name": "n"}},
            "objectSelector": {"matchExpressions": [{"key": "skip", "operator": "DoesNotExist"}]},
            "resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"],
            }],
            "excludeResourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"],
                "resourceNames": ["exempt"],
            }],
        },
        "validations": [{"expression": "namespaceObject.metadata.labels.name == 'x'"}],
    });
    put(&fixture, "selects", spec, json!({})).await;
    refused(admin.create(MAPS, &map("a", json!({}))).await);
    admin.create(MAPS, &map("exempt", json!({}))).await.unwrap();
    let others = "/api/v1/namespaces/other/configmaps";
    admin.create(others, &map("a", json!({}))).await.unwrap();
    let skipped = json!({"metadata": {"name": "b", "labels": {"skip": ""}}});
    admin.create(MAPS, &skipped).await.unwrap();
    // A binding means fewer.
    let fewer = json!({"spec": {"matchResources": {"resourceRules": [{
        "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"],
        "resourceNames": ["only"],
    }]}}});
    admin
        .merge_patch(&format!("{BINDINGS}/selects"), &fewer)
        .await
        .unwrap();
    admin.create(MAPS, &map("a", json!({}))).await.unwrap();
    refused(admin.create(MAPS, &map("only", json!({}))).await);
}

#[tokio::test]
async fn deletions_and_dry_runs_are_judged() {
    let fixture = fixture().await;
    let admin = &fixture.admin;
    let spec = json!({"validations": [
        {"expression": "request.operation != 'DELETE' || oldObject.metadata.name != 'kept'", "message": "it is kept"},
        {"expression": "request.operation != 'DELETE' || object == null"},
        {"expression": "!request.dryRun || request.options.kind == 'CreateOptions'"},
        {"expression": "!request.dryRun || object.metadata.name != 'dry'", "message": "not even dry"},
    ]});
    put(&fixture, "deletes", spec, json!({})).await;
    for name in ["kept", "gone", "dry"] {
        admin.create(MAPS, &map(name, json!({}))).await.unwrap();
    }
    let gone = admin.delete(&format!("{MAPS}/gone"), &Value::Null).await;
    gone.unwrap();
    let kept = admin.delete(&format!("{MAPS}/kept"), &Value::Null).await;
    assert!(refused(kept).ends_with("denied request: it is kept"));
    let all = admin.delete(MAPS, &Value::Null).await;
    assert!(refused(all).contains("it is kept"));
    admin.get(&format!("{MAPS}/kept")).await.unwrap();
    let dry = format!("{MAPS}?dryRun=All");
    admin.create(&dry, &map("wet", json!({}))).await.unwrap();
    let denied = refused(admin.create(&dry, &map("dry", json!({}))).await);
    assert!(denied.ends_with("not even dry"), "{denied}");
}

#[tokio::test]
async fn expressions_ask_what_the_user_may_do() {
    let fixture = fixture().await;
    let spec = json!({"validations": [{
        "expression": "!has(object.data) || authorizer.group('').resource('secrets').namespace('n').check('get').allowed()",
        "message": "data is for those who read secrets",
    }, {
        "expression": "authorizer.requestResource.check('create').allowed() && request.userInfo.username != 'admin' \
                       || request.userInfo.username == 'admin'",
    }]});
    put(&fixture, "asks", spec, json!({})).await;
    let rule = json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]});
    fixture.grant("alice", rule).await;
    let alice = fixture.user("alice");
    alice
        .create(MAPS, &json!({"metadata": {"name": "a"}}))
        .await
        .unwrap();
    let with_data = map("b", json!({"k": "v"}));
    let denied = refused(alice.create(MAPS, &with_data).await);
    assert!(
        denied.ends_with("data is for those who read secrets"),
        "{denied}"
    );
    fixture.admin.create(MAPS, &with_data).await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_evaluated_counts_as_the_policy_says() {
    let fixture = fixture().await;
    let admin = &fixture.admin;
    let spec = json!({"validations": [{"expression": "object.data.missing == 'x'"}]});
    put(&fixture, "fails", spec, json!({})).await;
    let denied = refused(admin.create(MAPS, &map("a", json!({"k": "v"}))).await);
    assert!(
        denied.ends_with(
            "expression 'object.data.missing == 'x'' resulted in error: no such key: missing"
        ),
        "{denied}"
    );
    let ignore = json!({"spec": {"failurePolicy": "Ignore"}});
    admin
        .merge_patch(&format!("{POLICIES}/fails"), &ignore)
        .await
        .unwrap();
    admin
        .create(MAPS, &map("a", json!({"k": "v"})))
        .await
        .unwrap();
    // A policy that does not compile is not taken.
    let wrong = json!({"spec": {"validations": [{"expression": "object."}]}});
    let refused = refused(
        admin
            .merge_patch(&format!("{POLICIES}/fails"), &wrong)
            .await,
    );
    assert!(
        refused.contains(
            "spec.validations[0].expression: Invalid value: \"object.\": compilation failed: "
        ),
        "{refused}"
    );
}

#[tokio::test]
async fn policies_do_not_judge_policies_and_see_other_versions() {
    let fixture = fixture().await;
    let admin = &fixture.admin;
    let spec = json!({
        "matchConstraints": {"resourceRules": [{
            "apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"],
        }]},
        "validations": [{"expression": "object.kind == 'Namespace'"}],
    });
    put(&fixture, "all", spec, json!({})).await;
    refused(admin.create(MAPS, &map("a", json!({}))).await);
    admin
        .delete(&format!("{POLICIES}/all"), &Value::Null)
        .await
        .unwrap();
    admin.create(MAPS, &map("a", json!({}))).await.unwrap();
    let spec = json!({
        "matchConstraints": {"resourceRules": [{
            "apiGroups": ["autoscaling"], "apiVersions": ["v1"], "operations": ["CREATE"],
            "resources": ["horizontalpodautoscalers"],
        }]},
        "validations": [{
            "expression": "object.apiVersion == 'autoscaling/v1' && request.kind.version == 'v1' \
                           && request.requestKind.version == 'v2' && object.spec.targetCPUUtilizationPercentage == 50",
        }],
    });
    put(&fixture, "scalers", spec, json!({})).await;
    let scaler = |percent: i64| {
        json!({
            "metadata": {"name": (format!("s{percent}"))},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 2,
                "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": percent}}}],
            },
        })
    };
    let path = "/apis/autoscaling/v2/namespaces/n/horizontalpodautoscalers";
    admin.create(path, &scaler(50)).await.unwrap();
    refused(admin.create(path, &scaler(60)).await);
}

/// What the audit log of the next test was told.
static AUDITED: Mutex<Vec<BTreeMap<String, String>>> = Mutex::new(Vec::new());

#[tokio::test]
async fn the_audit_log_is_told_what_policies_say_to_it() {
    let fixture = Fixture::with(|config| {
        let metrics = Arc::new(admission::Metrics::new(&config.metrics));
        let authorizer = config.authorizer.clone();
        let plugin = ValidatingAdmissionPolicy::new(authorizer, metrics.clone(), Arc::default());
        config.admission = Chain::new(vec![Box::new(plugin)], metrics);
        config.settings.request_log = Some(RequestLog {
            enabled: || true,
            tell: |request| AUDITED.lock().unwrap().push(request.annotations.clone()),
        });
    });
    let namespace = json!({"metadata": {"name": "n"}});
    fixture.admin.create(NAMESPACES, &namespace).await.unwrap();
    let spec = json!({
        "validations": [{"expression": "object.data.size() < 2", "message": "too many"}],
        "auditAnnotations": [{"key": "keys", "valueExpression": "'has ' + string(object.data.size())"}],
    });
    put(
        &fixture,
        "small",
        spec,
        json!({"validationActions": ["Audit"]}),
    )
    .await;
    AUDITED.lock().unwrap().clear();
    let large = map("a", json!({"a": "b", "c": "d"}));
    fixture.admin.create(MAPS, &large).await.unwrap();
    fixture.admin.get(&format!("{MAPS}/a")).await.unwrap();
    let told = std::mem::take(&mut *AUDITED.lock().unwrap());
    let wanted = BTreeMap::from([
        ("small/keys".to_owned(), "has 2".to_owned()),
        (
            "validation.policy.admission.k8s.io/validation_failure".to_owned(),
            r#"[{"message":"too many","policy":"small","binding":"small","expressionIndex":0,"validationActions":["Audit"]}]"#.to_owned(),
        ),
    ]);
    assert_eq!(told, [wanted, BTreeMap::new()]);
}

#[tokio::test]
async fn names_of_policies_from_files_are_reserved() {
    let fixture = fixture().await;
    let policy = json!({
        "metadata": {"name": "p.static.k8s.io"},
        "spec": {"matchConstraints": {"resourceRules": [{
            "apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"],
        }]}, "validations": [{"expression": "true"}]},
    });
    let refused = refused(fixture.admin.create(POLICIES, &policy).await);
    let text = "metadata.name: Invalid value: \"p.static.k8s.io\": names ending with \".static.k8s.io\" are reserved for static \
                manifest-based configurations and cannot be managed via the API";
    assert!(refused.ends_with(text), "{refused}");
}
