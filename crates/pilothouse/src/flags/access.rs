//! Flags of authentication and authorization.

use std::path::PathBuf;

use anyhow::{Context, anyhow, ensure};
use auth::RequestHeader;
use auth::authorizer::Mode;
use auth::token_file::StaticTokens;
use clap::{ArgAction, Args};
use pilothouse::server::{Options, check_authorities};
use telemetry::logs::{self, SERVER};

use super::{read, read_text, value};
use crate::auth_config;

#[derive(Debug, Args)]
#[command(next_help_heading = "Authentication and authorization")]
pub(crate) struct Access {
    /// Authorities whose client certificates count, beside the own one of the data directory
    #[arg(long, value_name = "FILE")]
    client_ca_file: Option<PathBuf>,
    /// Static tokens: a CSV file of token, user, uid and groups
    #[arg(long, value_name = "FILE")]
    token_auth_file: Option<PathBuf>,
    /// Take bootstrap tokens, which are Secrets in kube-system
    #[arg(long, value_name = "BOOL", default_value = "true", default_missing_value = "true",
        num_args = 0..=1, require_equals = true, action = ArgAction::Set, value_parser = value::boolean)]
    enable_bootstrap_token_auth: bool,
    /// Take requests without credentials as system:anonymous
    #[arg(long, value_name = "BOOL", default_value = "true", default_missing_value = "true",
        num_args = 0..=1, require_equals = true, action = ArgAction::Set, value_parser = value::boolean)]
    anonymous_auth: bool,
    #[arg(
        long,
        help = "Who decides, in this order: Node, RBAC, AlwaysAllow, AlwaysDeny",
        value_name = "MODES",
        value_delimiter = ',',
        default_value = "Node,RBAC"
    )]
    authorization_mode: Vec<String>,
    /// File that lists the authorizers, in place of --authorization-mode
    #[arg(long, value_name = "FILE", conflicts_with = "authorization_mode")]
    authorization_config: Option<PathBuf>,
    /// File that says who is known; of it, only whether requests without credentials are taken can be used
    #[arg(long, value_name = "FILE", conflicts_with = "anonymous_auth")]
    authentication_config: Option<PathBuf>,
    #[command(flatten)]
    proxies: Proxies,
}

/// Front proxies, which authenticate users and name them in headers.
#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "they are the flags' names")]
struct Proxies {
    /// CA bundle of front proxies, which name the user in headers
    #[arg(long, value_name = "FILE")]
    requestheader_client_ca_file: Option<PathBuf>,
    /// Common names of those proxies [default: all that the authorities sign]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    requestheader_allowed_names: Vec<String>,
    /// Headers for the user's name, the usual one is X-Remote-User
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    requestheader_username_headers: Vec<String>,
    /// Headers for the user's uid, X-Remote-Uid among them
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    requestheader_uid_headers: Vec<String>,
    /// Headers for groups, the usual one is X-Remote-Group
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    requestheader_group_headers: Vec<String>,
    /// What headers for all else begin with, the usual one is X-Remote-Extra-
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    requestheader_extra_headers_prefix: Vec<String>,
}

impl Proxies {
    fn apply(&self, options: &mut Options) -> anyhow::Result<()> {
        let names = |flag: &str, names: &[String]| {
            let names: Vec<String> = names.iter().map(|it| it.trim().to_owned()).collect();
            ensure!(
                names.iter().all(|it| !it.is_empty()),
                "--{flag}: there is an empty name in it"
            );
            Ok(names)
        };
        let headers = RequestHeader {
            allowed_names: names(
                "requestheader-allowed-names",
                &self.requestheader_allowed_names,
            )?,
            username_headers: names(
                "requestheader-username-headers",
                &self.requestheader_username_headers,
            )?,
            uid_headers: names("requestheader-uid-headers", &self.requestheader_uid_headers)?,
            group_headers: names(
                "requestheader-group-headers",
                &self.requestheader_group_headers,
            )?,
            extra_header_prefixes: names(
                "requestheader-extra-headers-prefix",
                &self.requestheader_extra_headers_prefix,
            )?,
        };
        let mut uids = headers.uid_headers.iter();
        ensure!(
            headers.uid_headers.is_empty()
                || uids.any(|it| it.eq_ignore_ascii_case("x-remote-uid")),
            "--requestheader-uid-headers: X-Remote-Uid must be among them"
        );
        let Some(path) = &self.requestheader_client_ca_file else {
            ensure!(
                headers == RequestHeader::default(),
                "--requestheader-* take a --requestheader-client-ca-file: they tell how the proxies of that authority name users"
            );
            return Ok(());
        };
        let flag = "--requestheader-client-ca-file";
        let pem = read(flag, path)?;
        check_authorities(&pem).with_context(|| format!("{flag} {}", path.display()))?;
        let own = options.files.authority.as_ref();
        let own = own.map_or(&[][..], |it| it.certificate.as_bytes());
        let shared =
            auth::pki::overlap(&pem, own) || auth::pki::overlap(&pem, &options.client_authorities);
        ensure!(
            !shared || !headers.allowed_names.is_empty(),
            "{flag} {}: the authority signs clients too, name the proxies with --requestheader-allowed-names or any client could speak for others",
            path.display()
        );
        options.watched.proxies = Some(path.clone());
        options.proxies = Some((pem, headers));
        Ok(())
    }
}

impl Access {
    pub(crate) fn apply(&self, options: &mut Options) -> anyhow::Result<()> {
        if let Some(path) = &self.client_ca_file {
            let flag = "--client-ca-file";
            let pem = read(flag, path)?;
            check_authorities(&pem).with_context(|| format!("{flag} {}", path.display()))?;
            options.client_authorities = pem;
            options.watched.client_authorities = Some(path.clone());
        }
        self.proxies.apply(options)?;
        if let Some(path) = &self.token_auth_file {
            let text = read_text("--token-auth-file", path)?;
            options.tokens = StaticTokens::parse(&text)
                .map_err(|error| anyhow!("--token-auth-file {}: {error}", path.display()))?;
        }
        options.bootstrap_tokens = self.enable_bootstrap_token_auth;
        options.modes = match &self.authorization_config {
            Some(path) => auth_config::authorization(path)?,
            None => auth::authorizer::modes(&self.authorization_mode)
                .map_err(|error| anyhow!("--authorization-mode: {error}"))?,
        };
        ensure!(
            !options.modes.contains(&Mode::Webhook),
            "--authorization-mode: Webhook is not supported yet"
        );
        options.anonymous = self.anonymous_auth;
        if let Some(path) = &self.authentication_config
            && let Some(anonymous) = auth_config::authentication(path, &options.issuers)?
        {
            options.anonymous = anonymous;
        }
        if options.anonymous && options.modes.contains(&Mode::AlwaysAllow) {
            // As upstream: AlwaysAllow allows every authenticated user everything, and disables anonymous access.
            logs::warning(
                &SERVER,
                "--authorization-mode AlwaysAllow: requests without credentials are refused",
                &[],
            );
            options.anonymous = false;
        }
        Ok(())
    }
}
