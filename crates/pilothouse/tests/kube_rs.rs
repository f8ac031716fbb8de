//! A program with kube-rs: a client of another hand, with watches, caches and a controller.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{
    Api, DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams, WatchEvent,
    WatchParams,
};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::finalizer::{Event as Finalize, finalizer};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{WatchStreamExt as _, reflector, watcher};
use kube::{Client, Config, CustomResource, CustomResourceExt as _, ResourceExt as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use testkit::server::Server;

async fn client(server: &Server) -> Client {
    let kubeconfig = Kubeconfig::read_from(server.kubeconfig()).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .unwrap();
    Client::try_from(config).unwrap()
}

fn settings(name: &str, value: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.into()),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([("key".into(), value.into())])),
        ..ConfigMap::default()
    }
}

#[tokio::test]
async fn reads_and_writes() {
    let server = Server::start().await;
    let client = client(&server).await;
    let version = client.apiserver_version().await.unwrap();
    assert_eq!((&*version.major, &*version.minor), ("1", "37"));
    let api: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let made = api
        .create(&PostParams::default(), &settings("a", "1"))
        .await
        .unwrap();
    assert!(made.uid().is_some());
    let twice = api
        .create(&PostParams::default(), &settings("a", "1"))
        .await;
    assert!(matches!(twice, Err(kube::Error::Api(it)) if it.reason == "AlreadyExists"));
    let mut changed = made.clone();
    changed.data = settings("a", "2").data;
    let changed = api
        .replace("a", &PostParams::default(), &changed)
        .await
        .unwrap();
    // The version that was read first is old now.
    let stale = api.replace("a", &PostParams::default(), &made).await;
    assert!(matches!(stale, Err(kube::Error::Api(it)) if it.code == 409));
    let merge = Patch::Merge(json!({"data": {"more": "3"}}));
    let merged = api
        .patch("a", &PatchParams::default(), &merge)
        .await
        .unwrap();
    assert_eq!(merged.data.unwrap().len(), 2);
    assert_ne!(merged.metadata.resource_version, changed.resource_version());
    let list = api
        .list(&ListParams::default().fields("metadata.name=a"))
        .await
        .unwrap();
    assert_eq!(list.items.len(), 1);
    let metadata = api.get_metadata("a").await.unwrap();
    assert_eq!(metadata.name_any(), "a");
    api.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(api.get_opt("a").await.unwrap().is_none());
}

#[tokio::test]
async fn applies() {
    let server = Server::start().await;
    let api: Api<ConfigMap> = Api::default_namespaced(client(&server).await);
    let first = PatchParams::apply("first");
    let patch = |value: &str| {
        Patch::Apply(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"key": value},
        }))
    };
    api.patch("a", &first, &patch("1")).await.unwrap();
    let second = PatchParams::apply("second");
    let refused = api.patch("a", &second, &patch("2")).await;
    let Err(kube::Error::Api(status)) = refused else {
        panic!("not refused");
    };
    assert_eq!(
        status.message,
        "Apply failed with 1 conflict: conflict with \"first\": .data.key"
    );
    let forced = api.patch("a", &second.force(), &patch("2")).await.unwrap();
    let managers: Vec<_> = forced
        .managed_fields()
        .iter()
        .filter_map(|it| it.manager.as_deref())
        .collect();
    assert_eq!(managers, ["second"]);
}

#[tokio::test]
async fn watches() {
    let server = Server::start().await;
    let client = client(&server).await;
    let api: Api<Secret> = Api::default_namespaced(client);
    let secret: Secret = serde_json::from_value(json!({"metadata": {"name": "s"}})).unwrap();
    let start = api.list(&ListParams::default()).await.unwrap();
    let start = start.metadata.resource_version.unwrap();
    api.create(&PostParams::default(), &secret).await.unwrap();
    let patch = Patch::Merge(json!({"stringData": {"a": "b"}}));
    api.patch("s", &PatchParams::default(), &patch)
        .await
        .unwrap();
    api.delete("s", &DeleteParams::default()).await.unwrap();
    let events = api.watch(&WatchParams::default(), &start).await.unwrap();
    let kinds: Vec<&str> = events
        .take(3)
        .map_ok(|event| match event {
            WatchEvent::Added(_) => "added",
            WatchEvent::Modified(_) => "modified",
            WatchEvent::Deleted(_) => "deleted",
            _ => "other",
        })
        .try_collect()
        .await
        .unwrap();
    assert_eq!(kinds, ["added", "modified", "deleted"]);
}

