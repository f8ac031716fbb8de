//! From options to the parts of a server.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use admission::Setup;
use anyhow::{Context, anyhow};
use apiserver::authenticate::{Authentication, FrontProxies};
use apiserver::informers::Indexes;
use apiserver::local::Local;
use apiserver::metrics::Decisions;
use apiserver::nonresource::Documents;
use apiserver::pipeline::Config;
use apiserver::tls::ClientAuthority;
use auth::authenticate::Authenticator;
use auth::authorizer::{AlwaysAllow, AlwaysDeny, Mode};
use auth::pki::{CertifiedKey, Files};
use auth::serviceaccount::{Issuer, PublicKey, SigningKey, Verifier, configuration, jwks};
use auth::token_cache::TokenCache;
use auth::{Authorizer, Union};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use telemetry::logs::{self, Field, SERVER};
use tokio::net::TcpListener;

use super::Options;
use super::manifests::StaticManifests;
use crate::kubeconfig::{ADMIN, Kubeconfig, Trust};
use crate::pki;

/// Between two tries to set up the cluster while the store takes no writes.
const BOOTSTRAP_PAUSE: Duration = Duration::from_secs(2);

/// The port for other programs' spans, and whether it is without TLS.
pub(super) async fn otlp_listener(
    options: &Options,
) -> anyhow::Result<Option<(TcpListener, bool)>> {
    let Some(receiver) = options.otlp_receiver else {
        return Ok(None);
    };
    let listener = TcpListener::bind(receiver.address).await;
    // In words only: what to do about the port is not what to do about that of the API.
    let listener = listener
        .map_err(|error| anyhow!("--otlp-receiver: listen on {}: {error}", receiver.address))?;
    Ok(Some((listener, receiver.plaintext)))
}

/// The configuration of the controllers.
pub(super) fn loops(options: &Options, address: SocketAddr, trust: &Trust) -> controllers::Config {
    let advertise = options.advertise.unwrap_or_else(|| reachable(address.ip()));
    let authority = options.files.authority.clone();
    let own = authority.as_ref().map(|it| it.certificate.clone());
    let more = String::from_utf8_lossy(&options.client_authorities);
    controllers::Config {
        selection: options.controllers.clone(),
        root_ca: trust.authorities.clone(),
        trust: controllers::Trust {
            client_authorities: own.unwrap_or_default() + &more,
            proxies: options.proxies.as_ref().map(|(pem, headers)| {
                let pem = String::from_utf8_lossy(pem);
                (pem.into_owned(), headers.clone())
            }),
        },
        authority,
        advertise: (advertise, address.port()),
        identity: options
            .identity
            .clone()
            .unwrap_or_else(|| format!("{advertise}:{}", address.port())),
        features: options.features.clone(),
        election: options.store.is_shared().then(|| options.election.clone()),
    }
}

/// A server that listens on all addresses, or on loopback, is advertised at the address of the default route.
fn reachable(ip: IpAddr) -> IpAddr {
    if !ip.is_unspecified() && !ip.is_loopback() {
        return ip;
    }
    // Nothing is sent: connecting makes the system choose a source address (192.0.2.0/24 is reserved for documentation, RFC 5737).
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

pub(super) fn proxies(options: &Options) -> anyhow::Result<Option<FrontProxies>> {
    let Some((pem, headers)) = &options.proxies else {
        return Ok(None);
    };
    let authority = ClientAuthority::new(certificates(pem)?);
    Ok(Some(FrontProxies {
        authority: authority.context("the authorities of proxies")?,
        headers: headers.clone(),
    }))
}

pub(super) fn config(
    options: Options,
    (clients, proxies): (ClientAuthority, Option<FrontProxies>),
    (indexes, counted, manifests): (&Indexes, Arc<admission::Metrics>, &StaticManifests),
    address: SocketAddr,
) -> anyhow::Result<Config> {
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
        let new = |it: &PublicKey| keys.iter().all(|known| known.id != it.id);
        let more: Vec<_> = more.into_iter().filter(new).collect();
        keys.extend(more);
    }
    let issuer = options.issuers.first().context("no issuer of tokens")?;
    let issuer = issuer.clone();
    let audiences = if options.api_audiences.is_empty() {
        vec![issuer.clone()]
    } else {
        options.api_audiences
    };
    let decisions = Decisions::new(&options.metrics);
    let authorizer = authorizer(&options.modes, indexes, &decisions);
    let authorizer: Arc<dyn Authorizer> = Arc::new(authorizer);
    let jwks_uri = options.jwks_uri.unwrap_or_else(|| {
        let host = options.external_hostname.as_deref();
        let host = host.map_or_else(|| address.to_string(), |it| with_port(it, address.port()));
        format!("https://{host}/openid/v1/jwks")
    });
    let documents = Documents {
        issuer: issuer.clone(),
        jwks: jwks(&keys),
        openid: configuration(&issuer, &jwks_uri, &keys).unwrap_or_default(),
        address: address.to_string(),
    };
    Ok(Config {
        store: options.store,
        tracer: options.tracer,
        recent: options.recent,
        authentication: Authentication {
            clients: Some(clients),
            proxies,
            ways: Authenticator {
                static_tokens: options.tokens,
                service_accounts: Verifier {
                    issuers: options.issuers,
                    keys,
                    api_audiences: audiences,
                },
                bootstrap_tokens: options.bootstrap_tokens,
                anonymous: options.anonymous,
                cache: TokenCache::new(10, 4096).context("a secret for the token cache")?,
            },
        },
        authorizer: authorizer.clone(),
        rbac: indexes.rbac.clone(),
        issuer: Some(Issuer { url: issuer, key }),
        admission: options.admission.chain(&Setup {
            authorizer: authorizer.clone(),
            random: apiserver::random::number,
            targets: indexes.targets.clone(),
            metrics: counted,
            validating_manifests: manifests.validating.clone(),
            mutating_manifests: manifests.mutating.clone(),
        }),
        documents,
        settings: options.settings,
        metrics: options.metrics,
    })
}

