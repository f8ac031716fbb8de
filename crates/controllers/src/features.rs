//! `feature-controller`: the life of the features of the control plane, as Features in kube-system.
//!
//! Every server announces the features of its binary, and leads some of them ([`features::leader`]): it reads the stored status, has
//! [`features::lifecycle::step`] decide, writes the result over the version that it read, and only then runs the task that the status
//! names. Nothing here decides what a transition is: that is the crate's, whose interleavings are explored by its tests.

mod decide;
mod events;
mod plan;
mod record;
mod servers;
mod status;
mod tasks;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use apiserver::local::{FEATURES_NAMESPACE as NAMESPACE, FeatureAdmission, Found, Local};
use features::Registry;
use features::lifecycle::{FeatureStatus, Outcome, RunTask, State, name, wait_servers};
use json::{Value, json};
use meta::{Status, object};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::condition;
use crate::informer::{self, Event};
use plan::Plans;
use servers::{LABEL, Live, Servers, Shard};
use tasks::{Ended, Work};

const FEATURES: &str = "/apis/features.k8s.io/v1alpha1/namespaces/kube-system/features";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?labelSelector=apiserver.kubernetes.io%2Fidentity%3Dkube-apiserver";
const MAPS: &str = "/api/v1/namespaces/kube-system/configmaps";
/// How often servers are looked at that say nothing, and tasks that wait for others' objects.
const TICK: Duration = Duration::from_secs(2);
/// Changes that come together are looked at together.
const GATHER: Duration = Duration::from_millis(10);
/// Writes that are under way at the same time.
const TOGETHER: usize = 32;
/// Seconds after which it is told that others are waited for.
const PATIENCE: u64 = 5;
/// How often uses are looked for of features that are off.
const RESCAN: Duration = Duration::from_secs(600);
/// Steps of a feature before others are looked at again.
const STEPS: usize = 16;

/// What the flow must know that no object tells.
#[derive(Clone, Debug)]
pub struct Config {
    /// Features that other components read from the API.
    pub central: features::Selection,
    /// Names features that are off whatever else is set; looked at again and again.
    pub kill_switch: Option<PathBuf>,
    /// Seconds since 1970.
    pub clock: fn() -> u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            central: features::Selection::default(),
            kill_switch: None,
            clock: unix,
        }
    }
}

enum Update {
    Feature(Event),
    Lease(Event),
    Map(Event),
    Acknowledged,
}

type ToUpdate = fn(Event) -> Update;

pub(crate) async fn run(client: Local, identity: String, config: Config) {
    let (sender, mut updates) = mpsc::unbounded_channel();
    let mut sources = JoinSet::new();
    let maps = format!("{MAPS}?labelSelector={}", LABEL.replace('/', "%2F"));
    let collections: [(String, ToUpdate); 3] = [
        (FEATURES.to_owned(), Update::Feature),
        (LEASES.to_owned(), Update::Lease),
        (maps, Update::Map),
    ];
    for (path, update) in collections {
        let (client, sender) = (client.clone(), sender.clone());
        sources.spawn(async move {
            let each = |event| {
                // The other end lives as long as this.
                let _ = sender.send(update(event));
            };
            match informer::follow(&client, &path, each).await {}
        });
    }
    let mut acknowledged = client.host().features().acknowledged();
    let told = sender.clone();
    sources.spawn(async move {
        while acknowledged.changed().await.is_ok() {
            let _ = told.send(Update::Acknowledged);
        }
    });
    let mut flow = Flow::new(client, identity, config);
    let mut wake = Instant::now();
    loop {
        tokio::select! {
            update = updates.recv() => {
                let Some(update) = update else { return };
                flow.take(update);
                tokio::time::sleep(GATHER).await;
                while let Ok(update) = updates.try_recv() {
                    flow.take(update);
                }
            }
            Some(ended) = flow.running.join_next() => {
                if let Ok((feature, run, ended)) = ended {
                    flow.ended.insert(feature, (run, ended));
                }
            }
            () = tokio::time::sleep_until(wake) => {}
        }
        wake = flow.pass().await.min(Instant::now() + TICK);
    }
}

/// A Feature as this server has seen it last.
#[derive(Clone, Debug, Default)]
struct Known {
    object: Value,
    status: Option<FeatureStatus>,
}

impl Known {
    fn new(object: Value) -> Self {
        let status = object.get("status").and_then(status::read);
        Self { object, status }
    }

