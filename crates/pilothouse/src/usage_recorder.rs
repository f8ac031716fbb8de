//! What a build uses is counted, if its user has nothing against it: between `kustomize`, which counts, and `usage`,
//! which knows what to do with it.

use std::fs::File;
use std::io::{IsTerminal as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};

use kustomize::{Error, Output, UsageCounts};
use usage::{Build, Invocation, Outcome};

pub(crate) struct UsageRecorder {
    begun: Instant,
    pub(crate) usage_counts: UsageCounts,
    resources: Option<usize>,
    outcome: Outcome,
}

impl UsageRecorder {
    pub(crate) fn begin() -> Self {
        Self {
            begun: Instant::now(),
            usage_counts: UsageCounts::default(),
            resources: None,
            outcome: Outcome::Failure,
        }
    }

    pub(crate) fn built(&mut self, result: &Result<Output, Error>) {
        (self.resources, self.outcome) = match result {
            Ok(output) => (Some(output.len()), Outcome::Success),
            Err(Error::Http(_)) => (None, Outcome::Http),
            Err(Error::Timeout(_)) => (None, Outcome::Timeout),
            Err(_) => (None, Outcome::Failure),
        };
    }

    /// Called after the last byte of the result was written, so that its reader does not wait for this.
    pub(crate) fn finish(self, success: bool) {
        end_of_result();
        let outcome = match self.outcome {
            Outcome::Success if !success => Outcome::Output,
            outcome => outcome,
        };
        let counts = self.usage_counts.counts();
        let build = Build {
            fields: counts.fields,
            plugins: counts.plugins,
            duration: self.begun.elapsed(),
            resources: self.resources,
            outcome,
        };
        usage::record(&build, &here(), &mut std::io::stderr(), start_sending);
    }
}

/// Closes stdout: a reader of the result sees its end now, and not at the end of the process.
fn end_of_result() {
    _ = std::io::stdout().flush();
    if let Ok(nothing) = File::options().write(true).open("/dev/null") {
        _ = rustix::stdio::dup2_stdout(nothing);
    }
}

/// This process, as `usage` sees it.
pub(crate) fn here() -> Invocation<'static> {
    Invocation {
        variable: &|name| std::env::var(name).ok(),
        interactive: std::io::stderr().is_terminal(),
        now: SystemTime::now(),
        program: called_as(),
    }
}

/// As the user typed it.
fn called_as() -> &'static str {
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let is_kustomize = Path::new(&name)
        .file_stem()
        .is_some_and(|it| it == "kustomize");
    match words.next() {
        _ if is_kustomize => "kustomize",
        Some(word) if word == "kustomize" => "pilothouse kustomize",
        _ => "pilothouse",
    }
}

/// Another process sends, so that the build does not wait for the network. It outlives this one and a Ctrl-C for this one, and
/// stays for a while: the next builds need not start another.
fn start_sending() {
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    _ = Command::new(program)
        // Whatever the program's file is called, as `kustomize` it would not know the command.
        .arg0("pilothouse")
        .args(["usage", "send", "--attend"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
}
