//! Rooms: the directories of a crate, each with one purpose. Which room may use which is a table, as it is for crates.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::scan::{Module, Use, methods};

/// The modules at the root of a crate, from the bottom up, and the rooms that each may use: earlier ones only.
type Rooms = &'static [(&'static str, &'static [&'static str])];

/// Crates that are cut into rooms.
const CRATES: &[(&str, Rooms)] = &[("apiserver", APISERVER)];

/// Types whose methods are in one room alone: crate, type, room. Other rooms have functions that take a part of it.
const METHODS: &[(&str, &str, &str)] = &[("apiserver", "Api", "state")];

/// Modules of tests alone.
const TESTS: &[&str] = &["cost"];

const APISERVER: Rooms = &[
    ("runtime", &[]),
    ("instruments", &[]),
    ("transport", &["instruments", "runtime"]),
    ("request", &["transport"]),
    ("catalog", &["instruments", "runtime"]),
    (
        "flow",
        &["catalog", "instruments", "request", "runtime", "transport"],
    ),
    (
        "handler",
        &["catalog", "flow", "request", "runtime", "transport"],
    ),
    (
        "observe",
        &[
            "catalog",
            "flow",
            "handler",
            "instruments",
            "request",
            "runtime",
            "transport",
        ],
    ),
    (
        "discovery",
        &["catalog", "handler", "request", "runtime", "transport"],
    ),
    ("access", &["observe", "runtime", "transport"]),
    (
        "state",
        &[
            "access",
            "catalog",
            "discovery",
            "flow",
            "handler",
            "instruments",
            "observe",
            "runtime",
            "transport",
        ],
    ),
    (
        "read",
        &[
            "catalog",
            "flow",
            "handler",
            "instruments",
            "observe",
            "request",
            "runtime",
            "state",
            "transport",
        ],
    ),
    (
        "write",
        &[
            "catalog",
            "flow",
            "handler",
            "instruments",
            "observe",
            "read",
            "request",
            "runtime",
            "state",
            "transport",
        ],
    ),
    (
        "subresources",
        &[
            "catalog",
            "handler",
            "observe",
            "read",
            "request",
            "runtime",
            "state",
            "transport",
            "write",
        ],
    ),
    (
        "nonresource",
        &[
            "catalog",
            "discovery",
            "flow",
            "handler",
            "observe",
            "request",
            "runtime",
            "state",
            "transport",
        ],
    ),
    (
        "pipeline",
        &[
            "access",
            "catalog",
            "flow",
            "handler",
            "nonresource",
            "observe",
            "read",
            "request",
            "runtime",
            "state",
            "subresources",
            "transport",
            "write",
        ],
    ),
    (
        "server",
        &["observe", "pipeline", "runtime", "state", "transport"],
    ),
    (
        "cost",
        &[
            "access",
            "catalog",
            "discovery",
            "handler",
            "request",
            "runtime",
            "state",
            "write",
        ],
    ),
];

/// Looks at the sources of all crates that have rooms.
pub(super) fn check(problems: &mut Vec<String>) -> Result<(), String> {
    for (name, rooms) in CRATES {
        let source = PathBuf::from(format!("crates/{name}/src"));
        let mut files = BTreeMap::new();
        read(&source, &source, &mut files)?;
        problems.extend(wrong(name, rooms, &files));
        problems.extend(untold(name, rooms, &super::read("ARCHITECTURE.md")?));
        problems.extend(undocumented(name, rooms, &files));
    }
    Ok(())
}

/// Rooms whose module does not say what belongs there, or says another list of rooms than the table here.
fn undocumented(name: &str, rooms: Rooms, files: &BTreeMap<String, String>) -> Vec<String> {
    let mut problems = Vec::new();
    for (room, may_use) in rooms.iter().filter(|(room, _)| !TESTS.contains(room)) {
        let text = files.get(&format!("{room}.rs")).map_or("", |it| it);
        let lines = text.lines().map_while(|it| it.strip_prefix("//!"));
        let lines: Vec<&str> = lines.map(str::trim).collect();
        let doc = lines.join(" ");
        let names = names(may_use, "no other room");
        if !doc.contains("**Belongs here:**") || !doc.ends_with(&format!("**May use:** {names}.")) {
            problems.push(format!(
                "crates/{name}/src/{room}.rs must begin with what belongs there, and end its first lines with **May use:** {names}."
            ));
        }
    }
    problems
}

