//! Addresses of files on servers, as Go's `net/url` reads and writes them.

use std::borrow::Cow;

use encoding::percent;

/// What is asked for, and where.
#[derive(Debug)]
pub(crate) struct Url {
    /// With the host as it was written, and a path that a request can have.
    pub(crate) text: String,
    /// Empty for an address without two slashes.
    pub(crate) host: String,
    pub(crate) port: String,
}

/// Whether it is fetched from a server; anything else is the path of a file.
pub(crate) fn is_remote_file(path: &str) -> bool {
    let (address, fragment) = path.split_once('#').unwrap_or((path, ""));
    parse(address).is_some() && unescape(fragment).is_some()
}

/// Without regard to fragments: those are part of a path.
pub(crate) fn parse(address: &str) -> Option<Url> {
    if address.bytes().any(|it| it.is_ascii_control()) {
        return None;
    }
    let (scheme, rest) = address.split_once(':')?;
    let scheme = scheme.to_ascii_lowercase();
    if scheme != "http" && scheme != "https" {
        return None;
    }
    let (rest, query) = match rest.find('?') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let Some(after) = rest.strip_prefix("//") else {
        let path = if rest.starts_with('/') {
            escaped_path(rest)?
        } else {
            rest.to_owned()
        };
        return Some(Url {
            text: format!("{scheme}:{path}{query}"),
            host: String::new(),
            port: String::new(),
        });
    };
    let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
    let (host, port) = host_and_port(authority)?;
    let path = escaped_path(path)?;
    let slashes = if authority.is_empty() && path.is_empty() {
        ""
    } else {
        "//"
    };
    Some(Url {
        text: format!("{scheme}:{slashes}{authority}{path}{query}"),
        host: host.to_owned(),
        port: port.to_owned(),
    })
}

fn host_and_port(authority: &str) -> Option<(&str, &str)> {
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let is_of_user = |it: u8| it.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&it);
    if !user.bytes().all(is_of_user) || unescape(user).is_none() {
        return None;
    }
    let colon = if host.starts_with('[') {
        let end = host.rfind(']')? + 1;
        (end < host.len()).then_some(end)
    } else {
        host.rfind(':')
    };
    let (name, port) = host.split_at(colon.unwrap_or(host.len()));
    let is_port = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|it| it.bytes().all(|digit| digit.is_ascii_digit()));
    let is_of_host =
        |it: u8| !it.is_ascii() || percent::is_path(it) || b"!'()*[]<>\"".contains(&it);
    let fits = is_port && name.bytes().all(is_of_host) && !name.contains(['/', '@']);
    fits.then(|| (name, port.trim_start_matches(':')))
}

/// As it was, unless it has characters that a path cannot have.
fn escaped_path(path: &str) -> Option<String> {
    let raw = unescape(path)?;
    if path
        .bytes()
        .all(|it| percent::is_path(it) || b"!'()*[]%".contains(&it))
    {
        return Some(path.to_owned());
    }
    Some(percent::encode(&raw, percent::is_path))
}

fn unescape(text: &str) -> Option<Cow<'_, [u8]>> {
    percent::decode(text.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(address: &str) -> String {
        parse(address).map_or_else(|| "none".into(), |it| it.text)
    }

    #[test]
    fn an_address_is_asked_for_as_go_writes_it() {
        assert_eq!(
            asked("HTTP://a:1/x y.yaml?b=c"),
            "http://a:1/x%20y.yaml?b=c"
        );
        assert_eq!(asked("http://a/x.yaml#y"), "http://a/x.yaml%23y");
        assert_eq!(asked("http://a/%7e [x]"), "http://a/~%20%5Bx%5D");
        assert_eq!(asked("http://a/%7e[x]"), "http://a/%7e[x]");
        assert_eq!(asked("http://"), "http:");
        assert_eq!(asked("http:///x"), "http:///x");
        assert_eq!(asked("http:/a/x"), "http:/a/x");
        assert_eq!(asked("http:a/x"), "http:a/x");
    }

    #[test]
    fn what_is_no_address_is_a_path() {
        for path in [
            "a.yaml",
            "ftp://a/x",
            "http://a:b/x",
            "http://a b/x",
            "http://a/%zz",
            "http://a/x#%z",
            "http://[::1/x",
            "http://a/\n",
        ] {
            assert!(!is_remote_file(path), "{path}");
        }
        for path in ["http://[::1]:1/x", "https://u:p@a", "http:x", "http://a#b"] {
            assert!(is_remote_file(path), "{path}");
        }
    }
}
