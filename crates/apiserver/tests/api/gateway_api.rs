//! The definitions of the Gateway API, which have several hundred rules, and its own examples.

use std::fs;
use std::path::{Path, PathBuf};

use json::Value;
use requires::requires;

use crate::fixture::{Answer, DEFINITIONS, Fixture};

const YAML: &str = "application/yaml";

fn folder() -> PathBuf {
    let named = std::env::var_os("GATEWAY_API").map(PathBuf::from);
    named
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../peers/gateway-api"))
}

/// All files below a folder, in order.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut all: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|it| it.unwrap().path())
        .collect();
    all.sort();
    for path in all {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|it| it == "yaml") {
            found.push(path);
        }
    }
}

/// The documents of all files, each with the name of its file.
fn documents(folder: &Path) -> Vec<(String, String, Value)> {
    let mut found = Vec::new();
    files(folder, &mut found);
    let mut all = Vec::new();
    for path in found {
        let text = fs::read_to_string(&path).unwrap();
        for document in text.split("\n---") {
            let parsed = yaml::to_json(document.as_bytes()).unwrap_or_default();
            if parsed.str_at(&["kind"]).is_some() {
                all.push((path.display().to_string(), document.to_owned(), parsed));
            }
        }
    }
    all
}

async fn create(fixture: &Fixture, path: &str, document: &str) -> Answer {
    let headers = [("content-type", YAML)];
    fixture
        .request("POST", path, &headers, document.to_owned())
        .await
}

/// The resources of a channel, by kind and version.
async fn install(fixture: &Fixture, channel: &str) -> Vec<(String, String, String, bool)> {
    let mut kinds = Vec::new();
    for (file, text, definition) in documents(&folder().join("config/crd").join(channel)) {
        if definition.str_at(&["kind"]) != Some("CustomResourceDefinition") {
            continue;
        }
        let made = create(fixture, DEFINITIONS, &text).await;
        assert!(made.code.is_success(), "{file}: {}", made.message());
        let text = |path: &[&str]| definition.str_at(path).unwrap().to_owned();
        let (group, plural) = (text(&["spec", "group"]), text(&["spec", "names", "plural"]));
        let namespaced = text(&["spec", "scope"]) == "Namespaced";
        for version in definition
            .at(&["spec", "versions"])
            .and_then(Value::as_array)
            .unwrap()
        {
            let version = version.str_at(&["name"]).unwrap();
            let kind = text(&["spec", "names", "kind"]);
            kinds.push((
                kind,
                format!("{group}/{version}"),
                plural.clone(),
                namespaced,
            ));
        }
    }
    kinds
}

async fn examples(channel: &str, folders: &[&str], is_valid: bool) -> usize {
    let fixture = Fixture::new();
    let kinds = install(&fixture, channel).await;
    let mut count = 0;
    for folder in folders {
        for (file, text, object) in documents(&self::folder().join(folder)) {
            let of = |key: &str| object.str_at(&[key]).unwrap_or_default();
            let known = kinds
                .iter()
                .find(|it| it.0 == of("kind") && it.1 == of("apiVersion"));
            let Some((_, version, plural, namespaced)) = known else {
                continue;
            };
            let namespace = object.str_at(&["metadata", "namespace"]);
            let namespace = format!("/namespaces/{}", namespace.unwrap_or("default"));
            let within = if *namespaced { &*namespace } else { "" };
            let path = format!("/apis/{version}{within}/{plural}?dryRun=All");
            let answer = create(&fixture, &path, &text).await;
            assert_eq!(
                answer.code.is_success(),
                is_valid,
                "{file}: {}",
                answer.message()
            );
            count += 1;
        }
    }
    count
}

#[requires(gateway_api)]
#[tokio::test]
async fn examples_of_the_gateway_api() {
    for channel in ["standard", "experimental"] {
        let good = match channel {
            "standard" => &["examples/standard"][..],
            _ => &["examples/standard", "examples/experimental"],
        };
        let good = examples(channel, good, true).await;
        let bad = examples(
            channel,
            &[&format!("hack/invalid-examples/{channel}")],
            false,
        )
        .await;
        assert!(good > 10 && bad > 3, "{channel}: {good} and {bad} examples");
    }
}