fn names(rooms: &[&str], none: &str) -> String {
    if rooms.is_empty() {
        return none.to_owned();
    }
    let names: Vec<String> = rooms.iter().map(|it| format!("`{it}`")).collect();
    names.join(", ")
}

/// Rows of the map that are missing, or that say something else than the table here.
fn untold(name: &str, rooms: Rooms, map: &str) -> Vec<String> {
    let heading = format!("## The rooms of `{name}`");
    let section = map.split_once(&heading).map_or("", |(_, it)| it);
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut problems = Vec::new();
    for (room, may_use) in rooms.iter().filter(|(room, _)| !TESTS.contains(room)) {
        let names = names(may_use, "-");
        let begin = format!("| `{room}` | ");
        let row = section.lines().find(|it| it.starts_with(&begin));
        if row.is_none_or(|it| !it.ends_with(&format!(" | {names} |"))) {
            problems.push(format!(
                "ARCHITECTURE.md, rooms of {name}: the row of `{room}` must end with | {names} |"
            ));
        }
    }
    problems
}

/// Texts by their paths below `root`.
pub(super) fn read(
    root: &Path,
    folder: &Path,
    files: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    let failed = |error| format!("read {}: {error}", folder.display());
    for item in fs::read_dir(folder).map_err(failed)? {
        let path = item.map_err(failed)?.path();
        if path.is_dir() {
            read(root, &path, files)?;
        } else if path.extension().is_some_and(|it| it == "rs") {
            let below = path.strip_prefix(root).map_err(|error| error.to_string())?;
            let text = super::read(&path.to_string_lossy())?;
            files.insert(below.to_string_lossy().replace('\\', "/"), text);
        }
    }
    Ok(())
}

