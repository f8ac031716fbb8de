//! Where the copies of remote files and roots go.

use encoding::percent;

use super::DIRECTORY;
use crate::error::Result;
use crate::git::RepoSpec;
use crate::paths;

/// By host and path: users and ports do not count.
pub(super) fn of_file(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let rest = &rest[..end];
    let slash = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(slash);
    let path = paths::clean(&format!("/{}", escaped(path)));
    paths::join(&paths::join(DIRECTORY, host_name(authority)), &path)
}

/// By host, repository, reference, and directory in the checkout.
pub(super) fn of_root(url: &str, repository: &str, root: &str) -> Result<String> {
    let spec = RepoSpec::parse(url)?;
    let (scheme, rest) = spec.host().split_once("://").unwrap_or((spec.host(), ""));
    let host = match scheme {
        "gh:" => "gh",
        "file" => "file-schemed",
        "https" | "http" | "ssh" => host_name(rest.trim_end_matches(['/', ':'])),
        scp_like => host_name(scp_like.trim_end_matches([':', '/'])),
    };
    let path = spec.repo_path().strip_suffix(".git");
    let path = paths::clean(&format!("/{}", path.unwrap_or(spec.repo_path())));
    let mut all = paths::join(DIRECTORY, host);
    let inside = paths::relative(repository, root);
    for part in [path.as_str(), &spec.reference, &inside] {
        all = paths::join(&all, part);
    }
    Ok(all)
}

/// Without user and port.
fn host_name(authority: &str) -> &str {
    let host = authority.rsplit_once('@').map_or(authority, |(_, it)| it);
    if let Some(inner) = host.strip_prefix('[') {
        return inner.split(']').next().unwrap_or(inner);
    }
    host.split(':').next().unwrap_or(host)
}

/// As Go's `EscapedPath`: as it was, unless it has characters that a path cannot have.
fn escaped(path: &str) -> String {
    let is_fine = |it: u8| it.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@[]/%".contains(&it);
    if path.bytes().all(is_fine) {
        return path.to_owned();
    }
    percent::encode(path.as_bytes(), |it| percent::is_path(it) || it == b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_kept_by_host_and_path() {
        let table = [
            (
                "https://example.com/a/b.yaml",
                "localized-files/example.com/a/b.yaml",
            ),
            (
                "http://me:secret@example.com:8080/a/../../b.yaml?x=1#y",
                "localized-files/example.com/b.yaml",
            ),
            (
                "https://[::1]:80/a%20b/c d.yaml",
                "localized-files/::1/a%20b/c%20d.yaml",
            ),
        ];
        for (url, wanted) in table {
            assert_eq!(of_file(url), wanted);
        }
    }

    #[test]
    fn roots_are_kept_by_host_repository_and_reference() {
        let table = [
            (
                "https://github.com/org/repo//base?ref=v1",
                "localized-files/github.com/org/repo/v1/base",
            ),
            (
                "git@github.com:org/repo.git//base?ref=a/b",
                "localized-files/github.com/org/repo/a/b/base",
            ),
            (
                "ssh://git@host.example:22/org/repo.git//base?ref=v1",
                "localized-files/host.example/org/repo/v1/base",
            ),
            (
                "file:///srv/repo.git//base?ref=v1",
                "localized-files/file-schemed/srv/repo/v1/base",
            ),
        ];
        for (url, wanted) in table {
            assert_eq!(of_root(url, "/tmp/x", "/tmp/x/base").as_deref(), Ok(wanted));
        }
    }
}
