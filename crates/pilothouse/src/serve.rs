//! `pilothouse serve`: runs until it is told to stop, then leaves everything safe.

use std::io::{ErrorKind, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use apiserver::pipeline::Api;
use apiserver::unenforced;
use auth::pki::ServingNames;
use clap::Args;
use egress::Selector;
use pilothouse::server::{self, Options, Server};
use pilothouse::tracing::Tracing;
use pilothouse::{dialing, pki};
use store::{Store, embedded};
use telemetry::logs::{self, Field, SERVER};
use telemetry::metrics::Registry;
use telemetry::recent::Recent;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::data::{self, Directory, Etcd, quoted};
use crate::{control, flags};

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten, next_help_heading = "Data")]
    directory: Directory,
    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    limits: data::Limits,
    #[command(flatten)]
    etcd: Etcd,
    #[command(flatten)]
    serving: flags::Serving,
    #[command(flatten)]
    access: flags::Access,
    #[command(flatten)]
    tokens: flags::Tokens,
    #[command(flatten)]
    objects: flags::Api,
    #[command(flatten)]
    features: flags::FeatureFlags,
    #[command(flatten)]
    feature_life: flags::FeatureLife,
    #[command(flatten)]
    requests: flags::Requests,
    #[command(flatten)]
    telemetry: flags::Telemetry,
    #[command(flatten)]
    traces: flags::Kept,
    #[command(flatten)]
    logs: flags::Logs,
}

#[derive(Debug, Args)]
struct Data {
    /// Keep everything in memory; nothing is left when the server stops
    #[arg(long, conflicts_with = "etcd-servers")]
    ephemeral: bool,
    /// Print an admin's kubeconfig on stdout when ready, and all else on stderr
    #[arg(long)]
    print_kubeconfig: bool,
}

const EXAMPLES: &str = "\
Lists are separated by commas; times are written like 90s, 15m or 1h30m.

Examples:
  pilothouse serve                                                data in ./pilothouse-data, on 127.0.0.1:6443
  pilothouse serve --ephemeral --print-kubeconfig > kubeconfig &  for a test
  pilothouse serve --etcd-servers https://etcd:2379 --etcd-cafile ca.crt
  pilothouse serve --bind-address 0.0.0.0 --tls-cert-file tls.crt --tls-private-key-file tls.key
  pilothouse serve -v 3                                           tells of each request";

pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    arguments.logs.apply();
    // Before the store opens: a signal during a long start must not be missed.
    let mut signals = Signals::listen()?;
    let say = Printer {
        on_stderr: arguments.data.print_kubeconfig,
    };
    // Before anything is opened: a mistake in a name or a file is reported at once.
    arguments.objects.check()?;
    let features = arguments.features.settings()?;
    flags::log_warnings(&features);
    let registry = Registry::default();
    let egress = arguments.telemetry.egress()?;
    let egress = egress.observed(&dialing::observer(&registry));
    let telemetry = &arguments.telemetry;
    let mut outlets = telemetry.open(&arguments.traces, &egress, &registry)?;
    let opened = tokio::select! {
        opened = open(&arguments, &egress) => Some(opened?),
        () = signals.next() => None,
    };
    let Some((store, place)) = opened else {
        say.line("stopped before the store was open");
        return Ok(());
    };
    let (view, _) = store.stats();
    let version = env!("CARGO_PKG_VERSION");
    say.line(&format!(
        "pilothouse {version}: {place}, {} keys, revision {}",
        view.keys, view.revision
    ));
    let started = start(
        &arguments,
        &store,
        &place,
        egress,
        (outlets.tracing.as_ref(), outlets.recent.clone()),
        (&registry, features),
    );
    let server = Box::pin(started).await?;
    outlets.attach(&server.api)?;
    let socket = (place.is_directory()).then(|| arguments.directory.socket());
    let offered = socket.as_ref().is_some_and(|it| offer(it, &store));
    say.line(&format!(
        "stored and not enforced by this version: {}. There is no audit log, and data is not encrypted at rest",
        unenforced::list().join(", ")
    ));
    tell_of_unenforced(server.api.clone());
    next_steps(&arguments, &say, &server, &place, offered);
    signals.next().await;
    say.line("stopping: requests under way may finish; once more stops at once");
    tokio::select! {
        stopped = server.stop() => stopped?,
        () = signals.next() => {
            return Err(anyhow!("stopped at once: requests under way got no answer; what was answered is kept"));
        }
    }
    // Last of all: what was done until now is in it.
    for line in outlets.stop().await {
        say.line(&line);
    }
    if let Some(socket) = &socket {
        // A leftover would only be in the way; the next start removes it too.
        let _ = std::fs::remove_file(socket);
    }
    say.line(match place {
        Place::Memory => "stopped, nothing is left",
        _ => "stopped, all data is safe",
    });
    Ok(())
}

