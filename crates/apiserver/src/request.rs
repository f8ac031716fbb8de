//! What a request asks for, read from its path once. There is no route table: paths are regular, and custom resources
//! arrive at run time.
//!
//! **Belongs here:** what the head of a request says: its path, its query, the formats that the client takes.
//! **May use:** `transport`.

pub(crate) mod negotiate;
mod nonresource;
pub(crate) mod warnings;

use std::borrow::Cow;

use http::Method;
use meta::selector::FieldSelector;

use crate::transport::http1::percent_decode;

pub use nonresource::NonResourceRequest;

/// In the words that authorization rules use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
    Proxy,
    /// A method that no resource knows.
    None,
}

impl Verb {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Proxy => "proxy",
            Self::None => "",
        }
    }
}

/// As kube-apiserver's `RequestInfo`.
#[derive(Clone, Debug)]
pub struct RequestInfo<'a> {
    pub path: &'a str,
    /// What is asked of a resource; `None` for all other paths.
    pub resource: Option<ResourceRequest<'a>>,
}

#[derive(Clone, Debug)]
pub struct ResourceRequest<'a> {
    pub verb: Verb,
    /// Empty for the core group.
    pub group: Cow<'a, str>,
    pub version: Cow<'a, str>,
    /// Empty for none, and for all.
    pub namespace: Cow<'a, str>,
    pub resource: Cow<'a, str>,
    pub subresource: Cow<'a, str>,
    pub name: Cow<'a, str>,
    /// The verb stood in the path: `/api/v1/watch/...`
    pub by_prefix: bool,
    /// What follows the subresource, as in `pods/x/proxy/a/b`.
    pub rest: Vec<Cow<'a, str>>,
}

/// The query's pairs, decoded, in order.
#[derive(Clone, Debug, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    pub fn parse(query: Option<&str>) -> Self {
        let pairs = query.unwrap_or_default().split('&');
        let decode = |text: &str| {
            let text = text.replace('+', " ");
            percent_decode(&text).map(Cow::into_owned)
        };
        // What Go cannot read it passes over: broken escapes, and semicolons, which once were ampersands.
        let pairs = pairs.filter(|pair| !pair.is_empty() && !pair.contains(';'));
        Self(
            pairs
                .filter_map(|pair| {
                    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                    Some((decode(key)?, decode(value)?))
                })
                .collect(),
        )
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().find(|(it, _)| it == key);
        found.map(|(_, value)| value.as_str())
    }

    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        let found = self.0.iter().filter(move |(it, _)| it == key);
        found.map(|(_, value)| value.as_str())
    }

    pub fn pairs(&self) -> &[(String, String)] {
        &self.0
    }

    /// As Go reads a boolean of list options: all but `false` and `0`, and the empty value too, means true.
    pub fn flag(&self, key: &str) -> bool {
        self.get(key)
            .is_some_and(|value| !matches!(value.to_ascii_lowercase().as_str(), "false" | "0"))
    }
}

/// The path is not one of ours: percent signs that are none, or a special verb without anything to do it to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadPath(String);

impl<'a> RequestInfo<'a> {
    pub fn new(method: &Method, path: &'a str, query: &Query) -> Result<Self, BadPath> {
        let resource = resource(method, path, query)?;
        Ok(Self { path, resource })
    }
}

/// Capacity for path segments: most paths have no more.
const PATH_SEGMENTS: usize = 8;

