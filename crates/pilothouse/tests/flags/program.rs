//! The program at work.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::client::Client;

pub(crate) fn pilothouse() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pilothouse"));
    // Whoever runs the tests has one of their own.
    command.env_remove("KUBECONFIG");
    command
}

/// Runs to its end; what it said, stdout first.
pub(crate) fn run<S: AsRef<OsStr>>(arguments: &[S]) -> (bool, String) {
    said(&pilothouse().args(arguments).output().unwrap())
}

pub(crate) fn said(output: &Output) -> (bool, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let all = text(&output.stdout) + &text(&output.stderr);
    (output.status.success(), all)
}

/// Asks until the answer is yes: the machine may be slow, but not for ever.
#[track_caller]
pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(90);
    while !done() {
        assert!(Instant::now() < deadline, "{what}: not in time");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A server that has said that it is up.
pub(crate) struct Program {
    child: Child,
    out: BufReader<ChildStdout>,
    /// What it said until it was up.
    pub(crate) start: String,
    place: TempDir,
}

impl Program {
    pub(crate) fn serve<S: AsRef<OsStr>>(arguments: &[S]) -> Self {
        Self::serve_in(tempfile::tempdir().unwrap(), arguments)
    }

    pub(crate) fn serve_in<S: AsRef<OsStr>>(place: TempDir, arguments: &[S]) -> Self {
        let log = File::create(place.path().join("stderr")).unwrap();
        let mut child = pilothouse()
            .args(["serve", "--secure-port", "0", "--data-dir"])
            .arg(place.path().join("data"))
            // However busy the machine is, collectors get what is for them, and a stop sends what is left.
            .args(["--export-flush-timeout", "10m"])
            .env("OTEL_EXPORTER_OTLP_TIMEOUT", "600000")
            .env("OTEL_BSP_EXPORT_TIMEOUT", "600000")
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut start = String::new();
        while !start.contains("stop it with Ctrl-C\n") {
            if out.read_line(&mut start).unwrap() == 0 {
                let log = std::fs::read_to_string(place.path().join("stderr")).unwrap();
                panic!("it did not start: {start}{log}");
            }
        }
        Self {
            child,
            out,
            start,
            place,
        }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.place.path().join("data")
    }

    /// A place for files of the test.
    pub(crate) fn place(&self) -> &Path {
        self.place.path()
    }

    pub(crate) fn kubeconfig(&self) -> String {
        std::fs::read_to_string(self.data().join("admin.kubeconfig")).unwrap()
    }

    /// With the admin's kubeconfig as it is now.
    pub(crate) fn admin(&self) -> Client {
        Client::new(&self.kubeconfig())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// How it ended, and what it said since it was up.
    pub(crate) fn ended(mut self) -> (ExitStatus, String, TempDir) {
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        let status = self.child.wait().unwrap();
        let log = std::fs::read_to_string(self.place.path().join("stderr")).unwrap();
        let place = std::mem::replace(&mut self.place, tempfile::tempdir().unwrap());
        (status, rest + &log, place)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Fails only if it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
