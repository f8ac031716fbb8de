//! Control loops: namespaces, garbage collection, certificates, definitions, endpoints and others.
//!
//! **Invariant:** they talk only through the API: a controller has a client ([`apiserver::local::Local`]) and the short
//! list of what the server process offers besides ([`apiserver::local::Host`]), and no other part of `apiserver`.

mod aggregation;
mod api_services;
pub mod bootstrap;
mod certificates;
mod condition;
mod definitions;
mod endpoints;
pub mod features;
mod flow_control;
mod garbage;
mod identity;
mod informer;
mod leader;
mod namespace;
mod policy_status;
mod protection;
mod queue;
mod root_ca;
mod selection;
mod serviceaccounts;
mod trust;
mod used_tokens;

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use apiserver::local::Local;
use auth::pki::{CertificateAuthority, CertifiedKey};
use endpoints::Own;
use tokio::task::JoinSet;

use protection::Protected::{AttributesClasses, Claims, Volumes};

pub use leader::Election;
pub use selection::{Selection, UnknownController};
pub use trust::Trust;

/// The time that a server takes at most to release its leases when it stops.
const FAREWELL: Duration = Duration::from_secs(3);

/// Settings of controllers that are in no object.
#[derive(Debug)]
pub struct Config {
    pub selection: Selection,
    /// PEM of the authority that clients in pods check this server by.
    pub root_ca: String,
    pub trust: Trust,
    /// Signs certificates that are asked for, if we have its key.
    pub authority: Option<CertifiedKey>,
    /// How others reach this server.
    pub advertise: (IpAddr, u16),
    /// Differs between the servers over one store, and stays over restarts.
    pub identity: String,
    /// The life of features.
    pub features: features::Config,
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
    /// Starts those that are selected: upstream has some of them in its server, and others beside it. They end when the
    /// server is told to stop.
    pub fn start(server: &Local, beside: &Local, config: Config) -> Self {
        let mut set = JoinSet::new();
        let clients = Clients {
            server: server.clone(),
            beside: beside.clone(),
        };
        let own = Own::new(config.advertise);
        Tasks::here(&config, &own).start(&clients, &mut set);
        let elected = Tasks::elected(&config);
        match config.election.clone() {
            None => elected.start(&clients, &mut set),
            Some(election) if !elected.0.is_empty() => {
                let host = beside.host().clone();
                let running = leader::run(beside.clone(), election, move || {
                    let mut set = JoinSet::new();
                    elected.start(&clients, &mut set);
                    set
                });
                set.spawn(async move {
                    tokio::select! {
                        () = host.stopping() => {}
                        never = running => match never {},
                    }
                });
            }
            Some(_) => {}
        }
        Self {
            set,
            client: beside.clone(),
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

/// The clients of controllers, by user.
struct Clients {
    server: Local,
    /// As kube-controller-manager, for controllers that upstream runs there.
    beside: Local,
}

#[derive(Clone, Copy)]
enum Speaker {
    Server,
    Beside,
}

/// Controllers that are selected, to be started once or whenever we lead.
struct Tasks(Vec<(Speaker, Run)>);

impl Tasks {
    /// What every server does for itself.
    fn here(config: &Config, own: &Own) -> Self {
        let mut tasks = Adding::new(config, Speaker::Server);
        let trust = config.trust.clone();
        tasks.add("cluster-bootstrap-controller", move |client| {
            bootstrap::late(client, trust.clone())
        });
        tasks.add("cluster-bootstrap-controller", used_tokens::run);
        let own = own.clone();
        tasks.add("kubernetes-service-controller", move |client| {
            endpoints::run(client, own.clone())
        });
        let (identity, advertise) = (config.identity.clone(), config.advertise);
        tasks.add("apiserver-identity-controller", move |client| {
            identity::run(client, identity.clone(), advertise)
        });
        let (lease, features) = (identity::lease(&config.identity), config.features.clone());
        tasks.add("feature-controller", move |client| {
            features::run(client, lease.clone(), features.clone())
        });
        Self(tasks.all)
    }

    /// What one server does for all.
    fn elected(config: &Config) -> Self {
        let mut tasks = Adding::new(config, Speaker::Server);
        tasks.add("customresourcedefinition-controller", definitions::run);
        tasks.add("apiservice-registration-controller", api_services::run);
        tasks.add("flow-control-controller", flow_control::run);
        tasks.speaker = Speaker::Beside;
        tasks.add("namespace-controller", namespace::run);
        tasks.add("garbage-collector-controller", garbage::run);
        tasks.add("serviceaccount-controller", serviceaccounts::run);
        let root = config.root_ca.clone();
        tasks.add("root-ca-certificate-publisher-controller", move |client| {
            root_ca::run(client, root.clone())
        });
        tasks.add("clusterrole-aggregation-controller", aggregation::run);
        let name = "validatingadmissionpolicy-status-controller";
        tasks.add(name, policy_status::run);
        let authority = config.authority.as_ref();
        let authority = authority.and_then(|it| CertificateAuthority::from_pem(it).ok());
        if let Some(authority) = authority.map(Arc::new) {
            let name = "certificatesigningrequest-signing-controller";
            tasks.add(name, move |client| {
                certificates::sign(client, authority.clone())
            });
        }
        let name = "certificatesigningrequest-approving-controller";
        tasks.add(name, certificates::approve);
        let name = "certificatesigningrequest-cleaner-controller";
        tasks.add(name, certificates::clean);
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
        Self(tasks.all)
    }

    fn start(&self, clients: &Clients, set: &mut JoinSet<()>) {
        for (speaker, run) in &self.0 {
            let client = match speaker {
                Speaker::Server => &clients.server,
                Speaker::Beside => &clients.beside,
            };
            let (host, running) = (client.host().clone(), run(client.clone()));
            set.spawn(async move {
                tokio::select! {
                    biased;
                    () = host.stopping() => {}
                    () = running => {}
                }
            });
        }
    }
}

struct Adding<'a> {
    config: &'a Config,
    speaker: Speaker,
    all: Vec<(Speaker, Run)>,
}

impl<'a> Adding<'a> {
    fn new(config: &'a Config, speaker: Speaker) -> Self {
        Self {
            config,
            speaker,
            all: Vec::new(),
        }
    }

    fn add<F>(&mut self, name: &str, run: impl Fn(Local) -> F + Send + Sync + 'static)
    where
        F: Future + Send + 'static,
        F::Output: Send,
    {
        if !self.config.selection.includes(name) {
            return;
        }
        let run: Run = Box::new(move |client| {
            let running = run(client);
            Box::pin(async move {
                running.await;
            })
        });
        self.all.push((self.speaker, run));
    }
}
