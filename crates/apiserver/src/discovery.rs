//! Discovery: groups, versions and resources, one by one and aggregated.
//!
//! **Belongs here:** documents made from the catalog, discovery and `OpenAPI`, each with its cache.
//! **May use:** `catalog`, `handler`, `request`, `runtime`, `transport`.

pub(crate) mod documents;
pub(crate) mod openapi;

use std::collections::BTreeSet;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use encoding::gzip::Packed;
use http::Response;
use json::{Object, Value, json};
use meta::Status;
use meta::gvk::api_version;
use telemetry::trace::Role;

use crate::catalog::{Catalog, Group, Resource};
use crate::handler::document;
use crate::handler::serialize;
use crate::request::NonResourceRequest;
use crate::runtime::digest;
use crate::transport::body::Body;
use crate::transport::gzip;

/// What was made of the newest catalog: aggregated discovery of `/api` and of `/apis`.
#[derive(Debug, Default)]
pub(crate) struct Cache([ArcSwapOption<Aggregated>; 2]);

#[derive(Debug)]
struct Aggregated {
    of: Arc<Catalog>,
    etag: String,
    body: Bytes,
    packed: Bytes,
}

impl Cache {
    /// `/api` and `/apis`
    pub(crate) fn root(
        &self,
        catalog: &Arc<Catalog>,
        address: &str,
        request: &NonResourceRequest<'_>,
        groups: bool,
    ) -> Result<Response<Body>, Status> {
        if wants_aggregated(request.accepts())? {
            let made = self.get(catalog, groups);
            let is_packed = gzip::is_wanted(request.headers, made.body.len());
            let body = if is_packed {
                made.packed.clone()
            } else {
                made.body.clone()
            };
            let mut response = document::tagged(request, AGGREGATED, &made.etag, body);
            if is_packed && response.status().is_success() {
                gzip::mark(&mut response);
            }
            if !response.status().is_success() {
                return Ok(response);
            }
            let (head, body) = response.into_parts();
            let body = serialize::written(Role::Document, || Ok(body))?;
            return Ok(Response::from_parts(head, body));
        }
        let value = if groups {
            let all = catalog.groups.iter().filter(|group| !group.name.is_empty());
            let all: Vec<Value> = all.map(|group| group_value(group, false)).collect();
            json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": all})
        } else {
            json!({
                "kind": "APIVersions",
                "versions": ["v1"],
                "serverAddressByClientCIDRs": [{
                    "clientCIDR": "0.0.0.0/0",
                    "serverAddress": address,
                }],
            })
        };
        let mut response = document::objects(request, &value)?;
        response
            .headers_mut()
            .insert("vary", http::HeaderValue::from_static("Accept"));
        Ok(response)
    }

    fn get(&self, catalog: &Arc<Catalog>, groups: bool) -> Arc<Aggregated> {
        let slot = &self.0[usize::from(groups)];
        let known = slot.load_full();
        if let Some(known) = known.filter(|it| Arc::ptr_eq(&it.of, catalog)) {
            return known;
        }
        let (etag, body) = aggregated(catalog, groups);
        let made = Arc::new(Aggregated {
            of: catalog.clone(),
            packed: Packed::new(&body).bytes,
            etag,
            body,
        });
        slot.store(Some(made.clone()));
        made
    }
}

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Whether the first form that we know is the aggregated one. Its older version is gone.
fn wants_aggregated(accept: &str) -> Result<bool, Status> {
    for clause in accept.split(',') {
        let mut parts = clause.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let parameters: Vec<&str> = parts.collect();
        let has = |it: &str| parameters.contains(&it);
        if has("as=APIGroupDiscoveryList") {
            let fits = media == "application/json" && has("g=apidiscovery.k8s.io") && has("v=v2");
            if fits {
                return Ok(true);
            }
        } else if matches!(
            media,
            "application/json"
                | "application/yaml"
                | "application/vnd.kubernetes.protobuf"
                | "*/*"
                | "application/*"
                | ""
        ) {
            return Ok(false);
        }
    }
    if accept.trim().is_empty() {
        return Ok(false);
    }
    Err(Status::not_acceptable(&[
        "application/json",
        "application/yaml",
        "application/vnd.kubernetes.protobuf",
    ]))
}

/// `/apis/apps`
pub(crate) fn group(catalog: &Catalog, name: &str) -> Option<Value> {
    catalog.group(name).map(|group| group_value(group, true))
}

fn group_value(group: &Group, alone: bool) -> Value {
    let versions = group.versions.iter().map(|it| {
        json!({
            "groupVersion": (api_version(&group.name, &it.version)),
            "version": (it.version.clone()),
        })
    });
    let versions: Vec<Value> = versions.collect();
    let preferred = versions.first().cloned().unwrap_or_default();
    let mut value = Object::new();
    if alone {
        value.insert("kind", "APIGroup");
        value.insert("apiVersion", "v1");
    }
    value.insert("name", &group.name);
    value.insert("versions", versions);
    value.insert("preferredVersion", preferred);
    value.into()
}

