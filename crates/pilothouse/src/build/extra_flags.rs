//! Flags that kustomize does not have. Without them, nothing differs.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::Args;
use kustomize::{Cached, Host, Local};

#[expect(clippy::struct_excessive_bools, reason = "independent flags")]
#[derive(Debug, Args)]
#[command(next_help_heading = "ExtraFlags kustomize")]
pub(super) struct ExtraFlags {
    /// Keep remote bases and files, in this directory or your cache directory; fetch again only what has changed
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    remote_cache: Option<String>,
    /// Fetch nothing: what is remote comes from the cache
    #[arg(long)]
    offline: bool,
    /// Allow *, ?, [a-z] and ** in 'resources' and 'components'
    #[arg(long)]
    pub(super) enable_globs: bool,
    /// Build again whenever a file that was read changes
    #[arg(long, conflicts_with = "explain")]
    pub(super) watch: bool,
    /// Print what differs from the last build with this flag, from a file, or from a server (by your kubectl); values of
    /// Secrets are masked
    #[arg(long, value_name = "last|server|FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(super) diff: Option<String>,
    /// Print which file, patch or transformer set a field: Deployment/web:spec.replicas; may be given several times
    #[arg(long, value_name = "KIND/NAME[:FIELD]", conflicts_with = "diff")]
    pub(super) explain: Vec<String>,
    /// After an error, name the file and line it came from; always so on a terminal
    #[arg(long)]
    pub(super) locate_errors: bool,
}

impl ExtraFlags {
    /// The text is kustomize's; where it happened comes behind it.
    pub(super) fn show(&self, error: &kustomize::Error) -> String {
        match error.place() {
            Some(place) if self.locate_errors || std::io::stderr().is_terminal() => {
                format!("{error}\n  at {place}")
            }
            _ => error.to_string(),
        }
    }

    pub(super) fn host(&self) -> Result<Box<dyn Host>, String> {
        let dir = match self.remote_cache.as_deref() {
            None if !self.offline => return Ok(Box::new(Local)),
            None | Some("") => user_directory("XDG_CACHE_HOME", ".cache")?.join("remote"),
            Some(dir) => PathBuf::from(dir),
        };
        Ok(Box::new(Cached::new(Local, dir, self.offline)))
    }
}

/// Ours below one of the user's directories, as the XDG specification has them.
pub(super) fn user_directory(variable: &str, below_home: &str) -> Result<PathBuf, String> {
    let set = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty());
    let base = set(variable).map(PathBuf::from);
    let base = base.or_else(|| Some(PathBuf::from(set("HOME")?).join(below_home)));
    let base = base.ok_or_else(|| format!("neither {variable} nor HOME is set"))?;
    Ok(base.join("pilothouse"))
}