/// Both ways to begin: a list and a watch, or a watch that lists.
#[tokio::test]
async fn keeps_a_cache() {
    let server = Server::start().await;
    let client = client(&server).await;
    for config in [
        watcher::Config::default(),
        watcher::Config::default().streaming_lists(),
    ] {
        let api: Api<Namespace> = Api::all(client.clone());
        let (store, writer) = reflector::store();
        let stream = watcher(api.clone(), config).reflect(writer);
        let feeding = tokio::spawn(stream.for_each(|_| async {}));
        store.wait_until_ready().await.unwrap();
        let known = |name: &str| store.state().iter().any(|it| it.name_any() == name);
        assert!(known("default") && known("kube-system"));
        let name = format!("new-{}", store.state().len());
        let namespace = json!({"metadata": {"name": name}});
        let namespace: Namespace = serde_json::from_value(namespace).unwrap();
        api.create(&PostParams::default(), &namespace)
            .await
            .unwrap();
        let arrived = store.wait_until_ready();
        arrived.await.unwrap();
        tokio::time::timeout(Duration::from_secs(10), async {
            while !known(&name) {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
        feeding.abort();
    }
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "example.com",
    version = "v1",
    kind = "Robot",
    namespaced,
    status = "RobotStatus"
)]
#[serde(rename_all = "camelCase")]
struct RobotSpec {
    greeting: String,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct RobotStatus {
    said: Option<String>,
}

#[derive(Debug)]
struct Failed(String);

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failed {}

impl From<kube::Error> for Failed {
    fn from(error: kube::Error) -> Self {
        Self(error.to_string())
    }
}

async fn reconcile(robot: Arc<Robot>, context: Arc<Client>) -> Result<Action, Failed> {
    let client = (*context).clone();
    let api: Api<Robot> = Api::default_namespaced(client.clone());
    let notes: Api<ConfigMap> = Api::default_namespaced(client);
    let done = finalizer(&api, "example.com/robot", robot, |event| async {
        match event {
            Finalize::Apply(robot) => {
                let said = robot.spec.greeting.clone();
                let status = json!({"status": {"said": said}});
                let patch = PatchParams::default();
                api.patch_status(&robot.name_any(), &patch, &Patch::Merge(status))
                    .await?;
                Ok::<_, Failed>(Action::await_change())
            }
            Finalize::Cleanup(robot) => {
                let note = settings(&format!("gone-{}", robot.name_any()), "bye");
                notes.create(&PostParams::default(), &note).await?;
                Ok(Action::await_change())
            }
        }
    });
    done.await.map_err(|error| Failed(error.to_string()))
}

#[tokio::test]
async fn runs_a_controller() {
    let server = Server::start().await;
    let client = client(&server).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions
        .create(&PostParams::default(), &Robot::crd())
        .await
        .unwrap();
    let established = await_condition(
        definitions,
        "robots.example.com",
        conditions::is_crd_established(),
    );
    established.await.unwrap();
    let api: Api<Robot> = Api::default_namespaced(client.clone());
    let controller = Controller::new(api.clone(), watcher::Config::default())
        .run(
            reconcile,
            |_, _, _| Action::requeue(Duration::from_millis(100)),
            Arc::new(client.clone()),
        )
        .for_each(|_| async {});
    let controller = tokio::spawn(controller);
    let robot = Robot::new(
        "marvin",
        RobotSpec {
            greeting: "hello".into(),
        },
    );
    api.create(&PostParams::default(), &robot).await.unwrap();
    let greeted = |robot: Option<&Robot>| {
        let status = robot.and_then(|it| it.status.as_ref());
        status.is_some_and(|it| it.said.as_deref() == Some("hello"))
    };
    let wait = Duration::from_secs(20);
    let seen = await_condition(api.clone(), "marvin", greeted);
    tokio::time::timeout(wait, seen).await.unwrap().unwrap();
    let uid = api.get("marvin").await.unwrap().uid().unwrap();
    api.delete("marvin", &DeleteParams::default())
        .await
        .unwrap();
    let gone = await_condition(api.clone(), "marvin", conditions::is_deleted(&uid));
    tokio::time::timeout(wait, gone).await.unwrap().unwrap();
    let notes: Api<ConfigMap> = Api::default_namespaced(client);
    notes.get("gone-marvin").await.unwrap();
    controller.abort();
}
