//! A running server: the store, the API over it, the controllers beside it.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use admission::{Plugins, Setup};
use anyhow::{Context, anyhow};
use apiserver::authenticate::Authentication;
use apiserver::documents::Documents;
use apiserver::local::Local;
use apiserver::pipeline::{Api, Config, Settings};
use apiserver::tls::{self, ClientAuthority};
use auth::authenticate::Authenticator;
use auth::authorizer::{AlwaysAllow, AlwaysDeny, Mode};
use auth::pki::Files;
use auth::serviceaccount::{Issuer, PublicKey, SigningKey, Verifier, configuration, jwks};
use auth::token_cache::TokenCache;
use auth::token_file::StaticTokens;
use auth::{Authorizer, Rbac, Union, User};
use controllers::{Controllers, Election, Selection};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use store::Store;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::kubeconfig;

/// How a server is set up. [`Options::new`] has the defaults.
#[derive(Debug)]
pub struct Options {
    pub store: Store,
    pub address: SocketAddr,
    pub files: Files,
    /// PEM of the authorities whose client certificates count; the server's own if none is given.
    pub client_authorities: Option<Vec<u8>>,
    pub issuer: String,
    pub api_audiences: Vec<String>,
    /// PEM of more keys whose service account tokens count.
    pub service_account_keys: Vec<Vec<u8>>,
    pub tokens: StaticTokens,
    pub modes: Vec<Mode>,
    pub anonymous: bool,
    /// Which admission plugins run.
    pub admission: Plugins,
    pub settings: Settings,
    pub controllers: Selection,
    /// How others reach this server; found out if it is not given.
    pub advertise: Option<IpAddr>,
    /// How long the past can be listed and watched from, at least.
    pub compaction_interval: Duration,
    /// Where several servers share a store: who runs the controllers that must not run twice.
    pub election: Election,
    /// How long requests may take to finish after the server is told to stop.
    pub grace: Duration,
}

impl Options {
    pub fn new(store: Store, address: SocketAddr, files: Files) -> Self {
        Self {
            store,
            address,
            files,
            client_authorities: None,
            issuer: "https://kubernetes.default.svc.cluster.local".into(),
            api_audiences: Vec::new(),
            service_account_keys: Vec::new(),
            tokens: StaticTokens::default(),
            modes: vec![Mode::Node, Mode::Rbac],
            anonymous: true,
            admission: Plugins::default(),
            settings: Settings::default(),
            controllers: Selection::default(),
            advertise: None,
            compaction_interval: apiserver::compact::INTERVAL,
            election: Election::new(format!("pilothouse_{}", apiserver::random::uid())),
            grace: Duration::from_secs(10),
        }
    }
}

/// A server that answers.
#[derive(Debug)]
pub struct Server {
    pub address: SocketAddr,
    /// For an admin.
    pub kubeconfig: String,
    pub api: Arc<Api>,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
    controllers: Controllers,
}

impl Server {
    /// Comes back when everything is ready.
    pub async fn start(options: Options) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(options.address)
            .await
            .with_context(|| format!("listen on {}", options.address))?;
        let address = listener.local_addr().context("learn the own address")?;
        let (stop, stopped) = watch::channel(false);
        let (grace, compaction) = (options.grace, options.compaction_interval);
        let serving = options
            .files
            .serving
            .as_ref()
            .context("no serving certificate")?;
        let config = tls::server_config(
            certificates(serving.certificate.as_bytes())?,
            PrivateKeyDer::from_pem_slice(serving.key.as_bytes())
                .map_err(|error| anyhow!("the serving key: {error}"))?,
        )
        .context("set up TLS")?;
        let kubeconfig = admin(&options.files, address)?;
        let looped = loops(&options, address);
        let rbac = Arc::new(Rbac::new());
        let api = Arc::new(Api::new(
            config_of(options, &rbac, address)?,
            stopped.clone(),
        ));
        apiserver::follow::start(&api, &rbac);
        let client = Local::new(
            api.clone(),
            User::new("system:apiserver", &["system:masters"]),
            "kube-apiserver",
        );
        let serving = tokio::spawn(apiserver::server::serve(
            api.clone(),
            listener,
            config,
            stopped,
            grace,
        ));
        // Boxed: it holds all that a write holds, and is needed once.
        Box::pin(controllers::bootstrap::run(&client))
            .await
            .map_err(|status| anyhow!("set up the cluster: {status}"))?;
        let server = client;
        api.set_ready();
        if !api.store.is_shared() {
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
            kubeconfig,
            api,
            stop,
            serving,
        })
    }

    /// Lets requests finish, ends watches, and leaves the store closed.
    pub async fn stop(self) -> anyhow::Result<()> {
        self.stop.send_replace(true);
        self.controllers.stopped().await;
        self.serving.await.context("end the connections")?;
        self.api.store.close().await.context("close the store")
    }
}

