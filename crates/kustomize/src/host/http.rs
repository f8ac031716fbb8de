//! Files from the network, with the user's `curl`, as repositories come with the user's `git`.

use std::time::Duration;

use super::{Host, Program};
use crate::error::Error;

/// A server that sends nothing for so long is not waited for.
const FETCH_TIMEOUT: Duration = Duration::from_secs(300);

/// The content behind an address.
pub(super) fn get(host: &dyn Host, url: &str) -> Result<Vec<u8>, Error> {
    let (code, body) = fetch(host, url, &[])?;
    accept(&code, body)
}

/// The code and the content that a server answers with; `more` are words for `curl`.
pub(super) fn fetch(host: &dyn Host, url: &str, more: &[&str]) -> Result<(String, Vec<u8>), Error> {
    let Some(curl) = host.find("curl") else {
        return Err(Error::new(format!(
            "Get {url:?}: no 'curl' program on path to fetch it with"
        )));
    };
    let flags = [
        "--silent",
        "--show-error",
        "--location",
        "--proto",
        "=http,https",
        "--write-out",
        "%{http_code}",
    ];
    let target = ["--", url];
    let arguments = flags.iter().chain(more).chain(&target);
    let mut done = host.run(&Program {
        path: curl,
        arguments: arguments.map(|it| (*it).to_owned()).collect(),
        timeout: Some(FETCH_TIMEOUT),
        ..Program::default()
    })?;
    if !done.success {
        let errors = String::from_utf8_lossy(&done.errors);
        return Err(Error::new(format!("Get {url:?}: {}", errors.trim())));
    }
    let code = done.output.split_off(done.output.len().saturating_sub(3));
    Ok((String::from_utf8_lossy(&code).into_owned(), done.output))
}

/// Anything but success is an error, in upstream's words.
pub(super) fn accept(code: &str, body: Vec<u8>) -> Result<Vec<u8>, Error> {
    if code.starts_with('2') {
        return Ok(body);
    }
    let name = match code {
        "400" => "Bad Request",
        "401" => "Unauthorized",
        "403" => "Forbidden",
        "404" => "Not Found",
        "429" => "Too Many Requests",
        "500" => "Internal Server Error",
        "502" => "Bad Gateway",
        "503" => "Service Unavailable",
        _ => "",
    };
    Err(Error::Http(format!(
        "HTTP Error: status code {code} ({name})"
    )))
}
