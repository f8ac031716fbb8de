//! Addresses of repositories, as kustomize reads them.

use std::time::Duration;

use encoding::go::parse_bool;
use encoding::{duration, percent};

use crate::error::{Error, Result};
use crate::host::{Host, Repository};
use crate::paths;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(27);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepoSpec {
    pub(crate) raw: String,
    host: String,
    repo_path: String,
    /// The directory inside of the repository.
    pub(crate) root_path: String,
    pub(crate) reference: String,
    pub(crate) submodules: bool,
    pub(crate) timeout: Duration,
}

impl RepoSpec {
    pub(crate) fn parse(url: &str) -> Result<Self> {
        if url.starts_with('/') {
            return Err(Error::new(format!("uri looks like abs path: {url}")));
        }
        let (address, query) = url.split_once('?').unwrap_or((url, ""));
        let (host, path) = split_host(address)?;
        let (repo_path, root_path) = split_repo(&path, host.starts_with("file://"))?;
        let mut spec = Self {
            raw: url.to_owned(),
            host,
            repo_path,
            root_path,
            reference: String::new(),
            submodules: true,
            timeout: DEFAULT_TIMEOUT,
        };
        spec.read_query(query);
        Ok(spec)
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn repo_path(&self) -> &str {
        &self.repo_path
    }

    pub(crate) fn repository(&self) -> Repository {
        Repository {
            address: self.clone_spec(),
            reference: self.reference.clone(),
            submodules: self.submodules,
            timeout: self.timeout,
        }
    }

    pub(crate) fn clone_spec(&self) -> String {
        format!("{}{}", self.host, self.repo_path)
    }

    fn read_query(&mut self, query: &str) {
        let pairs: Vec<(String, String)> = query
            .split('&')
            .filter_map(|pair| {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                Some((unescape(key)?, unescape(value)?))
            })
            .collect();
        let get = |key: &str| {
            let found = pairs.iter().find(|(it, _)| it == key);
            found.map_or("", |(_, value)| value.as_str())
        };
        let reference = get("ref");
        let reference = if reference.is_empty() {
            get("version")
        } else {
            reference
        };
        reference.clone_into(&mut self.reference);
        if let Some(timeout) = read_duration(get("timeout")) {
            self.timeout = timeout;
        }
        if parse_bool(get("submodules")) == Ok(false) {
            self.submodules = false;
        }
    }
}

/// Seconds, or Go's `1m30s`.
fn read_duration(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<u64>() {
        return (seconds > 0).then(|| Duration::from_secs(seconds));
    }
    let duration = duration::parse(text).ok()?;
    u64::try_from(duration)
        .ok()
        .filter(|nanos| *nanos > 0)
        .map(Duration::from_nanos)
}

/// As Go's `url.QueryUnescape`.
fn unescape(text: &str) -> Option<String> {
    let text = text.replace('+', " ");
    let decoded = percent::decode(text.as_bytes()).ok()?;
    String::from_utf8(decoded.into_owned()).ok()
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    start
        .eq_ignore_ascii_case(prefix)
        .then(|| &text[prefix.len()..])
}

/// Said each time that an address with this prefix is used.
pub(crate) fn warn_of_prefix(address: &str, host: &dyn Host) {
    if strip_prefix_ignoring_case(address, "git::").is_some() {
        host.log(
            "Warning: Forcing the git protocol using the 'git::' URL prefix is not supported. Kustomize currently strips this invalid prefix, but will stop doing so in a future release. Please remove the 'git::' prefix from your configuration.",
        );
    }
}

fn split_host(address: &str) -> Result<(String, String)> {
    let address = strip_prefix_ignoring_case(address, "git::").unwrap_or(address);
    let schemes = ["ssh://", "https://", "http://", "file://"];
    let found = schemes
        .iter()
        .find_map(|it| Some((*it, strip_prefix_ignoring_case(address, it)?)));
    let (scheme, rest) = found.unwrap_or(("", address));
    let (user, rest) = split_user(rest);
    let lower = rest.to_ascii_lowercase();
    let github = lower.starts_with("github.com/") || lower.starts_with("github.com:");
    let scp = scheme.is_empty() && (!user.is_empty() || github);
    if scheme.is_empty() && !scp {
        return Err(Error::new("failed to parse scheme"));
    }
    if scheme == "file://" {
        return Ok((scheme.into(), format!("{user}{rest}")));
    }
    let mut separator = rest.find('/');
    if scp {
        let colon = rest.find(':');
        let earlier = match (separator, colon) {
            (None, _) => true,
            (Some(slash), Some(colon)) => colon > 0 && colon < slash,
            (Some(_), None) => false,
        };
        if earlier {
            separator = colon;
        }
    }
    let (host, path) = match separator {
        Some(at) => rest.split_at(at + 1),
        None => (rest, ""),
    };
    if github {
        let host = if scheme == "ssh://" || !user.is_empty() {
            format!("{user}github.com:")
        } else {
            "https://github.com/".into()
        };
        return Ok((host, path.into()));
    }
    if host.is_empty() {
        return Err(Error::new("failed to parse host segment"));
    }
    Ok((format!("{scheme}{user}{host}"), path.into()))
}

fn split_user(text: &str) -> (&str, &str) {
    let Some(at) = text.find('@') else {
        return ("", text);
    };
    let user = &text[..at];
    let fits = user.starts_with(|it: char| it.is_ascii_alphabetic())
        && user
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || it == b'-');
    if fits {
        text.split_at(at + 1)
    } else {
        ("", text)
    }
}

/// The repository, and the directory in it.
fn split_repo(path: &str, all: bool) -> Result<(String, String)> {
    const MARK: &str = "_git/";
    let (repo, root) = if let Some(at) = path.find(MARK) {
        let (before, after) = path.split_at(at + MARK.len());
        let (name, root) = after.split_once('/').unwrap_or((after, ""));
        (format!("{before}{name}"), root.to_owned())
    } else if let Some((repo, root)) = path.split_once("//") {
        (repo.to_owned(), root.to_owned())
    } else if let Some(at) = path.find(".git") {
        let (repo, root) = path.split_at(at + 4);
        (repo.to_owned(), root.to_owned())
    } else if all {
        (path.to_owned(), String::new())
    } else {
        let mut slashes = path.match_indices('/').map(|(at, _)| at);
        let Some(_) = slashes.next() else {
            return Err(Error::new("failed to parse repo path segment"));
        };
        match slashes.next() {
            Some(at) => (path[..at].to_owned(), path[at + 1..].to_owned()),
            None => (path.to_owned(), String::new()),
        }
    };
    if repo.is_empty() {
        return Err(Error::new("failed to parse repo path segment"));
    }
    let inner = root.strip_prefix('/').unwrap_or(&root);
    if paths::clean(inner).split('/').next() == Some("..") {
        return Err(Error::new(format!("url path exits repo: {path}")));
    }
    Ok((repo, inner.to_owned()))
}