/// What controllers are told.
fn loops(options: &Options, address: SocketAddr) -> controllers::Config {
    let advertise = options.advertise.unwrap_or_else(|| reachable(address.ip()));
    let authority = options.files.authority.clone();
    let own = authority.as_ref().map(|it| it.certificate.clone());
    let own = own.unwrap_or_default();
    let clients = match &options.client_authorities {
        Some(pem) => String::from_utf8_lossy(pem).into_owned(),
        None => own.clone(),
    };
    controllers::Config {
        selection: options.controllers.clone(),
        root_ca: own,
        client_authorities: clients,
        authority,
        advertise: (advertise, address.port()),
        identity: format!("{advertise}:{}", address.port()),
        election: options.store.is_shared().then(|| options.election.clone()),
    }
}

/// A server that listens everywhere, or on loopback, is told of at the address that leads out of this machine.
fn reachable(ip: IpAddr) -> IpAddr {
    if !ip.is_unspecified() && !ip.is_loopback() {
        return ip;
    }
    // Nothing is sent: connecting makes the system choose a source address (192.0.2.0/24 is nobody's, RFC 5737).
    let (any, other) = if ip.is_ipv4() {
        ("0.0.0.0:0", "192.0.2.1:9")
    } else {
        ("[::]:0", "[2001:db8::1]:9")
    };
    let found = UdpSocket::bind(any).and_then(|socket| {
        socket.connect(other)?;
        socket.local_addr()
    });
    found.map_or(ip, |it| it.ip())
}

fn config_of(options: Options, rbac: &Arc<Rbac>, address: SocketAddr) -> anyhow::Result<Config> {
    let own = options
        .files
        .authority
        .as_ref()
        .map(|it| it.certificate.as_bytes().to_vec());
    let authorities = options.client_authorities.or(own).unwrap_or_default();
    let clients =
        ClientAuthority::new(certificates(&authorities)?).context("the client authorities")?;
    let key = options
        .files
        .service_account_key
        .as_ref()
        .context("no service account key")?;
    let key = SigningKey::from_pem(key.as_bytes())
        .map_err(|error| anyhow!("the service account key: {error}"))?;
    let mut keys = vec![key.public().clone()];
    for pem in &options.service_account_keys {
        let more = PublicKey::all_from_pem(pem)
            .map_err(|error| anyhow!("a service account key: {error}"))?;
        keys.extend(more);
    }
    let audiences = if options.api_audiences.is_empty() {
        vec![options.issuer.clone()]
    } else {
        options.api_audiences
    };
    let authorizer: Arc<dyn Authorizer> = Arc::new(authorizer(&options.modes, rbac));
    let jwks_uri = format!("https://{address}/openid/v1/jwks");
    let documents = Documents {
        issuer: options.issuer.clone(),
        jwks: jwks(&keys),
        openid: configuration(&options.issuer, &jwks_uri, &keys).unwrap_or_default(),
        address: address.to_string(),
    };
    Ok(Config {
        store: options.store,
        authentication: Authentication {
            clients: Some(clients),
            ways: Authenticator {
                static_tokens: options.tokens,
                service_accounts: Verifier {
                    issuers: vec![options.issuer.clone()],
                    keys,
                    api_audiences: audiences,
                },
                bootstrap_tokens: true,
                anonymous: options.anonymous,
                cache: TokenCache::new(10, 4096),
            },
        },
        authorizer: authorizer.clone(),
        rbac: rbac.clone(),
        issuer: Some(Issuer {
            url: options.issuer,
            key,
        }),
        admission: options.admission.chain(&Setup {
            authorizer: authorizer.clone(),
            random: apiserver::random::number,
            targets: Arc::default(),
            conditions: None,
        }),
        documents,
        settings: options.settings,
    })
}

fn authorizer(modes: &[Mode], rbac: &Arc<Rbac>) -> Union {
    Union::new(modes.iter().map(|mode| {
        let authorizer: Arc<dyn Authorizer> = match mode {
            Mode::AlwaysAllow => Arc::new(AlwaysAllow),
            Mode::AlwaysDeny | Mode::Webhook => Arc::new(AlwaysDeny),
            Mode::Rbac => rbac.clone(),
            Mode::Node => Arc::new(auth::authorizer::Node::new(
                None,
                auth::bootstrap::node_rules(),
            )),
        };
        (mode.name(), authorizer)
    }))
}

fn certificates(pem: &[u8]) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    all.map_err(|error| anyhow!("read certificates: {error}"))
}

fn admin(files: &Files, address: SocketAddr) -> anyhow::Result<String> {
    let authority = files.authority.as_ref().context("no authority")?;
    let admin = files.admin.as_ref().context("no admin certificate")?;
    // A server on all addresses is reached here at least by loopback.
    let host = if address.ip().is_unspecified() {
        SocketAddr::new([127, 0, 0, 1].into(), address.port())
    } else {
        address
    };
    let server = format!("https://{host}");
    Ok(kubeconfig::render(
        &server,
        &authority.certificate,
        &admin.certificate,
        &admin.key,
    ))
}

/// Seconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |it| i64::try_from(it.as_secs()).unwrap_or(i64::MAX))
}
