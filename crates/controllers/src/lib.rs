//! The loops that keep the API's promises.
//!
//! **Invariant:** they talk only through the API.

mod aggregation;
mod api_services;
pub mod bootstrap;
mod certificates;
mod condition;
mod definitions;
mod endpoints;
mod flow_control;
mod garbage;
mod identity;
mod informer;
mod leader;
mod namespace;
mod queue;
mod root_ca;
mod selection;
mod serviceaccounts;

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use apiserver::local::Local;
use auth::pki::{CertificateAuthority, CertifiedKey};
use endpoints::Own;
use tokio::task::JoinSet;

pub use leader::Election;
pub use selection::{Selection, UnknownController};

/// What a server takes at most to tell the others that it goes.
const FAREWELL: Duration = Duration::from_secs(3);

/// What controllers must know that no object tells.
#[derive(Debug)]
pub struct Config {
    pub selection: Selection,
    /// PEM of the authority that clients in pods check this server by.
    pub root_ca: String,
    /// PEM of the authorities whose client certificates count.
    pub client_authorities: String,
    /// Signs certificates that are asked for, if we have its key.
    pub authority: Option<CertifiedKey>,
    /// How others reach this server.
    pub advertise: (IpAddr, u16),
    /// Differs between the servers over one store, and stays over restarts.
    pub identity: String,
    /// Given where several servers share a store: what must not run twice runs where the Lease is held.
    pub election: Option<Election>,
}

/// Controllers that run.
#[derive(Debug)]
pub struct Controllers {
    set: JoinSet<()>,
    client: Local,
    own: Own,
    election: Option<Election>,
}

impl Controllers {
    /// Starts those that are selected. They end when the server is told to stop.
    pub fn start(client: &Local, config: Config) -> Self {
        let mut set = JoinSet::new();
        let own = Own::new(config.advertise);
        let here = Tasks::here(&config, &own);
        here.start(client, &mut set);
        let elected = Tasks::elected(&config);
        match config.election.clone() {
            None => elected.start(client, &mut set),
            Some(election) if !elected.0.is_empty() => {
                let (api, client) = (client.api().clone(), client.clone());
                let leader = client.clone();
                let running = leader::run(leader, election, move || {
                    let mut set = JoinSet::new();
                    elected.start(&client, &mut set);
                    set
                });
                set.spawn(async move {
                    tokio::select! {
                        () = api.stopping() => {}
                        never = running => match never {},
                    }
                });
            }
            Some(_) => {}
        }
        Self {
            set,
            client: client.clone(),
            own,
            election: config.election,
        }
    }

    /// Comes back when none of them does anything any more. Other servers over the same store need not find out.
    pub async fn stopped(mut self) {
        while self.set.join_next().await.is_some() {}
        let Some(election) = self.election else {
            return;
        };
        // They will find out if this fails.
        let leave = async {
            let _ = leader::release(&self.client, &election).await;
            let _ = endpoints::leave(&self.client, &self.own).await;
        };
        let _ = tokio::time::timeout(FAREWELL, leave).await;
    }
}

type Run = Box<dyn Fn(Local) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// Controllers that are selected, to be started once or whenever we lead.
struct Tasks(Vec<Run>);

impl Tasks {
    /// What every server does for itself.
    fn here(config: &Config, own: &Own) -> Self {
        let mut tasks = Self(Vec::new());
        let authorities = config.client_authorities.clone();
        tasks.add(config, "cluster-bootstrap-controller", move |client| {
            bootstrap::late(client, authorities.clone())
        });
        let own = own.clone();
        tasks.add(config, "kubernetes-service-controller", move |client| {
            endpoints::run(client, own.clone())
        });
        let (identity, advertise) = (config.identity.clone(), config.advertise);
        tasks.add(config, "apiserver-identity-controller", move |client| {
            identity::run(client, identity.clone(), advertise)
        });
        tasks
    }

    /// What one server does for all.
    fn elected(config: &Config) -> Self {
        let mut tasks = Self(Vec::new());
        tasks.add(config, "namespace-controller", namespace::run);
        tasks.add(config, "garbage-collector-controller", garbage::run);
        let name = "customresourcedefinition-controller";
        tasks.add(config, name, definitions::run);
        tasks.add(config, "serviceaccount-controller", serviceaccounts::run);
        let (name, root) = (
            "root-ca-certificate-publisher-controller",
            config.root_ca.clone(),
        );
        tasks.add(config, name, move |client| {
            root_ca::run(client, root.clone())
        });
        let name = "clusterrole-aggregation-controller";
        tasks.add(config, name, aggregation::run);
        let authority = config.authority.as_ref();
        let authority = authority.and_then(|it| CertificateAuthority::from_pem(it).ok());
        if let Some(authority) = authority {
            let authority = Arc::new(authority);
            let name = "certificatesigningrequest-signing-controller";
            tasks.add(config, name, move |client| {
                certificates::sign(client, authority.clone())
            });
        }
        let name = "certificatesigningrequest-approving-controller";
        tasks.add(config, name, certificates::approve);
        let name = "certificatesigningrequest-cleaner-controller";
        tasks.add(config, name, certificates::clean);
        let name = "apiservice-registration-controller";
        tasks.add(config, name, api_services::run);
        tasks.add(config, "flow-control-controller", flow_control::run);
        tasks
    }

    fn add<F>(
        &mut self,
        config: &Config,
        name: &str,
        run: impl Fn(Local) -> F + Send + Sync + 'static,
    ) where
        F: Future + Send + 'static,
        F::Output: Send,
    {
        if !config.selection.includes(name) {
            return;
        }
        self.0.push(Box::new(move |client| {
            let running = run(client);
            Box::pin(async move {
                running.await;
            })
        }));
    }

    fn start(&self, client: &Local, set: &mut JoinSet<()>) {
        for run in &self.0 {
            let (api, running) = (client.api().clone(), run(client.clone()));
            set.spawn(async move {
                tokio::select! {
                    () = api.stopping() => {}
                    () = running => {}
                }
            });
        }
    }
}
