//! A whole server in a test, in one line: in memory, on a free port, gone when the value is dropped.

mod backing;
mod kubectl;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use apiserver::local::Local;
use apiserver::pipeline::Api;
use auth::User;
use auth::pki::ServingNames;
use auth::token_file::StaticTokens;
use pilothouse::{pki, server};
use store::Store;
use tempfile::TempDir;
use tokio::sync::oneshot;

pub use backing::{Backing, on};
pub use kubectl::{Answer, Running};

/// Users besides the admin of the kubeconfig, each with the token `<name>-token`. RBAC gives them no rights at first.
const TOKENS: &str = "\
admin-token,admin,admin-uid,system:masters
alice-token,alice,alice-uid,\"dev,ops\"
bob-token,bob,bob-uid
";

/// A server with a runtime of its own, so that a test may block beside it.
#[derive(Debug)]
pub struct Server {
    pub address: SocketAddr,
    kubeconfig: PathBuf,
    directory: TempDir,
    api: Arc<Api>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Comes back when the server is ready. Panics if it does not start: there is nothing to test then.
    pub async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// With other options than the usual ones.
    pub async fn start_with(change: impl FnOnce(&mut server::Options) + Send + 'static) -> Self {
        Self::start_as(Backing::open, change).await
    }

    /// On a store that is opened on the server's runtime.
    pub async fn start_on<F>(open: impl FnOnce() -> F + Send + 'static) -> Self
    where
        F: Future<Output = Store>,
    {
        let open = || async {
            Backing {
                store: open().await,
                etcd: None,
            }
        };
        Self::start_as(open, |_| {}).await
    }

    async fn start_as<F>(
        open: impl FnOnce() -> F + Send + 'static,
        change: impl FnOnce(&mut server::Options) + Send + 'static,
    ) -> Self
    where
        F: Future<Output = Backing>,
    {
        let (started, ready) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || run(open, change, started, stopped));
        let (address, kubeconfig, api) = ready
            .await
            .expect("the server's thread says how its start went")
            .expect("start a server");
        let directory = tempfile::tempdir().expect("make a directory for the kubeconfig");
        let path = directory.path().join("kubeconfig");
        pki::secret(&path, &kubeconfig).expect("write the kubeconfig");
        Self {
            address,
            kubeconfig: path,
            directory,
            api,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// The path of an admin's kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// A directory that goes away with the server.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The server's inside, for tests that look at its store or metrics.
    pub fn api(&self) -> &Arc<Api> {
        &self.api
    }

    /// What the server stores, for tests that look beside the API.
    pub fn store(&self) -> &Store {
        self.api.store()
    }

    /// An admin inside this process.
    pub fn local(&self) -> Local {
        let admin = User::new("admin", &["system:masters"]);
        Local::new(self.api.clone(), admin, "testkit")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // Nobody listens if the server has ended already.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

type Started = anyhow::Result<(SocketAddr, String, Arc<Api>)>;

fn run<F: Future<Output = Backing>>(
    open: impl FnOnce() -> F,
    change: impl FnOnce(&mut server::Options),
    started: oneshot::Sender<Started>,
    stopped: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // As the program has it.
        .thread_stack_size(16 << 20)
        .enable_all()
        .build()
        .expect("make a runtime");
    runtime.block_on(async {
        // Gone after the server.
        let backing = open().await;
        let server = match begin(backing.store.clone(), change).await {
            Ok(server) => server,
            Err(error) => {
                let _ = started.send(Err(error));
                return;
            }
        };
        let _ = started.send(Ok((
            server.address,
            server.kubeconfig.clone(),
            server.api.clone(),
        )));
        let _ = stopped.await;
        let _ = server.stop().await;
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
}

async fn begin(
    store: Store,
    change: impl FnOnce(&mut server::Options),
) -> anyhow::Result<server::Server> {
    let names = ServingNames::new("cluster.local", &["127.0.0.1"]);
    let files = pki::in_memory(&names, server::now())?;
    let mut options = server::Options::new(store, ([127, 0, 0, 1], 0).into(), files);
    options.tokens = StaticTokens::parse(TOKENS).map_err(|error| anyhow!("tokens: {error}"))?;
    options.grace = Duration::from_millis(200);
    change(&mut options);
    Box::pin(server::Server::start(options))
        .await
        .context("start")
}
