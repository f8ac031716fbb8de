//! Known advisories: by `cargo deny` where it is installed, else from a copy of `RustSec`'s database.
//!
//! The copy is `$ADVISORY_DB`, or is fetched once a day into the target directory. Where there is no network and no copy,
//! one line says that advisories were not checked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::version::Version;
use super::{Graph, Rule};

const DATABASE: &str = "https://github.com/rustsec/advisory-db";
const DAY: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug, Default, PartialEq)]
struct Advisory {
    id: String,
    title: String,
    /// `unmaintained` and the like: worth knowing, nothing to fail for.
    informational: Option<String>,
    withdrawn: bool,
    /// Versions that are fine.
    fine: Vec<String>,
}

pub(super) fn check(graph: &Graph, ignore: &[Rule]) -> Result<Vec<String>, String> {
    if let Some(outcome) = by_cargo_deny() {
        return outcome;
    }
    let database = match database() {
        Ok(database) => database,
        Err(why) => {
            println!(
                "supply chain: advisories were NOT checked: {why} (set $ADVISORY_DB to a copy of {DATABASE})"
            );
            return Ok(Vec::new());
        }
    };
    let mut problems = Vec::new();
    for package in graph.foreign() {
        let Some(version) = Version::parse(&package.version) else {
            problems.push(format!(
                "{} has the version {}, which cannot be read",
                package.name, package.version
            ));
            continue;
        };
        for advisory in advisories(&database.join("crates").join(&package.name)) {
            let ignored = ignore.iter().any(|rule| rule.name == advisory.id);
            if advisory.withdrawn || ignored || advisory.fine.iter().any(|it| version.matches(it)) {
                continue;
            }
            let Advisory { id, title, .. } = &advisory;
            let told = format!("{} {}: {id}, {title}", package.name, package.version);
            match &advisory.informational {
                Some(kind) => println!("supply chain: {told} ({kind})"),
                None => problems.push(told),
            }
        }
    }
    println!(
        "supply chain: advisories were checked with {}",
        database.display()
    );
    Ok(problems)
}

/// `None` where it is not installed, or has no database.
fn by_cargo_deny() -> Option<Result<Vec<String>, String>> {
    let mut deny = Command::new("cargo-deny");
    let arguments = ["--offline", "--format", "json", "check", "advisories"];
    let done = deny.args(arguments).stdout(Stdio::null()).output().ok()?;
    let told = String::from_utf8_lossy(&done.stderr);
    let found: Vec<String> = told.lines().filter_map(deny_error).collect();
    if !done.status.success() && found.is_empty() {
        return None;
    }
    println!("supply chain: advisories were checked with cargo deny");
    Some(Ok(found))
}

/// Of a line such as `{"type": "diagnostic", "fields": {"severity": "error", "message": "..."}}`.
fn deny_error(line: &str) -> Option<String> {
    let line = json::parse(line.as_bytes()).ok()?;
    let is_error = line.str_at(&["type"]) == Some("diagnostic")
        && line.str_at(&["fields", "severity"]) == Some("error");
    let message = line.str_at(&["fields", "message"])?;
    is_error.then(|| format!("cargo deny: {message}"))
}

/// Where the database is.
fn database() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("ADVISORY_DB") {
        let named = PathBuf::from(named);
        let there = named.join("crates").is_dir();
        let missing = || format!("{} has no directory crates", named.display());
        return there.then_some(named.clone()).ok_or_else(missing);
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let copy = target.join("advisory-db");
    let mark = copy.join("fetched");
    let age = mark.metadata().and_then(|it| it.modified()).ok();
    let age = age.and_then(|it| it.elapsed().ok());
    if age.is_some_and(|it| it < DAY) {
        return Ok(copy);
    }
    let fetched =
        fetch(&copy).and_then(|()| fs::write(&mark, "").map_err(|error| error.to_string()));
    match (fetched, age) {
        (Ok(()), _) => Ok(copy),
        (Err(why), Some(age)) => {
            let days = age.as_secs() / DAY.as_secs();
            println!(
                "supply chain: advisories are of {days} days ago: {DATABASE} cannot be fetched: {why}"
            );
            Ok(copy)
        }
        (Err(why), None) => Err(format!("{DATABASE} cannot be fetched: {why}")),
    }
}

fn fetch(copy: &Path) -> Result<(), String> {
    fs::create_dir_all(copy).map_err(|error| error.to_string())?;
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        // A network that takes nothing must not hold up the check for long.
        let limits = [
            "-c",
            "http.lowSpeedLimit=1000",
            "-c",
            "http.lowSpeedTime=20",
        ];
        git.arg("-C")
            .arg(copy)
            .args(limits)
            .args(arguments)
            .env("GIT_TERMINAL_PROMPT", "0");
        let done = git.output().map_err(|error| format!("git: {error}"))?;
        let told = String::from_utf8_lossy(&done.stderr);
        let told = told.lines().next_back().unwrap_or("git failed").to_owned();
        if done.status.success() {
            Ok(())
        } else {
            Err(told)
        }
    };
    git(&["init", "--quiet"])?;
    git(&["fetch", "--quiet", "--depth", "1", DATABASE, "HEAD"])?;
    git(&["checkout", "--quiet", "--force", "FETCH_HEAD"])
}

/// All of one crate.
fn advisories(directory: &Path) -> Vec<Advisory> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let texts = entries.filter_map(|it| fs::read_to_string(it.path()).ok());
    texts.filter_map(|text| advisory(&text)).collect()
}

/// A file begins with TOML between fences; the first heading below is the title.
fn advisory(text: &str) -> Option<Advisory> {
    let (toml, rest) = text.split_once("```toml")?.1.split_once("```")?;
    let mut found = Advisory::default();
    let title = rest.lines().find_map(|line| line.strip_prefix("# "));
    title.unwrap_or("no title").clone_into(&mut found.title);
    let mut section = "";
    let mut list = false;
    for line in toml.lines().map(str::trim) {
        let quoted = || line.split('"').skip(1).step_by(2).map(str::to_owned);
        if line.starts_with('[') && line.ends_with(']') && !list {
            section = line;
            continue;
        }
        let key = line.split('=').next().unwrap_or_default().trim();
        match (section, key) {
            ("[advisory]", "id") => found.id = quoted().next()?,
            ("[advisory]", "informational") => found.informational = quoted().next(),
            ("[advisory]", "withdrawn") => found.withdrawn = true,
            ("[versions]", "patched" | "unaffected") => {
                found.fine.extend(quoted());
                list = !line.ends_with(']');
            }
            ("[versions]", _) if list => {
                found.fine.extend(quoted());
                list = !line.ends_with(']');
            }
            _ => {}
        }
    }
    (!found.id.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_advisory_is_read() {
        let text = "```toml\n[advisory]\nid = \"RUSTSEC-2026-0001\"\npackage = \"a\"\n\n[affected]\nos = [\n  \"linux\",\n]\n\n[versions]\n\
                    patched = [\n  \">= 1.2.3\",\n  \"^1.1.9\",\n]\nunaffected = [\"< 1.0\"]\n```\n\n# It is bad\n\nVery.\n";
        let expected = Advisory {
            id: "RUSTSEC-2026-0001".to_owned(),
            title: "It is bad".to_owned(),
            fine: [">= 1.2.3", "^1.1.9", "< 1.0"].map(str::to_owned).to_vec(),
            ..Advisory::default()
        };
        assert_eq!(advisory(text), Some(expected));
        assert_eq!(advisory("no fences"), None);
    }
}
