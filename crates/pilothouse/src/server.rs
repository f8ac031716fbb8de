//! A running server: the store, the API over it, the controllers beside it.

mod manifests;
mod reload;
mod setup;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use admission::Plugins;
use admission::client::Targets;
use anyhow::Context;
use apiserver::informers::Indexes;
use apiserver::local::Local;
use apiserver::pipeline::{Api, Settings};
use apiserver::receiver;
use apiserver::tls::{Accepting, ClientAuthority, Policy, Serving};
use auth::authorizer::Mode;
use auth::pki::{CertifiedKey, Files};
use auth::token_file::StaticTokens;
use auth::{Rbac, RequestHeader, User};
use controllers::{Controllers, Election, Selection};
use egress::{Network, Selector};
use store::Store;
use telemetry::export::Queue;
use telemetry::metrics::Registry;
use telemetry::recent::Recent;
use telemetry::trace::Tracer;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinHandle};

pub use manifests::AdmissionConfig;
pub use reload::Watched;

use reload::Reload;
use setup::{certificates, key};

/// Traces that may wait for their export.
const QUEUE: usize = 8 << 10;

/// How a server is set up. [`Options::new`] has the defaults.
#[derive(Debug)]
pub struct Options {
    pub store: Store,
    pub address: SocketAddr,
    pub files: Files,
    /// The certificate to show in place of that of `files`.
    pub serving: Option<CertifiedKey>,
    pub tls: Policy,
    /// PEM of the authorities whose client certificates count beside the server's own.
    pub client_authorities: Vec<u8>,
    /// PEM of the authorities whose clients may speak for others, and how they do.
    pub proxies: Option<(Vec<u8>, RequestHeader)>,
    /// Of service account tokens: the first signs, all are accepted.
    pub issuers: Vec<String>,
    /// Where others find the keys of tokens, if that is not this server.
    pub jwks_uri: Option<String>,
    pub api_audiences: Vec<String>,
    /// PEM of more keys whose service account tokens count.
    pub service_account_keys: Vec<Vec<u8>>,
    pub tokens: StaticTokens,
    pub bootstrap_tokens: bool,
    pub modes: Vec<Mode>,
    pub anonymous: bool,
    /// Which admission plugins run.
    pub admission: Plugins,
    /// Where policies are that are in force before the API is served.
    pub admission_config: AdmissionConfig,
    pub settings: Settings,
    /// How other networks are reached.
    pub egress: Selector,
    /// What becomes of traces; off by default.
    pub tracer: Arc<Tracer>,
    /// Traces that can be read at `/debug/traces`, if any are kept.
    pub recent: Option<Arc<Recent>>,
    /// Where other programs' spans are taken in, to be kept with ours.
    pub otlp_receiver: Option<OtlpReceiver>,
    pub controllers: Selection,
    /// How others reach this server; found out if it is not given.
    pub advertise: Option<IpAddr>,
    /// How long the past can be listed and watched from, at least.
    pub compaction_interval: Duration,
    /// Where several servers share a store: leader election for controllers that must not run twice.
    pub election: Election,
    /// The host name in URLs of this server, if not its address.
    pub external_hostname: Option<String>,
    /// Files that are looked at again while the server runs.
    pub watched: Watched,
    /// Where the admin's kubeconfig is kept.
    pub kubeconfig: Option<PathBuf>,
    /// How long everything goes on after the server is told to stop, but for `/readyz`.
    pub shutdown_delay: Duration,
    /// How long requests may take to finish then.
    pub grace: Duration,
    /// What this server is called among others over the same store; by its address if it is not given.
    pub identity: Option<String>,
    /// The life of features.
    pub features: controllers::features::Config,
    /// Takes in all that is counted.
    pub metrics: Registry,
}

/// A port of its own.
#[derive(Clone, Copy, Debug)]
pub struct OtlpReceiver {
    pub address: SocketAddr,
    /// Without TLS, and from anybody: for loopback.
    pub plaintext: bool,
}

impl Options {
    pub fn new(store: Store, address: SocketAddr, files: Files) -> Self {
        let proxies = files.front_proxy_authority.as_ref();
        let proxies = proxies.map(|it| it.certificate.clone().into_bytes());
        Self {
            store,
            address,
            files,
            serving: None,
            tls: Policy::default(),
            client_authorities: Vec::new(),
            proxies: proxies.map(|pem| (pem, RequestHeader::front_proxy())),
            issuers: vec!["https://kubernetes.default.svc.cluster.local".into()],
            jwks_uri: None,
            api_audiences: Vec::new(),
            service_account_keys: Vec::new(),
            tokens: StaticTokens::default(),
            bootstrap_tokens: true,
            modes: vec![Mode::Node, Mode::Rbac],
            anonymous: true,
            admission: Plugins::default(),
            admission_config: AdmissionConfig::default(),
            settings: Settings::default(),
            egress: Selector::default(),
            tracer: Arc::new(Tracer::new(Arc::new(Queue::new(QUEUE)))),
            recent: None,
            otlp_receiver: None,
            controllers: Selection::default(),
            advertise: None,
            compaction_interval: apiserver::compact::INTERVAL,
            election: Election::new(format!("pilothouse_{}", apiserver::random::uid())),
            external_hostname: None,
            watched: Watched::default(),
            kubeconfig: None,
            shutdown_delay: Duration::ZERO,
            grace: Duration::from_secs(10),
            identity: None,
            features: controllers::features::Config::default(),
            metrics: Registry::default(),
        }
    }
}

