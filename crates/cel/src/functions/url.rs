//! URLs, read as Go's `net/url` reads them.

use std::fmt;

use encoding::go::quote;
use encoding::percent;

/// A URL that `url.ParseRequestURI` accepts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Url {
    pub scheme: String,
    user: Option<String>,
    pub host: String,
    /// The path as it was written.
    pub path: String,
    query: Option<String>,
    fragment: Option<String>,
    opaque: Option<String>,
}

pub(crate) fn parse(text: &str) -> Result<Url, String> {
    request(text).map_err(|why| format!("parse {}: {why}", quote(text)))
}

fn request(text: &str) -> Result<Url, String> {
    if text.bytes().any(|it| it < 0x20 || it == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if text.is_empty() {
        return Err("empty url".to_owned());
    }
    if text == "*" {
        return Ok(Url {
            path: "*".to_owned(),
            ..empty()
        });
    }
    let (scheme, rest) = scheme(text)?;
    if !rest.starts_with('/') && scheme.is_empty() {
        return Err("invalid URI for request".to_owned());
    }
    let (rest, fragment) = match rest.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment.to_owned())),
        None => (rest, None),
    };
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query.to_owned())),
        None => (rest, None),
    };
    let mut url = Url {
        scheme: scheme.to_ascii_lowercase(),
        query,
        fragment,
        ..empty()
    };
    if !rest.starts_with('/') {
        url.opaque = Some(rest.to_owned());
        return Ok(url);
    }
    let mut path = rest;
    if let Some(behind) = rest.strip_prefix("//")
        && (!url.scheme.is_empty() || !behind.starts_with('/'))
    {
        let end = behind.find('/').unwrap_or(behind.len());
        let (authority, below) = behind.split_at(end);
        path = below;
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        if user.is_some_and(|it| !it.bytes().all(is_userinfo)) {
            return Err("net/url: invalid userinfo".to_owned());
        }
        url.user = user.map(str::to_owned);
        url.host = host_of(host)?;
    }
    check_escapes(path)?;
    path.clone_into(&mut url.path);
    Ok(url)
}

fn empty() -> Url {
    Url {
        scheme: String::new(),
        user: None,
        host: String::new(),
        path: String::new(),
        query: None,
        fragment: None,
        opaque: None,
    }
}

fn is_userinfo(it: u8) -> bool {
    it.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&it)
}

fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, it) in text.bytes().enumerate() {
        match it {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&text[..at], &text[at + 1..])),
            _ => return Ok(("", text)),
        }
    }
    Ok(("", text))
}

fn host_of(host: &str) -> Result<String, String> {
    let port = if host.starts_with('[') {
        let Some(end) = host.rfind(']') else {
            return Err("missing ']' in host".to_owned());
        };
        &host[end + 1..]
    } else {
        host.rfind(':').map_or("", |it| &host[it..])
    };
    let is_port = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    if !port.is_empty() && !port.strip_prefix(':').is_some_and(is_port) {
        return Err(format!("invalid port {} after host", quote(port)));
    }
    check_escapes(host)?;
    if let Some(bad) = host
        .chars()
        .find(|it| matches!(it, ' ' | '"' | '\\' | '^' | '`' | '{' | '|' | '}'))
    {
        return Err(format!(
            "invalid character {} in host name",
            quote(&bad.to_string())
        ));
    }
    Ok(unescape(host))
}

fn check_escapes(text: &str) -> Result<(), String> {
    match percent::decode(text.as_bytes()) {
        Ok(_) => Ok(()),
        Err(percent::InvalidEscape(wrong)) => {
            let whole = wrong.utf8_chunks().next().map_or("", |it| it.valid());
            Err(format!("invalid URL escape {}", quote(whole)))
        }
    }
}

fn unescape(text: &str) -> String {
    let decoded = percent::decode_lenient(text.as_bytes());
    String::from_utf8_lossy(&decoded).into_owned()
}

impl Url {
    pub(crate) fn hostname(&self) -> &str {
        let host = &self.host;
        if let Some(inner) = host.strip_prefix('[') {
            return inner.split_once(']').map_or(inner, |it| it.0);
        }
        host.rsplit_once(':').map_or(host, |it| it.0)
    }

    pub(crate) fn port(&self) -> &str {
        let behind = self.host.rsplit_once(']').map_or(&*self.host, |it| it.1);
        behind.rsplit_once(':').map_or("", |it| it.1)
    }

    pub(crate) fn escaped_path(&self) -> String {
        let valid = |it: u8| it.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/%[]".contains(&it);
        if self.path.bytes().all(valid) {
            return self.path.clone();
        }
        percent::encode(unescape(&self.path).as_bytes(), percent::is_path)
    }

    /// Keys and their values, in the order in which they are written.
    pub(crate) fn query(&self) -> Vec<(String, Vec<String>)> {
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        for pair in self.query.iter().flat_map(|it| it.split('&')) {
            if pair.is_empty() || pair.contains(';') || check_escapes(pair).is_err() {
                continue;
            }
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let plain = |it: &str| unescape(&it.replace('+', " "));
            let (key, value) = (plain(key), plain(value));
            match all.iter_mut().find(|it| it.0 == key) {
                Some(known) => known.1.push(value),
                None => all.push((key, vec![value])),
            }
        }
        all
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}:", self.scheme)?;
        }
        if let Some(opaque) = &self.opaque {
            f.write_str(opaque)?;
        } else {
            if !self.scheme.is_empty() || !self.host.is_empty() || self.user.is_some() {
                if !self.host.is_empty() || self.user.is_some() || !self.path.is_empty() {
                    f.write_str("//")?;
                }
                if let Some(user) = &self.user {
                    write!(f, "{user}@")?;
                }
                f.write_str(&self.host)?;
            }
            f.write_str(&self.escaped_path())?;
        }
        if let Some(query) = &self.query {
            write!(f, "?{query}")?;
        }
        if let Some(fragment) = self.fragment.as_ref().filter(|it| !it.is_empty()) {
            write!(f, "#{fragment}")?;
        }
        Ok(())
    }
}
