//! A host that keeps what it fetches, and can do without the network.
//!
//! Repositories are kept by commit, files with the tag that their server gave them; the server is asked whether they are
//! still the newest, unless a commit was asked for or the network is not to be used.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use encoding::hex;

use super::{Finished, Host, Program, Repository, http};
use crate::error::Error;

/// Everything else is left to another host.
#[derive(Debug)]
pub struct Cached<H> {
    host: H,
    dir: PathBuf,
    offline: bool,
}

impl<H: Host> Cached<H> {
    /// `offline`: what is not in the directory is an error.
    pub fn new(host: H, dir: impl Into<PathBuf>, offline: bool) -> Self {
        Self {
            host,
            dir: dir.into(),
            offline,
        }
    }

    fn place(&self, kind: &str, key: &str) -> PathBuf {
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, key.as_bytes());
        self.dir
            .join(kind)
            .join(hex::encode(&digest.as_ref()[..16]))
    }

    fn missing(&self, what: &str) -> Error {
        Error::new(format!(
            "{what} is not in the cache {}, and the network is not to be used",
            self.dir.display()
        ))
    }

    /// The commit that a reference is now, if it is one of the names that the server knows.
    fn newest(&self, repository: &Repository) -> Result<Vec<String>, Error> {
        let reference = match repository.reference.as_str() {
            "" => "HEAD",
            reference => reference,
        };
        let host: &dyn Host = &self.host;
        make(&self.dir)?;
        let here = self.dir.to_string_lossy();
        let words = ["ls-remote", "--", &repository.address, reference];
        let said = host.git(repository, &here, &words)?;
        let lines = String::from_utf8_lossy(&said).into_owned();
        let commits = lines.lines().filter_map(|it| it.split('\t').next());
        Ok(commits.map(str::to_owned).collect())
    }

    fn check_out(&self, repository: &Repository, place: &Path) -> Result<PathBuf, Error> {
        let new = fresh_name(place);
        make(&new)?;
        let host: &dyn Host = &self.host;
        let done = host
            .checkout(repository, &new.to_string_lossy())
            .and_then(|()| {
                let words = ["rev-parse", "HEAD"];
                host.git(repository, &new.to_string_lossy(), &words)
            });
        let commit = match done {
            Ok(said) => String::from_utf8_lossy(&said).trim().to_owned(),
            Err(error) => {
                _ = fs::remove_dir_all(&new);
                return Err(error);
            }
        };
        let kept = place.join(&commit);
        make(place)?;
        if fs::rename(&new, &kept).is_err() {
            // Someone else was faster.
            _ = fs::remove_dir_all(&new);
        }
        write(&place.join("commit"), commit.as_bytes())?;
        Ok(kept)
    }
}

impl<H: Host> Host for Cached<H> {
    fn kept_checkout(&self, repository: &Repository) -> Result<Option<String>, Error> {
        let key = format!(
            "{}\n{}\n{}",
            repository.address, repository.reference, repository.submodules
        );
        let place = self.place("git", &key);
        let commit = fs::read_to_string(place.join("commit")).unwrap_or_default();
        let known = Some(place.join(&commit)).filter(|it| !commit.is_empty() && it.is_dir());
        let kept = match known {
            None if self.offline => return Err(self.missing(&repository.address)),
            Some(known)
                if self.offline
                    || is_commit(&repository.reference)
                    || self.newest(repository)?.contains(&commit) =>
            {
                known
            }
            _ => self.check_out(repository, &place)?,
        };
        let real = fs::canonicalize(&kept).map_err(|error| fail(&kept, &error))?;
        Ok(Some(real.to_string_lossy().into_owned()))
    }

    fn get(&self, url: &str) -> Result<Vec<u8>, Error> {
        let place = self.place("http", url);
        let (body, tag) = (place.join("body"), place.join("etag"));
        if self.offline {
            return fs::read(&body).map_err(|_| self.missing(url));
        }
        make(&place)?;
        let new_tag = fresh_name(&tag);
        let (tag_path, new_path) = (tag.to_string_lossy(), new_tag.to_string_lossy());
        let mut words = vec!["--etag-save", &new_path];
        if tag.exists() && body.exists() {
            words.extend(["--etag-compare", &tag_path]);
        }
        let fetched = http::fetch(&self.host, url, &words);
        let outcome = fetched.and_then(|(code, content)| {
            if code == "304" {
                return fs::read(&body).map_err(|error| fail(&body, &error));
            }
            let content = http::accept(&code, content)?;
            _ = fs::remove_file(&tag);
            write(&body, &content)?;
            // Without a tag it is fetched again the next time.
            if fs::metadata(&new_tag).is_ok_and(|it| it.len() > 0) {
                _ = fs::rename(&new_tag, &tag);
            }
            Ok(content)
        });
        _ = fs::remove_file(&new_tag);
        outcome
    }

    fn warn(&self, line: &str) {
        self.host.warn(line);
    }

    fn log(&self, line: &str) {
        self.host.log(line);
    }

    fn progress(&self, what: &str) {
        if !self.offline {
            self.host.progress(what);
        }
    }

    fn run(&self, program: &Program) -> Result<Finished, Error> {
        self.host.run(program)
    }

    fn find(&self, program: &str) -> Option<String> {
        self.host.find(program)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.host.variable(name)
    }
}

/// Never another one: a whole hash.
fn is_commit(reference: &str) -> bool {
    matches!(reference.len(), 40 | 64) && reference.bytes().all(|it| it.is_ascii_hexdigit())
}

/// Beside a path, and of this process alone.
fn fresh_name(path: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".new-{}-{count}", std::process::id()))
}

fn make(dir: &Path) -> Result<(), Error> {
    fs::create_dir_all(dir).map_err(|error| fail(dir, &error))
}

/// Readers see the old content or the new one.
fn write(path: &Path, content: &[u8]) -> Result<(), Error> {
    let new = fresh_name(path);
    fs::write(&new, content).map_err(|error| fail(&new, &error))?;
    fs::rename(&new, path).map_err(|error| fail(path, &error))
}

fn fail(path: &Path, error: &std::io::Error) -> Error {
    Error::new(format!("cache {}: {error}", path.display()))
}