/// A server that answers.
#[derive(Debug)]
pub struct Server {
    pub address: SocketAddr,
    /// Where other programs' spans are taken in.
    pub otlp_address: Option<SocketAddr>,
    /// For an admin.
    pub kubeconfig: String,
    pub api: Arc<Api>,
    shutdown_delay: Duration,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
    reload: AbortHandle,
    manifests: AbortHandle,
    controllers: Controllers,
}

impl Server {
    /// Comes back when everything is ready, or when all that is missing waits for the store to take writes again.
    pub async fn start(mut options: Options) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(options.address)
            .await
            .with_context(|| format!("listen on {}", options.address))?;
        let address = listener.local_addr().context("learn the own address")?;
        let otlp = setup::otlp_listener(&options).await?;
        let otlp_address = otlp.as_ref().map(|it| it.0.local_addr()).transpose()?;
        let (stop, stopped) = watch::channel(false);
        let (grace, shutdown_delay) = (options.grace, options.shutdown_delay);
        let compaction = options.compaction_interval;
        let shown = options.serving.as_ref().or(options.files.serving.as_ref());
        let shown = shown.context("no serving certificate")?;
        let certificate = certificates(shown.certificate.as_bytes())?;
        let serving = Serving::new(certificate, key(&shown.key)?).context("set up TLS")?;
        let serving = Arc::new(serving);
        let trust = setup::trust(&options, address)?;
        let kubeconfig = setup::admin(&options.files, &trust)?;
        if let Some(path) = &options.kubeconfig {
            setup::keep_kubeconfig(path, &kubeconfig)?;
        }
        let looped = setup::loops(&options, address, &trust);
        let own = options.files.authority.as_ref();
        let own = own.map_or_else(Vec::new, |it| it.certificate.clone().into_bytes());
        let authorities = certificates(&[&*own, &options.client_authorities].concat())?;
        let clients = ClientAuthority::new(authorities).context("the client authorities")?;
        let proxies = setup::proxies(&options)?;
        let proxy = proxies.as_ref().map(|it| it.authority.clone());
        let known = [Some(clients.clone()), proxy.clone()]
            .into_iter()
            .flatten()
            .collect();
        let accepting = Accepting::new(serving.clone(), options.tls.clone(), known);
        let accepting = Arc::new(accepting.context("set up TLS")?);
        let reload = tokio::spawn(reload::follow(Reload {
            watched: options.watched.clone(),
            serving,
            clients: clients.clone(),
            proxies: proxy,
            accepting: accepting.clone(),
            own,
            renewed: setup::rewrite(&options, address),
        }));
        let cluster = options.egress.dialer(Network::Cluster).clone();
        let counted = Arc::new(admission::Metrics::new(&options.metrics));
        let by_node = options.modes.contains(&Mode::Node);
        options.settings.node_mode = by_node;
        let indexes = Indexes {
            rbac: Arc::new(Rbac::new()),
            nodes: by_node.then(Arc::default),
            targets: Arc::new(Targets::new(cluster).counted(counted.clone())),
        };
        let (manifests, files) = manifests::start(&options.admission_config)?;
        let made = (&indexes, counted, &manifests);
        let api = Arc::new(Api::new(
            setup::config(options, (clients, proxies), made, address)?,
            stopped.clone(),
        ));
        apiserver::informers::start(&api, indexes);
        apiserver::gauges::register(&api);
        apiserver::health::monitor(&api);
        let client = Local::new(
            api.clone(),
            User::new("system:apiserver", &["system:masters"]),
            "kube-apiserver",
        );
        if let (Some((listener, plaintext)), Some(recent)) = (otlp, api.recent()) {
            let tls = (!plaintext).then(|| accepting.clone());
            let (api, recent, stopped) = (api.clone(), recent.clone(), stopped.clone());
            tokio::spawn(receiver::serve(api, recent, listener, tls, stopped));
        }
        let serving = tokio::spawn(apiserver::server::serve(
            api.clone(),
            listener,
            accepting,
            stopped,
            grace,
        ));
        setup::bootstrap(&client).await?;
        let server = client;
        if !api.store().is_shared() {
            // What several servers share, they forget by agreement: the store sees to it.
            tokio::spawn(apiserver::compact::run(api.clone(), compaction));
        }
        let client = Local::new(
            api.clone(),
            User::new("system:kube-controller-manager", &["system:masters"]),
            "kube-controller-manager",
        );
        Ok(Self {
            controllers: Controllers::start(&server, &client, looped),
            address,
            otlp_address,
            kubeconfig,
            api,
            shutdown_delay,
            stop,
            serving,
            reload: reload.abort_handle(),
            manifests: files.abort_handle(),
        })
    }

    /// Lets requests finish, ends watches, and leaves the store closed.
    pub async fn stop(self) -> anyhow::Result<()> {
        self.api.set_leaving();
        tokio::time::sleep(self.shutdown_delay).await;
        self.stop.send_replace(true);
        self.reload.abort();
        self.manifests.abort();
        self.controllers.stopped().await;
        self.serving.await.context("end the connections")?;
        self.api.store().close().await.context("close the store")
    }
}

/// Seconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |it| i64::try_from(it.as_secs()).unwrap_or(i64::MAX))
}

/// Whether a certificate and a key can be served with.
pub fn check_serving(pair: &CertifiedKey) -> anyhow::Result<()> {
    let chain = certificates(pair.certificate.as_bytes())?;
    anyhow::ensure!(!chain.is_empty(), "there is no certificate in the file");
    Serving::new(chain, key(&pair.key)?)?;
    Ok(())
}

/// Whether a file holds certificates of authorities.
pub fn check_authorities(pem: &[u8]) -> anyhow::Result<()> {
    let all = certificates(pem)?;
    anyhow::ensure!(!all.is_empty(), "there is no certificate in the file");
    ClientAuthority::new(all)?;
    Ok(())
}
