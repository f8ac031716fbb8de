//! The real kubectl, pointed at a server under test.

use std::env;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::Server;

/// What kubectl said.
#[derive(Debug)]
pub struct Answer {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
    asked: String,
}

impl Answer {
    /// The output of a command that must have worked.
    #[track_caller]
    pub fn ok(self) -> String {
        let Self {
            stdout,
            stderr,
            code,
            asked,
        } = self;
        assert!(code == 0, "kubectl {asked}: code {code}\n{stdout}{stderr}");
        stdout
    }

    /// What a command that must have failed said about it.
    #[track_caller]
    pub fn err(self) -> String {
        let Self {
            stdout,
            stderr,
            code,
            asked,
        } = self;
        assert!(code != 0, "kubectl {asked} worked: {stdout}{stderr}");
        stderr
    }
}

/// kubectl at work; ends with the test.
#[derive(Debug)]
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Fails only if it has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn find() -> Option<PathBuf> {
    if let Some(named) = env::var_os("KUBECTL") {
        return Some(named.into());
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|directory| directory.join("kubectl"))
        .find(|file| file.is_file())
}

impl Server {
    /// Runs kubectl to its end.
    #[track_caller]
    pub fn kubectl(&self, arguments: &[&str]) -> Answer {
        self.kubectl_with(arguments, "")
    }

    /// With `input` as its standard input, for `-f -`.
    #[track_caller]
    pub fn kubectl_with(&self, arguments: &[&str], input: &str) -> Answer {
        let mut child = self
            .kubectl_command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("run kubectl");
        let mut stdin = child.stdin.take().expect("stdin is a pipe");
        let input = input.to_owned();
        // Beside the reading: kubectl may answer before it has read everything. It may also end without reading.
        let writing = thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
        let output = child.wait_with_output().expect("wait for kubectl");
        let _ = writing.join();
        Answer {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code().unwrap_or(-1),
            asked: arguments.join(" "),
        }
    }

    /// The output of a command that works.
    #[track_caller]
    pub fn ok(&self, arguments: &str) -> String {
        self.kubectl(&words(arguments)).ok()
    }

    /// What a command that fails says.
    #[track_caller]
    pub fn err(&self, arguments: &str) -> String {
        self.kubectl(&words(arguments)).err()
    }

    /// Applies a manifest.
    #[track_caller]
    pub fn apply(&self, manifest: &str) -> String {
        self.kubectl_with(&["apply", "-f", "-"], manifest).ok()
    }

    /// Leaves kubectl running, its output in pipes.
    #[track_caller]
    pub fn kubectl_running(&self, arguments: &[&str]) -> Running {
        let child = self
            .kubectl_command(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("run kubectl");
        Running(child)
    }

    /// kubectl with nothing of this machine's user in it.
    pub fn kubectl_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(find().unwrap_or_else(|| "kubectl".into()));
        command
            .args(arguments)
            .env("KUBECONFIG", self.kubeconfig())
            .env("HOME", self.directory())
            .env("KUBECACHEDIR", self.directory().join("cache"))
            .env("KUBERC", "off");
        command
    }

    /// Asks again until the answer pleases: for what controllers do in their own time. Panics after 20 seconds.
    #[track_caller]
    pub fn until(&self, arguments: &str, pleases: impl Fn(&Answer) -> bool) -> Answer {
        for _ in 0..100 {
            let answer = self.kubectl(&words(arguments));
            if pleases(&answer) {
                return answer;
            }
            thread::sleep(Duration::from_millis(200));
        }
        panic!("kubectl {arguments}: {:?}", self.kubectl(&words(arguments)));
    }
}

/// Splits at spaces, except within single quotes.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let end = if let Some(quoted) = rest.strip_prefix('\'') {
            let end = quoted.find('\'').expect("a quote that ends");
            words.push(&quoted[..end]);
            end + 2
        } else {
            let end = rest.find(' ').unwrap_or(rest.len());
            words.push(&rest[..end]);
            end
        };
        rest = rest[end..].trim_start();
    }
    words
}
