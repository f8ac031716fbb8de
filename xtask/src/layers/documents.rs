//! Source files that documents name must exist: a map is of use only while it is true.

use std::fs;
use std::path::Path;

/// Folders with sources of ours.
const SOURCES: &[&str] = &["crates", "xtask", "bench", "fuzz"];

/// Adds a line for each path in `ARCHITECTURE.md`, `CONTRIBUTING.md` and `docs` that leads to no file.
pub(super) fn check(problems: &mut Vec<String>) -> Result<(), String> {
    let sources = sources()?;
    let mut documents = vec!["ARCHITECTURE.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    collect(Path::new("docs"), "md", &mut documents)?;
    for document in documents {
        let text = fs::read_to_string(&document).map_err(|error| format!("{document}: {error}"))?;
        let missing = named(&text).filter(|it| !exists(it, &sources));
        problems.extend(missing.map(|it| format!("{document} names {it}, which does not exist")));
    }
    let walks = fs::read_to_string(WALKS).map_err(|error| format!("{WALKS}: {error}"))?;
    problems.extend(too_long(&walks));
    Ok(())
}

const WALKS: &str = "docs/follow-a-request.md";
/// How many files a reader opens to follow a request: the heading, the most, and how many of a GET come before.
const LONGEST: &[(&str, usize, usize)] = &[("## GET ", 12, 0), ("## Server-side apply ", 20, 9)];

/// Walks that lead through too many files, or through another number than their heading says.
fn too_long(walks: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (heading, most, before) in LONGEST {
        let section = walks.split_once(heading).map_or("", |it| it.1);
        let section = section.split("\n## ").next().unwrap_or_default();
        let files = section.lines().filter(|it| it.starts_with("| `")).count() + before;
        let says = format!("({files} files)");
        if files == *before
            || files > *most
            || !section.lines().next().is_some_and(|it| it.ends_with(&says))
        {
            problems.push(format!(
                "{WALKS}: {heading}leads through {files} files; its heading must say so, and it may be {most} at most"
            ));
        }
    }
    problems
}

/// All Rust files of ours.
pub(super) fn sources() -> Result<Vec<String>, String> {
    let mut sources = Vec::new();
    for folder in SOURCES {
        collect(Path::new(folder), "rs", &mut sources)?;
    }
    Ok(sources)
}

fn collect(folder: &Path, extension: &str, found: &mut Vec<String>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("list {}: {error}", folder.display());
    for item in fs::read_dir(folder).map_err(failed)? {
        let path = item.map_err(failed)?.path();
        if path.is_dir() {
            // What cargo builds is not ours.
            if !path.join("CACHEDIR.TAG").exists() {
                collect(&path, extension, found)?;
            }
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path.to_string_lossy().into_owned());
        }
    }
    Ok(())
}

/// Paths of Rust files in backticks.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|it| {
        let is_source = Path::new(it).extension().is_some_and(|it| it == "rs");
        is_source && !it.contains([' ', '\n', '*', '{', '<'])
    })
}

/// A path may begin anywhere above its file, and leaves `src` out if it likes: `apiserver/pipeline.rs`.
fn exists(path: &str, sources: &[String]) -> bool {
    sources.iter().any(|source| {
        let short = source.replace("/src/", "/");
        let is_end = |of: &str| of == path || of.ends_with(&format!("/{path}"));
        is_end(source) || is_end(&short)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_is_as_long_as_its_heading_says() {
        let rows = |count: usize| "| `a.rs` | does |\n".repeat(count);
        let walks = |get: usize, said: usize| {
            format!(
                "## GET of one object ({said} files)\n{}## Server-side apply (20 files)\n{}## Next\n{}",
                rows(get),
                rows(11),
                rows(1)
            )
        };
        assert_eq!(too_long(&walks(12, 12)), Vec::<String>::new());
        for (get, said) in [(12, 11), (13, 13), (0, 0)] {
            assert_eq!(too_long(&walks(get, said)).len(), 1, "{get} {said}");
        }
    }

    #[test]
    fn paths_are_found_with_and_without_src() {
        let sources = ["crates/apiserver/src/read/get.rs".to_owned()];
        for path in ["get.rs", "read/get.rs", "apiserver/read/get.rs"] {
            assert!(exists(path, &sources), "{path}");
        }
        for path in ["et.rs", "apiserver/get.rs", "read/set.rs"] {
            assert!(!exists(path, &sources), "{path}");
        }
    }

    #[test]
    fn only_paths_of_files_are_taken() {
        let text = "`a/b.rs` and `cargo run x.rs`, `crates/*.rs`, `c.rs`";
        assert_eq!(named(text).collect::<Vec<_>>(), ["a/b.rs", "c.rs"]);
    }
}
