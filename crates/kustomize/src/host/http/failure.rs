//! What `curl` could not do, in the words of Go's client.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use super::super::Finished;
use crate::error::Error;

/// Only asks once more why there is no connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// `last` was asked, and would have led to `next`.
pub(super) fn of(done: &Finished, last: &str, next: &str) -> Error {
    let said = String::from_utf8_lossy(&done.errors);
    let said = said.trim();
    let code = done.status.trim_start_matches("exit status ");
    let (url, why) = match code {
        "1" => (last, unsupported(said)),
        "5" => (
            last,
            no_such_host(said, "Could not resolve proxy: ").map(|why| by_proxy(&why)),
        ),
        "6" => (last, no_such_host(said, "Could not resolve host: ")),
        "7" => (last, no_connection(said, last)),
        "18" => return Error::new("unexpected EOF"),
        "47" => (next, Some("stopped after 10 redirects".to_owned())),
        "52" => (last, Some("EOF".to_owned())),
        "60" => (last, unknown_authority(said)),
        _ => (last, None),
    };
    let why = why.as_deref().unwrap_or(said);
    Error::new(format!("Get {:?}: {why}", without_password(url)))
}

fn unsupported(said: &str) -> Option<String> {
    let (_, rest) = said.split_once("Protocol \"")?;
    let (scheme, _) = rest.split_once('"')?;
    Some(format!("unsupported protocol scheme {scheme:?}"))
}

/// What happened on the way to a proxy, in Go's words.
fn by_proxy(why: &str) -> String {
    format!("proxyconnect tcp: {why}")
}

fn no_such_host(said: &str, told: &str) -> Option<String> {
    let (_, host) = said.split_once(told)?;
    let settings = std::fs::read_to_string("/etc/resolv.conf").ok()?;
    let server = settings.lines().find_map(nameserver)?;
    Some(format!("dial tcp: lookup {host} on {server}: no such host"))
}

fn nameserver(line: &str) -> Option<String> {
    let address = line.strip_prefix("nameserver")?.trim();
    let address = address.parse().ok()?;
    Some(SocketAddr::new(address, 53).to_string())
}

/// `curl` does not say why, so a connection is tried once more.
fn no_connection(said: &str, url: &str) -> Option<String> {
    let (_, target) = said.split_once("Failed to connect to ")?;
    let (host, rest) = target.split_once(" port ")?;
    let port = rest.split([' ', ':']).next()?.parse().ok()?;
    let address = (host, port).to_socket_addrs().ok()?.next()?;
    let error = TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).err()?;
    let why = match error.kind() {
        std::io::ErrorKind::ConnectionRefused => "connection refused",
        std::io::ErrorKind::HostUnreachable => "no route to host",
        std::io::ErrorKind::NetworkUnreachable => "network is unreachable",
        _ => return None,
    };
    let why = format!("dial tcp {address}: connect: {why}");
    // Who else it was that `curl` could not reach, it does not say.
    Some(if is_server(host, port, url) {
        why
    } else {
        by_proxy(&why)
    })
}

/// Whether an address is that of a URL's server.
fn is_server(host: &str, port: u16, url: &str) -> bool {
    let Some(url) = crate::url::parse(url) else {
        return true;
    };
    let usual = if url.text.starts_with("https:") {
        443
    } else {
        80
    };
    let own = url.port.parse().unwrap_or(usual);
    let name = url.host.trim_start_matches('[').trim_end_matches(']');
    own == port && name.eq_ignore_ascii_case(host)
}

fn unknown_authority(said: &str) -> Option<String> {
    let is_unknown = said.contains("self-signed certificate")
        || said.contains("self signed certificate")
        || said.contains("unable to get local issuer certificate");
    let text = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    is_unknown.then(|| text.to_owned())
}

fn without_password(url: &str) -> String {
    let hidden = url.split_once("://").and_then(|(scheme, rest)| {
        let end = rest.find('/').unwrap_or(rest.len());
        let (user, host) = rest[..end].rsplit_once('@')?;
        let (name, _) = user.split_once(':')?;
        Some(format!("{scheme}://{name}:***@{host}{}", &rest[end..]))
    });
    hidden.unwrap_or_else(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(code: u8, said: &str) -> String {
        let done = Finished {
            status: format!("exit status {code}"),
            errors: format!("curl: ({code}) {said}\n").into_bytes(),
            ..Finished::default()
        };
        of(&done, "http://u:p@a:1/x", "ftp://b/y").to_string()
    }

    #[test]
    fn a_failure_is_told_in_gos_words() {
        let get = "Get \"http://u:***@a:1/x\": ";
        assert_eq!(told(52, "Empty reply from server"), format!("{get}EOF"));
        assert_eq!(told(18, "transfer closed"), "unexpected EOF");
        assert_eq!(
            told(1, "Protocol \"ftp\" not supported"),
            "Get \"http://u:***@a:1/x\": unsupported protocol scheme \"ftp\""
        );
        assert_eq!(
            told(47, "Maximum (9) redirects followed"),
            "Get \"ftp://b/y\": stopped after 10 redirects"
        );
        assert_eq!(
            told(35, "something new"),
            format!("{get}curl: (35) something new")
        );
        assert_eq!(
            told(
                7,
                "Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't"
            ),
            format!("{get}proxyconnect tcp: dial tcp 127.0.0.1:1: connect: connection refused")
        );
        let done = Finished {
            status: "exit status 7".into(),
            errors: b"curl: (7) Failed to connect to 127.0.0.1 port 1 after 0 ms".into(),
            ..Finished::default()
        };
        assert_eq!(
            of(&done, "http://127.0.0.1:1/x", "").to_string(),
            "Get \"http://127.0.0.1:1/x\": dial tcp 127.0.0.1:1: connect: connection refused"
        );
    }

    #[test]
    fn a_name_server_is_shown_with_its_port() {
        assert_eq!(
            nameserver("nameserver 10.0.0.1").as_deref(),
            Some("10.0.0.1:53")
        );
        assert_eq!(
            nameserver("nameserver fd00::1").as_deref(),
            Some("[fd00::1]:53")
        );
        assert_eq!(nameserver("search example.com"), None);
    }
}
