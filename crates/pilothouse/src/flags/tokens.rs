//! Flags of service account tokens: the signing key, the accepted keys and issuers, the lifetime.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{anyhow, ensure};
use auth::serviceaccount::{PublicKey, SigningKey};
use clap::{ArgAction, Args};
use pilothouse::server::Options;

use super::{read, read_text, value};

#[derive(Debug, Args)]
#[command(next_help_heading = "Service account tokens")]
pub(crate) struct Tokens {
    /// Issuer of tokens; the first signs, all are believed
    #[arg(long, value_name = "URL", value_parser = issuer,
        default_value = "https://kubernetes.default.svc.cluster.local")]
    service_account_issuer: Vec<String>,
    /// Key that signs tokens, RSA or ECDSA [default: pki/sa.key of the data directory]
    #[arg(long, value_name = "FILE")]
    service_account_signing_key_file: Option<PathBuf>,
    /// Keys, public or private, whose tokens count beside those signed here; may be repeated
    #[arg(long, value_name = "FILE")]
    service_account_key_file: Vec<PathBuf>,
    /// Where others find the keys of tokens [default: this server]
    #[arg(long, value_name = "URL", value_parser = https)]
    service_account_jwks_uri: Option<String>,
    /// Longest life of a token, from 1h; 0 for any
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = life)]
    service_account_max_token_expiration: Duration,
    /// Let tokens of pods live on for a year, and warn
    #[arg(long, value_name = "BOOL", default_value = "true", default_missing_value = "true",
        num_args = 0..=1, require_equals = true, action = ArgAction::Set, value_parser = value::boolean)]
    service_account_extend_token_expiration: bool,
    /// Whom tokens for this server are for [default: the issuer]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    api_audiences: Vec<String>,
}

impl Tokens {
    pub(crate) fn apply(&self, options: &mut Options) -> anyhow::Result<()> {
        for (index, issuer) in self.service_account_issuer.iter().enumerate() {
            let twice = self.service_account_issuer[..index].contains(issuer);
            ensure!(!twice, "--service-account-issuer {issuer} is given twice");
        }
        options.issuers.clone_from(&self.service_account_issuer);
        if let Some(path) = &self.service_account_signing_key_file {
            let flag = "--service-account-signing-key-file";
            let key = read_text(flag, path)?;
            SigningKey::from_pem(key.as_bytes())
                .map_err(|error| anyhow!("{flag} {}: {error}", path.display()))?;
            options.files.service_account_key = Some(key);
        }
        for path in &self.service_account_key_file {
            let flag = "--service-account-key-file";
            let keys = read(flag, path)?;
            PublicKey::all_from_pem(&keys)
                .map_err(|error| anyhow!("{flag} {}: {error}", path.display()))?;
            options.service_account_keys.push(keys);
        }
        options.jwks_uri.clone_from(&self.service_account_jwks_uri);
        options.api_audiences.clone_from(&self.api_audiences);
        let longest = self.service_account_max_token_expiration.as_secs();
        let settings = &mut options.settings;
        settings.max_token_expiration = i64::try_from(longest).unwrap_or(i64::MAX);
        settings.extend_token_expiration = self.service_account_extend_token_expiration;
        Ok(())
    }
}

/// Any text, but what looks like a URL must be one.
fn issuer(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("it must not be empty".to_owned());
    }
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    let fine = |it: &str| {
        it.starts_with(|it: char| it.is_ascii_alphabetic())
            && it
                .chars()
                .all(|it| it.is_ascii_alphanumeric() || matches!(it, '+' | '-' | '.'))
    };
    let odd = |it: char| it.is_control() || it == ' ';
    if scheme.is_some_and(|it| !fine(it)) || text.contains(odd) {
        return Err("it is not a URL".to_owned());
    }
    Ok(text.to_owned())
}

fn https(text: &str) -> Result<String, String> {
    if text.strip_prefix("https://").is_none_or(str::is_empty) {
        return Err("it must be an https URL".to_owned());
    }
    Ok(text.to_owned())
}

fn life(text: &str) -> Result<Duration, String> {
    let life = value::duration(text)?;
    let seconds = life.as_secs();
    if life.is_zero() || (3600..=1 << 32).contains(&seconds) {
        return Ok(life);
    }
    Err("it must be between 1 hour and 2^32 seconds".to_owned())
}
