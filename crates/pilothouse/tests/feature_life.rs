//! The life of features in a running server: turned on and off by the API, cleaned, counted and judged.

#[path = "feature_life/harness.rs"]
mod harness;
#[path = "feature_life/stories.rs"]
mod stories;
#[path = "feature_life/uses.rs"]
mod uses;

use std::time::Duration;

use apiserver::local::Local;
use features::{Flags, Registry, Selection, Settings, Stage, Version};
use json::{Value, json};
use testkit::server::Server;

const FEATURES: &str = "/apis/features.k8s.io/v1alpha1/namespaces/kube-system/features";
/// Longer than anything takes here.
const LONG: Duration = Duration::from_secs(180);

/// A server whose features can all be set by the API.
async fn dynamic(gates: &'static str, version: &'static str) -> Server {
    let clock = controllers::features::Config::default().clock;
    dynamic_with(gates, version, clock).await
}

async fn dynamic_with(gates: &'static str, version: &'static str, clock: fn() -> u64) -> Server {
    Server::start_with(move |options| {
        options.features.clock = clock;
        let flags = Flags {
            feature_gates: vec![gates.to_owned()],
            emulated_version: vec![version.to_owned()],
            ..Flags::default()
        };
        let settings = flags.resolve(Registry::kubernetes());
        options.settings.features = settings.expect("good flags");
        let all = Selection::parse(&["kube-system/*".to_owned()]);
        options.settings.dynamic_features = all.expect("a good selection");
    })
    .await
}

/// Follows an object until this holds.
async fn until(client: &Local, feature: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let path = format!("{FEATURES}?watch=true&fieldSelector=metadata.name%3D{feature}");
    let mut last = Value::Null;
    let wait = async {
        loop {
            let mut watch = client.watch(&path).await.expect("a watch");
            while let Some((_, feature)) = watch.next().await {
                if holds(&feature) {
                    return feature;
                }
                last = feature;
            }
        }
    };
    let found = tokio::time::timeout(LONG, wait).await;
    found.unwrap_or_else(|late| panic!("{late}: it never holds; last: {last}"))
}

async fn until_state(client: &Local, feature: &str, state: &str) -> Value {
    let found = until(client, feature, |it| {
        it.str_at(&["status", "state"]) == Some(state)
    })
    .await;
    assert_eq!(found.str_at(&["status", "state"]), Some(state));
    found
}

/// Comes back when no feature is in transition, and all that are off are known to be clean.
async fn settled(client: &Local) {
    let wait = async {
        let version = client.get("/version").await.expect("a version");
        let emulated = version.str_at(&["emulationMinor"]).unwrap_or("37");
        let emulated = Version::parse(&format!("1.{emulated}")).expect("a version");
        let registry = Registry::kubernetes();
        let settings = Settings::defaults(registry, emulated, emulated);
        let announced = settings
            .iter()
            .filter(|(gate, state)| !gate.is_special() && state.spec.stage != Stage::PreAlpha);
        for (gate, _) in announced {
            until(client, &gate.name, |it| {
                match it.str_at(&["status", "state"]) {
                    Some("On") => true,
                    Some("Off") => condition(it, "Clean").0 == "True",
                    _ => false,
                }
            })
            .await;
        }
    };
    tokio::time::timeout(LONG, wait).await.expect("it settles");
}

/// Sets what a feature is to be.
async fn set(client: &Local, feature: &str, desired: &str) -> Result<Value, meta::Status> {
    let path = format!("{FEATURES}/{feature}/desired");
    let change = json!({"spec": {"desired": desired}});
    client.merge_patch(&path, &change).await
}

fn condition<'a>(feature: &'a Value, kind: &str) -> (&'a str, &'a str, &'a str) {
    let all = feature
        .at(&["status", "conditions"])
        .and_then(Value::as_array);
    let found = all
        .into_iter()
        .flatten()
        .find(|it| it.str_at(&["type"]) == Some(kind));
    let text = |key| found.and_then(|it| it.str_at(&[key])).unwrap_or_default();
    (text("status"), text("reason"), text("message"))
}
