//! `pilothouse serve`: runs until it is told to stop, then leaves everything safe.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use auth::pki::ServingNames;
use auth::token_file::StaticTokens;
use clap::Args;
use controllers::Selection;
use pilothouse::pki;
use pilothouse::server::{self, Options, Server};
use store::{Store, embedded};
use tokio::signal::unix::{SignalKind, signal};

use crate::control;
use crate::data::{self, Directory, Etcd, Limits};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags")]
pub(crate) struct Arguments {
    #[command(flatten)]
    directory: Directory,
    #[command(flatten)]
    limits: Limits,
    /// Keep everything in memory; nothing is left when the server stops
    #[arg(long, conflicts_with = "etcd-servers")]
    ephemeral: bool,
    #[command(flatten)]
    etcd: Etcd,
    /// The address to listen on
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    bind_address: IpAddr,
    /// The port to listen on [default: 6443, with --ephemeral any free one]
    #[arg(long, value_name = "PORT")]
    secure_port: Option<u16>,
    /// Tokens and who they stand for: a CSV file of token, user, uid and groups
    #[arg(long, value_name = "FILE")]
    token_auth_file: Option<PathBuf>,
    /// Who decides what clients may do, in this order
    #[arg(
        long,
        value_name = "MODE",
        value_delimiter = ',',
        default_value = "Node,RBAC"
    )]
    authorization_mode: Vec<String>,
    /// Take requests without credentials as system:anonymous
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    anonymous_auth: bool,
    /// Take custom resource definitions with validation rules in CEL, which are not checked yet
    #[arg(long)]
    accept_unchecked_cel_rules: bool,
    /// Admission plugins to run beside those that run by default
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    enable_admission_plugins: Vec<String>,
    /// Admission plugins not to run though they do by default
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    disable_admission_plugins: Vec<String>,
    /// Which controllers run: * for all, name to add one, -name to leave one out
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "*",
        allow_hyphen_values = true
    )]
    controllers: Vec<String>,
    /// The address at which others reach this server [default: that of the way out of this machine]
    #[arg(long, value_name = "IP")]
    advertise_address: Option<IpAddr>,
    /// Print an admin's kubeconfig when ready
    #[arg(long)]
    print_kubeconfig: bool,
}

pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    // Before the store opens: a signal during a long start must not be missed.
    let mut terminate = signal(SignalKind::terminate()).context("listen for SIGTERM")?;
    let stop = async move {
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted.context("listen for Ctrl-C"),
            _ = terminate.recv() => Ok(()),
        }
    };
    tokio::pin!(stop);
    let opened = tokio::select! {
        opened = open(&arguments) => Some(opened?),
        stopped = &mut stop => { stopped?; None }
    };
    let Some((store, place)) = opened else {
        println!("stopped before the store was open");
        return Ok(());
    };
    let (view, _) = store.stats();
    let version = env!("CARGO_PKG_VERSION");
    println!(
        "pilothouse {version}: {place}, {} keys, revision {}",
        view.keys, view.revision
    );
    let server = Box::pin(start(&arguments, &store, &place)).await?;
    let socket = (place.is_directory()).then(|| arguments.directory.socket());
    if let Some(socket) = &socket {
        offer(socket, &arguments.directory, &store);
    }
    println!("stop it with Ctrl-C");
    stop.await?;
    server.stop().await?;
    if let Some(socket) = &socket {
        // A leftover would only be in the way; the next start removes it too.
        let _ = std::fs::remove_file(socket);
    }
    println!("stopped, all data is safe");
    Ok(())
}

async fn open(arguments: &Arguments) -> anyhow::Result<(Store, Place)> {
    let options = arguments.limits.options();
    if arguments.ephemeral {
        return Ok((embedded::in_memory(&options), Place::Memory));
    }
    if let Some(config) = arguments.etcd.config() {
        let place = Place::Etcd(config.endpoints.join(","));
        return Ok((store_etcd::open(config, &options).await?, place));
    }
    let place = Place::Directory(arguments.directory.data_dir.display().to_string());
    Ok((data::open(&arguments.directory, options).await?, place))
}

/// The API over the store; says how to reach it.
async fn start(arguments: &Arguments, store: &Store, place: &Place) -> anyhow::Result<Server> {
    let port = arguments
        .secure_port
        .unwrap_or(if arguments.ephemeral { 0 } else { 6443 });
    let address = SocketAddr::new(arguments.bind_address, port);
    let names = ServingNames::new("cluster.local", &[&arguments.bind_address.to_string()]);
    let files = if matches!(place, Place::Memory) {
        pki::in_memory(&names, server::now())?
    } else {
        pki::in_directory(
            &arguments.directory.data_dir.join("pki"),
            &names,
            server::now(),
        )?
    };
    let mut options = Options::new(store.clone(), address, files);
    if let Some(path) = &arguments.token_auth_file {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        options.tokens =
            StaticTokens::parse(&text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    }
    options.modes =
        auth::authorizer::modes(&arguments.authorization_mode).map_err(|error| anyhow!(error))?;
    options.controllers = Selection::parse(arguments.controllers.iter().map(String::as_str))
        .map_err(|error| anyhow!("--controllers: {error}"))?;
    options.advertise = arguments.advertise_address;
    options.anonymous = arguments.anonymous_auth;
    options.settings.accept_unchecked_rules = arguments.accept_unchecked_cel_rules;
    options.admission = admission::Plugins::new(
        &arguments.enable_admission_plugins,
        &arguments.disable_admission_plugins,
    )?;
    let server = Server::start(options).await?;
    if arguments.print_kubeconfig {
        println!("{}", server.kubeconfig);
    }
    if !matches!(place, Place::Memory) {
        let path = arguments.directory.data_dir.join("admin.kubeconfig");
        pki::secret(&path, &server.kubeconfig)?;
        println!("serving https://{}", server.address);
        println!(
            "try:  kubectl --kubeconfig {} get namespaces",
            path.display()
        );
    }
    Ok(server)
}

/// Where the data is, as the user is told.
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

/// Opens the control socket and says what can be asked through it.
fn offer(socket: &Path, directory: &Directory, store: &Store) {
    let flag = if directory.data_dir == Path::new("./pilothouse-data") {
        String::new()
    } else {
        format!(" --data-dir {}", directory.data_dir.display())
    };
    match control::listen(socket, store.clone()) {
        Ok(()) => {
            println!("back it up while it runs:  pilothouse storage backup{flag} FILE");
            println!("see what it holds:         pilothouse storage stats{flag}");
        }
        Err(error) => {
            eprintln!("warning: no backup while it runs, the control socket failed: {error}");
        }
    }
}
