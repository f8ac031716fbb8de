//! The server that objects go to: which paths its kinds have, and what it says to an object.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::anyhow;
use egress::http::Answer;
use http::{Method, StatusCode};
use json::Value;

use crate::access::{Access, Connection, encode};

/// How long a kind may take to be served after its definition was applied.
const SOON: Duration = Duration::from_secs(30);

/// In kubectl's form.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refusal(String);

#[derive(Clone, Debug)]
pub(super) struct Resource {
    name: String,
    pub(super) namespaced: bool,
}

impl Resource {
    pub(super) fn path(&self, api_version: &str, namespace: Option<&str>, name: &str) -> String {
        let namespace = namespace.map(|it| format!("/namespaces/{}", encode(it)));
        format!(
            "{}{}/{}/{}",
            root(api_version),
            namespace.unwrap_or_default(),
            self.name,
            encode(name)
        )
    }
}

#[derive(Debug)]
pub(super) struct Server {
    connection: Connection,
    /// By version and kind.
    resources: BTreeMap<String, BTreeMap<String, Resource>>,
    warned: BTreeSet<String>,
    warnings: Vec<String>,
}

impl Server {
    pub(super) fn new(access: &Access) -> anyhow::Result<Self> {
        Ok(Self {
            connection: Connection::new(access)?,
            resources: BTreeMap::new(),
            warned: BTreeSet::new(),
            warnings: Vec::new(),
        })
    }

    /// Warnings that were not printed yet.
    pub(super) fn warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Where objects of a kind are. `wait` if it is about to be served.
    pub(super) async fn resource(
        &mut self,
        api_version: &str,
        kind: &str,
        wait: bool,
    ) -> anyhow::Result<Option<Resource>> {
        let known = self.resources.get(api_version).and_then(|it| it.get(kind));
        if let Some(known) = known {
            return Ok(Some(known.clone()));
        }
        if self.resources.contains_key(api_version) && !wait {
            return Ok(None);
        }
        let limit = tokio::time::Instant::now() + SOON;
        loop {
            let found = self.discover(api_version).await?;
            let resource = found.get(kind).cloned();
            self.resources.insert(api_version.to_owned(), found);
            if resource.is_some() || !wait || tokio::time::Instant::now() > limit {
                return Ok(resource);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn discover(&mut self, api_version: &str) -> anyhow::Result<BTreeMap<String, Resource>> {
        let path = root(api_version);
        let answer = self.connection.ask(Method::GET, &path, None).await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(BTreeMap::new());
        }
        let list = understood(&answer)?;
        let resources = list.get("resources").and_then(Value::as_array);
        let mut found = BTreeMap::new();
        for it in resources.into_iter().flatten() {
            let name = it.str_at(&["name"]).unwrap_or_default();
            let Some(kind) = it.str_at(&["kind"]).filter(|_| !name.contains('/')) else {
                continue;
            };
            let resource = Resource {
                name: name.to_owned(),
                namespaced: it.get("namespaced") == Some(&Value::Bool(true)),
            };
            found.entry(kind.to_owned()).or_insert(resource);
        }
        Ok(found)
    }

    pub(super) async fn apply(
        &mut self,
        path: &str,
        query: &str,
        object: &Value,
    ) -> anyhow::Result<()> {
        let path = format!("{path}?{query}");
        // JSON is YAML.
        let body = ("application/apply-patch+yaml", json::to_vec(object).into());
        let answer = self.connection.ask(Method::PATCH, &path, Some(body));
        let answer = answer.await?;
        for value in answer.headers.get_all("warning") {
            let text = value.to_str().unwrap_or_default();
            // 299 - "text"
            let text = text.split_once('"').map_or(text, |(_, it)| it);
            let text = text.trim_end_matches('"').replace("\\\"", "\"");
            if self.warned.insert(text.clone()) {
                self.warnings.push(text);
            }
        }
        understood(&answer).map(drop)
    }
}

fn root(api_version: &str) -> String {
    if api_version.contains('/') {
        format!("/apis/{api_version}")
    } else {
        format!("/api/{api_version}")
    }
}

fn understood(answer: &Answer) -> anyhow::Result<Value> {
    let body = json::parse(&answer.body);
    if answer.status.is_success() {
        return body.map_err(|error| anyhow!("the server's answer is not JSON: {error}"));
    }
    let body = body.unwrap_or_default();
    let text = |key: &str| body.str_at(&[key]).unwrap_or_default();
    let (reason, message) = (text("reason"), text("message"));
    let refusal = if reason == "Conflict" {
        format!(
            "error: {message}\nOthers manage these fields: --force-conflicts takes them over; else leave them out, or set them to the values they have."
        )
    } else if message.is_empty() {
        format!("Error from server: {}", answer.status)
    } else if reason.is_empty() {
        format!("Error from server: {message}")
    } else {
        format!("Error from server ({reason}): {message}")
    };
    Err(Refusal(refusal).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_the_servers() {
        let resource = |namespaced| Resource {
            name: "things".into(),
            namespaced,
        };
        let path = resource(true).path("v1", Some("ns"), "a/b");
        assert_eq!(path, "/api/v1/namespaces/ns/things/a%2Fb");
        let path = resource(false).path("g.io/v1", None, "x:y");
        assert_eq!(path, "/apis/g.io/v1/things/x%3Ay");
    }
}