/// What is wrong with the rooms of a crate: the table, or a use that it does not allow.
fn wrong(name: &str, rooms: Rooms, files: &BTreeMap<String, String>) -> Vec<String> {
    let mut problems = Vec::new();
    let mut below = BTreeSet::new();
    for (room, may_use) in rooms {
        for other in may_use.iter().filter(|it| !below.contains(*it)) {
            problems.push(format!(
                "rooms of {name}: {room} may not use {other}, which is not below it in the table (xtask/src/layers/rooms.rs)"
            ));
        }
        below.insert(*room);
    }
    for (path, text) in files {
        if path == "lib.rs" || path == "main.rs" {
            continue;
        }
        let module = Module::of(path);
        let Some((room, may_use)) = rooms.iter().find(|(room, _)| *room == module.room()) else {
            problems.push(format!(
                "crates/{name}/src/{path} is in no room of the table (xtask/src/layers/rooms.rs)"
            ));
            continue;
        };
        for (_, of, home) in METHODS.iter().filter(|(it, _, _)| *it == name) {
            let lines = (home != room).then(|| methods(text, of));
            problems.extend(lines.into_iter().flatten().map(|line| {
                format!("crates/{name}/src/{path}:{line}: methods of {of} are in room {home} alone")
            }));
        }
        for Use { line, of } in module.uses(text) {
            if of == *room || may_use.contains(&&*of) {
                continue;
            }
            let place = format!("crates/{name}/src/{path}:{line}");
            problems.push(if rooms.iter().any(|(known, _)| *known == of) {
                format!("{place}: room {room} must not use {of}")
            } else {
                format!("{place}: crate::{of} is no room; name the room that it is in")
            });
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Rooms = &[("low", &[]), ("high", &["low"])];

    fn found(rooms: Rooms, files: &[(&str, &str)]) -> Vec<String> {
        let files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        wrong("example", rooms, &files.collect())
    }

    #[test]
    fn a_use_of_a_lower_room_is_allowed() {
        let files = [
            ("lib.rs", "mod low;\nmod high;\npub use high::Top;\n"),
            ("low.rs", "use crate::low::inner::One;\n"),
            ("low/inner.rs", "use super::Other;\n"),
            ("high.rs", "use crate::low::{One, inner};\n"),
        ];
        assert_eq!(found(TWO, &files), Vec::<String>::new());
    }

    #[test]
    fn a_use_of_a_higher_room_is_found_however_it_is_written() {
        let ways = [
            "use crate::high::Top;",
            "use crate::{low::One, high::{Top, Other}};",
            "fn f() { crate::high::f() }",
            "use super::super::high::Top;",
            "mod tests { use super::super::super::high; }",
            "pub(in crate::high) fn f() {}",
            "use {crate::high as renamed};",
        ];
        for way in ways {
            let problems = found(TWO, &[("low/inner.rs", way)]);
            let expected = "crates/example/src/low/inner.rs:1: room low must not use high";
            assert_eq!(problems, [expected], "{way}");
        }
    }

    #[test]
    fn what_only_looks_like_a_use_is_none() {
        let text = r##"
//! See crate::high.
/* crate::high /* and */ crate::high */
const TEXT: &str = "crate::high \" crate::high";
const RAW: &str = r#"crate::high " crate::high"#;
const QUOTE: char = '"';
fn f<'a>(it: &'a str) -> &'a str { it }
use crate::low::high;
use super::high::Local;
"##;
        assert_eq!(found(TWO, &[("low/inner.rs", text)]), Vec::<String>::new());
    }

    #[test]
    fn names_at_the_root_do_not_hide_a_room() {
        let problems = found(TWO, &[("low.rs", "\nuse crate::Top;\nuse crate::*;\n")]);
        let no_room = |line, name| {
            format!(
                "crates/example/src/low.rs:{line}: crate::{name} is no room; name the room that it is in"
            )
        };
        assert_eq!(problems, [no_room(2, "Top"), no_room(3, "*")]);
    }

    #[test]
    fn methods_of_a_type_are_in_its_room_alone() {
        let rooms: Rooms = &[("state", &[]), ("read", &["state"])];
        let text = "impl Lookup for Api {}\nimpl Api {\n}\nimpl<'a> Apis {}\n";
        let of = |path| {
            let files = [(String::from(path), text.to_owned())];
            wrong("apiserver", rooms, &files.into())
        };
        assert_eq!(of("state/more.rs"), Vec::<String>::new());
        let expected =
            "crates/apiserver/src/read/list.rs:2: methods of Api are in room state alone";
        assert_eq!(of("read/list.rs"), [expected]);
    }

    #[test]
    fn the_map_says_the_same() {
        let map = "## The rooms of `example`\n| `low` | text | - |\n| `high` | text | `low` |\n";
        assert_eq!(untold("example", TWO, map), Vec::<String>::new());
        let map = "## The rooms of `example`\n| `low` | text | `high` |\n## Next\n| `high` | text | `low` |\n";
        assert_eq!(untold("example", TWO, map).len(), 2);
    }

    #[test]
    fn a_room_says_what_it_is_for() {
        let files = |high: &str| {
            let low = "//! Low.\n//!\n//! **Belongs here:** little. **May use:** no other room.\n";
            let files = [("low.rs", low), ("high.rs", high)];
            let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
            BTreeMap::from(files)
        };
        let good =
            files("//! **Belongs here:** much.\n//! **May\n//! use:** `low`.\n\nmod other;\n");
        assert_eq!(undocumented("example", TWO, &good), Vec::<String>::new());
        for bad in [
            "",
            "//! **Belongs here:** much.\n",
            "//! **May use:** `low`.\n",
        ] {
            assert_eq!(undocumented("example", TWO, &files(bad)).len(), 1, "{bad}");
        }
    }

    #[test]
    fn the_table_is_complete_and_has_no_cycle() {
        let problems = found(TWO, &[("other/inner.rs", "")]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("is in no room"), "{problems:?}");
        let problems = found(&[("low", &["high"]), ("high", &["low"])], &[]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("low may not use high"), "{problems:?}");
    }
}
