//! A server, and how to wait for what it does.

use std::sync::Arc;
use std::time::Duration;

use apiserver::local::Local;
use auth::User;
use auth::pki::ServingNames;
use controllers::Selection;
use json::{Value, json};
use pilothouse::pki;
use pilothouse::server::{self, Options, Server};
use testkit::server::Backing;

const DEADLINE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);

pub(super) struct Cluster {
    pub server: Server,
    pub client: Local,
    pub authority: String,
    etcd: Option<Arc<testkit::etcd::Cluster>>,
}

impl Cluster {
    pub(super) async fn start() -> Self {
        Self::with(Selection::default()).await
    }

    pub(super) async fn with(selection: Selection) -> Self {
        let names = ServingNames::new("cluster.local", &["127.0.0.1"]);
        let files = pki::in_memory(&names, server::now()).expect("certificates");
        let authority = files.authority.as_ref().expect("an authority");
        let authority = authority.certificate.clone();
        let Backing { store, etcd } = Backing::open().await;
        let address = "127.0.0.1:0".parse().expect("an address");
        let mut options = Options::new(store, address, files);
        options.controllers = selection;
        let server = Server::start(options).await.expect("a server");
        let user = User::new("admin", &["system:masters"]);
        let client = Local::new(server.api.clone(), user, "test");
        Self {
            server,
            client,
            authority,
            etcd,
        }
    }

    pub(super) async fn stop(self) {
        self.server.stop().await.expect("a clean end");
        drop(self.etcd);
    }

    pub(super) async fn create(&self, path: &str, object: Value) -> Value {
        let created = self.client.create(path, &object).await;
        created.unwrap_or_else(|status| panic!("create in {path}: {status}"))
    }

    pub(super) async fn get(&self, path: &str) -> Value {
        let found = self.client.get(path).await;
        found.unwrap_or_else(|status| panic!("get {path}: {status}"))
    }

    pub(super) async fn patch(&self, path: &str, change: Value) -> Value {
        let found = self.client.merge_patch(path, &change).await;
        found.unwrap_or_else(|status| panic!("patch {path}: {status}"))
    }

    pub(super) async fn delete(&self, path: &str, policy: &str) {
        let options =
            json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy});
        let deleted = self.client.delete(path, &options).await;
        deleted.unwrap_or_else(|status| panic!("delete {path}: {status}"));
    }

    pub(super) async fn exists(&self, path: &str) -> bool {
        match self.client.get(path).await {
            Ok(_) => true,
            Err(status) if status.is_not_found() => false,
            Err(status) => panic!("get {path}: {status}"),
        }
    }

    /// Asks again until the object is as it should be.
    pub(super) async fn until(&self, path: &str, good: impl Fn(&Value) -> bool) -> Value {
        let mut last = None;
        let found = tokio::time::timeout(DEADLINE, async {
            loop {
                let found = self.client.get(path).await;
                if let Ok(object) = &found
                    && good(object)
                {
                    return object.clone();
                }
                last = Some(found);
                tokio::time::sleep(PAUSE).await;
            }
        });
        let found = found.await;
        found.unwrap_or_else(|_| panic!("{path} did not come to what was expected: {last:?}"))
    }

    pub(super) async fn until_gone(&self, path: &str) {
        let gone = tokio::time::timeout(DEADLINE, async {
            while self.exists(path).await {
                tokio::time::sleep(PAUSE).await;
            }
        });
        assert!(gone.await.is_ok(), "{path} is still there");
    }

    pub(super) async fn namespace(&self, name: &str) {
        let namespace =
            json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}});
        self.create("/api/v1/namespaces", namespace).await;
    }

    /// A `ConfigMap`, perhaps with owners. Its path and uid.
    pub(super) async fn map(
        &self,
        namespace: &str,
        name: &str,
        owners: &[Value],
    ) -> (String, String) {
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        let map = json!({
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {"name": name, "ownerReferences": (owners.iter().cloned().collect::<Value>())},
        });
        let made = self.create(&path, map).await;
        let uid = made.str_at(&["metadata", "uid"]).expect("a uid").to_owned();
        (format!("{path}/{name}"), uid)
    }

    /// Waits until garbage collection has worked off all that was done before.
    pub(super) async fn settle(&self, namespace: &str) {
        let nobody = owner(
            "ConfigMap",
            "nobody",
            "00000000-0000-4000-8000-000000000000",
            true,
        );
        let (path, _) = self.map(namespace, "canary", &[nobody]).await;
        self.until_gone(&path).await;
    }
}

pub(super) fn owner(kind: &str, name: &str, uid: &str, blocks: bool) -> Value {
    let api_version = if kind == "ConfigMap" {
        "v1"
    } else {
        "example.com/v1"
    };
    json!({
        "apiVersion": api_version,
        "kind": kind,
        "name": name,
        "uid": uid,
        "blockOwnerDeletion": blocks,
    })
}

pub(super) fn condition<'a>(object: &'a Value, kind: &str, field: &str) -> Option<&'a str> {
    let all = object.at(&["status", "conditions"])?.as_array()?;
    let found = all.iter().find(|it| it.str_at(&["type"]) == Some(kind))?;
    found.str_at(&[field])
}

/// A definition of namespaced objects, as `widgets.example.com`.
pub(super) fn definition(plural: &str, kind: &str) -> Value {
    json!({
        "kind": "CustomResourceDefinition",
        "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": (format!("{plural}.example.com"))},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    })
}

pub(super) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
