//! Informers: roles and bindings, custom resource definitions, Features, flow schemas and the objects of nodes, loaded before the
//! first request is answered and then followed change by change.

mod flow;
mod nodes;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock, Weak};

use admission::client::Targets;
use admission::conversion::Converter;
use auth::Rbac;
use auth::authorizer::ObjectGraph;
use json::Value;
use meta::Status;
use store::{Entry, Event, Revision, Snapshot, Watch, WatchEnd};
use tokio::sync::{mpsc, oneshot};

use crate::catalog::convert;
use crate::catalog::converter::Webhook;
use crate::catalog::custom;
use crate::catalog::custom::DefinitionLifetime;
use crate::catalog::{self, Builtin, Catalog, Resource};
use crate::runtime::random;
use crate::state::Api;

const RBAC: [(&str, &str); 4] = [
    ("clusterroles", "ClusterRole"),
    ("clusterrolebindings", "ClusterRoleBinding"),
    ("roles", "Role"),
    ("rolebindings", "RoleBinding"),
];
const DEFINITIONS: &str = "/apiextensions.k8s.io/customresourcedefinitions/";

/// Answered when an informer is up to date.
type Question = oneshot::Sender<()>;

/// The channels to all informers.
#[derive(Debug, Default)]
pub struct Informers(OnceLock<Vec<mpsc::UnboundedSender<Question>>>);

impl Informers {
    /// Returns when the informers have seen everything that is in the store now.
    async fn caught_up(&self) {
        let all = self.0.get().into_iter().flatten();
        let answers: Vec<_> = all
            .filter_map(|informer| {
                let (question, answer) = oneshot::channel();
                informer.send(question).is_ok().then_some(answer)
            })
            .collect();
        for answer in answers {
            // One that has ended is as far as it will ever be.
            let _ = answer.await;
        }
    }
}

impl Api {
    /// Returns when the informers have seen every write that was acknowledged before this call. To be called before a refusal
    /// or a miss: other servers write too, and informers see a write a moment after it is acknowledged.
    pub async fn wait_until_caught_up(&self) -> Result<(), Status> {
        self.fresh_snapshot().await?;
        self.informers.caught_up().await;
        Ok(())
    }
}

/// What informers keep up to date.
#[derive(Debug)]
pub struct Indexes {
    pub rbac: Arc<Rbac>,
    /// Which objects concern which node, if the Node authorizer is on.
    pub nodes: Option<Arc<ObjectGraph>>,
    /// Where conversion webhooks are, and the connections to them.
    pub targets: Arc<Targets>,
}

/// Loads all objects once, then applies changes in the background until the server stops.
pub fn start(api: &Arc<Api>, indexes: Indexes) {
    let snapshot = api.store.latest();
    let mut informers = Starting {
        api,
        from: snapshot.revision(),
        all: Vec::new(),
    };
    for (plural, kind) in RBAC {
        let (rbac, prefix) = (indexes.rbac.clone(), format!("/{plural}/"));
        load_rbac(&rbac, kind, &prefix, &snapshot);
        let (again, range) = (rbac.clone(), prefix.clone());
        let reload = move |snapshot: &Snapshot| load_rbac(&again, kind, &range, snapshot);
        informers.add(prefix, move |event| put_rbac(&rbac, kind, event), reload);
    }
    if let Some(graph) = indexes.nodes {
        for plural in ObjectGraph::RESOURCES {
            let (graph, again) = (graph.clone(), graph.clone());
            nodes::load(&graph, plural, &snapshot);
            let change = move |event: &Event| nodes::put(&graph, plural, event);
            let reload = move |snapshot: &Snapshot| nodes::load(&again, plural, snapshot);
            informers.add(format!("/{plural}/"), change, reload);
        }
    }
    flow::start(&mut informers, &snapshot);
    load_features(api, &snapshot);
    let definitions = Definitions {
        rows: BTreeMap::new(),
        builtin: catalog::builtin(&api.features().effective()),
        targets: indexes.targets,
    };
    let definitions = Arc::new(std::sync::Mutex::new(definitions));
    let lock = |it: &std::sync::Mutex<Definitions>, work: &mut dyn FnMut(&mut Definitions)| {
        work(&mut it.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    };
    follow_features(&mut informers, &definitions);
    lock(&definitions, &mut |it| it.load(api, &snapshot));
    let (changed, again) = (definitions.clone(), definitions);
    let (weak, other) = (api.clone(), api.clone());
    let change = move |event: &Event| lock(&changed, &mut |it| it.put(&weak, event));
    let reload = move |snapshot: &Snapshot| lock(&again, &mut |it| it.load(&other, snapshot));
    informers.add(DEFINITIONS.into(), change, reload);
    // It is started once.
    let _ = api.informers.0.set(informers.all);
}

/// Informers while they are started.
struct Starting<'a> {
    api: &'a Arc<Api>,
    from: Revision,
    all: Vec<mpsc::UnboundedSender<Question>>,
}

