//! Certificates that change on the disk are taken up without a restart, as kube-apiserver does.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use apiserver::tls::{Accepting, ClientAuthority, Serving};
use auth::pki::CertifiedKey;
use telemetry::logs::{self, Field, SERVER};

use super::setup::{certificates, key};

/// How often files are looked at. They are small, and few.
const PERIOD: Duration = Duration::from_secs(2);

/// Files to look at while the server runs.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// The server's certificate and its key.
    pub serving: Option<(PathBuf, PathBuf)>,
    /// More authorities of clients.
    pub client_authorities: Option<PathBuf>,
    /// The authorities of proxies that speak for others.
    pub proxies: Option<PathBuf>,
}

/// What is kept up to date.
pub(super) struct Reload {
    pub watched: Watched,
    pub serving: Arc<Serving>,
    pub clients: ClientAuthority,
    pub proxies: Option<ClientAuthority>,
    /// Tells clients which authorities there are.
    pub accepting: Arc<Accepting>,
    /// PEM of the authority whose clients count whatever the file says.
    pub own: Vec<u8>,
    /// Called with a new serving certificate.
    pub renewed: Box<dyn Fn(&CertifiedKey) + Send>,
}

/// Runs until it is dropped. A file that cannot be read or used is logged once, and the old one stays in use.
pub(super) async fn follow(reload: Reload) {
    let watched = &reload.watched;
    let mut pair = read_pair(watched);
    let mut clients = read_authorities(watched.client_authorities.as_ref());
    let mut proxies = read_authorities(watched.proxies.as_ref());
    loop {
        tokio::time::sleep(PERIOD).await;
        let found = read_pair(watched);
        if found != pair {
            say(
                "--tls-cert-file",
                found.as_ref().map(|it| use_pair(&reload, it)),
            );
            pair = found;
        }
        let found = read_authorities(watched.client_authorities.as_ref());
        if found != clients {
            let used = |it: &Vec<u8>| use_authorities(&reload, &reload.clients, &reload.own, it);
            say("--client-ca-file", found.as_ref().map(used));
            clients = found;
        }
        let found = read_authorities(watched.proxies.as_ref());
        if let Some(authority) = reload.proxies.as_ref().filter(|_| found != proxies) {
            let used = |it: &Vec<u8>| use_authorities(&reload, authority, &[], it);
            say("--requestheader-client-ca-file", found.as_ref().map(used));
            proxies = found;
        }
    }
}

fn read_pair(watched: &Watched) -> Option<CertifiedKey> {
    let (certificate, key) = watched.serving.as_ref()?;
    Some(CertifiedKey {
        certificate: std::fs::read_to_string(certificate).ok()?,
        key: std::fs::read_to_string(key).ok()?,
    })
}

fn read_authorities(file: Option<&PathBuf>) -> Option<Vec<u8>> {
    std::fs::read(file?).ok()
}

fn use_pair(reload: &Reload, found: &CertifiedKey) -> anyhow::Result<()> {
    let chain = certificates(found.certificate.as_bytes())?;
    reload.serving.replace(chain, key(&found.key)?)?;
    (reload.renewed)(found);
    Ok(())
}

fn use_authorities(
    reload: &Reload,
    authority: &ClientAuthority,
    own: &[u8],
    found: &[u8],
) -> anyhow::Result<()> {
    let more = certificates(found)?;
    anyhow::ensure!(!more.is_empty(), "there is no certificate in it");
    let all = certificates(own)?.into_iter().chain(more).collect();
    authority.replace(all).context("use them")?;
    reload.accepting.renew().context("tell of them")
}

fn say(flag: &str, outcome: Option<anyhow::Result<()>>) {
    let flag = ("flag", Field::Text(flag));
    match outcome {
        Some(Ok(())) => {
            let text = "the file changed and is in use for new connections";
            logs::info(&SERVER, text, &[flag]);
        }
        Some(Err(error)) => {
            let why = format!("{error:#}");
            let text = "the file changed and is not used";
            logs::error(&SERVER, text, &[flag, ("err", Field::Text(&why))]);
        }
        None => {
            let text = "the file cannot be read, the old one stays in use";
            logs::error(&SERVER, text, &[flag]);
        }
    }
}