    fn version(&self) -> u64 {
        object::resource_version(&self.object).parse().unwrap_or(0)
    }
}

struct Flow {
    client: Local,
    /// The name of this server's Lease.
    identity: String,
    config: Config,
    admission: Arc<FeatureAdmission>,
    plans: Plans,
    features: BTreeMap<String, Known>,
    is_synced: [bool; 3],
    servers: Servers,
    /// What was written of this server last.
    written: Option<Shard>,
    running: JoinSet<(String, RunTask, Ended)>,
    /// Features with a task that runs.
    busy: BTreeSet<String>,
    ended: BTreeMap<String, (RunTask, Ended)>,
    /// Features that are off and were scanned since this server started.
    scanned: BTreeMap<String, Found>,
    scanned_at: Option<Instant>,
}

/// What is to be done for a feature.
enum Decision {
    Write(Box<Known>, Value, Option<State>),
    Run(RunTask),
}

impl Flow {
    fn new(client: Local, identity: String, config: Config) -> Self {
        let admission = client.host().features().clone();
        Self {
            client,
            identity,
            config,
            admission,
            plans: Plans::new(),
            features: BTreeMap::new(),
            is_synced: [false; 3],
            servers: Servers::default(),
            written: None,
            running: JoinSet::new(),
            busy: BTreeSet::new(),
            ended: BTreeMap::new(),
            scanned: BTreeMap::new(),
            scanned_at: None,
        }
    }

    fn take(&mut self, update: Update) {
        match update {
            Update::Acknowledged => {}
            Update::Feature(event) => match event {
                Event::Begin => self.features.clear(),
                Event::Put(feature) => self.put(feature),
                Event::Gone(feature) => {
                    self.scanned.remove(object::name(&feature));
                    self.features.remove(object::name(&feature));
                }
                Event::Synced => self.is_synced[0] = true,
            },
            Update::Lease(event) => match event {
                Event::Put(lease) => self.servers.put_lease(&lease),
                Event::Gone(lease) => self.servers.remove_lease(object::name(&lease)),
                Event::Synced => self.is_synced[1] = true,
                Event::Begin => {}
            },
            Update::Map(event) => {
                let id = |it: &Value| {
                    let label = it.at(&["metadata", "labels", LABEL]);
                    label.and_then(Value::as_str).unwrap_or_default().to_owned()
                };
                match event {
                    Event::Put(map) => self.servers.put_shard(&id(&map), Shard::read(&map)),
                    Event::Gone(map) => self.servers.remove_shard(&id(&map)),
                    Event::Synced => self.is_synced[2] = true,
                    Event::Begin => {}
                }
            }
        }
    }

    /// Events may be older than what this server wrote itself.
    fn put(&mut self, feature: Value) {
        let known = Known::new(feature);
        let name = object::name(&known.object).to_owned();
        let newest = self.features.get(&name).map_or(0, Known::version);
        if known.version() > newest {
            if known
                .status
                .as_ref()
                .is_some_and(|it| it.state != State::Off)
            {
                self.scanned.remove(&name);
            }
            self.features.insert(name, known);
        }
    }

    /// Takes every feature as far as it goes now. Tells when to look again.
    async fn pass(&mut self) -> Instant {
        if self.is_synced != [true; 3] {
            return Instant::now() + TICK;
        }
        if self.tell_others().await.is_err() {
            return Instant::now() + TICK;
        }
        self.scan_off().await;
        let mut later = None;
        for _ in 0..STEPS {
            let (writes, runs, next) = self.decide();
            later = next;
            let mut is_changed = self.write(writes).await;
            for (feature, run) in runs {
                is_changed |= self.start(feature, run).await;
            }
            if !is_changed {
                break;
            }
        }
        let seconds = later.map(|it| it.saturating_sub((self.config.clock)()));
        Instant::now() + seconds.map_or(TICK, Duration::from_secs)
    }