impl Starting<'_> {
    fn add(
        &mut self,
        prefix: String,
        change: impl FnMut(&Event) + Send + 'static,
        reload: impl FnMut(&Snapshot) + Send + 'static,
    ) {
        let (sender, questions) = mpsc::unbounded_channel();
        self.all.push(sender);
        let informer = Informer {
            api: self.api.clone(),
            prefix,
            from: self.from,
            questions,
        };
        tokio::spawn(informer.run(change, reload));
    }
}

struct Informer {
    api: Arc<Api>,
    prefix: String,
    from: Revision,
    questions: mpsc::UnboundedReceiver<Question>,
}

impl Informer {
    /// Calls `change` for each change below a prefix; `reload` when changes were missed.
    async fn run(mut self, mut change: impl FnMut(&Event), mut reload: impl FnMut(&Snapshot)) {
        loop {
            match self
                .api
                .store
                .watch(self.prefix.as_bytes(), self.from)
                .await
            {
                Ok(watch) => {
                    if self.watch(watch, &mut change).await.is_break() {
                        return;
                    }
                }
                Err(store::Error::Closed) => return,
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(100)).await,
            }
            let snapshot = self.api.store.latest();
            reload(&snapshot);
            self.from = snapshot.revision();
        }
    }

    /// Goes on until the watch ends; breaks when it is for good.
    async fn watch(
        &mut self,
        mut watch: Watch,
        change: &mut impl FnMut(&Event),
    ) -> ControlFlow<()> {
        loop {
            let (next, asked) = tokio::select! {
                next = watch.next() => (Some(next), None),
                asked = self.questions.recv() => (watch.try_next(), asked),
                () = self.api.stopping() => return ControlFlow::Break(()),
            };
            let mut next = next;
            while let Some(told) = next {
                match told {
                    Ok(events) => events.iter().for_each(|event| change(event)),
                    Err(WatchEnd::Closed) => return ControlFlow::Break(()),
                    // What was asked goes unanswered as it is dropped; who asked looks again and finds less than all.
                    Err(_) => return ControlFlow::Continue(()),
                }
                next = watch.try_next();
            }
            if let Some(asked) = asked {
                // The receiver may be gone.
                let _ = asked.send(());
            }
        }
    }
}

/// Deletions go first: a permission that was revoked must not remain.
fn load_rbac(rbac: &Rbac, kind: &str, prefix: &str, snapshot: &Snapshot) {
    rbac.retain(kind, |namespace, name| {
        let key = match namespace {
            "" => format!("{prefix}{name}"),
            namespace => format!("{prefix}{namespace}/{name}"),
        };
        snapshot.get(key.as_bytes()).is_some()
    });
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
    convert::read(&entry.value).ok()
}

/// Where the Features of the control plane are stored.
const FEATURES: &str = "/features.k8s.io/features/kube-system/";

/// Tells whether gates in effect may be others.
fn load_features(api: &Api, snapshot: &Snapshot) -> bool {
    let mut is_changed = false;
    let found = snapshot.range(FEATURES.as_bytes());
    let found = found.map(|it| (feature_name(&it.key), parse(it)));
    let found: BTreeMap<_, _> = found.collect();
    for gone in api.features().missing(|name| found.contains_key(name)) {
        is_changed |= api.features().put(&gone, None);
    }
    for (name, feature) in &found {
        is_changed |= api.features().put(name, feature.as_ref());
    }
    is_changed
}

fn feature_name(key: &[u8]) -> String {
    let name = key.get(FEATURES.len()..).unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}

