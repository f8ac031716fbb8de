use super::{dns1123_label, dns1123_subdomain, pattern, qualified_name};
use crate::field::{Error, Path};

/// A domain of at least three parts, such as a signer's.
pub fn fully_qualified_name(path: &Path, name: &str) -> Vec<Error> {
    if name.is_empty() {
        return vec![Error::required(path, "")];
    }
    let errors = dns1123_subdomain(name);
    if !errors.is_empty() {
        return vec![Error::invalid(path, name, errors.join(","))];
    }
    if name.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        return vec![Error::invalid(path, name, detail)];
    }
    Vec::new()
}

/// A domain name of DNS labels, with an optional dot at its end.
pub fn fully_qualified_domain_name(path: &Path, name: &str) -> Vec<Error> {
    if name.is_empty() {
        return vec![Error::required(path, "")];
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let errors = dns1123_subdomain(name);
    if !errors.is_empty() {
        return vec![Error::invalid(path, name, errors.join(","))];
    }
    if !name.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        return vec![Error::invalid(path, name, detail)];
    }
    for label in name.split('.') {
        let errors = dns1123_label(label);
        if !errors.is_empty() {
            return vec![Error::invalid(path, label, errors.join(","))];
        }
    }
    Vec::new()
}

/// `acme.io/foo/bar`, as a controller name.
pub fn domain_prefixed_path(path: &Path, value: &str) -> Vec<Error> {
    if value.is_empty() {
        return vec![Error::required(path, "")];
    }
    let (host, rest) = value.split_once('/').unwrap_or_default();
    if host.is_empty() || rest.is_empty() {
        let detail = r#"must be a domain-prefixed path (such as "acme.io/foo")"#;
        return vec![Error::invalid(path, value, detail)];
    }
    let wrong = dns1123_subdomain(host).into_iter();
    let mut errors: Vec<Error> = wrong.map(|it| Error::invalid(path, host, it)).collect();
    let allowed = |it: char| it.is_ascii_alphanumeric() || "/-._~%!$&'()*+,;=:".contains(it);
    if !rest.chars().all(allowed) {
        let detail = pattern("Invalid path", r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+", &[]);
        errors.push(Error::invalid(path, rest, detail));
    }
    errors
}

/// `acme.io/foo`, as a node taint's or a deletion reason's key.
pub fn domain_prefixed_key(path: &Path, key: &str) -> Vec<Error> {
    if key.is_empty() {
        return vec![Error::required(path, "")];
    }
    let mut errors = qualified_name(key);
    if errors.is_empty() && !key.contains('/') {
        errors.push(r#"must be a domain-prefixed key (such as "acme.io/foo")"#.into());
    }
    errors
        .into_iter()
        .map(|it| Error::invalid(path, key, it))
        .collect()
}
