//! Where and as whom the server listens.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use apiserver::tls;
use auth::pki::CertifiedKey;
use clap::Args;
use pilothouse::server::Options;

use super::{read_text, value};

#[derive(Debug, Args)]
#[command(next_help_heading = "Serving")]
pub(crate) struct Serving {
    /// Address to listen on
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub(crate) bind_address: IpAddr,
    /// Port to listen on, 0 for any free one [default: 6443; with --ephemeral 0]
    #[arg(long, value_name = "PORT")]
    pub(crate) secure_port: Option<u16>,
    /// Address at which others reach this server [default: that of the way out of this machine]
    #[arg(long, value_name = "IP")]
    pub(crate) advertise_address: Option<IpAddr>,
    /// Name of this server in URLs that it gives to others
    #[arg(long, value_name = "HOST", value_parser = host)]
    pub(crate) external_hostname: Option<String>,
    /// Certificate to show instead of an own one, with its intermediates behind it
    #[arg(long, value_name = "FILE", requires = "tls_private_key_file")]
    tls_cert_file: Option<PathBuf>,
    /// Key of that certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert_file")]
    tls_private_key_file: Option<PathBuf>,
    /// Oldest TLS to speak
    #[arg(long, value_name = "VERSION", default_value = "VersionTLS12", value_parser = ["VersionTLS12", "VersionTLS13"])]
    tls_min_version: String,
    /// Cipher suites of TLS 1.2 [default: all that are safe]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tls_cipher_suites: Vec<String>,
    /// Streams that a client may have on one HTTP/2 connection
    #[arg(long, value_name = "N", default_value_t = 250, value_parser = clap::value_parser!(u32).range(1..))]
    http2_max_streams_per_connection: u32,
    /// Part of HTTP/2 requests after which a client must connect anew, up to 0.02
    #[arg(long, value_name = "PART", default_value = "0", value_parser = value::chance)]
    goaway_chance: f64,
    /// How long to go on serving after the signal to stop, with /readyz failing
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = value::duration)]
    shutdown_delay_duration: Duration,
}

impl Serving {
    pub(crate) fn apply(&self, options: &mut Options) -> anyhow::Result<()> {
        options.advertise = self.advertise_address;
        options
            .external_hostname
            .clone_from(&self.external_hostname);
        options.shutdown_delay = self.shutdown_delay_duration;
        options.settings.max_streams = self.http2_max_streams_per_connection;
        options.settings.goaway_chance = self.goaway_chance;
        options.tls.only_tls13 = self.tls_min_version == "VersionTLS13";
        options.tls.cipher_suites = self.cipher_suites()?;
        if let (Some(certificate), Some(key)) = (&self.tls_cert_file, &self.tls_private_key_file) {
            let pair = CertifiedKey {
                certificate: read_text("--tls-cert-file", certificate)?,
                key: read_text("--tls-private-key-file", key)?,
            };
            pilothouse::server::check_serving(&pair).with_context(|| {
                let (certificate, key) = (certificate.display(), key.display());
                format!("--tls-cert-file {certificate} with --tls-private-key-file {key}")
            })?;
            options.serving = Some(pair);
            options.watched.serving = Some((certificate.clone(), key.clone()));
        }
        Ok(())
    }

    fn cipher_suites(&self) -> anyhow::Result<Vec<String>> {
        let known = tls::cipher_suites();
        let found = self.tls_cipher_suites.iter().map(|name| {
            // Go knows these two by a short name too.
            let full = if name.ends_with("_CHACHA20_POLY1305") {
                format!("{name}_SHA256")
            } else {
                name.clone()
            };
            if !known.contains(&full) {
                bail!(
                    "--tls-cipher-suites: {name:?} is not offered, these are: {}",
                    known.join(", ")
                );
            }
            Ok(full)
        });
        found.collect()
    }
}

fn host(text: &str) -> Result<String, String> {
    let fine = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | ':' | '[' | ']');
    if text.is_empty() || !text.chars().all(fine) {
        return Err("it is not the name of a host".to_owned());
    }
    Ok(text.to_owned())
}