/// Ctrl-C, or what supervisors send.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> anyhow::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).context("listen for Ctrl-C")?,
            terminate: signal(SignalKind::terminate()).context("listen for SIGTERM")?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Prints lines for the user. A closed stdout or stderr is no reason to stop serving.
struct Printer {
    on_stderr: bool,
}

impl Printer {
    fn line(&self, text: &str) {
        let _ = if self.on_stderr {
            writeln!(std::io::stderr(), "{text}")
        } else {
            writeln!(std::io::stdout(), "{text}")
        };
    }
}

async fn open(arguments: &Arguments, egress: &Selector) -> anyhow::Result<(Store, Place)> {
    let options = arguments.limits.options();
    if arguments.data.ephemeral {
        return Ok((embedded::in_memory(&options), Place::Memory));
    }
    if let Some(mut config) = arguments.etcd.config() {
        config.dial = flags::dial_etcd(egress);
        let place = Place::Etcd(config.endpoints.join(","));
        return Ok((store_etcd::open(config, &options).await?, place));
    }
    let directory = &arguments.directory;
    let opened = data::open(directory, options).await;
    let place = directory.data_dir.display().to_string();
    let store = opened.with_context(|| format!("open the store in {place}"))?;
    Ok((store, Place::Directory(place)))
}

