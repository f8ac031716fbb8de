//! The licences of what is linked into the binary, with their texts, from the crates themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates whose package has no text of its licence, and the crate of the same repository that has it.
const TEXT_OF: [(&str, &str); 1] = [("tonic-prost", "tonic")];

/// Built into the binary although only a build script uses it: its descriptions of types and fields.
const DATA: &str = "k8s-openapi";

const HEAD: &str = "\
Pilothouse is under the Apache License 2.0 (LICENSE). Its binary also contains the crates below, parts of the Rust standard
library (MIT OR Apache-2.0) and, as it is linked statically, parts of the GNU C Library (LGPL-2.1-or-later). To link it with
another version of the GNU C Library, build it from the sources of the commit that the file VERSION names.
";

/// All texts, each once, below the names of the crates that it is for.
pub(super) fn texts(target: &str) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let cargo = |arguments: &[&str]| super::output(Command::new(&cargo).args(arguments));
    let tree = ["tree", "--locked", "--target", target, "--prefix", "none"];
    let format = ["--format", "{p}|{l}"];
    let linked = ["--package", "pilothouse", "--edges", "normal,no-proc-macro"];
    let linked = cargo(&[&tree[..], &format, &linked].concat())?;
    let data = ["--package", DATA, "--depth", "0"];
    let data = cargo(&[&tree[..], &format, &data].concat())?;
    let metadata = cargo(&["metadata", "--locked", "--format-version", "1"])?;
    let places = places(&metadata)?;
    let crates: BTreeSet<(&str, &str, &str)> =
        linked.lines().chain(data.lines()).filter_map(row).collect();
    let mut list = String::new();
    let mut by_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, version, license) in crates {
        let place = places
            .get(&(name.to_owned(), version.to_owned()))
            .ok_or_else(|| format!("cargo metadata has no {name} {version}"))?;
        let mut found = files(place)?;
        if found.is_empty()
            && let Some((_, other)) = TEXT_OF.iter().find(|(it, _)| *it == name)
            && let Some((_, place)) = places.iter().find(|((it, _), _)| it == other)
        {
            found = files(place)?;
        }
        if found.is_empty() {
            return Err(format!(
                "{name} {version} has no text of its licence, {license}: name a crate that has it in TEXT_OF"
            ));
        }
        let _ = writeln!(list, "{name} {version}: {license}");
        for text in found {
            let users = by_text.entry(text).or_default();
            users.push(format!("{name} {version}"));
        }
    }
    let mut sections: Vec<(Vec<String>, String)> = by_text
        .into_iter()
        .map(|(text, users)| (users, text))
        .collect();
    sections.sort();
    let mut all = format!("{HEAD}\n{list}");
    for (users, text) in sections {
        let line = "=".repeat(100);
        let (users, text) = (users.join(", "), text.trim_end());
        let _ = write!(all, "\n{line}\n{users}\n{line}\n\n{text}\n");
    }
    Ok(all)
}

/// Of a line such as `bytes v1.11.0|MIT` or `bytes v1.11.0 (*)|MIT`; crates of this workspace have a path in it.
fn row(line: &str) -> Option<(&str, &str, &str)> {
    let (package, license) = line.split_once('|')?;
    let license = license.trim_end_matches(" (*)");
    let mut words = package.split(' ');
    let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
    let is_ours = words.any(|it| it.starts_with("(/"));
    (!is_ours).then_some((name, version, license))
}

/// The directories of packages, by name and version.
fn places(metadata: &str) -> Result<BTreeMap<(String, String), PathBuf>, String> {
    let metadata =
        json::parse(metadata.as_bytes()).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata.get("packages").and_then(json::Value::as_array);
    let packages = packages.ok_or("cargo metadata has no packages")?;
    let place = |package: &json::Value| {
        let text = |key: &str| package.str_at(&[key]).map(str::to_owned);
        let directory = Path::new(&text("manifest_path")?).parent()?.to_owned();
        Some(((text("name")?, text("version")?), directory))
    };
    Ok(packages.iter().filter_map(place).collect())
}

/// The texts in a package's directory, in the order of their names.
fn files(place: &Path) -> Result<Vec<String>, String> {
    let failed = |error| format!("{}: {error}", place.display());
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(place).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let is_text = [
            "license",
            "licence",
            "copying",
            "copyright",
            "notice",
            "unlicense",
        ]
        .iter()
        .any(|it| name.starts_with(it));
        if is_text && entry.path().is_file() {
            names.insert(entry.path());
        }
    }
    let read = |path: &PathBuf| {
        let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n"))
    };
    names.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_cargo_tree_are_read() {
        assert_eq!(row("bytes v1.11.0|MIT"), Some(("bytes", "1.11.0", "MIT")));
        let again = row("anyhow v1.0.1|MIT OR Apache-2.0 (*)");
        assert_eq!(again, Some(("anyhow", "1.0.1", "MIT OR Apache-2.0")));
        assert_eq!(row("json v0.1.0 (/home/jane/json)|Apache-2.0"), None);
    }
}
