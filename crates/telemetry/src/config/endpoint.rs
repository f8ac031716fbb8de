//! Where an endpoint leads.

use http::uri::PathAndQuery;
use meta::field;
use meta::go::quote;

use crate::export::{Place, Signal};

/// What an endpoint or a URL says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// Its port may be 0: then the protocol's own counts.
    pub place: Place,
    pub secure: bool,
    pub base: String,
    pub path: Option<String>,
}

impl Default for Endpoint {
    fn default() -> Self {
        Self {
            place: Place::Tcp {
                host: "localhost".into(),
                port: 0,
            },
            secure: false,
            base: String::new(),
            path: None,
        }
    }
}

impl Endpoint {
    /// A path is that of traces; other signals have theirs beside it.
    pub(super) fn of_signal(mut self, signal: Signal) -> Self {
        if signal != Signal::Traces
            && let Some(path) = self.path.take()
        {
            let path = path.split('?').next().unwrap_or_default();
            let base = path.strip_suffix(Signal::Traces.path());
            base.unwrap_or(path).clone_into(&mut self.base);
        }
        self
    }

    pub(super) fn place_with(&self, default: u16) -> Place {
        match self.place.clone() {
            Place::Tcp { host, port: 0 } => Place::Tcp {
                host,
                port: default,
            },
            place => place,
        }
    }
}

/// The `endpoint` of a `TracingConfiguration`: a name as gRPC has them, and nothing else.
pub(super) fn of_tracing(text: &str) -> Result<Endpoint, field::Error> {
    let with_scheme = if text.contains("//") {
        text.to_owned()
    } else {
        format!("dns://{text}")
    };
    let invalid = |why: String| field::Error::invalid("endpoint", &*with_scheme, why);
    let url = Url::parse(&with_scheme).map_err(invalid)?;
    let scheme = &*url.scheme;
    if !matches!(scheme, "dns" | "unix" | "unix-abstract") {
        return Err(invalid(format!(
            "unsupported scheme: {scheme}.  Options are none, dns, unix, or unix-abstract.  See \
             https://github.com/grpc/grpc/blob/master/doc/naming.md"
        )));
    }
    let place = place(text).map_err(invalid)?;
    Ok(Endpoint {
        place,
        ..Endpoint::default()
    })
}

/// What gRPC makes of a name that passed: `host:port`, `dns:host:port`, `dns://authority/host:port`, `unix:path`,
/// `unix:///path`, `unix-abstract:name`.
fn place(text: &str) -> Result<Place, String> {
    let after = |scheme: &str| {
        let rest = text.strip_prefix(scheme)?.strip_prefix(':')?;
        Some(rest.strip_prefix("//").unwrap_or(rest))
    };
    if let Some(path) = after("unix") {
        return Ok(Place::Unix(path.to_owned()));
    }
    if let Some(name) = after("unix-abstract") {
        return Ok(Place::Unix(format!("\0{name}")));
    }
    match after("dns") {
        // `dns:4317` is a host called dns.
        Some(rest) if text.starts_with("dns://") || rest.parse::<u16>().is_err() => {
            let (authority, host) = rest.split_once('/').unwrap_or((rest, ""));
            // Without a path, what stands in the authority's place must be the host.
            tcp(if host.is_empty() { authority } else { host })
        }
        _ => tcp(text),
    }
}

/// The `url` of an `OpenTelemetryClientConfiguration`: any of the above, or a URL of HTTP.
pub(super) fn of_client(text: &str) -> Result<Endpoint, field::Error> {
    if !text.starts_with("http://") && !text.starts_with("https://") {
        return of_tracing(text).map_err(|error| field::Error {
            field: "url".into(),
            ..error
        });
    }
    let invalid = |why: String| field::Error::invalid("url", text, why);
    let url = Url::parse(text).map_err(invalid)?;
    let path = Some(url.path).filter(|it| !matches!(&**it, "" | "/"));
    let path = path.map(PathAndQuery::try_from).transpose();
    let path = path.map_err(|_| invalid("invalid path".into()))?;
    let secure = url.scheme == "https";
    let place = tcp(&url.host).map_err(invalid)?;
    let endpoint = Endpoint {
        place,
        secure,
        base: String::new(),
        path: path.map(|it| it.to_string()),
    };
    Ok(Endpoint {
        // Of URLs, not of OTLP: what a service on the web is called by.
        place: endpoint.place_with(if secure { 443 } else { 80 }),
        ..endpoint
    })
}

fn tcp(text: &str) -> Result<Place, String> {
    let port = text.rfind(':').filter(|it| !text[*it..].contains(']'));
    let (host, port) = match port {
        Some(at) => {
            let wrong = |_| format!("invalid port {} after host", quote(&text[at..]));
            (&text[..at], text[at + 1..].parse::<u16>().map_err(wrong)?)
        }
        None => (text, 0),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() {
        return Err("it names no host".into());
    }
    Ok(Place::Tcp {
        host: host.to_owned(),
        port,
    })
}

struct Url {
    scheme: String,
    host: String,
    /// With the query.
    path: String,
}

impl Url {
    /// As far as Go's `url.Parse` matters here, with its texts.
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("parse {}: {why}", quote(text));
        if text.chars().any(|it| it.is_ascii_control()) {
            return Err(wrong("net/url: invalid control character in URL"));
        }
        let (scheme, rest) = text.split_once(':').unwrap_or(("", text));
        if scheme.is_empty() && text.starts_with(':') {
            return Err(wrong("missing protocol scheme"));
        }
        let mut letters = scheme.chars();
        let is_scheme = letters.next().is_some_and(|it| it.is_ascii_alphabetic())
            && letters.all(|it| it.is_ascii_alphanumeric() || "+-.".contains(it));
        if !(is_scheme || scheme.is_empty() || scheme.contains('/')) {
            return Err(wrong("first path segment in URL cannot contain colon"));
        }
        let Some(rest) = rest.strip_prefix("//").filter(|_| is_scheme) else {
            let scheme = if is_scheme { scheme } else { "" };
            return Ok(Self {
                scheme: scheme.to_ascii_lowercase(),
                host: String::new(),
                path: String::new(),
            });
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let at = rest.find(['/', '?']).unwrap_or(rest.len());
        let (host, path) = rest.split_at(at);
        let host = host.rsplit('@').next().unwrap_or_default();
        if let Some(bad) = host.chars().find(|it| " \"<>\\^`{|}".contains(*it)) {
            let bad = quote(&bad.to_string());
            return Err(wrong(&format!("invalid character {bad} in host name")));
        }
        let colon = host.rfind(':').filter(|it| !host[*it..].contains(']'));
        if let Some(colon) = colon
            && !host[colon + 1..].bytes().all(|it| it.is_ascii_digit())
        {
            let port = quote(&host[colon..]);
            return Err(wrong(&format!("invalid port {port} after host")));
        }
        Ok(Self {
            scheme: scheme.to_ascii_lowercase(),
            host: host.to_owned(),
            path: path.to_owned(),
        })
    }
}
