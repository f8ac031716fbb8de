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
mod namespace;
mod protection;
mod queue;
mod root_ca;
mod selection;
mod serviceaccounts;

use std::net::IpAddr;
use std::sync::Arc;

use apiserver::local::Local;
use auth::pki::{CertificateAuthority, CertifiedKey};
use tokio::task::JoinSet;

use protection::Protected::{AttributesClasses, Claims, Volumes};

pub use selection::{Selection, UnknownController};

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
}

/// Controllers that run.
#[derive(Debug)]
pub struct Controllers(JoinSet<()>);

impl Controllers {
    /// Starts those that are selected: upstream has some of them in its server, and others beside it. They end when the
    /// server is told to stop.
    pub fn start(server: &Local, beside: &Local, config: Config) -> Self {
        let authority = config.authority.as_ref();
        let authority = authority.and_then(|it| CertificateAuthority::from_pem(it).ok());
        let mut tasks = Tasks {
            client: server.clone(),
            selection: config.selection,
            set: JoinSet::new(),
        };
        let authorities = config.client_authorities;
        tasks.add("cluster-bootstrap-controller", |client| {
            bootstrap::late(client, authorities)
        });
        tasks.add("customresourcedefinition-controller", definitions::run);
        let (advertise, identity) = (config.advertise, config.identity);
        tasks.add("kubernetes-service-controller", move |client| {
            endpoints::run(client, advertise)
        });
        tasks.add("apiserver-identity-controller", move |client| {
            identity::run(client, identity, advertise)
        });
        tasks.add("apiservice-registration-controller", api_services::run);
        tasks.add("flow-control-controller", flow_control::run);

        tasks.client = beside.clone();
        tasks.add("namespace-controller", namespace::run);
        tasks.add("garbage-collector-controller", garbage::run);
        tasks.add("serviceaccount-controller", serviceaccounts::run);
        let root = config.root_ca;
        tasks.add("root-ca-certificate-publisher-controller", |client| {
            root_ca::run(client, root)
        });
        tasks.add("clusterrole-aggregation-controller", aggregation::run);
        if let Some(authority) = authority {
            let authority = Arc::new(authority);
            tasks.add("certificatesigningrequest-signing-controller", |client| {
                certificates::sign(client, authority)
            });
        }
        tasks.add(
            "certificatesigningrequest-approving-controller",
            certificates::approve,
        );
        tasks.add(
            "certificatesigningrequest-cleaner-controller",
            certificates::clean,
        );
        let protected = [
            ("persistentvolumeclaim-protection-controller", Claims),
            ("persistentvolume-protection-controller", Volumes),
            (
                "volumeattributesclass-protection-controller",
                AttributesClasses,
            ),
        ];
        for (name, what) in protected {
            tasks.add(name, move |client| protection::run(client, what));
        }
        Self(tasks.set)
    }

    /// Comes back when none of them does anything any more.
    pub async fn stopped(mut self) {
        while self.0.join_next().await.is_some() {}
    }
}

struct Tasks {
    client: Local,
    selection: Selection,
    set: JoinSet<()>,
}

impl Tasks {
    fn add<F>(&mut self, name: &str, run: impl FnOnce(Local) -> F)
    where
        F: Future + Send + 'static,
        F::Output: Send,
    {
        if !self.selection.includes(name) {
            return;
        }
        let (api, running) = (self.client.api().clone(), run(self.client.clone()));
        self.set.spawn(async move {
            tokio::select! {
                () = api.stopping() => {}
                _ = running => {}
            }
        });
    }
}