fn resource<'a>(
    method: &Method,
    path: &'a str,
    query: &Query,
) -> Result<Option<ResourceRequest<'a>>, BadPath> {
    // Decoded before it is cut, as upstream: a slash is a slash, however it is written.
    let decoded = percent_decode(path)
        .ok_or_else(|| BadPath(format!("invalid URL escape in {}", meta::go::quote(path))))?;
    let mut all: Vec<Cow<'a, str>> = Vec::with_capacity(PATH_SEGMENTS);
    match decoded {
        Cow::Borrowed(path) => {
            let parts = path.trim_matches('/').split('/');
            all.extend(parts.map(Cow::Borrowed));
        }
        Cow::Owned(path) => {
            let parts = path.trim_matches('/').split('/');
            all.extend(parts.map(|it| Cow::Owned(it.to_owned())));
        }
    }
    let mut parts = all.into_iter();
    let group = match parts.next().as_deref() {
        Some("api") => Cow::Borrowed(""),
        Some("apis") => match parts.next() {
            Some(group) => group,
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    let Some(version) = parts.next() else {
        return Ok(None);
    };
    let mut parts: Vec<_> = parts.collect();
    if parts.is_empty() {
        return Ok(None);
    }
    let by_prefix = matches!(&*parts[0], "watch" | "proxy");
    let mut verb = verb_of(method);
    if by_prefix {
        verb = if parts.remove(0) == "watch" {
            Verb::Watch
        } else {
            Verb::Proxy
        };
        if parts.is_empty() {
            let text = format!("unable to determine kind and namespace from url, {path}");
            return Err(BadPath(text));
        }
    }
    let mut namespace = Cow::Borrowed("");
    if parts[0] == "namespaces" && parts.len() > 1 {
        namespace.clone_from(&parts[1]);
        if parts.len() > 2 && !matches!(&*parts[2], "status" | "finalize") {
            parts.drain(..2);
        }
    }
    let mut parts = parts.into_iter();
    let resource = parts.next().unwrap_or_default();
    let mut name = parts.next().unwrap_or_default();
    let subresource = if verb == Verb::Proxy {
        Cow::Borrowed("")
    } else {
        parts.next().unwrap_or_default()
    };
    if name.is_empty() && verb == Verb::Get {
        verb = if query.flag("watch") {
            Verb::Watch
        } else {
            Verb::List
        };
        if let Some(one) = query.get("fieldSelector").and_then(exact_name) {
            name = Cow::Owned(one);
        }
    }
    if name.is_empty() && verb == Verb::Delete {
        verb = Verb::DeleteCollection;
    }
    Ok(Some(ResourceRequest {
        verb,
        group,
        version,
        namespace,
        resource,
        subresource,
        name,
        by_prefix,
        rest: parts.collect(),
    }))
}

fn verb_of(method: &Method) -> Verb {
    match *method {
        Method::POST => Verb::Create,
        Method::GET | Method::HEAD => Verb::Get,
        Method::PUT => Verb::Update,
        Method::PATCH => Verb::Patch,
        Method::DELETE => Verb::Delete,
        _ => Verb::None,
    }
}

/// The name that `metadata.name=x` asks for: such a list is authorized by name. Read as the list itself reads it, so that
/// no text is a name here and something else there.
fn exact_name(selector: &str) -> Option<String> {
    let selector = FieldSelector::parse(selector).ok()?;
    let name = selector.exact_match("metadata.name")?;
    let is_segment = !name.is_empty() && !matches!(name, "." | "..") && !name.contains(['/', '%']);
    is_segment.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: &str, url: &str) -> String {
        let (path, query) = url
            .split_once('?')
            .map_or((url, None), |(p, q)| (p, Some(q)));
        let query = Query::parse(query);
        let method = method.parse().unwrap();
        match RequestInfo::new(&method, path, &query) {
            Err(error) => error.to_string(),
            Ok(RequestInfo { resource: None, .. }) => "-".into(),
            Ok(RequestInfo {
                resource: Some(it), ..
            }) => format!(
                "{} {:?}/{} ns={} {}/{} {}",
                it.verb.as_str(),
                it.group,
                it.version,
                it.namespace,
                it.resource,
                it.subresource,
                it.name
            ),
        }
    }

    #[test]
    fn paths_mean_what_they_mean_upstream() {
        let cases = [
            ("GET", "/", "-"),
            ("GET", "/api", "-"),
            ("GET", "/api/v1", "-"),
            ("GET", "/apis/apps/v1", "-"),
            ("GET", "/healthz/ping", "-"),
            ("GET", "/api/v1/pods", "list \"\"/v1 ns= pods/ "),
            ("GET", "/api/v1/pods?watch=true", "watch \"\"/v1 ns= pods/ "),
            ("GET", "/api/v1/pods?watch=0", "list \"\"/v1 ns= pods/ "),
            (
                "GET",
                "/api/v1/pods?watch=%zz&watch=1;&watch=0",
                "list \"\"/v1 ns= pods/ ",
            ),
            ("GET", "/api/v1/watch/pods", "watch \"\"/v1 ns= pods/ "),
            ("GET", "/api/v1/namespaces", "list \"\"/v1 ns= namespaces/ "),
            (
                "GET",
                "/api/v1/namespaces/other",
                "get \"\"/v1 ns=other namespaces/ other",
            ),
            (
                "PUT",
                "/api/v1/namespaces/other/finalize",
                "update \"\"/v1 ns=other namespaces/finalize other",
            ),
            (
                "GET",
                "/api/v1/namespaces/other/pods",
                "list \"\"/v1 ns=other pods/ ",
            ),
            (
                "DELETE",
                "/api/v1/namespaces/other/pods",
                "deletecollection \"\"/v1 ns=other pods/ ",
            ),
            (
                "POST",
                "/apis/apps/v1/namespaces/o/deployments",
                "create \"apps\"/v1 ns=o deployments/ ",
            ),
            (
                "PATCH",
                "/apis/apps/v1/namespaces/o/deployments/web/scale",
                "patch \"apps\"/v1 ns=o deployments/scale web",
            ),
            (
                "GET",
                "/api/v1/pods?fieldSelector=metadata.name%3Dx",
                "list \"\"/v1 ns= pods/ x",
            ),
            (
                "GET",
                "/api/v1/pods?fieldSelector=metadata.name%3D%3Dx,metadata.namespace%3Da%5C,b",
                "list \"\"/v1 ns= pods/ x",
            ),
            (
                "GET",
                "/api/v1/pods?fieldSelector=metadata.namespace!%3Da%5C,metadata.name%3Dx",
                "list \"\"/v1 ns= pods/ ",
            ),
            (
                "GET",
                "/api/v1/pods?fieldSelector=metadata.name%3Dx,y",
                "list \"\"/v1 ns= pods/ ",
            ),
            ("GET", "/api/v1/nodes/a%2Fb", "get \"\"/v1 ns= nodes/b a"),
            ("GET", "/api/v1/nodes/%2e%2E", "get \"\"/v1 ns= nodes/ .."),
            (
                "GET",
                "/%61pi/v1/nodes/%ff",
                "get \"\"/v1 ns= nodes/ \u{fffd}",
            ),
            (
                "GET",
                "/api/v1/watch",
                "unable to determine kind and namespace from url, /api/v1/watch",
            ),
            (
                "GET",
                "/api/v1/nodes/%zz",
                "invalid URL escape in \"/api/v1/nodes/%zz\"",
            ),
        ];
        for (method, url, want) in cases {
            assert_eq!(read(method, url), want, "{method} {url}");
        }
    }
}
