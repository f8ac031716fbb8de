//! What went wrong. None of it ever fails a build.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no home directory: set HOME, or XDG_CONFIG_HOME and XDG_STATE_HOME")]
    NoHome,
    #[error("read {0}: {1}")]
    Read(PathBuf, std::io::Error),
    #[error("write {0}: {1}")]
    Write(PathBuf, std::io::Error),
    /// The config file is not what this program writes.
    #[error("{path}: line {line}: {why}", path = .path.display())]
    Broken {
        path: PathBuf,
        line: usize,
        why: String,
    },
    #[error("{0} is no setting; there are {keys}", keys = crate::config::KEYS.join(", "))]
    Key(String),
    #[error("{key}={value}: {why}")]
    Value {
        key: &'static str,
        value: String,
        why: String,
    },
    /// What OpenTelemetry's variables say leads nowhere.
    #[error("{0}")]
    Collector(String),
    /// The other side cannot be reached, or wants to be asked again later.
    #[error("not sent: {0}")]
    Later(String),
    /// The other side will never take it.
    #[error("refused: {0}")]
    Refused(String),
}

impl From<egress::http::Error> for Error {
    fn from(error: egress::http::Error) -> Self {
        Self::Later(error.to_string())
    }
}
