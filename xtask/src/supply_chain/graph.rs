//! What is built for this machine: `cargo tree` knows which features are on, `cargo metadata` knows the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use json::Value;

#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) license: Option<String>,
    pub(super) is_from_crates_io: bool,
    pub(super) is_ours: bool,
    pub(super) build_script: Option<PathBuf>,
    id: String,
}

#[derive(Debug)]
pub(super) struct Graph {
    packages: Vec<Package>,
    /// The ids of direct dependents, by id.
    dependents: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    pub(super) fn read() -> Result<Self, String> {
        let host = output("rustc", &["-vV"])?;
        let host = host.lines().find_map(|it| it.strip_prefix("host: "));
        let host = host.ok_or("rustc -vV names no host")?;
        let tree = ["tree", "--locked", "--workspace", "--target", host];
        let edges = [
            "--edges",
            "normal,build,dev",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ];
        let tree = cargo(&[&tree[..], &edges[..]].concat())?;
        let metadata = [
            "metadata",
            "--locked",
            "--format-version",
            "1",
            "--filter-platform",
            host,
        ];
        let metadata = cargo(&metadata)?;
        let metadata =
            json::parse(metadata.as_bytes()).map_err(|error| format!("cargo metadata: {error}"))?;
        Self::new(&built(&tree), &metadata)
            .ok_or_else(|| "cargo metadata is not as expected".to_owned())
    }

    fn new(built: &BTreeSet<(&str, &str)>, metadata: &Value) -> Option<Self> {
        let list = |value: &Value, key: &str| Some(value.get(key)?.as_array()?.clone());
        let mut packages = Vec::new();
        for package in list(metadata, "packages")? {
            let text = |key: &str| Some(package.str_at(&[key])?.to_owned());
            let source = text("source");
            let scripts = list(&package, "targets")?.into_iter().filter(|target| {
                let kinds = target.get("kind").and_then(Value::as_array);
                kinds.is_some_and(|it| it.iter().any(|it| it.as_str() == Some("custom-build")))
            });
            let package = Package {
                name: text("name")?,
                version: text("version")?,
                license: text("license"),
                is_from_crates_io: source
                    .as_ref()
                    .is_some_and(|it| it.contains("crates.io-index")),
                is_ours: source.is_none(),
                build_script: scripts
                    .last()
                    .and_then(|it| Some(it.str_at(&["src_path"])?.into())),
                id: text("id")?,
            };
            if built.contains(&(package.name.as_str(), package.version.as_str())) {
                packages.push(package);
            }
        }
        let mut dependents: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in list(metadata.get("resolve")?, "nodes")? {
            for dependency in list(&node, "dependencies")? {
                let users = dependents
                    .entry(dependency.as_str()?.to_owned())
                    .or_default();
                users.insert(node.str_at(&["id"])?.to_owned());
            }
        }
        Some(Self {
            packages,
            dependents,
        })
    }

    /// All that is not this workspace's.
    pub(super) fn foreign(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|it| !it.is_ours)
    }

    /// The names of those that depend on it directly.
    pub(super) fn users(&self, package: &Package) -> impl Iterator<Item = &str> {
        let users = self.dependents.get(&package.id);
        let built = self.packages.iter();
        let built = built.filter(move |it| users.is_some_and(|users| users.contains(&it.id)));
        built.map(|it| it.name.as_str())
    }
}

/// Of lines like `json v0.1.0 (/path)`.
fn built(tree: &str) -> BTreeSet<(&str, &str)> {
    let words = |line| {
        let mut words = str::split_whitespace(line);
        Some((words.next()?, words.next()?.strip_prefix('v')?))
    };
    tree.lines().filter_map(words).collect()
}

fn cargo(arguments: &[&str]) -> Result<String, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    output(&cargo, arguments)
}

fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    let failed = |why: &str| format!("{program} {}: {why}", arguments.join(" "));
    let done = Command::new(program).args(arguments).output();
    let done = done.map_err(|error| failed(&error.to_string()))?;
    if !done.status.success() {
        return Err(failed(&String::from_utf8_lossy(&done.stderr)));
    }
    String::from_utf8(done.stdout).map_err(|error| failed(&error.to_string()))
}
