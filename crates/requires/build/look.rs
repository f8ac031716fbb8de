//! Ways to look for something. Each also tells cargo when to look again.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Nothing if it is there, else the reason for which tests are ignored.
pub(crate) type Outcome = Result<(), String>;

/// Cargo looks at all files below a directory that it watches, in each run.
const WATCHABLE: usize = 20_000;

/// The first version with all that the stories use: `auth whoami`, `events`, strict validation.
const OLDEST_KUBECTL: u32 = 28;

/// A program in `PATH`.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let paths = env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = env::split_paths(&paths).collect();
    let mut all = directories.iter().map(|it| it.join(name));
    let found = all.find(|it| it.is_file());
    match &found {
        Some(path) => println!("cargo::rerun-if-changed={}", path.display()),
        None => directories.iter().for_each(|it| watch(it)),
    }
    found
}

pub(crate) fn program(name: &str, how: &str) -> Outcome {
    let missing = || format!("needs {name} in $PATH ({how})");
    find(name).map(drop).ok_or_else(missing)
}

/// One that its tests also take from a variable, such as `$ETCD`.
pub(crate) fn program_or_variable(name: &str, how: &str) -> Outcome {
    let capitals = name.to_ascii_uppercase();
    if variable(&capitals).is_some() {
        return Ok(());
    }
    let missing = || format!("needs {name} in $PATH or ${capitals} ({how})");
    find(name).map(drop).ok_or_else(missing)
}

pub(crate) fn kubectl(how: &str) -> Outcome {
    program_or_variable("kubectl", how)?;
    let named = variable("KUBECTL").map(PathBuf::from);
    let kubectl = named.or_else(|| find("kubectl")).expect("it was there");
    let told = output(Command::new(&kubectl).args(["version", "--client"]));
    // Of `Client Version: v1.37.0`.
    let minor = told.as_ref().and_then(|it| it.split_once("v1."));
    let minor = minor.and_then(|(_, rest)| rest.split(|it: char| !it.is_ascii_digit()).next());
    let minor: u32 = minor.and_then(|it| it.parse().ok()).unwrap_or(0);
    if minor < OLDEST_KUBECTL {
        return Err(format!(
            "needs kubectl 1.{OLDEST_KUBECTL} or newer, not {} 1.{minor} (set $KUBECTL)",
            kubectl.display()
        ));
    }
    Ok(())
}

/// `$PYTHON`, the first in the path, or the system's, which has what the system's packages bring: as testkit does.
pub(crate) fn python(modules: &str, how: &str) -> Outcome {
    let named = variable("PYTHON").map(PathBuf::from);
    let all = named
        .into_iter()
        .chain(["python3".into(), "/usr/bin/python3".into()]);
    let all: Vec<PathBuf> = all.collect();
    let has = |python: &PathBuf| {
        let import = format!("import {modules}");
        output(Command::new(python).args(["-c", &import])).is_some()
    };
    if all.iter().any(has) {
        return Ok(());
    }
    for python in &all {
        let show =
            "import sys; print('\\n'.join(it for it in sys.path if it.endswith('-packages')))";
        let places = output(Command::new(python).args(["-c", show]));
        places
            .iter()
            .flat_map(|it| it.lines())
            .for_each(|it| watch(Path::new(it)));
    }
    Err(format!("needs Python with {modules} ({how})"))
}

/// What stands beside the repository, or where the variable says.
pub(crate) fn file(variable_name: &str, beside: &str) -> Outcome {
    let named = (!variable_name.is_empty())
        .then(|| variable(variable_name))
        .flatten();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let place = named.map_or_else(|| root.join(beside), PathBuf::from);
    if place.exists() {
        println!("cargo::rerun-if-changed={}", first_file(&place).display());
        return Ok(());
    }
    // Not watched: cargo would look at all files of all neighbours. `cargo clean -p requires` makes it look again.
    let or = match variable_name {
        "" => String::new(),
        name => format!(" (or set ${name})"),
    };
    Err(format!("needs ../{beside} beside the repository{or}"))
}

/// A file system that can be mounted for all to see, as the attack on a full disk does.
pub(crate) fn mount(how: &str) -> Outcome {
    program("mount", how)?;
    program("umount", how)?;
    let place = env::temp_dir().join(format!("requires-mount-{}", std::process::id()));
    fs::create_dir_all(&place).map_err(|error| format!("needs a temporary directory: {error}"))?;
    let mut mount = Command::new("mount");
    mount
        .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(&place);
    let mounted = output(&mut mount).is_some();
    if mounted {
        let _ = output(Command::new("umount").arg("-l").arg(&place));
    }
    let _ = fs::remove_dir(&place);
    mounted
        .then_some(())
        .ok_or_else(|| "needs the right to mount a file system (root)".to_owned())
}

/// A file system that can be mounted in a namespace of its own, as testkit's `SmallDisk` does.
pub(crate) fn mount_namespace(how: &str) -> Outcome {
    program("unshare", how)?;
    program("nsenter", how)?;
    let mut command = Command::new("unshare");
    let mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/tmp"];
    command
        .args(["--user", "--map-root-user", "--mount"])
        .args(mount);
    output(&mut command)
        .map(drop)
        .ok_or_else(|| "needs user namespaces in which a file system can be mounted".to_owned())
}

/// An address of this machine besides loopback.
pub(crate) fn address() -> Outcome {
    let local = || {
        let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
        // Nothing is sent: this only chooses a route.
        socket.connect("192.0.2.1:9").ok()?;
        socket.local_addr().ok()
    };
    match local() {
        Some(address) if !address.ip().is_loopback() => Ok(()),
        _ => Err("needs a network address besides loopback".to_owned()),
    }
}

/// The standard output of a command that succeeds.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let done = command.stdin(Stdio::null()).output().ok()?;
    let text = || String::from_utf8_lossy(&done.stdout).into_owned();
    done.status.success().then(text)
}

fn variable(name: &str) -> Option<OsString> {
    println!("cargo::rerun-if-env-changed={name}");
    env::var_os(name)
}

/// A directory of test data can be large; that it is there is known by any of its files.
fn first_file(place: &Path) -> PathBuf {
    let mut place = place.to_owned();
    while place.is_dir() {
        let entry = fs::read_dir(&place).into_iter().flatten().flatten().next();
        match entry {
            Some(entry) => place = entry.path(),
            None => break,
        }
    }
    place
}

/// So that what is installed there later is noticed.
fn watch(directory: &Path) {
    let mut left = WATCHABLE;
    // pyenv and its like write their shims anew with each shell.
    let is_shims = directory.ends_with("shims");
    if directory.is_dir() && !is_shims && fits(directory, 0, &mut left) {
        println!("cargo::rerun-if-changed={}", directory.display());
    }
}

fn fits(directory: &Path, depth: usize, left: &mut usize) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries {
        let path = entry.path();
        // `/usr/bin/X11` is a link to `.`, and so is no end.
        let below = path.is_dir() && !path.is_symlink();
        *left = left.saturating_sub(1);
        if *left == 0 || (below && (depth > 20 || !fits(&path, depth + 1, left))) {
            return false;
        }
    }
    true
}
