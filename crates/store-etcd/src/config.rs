use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use store::Error;
use tonic::transport::{Certificate, ClientTlsConfig, Identity};

use crate::wire::{self, Dial};

/// Where the cluster is and how long to wait for it.
#[derive(Clone, Debug)]
pub struct Config {
    /// `https://host:2379`, `http://host:2379`, or `host:2379`: then the scheme depends on `tls`.
    pub endpoints: Vec<String>,
    /// All keys live below it: key `/registry/x` with prefix `/foo` is etcd's `/foo/registry/x`. May be empty.
    pub prefix: String,
    pub tls: Option<Tls>,
    /// Opens the connections, if the system is not to do it itself.
    pub dial: Option<Dial>,
    pub connect_timeout: Duration,
    /// How long one read, write or wait for the feed may take.
    pub request_timeout: Duration,
    /// How long [`crate::open`] tries to find a member that answers.
    pub start_timeout: Duration,
    /// The feed changes to another member when it sees nothing for so long of what is known to exist.
    pub stall_timeout: Duration,
    /// After so much silence a member is asked for a sign of life. etcd disconnects clients that ask more often than
    /// its `--grpc-keepalive-min-time`, 5 s by default.
    pub keep_alive_interval: Duration,
    /// A member that gives no sign of life for so long is dead.
    pub keep_alive_timeout: Duration,
    /// How far back in etcd's history to start, so that watches go on over a restart.
    pub history_revisions: u64,
    /// How often etcd's past is forgotten, up to where it was one interval before; never if not given.
    pub compaction_interval: Option<Duration>,
}

/// Files in PEM.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// Who signs etcd's certificates; the system's roots if not given.
    pub ca: Option<PathBuf>,
    /// The client certificate, together with its key.
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            endpoints: Vec::new(),
            prefix: String::new(),
            tls: None,
            dial: None,
            connect_timeout: Duration::from_secs(2),
            request_timeout: Duration::from_secs(5),
            start_timeout: Duration::from_secs(15),
            stall_timeout: Duration::from_secs(3),
            keep_alive_interval: Duration::from_secs(6),
            keep_alive_timeout: Duration::from_secs(3),
            history_revisions: 10_000,
            compaction_interval: None,
        }
    }
}

impl Config {
    pub(crate) fn connect_options(&self) -> Result<wire::Options, Error> {
        let tls = self.tls.as_ref().map(Tls::load).transpose()?;
        Ok(wire::Options {
            connect_timeout: Some(self.connect_timeout),
            keep_alive: Some((self.keep_alive_interval, self.keep_alive_timeout)),
            // A member cut off from the leader must refuse, not starve the feed.
            require_leader: true,
            tls: tls.map(|tls| tls.timeout(self.connect_timeout)),
            dial: self.dial.clone(),
        })
    }
}

impl Tls {
    fn load(&self) -> Result<ClientTlsConfig, Error> {
        let options = match &self.ca {
            Some(ca) => {
                let ca = Certificate::from_pem(read("CA", ca)?);
                ClientTlsConfig::new().ca_certificate(ca)
            }
            None => ClientTlsConfig::new().with_native_roots(),
        };
        match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => {
                let (cert, key) = (read("certificate", cert)?, read("key", key)?);
                Ok(options.identity(Identity::from_pem(cert, key)))
            }
            (None, None) => Ok(options),
            _ => Err(Error::Unavailable {
                reason: "the etcd client certificate and its key must be given together".into(),
            }),
        }
    }
}

fn read(what: &str, path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path)
        .map_err(|source| Error::io(format!("read the etcd {what} {}", path.display()), source))
}
