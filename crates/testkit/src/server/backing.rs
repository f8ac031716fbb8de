//! Which store a story's server is on: memory, or a real etcd where that is asked for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use store::{Store, embedded};

use crate::etcd::Cluster;

/// All servers of a test program share one etcd, each below a prefix of its own. It goes with the last of them.
static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A store, and what must live as long as it.
#[derive(Debug)]
pub struct Backing {
    pub store: Store,
    pub etcd: Option<Arc<Cluster>>,
}

impl Backing {
    /// On etcd with `PILOTHOUSE_TEST_STORE=etcd`, and in a test program whose name begins with `on_etcd`: the stories are
    /// the same, and a program cannot set its own environment. Else in memory.
    ///
    /// Panics if there is no etcd or if it does not start: the tests of such programs are marked `#[requires(test_store)]`.
    pub async fn open() -> Self {
        if !is_asked() {
            return Self::memory();
        }
        let etcd = shared();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let store = on(&etcd, &format!("/registry-{number}")).await;
        Self {
            store,
            etcd: Some(etcd),
        }
    }

    pub fn memory() -> Self {
        Self {
            store: embedded::in_memory(&store::Options::default()),
            etcd: None,
        }
    }
}

/// A store below a prefix.
pub async fn on(etcd: &Cluster, prefix: &str) -> Store {
    let config = store_etcd::Config {
        endpoints: etcd.endpoints(),
        prefix: prefix.to_owned(),
        ..store_etcd::Config::default()
    };
    let opened = store_etcd::open(config, &store::Options::default()).await;
    opened.expect("open a store on etcd")
}

fn is_asked() -> bool {
    let asked = std::env::var("PILOTHOUSE_TEST_STORE").is_ok_and(|it| it == "etcd");
    let program = std::env::current_exe().ok();
    let name = program.as_ref().and_then(|it| it.file_name()?.to_str());
    asked || name.is_some_and(|it| it.starts_with("on_etcd"))
}

fn shared() -> Arc<Cluster> {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = shared.upgrade() {
        return running;
    }
    let started = Arc::new(Cluster::find().start());
    *shared = Arc::downgrade(&started);
    started
}
