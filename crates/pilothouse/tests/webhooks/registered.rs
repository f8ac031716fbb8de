//! Webhooks as users make them known.

use json::{Value, json};

use crate::world::World;

pub(crate) const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A webhook for all `ConfigMaps`, but for what `change` says.
pub(crate) fn webhook(client: Value, change: Value) -> Value {
    let mut webhook = json!({
        "name": "x.example.com",
        "clientConfig": client,
        "rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 5,
    });
    let fields = webhook.as_object_mut().expect("an object");
    if let Value::Object(change) = change {
        fields.extend(change);
    }
    webhook
}

pub(crate) async fn register(world: &World, kind: &str, name: &str, webhooks: Vec<Value>) {
    let plural = format!("{}webhookconfigurations", kind.to_lowercase());
    let object = json!({
        "metadata": {"name": name},
        "webhooks": webhooks,
    });
    world.make(&format!("{GROUP}/{plural}"), object).await;
}

/// Widgets of `example.com`, stored as v1, that a webhook makes v2 of.
pub(crate) async fn widgets(world: &World, client: Value) {
    let version = |name: &str, storage: bool| {
        json!({
            "name": name,
            "served": true,
            "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            }}},
        })
    };
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [(version("v1", true)), (version("v2", false))],
            "conversion": {"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": client,
            }},
        },
    });
    world.make(DEFINITIONS, definition).await;
}

/// The answer to a `ConversionReview`.
pub(crate) fn converted(review: &Value, result: Value, objects: Value) -> Vec<u8> {
    json::to_vec(&json!({
        "kind": "ConversionReview",
        "apiVersion": "apiextensions.k8s.io/v1",
        "response": {
            "uid": (review.str_at(&["request", "uid"]).unwrap_or_default()),
            "result": result,
            "convertedObjects": objects,
        },
    }))
}
