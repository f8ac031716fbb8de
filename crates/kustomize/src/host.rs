//! What lies outside of the file system: other programs, the network, and someone who reads warnings.

mod local;

pub use local::Local;

use std::time::Duration;

use crate::error::{Error, Result};
use crate::git::RepoSpec;

/// A program to run.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub path: String,
    pub arguments: Vec<String>,
    pub directory: String,
    pub input: Vec<u8>,
    /// Set for this program, beside those it inherits.
    pub environment: Vec<(String, String)>,
    /// Whether it sees none of the variables of this process.
    pub clear_environment: bool,
    pub timeout: Option<Duration>,
}

#[derive(Clone, Debug, Default)]
pub struct Finished {
    pub success: bool,
    /// As `exit status 1`.
    pub status: String,
    pub output: Vec<u8>,
    pub errors: Vec<u8>,
}

/// Refuses everything unless it is told otherwise.
pub trait Host {
    /// One line, without its end.
    fn warn(&self, line: &str) {
        _ = line;
    }

    /// One line of a log, which shows the time.
    fn log(&self, line: &str) {
        self.warn(line);
    }

    fn run(&self, program: &Program) -> std::result::Result<Finished, Error> {
        Err(Error::new(format!(
            "{}: running programs is not allowed here",
            program.path
        )))
    }

    /// The content behind an address.
    fn get(&self, url: &str) -> std::result::Result<Vec<u8>, Error> {
        Err(Error::new(format!(
            "{url}: the network is not allowed here"
        )))
    }

    /// Where a program is.
    fn find(&self, program: &str) -> Option<String> {
        _ = program;
        None
    }

    fn variable(&self, name: &str) -> Option<String> {
        _ = name;
        None
    }
}

/// For trees in memory: nothing but files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Host for Alone {}

impl dyn Host + '_ {
    /// Brings a repository into an empty directory, with the user's `git`.
    pub(crate) fn checkout(&self, spec: &RepoSpec, dir: &str) -> Result<()> {
        let address = spec.clone_spec();
        let reference = match spec.reference.as_str() {
            "" => "HEAD",
            reference => reference,
        };
        let mut steps: Vec<Vec<&str>> = vec![
            vec!["init"],
            vec!["remote", "add", "origin", &address],
            vec!["fetch", "--depth=1", &address, reference],
            vec!["checkout", "FETCH_HEAD"],
        ];
        if spec.submodules {
            steps.push(vec!["submodule", "update", "--init", "--recursive"]);
        }
        let Some(git) = self.find("git") else {
            return Err(Error::new(
                "no 'git' program on path: exec: \"git\": executable file not found in $PATH",
            ));
        };
        for step in steps {
            let program = Program {
                path: git.clone(),
                arguments: step.iter().map(|it| (*it).to_owned()).collect(),
                directory: dir.to_owned(),
                timeout: Some(spec.timeout),
                ..Program::default()
            };
            let line = format!("{git} {}", step.join(" "));
            let done = self.run(&program).map_err(|error| match error {
                Error::Timeout(_) => Error::Timeout(format!(
                    "hit {}s timeout running '{line}'",
                    spec.timeout.as_secs_f64()
                )),
                error => error,
            })?;
            if !done.success {
                let mut text = done.output;
                text.extend(done.errors);
                return Err(Error::new(format!(
                    "failed to run '{line}': {}: {}",
                    String::from_utf8_lossy(&text),
                    done.status
                )));
            }
        }
        Ok(())
    }
}
