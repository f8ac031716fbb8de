//! What the server itself learns from objects: who may do what, and which custom kinds there are. Read before the first
//! request is answered, then followed change by change.

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
use crate::catalog::custom::Life;
use crate::catalog::{self, Catalog, Group, Resource};
use crate::runtime::random;
use crate::state::Api;

const RBAC: [(&str, &str); 4] = [
    ("clusterroles", "ClusterRole"),
    ("clusterrolebindings", "ClusterRoleBinding"),
    ("roles", "Role"),
    ("rolebindings", "RoleBinding"),
];
const DEFINITIONS: &str = "/apiextensions.k8s.io/customresourcedefinitions/";

/// Who waits for a follower to be up to date.
type Question = oneshot::Sender<()>;

/// The ways to ask those who follow.
#[derive(Debug, Default)]
pub struct Followers(OnceLock<Vec<mpsc::UnboundedSender<Question>>>);

impl Followers {
    /// Comes back when all that is visible in the store now is learned.
    async fn caught_up(&self) {
        let all = self.0.get().into_iter().flatten();
        let answers: Vec<_> = all
            .filter_map(|follower| {
                let (question, answer) = oneshot::channel();
                follower.send(question).is_ok().then_some(answer)
            })
            .collect();
        for answer in answers {
            // One that has ended is as far as it will ever be.
            let _ = answer.await;
        }
    }
}

impl Api {
    /// Learns what anybody was answered before this call. For a refusal or a miss that may come from knowing too little:
    /// other servers write too, and what is written here is learned a moment after it is acknowledged.
    pub async fn learn(&self) -> Result<(), Status> {
        self.latest().await?;
        self.followers.caught_up().await;
        Ok(())
    }
}

/// What is fed with objects.
#[derive(Debug)]
pub struct Learners {
    pub rbac: Arc<Rbac>,
    /// If anybody asks which objects concern a node.
    pub nodes: Option<Arc<ObjectGraph>>,
    /// Where conversion webhooks are, and the connections to them.
    pub targets: Arc<Targets>,
}

/// Reads everything once, and goes on in the background until the server stops.
pub fn start(api: &Arc<Api>, learners: Learners) {
    let snapshot = api.store.latest();
    let mut followers = Following {
        api,
        from: snapshot.revision(),
        all: Vec::new(),
    };
    for (plural, kind) in RBAC {
        let (rbac, prefix) = (learners.rbac.clone(), format!("/{plural}/"));
        load_rbac(&rbac, kind, &prefix, &snapshot);
        let (again, range) = (rbac.clone(), prefix.clone());
        let reload = move |snapshot: &Snapshot| load_rbac(&again, kind, &range, snapshot);
        followers.add(prefix, move |event| put_rbac(&rbac, kind, event), reload);
    }
    if let Some(graph) = learners.nodes {
        for plural in ObjectGraph::RESOURCES {
            let (graph, again) = (graph.clone(), graph.clone());
            nodes::load(&graph, plural, &snapshot);
            let change = move |event: &Event| nodes::put(&graph, plural, event);
            let reload = move |snapshot: &Snapshot| nodes::load(&again, plural, snapshot);
            followers.add(format!("/{plural}/"), change, reload);
        }
    }
    flow::start(&mut followers, &snapshot);
    let definitions = Definitions {
        rows: BTreeMap::new(),
        builtin: catalog::builtin(),
        targets: learners.targets,
    };
    let definitions = Arc::new(std::sync::Mutex::new(definitions));
    let lock = |it: &std::sync::Mutex<Definitions>, work: &mut dyn FnMut(&mut Definitions)| {
        work(&mut it.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    };
    lock(&definitions, &mut |it| it.load(api, &snapshot));
    let (changed, again) = (definitions.clone(), definitions);
    let (weak, other) = (api.clone(), api.clone());
    let change = move |event: &Event| lock(&changed, &mut |it| it.put(&weak, event));
    let reload = move |snapshot: &Snapshot| lock(&again, &mut |it| it.load(&other, snapshot));
    followers.add(DEFINITIONS.into(), change, reload);
    // Nobody else starts it.
    let _ = api.followers.0.set(followers.all);
}

/// Those who follow, as they are started.
struct Following<'a> {
    api: &'a Arc<Api>,
    from: Revision,
    all: Vec<mpsc::UnboundedSender<Question>>,
}

impl Following<'_> {
    fn add(
        &mut self,
        prefix: String,
        change: impl FnMut(&Event) + Send + 'static,
        reload: impl FnMut(&Snapshot) + Send + 'static,
    ) {
        let (follower, questions) = mpsc::unbounded_channel();
        self.all.push(follower);
        let follow = Follow {
            api: self.api.clone(),
            prefix,
            from: self.from,
            questions,
        };
        tokio::spawn(follow.run(change, reload));
    }
}

struct Follow {
    api: Arc<Api>,
    prefix: String,
    from: Revision,
    questions: mpsc::UnboundedReceiver<Question>,
}

impl Follow {
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
                // Who went away does not want it.
                let _ = asked.send(());
            }
        }
    }
}

/// What is not there any more goes first: who lost a right must not keep it.
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

/// A definition as it is served.
#[derive(Debug)]
struct Served {
    rows: Vec<Arc<Resource>>,
    /// What it says, and how long it says so.
    says: u64,
    life: Life,
    _keeper: tokio::sync::watch::Sender<()>,
}

/// Those that are there, by their key.
#[derive(Debug)]
struct Definitions {
    rows: BTreeMap<Vec<u8>, Served>,
    /// The same rows in every catalog: what was made of them stays true.
    builtin: Vec<Group>,
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
        // Whoever watches its objects asks again when the new rows are there.
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
                let (keeper, life) = Life::begin();
                let served = Served {
                    rows: Vec::new(),
                    says,
                    life,
                    _keeper: keeper,
                };
                (served, before)
            }
        };
        served.rows = definition.map_or(Vec::new(), |definition| {
            let name = crate::catalog::object::name(&definition);
            let services: Weak<dyn admission::Lookup> = Arc::<Api>::downgrade(api);
            let webhook = custom::webhook(&definition)
                .map(|it| Converter::new(name, it, &self.targets, random::number))
                .map(|it| Webhook::new(it, services.clone()));
            custom::resources(&definition, webhook.as_ref(), entry.modified, &served.life)
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
