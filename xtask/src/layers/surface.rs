//! Crates that may use only some modules of another crate, and methods that only some rooms may call.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::rooms;
use super::scan::{Module, calls, modules_of};

/// The using crate, the used crate, and the modules of the used crate that it may name.
const ONLY: &[(&str, &str, &[&str])] = &[("controllers", "apiserver", &["local"])];

/// Writes to the store: a crate, a method, and the rooms that may call it.
const CALLS: &[(&str, &str, &[&str])] = &[
    ("apiserver", "txn", &["state"]),
    ("apiserver", "commit", &["write"]),
];

pub(super) fn check(problems: &mut Vec<String>) -> Result<(), String> {
    for (user, used, modules) in ONLY {
        let source = PathBuf::from(format!("crates/{user}/src"));
        let mut files = BTreeMap::new();
        rooms::read(&source, &source, &mut files)?;
        for (path, text) in &files {
            problems.extend(wrong(
                &format!("crates/{user}/src/{path}"),
                text,
                used,
                modules,
            ));
        }
    }
    for (name, method, rooms) in CALLS {
        let source = PathBuf::from(format!("crates/{name}/src"));
        let mut files = BTreeMap::new();
        rooms::read(&source, &source, &mut files)?;
        for (path, text) in &files {
            let place = format!("crates/{name}/src/{path}");
            let is_allowed = rooms.contains(&Module::of(path).room());
            let lines = (!is_allowed).then(|| calls(text, method));
            problems.extend(lines.into_iter().flatten().map(|line| {
                format!(
                    "{place}:{line}: only {} may call {method}",
                    rooms.join(", ")
                )
            }));
        }
    }
    Ok(())
}

fn wrong(place: &str, text: &str, used: &str, modules: &[&str]) -> Vec<String> {
    let found = modules_of(used, text).into_iter();
    let found = found.filter(|it| !modules.contains(&&*it.of));
    let problem = found.map(|it| {
        let (line, of) = (it.line, it.of);
        let allowed = modules.join(", ");
        format!("{place}:{line}: {used}::{of} is not for this crate, which may use {used}::{allowed} only")
    });
    problem.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found() {
        let text = "fn commit() {}\n// api.commit(it)\napi.commit(it);\napi\n    .commit(it);\n";
        assert_eq!(calls(text, "commit"), [3, 5]);
    }

    #[test]
    fn only_the_listed_modules_may_be_named() {
        let found = |text: &str| wrong("a.rs", text, "apiserver", &["local"]);
        assert_eq!(found("use apiserver::local::Local;"), Vec::<String>::new());
        assert_eq!(found("use other::apiserver::state;"), Vec::<String>::new());
        assert_eq!(
            found("/// [`apiserver::state`]\nfn f() {}"),
            Vec::<String>::new()
        );
        for text in [
            "use apiserver::pipeline::Api;",
            "use apiserver::{local::Local, pipeline::Api};",
            "fn f() { apiserver::pipeline::f() }",
            "use apiserver::*;",
        ] {
            assert_eq!(found(text).len(), 1, "{text}");
        }
    }
}
