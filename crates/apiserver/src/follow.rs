//! What the server itself learns from objects: who may do what, and which custom kinds there are. Read before the first
//! request is answered, then followed change by change.

use std::collections::BTreeMap;
use std::sync::Arc;

use admission::client::Targets;
use admission::conversion::Converter;
use auth::Rbac;
use json::Value;
use store::{Entry, Event, Revision, Snapshot, WatchEnd};

use crate::catalog::{self, Catalog, Resource};
use crate::converter::Webhook;
use crate::pipeline::Api;
use crate::{custom, random};

const RBAC: [(&str, &str); 4] = [
    ("clusterroles", "ClusterRole"),
    ("clusterrolebindings", "ClusterRoleBinding"),
    ("roles", "Role"),
    ("rolebindings", "RoleBinding"),
];
const DEFINITIONS: &str = "/apiextensions.k8s.io/customresourcedefinitions/";

/// Reads everything once, and goes on in the background until the server stops.
pub fn start(api: &Arc<Api>, rbac: &Arc<Rbac>) {
    let snapshot = api.store.latest();
    for (plural, kind) in RBAC {
        let (rbac, prefix) = (rbac.clone(), format!("/{plural}/"));
        load_rbac(&rbac, kind, &prefix, &snapshot);
        let (from, again) = (snapshot.revision(), rbac.clone());
        let reload = {
            let prefix = prefix.clone();
            move |snapshot: &Snapshot| load_rbac(&again, kind, &prefix, snapshot)
        };
        let change = move |event: &Event| put_rbac(&rbac, kind, event);
        tokio::spawn(follow(api.clone(), prefix, from, change, reload));
    }
    let definitions = Definitions::default();
    let definitions = Arc::new(std::sync::Mutex::new(definitions));
    let lock = |it: &std::sync::Mutex<Definitions>, work: &mut dyn FnMut(&mut Definitions)| {
        work(&mut it.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    };
    lock(&definitions, &mut |it| it.load(api, &snapshot));
    let (changed, again) = (definitions.clone(), definitions);
    let (weak, other) = (api.clone(), api.clone());
    let change = move |event: &Event| lock(&changed, &mut |it| it.put(&weak, event));
    let reload = move |snapshot: &Snapshot| lock(&again, &mut |it| it.load(&other, snapshot));
    tokio::spawn(follow(
        api.clone(),
        DEFINITIONS.into(),
        snapshot.revision(),
        change,
        reload,
    ));
}

/// Calls `change` for each change below a prefix; `reload` when changes were missed.
async fn follow(
    api: Arc<Api>,
    prefix: String,
    mut from: Revision,
    mut change: impl FnMut(&Event),
    mut reload: impl FnMut(&Snapshot),
) {
    loop {
        let watch = match api.store.watch(prefix.as_bytes(), from).await {
            Ok(watch) => Some(watch),
            Err(store::Error::Closed) => return,
            Err(_) => None,
        };
        if let Some(mut watch) = watch {
            loop {
                let next = tokio::select! {
                    next = watch.next() => next,
                    () = api.stopping() => return,
                };
                match next {
                    Ok(events) => events.iter().for_each(|event| change(event)),
                    Err(WatchEnd::Closed) => return,
                    Err(_) => break,
                }
            }
        } else {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        let snapshot = api.store.latest();
        reload(&snapshot);
        from = snapshot.revision();
    }
}

fn load_rbac(rbac: &Rbac, kind: &str, prefix: &str, snapshot: &Snapshot) {
    for entry in snapshot.range(prefix.as_bytes()) {
        if let Some(object) = parse(entry) {
            rbac.put(kind, &object);
        }
    }
}

fn put_rbac(rbac: &Rbac, kind: &str, event: &Event) {
    if let Some(object) = event.current.as_deref().and_then(parse) {
        rbac.put(kind, &object);
    } else if let Some(object) = event.previous.as_deref().and_then(parse) {
        let text = |field| object.str_at(&["metadata", field]).unwrap_or_default();
        rbac.remove(kind, text("namespace"), text("name"));
    }
}

fn parse(entry: &Entry) -> Option<Value> {
    if entry.value.starts_with(b"k8s\0") {
        return schema::protobuf::decode_object(&entry.value).ok();
    }
    json::parse(&entry.value).ok()
}

/// The rows of each definition, by its key.
#[derive(Debug, Default)]
struct Definitions {
    rows: BTreeMap<Vec<u8>, Vec<Arc<Resource>>>,
    /// Where conversion webhooks are, and the connections to them.
    targets: Targets,
}

impl Definitions {
    fn load(&mut self, api: &Arc<Api>, snapshot: &Snapshot) {
        self.rows.clear();
        for entry in snapshot.range(DEFINITIONS.as_bytes()) {
            self.set(api, entry);
        }
        self.publish(api);
    }

    fn put(&mut self, api: &Arc<Api>, event: &Event) {
        match event.current.as_deref() {
            Some(entry) => self.set(api, entry),
            None => {
                self.rows.remove(&event.key[..]);
            }
        }
        self.publish(api);
    }

    fn set(&mut self, api: &Arc<Api>, entry: &Entry) {
        let rows = parse(entry).map_or(Vec::new(), |definition| {
            let webhook = custom::webhook(&definition)
                .map(|it| Converter::new(it, &self.targets, random::number))
                .map(|it| Webhook::new(it, api));
            custom::resources(&definition, webhook.as_ref(), entry.modified)
        });
        self.rows.insert(entry.key.to_vec(), rows);
    }

    fn publish(&self, api: &Api) {
        let all: Vec<Arc<Resource>> = self.rows.values().flatten().cloned().collect();
        api.set_catalog(Catalog::new(catalog::builtin(), &all));
    }
}
