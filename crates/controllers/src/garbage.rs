//! `garbage-collector-controller`: what has owners goes when the last of them is gone.

mod collect;
mod graph;
mod owners;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use apiserver::local::{Change, Local, ObjectMetadata, Resource};
use encoding::percent;
use tokio::sync::watch;

use crate::queue::Queue;
use graph::{Graph, Task};

/// Objects that failed are looked at again after so much time at the latest.
const LONGEST: Duration = Duration::from_secs(60);
const WORKERS: usize = 32;

pub(crate) const FOREGROUND: &str = "foregroundDeletion";
pub(crate) const ORPHAN: &str = "orphan";

/// What workers share.
struct Collector {
    client: Local,
    graph: Mutex<Graph>,
    queue: Arc<Queue<Task>>,
    /// The graph is complete: before, an owner might seem to have no dependents.
    synced: watch::Sender<bool>,
}

impl Collector {
    fn graph(&self) -> MutexGuard<'_, Graph> {
        self.graph.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) async fn run(client: Local) {
    let collector = Arc::new(Collector {
        graph: Mutex::default(),
        queue: Queue::new(&client, "garbage_collector_attempt_to_delete", LONGEST),
        synced: watch::Sender::new(false),
        client,
    });
    let work = {
        let collector = collector.clone();
        move |task| {
            let collector = collector.clone();
            async move { collector.work(task).await }
        }
    };
    tokio::select! {
        _ = collector.queue.run(WORKERS, work) => {}
        () = read(&collector) => {}
    }
}

/// Keeps the graph up to date, and says what is to be looked at.
async fn read(collector: &Collector) {
    let mut everything = collector.client.host().metadata_stream();
    while let Some(changes) = everything.next().await {
        for seen in collector.apply(changes) {
            owners::report(&collector.client, &seen).await;
        }
    }
}

impl Collector {
    /// Comes back with objects that have owners which are not there.
    fn apply(&self, changes: Vec<Change>) -> Vec<ObjectMetadata> {
        let mut graph = self.graph();
        let mut tasks = Vec::new();
        let mut suspects = Vec::new();
        for change in changes {
            match change {
                Change::Begin => {
                    self.synced.send_replace(false);
                    graph.begin();
                }
                Change::Put(seen) => {
                    if graph.put(&seen, &mut tasks) && !owners::all_there(&self.client, &seen) {
                        tasks.push(Task::Look(graph.id(&seen.uid)));
                        suspects.push(seen);
                    }
                }
                Change::Gone(seen) => {
                    let id = graph.id(&seen.uid);
                    graph.remove(id, &mut tasks);
                }
                Change::Synced => {
                    graph.synced(&mut tasks);
                    self.synced.send_replace(true);
                }
            }
        }
        for task in tasks {
            self.queue.add(task);
        }
        suspects
    }
}

/// Where objects of a kind are.
pub(crate) fn collection(resource: &Resource, namespace: &str) -> String {
    let (group, version, plural) = (&resource.group, &resource.version, &resource.plural);
    let root = if group.is_empty() {
        format!("/api/{version}")
    } else {
        format!("/apis/{group}/{version}")
    };
    if resource.namespaced && !namespace.is_empty() {
        format!("{root}/namespaces/{namespace}/{plural}")
    } else {
        format!("{root}/{plural}")
    }
}

/// Where an object is.
pub(crate) fn path(resource: &Resource, namespace: &str, name: &str) -> String {
    let mut path = collection(resource, namespace);
    path.push('/');
    // Names of roles may hold almost anything.
    let stays = |it: u8| it.is_ascii_alphanumeric() || b"-._:".contains(&it);
    percent::encode_to(&mut path, name.as_bytes(), stays);
    path
}