/// Has the catalog follow the Features, and acknowledges them.
fn follow_features(informers: &mut Starting<'_>, definitions: &Arc<std::sync::Mutex<Definitions>>) {
    let api = informers.api;
    let publish = {
        let (api, definitions) = (api.clone(), definitions.clone());
        move || {
            let mut definitions = definitions
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            definitions.builtin = catalog::builtin(&api.features().effective());
            definitions.publish(&api);
        }
    };
    let (changed, again) = (api.clone(), api.clone());
    let (publish, republish) = (publish.clone(), publish);
    let change = move |event: &Event| {
        let feature = event.current.as_deref().and_then(parse);
        let name = feature_name(&event.key);
        if changed.features().put(&name, feature.as_ref()) {
            publish();
        }
    };
    let reload = move |snapshot: &Snapshot| {
        if load_features(&again, snapshot) {
            republish();
        }
    };
    informers.add(FEATURES.into(), change, reload);
    let api = api.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = api.stopping() => {}
            never = api.features().acknowledge() => match never {},
        }
    });
}

/// A definition as it is served.
#[derive(Debug)]
struct Served {
    rows: Vec<Arc<Resource>>,
    /// What it says, and how long it says so.
    says: u64,
    life: DefinitionLifetime,
    _keeper: tokio::sync::watch::Sender<()>,
}

/// Those that are there, by their key.
#[derive(Debug)]
struct Definitions {
    rows: BTreeMap<Vec<u8>, Served>,
    /// The same rows in every catalog: what was made of them stays true.
    builtin: Builtin,
    /// Where conversion webhooks are, and the connections to them.
    targets: Arc<Targets>,
}

impl Definitions {
    fn load(&mut self, api: &Arc<Api>, snapshot: &Snapshot) {
        let mut gone = std::mem::take(&mut self.rows);
        for entry in snapshot.range(DEFINITIONS.as_bytes()) {
            let before = gone.remove(&entry.key[..]);
            let over = self.set(api, entry, before);
            gone.extend(over.map(|it| (entry.key.to_vec(), it)));
        }
        self.publish(api);
        drop(gone);
    }

    fn put(&mut self, api: &Arc<Api>, event: &Event) {
        let before = self.rows.remove(&event.key[..]);
        let over = match event.current.as_deref() {
            Some(entry) => self.set(api, entry, before),
            None => before,
        };
        self.publish(api);
        // Watches of its objects end; clients watch again when the new rows are there.
        drop(over);
    }

    /// Gives back what is over.
    fn set(&mut self, api: &Arc<Api>, entry: &Entry, before: Option<Served>) -> Option<Served> {
        let resource = api.preferred("apiextensions.k8s.io", "customresourcedefinitions");
        let definition = resource
            .and_then(|resource| convert::decode(&resource, &entry.value, entry.modified).ok());
        let says = definition.as_ref().map_or(0, said);
        let (mut served, over) = match before {
            Some(before) if before.says == says => (before, None),
            before => {
                let (keeper, life) = DefinitionLifetime::begin();
                let served = Served {
                    rows: Vec::new(),
                    says,
                    life,
                    _keeper: keeper,
                };
                (served, before)
            }
        };
        // As long as it says the same, what was made of its schemas stays: rules that were compiled, above all.
        let schemas = served.rows.first().and_then(|it| it.custom.as_ref());
        let schemas = schemas.map(|it| it.schemas.clone());
        served.rows = definition.map_or(Vec::new(), |definition| {
            let name = crate::catalog::object::name(&definition);
            let services: Weak<dyn admission::Lookup> = Arc::<Api>::downgrade(api);
            let webhook = custom::webhook(&definition)
                .map(|it| Converter::new(name, it, &self.targets, random::number))
                .map(|it| Webhook::new(it, services.clone()));
            let (since, life) = (entry.modified, &served.life);
            custom::resources(&definition, webhook.as_ref(), since, life, schemas)
        });
        self.rows.insert(entry.key.to_vec(), served);
        over
    }

    fn publish(&self, api: &Api) {
        let all: Vec<Arc<Resource>> = (self.rows.values())
            .flat_map(|it| &it.rows)
            .cloned()
            .collect();
        api.set_catalog(Catalog::new(self.builtin.clone(), &all));
    }
}

/// What makes a definition another one to its objects: its spec, and the names that it has.
fn said(definition: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    for path in [&["spec"][..], &["status", "acceptedNames"]] {
        definition.at(path).map(json::to_vec).hash(&mut hasher);
    }
    hasher.finish()
}
