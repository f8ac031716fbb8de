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
#[path = "webhooks/registered.rs"]
mod registered;
#[path = "world/world.rs"]
mod world;

use json::{Value, json};
use registered::{GROUP, register, webhook};
use world::World;

const CONFIGMAPS: &str = "/api/v1/namespaces/default/configmaps";

fn configmap(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"a": "b"}})
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
