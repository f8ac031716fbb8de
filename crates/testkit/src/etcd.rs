//! A real etcd: one or three members on loopback, gone when dropped.

mod ports;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

pub use crate::certificates::Certificates;

/// How long etcd may take to become healthy on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where to find etcd; the way to a [`Cluster`].
#[derive(Clone, Debug)]
pub struct Etcd {
    binary: PathBuf,
    members: usize,
    tls: bool,
    quota: Option<u64>,
}

#[derive(Debug)]
pub struct Cluster {
    etcd: Etcd,
    members: Vec<Member>,
    certificates: Option<Certificates>,
    directory: TempDir,
}

#[derive(Debug)]
struct Member {
    client: u16,
    peer: u16,
    metrics: u16,
    process: Option<Child>,
}

impl Cluster {
    /// etcd from `$ETCD`, or from the path. Panics without one: tests that need it are marked `#[requires(etcd)]`.
    pub fn find() -> Etcd {
        let named = std::env::var_os("ETCD").map(PathBuf::from);
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let found = named.into_iter().chain(
            std::env::split_paths(&paths)
                .map(|directory| directory.join("etcd"))
                .filter(|path| path.is_file()),
        );
        let binary = found.into_iter().next();
        let missing = "no etcd in PATH (apt-get install etcd-server, or set $ETCD)";
        Etcd {
            binary: binary.expect(missing),
            members: 1,
            tls: false,
            quota: None,
        }
    }
}

impl Etcd {
    #[must_use]
    pub fn members(self, members: usize) -> Self {
        Self { members, ..self }
    }

    /// Clients need a certificate of the cluster's CA.
    #[must_use]
    pub fn tls(self) -> Self {
        Self { tls: true, ..self }
    }

    #[must_use]
    pub fn quota_bytes(self, quota: u64) -> Self {
        Self {
            quota: Some(quota),
            ..self
        }
    }

    /// Returns when every member is healthy.
    pub fn start(self) -> Cluster {
        let directory = TempDir::with_prefix("etcd-").expect("make a directory for etcd");
        let certificates = self.tls.then(|| Certificates::make(directory.path()));
        let members = (0..self.members)
            .map(|_| Member {
                client: ports::free(),
                peer: ports::free(),
                metrics: ports::free(),
                process: None,
            })
            .collect();
        let mut cluster = Cluster {
            etcd: self,
            members,
            certificates,
            directory,
        };
        for index in 0..cluster.len() {
            cluster.launch(index);
        }
        for index in 0..cluster.len() {
            cluster.wait_healthy(index);
        }
        cluster
    }
}

impl Cluster {
    pub fn len(&self) -> usize {
        self.members.len()
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub fn endpoints(&self) -> Vec<String> {
        let scheme = self.scheme();
        let endpoint = |member: &Member| format!("{scheme}://127.0.0.1:{}", member.client);
        self.members.iter().map(endpoint).collect()
    }

    pub fn certificates(&self) -> Option<&Certificates> {
        self.certificates.as_ref()
    }

    /// The member that leads, once there is one.
    pub fn leader(&self) -> usize {
        eventually("a leader", || {
            (0..self.len()).find(|index| {
                self.get(*index, "/metrics")
                    .is_ok_and(|text| text.contains("\netcd_server_is_leader 1\n"))
            })
        })
    }

    /// Ends a member as a power cut would.
    pub fn kill(&mut self, index: usize) {
        if let Some(mut process) = self.members[index].process.take() {
            // It may have ended by itself; then it is as dead.
            let _ = process.kill();
            process.wait().expect("wait for etcd to end");
        }
    }

    /// Starts a killed member again on its data, and returns when it is healthy.
    pub fn restart(&mut self, index: usize) {
        self.revive(index);
        self.wait_healthy(index);
    }

    /// Starts a killed member again, and does not wait for it.
    pub fn revive(&mut self, index: usize) {
        assert!(self.members[index].process.is_none(), "still running");
        self.launch(index);
    }

    /// Stops a member from running, with all its connections open.
    pub fn freeze(&self, index: usize) {
        self.signal(index, Signal::STOP);
    }

    pub fn thaw(&self, index: usize) {
        self.signal(index, Signal::CONT);
    }

    /// Forgets a killed member's data.
    pub fn wipe(&self, index: usize) {
        assert!(self.members[index].process.is_none(), "still running");
        fs::remove_dir_all(self.data(index)).expect("remove etcd's data");
    }

    pub fn wait_healthy(&self, index: usize) {
        eventually("a healthy etcd", || {
            let healthy = |text: String| text.contains(r#""health":"true""#);
            let health = self.get(index, "/health");
            health.is_ok_and(healthy).then_some(())
        });
    }

    /// What a member counts, in Prometheus' text format.
    pub fn metrics(&self, index: usize) -> String {
        self.get(index, "/metrics").expect("read etcd's metrics")
    }

    fn scheme(&self) -> &'static str {
        if self.etcd.tls { "https" } else { "http" }
    }

    fn data(&self, index: usize) -> PathBuf {
        self.directory.path().join(format!("member-{index}"))
    }

    fn launch(&mut self, index: usize) {
        let log = self.directory.path().join(format!("member-{index}.log"));
        let log = File::options().create(true).append(true).open(log);
        let log = log.expect("open etcd's log");
        let mut command = Command::new(&self.etcd.binary);
        command
            .args(self.arguments(index))
            .env_clear()
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("share etcd's log"))
            .stderr(log);
        self.members[index].process = Some(command.spawn().expect("start etcd"));
    }