    /// Looks for uses of features that are off, all in one walk, some time after they have come to be so and then now and then.
    async fn scan_off(&mut self) {
        if self.scanned_at.is_some_and(|it| it.elapsed() > RESCAN) {
            self.scanned.clear();
        }
        let live = self.servers.live(&self.identity);
        let is_due = |(name, known): &(&String, &Known)| {
            let status = known.status.as_ref();
            let Some(status) = status.filter(|it| it.state == State::Off) else {
                return false;
            };
            let acknowledged: Vec<_> = live.iter().map(|it| it.acknowledgement(name)).collect();
            !self.scanned.contains_key(*name)
                && wait_servers(status, &acknowledged) == Outcome::Done
                && leads(&live, name, &self.identity)
        };
        let due = self.features.iter().filter(is_due);
        let due: Vec<String> = due.map(|(name, _)| name.clone()).collect();
        if due.is_empty() {
            return;
        }
        let plans = due.iter().map(|it| (it.clone(), self.plans.of(it)));
        let plans: Vec<_> = plans.collect();
        if let Ok(found) = tasks::scan_all(&self.client, &plans).await {
            self.scanned.extend(found);
            self.scanned_at = Some(Instant::now());
        }
    }

    /// Writes what this server wants and has taken over, if that has changed.
    async fn tell_others(&mut self) -> Result<(), Status> {
        let acknowledged = self.admission.acknowledged().borrow().clone();
        let mut shard = Shard::own(&self.admission, &acknowledged);
        shard.killed = self.killed();
        self.servers.put_shard(&self.identity, shard.clone());
        if self.written.as_ref() == Some(&shard) {
            return Ok(());
        }
        let object = shard.object(&self.identity);
        let path = format!("{MAPS}/{}", servers::name(&self.identity));
        let change = json!({"metadata": (object.get("metadata").cloned()), "data": (object.get("data").cloned())});
        match self.client.merge_patch(&path, &change).await {
            Err(status) if status.is_not_found() => {
                self.client.create(MAPS, &object).await?;
            }
            done => drop(done?),
        }
        self.written = Some(shard);
        Ok(())
    }

