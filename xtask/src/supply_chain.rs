//! What comes in with dependencies: licences, versions that are there twice, build scripts, known advisories.
//!
//! The rules are `deny.toml`, in the form of `cargo deny`. They are checked here over `cargo metadata`, so that nobody has
//! to build that program first; advisories are left to it where it is installed.

mod advisories;
mod build_scripts;
mod graph;
mod licenses;
mod rules;
mod version;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::Outcome;
use graph::{Graph, Package};
use rules::{Rule, Rules};

pub(crate) fn check() -> Outcome {
    let graph = Graph::read()?;
    let rules = Rules::read("deny.toml")?;
    let mut problems = Vec::new();
    for package in graph.foreign() {
        let Package { name, version, .. } = package;
        if !package.is_from_crates_io {
            problems.push(format!("{name} {version} does not come from crates.io"));
        }
        if let Err(problem) = licenses::check(package, &rules.licenses) {
            problems.push(problem);
        }
    }
    problems.extend(duplicates(&graph, &rules.skip));
    problems.extend(denied(&graph, &rules.deny));
    problems.extend(build_scripts::check(&graph, &rules.build_scripts)?);
    problems.extend(forbidden_libraries()?);
    problems.extend(advisories::check(&graph, &rules.ignore)?);
    if problems.is_empty() {
        println!(
            "supply chain: {} dependencies hold to deny.toml",
            graph.foreign().count()
        );
        Ok(())
    } else {
        Err(problems.join("\n       "))
    }
}

/// Crates of which more than one version is built, but for the versions that `skip` explains.
fn duplicates(graph: &Graph, skip: &[Rule]) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in graph.foreign() {
        versions
            .entry(&package.name)
            .or_default()
            .insert(&package.version);
    }
    let mut problems = Vec::new();
    let mut used = BTreeSet::new();
    for (name, versions) in versions.iter().filter(|(_, all)| all.len() > 1) {
        let mut unexplained = 0;
        for version in versions {
            match skip.iter().find(|rule| rule.is(name, version)) {
                Some(rule) => drop(used.insert(rule.name.as_str())),
                None => unexplained += 1,
            }
        }
        if unexplained > 1 {
            let all: Vec<&str> = versions.iter().copied().collect();
            problems.push(format!(
                "{name} is built in versions {}: use one, or explain the older in deny.toml (bans.skip)",
                all.join(", ")
            ));
        }
    }
    let idle = skip
        .iter()
        .filter(|rule| !used.contains(rule.name.as_str()));
    problems.extend(
        idle.map(|rule| format!("deny.toml explains {}, which is not there twice", rule.name)),
    );
    problems.extend(unexplained(skip));
    problems
}

/// Crates that must not be there, but for those that only the named `wrappers` use.
fn denied(graph: &Graph, deny: &[Rule]) -> Vec<String> {
    let mut problems = Vec::new();
    for rule in deny {
        for package in graph.foreign().filter(|it| rule.is(&it.name, &it.version)) {
            let users = graph
                .users(package)
                .filter(|user| !rule.wrappers.iter().any(|it| it == user));
            problems
                .extend(users.map(|user| format!("{user} uses {}: {}", package.name, rule.reason)));
        }
    }
    problems.extend(unexplained(deny));
    problems
}

/// What keeps the one crate with C in it from looking around on the machine.
fn forbidden_libraries() -> Result<Vec<String>, String> {
    let path = ".cargo/config.toml";
    let config = fs::read_to_string(path).map_err(|error| format!("read {path}: {error}"))?;
    let settings = [
        "AWS_LC_SYS_USE_SYSTEM = \"0\"",
        "AWS_LC_SYS_CMAKE_BUILDER = \"0\"",
    ];
    let missing = settings
        .iter()
        .filter(|it| !config.lines().any(|line| line == **it));
    Ok(missing
        .map(|it| format!("{path} does not say {it}"))
        .collect())
}

fn unexplained(rules: &[Rule]) -> impl Iterator<Item = String> {
    let rules = rules.iter().filter(|rule| rule.reason.is_empty());
    rules.map(|rule| format!("{} in deny.toml has no reason", rule.name))
}