    fn arguments(&self, index: usize) -> Vec<String> {
        let member = &self.members[index];
        let client = format!("{}://127.0.0.1:{}", self.scheme(), member.client);
        let peer = |member: &Member| format!("http://127.0.0.1:{}", member.peer);
        let cluster: Vec<_> = (self.members.iter().enumerate())
            .map(|(index, member)| format!("m{index}={}", peer(member)))
            .collect();
        let mut arguments = vec![
            format!("--name=m{index}"),
            format!("--data-dir={}", self.data(index).display()),
            format!("--listen-client-urls={client}"),
            format!("--advertise-client-urls={client}"),
            format!("--listen-peer-urls={}", peer(member)),
            format!("--initial-advertise-peer-urls={}", peer(member)),
            format!("--initial-cluster={}", cluster.join(",")),
            format!("--listen-metrics-urls=http://127.0.0.1:{}", member.metrics),
            "--logger=zap".to_owned(),
            "--log-level=warn".to_owned(),
            // A leader is missed soon, and still not deposed by a busy machine.
            "--heartbeat-interval=50".to_owned(),
            "--election-timeout=500".to_owned(),
        ];
        if let Some(quota) = self.etcd.quota {
            arguments.push(format!("--quota-backend-bytes={quota}"));
        }
        if let Some(certificates) = &self.certificates {
            let file = |path: &Path| path.display().to_string();
            arguments.extend([
                "--client-cert-auth".to_owned(),
                format!("--trusted-ca-file={}", file(&certificates.ca)),
                format!("--cert-file={}", file(&certificates.server_cert)),
                format!("--key-file={}", file(&certificates.server_key)),
            ]);
        }
        arguments
    }

    fn signal(&self, index: usize, signal: Signal) {
        let process = self.members[index].process.as_ref().expect("running");
        let pid = i32::try_from(process.id()).expect("a process id is an i32");
        let pid = Pid::from_raw(pid).expect("a process id is not 0");
        kill_process(pid, signal).expect("signal etcd");
    }

    fn get(&self, index: usize, path: &str) -> io::Result<String> {
        let address = ([127, 0, 0, 1], self.members[index].metrics).into();
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for index in 0..self.len() {
            if std::thread::panicking() {
                let log = self.directory.path().join(format!("member-{index}.log"));
                let log = fs::read_to_string(log).unwrap_or_default();
                let from = log.len().saturating_sub(2000);
                eprintln!("etcd m{index}: …{}", log.get(from..).unwrap_or(&log));
            }
            self.kill(index);
        }
    }
}

/// Looks again and again until there is an answer.
fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "no {what} within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
