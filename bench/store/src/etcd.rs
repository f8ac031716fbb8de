//! A real etcd of this machine, on loopback, with its own data directory and fsync on.

use std::fs::File;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use store_etcd::wire::{Client, Options, PutRequest};

const MISSING: &str = "etcd is not in PATH. It is what the store is measured against.\n\
    Install it (Debian: apt-get install etcd-server; others: https://etcd.io/docs/latest/install/),\n\
    or choose rows that do without: --only reopen,growth,stalls";

/// Ends with this value.
#[derive(Debug)]
pub(crate) struct Etcd {
    child: Child,
    endpoint: String,
}

impl Etcd {
    /// The version line of the etcd in PATH.
    pub(crate) fn version() -> Result<String> {
        let output = Command::new("etcd")
            .arg("--version")
            .output()
            .ok()
            .context(MISSING)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.lines().next().unwrap_or("etcd").to_owned())
    }

    pub(crate) async fn start(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let endpoint = format!("http://127.0.0.1:{}", free_port()?);
        let peer = format!("http://127.0.0.1:{}", free_port()?);
        let log = dir.join("etcd.log");
        let child = Command::new("etcd")
            .args(["--name", "bench", "--data-dir"])
            .arg(dir.join("data"))
            .args(["--listen-client-urls", &endpoint])
            .args(["--advertise-client-urls", &endpoint])
            .args(["--listen-peer-urls", &peer])
            .args(["--initial-advertise-peer-urls", &peer])
            .args(["--initial-cluster", &format!("bench={peer}")])
            // The default quota of 2 GiB would end a long run.
            .args(["--quota-backend-bytes", "8589934592"])
            .stdin(Stdio::null())
            .stdout(File::create(&log)?)
            .stderr(File::options().append(true).open(&log)?)
            .spawn()
            .context("start etcd")?;
        let mut etcd = Self { child, endpoint };
        let start = Instant::now();
        loop {
            let attempt = etcd.ready().await;
            if attempt.is_ok() {
                return Ok(etcd);
            }
            if let Some(status) = etcd.child.try_wait()? {
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                bail!("etcd ended with {status}:\n{said}");
            }
            if start.elapsed() > Duration::from_secs(30) {
                return attempt
                    .context("etcd does not answer after 30 s")
                    .map(|()| etcd);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn ready(&self) -> Result<()> {
        let request = PutRequest {
            key: "/ready".into(),
            value: "yes".into(),
            ..PutRequest::default()
        };
        self.connect()?.put(request).await?;
        Ok(())
    }

    /// One more connection.
    fn connect(&self) -> Result<Client> {
        Ok(Client::new(&self.endpoint, &Options::default())?)
    }

    pub(crate) fn connections(&self, count: usize) -> Result<Vec<Client>> {
        (0..count.max(1)).map(|_| self.connect()).collect()
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