/// The API over the store.
async fn start(
    arguments: &Arguments,
    store: &Store,
    place: &Place,
    egress: Selector,
    (tracing, recent): (Option<&Tracing>, Option<Arc<Recent>>),
    (registry, features): (&Registry, features::Settings<'static>),
) -> anyhow::Result<Server> {
    let serving = &arguments.serving;
    let default = if arguments.data.ephemeral { 0 } else { 6443 };
    let port = serving.secure_port.unwrap_or(default);
    let address = SocketAddr::new(serving.bind_address, port);
    let names = names(arguments);
    let files = if matches!(place, Place::Memory) {
        pki::in_memory(&names, server::now())?
    } else {
        pki::in_directory(&arguments.directory.pki(), &names, server::now())?
    };
    let mut options = Options::new(store.clone(), address, files);
    serving.apply(&mut options)?;
    arguments.access.apply(&mut options)?;
    arguments.tokens.apply(&mut options)?;
    arguments.objects.apply(&mut options)?;
    arguments.requests.apply(&mut options.settings)?;
    options.settings.features = features;
    arguments.feature_life.apply(&mut options)?;
    options.settings.request_log = Some(flags::REQUEST_LOG);
    options.settings.serve_metrics = arguments.telemetry.serves_metrics();
    options.egress = egress;
    options.metrics = registry.clone();
    if let Some(tracing) = tracing {
        options.tracer = tracing.tracer.clone();
    }
    options.recent = recent;
    options.otlp_receiver = arguments.traces.receiver();
    options.grace = arguments.requests.request_timeout;
    if !matches!(place, Place::Memory) {
        options.kubeconfig = Some(arguments.directory.kubeconfig());
    }
    Server::start(options).await.map_err(|error| {
        let kind = error.downcast_ref::<std::io::Error>();
        match kind.map(std::io::Error::kind) {
            Some(ErrorKind::AddrInUse) => {
                error.context("another server has this port, choose one with --secure-port")
            }
            Some(ErrorKind::AddrNotAvailable) => {
                error.context("--bind-address is not one of this machine's addresses")
            }
            Some(ErrorKind::PermissionDenied) if (1..1024).contains(&port) => {
                error.context("ports below 1024 take privileges, choose another with --secure-port")
            }
            _ => error,
        }
    })
}

/// What the own certificate calls the server.
fn names(arguments: &Arguments) -> ServingNames {
    let serving = &arguments.serving;
    let ranges = apiserver::allocate::ServiceRanges {
        network: arguments.objects.service_cluster_ip_range,
        ..Default::default()
    };
    let mut also = vec![serving.bind_address.to_string(), ranges.first().to_string()];
    also.extend(serving.advertise_address.map(|it| it.to_string()));
    let host = serving.external_hostname.as_deref();
    also.extend(host.map(|it| it.split(':').next().unwrap_or(it).to_owned()));
    let also: Vec<&str> = also.iter().map(String::as_str).collect();
    ServingNames::new("cluster.local", &also)
}

/// Warns of objects that exist already, for example in the etcd of another server.
fn tell_of_unenforced(api: Arc<Api>) {
    tokio::task::spawn_blocking(move || {
        for (what, count) in unenforced::stored(&api) {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            let fields = [("what", Field::Text(what)), ("count", Field::Number(count))];
            logs::warning(&SERVER, "Stored objects are not enforced", &fields);
        }
    });
}

/// Says what to type next.
fn next_steps(arguments: &Arguments, say: &Printer, server: &Server, place: &Place, backups: bool) {
    let serving = format!("serving https://{}", server.address);
    if let Some(address) = server.otlp_address {
        say.line(&format!("receiving OTLP at {address}"));
    }
    if matches!(place, Place::Memory) && !arguments.data.print_kubeconfig {
        say.line(&format!(
            "{serving}; --print-kubeconfig would print how to reach it"
        ));
        return say.line("stop it with Ctrl-C");
    }
    say.line(&format!("{serving}; next, in another terminal:"));
    if arguments.data.print_kubeconfig {
        crate::credentials::warn_of_readers();
        // The user asked for nothing else on stdout.
        let _ = write!(std::io::stdout(), "{}", server.kubeconfig);
        say.line("  export KUBECONFIG=FILE     # the one that stdout went to");
    } else {
        let path = arguments.directory.kubeconfig();
        let path = std::path::absolute(&path).unwrap_or(path);
        say.line(&format!("  export KUBECONFIG={}", quoted(&path)));
    }
    say.line("  kubectl get namespaces");
    if backups {
        let flag = arguments.directory.flag();
        say.line(&format!(
            "  pilothouse storage backup{flag} FILE     # also while it runs"
        ));
    }
    say.line("stop it with Ctrl-C");
}

/// Where the data is, as printed for the user.
enum Place {
    Memory,
    Directory(String),
    Etcd(String),
}

impl Place {
    fn is_directory(&self) -> bool {
        matches!(self, Self::Directory(_))
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Memory => write!(f, "storage in memory"),
            Self::Directory(path) => write!(f, "storage at {path}"),
            Self::Etcd(endpoints) => write!(f, "storage in etcd at {endpoints}"),
        }
    }
}

/// Opens the control socket; whether backups can be asked for through it.
fn offer(socket: &Path, store: &Store) -> bool {
    match control::listen(socket, store.clone()) {
        Ok(()) => true,
        Err(error) => {
            let text = "no backup while it runs, the control socket failed";
            let _ = writeln!(std::io::stderr(), "warning: {text}: {error}");
            false
        }
    }
}
