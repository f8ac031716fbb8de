//! The two sides: pilothouse, and kube-apiserver with its etcd, each on free loopback ports with a directory of its own.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http::StatusCode;
use rustix::process::Signal;
use tokio::net::TcpStream;

use crate::certificates;
use crate::client::Endpoint;
use crate::objects;
use crate::plan::{Peer, Plan};
use crate::process::Process;

/// A server must be ready by then.
const PATIENCE: Duration = Duration::from_secs(120);
/// After it was stopped, timers are due all at once; they are no part of what is measured next.
const SETTLE: Duration = Duration::from_millis(300);

/// Files in the directory of a side.
pub(crate) const LOG: &str = "server.log";
pub(crate) const TRACING: &str = "tracing.yaml";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Pilothouse,
    PilothouseOverEtcd,
    /// With the tracing configuration that its directory has.
    PilothouseTraced,
    /// With traces of all requests kept in memory, and sent nowhere.
    PilothouseKept,
    Kubernetes,
    /// An earlier build of pilothouse.
    Baseline,
    BaselineOverEtcd,
}

impl Program {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pilothouse => "pilothouse",
            Self::PilothouseOverEtcd => "pilothouse over etcd",
            Self::PilothouseTraced => "pilothouse, traced",
            Self::PilothouseKept => "pilothouse, traces kept",
            Self::Kubernetes => "kube-apiserver",
            Self::Baseline => "baseline",
            Self::BaselineOverEtcd => "baseline over etcd",
        }
    }
}

/// A running side. Its processes end with it.
pub(crate) struct Server {
    pub(crate) program: Program,
    pub(crate) endpoint: Endpoint,
    /// The certificate of the authority that vouches for it.
    pub(crate) authority: PathBuf,
    /// From the start of its first process to the first `/readyz` that said ok.
    pub(crate) start: Duration,
    /// How many the bench has made.
    pub(crate) objects: usize,
    // The API server first: it is to end before what it keeps its data in.
    processes: Vec<Process>,
    data: Vec<PathBuf>,
}

impl Server {
    /// On the data of a directory, which may be new. Returns once it is ready.
    pub(crate) async fn start(plan: &Plan, program: Program, dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let data = dir.join("data");
        let pki = match program {
            Program::Kubernetes => dir.join("pki"),
            _ => data.join("pki"),
        };
        // Ours makes its own, as a part of its start.
        if program == Program::Kubernetes && !pki.exists() {
            certificates::make(&pki)?;
        }
        let address = free_address()?;
        let begin = Instant::now();
        let mut etcd = match (&plan.etcd, program) {
            (
                Some(etcd),
                Program::PilothouseOverEtcd | Program::Kubernetes | Program::BaselineOverEtcd,
            ) => Some(Etcd::start(etcd, dir).await?),
            _ => None,
        };
        let url = etcd.as_ref().map(|etcd| &*etcd.url);
        let mut command = match (&plan.peer, program, url) {
            (Some(Peer::Kubernetes(path)), Program::Kubernetes, Some(url)) => {
                kubernetes(path, &pki, address, url)
            }
            (Some(Peer::Baseline(path)), Program::Baseline | Program::BaselineOverEtcd, _) => {
                pilothouse(path, &data, address, url)
            }
            _ => pilothouse(&plan.pilothouse, &data, address, url),
        };
        match program {
            Program::PilothouseTraced => {
                command.arg("--tracing-config-file").arg(dir.join(TRACING));
            }
            Program::PilothouseKept => {
                command.arg("--debug-traces");
            }
            _ => {}
        }
        let log = dir.join(LOG);
        let mut process = Process::start(program.name(), &mut command, &log)?;
        let wait = ready(&mut process, address, &pki, begin);
        let endpoint = tokio::time::timeout(PATIENCE, wait)
            .await
            .with_context(|| format!("{} is not ready after {PATIENCE:?}", program.name()))??;
        let start = begin.elapsed();
        let etcd = etcd.take();
        Ok(Self {
            program,
            endpoint,
            authority: pki.join("ca.crt"),
            start,
            objects: 0,
            data: std::iter::once(data)
                .chain(etcd.iter().map(|etcd| etcd.data.clone()))
                .collect(),
            processes: std::iter::once(process)
                .chain(etcd.map(|etcd| etcd.process))
                .collect(),
        })
    }

