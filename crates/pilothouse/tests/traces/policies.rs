//! Each policy that is evaluated is a part of the trace.

use http::Method;
use json::json;
use telemetry::otlp;

use crate::{ALL, admin, ask, named, recorded, world};

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn policies_have_spans() {
    let world = world(ALL).await;
    let rules = json!({"resourceRules": [{
        "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"],
    }]});
    let named_a = json!({"name": "a"});
    let objects = [
        (
            "validatingadmissionpolicies",
            json!({
                "matchConstraints": (rules.clone()), "validations": [{"expression": "object.data.size() < 2"}],
            }),
        ),
        (
            "validatingadmissionpolicybindings",
            json!({"policyName": "a", "validationActions": ["Deny"]}),
        ),
        (
            "mutatingadmissionpolicies",
            json!({
                "matchConstraints": rules, "reinvocationPolicy": "Never",
                "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{data: {'b': 'c'}}"}}],
            }),
        ),
        (
            "mutatingadmissionpolicybindings",
            json!({"policyName": "a"}),
        ),
    ];
    let json = [("content-type", "application/json")];
    for (resource, spec) in objects {
        let object = json!({"metadata": (named_a.clone()), "spec": spec});
        let path = format!("{GROUP}/{resource}");
        let made = ask(&world, &admin(), (Method::POST, &path), &json, &object).await;
        assert_eq!(made.status(), 201, "{resource}");
    }
    recorded(&world);
    let map = json!({"metadata": {"name": "m"}, "data": {"a": "b"}});
    let refused = ask(&world, &admin(), (Method::POST, MAPS), &json, &map).await;
    assert_eq!(refused.status(), 422);
    let traces = recorded(&world);
    let spans = &traces[0];
    for (span, plugin) in [
        (
            "Evaluate mutating admission policy",
            "MutatingAdmissionPolicy",
        ),
        (
            "Evaluate validating admission policy",
            "ValidatingAdmissionPolicy",
        ),
    ] {
        let span = named(spans, span);
        assert_eq!((span.text("policy"), span.text("binding")), ("a", "a"));
        assert_eq!(span.parent, named(spans, plugin).span_id);
    }
    let span = named(spans, "Evaluate validating admission policy");
    assert_eq!(span.attribute("refused"), Some(&otlp::Value::Bool(true)));
    assert_eq!(span.attribute("cost"), Some(&otlp::Value::Int(4)));
}
