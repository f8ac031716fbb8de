//! Holds the map of ARCHITECTURE.md: which crate may use which, which room of a crate may use which, who alone may know
//! what, and that each dependency is explained.

mod documents;
mod invariants;
mod kinds;
mod pure;
mod rooms;
mod scan;
mod surface;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::Outcome;

/// Every crate, and the crates of ours that it may use. Nothing points up.
const MAY_USE: &[(&str, &[&str])] = &[
    ("encoding", &[]),
    ("attack", &["encoding", "json"]),
    ("cel", &["encoding", "json"]),
    ("docs", &[]),
    ("json", &["encoding"]),
    ("yaml", &["encoding", "json"]),
    ("meta", &["encoding", "json"]),
    ("schema", &["cel", "encoding", "json", "meta"]),
    ("merge", &["encoding", "json", "meta", "schema"]),
    ("kustomize", &["encoding", "json", "merge", "meta", "yaml"]),
    (
        "usage",
        &["egress", "encoding", "json", "meta", "telemetry"],
    ),
    ("requires", &[]),
    ("resources", &["cel", "encoding", "json", "meta", "schema"]),
    ("auth", &["encoding", "json", "meta"]),
    ("config", &["json", "meta", "yaml"]),
    ("egress", &["auth", "config", "json", "meta"]),
    ("features", &["json", "meta"]),
    ("flowcontrol", &["json"]),
    (
        "telemetry",
        &["config", "egress", "encoding", "json", "meta", "yaml"],
    ),
    (
        "admission",
        &[
            "auth",
            "cel",
            "egress",
            "encoding",
            "json",
            "merge",
            "meta",
            "telemetry",
        ],
    ),
    (
        "apiserver",
        &[
            "admission",
            "auth",
            "docs",
            "encoding",
            "features",
            "flowcontrol",
            "json",
            "merge",
            "meta",
            "resources",
            "schema",
            "store",
            "telemetry",
            "yaml",
        ],
    ),
    (
        "controllers",
        &[
            "apiserver",
            "auth",
            "encoding",
            "features",
            "flowcontrol",
            "json",
            "meta",
            "resources",
        ],
    ),
    ("store", &[]),
    ("store-etcd", &["store", "telemetry"]),
    (
        "testkit",
        &[
            "apiserver",
            "auth",
            "pilothouse",
            "requires",
            "store",
            "store-etcd",
            "telemetry",
        ],
    ),
    (
        "pilothouse",
        &[
            "admission",
            "apiserver",
            "auth",
            "cel",
            "config",
            "controllers",
            "egress",
            "encoding",
            "features",
            "json",
            "kustomize",
            "meta",
            "resources",
            "schema",
            "store",
            "store-etcd",
            "telemetry",
            "usage",
            "yaml",
        ],
    ),
];

/// Foreign crates that one crate of ours alone may know, but for tests.
const ONLY: &[(&str, &str)] = &[
    ("prost", "store-etcd"),
    ("tonic", "store-etcd"),
    ("anyhow", "pilothouse"),
];

/// Whatever begins like this is telemetry's, in tests too.
const TELEMETRY: &[&str] = &[
    "opentelemetry",
    "tracing-opentelemetry",
    "fastrace",
    "prometheus",
];

pub(crate) fn check() -> Outcome {
    let mut problems = Vec::new();
    let allowed: BTreeMap<_, _> = MAY_USE.iter().copied().collect();
    let explained = read("docs/dependencies.md")?;
    let mut foreign = BTreeSet::new();
    for item in fs::read_dir("crates").map_err(|error| format!("list crates: {error}"))? {
        let name = item.map_err(|error| error.to_string())?.file_name();
        let name = name.to_string_lossy();
        let Some(may_use) = allowed.get(&*name) else {
            problems.push(format!(
                "crate {name} is not in the table of layers (xtask/src/layers.rs)"
            ));
            continue;
        };
        let manifest = read(&format!("crates/{name}/Cargo.toml"))?;
        for (section, dependency) in dependencies(&manifest) {
            let ours = allowed.contains_key(&*dependency);
            if section == "dependencies" && ours && !may_use.contains(&&*dependency) {
                problems.push(format!("crate {name} must not use {dependency}"));
            }
            let owner = ONLY.iter().find(|(known, _)| *known == dependency);
            if let Some((_, owner)) = owner
                && section == "dependencies"
                && *owner != name
                && name != "testkit"
            {
                problems.push(format!("only {owner} may know {dependency}, not {name}"));
            }
            if is_telemetry(&dependency) && name != "telemetry" {
                problems.push(format!("only telemetry may know {dependency}, not {name}"));
            }
            if !ours {
                foreign.insert(dependency);
            }
        }
    }
    for dependency in foreign {
        if !explained.contains(&format!("| `{dependency}` |")) {
            problems.push(format!("{dependency} has no line in docs/dependencies.md"));
        }
    }
    rooms::check(&mut problems)?;
    surface::check(&mut problems)?;
    kinds::check(&mut problems)?;
    pure::check(&mut problems)?;
    let crates: Vec<&str> = MAY_USE.iter().map(|it| it.0).collect();
    invariants::check(&crates, &mut problems)?;
    documents::check(&mut problems)?;
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("\n       "))
    }
}

fn is_telemetry(dependency: &str) -> bool {
    TELEMETRY.iter().any(|it| dependency.starts_with(it))
}

/// The dependencies of a manifest, each with its section. Ours are plain enough to read line by line.
fn dependencies(manifest: &str) -> Vec<(String, String)> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in manifest.lines() {
        if let Some(name) = line.strip_prefix('[') {
            name.trim_end_matches(']').clone_into(&mut section);
        } else if section.ends_with("dependencies")
            && let Some((name, _)) = line.split_once('=')
        {
            let name = name.trim().trim_end_matches(".workspace");
            found.push((section.clone(), name.to_owned()));
        }
    }
    found
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("read {path}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn telemetry_is_found_in_any_section() {
        let manifest = "\
[dependencies]
bytes.workspace = true
opentelemetry_sdk = \"0.33\"
[dev-dependencies]
tracing-opentelemetry = { version = \"0.34\" }
[target.'cfg(unix)'.build-dependencies]
prometheus-client = \"0.24\"
";
        let found = dependencies(manifest).into_iter();
        let found = found.filter(|(_, name)| is_telemetry(name)).count();
        assert_eq!(found, 3);
    }
}
