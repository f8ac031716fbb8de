//! Build scripts run on the machine of whoever builds. Each of a foreign crate was read by somebody, and is on the list.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Graph, Rule};

/// What a script that downloads, or looks for a library of the system, would say.
const SUSPICIOUS: &[&str] = &[
    "\"curl\"",
    "\"wget\"",
    "\"git\"",
    "\"cmake\"",
    "\"protoc\"",
    "\"pkg-config\"",
    "TcpStream",
    "UdpSocket",
    "pkg_config::",
    "vcpkg::",
    "cmake::",
    "reqwest::",
    "ureq::",
];

pub(super) fn check(graph: &Graph, allowed: &[Rule]) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    let mut used = Vec::new();
    for package in graph.foreign() {
        let Some(script) = &package.build_script else {
            continue;
        };
        let name = &package.name;
        let Some(rule) = allowed.iter().find(|rule| rule.is(name, &package.version)) else {
            problems.push(format!(
                "{name} has a build script: read {}, and list it in deny.toml (bans.build) if it downloads nothing and \
                 needs nothing but a compiler",
                script.display()
            ));
            continue;
        };
        used.push(&rule.name);
        let found = suspicious(script)?;
        if !found.is_empty() && rule.reason.is_empty() {
            problems.push(format!(
                "the build script of {name} says {}: list it in deny.toml with the reason why that is fine, if it is",
                found.join(", ")
            ));
        }
    }
    let idle = allowed.iter().filter(|rule| !used.contains(&&rule.name));
    problems.extend(idle.map(|rule| {
        format!(
            "deny.toml lists the build script of {}, which there is not",
            rule.name
        )
    }));
    Ok(problems)
}

fn suspicious(script: &Path) -> Result<Vec<&'static str>, String> {
    let mut found = Vec::new();
    for file in files(script) {
        let text = fs::read(&file).map_err(|error| format!("read {}: {error}", file.display()))?;
        let text = String::from_utf8_lossy(&text);
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            found.extend(
                SUSPICIOUS
                    .iter()
                    .filter(|word| line.contains(**word))
                    .copied(),
            );
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The script, and its modules if it has a directory of its own.
fn files(script: &Path) -> Vec<PathBuf> {
    let modules = match (script.file_name(), script.parent()) {
        (Some(name), Some(directory)) if name == "main.rs" => Some(directory.to_owned()),
        _ => {
            let directory = script.with_extension("");
            directory.is_dir().then_some(directory)
        }
    };
    let mut all = vec![script.to_owned()];
    let mut directories: Vec<PathBuf> = modules.into_iter().collect();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") && path != script {
                all.push(path);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_downloads_is_noticed() {
        let script = std::env::temp_dir().join(format!("xtask-build-{}.rs", std::process::id()));
        let text = "// \"wget\" is in a comment\nfn main() { Command::new(\"curl\").arg(URL); }\n";
        fs::write(&script, text).expect("a file");
        let found = suspicious(&script);
        fs::remove_file(&script).expect("it was there");
        assert_eq!(found, Ok(vec!["\"curl\""]));
    }
}
