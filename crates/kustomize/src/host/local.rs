//! This machine: its programs, its environment, and stderr for warnings.

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use encoding::civil::DateTime;

use super::{Finished, Host, Program, http};
use crate::error::Error;

/// What a program prints beyond this is not read.
const MAX_OUTPUT: u64 = 1 << 30;

/// Runs programs; reaches the network through them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local;

impl Host for Local {
    fn warn(&self, line: &str) {
        eprintln!("{line}");
    }

    fn log(&self, line: &str) {
        eprintln!("{} {line}", now());
    }

    fn run(&self, program: &Program) -> Result<Finished, Error> {
        let mut command = Command::new(&program.path);
        command
            .args(&program.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if !program.directory.is_empty() {
            command.current_dir(&program.directory);
        }
        if program.clear_environment {
            command.env_clear();
        }
        command.envs(program.environment.iter().map(|(key, value)| (key, value)));
        let fail = |error: &std::io::Error| start_error(&program.path, error);
        let mut child = command.spawn().map_err(|error| fail(&error))?;
        let input = program.input.clone();
        let stdin = child.stdin.take();
        // A program need not read all of its input, so what cannot be written does not matter.
        let writer = std::thread::spawn(move || stdin.map(|mut it| it.write_all(&input)));
        let output = reader(child.stdout.take());
        let errors = reader(child.stderr.take());
        let limit = program.timeout.unwrap_or(Duration::from_secs(24 * 3600));
        let Ok(output) = output.recv_timeout(limit) else {
            _ = child.kill();
            _ = child.wait();
            return Err(Error::Timeout(format!("{}: took too long", program.path)));
        };
        let errors = errors.recv_timeout(limit).unwrap_or_default();
        let status = child.wait().map_err(|error| fail(&error))?;
        _ = writer.join();
        Ok(Finished {
            success: status.success(),
            status: show(status),
            output,
            errors,
        })
    }

    fn get(&self, url: &str) -> Result<Vec<u8>, Error> {
        http::get(self, url)
    }

    fn progress(&self, what: &str) {
        if std::io::stderr().is_terminal() {
            eprintln!("{what}");
        }
    }

    fn find(&self, program: &str) -> Option<String> {
        let path = std::env::var("PATH").ok()?;
        let mut places = path.split(':').map(|dir| format!("{dir}/{program}"));
        places.find(|it| std::path::Path::new(it).is_file())
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

/// As Go's `log` shows the time, in UTC.
fn now() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seconds = since.map_or(0, |it| i64::try_from(it.as_secs()).unwrap_or(i64::MAX));
    let it = DateTime::from_unix(seconds);
    format!(
        "{:04}/{:02}/{:02} {:02}:{:02}:{:02}",
        it.year, it.month, it.day, it.hour, it.minute, it.second
    )
}

fn reader(from: Option<impl std::io::Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        if let Some(from) = from {
            _ = from.take(MAX_OUTPUT).read_to_end(&mut all);
        }
        _ = sender.send(all);
    });
    receiver
}

fn start_error(path: &str, error: &std::io::Error) -> Error {
    let cause = match error.kind() {
        std::io::ErrorKind::NotFound if !path.contains('/') => {
            return Error::new(format!(
                "exec: {path:?}: executable file not found in $PATH"
            ));
        }
        std::io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    };
    Error::new(format!("fork/exec {path}: {cause}"))
}

/// As Go shows it.
fn show(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit status {code}"),
        None => "signal: killed".into(),
    }
}