    /// Takes it off the processors while it is the other's turn: what it does when nobody asks would disturb the other,
    /// and what it has left to do belongs into its own turns.
    pub(crate) fn pause(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    pub(crate) async fn resume(&mut self) -> Result<()> {
        self.signal(Signal::CONT)?;
        let process = self.processes.first_mut().context("no process")?;
        wait_ready(process, &self.endpoint, Instant::now()).await?;
        tokio::time::sleep(SETTLE).await;
        Ok(())
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        self.processes.iter().try_for_each(|it| it.signal(signal))
    }

    pub(crate) async fn stop(self) -> Result<()> {
        for process in self.processes {
            process.stop().await?;
        }
        Ok(())
    }

    /// Seconds of all its processes.
    pub(crate) fn cpu(&self) -> Result<f64> {
        self.processes.iter().map(Process::cpu).sum()
    }

    /// MiB of all its processes.
    pub(crate) fn memory(&self) -> Result<f64> {
        self.processes.iter().map(Process::memory).sum()
    }

    /// MiB of its data, as the file system counts them.
    pub(crate) fn disk(&self) -> Result<f64> {
        let blocks: Result<u64> = self.data.iter().map(|dir| blocks(dir)).sum();
        Ok(blocks? as f64 / 2048.0)
    }
}

fn pilothouse(program: &Path, data: &Path, address: SocketAddr, etcd: Option<&str>) -> Command {
    let mut command = Command::new(program);
    command
        .args(["serve", "--authorization-mode", "RBAC", "--secure-port"])
        .arg(address.port().to_string())
        .arg("--data-dir")
        .arg(data);
    if let Some(url) = etcd {
        command.args(["--etcd-servers", url]);
    }
    command
}

fn kubernetes(program: &Path, pki: &Path, address: SocketAddr, etcd: &str) -> Command {
    let mut command = Command::new(program);
    let files = [
        ("--client-ca-file", "ca.crt"),
        ("--tls-cert-file", "apiserver.crt"),
        ("--tls-private-key-file", "apiserver.key"),
        ("--service-account-key-file", "sa.pub"),
        ("--service-account-signing-key-file", "sa.key"),
    ];
    for (flag, file) in files {
        command.arg(flag).arg(pki.join(file));
    }
    command
        .args(["--etcd-servers", etcd, "--authorization-mode", "RBAC"])
        .args(["--service-account-issuer", "https://kubernetes.default.svc"])
        .args(["--service-cluster-ip-range", "10.96.0.0/16"])
        .args(["--bind-address", "127.0.0.1", "--secure-port"])
        .arg(address.port().to_string());
    command
}

struct Etcd {
    process: Process,
    data: PathBuf,
    url: String,
}

impl Etcd {
    /// With fsync, as it comes. Returns once it listens.
    async fn start(program: &Path, dir: &Path) -> Result<Self> {
        let data = dir.join("etcd");
        let address = free_address()?;
        let url = format!("http://{address}");
        let peer = format!("http://{}", free_address()?);
        let mut command = Command::new(program);
        command
            .args(["--name", "bench", "--data-dir"])
            .arg(&data)
            .args(["--listen-client-urls", &url])
            .args(["--advertise-client-urls", &url])
            .args(["--listen-peer-urls", &peer])
            .args(["--initial-advertise-peer-urls", &peer])
            .args(["--initial-cluster", &format!("bench={peer}")]);
        let mut process = Process::start("etcd", &mut command, &dir.join("etcd.log"))?;
        listening(&mut process, address, Instant::now()).await?;
        Ok(Self { process, data, url })
    }
}

async fn ready(
    process: &mut Process,
    address: SocketAddr,
    pki: &Path,
    begin: Instant,
) -> Result<Endpoint> {
    listening(process, address, begin).await?;
    let endpoint = Endpoint::new(address, pki)?;
    wait_ready(process, &endpoint, begin).await?;
    Ok(endpoint)
}

async fn listening(process: &mut Process, address: SocketAddr, begin: Instant) -> Result<()> {
    while TcpStream::connect(address).await.is_err() {
        process.alive()?;
        pause_since(begin).await?;
    }
    Ok(())
}

async fn wait_ready(process: &mut Process, endpoint: &Endpoint, begin: Instant) -> Result<()> {
    loop {
        let attempt = async {
            let mut client = endpoint.connect().await?;
            let request = objects::get(endpoint.uri("/readyz")?);
            client.status(request).await
        };
        if attempt.await.is_ok_and(|status| status == StatusCode::OK) {
            return Ok(());
        }
        process.alive()?;
        pause_since(begin).await?;
    }
}

/// Asks more rarely the longer it takes: two per cent too late at most, and little work for a server that starts.
async fn pause_since(begin: Instant) -> Result<()> {
    let since = begin.elapsed();
    ensure!(since < PATIENCE, "no answer after {PATIENCE:?}");
    tokio::time::sleep((since / 50).max(Duration::from_millis(1))).await;
    Ok(())
}

fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// Blocks of 512 bytes of all files.
fn blocks(path: &Path) -> Result<u64> {
    let Ok(about) = path.symlink_metadata() else {
        // A file that was removed meanwhile, or no directory at all.
        return Ok(0);
    };
    let mut sum = about.blocks();
    if about.is_dir() {
        for entry in std::fs::read_dir(path)? {
            sum += blocks(&entry?.path())?;
        }
    }
    Ok(sum)
}