/// `/api/v1` and `/apis/apps/v1`
pub(crate) fn resources(catalog: &Catalog, group: &str, version: &str) -> Option<Value> {
    let found = catalog.version(group, version)?;
    let mut all = Vec::new();
    for resource in &found.resources {
        all.push(resource_value(resource));
        for sub in &resource.subresources {
            let mut value = Object::new();
            value.insert("name", format!("{}/{}", resource.plural, sub.name));
            value.insert("singularName", "");
            value.insert("namespaced", resource.namespaced);
            if sub.foreign {
                value.insert("group", &sub.group);
                value.insert("version", &sub.version);
            }
            value.insert("kind", &sub.kind);
            value.insert(
                "verbs",
                sub.verbs
                    .iter()
                    .map(resources::Verb::as_str)
                    .collect::<Value>(),
            );
            all.push(value.into());
        }
    }
    let mut list = Object::new();
    list.insert("kind", "APIResourceList");
    if !group.is_empty() {
        list.insert("apiVersion", "v1");
    }
    list.insert("groupVersion", api_version(group, version));
    list.insert("resources", all);
    Some(list.into())
}

/// In the order of the alphabet, but for custom resources, where upstream has another.
fn verbs(resource: &Resource) -> Value {
    if resource.custom.is_some() {
        return json!([
            "delete",
            "deletecollection",
            "get",
            "list",
            "patch",
            "create",
            "update",
            "watch",
        ]);
    }
    let all = resource.verbs.iter().map(resources::Verb::as_str);
    all.collect()
}

fn resource_value(resource: &Resource) -> Value {
    let mut value = Object::new();
    value.insert("name", &resource.plural);
    value.insert("singularName", &resource.singular);
    value.insert("namespaced", resource.namespaced);
    value.insert("kind", &resource.kind);
    value.insert("verbs", verbs(resource));
    other_names(&mut value, resource);
    if !resource.prefix.is_empty() {
        value.insert("storageVersionHash", storage_hash(resource));
    }
    value.into()
}

fn storage_hash(resource: &Resource) -> String {
    let (group, version) = &resource.stored;
    digest::short_hash(&format!("{group}/{version}/{}", resource.kind))
}

/// Everything at once, with its tag.
fn aggregated(catalog: &Catalog, groups: bool) -> (String, Bytes) {
    let all = catalog
        .groups
        .iter()
        .filter(|group| group.name.is_empty() != groups);
    let items: Vec<Value> = all.map(group_discovery).collect();
    let list = json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    });
    let mut body = json::to_vec(&list);
    body.push(b'\n');
    let etag = format!("\"{}\"", digest::etag(&body));
    (etag, body.into())
}

fn group_discovery(group: &Group) -> Value {
    let mut metadata = Object::new();
    if !group.name.is_empty() {
        metadata.insert("name", &group.name);
    }
    let versions = group.versions.iter().map(|version| {
        let resources: Vec<Value> = version.resources.iter().map(|it| discovered(it)).collect();
        json!({
            "version": (version.version.clone()),
            "resources": resources,
            "freshness": "Current",
        })
    });
    let versions: Vec<Value> = versions.collect();
    json!({"metadata": metadata, "versions": versions})
}

fn other_names(value: &mut Object, resource: &Resource) {
    for (key, names) in [
        ("shortNames", &resource.short_names),
        ("categories", &resource.categories),
    ] {
        if !names.is_empty() {
            value.insert(key, names.iter().collect::<Value>());
        }
    }
}

fn discovered(resource: &Resource) -> Value {
    let custom = resource.custom.is_some();
    let own = |kind: &str| {
        let (group, version) = if custom {
            (&*resource.group, &*resource.version)
        } else {
            ("", "")
        };
        json!({"group": group, "version": version, "kind": kind})
    };
    let mut value = Object::new();
    value.insert("resource", &resource.plural);
    value.insert("responseKind", own(&resource.kind));
    value.insert(
        "scope",
        if resource.namespaced {
            "Namespaced"
        } else {
            "Cluster"
        },
    );
    value.insert("singularResource", &resource.singular);
    value.insert("verbs", verbs(resource));
    other_names(&mut value, resource);
    if !resource.subresources.is_empty() {
        let subs = resource.subresources.iter().map(|sub| {
            let kind = if sub.foreign {
                json!({"group": (&sub.group), "version": (&sub.version), "kind": (&sub.kind)})
            } else {
                own(&sub.kind)
            };
            json!({
                "subresource": (&sub.name),
                "responseKind": kind,
                "verbs": (sub.verbs.iter().map(resources::Verb::as_str).collect::<Value>()),
            })
        });
        value.insert("subresources", subs.collect::<Value>());
    }
    value.into()
}

/// `/`
pub(crate) fn paths(catalog: &Catalog) -> Value {
    let mut paths: BTreeSet<String> = [
        "/.well-known/openid-configuration",
        "/api",
        "/apis",
        "/apis/",
        "/healthz",
        "/healthz/log",
        "/healthz/ping",
        "/livez",
        "/livez/log",
        "/livez/ping",
        "/metrics",
        "/metrics/slis",
        "/openapi/v2",
        "/openapi/v3",
        "/openapi/v3/",
        "/openid/v1/jwks",
        "/readyz",
        "/readyz/log",
        "/readyz/ping",
        "/readyz/shutdown",
        "/version",
    ]
    .map(str::to_owned)
    .into();
    for group in &catalog.groups {
        let base = if group.name.is_empty() {
            "/api".to_owned()
        } else {
            format!("/apis/{}", group.name)
        };
        for version in &group.versions {
            paths.insert(format!("{base}/{}", version.version));
        }
        paths.insert(base);
    }
    json!({"paths": (paths.iter().collect::<Value>())})
}