/// A host as URLs have it; its own port counts if it has one.
fn with_port(host: &str, port: u16) -> String {
    match host.parse::<IpAddr>() {
        Ok(ip) => SocketAddr::new(ip, port).to_string(),
        Err(_) if host.contains(':') => host.to_owned(),
        Err(_) => format!("{host}:{port}"),
    }
}

fn authorizer(modes: &[Mode], indexes: &Indexes, decisions: &Decisions) -> Union {
    Union::new(modes.iter().map(|mode| {
        let authorizer: Arc<dyn Authorizer> = match mode {
            Mode::AlwaysAllow => Arc::new(AlwaysAllow),
            Mode::AlwaysDeny | Mode::Webhook => Arc::new(AlwaysDeny),
            Mode::Rbac => indexes.rbac.clone(),
            Mode::Node => Arc::new(auth::authorizer::Node::new(
                indexes.nodes.clone().unwrap_or_default(),
                auth::bootstrap::node_rules(),
            )),
        };
        (mode.name(), decisions.of(*mode, authorizer))
    }))
}

pub(super) fn certificates(pem: &[u8]) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    all.map_err(|error| anyhow!("read certificates: {error}"))
}

pub(super) fn key(pem: &str) -> anyhow::Result<PrivateKeyDer<'static>> {
    PrivateKeyDer::from_pem_slice(pem.as_bytes())
        .map_err(|error| anyhow!("read the serving key: {error}"))
}

/// How clients on this machine reach and know the server.
pub(super) fn trust(options: &Options, address: SocketAddr) -> anyhow::Result<Trust> {
    let address = local(address);
    if let Some(given) = &options.serving {
        return Ok(Trust::in_certificate(address, &given.certificate));
    }
    let authority = options.files.authority.as_ref().context("no authority")?;
    Ok(Trust {
        server: format!("https://{address}"),
        authorities: authority.certificate.clone(),
        server_name: None,
    })
}

/// A server on all addresses is reached here at least by loopback.
fn local(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        ip if !ip.is_unspecified() => address,
        IpAddr::V4(_) => ([127, 0, 0, 1], address.port()).into(),
        IpAddr::V6(_) => ([0, 0, 0, 0, 0, 0, 0, 1], address.port()).into(),
    }
}

pub(super) fn admin(files: &Files, trust: &Trust) -> anyhow::Result<String> {
    let client = files.admin.as_ref().context("no admin certificate")?;
    let config = Kubeconfig {
        name: "pilothouse",
        user: ADMIN,
        trust,
        client,
    };
    Ok(config.to_string())
}

/// Keeps the admin's kubeconfig true to the certificate that is shown.
pub(super) fn rewrite(options: &Options, address: SocketAddr) -> Box<dyn Fn(&CertifiedKey) + Send> {
    let (path, files) = (options.kubeconfig.clone(), options.files.clone());
    Box::new(move |shown| {
        let Some(path) = &path else { return };
        let trust = Trust::in_certificate(local(address), &shown.certificate);
        let kept = admin(&files, &trust).and_then(|text| pki::keep_secret(path, &text));
        if let Err(error) = kept {
            stale_kubeconfig(&error);
        }
    })
}

/// A kubeconfig that cannot be replaced is no reason not to serve: with a full disk reads go on.
pub(super) fn keep_kubeconfig(path: &Path, text: &str) -> anyhow::Result<()> {
    let kept = pki::keep_secret(path, text);
    match kept {
        Err(error) if path.exists() => stale_kubeconfig(&error),
        kept => kept?,
    }
    Ok(())
}

fn stale_kubeconfig(error: &anyhow::Error) {
    let why = format!("{error:#}");
    let text = "The admin's kubeconfig could not be renewed and is out of date";
    logs::error(&SERVER, text, &[("err", Field::Text(&why))]);
}

/// Creates the objects that every cluster has, and makes the server ready. While the store takes no writes, it tries
/// again.
pub(super) async fn bootstrap(client: &Local) -> anyhow::Result<()> {
    // Boxed: it holds all that a write holds, and is needed once.
    let done = Box::pin(controllers::bootstrap::run(client)).await;
    let host = client.host();
    let Err(status) = done else {
        host.set_ready();
        return Ok(());
    };
    anyhow::ensure!(host.refuses_writes(), "set up the cluster: {status}");
    let why = status.to_string();
    let text = "The cluster is not set up, the server is not ready: the store takes no writes";
    logs::error(&SERVER, text, &[("err", Field::Text(&why))]);
    tokio::spawn({
        let client = client.clone();
        async move {
            let host = client.host();
            loop {
                tokio::select! {
                    () = tokio::time::sleep(BOOTSTRAP_PAUSE) => {}
                    () = host.stopping() => return,
                }
                if Box::pin(controllers::bootstrap::run(&client)).await.is_ok() {
                    host.set_ready();
                    return logs::info(&SERVER, "The cluster is set up, the server is ready", &[]);
                }
            }
        }
    });
    Ok(())
}
