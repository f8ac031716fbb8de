//! The flood, as a process of its own: one user with many clients that send GETs, short LISTs and creates, and requests whose
//! bodies never arrive as a whole.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context as TaskContext, Poll};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{Method, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::users::{User, Users};
use crate::client::Endpoint;
use crate::objects::{CONFIG_MAPS, config_map};
use crate::process::{Process, own_cpu, said};

/// Requests a second, more than a kube-apiserver answers on two cores. At full speed the load generator, which takes about as
/// much CPU time a request as the server, would fill the cores by itself, and every latency would tell of that.
const RATE: u32 = 4000;
/// Clients, in turns on so many connections.
const CLIENTS: u32 = 64;
const CONNECTIONS: u32 = 8;
/// Requests with bodies that do not arrive, and how many a connection has of them.
const SLOW: usize = 240;
const SLOW_EACH: usize = 60;
/// A rejected client comes back after this long, sooner than it is asked to.
const BACK: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_secs(30);
/// In which the process that only computes computes and rests once.
const PERIOD: Duration = Duration::from_millis(2);

const BEGUN: &str = "begun";
const RESULT: &str = "result: ";

/// What the process is started with.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FloodArgs {
    /// Be the flood of the row `flood`, against this address: the bench starts itself so
    #[arg(long, hide = true)]
    flood: Option<SocketAddr>,
    #[arg(long, hide = true, requires = "flood")]
    flood_authority: Option<PathBuf>,
    #[arg(long, hide = true, requires = "flood")]
    flood_token: Option<PathBuf>,
    /// What the names of its objects begin with
    #[arg(long, hide = true, default_value = "flood")]
    flood_prefix: String,
    /// Take this share of a core instead, and send nothing
    #[arg(long, hide = true)]
    flood_spin: Option<f64>,
}

impl FloodArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.flood.is_some() || self.flood_spin.is_some()
    }
}

/// The running process. It ends with this value.
pub(crate) struct Flood {
    process: Process,
    log: PathBuf,
}

/// What it has to say in the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strength {
    pub(crate) answered: f64,
    /// Answers a second.
    pub(crate) rate: f64,
    /// Of all answers, the share of 429.
    pub(crate) rejected_share: f64,
    /// Of one core.
    pub(crate) cpu_share: f64,
}

impl Flood {
    pub(crate) async fn start(address: SocketAddr, users: &Users, prefix: &str) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(format!("--flood={address}"));
        command.arg("--flood-authority").arg(&users.authority);
        command.arg("--flood-token").arg(&users.token);
        command.arg(format!("--flood-prefix={prefix}"));
        Self::begin(command, users).await
    }

    pub(crate) async fn start_spinning(users: &Users, share: f64) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(format!("--flood-spin={share}"));
        Self::begin(command, users).await
    }

    async fn begin(mut command: Command, users: &Users) -> Result<Self> {
        let log = users.log.clone();
        let mut process = Process::start("flood", &mut command, &log)?;
        let begin = Instant::now();
        while said(&log, BEGUN)?.is_none() {
            process.alive()?;
            ensure!(begin.elapsed() < PATIENCE, "the flood does not begin");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(Self { process, log })
    }

    pub(crate) async fn stop(self) -> Result<Strength> {
        self.process.stop().await?;
        let text = said(&self.log, RESULT)?.context("the flood did not say what it did")?;
        let numbers = text.split(' ').filter_map(|it| it.parse().ok());
        let [answered, rejected, seconds, cpu]: [f64; 4] = numbers
            .collect::<Vec<_>>()
            .try_into()
            .ok()
            .with_context(|| format!("not understood: {text}"))?;
        Ok(Strength {
            answered,
            rate: answered / seconds,
            rejected_share: rejected / answered.max(1.0),
            cpu_share: (cpu / seconds).min(1.0),
        })
    }
}

/// What all clients count.
#[derive(Debug, Default)]
struct Counts {
    turns: AtomicUsize,
    answered: AtomicU64,
    rejected: AtomicU64,
}

