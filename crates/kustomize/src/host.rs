//! What lies outside of the file system: other programs, the network, and someone who reads warnings.

mod cached;
mod http;
mod local;

pub use cached::Cached;
pub use local::Local;

use std::time::Duration;

use crate::error::{Error, Result};

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

/// What a kustomization means by the address of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    pub address: String,
    /// A branch, a tag or a commit; the default branch if it is empty.
    pub reference: String,
    pub submodules: bool,
    /// For each call of `git`.
    pub timeout: Duration,
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

    /// Something that takes its time begins.
    fn progress(&self, what: &str) {
        _ = what;
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

    /// A directory with a checkout that stays, if there is one to use in place of a new one.
    fn kept_checkout(&self, repository: &Repository) -> std::result::Result<Option<String>, Error> {
        _ = repository;
        Ok(None)
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
    pub(crate) fn checkout(&self, repository: &Repository, dir: &str) -> Result<()> {
        let address = &repository.address;
        let reference = match repository.reference.as_str() {
            "" => "HEAD",
            // It would be an option, and some of those run programs.
            reference if reference.starts_with('-') => {
                return Err(Error::new(format!(
                    "'{reference}' is no branch, tag or commit of {address}"
                )));
            }
            reference => reference,
        };
        self.git(repository, dir, &["init"])?;
        self.git(repository, dir, &["remote", "add", "origin", address])?;
        self.git(repository, dir, &["fetch", "--depth=1", address, reference])?;
        self.git(repository, dir, &["checkout", "FETCH_HEAD"])?;
        if repository.submodules {
            let update = ["submodule", "update", "--init", "--recursive"];
            self.git(repository, dir, &update)?;
        }
        Ok(())
    }

    /// What `git` says in a directory.
    fn git(&self, repository: &Repository, dir: &str, step: &[&str]) -> Result<Vec<u8>> {
        let Some(git) = self.find("git") else {
            return Err(Error::new(
                "no 'git' program on path: exec: \"git\": executable file not found in $PATH",
            ));
        };
        let timeout = repository.timeout;
        let program = Program {
            path: git.clone(),
            arguments: step.iter().map(|it| (*it).to_owned()).collect(),
            directory: dir.to_owned(),
            timeout: Some(timeout),
            ..Program::default()
        };
        let line = format!("{git} {}", step.join(" "));
        let done = self.run(&program).map_err(|error| match error {
            Error::Timeout(_) => Error::Timeout(format!(
                "hit {} timeout running '{line}'",
                meta::time::go_duration_string(timeout)
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
        Ok(done.output)
    }
}
