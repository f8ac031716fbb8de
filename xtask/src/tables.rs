//! Writes the tables of facts about built-in types and kinds, from Kubernetes' `OpenAPI` v3 documents and source tree.
//!
//! Only facts are taken: names, types, numbers, markers. No sentence of upstream's ends up in a table.

mod golang;
mod kinds;
mod types;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use json::Value;

use crate::Outcome;

const TYPES: &str = "crates/schema/tables/types.txt";
const KINDS: &str = "crates/resources/tables/kinds.txt";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let mut sources = Sources::default();
    let mut rest = arguments.iter();
    while let Some(option) = rest.next() {
        let value = rest.next().ok_or(format!("{option} needs a directory"))?;
        match option.as_str() {
            "--openapi" => sources.openapi = value.into(),
            "--source" => sources.source = value.into(),
            _ => return Err(format!("unknown option {option}")),
        }
    }
    for (path, text) in sources.tables()? {
        fs::create_dir_all(Path::new(path).parent().unwrap_or(Path::new(".")))
            .and_then(|()| fs::write(path, &text))
            .map_err(|error| format!("write {path}: {error}"))?;
        println!("{path}: {} bytes", text.len());
    }
    Ok(())
}

struct Sources {
    openapi: PathBuf,
    source: PathBuf,
}

impl Default for Sources {
    fn default() -> Self {
        Self {
            openapi: "../shared/data/openapi-v3".into(),
            source: "../peers/k8s".into(),
        }
    }
}

impl Sources {
    fn tables(&self) -> Result<[(&'static str, String); 2], String> {
        let documents = self.documents()?;
        let mut source = golang::Source::new(&self.source);
        Ok([
            (TYPES, types::table(&documents, &mut source)?),
            (KINDS, kinds::table(&documents, &self.source)?),
        ])
    }

    /// All documents by file name, in that order.
    fn documents(&self) -> Result<BTreeMap<String, Value>, String> {
        let mut found = BTreeMap::new();
        let list = fs::read_dir(&self.openapi)
            .map_err(|error| format!("list {}: {error}", self.openapi.display()))?;
        for item in list {
            let path = item.map_err(|error| error.to_string())?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.ends_with("_openapi.json") {
                found.insert(name.into_owned(), read_json(&path)?);
            }
        }
        Ok(found)
    }
}

fn read_json(path: &Path) -> Result<Value, String> {
    json::parse(read(path)?.as_bytes()).map_err(|error| format!("{}: {error}", path.display()))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("read {}: {error}", path.display()))
}

fn strings(value: Option<&Value>) -> Vec<&str> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[requires::requires(openapi_documents, kubernetes_source)]
    #[test]
    fn the_committed_tables_are_current() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let sources = Sources {
            openapi: root.join("../shared/data/openapi-v3"),
            source: std::env::var_os("KUBERNETES_SOURCE")
                .map_or_else(|| root.join("../peers/k8s"), Into::into),
        };
        for (path, text) in sources.tables().unwrap() {
            let committed = fs::read_to_string(root.join(path)).unwrap();
            assert!(committed == text, "{path} is stale: cargo xtask tables");
        }
    }
}
