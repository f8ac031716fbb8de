//! The table of kinds.
//!
//! ```text
//! :version GROUP/VERSION group=PRIORITY version=PRIORITY [default]
//! PLURAL KIND SINGULAR [namespaced] verbs=... [short=...] [categories=...] [list=KIND] [prefix=...] [stored=...] schema=...
//! /NAME KIND verbs=... [of=GROUP/VERSION]
//! ```
//! Groups and versions stand in the order of discovery; a line with `/` is a subresource of the resource above. `*` is
//! all eight verbs. `default`: served unless told otherwise. `prefix` is the place below `/registry`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use json::Value;

use super::{read, read_json, strings};

const ALL_VERBS: &str = "create,delete,deletecollection,get,list,patch,update,watch";

/// The aggregator lists its own group first; the others have priorities.
const FIRST: &str = "apiregistration.k8s.io";

pub(super) fn table(documents: &BTreeMap<String, Value>, source: &Path) -> Result<String, String> {
    let schemas = schemas(documents);
    let stored = stored(&read(&source.join("test/integration/etcd/data.go"))?);
    let priorities = priorities(source)?;
    let mut versions = Vec::new();
    for file in documents.keys() {
        let path = file.trim_end_matches("_openapi.json");
        let (group, version) = match path.split("__").collect::<Vec<_>>()[..] {
            ["api", version] => ("", version),
            ["apis", group, version] => (group, version),
            _ => continue,
        };
        let own = (group == FIRST).then_some((20_000, 1));
        let found = own.or(priorities.get(&(group.into(), version.into())).copied());
        let (of_group, of_version) = found.ok_or(format!("no priority for {group}/{version}"))?;
        versions.push((-of_group, group, -of_version, version, path));
    }
    versions.sort_unstable();
    let mut out = String::new();
    for (of_group, group, of_version, version, path) in versions {
        let _ = write!(
            out,
            ":version {group}/{version} group={} version={}",
            -of_group, -of_version
        );
        // A stable version is served by default with all it has: no feature that is off hides a part of one.
        let is_stable = !version.contains("alpha") && !version.contains("beta");
        out.push_str(if is_stable { " default\n" } else { "\n" });
        let list = read_json(&source.join("api/discovery").join(format!("{path}.json")))?;
        let resources = list.get("resources").and_then(Value::as_array);
        for resource in resources.into_iter().flatten() {
            let text = |name: &str| resource.str_at(&[name]).unwrap_or_default();
            let (plural, kind) = (text("name"), text("kind"));
            let verbs = strings(resource.get("verbs")).join(",");
            let verbs = if verbs == ALL_VERBS { "*" } else { &verbs };
            if let Some((_, sub)) = plural.split_once('/') {
                let _ = write!(out, "/{sub} {kind} verbs={verbs}");
                if !text("version").is_empty() {
                    let _ = write!(out, " of={}/{}", text("group"), text("version"));
                }
                out.push('\n');
                continue;
            }
            let _ = write!(out, "{plural} {kind} {}", text("singularName"));
            if resource.get("namespaced") == Some(&Value::Bool(true)) {
                out.push_str(" namespaced");
            }
            let _ = write!(out, " verbs={verbs}");
            for (name, key) in [("short", "shortNames"), ("categories", "categories")] {
                let values = strings(resource.get(key));
                if !values.is_empty() {
                    let _ = write!(out, " {name}={}", values.join(","));
                }
            }
            let key = |kind: &str| (group.to_owned(), version.to_owned(), kind.to_owned());
            if schemas.contains_key(&key(&format!("{kind}List"))) {
                let _ = write!(out, " list={kind}List");
            }
            if let Some(stored) = stored.get(&key(plural)) {
                let _ = write!(out, " prefix={}", stored.prefix);
                // kube-apiserver stores definitions as v1beta1, which nobody serves; it reads v1 as well.
                if let Some(version) = &stored.version
                    && plural != "customresourcedefinitions"
                {
                    let _ = write!(out, " stored={version}");
                }
            }
            let schema = schemas
                .get(&key(kind))
                .ok_or(format!("no schema for {group} {kind}"))?;
            let _ = writeln!(out, " schema={schema}");
        }
    }
    Ok(out)
}

/// Group, version, and kind or plural.
type Key = (String, String, String);

/// The names of types by kind.
fn schemas(documents: &BTreeMap<String, Value>) -> BTreeMap<Key, String> {
    let mut found = BTreeMap::new();
    for document in documents.values() {
        let schemas = document.at(&["components", "schemas"]);
        for (name, schema) in schemas
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(json::Object::iter)
        {
            let kinds = schema
                .get("x-kubernetes-group-version-kind")
                .and_then(Value::as_array);
            for kind in kinds.into_iter().flatten() {
                let text = |name: &str| kind.str_at(&[name]).unwrap_or_default().to_owned();
                found.insert(
                    (text("group"), text("version"), text("kind")),
                    name.to_string(),
                );
            }
        }
    }
    found
}

struct Stored {
    prefix: String,
    /// `GROUP/VERSION`, if it is not the resource's own.
    version: Option<String>,
}

/// Where and as what upstream's own test expects each resource in etcd.
fn stored(text: &str) -> BTreeMap<Key, Stored> {
    let mut found: BTreeMap<Key, Stored> = BTreeMap::new();
    let mut current: Option<Key> = None;
    for line in text.lines().map(str::trim) {
        let quoted: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
        if line.starts_with("gvr(") && line.ends_with("): {") {
            current =
                (quoted.len() == 3).then(|| (quoted[0].into(), quoted[1].into(), quoted[2].into()));
        }
        let Some(key) = current.clone() else { continue };
        if line.starts_with("ExpectedEtcdPath:") {
            let path = quoted[0].trim_start_matches("/registry/");
            let prefix = match path.strip_suffix('/') {
                Some(prefix) => prefix,
                None => path.rsplit_once('/').map_or(path, |(prefix, _)| prefix),
            };
            let prefix = prefix.to_owned();
            found.insert(
                key,
                Stored {
                    prefix,
                    version: None,
                },
            );
        } else if line.starts_with("ExpectedGVK:")
            && quoted.len() >= 3
            && let Some(stored) = found.get_mut(&key)
            && (&*key.0, &*key.1) != (quoted[0], quoted[1])
        {
            stored.version = Some(format!("{}/{}", quoted[0], quoted[1]));
        }
    }
    found
}

/// Of a group and of the version in it, by group and version.
type Priorities = BTreeMap<(String, String), (i32, i32)>;

fn priorities(source: &Path) -> Result<Priorities, String> {
    let mut found = BTreeMap::new();
    // In this order: what the second says wins.
    for file in [
        "pkg/controlplane/apiserver/aggregator.go",
        "cmd/kube-apiserver/app/aggregator.go",
    ] {
        for line in read(&source.join(file))?.lines() {
            let Some((key, value)) = line.trim().split_once("}:") else {
                continue;
            };
            let quoted: Vec<&str> = key.split('"').skip(1).step_by(2).collect();
            let numbers: Vec<i32> = value
                .split(|it: char| !it.is_ascii_digit())
                .filter_map(|it| it.parse().ok())
                .collect();
            if let ([group, version], [of_group, of_version]) = (&quoted[..], &numbers[..]) {
                found.insert(
                    ((*group).to_owned(), (*version).to_owned()),
                    (*of_group, *of_version),
                );
            }
        }
    }
    Ok(found)
}