    fn killed(&self) -> BTreeSet<String> {
        let file = self.config.kill_switch.as_ref();
        let text = file.and_then(|it| std::fs::read_to_string(it).ok());
        let text = text.unwrap_or_default();
        let lines = text
            .lines()
            .map(|it| it.split('#').next().unwrap_or_default().trim());
        lines
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// What the features that this server leads need now, and when to look again.
    #[expect(clippy::type_complexity, reason = "three lists")]
    fn decide(&mut self) -> (Vec<(String, Decision)>, Vec<(String, RunTask)>, Option<u64>) {
        let (mut writes, mut runs) = (Vec::new(), Vec::new());
        let mut later: Option<u64> = None;
        let live = self.servers.live(&self.identity);
        let own = self.admission.own();
        let gates = own.iter().map(|(gate, _)| &gate.name);
        let gates = gates.filter(|it| !matches!(it.as_str(), "AllAlpha" | "AllBeta"));
        let names: BTreeSet<&String> = gates.chain(self.features.keys()).collect();
        let mut used = Vec::new();
        for feature in names {
            if !leads(&live, feature, &self.identity) {
                continue;
            }
            if self.busy.contains(feature.as_str()) && !self.ended.contains_key(feature) {
                continue;
            }
            let ended = self.ended.get(feature);
            let Some((decision, next)) = self.look_at(feature, &live, ended) else {
                continue;
            };
            if ended.is_some() {
                used.push(feature.clone());
            }
            later = later.into_iter().chain(next).min();
            match decision {
                Some(Decision::Run(run)) => runs.push((feature.clone(), run)),
                Some(write) => writes.push((feature.clone(), write)),
                None => {}
            }
        }
        for feature in used {
            self.ended.remove(&feature);
            self.busy.remove(&feature);
        }
        (writes, runs, later)
    }

    /// Tells whether any write was made.
    async fn write(&mut self, writes: Vec<(String, Decision)>) -> bool {
        let mut is_changed = false;
        let mut writes = writes.into_iter().peekable();
        while writes.peek().is_some() {
            let mut some = JoinSet::new();
            for (name, decision) in writes.by_ref().take(TOGETHER) {
                if let Decision::Write(known, old, from) = decision {
                    let client = self.client.clone();
                    some.spawn(async move {
                        let stored = store(&client, &name, &known.object).await;
                        if let (Ok(stored), Some(from)) = (&stored, from) {
                            let state = stored.str_at(&["status", "state"]);
                            let series = client.host().feature_series();
                            series.changed(&name, state.unwrap_or_default());
                            events::changed(&client, stored, from).await;
                        } else if let Ok(stored) = &stored {
                            events::conditions(&client, &old, stored).await;
                        }
                        stored
                    });
                }
            }
            while let Some(stored) = some.join_next().await {
                // A conflict means that another server was faster: its event comes.
                if let Ok(Ok(stored)) = stored {
                    self.put(stored);
                    is_changed = true;
                }
            }
        }
        is_changed
    }

    /// Runs a task. Tells whether it has ended already.
    async fn start(&mut self, feature: String, run: RunTask) -> bool {
        if !self.busy.insert(feature.clone()) {
            return false;
        }
        let quick = match &*run.name {
            name::WAIT_SERVERS => Some(self.wait_servers(&feature)),
            name::WAIT_DEPENDENCIES => {
                Some(self.wait_features(&depends_on(&feature), State::On).await)
            }
            name::WAIT_DEPENDENTS => {
                Some(self.wait_features(&dependents(&feature), State::Off).await)
            }
            name::WAIT_USES => Some(Outcome::Done),
            _ => None,
        };
        if let Some(outcome) = quick {
            let is_done = outcome == Outcome::Done;
            if !is_done && self.is_young(&feature) {
                // Others take a moment: that is not worth a word.
                self.busy.remove(&feature);
                return false;
            }
            self.ended.insert(feature, (run, outcome.into()));
            return is_done;
        }
        let work = Work {
            client: self.client.clone(),
            plan: self.plans.of(&feature),
            feature: feature.clone(),
            run: run.clone(),
        };
        self.running.spawn(async move {
            let ended = work.run().await;
            (feature, run, ended)
        });
        false
    }

    /// Whether the state of a feature has just begun.
    fn is_young(&self, feature: &str) -> bool {
        let status = self.features.get(feature).and_then(|it| it.status.as_ref());
        status.is_some_and(|it| (self.config.clock)() < it.since + PATIENCE)
    }

    fn wait_servers(&self, feature: &str) -> Outcome {
        let live = self.servers.live(&self.identity);
        let acknowledged: Vec<_> = live.iter().map(|it| it.acknowledgement(feature)).collect();
        let status = self.features.get(feature).and_then(|it| it.status.as_ref());
        let Some(status) = status else {
            return Outcome::Retry("the feature is gone".to_owned());
        };
        wait_servers(status, &acknowledged)
    }

    /// Read after the status with the task was stored, and not from what was seen before.
    async fn wait_features(&self, others: &[String], wanted: State) -> Outcome {
        let mut others_in_the_way = Vec::new();
        for other in others {
            let found = self.client.get(&format!("{FEATURES}/{other}")).await;
            let state = match found {
                Ok(found) => found
                    .get("status")
                    .and_then(status::read)
                    .map(|it| it.state),
                Err(status) if status.is_not_found() => None,
                Err(status) => return Outcome::Retry(status.message),
            };
            let is_good = match wanted {
                State::Off => state.is_none_or(|it| it == State::Off),
                _ => state == Some(wanted),
            };
            if !is_good {
                others_in_the_way.push(format!("features.features.k8s.io/{NAMESPACE}/{other}"));
            }
        }
        if others_in_the_way.is_empty() {
            Outcome::Done
        } else {
            Outcome::Blocked(others_in_the_way.into())
        }
    }
}

fn leads(live: &[Live<'_>], feature: &str, identity: &str) -> bool {
    let candidates: Vec<_> = live.iter().map(|it| it.candidate(feature)).collect();
    features::leader(NAMESPACE, feature, &candidates) == Some(identity)
}

/// Creates or updates, over the version that was read.
async fn store(client: &Local, name: &str, feature: &Value) -> Result<Value, Status> {
    let manager = "fieldManager=kube-apiserver";
    if object::resource_version(feature).is_empty() {
        return client
            .create(&format!("{FEATURES}?{manager}"), feature)
            .await;
    }
    client
        .update(&format!("{FEATURES}/{name}/status?{manager}"), feature)
        .await
}

fn depends_on(feature: &str) -> Vec<String> {
    let registry = Registry::kubernetes();
    let gate = registry
        .find(feature)
        .and_then(|it| registry.gates().get(it.index()));
    gate.map_or(Vec::new(), |it| it.depends_on.clone())
}

fn dependents(feature: &str) -> Vec<String> {
    let gates = Registry::kubernetes().gates().iter();
    let all = gates.filter(|it| it.depends_on.iter().any(|it| it == feature));
    all.map(|it| it.name.clone()).collect()
}

fn unix() -> u64 {
    u64::try_from(condition::unix()).unwrap_or(0)
}
