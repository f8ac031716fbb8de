//! Crates that do no I/O, start no tasks and read no clock: what they need comes in through parameters.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::rooms;
use super::scan::paths;

/// Crates, and the files below `src` that may do I/O all the same.
const PURE: &[(&str, &[&str])] = &[
    ("auth", &[]),
    ("cel", &[]),
    ("encoding", &[]),
    ("features", &[]),
    ("flowcontrol", &[]),
    ("json", &[]),
    // Files and programs come through two traits; these are their implementations on this machine.
    ("kustomize", &["fs/disk.rs", "host/"]),
    ("merge", &[]),
    ("meta", &[]),
    ("resources", &[]),
    // Measures how long rules take, for metrics.
    ("schema", &["structural/validations"]),
    ("yaml", &[]),
];

/// Two names, one behind the other.
const IMPURE: &[(&str, &str)] = &[
    ("std", "env"),
    ("std", "fs"),
    ("std", "process"),
    ("std", "thread"),
    ("Instant", "now"),
    ("SystemTime", "now"),
    ("TcpListener", "bind"),
    ("TcpStream", "connect"),
    ("UdpSocket", "bind"),
    ("UnixStream", "connect"),
];

pub(super) fn check(problems: &mut Vec<String>) -> Result<(), String> {
    for (name, except) in PURE {
        let source = PathBuf::from(format!("crates/{name}/src"));
        let mut files = BTreeMap::new();
        rooms::read(&source, &source, &mut files)?;
        for (path, text) in &files {
            let is_test = path.ends_with("tests.rs") || path.contains("tests/");
            if !is_test && !except.iter().any(|it| path.starts_with(it)) {
                problems.extend(wrong(&format!("crates/{name}/src/{path}"), text));
            }
        }
    }
    Ok(())
}

fn wrong(place: &str, text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let found = paths(code).into_iter().filter(|(_, first, second)| {
        first == "tokio" || IMPURE.contains(&(first.as_str(), second.as_str()))
    });
    let problem = found.map(|(line, first, second)| {
        format!("{place}:{line}: {first}::{second} in a crate without I/O, tasks and clocks")
    });
    problem.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_tasks_and_clocks_are_found_however_they_are_written() {
        for text in [
            "use std::fs;",
            "use std::{collections::HashMap, fs::File};",
            "fn f() { std::process::exit(1) }",
            "let now = SystemTime::now();",
            "let now = std::time::Instant::now();",
            "tokio::spawn(work);",
        ] {
            assert_eq!(wrong("a.rs", text).len(), 1, "{text}");
        }
        for text in [
            "use std::net::IpAddr;",
            "use std::time::Duration;",
            "// std::fs",
            "fn f() {}\n#[cfg(test)]\nmod tests { use std::fs; }",
        ] {
            assert_eq!(wrong("a.rs", text), Vec::<String>::new(), "{text}");
        }
    }
}
