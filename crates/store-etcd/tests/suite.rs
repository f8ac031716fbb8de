//! The one suite for all stores, on a real etcd: every behaviour, the model, linearizable histories.

use store::{Options, Store};
use store_etcd::Config;
use testkit::etcd::{Cluster, Etcd};
use testkit::suite::Backing;

/// A cluster of its own for each test: compaction and revisions are the whole cluster's.
#[derive(Debug)]
struct Fresh(Cluster);

impl Fresh {
    fn new(found: Etcd) -> Self {
        Self(found.start())
    }

    async fn start(&self, options: &Options) -> Store {
        let config = Config {
            endpoints: self.0.endpoints(),
            ..Config::default()
        };
        store_etcd::open(config, options)
            .await
            .expect("the store opens")
    }
}

impl Backing for Fresh {
    async fn open(&self, options: &Options) -> Store {
        self.start(options).await
    }

    async fn reopen(&self, store: Store, options: &Options) -> Option<Store> {
        store.close().await.expect("the store closes");
        Some(self.start(options).await)
    }
}

testkit::suite!(requires(etcd): Fresh::new(Cluster::find()));

#[testkit::requires(etcd)]
#[test]
fn model() {
    let found = Cluster::find();
    testkit::model::check(testkit::model::cases(12), || Fresh::new(found.clone()));
}

#[testkit::requires(etcd)]
#[test]
fn linearizable() {
    let found = Cluster::find();
    testkit::linearize::check(30, &Fresh::new(found));
}
