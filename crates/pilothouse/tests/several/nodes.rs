//! Servers that share an etcd, each with a runtime of its own: it can go like a process that is killed.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use apiserver::local::Local;
use auth::User;
use auth::pki::{Files, ServingNames};
use json::Value;
use pilothouse::pki;
use pilothouse::server::{self, Options, Server};
use testkit::etcd::Cluster;
use testkit::server::on;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Nobody waits for it when all is well.
const DEADLINE: Duration = Duration::from_secs(90);

pub(super) struct Nodes {
    pub all: Vec<Node>,
    pub etcd: Arc<Cluster>,
    files: Files,
    count: u8,
}

pub(super) struct Node {
    pub client: Local,
    /// Who it is when it leads.
    pub identity: String,
    server: Option<Server>,
    runtime: Option<Runtime>,
}

impl Nodes {
    pub(super) async fn start(count: usize) -> Self {
        Self::with(count, |_| {}).await
    }

    pub(super) async fn with(count: usize, change: fn(&mut Options)) -> Self {
        let etcd = Arc::new(Cluster::find().start());
        let names = ServingNames::new("cluster.local", &[]);
        let mut nodes = Self {
            all: Vec::new(),
            etcd,
            files: pki::in_memory(&names, server::now()).expect("certificates"),
            count: 0,
        };
        // All at once: they meet over what every cluster starts with.
        let starting: Vec<_> = (0..count).map(|_| nodes.launch(change)).collect();
        for (runtime, identity, started) in starting {
            let server = started.await.expect("no panic");
            nodes.all.push(Node::new(runtime, identity, server));
        }
        nodes
    }

    fn launch(&mut self, change: fn(&mut Options)) -> (Runtime, String, JoinHandle<Server>) {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        self.count += 1;
        let (etcd, files) = (self.etcd.clone(), self.files.clone());
        let advertise = Ipv4Addr::new(192, 0, 2, self.count);
        let identity = advertise.to_string();
        let own = identity.clone();
        let started = runtime.spawn(async move {
            let store = on(&etcd, "/registry").await;
            let mut options = Options::new(store, ([127, 0, 0, 1], 0).into(), files);
            options.advertise = Some(IpAddr::V4(advertise));
            options.grace = Duration::from_millis(200);
            options.election.identity = own;
            change(&mut options);
            Box::pin(Server::start(options)).await.expect("a server")
        });
        (runtime, identity, started)
    }

    pub(super) fn client(&self, index: usize) -> &Local {
        &self.all[index % self.all.len()].client
    }

    /// A client that is not an admin.
    pub(super) fn as_user(&self, index: usize, name: &str) -> Local {
        let user = User::new(name, &["system:authenticated"]);
        let server = self.all[index % self.all.len()].server.as_ref();
        let api = &server.expect("a server that runs").api;
        Local::new(api.clone(), user, "test")
    }

    /// Ends a server as `kill -9` would.
    pub(super) fn kill(&mut self, index: usize) {
        let mut node = self.all.remove(index);
        if let Some(runtime) = node.runtime.take() {
            runtime.shutdown_background();
        }
        // Without what its end would do.
        std::mem::forget(node.server.take());
    }

    /// Ends a server as it should end.
    pub(super) async fn stop(&mut self, index: usize) {
        let mut node = self.all.remove(index);
        if let Some(server) = node.server.take() {
            server.stop().await.expect("a clean end");
        }
        if let Some(runtime) = node.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Node {
    fn new(runtime: Runtime, identity: String, server: Server) -> Self {
        let admin = User::new("admin", &["system:masters", "system:authenticated"]);
        Self {
            client: Local::new(server.api.clone(), admin, "test"),
            identity,
            server: Some(server),
            runtime: Some(runtime),
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Asks again until the answer is as it should be.
pub(super) async fn until(client: &Local, path: &str, good: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let found = client.get(path).await;
        match found {
            Ok(object) if good(&object) => return object,
            last => assert!(
                begun.elapsed() < DEADLINE,
                "{path} did not come to what was expected: {last:?}"
            ),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(super) async fn until_gone(client: &Local, path: &str) {
    let begun = Instant::now();
    loop {
        match client.get(path).await {
            Err(status) if status.is_not_found() => return,
            last => assert!(begun.elapsed() < DEADLINE, "{path} is there: {last:?}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
