//! Where the user's settings and the spool are, as the XDG base directories say.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Invocation;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The file that `config set` writes.
    pub config: PathBuf,
    /// The directory of what is counted and not sent yet.
    pub state: PathBuf,
}

impl Places {
    /// None without a home.
    pub fn find(invocation: &Invocation<'_>) -> Option<Self> {
        let base = |name, otherwise: &str| {
            let given = invocation.variable(name).map(PathBuf::from);
            // A relative one is to be ignored, by the specification.
            given.filter(|it| it.is_absolute()).or_else(|| {
                let home = PathBuf::from(invocation.variable("HOME")?);
                home.is_absolute().then(|| home.join(otherwise))
            })
        };
        let state = base("XDG_STATE_HOME", ".local/state")?;
        Some(Self {
            config: base("XDG_CONFIG_HOME", ".config")?.join("pilothouse/config"),
            state: state.join("pilothouse/usage"),
        })
    }
}

pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

/// Part of a name that no other file has, of this process or another one that runs. It is never sent.
pub(crate) fn unique() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number}", std::process::id())
}

/// Writes a file atomically, readable by its owner alone, also if another process writes it at the same time.
pub(crate) fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", unique()));
    let written = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&beside)
        .and_then(|mut file| file.write_all(text))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        _ = fs::remove_file(&beside);
    }
    written
}
