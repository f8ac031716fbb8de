//! Files from the network, with the user's `curl`, as repositories come with the user's `git`.

mod failure;
mod status;

use std::time::Duration;

use super::{Host, Program};
use crate::error::Error;
use crate::url;

/// A server that sends nothing for so long is not waited for.
const FETCH_TIMEOUT: Duration = Duration::from_secs(300);

const FLAGS: [&str; 11] = [
    "--silent",
    "--show-error",
    "--compressed",
    "--globoff",
    "--path-as-is",
    "--location",
    // As many requests as Go's client makes: ten.
    "--max-redirs",
    "9",
    "--proto",
    "=http,https",
    "--write-out",
];

/// Behind the content: the code, the address that was asked last, and the next one.
const TOLD: &str = "\n%{http_code} %{url_effective} %{redirect_url}";

/// The content behind an address.
pub(super) fn get(host: &dyn Host, address: &str) -> Result<Vec<u8>, Error> {
    let (code, body) = fetch(host, address, &[])?;
    accept(&code, body)
}

/// The code and the content that a server answers with; `more` are words for `curl`.
pub(super) fn fetch(
    host: &dyn Host,
    address: &str,
    more: &[&str],
) -> Result<(String, Vec<u8>), Error> {
    let Some(url) = url::parse(address) else {
        return Err(Error::new(format!(
            "parse {address:?}: invalid URI for request"
        )));
    };
    let refused = |why: &str| Err(Error::new(format!("Get {:?}: {why}", url.text)));
    if url.host.is_empty() {
        return refused("http: no Host in request URL");
    }
    if !url.port.is_empty() && url.port.parse::<u16>().is_err() {
        return refused(&format!("dial tcp: address {}: invalid port", url.port));
    }
    let Some(curl) = host.find("curl") else {
        return refused("no 'curl' program on path to fetch it with");
    };
    let target = [TOLD, "--", &url.text];
    let arguments = FLAGS.iter().chain(&target[..1]).chain(more);
    let arguments = arguments.chain(&target[1..]);
    let mut done = host.run(&Program {
        path: curl,
        arguments: arguments.map(|it| (*it).to_owned()).collect(),
        timeout: Some(FETCH_TIMEOUT),
        ..Program::default()
    })?;
    let end = done.output.iter().rposition(|it| *it == b'\n');
    let told = done.output.split_off(end.unwrap_or(done.output.len()));
    let told = String::from_utf8_lossy(&told).into_owned();
    let mut words = told.trim_start().split(' ');
    let mut word = || words.next().unwrap_or_default().to_owned();
    let (code, last, next) = (word(), word(), word());
    if !done.success {
        return Err(failure::of(&done, &last, &next));
    }
    Ok((code, done.output))
}

/// Anything but success is an error, in upstream's words.
pub(super) fn accept(code: &str, body: Vec<u8>) -> Result<Vec<u8>, Error> {
    if code.starts_with('2') {
        return Ok(body);
    }
    let name = status::name(code);
    Err(Error::Http(format!(
        "HTTP Error: status code {code} ({name})"
    )))
}