/// The process itself, until it is told to end.
pub(crate) async fn run(args: FloodArgs) -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let counts = Arc::new(Counts::default());
    if let (Some(address), Some(authority), Some(token)) =
        (args.flood, &args.flood_authority, &args.flood_token)
    {
        let endpoint = Endpoint::without_certificate(address, authority)?;
        let user = User::new(endpoint, &std::fs::read_to_string(token)?)?;
        slow_bodies(&user).await?;
        send(&user, &args.flood_prefix, &counts).await?;
    }
    println!("{BEGUN}");
    let (start, cpu) = (Instant::now(), own_cpu()?);
    match args.flood_spin {
        Some(share) => spin(share, &mut terminate).await,
        None => drop(terminate.recv().await),
    }
    println!(
        "{RESULT}{} {} {} {}",
        counts.answered.load(Ordering::Relaxed),
        counts.rejected.load(Ordering::Relaxed),
        start.elapsed().as_secs_f64(),
        own_cpu()? - cpu
    );
    Ok(())
}

async fn spin(share: f64, terminate: &mut Signal) {
    let busy = PERIOD.mul_f64(share.clamp(0.0, 1.0));
    loop {
        let begin = Instant::now();
        while begin.elapsed() < busy {
            std::hint::spin_loop();
        }
        // A share of one leaves nothing to wait for, but the signal is looked at.
        let rest = tokio::time::sleep(PERIOD.saturating_sub(busy));
        tokio::select! {
            () = rest => {}
            _ = terminate.recv() => return,
        }
    }
}

/// Clients that each send at a steady pace, or as fast as they are answered if that is slower: of 20 requests, 13 GETs, 4 LISTs
/// of 10 objects, 3 creates.
async fn send(user: &User, prefix: &str, counts: &Arc<Counts>) -> Result<()> {
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        connections.push(user.connect().await?);
    }
    let all = user.endpoint.uri(CONFIG_MAPS)?;
    let page = user.endpoint.uri(&format!("{CONFIG_MAPS}?limit=10"))?;
    let start = Instant::now();
    for (number, mut client) in (0..CLIENTS).zip(connections.into_iter().cycle()) {
        let (user, counts) = (user.clone(), counts.clone());
        let (all, page, prefix) = (all.clone(), page.clone(), prefix.to_owned());
        tokio::spawn(async move {
            let period = Duration::from_secs(1) * CLIENTS / RATE;
            let mut due = start + period * number / CLIENTS;
            loop {
                tokio::time::sleep_until(due.into()).await;
                due = (due + period).max(Instant::now());
                let turn = counts.turns.fetch_add(1, Ordering::Relaxed);
                let request = match turn % 20 {
                    0..3 => {
                        let body = config_map(&format!("{prefix}-{turn}"), "x");
                        user.post(all.clone(), body)
                    }
                    3..7 => user.get(page.clone()),
                    _ => {
                        let path = format!("{CONFIG_MAPS}/cm-{}", turn * 7919 % super::OBJECTS);
                        user.get(user.endpoint.uri(&path)?)
                    }
                };
                let status = client.status(request).await?;
                counts.answered.fetch_add(1, Ordering::Relaxed);
                if status == StatusCode::TOO_MANY_REQUESTS {
                    counts.rejected.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(BACK).await;
                }
            }
            #[expect(unreachable_code, reason = "it names the type of the errors above")]
            anyhow::Ok(())
        });
    }
    Ok(())
}

/// Requests that the server waits for in vain; each is sent again when it is answered.
async fn slow_bodies(user: &User) -> Result<()> {
    let uri = user.endpoint.uri(CONFIG_MAPS)?;
    for _ in 0..SLOW.div_ceil(SLOW_EACH) {
        let connection = user.endpoint.open::<Endless>().await?;
        for _ in 0..SLOW_EACH {
            let (user, uri, mut connection) = (user.clone(), uri.clone(), connection.clone());
            tokio::spawn(async move {
                while connection.ready().await.is_ok() {
                    let mut request = user.request(&Method::POST, uri.clone(), Endless::default());
                    let headers = request.headers_mut();
                    headers.insert(CONTENT_LENGTH, 1000.into());
                    if let Ok(answer) = connection.send_request(request).await {
                        let _ = answer.into_body().collect().await;
                    }
                    tokio::time::sleep(BACK).await;
                }
            });
        }
    }
    Ok(())
}

/// A body that begins and does not go on.
#[derive(Debug, Default)]
struct Endless(bool);

impl Body for Endless {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Pending;
        }
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"{\"data\":")))))
    }
}
