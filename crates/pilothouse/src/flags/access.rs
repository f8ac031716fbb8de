//! Who may ask for what.

use std::path::PathBuf;

use anyhow::{Context, anyhow, ensure};
use auth::authorizer::Mode;
use auth::token_file::StaticTokens;
use clap::{ArgAction, Args};
use pilothouse::server::{Options, check_authorities};

use super::{read, read_text, value};

#[derive(Debug, Args)]
#[command(next_help_heading = "Authentication and authorization")]
pub(crate) struct Access {
    /// Authorities whose client certificates count, beside the own one of the data directory
    #[arg(long, value_name = "FILE")]
    client_ca_file: Option<PathBuf>,
    /// Tokens and who they stand for: a CSV file of token, user, uid and groups
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
        if let Some(path) = &self.token_auth_file {
            let text = read_text("--token-auth-file", path)?;
            options.tokens = StaticTokens::parse(&text)
                .map_err(|error| anyhow!("--token-auth-file {}: {error}", path.display()))?;
        }
        options.bootstrap_tokens = self.enable_bootstrap_token_auth;
        options.anonymous = self.anonymous_auth;
        options.modes = auth::authorizer::modes(&self.authorization_mode)
            .map_err(|error| anyhow!("--authorization-mode: {error}"))?;
        ensure!(
            !options.modes.contains(&Mode::Webhook),
            "--authorization-mode: Webhook is not supported yet"
        );
        Ok(())
    }
}
