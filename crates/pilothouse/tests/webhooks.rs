//! Admission webhooks, as users and their authors meet them. Texts are those of a kube-apiserver asked the same.

#[path = "webhooks/answer.rs"]
mod answer;
#[path = "webhooks/connection.rs"]
mod connection;
#[path = "webhooks/conversion.rs"]
mod conversion;
#[path = "webhooks/failure.rs"]
mod failure;
#[path = "webhooks/hook.rs"]
mod hook;
#[path = "webhooks/matching.rs"]
mod matching;
#[path = "world/world.rs"]
mod world;

use json::{Value, json};
use world::World;

const CONFIGMAPS: &str = "/api/v1/namespaces/default/configmaps";
const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";

fn configmap(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"a": "b"}})
}

/// A webhook for all `ConfigMaps`, but for what `change` says.
fn webhook(client: Value, change: Value) -> Value {
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

async fn register(world: &World, kind: &str, name: &str, webhooks: Vec<Value>) {
    let plural = format!("{}webhookconfigurations", kind.to_lowercase());
    let object = json!({
        "metadata": {"name": name},
        "webhooks": webhooks,
    });
    world.make(&format!("{GROUP}/{plural}"), object).await;
}

async fn unregister(world: &World, kind: &str, name: &str) {
    let plural = format!("{}webhookconfigurations", kind.to_lowercase());
    let path = format!("{GROUP}/{plural}/{name}");
    world
        .client
        .delete(&path, &Value::Null)
        .await
        .expect("gone");
}
