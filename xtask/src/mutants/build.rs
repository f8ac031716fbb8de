//! A copy of the workspace in which a crate has its faults, each behind its switch.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use json::Value;

use super::sites::Site;

/// What each site asks. The number of the fault comes from the environment, once.
const SWITCH: &str = "
#[doc(hidden)]
pub fn planted_fault(number: u32) -> bool {
    static ACTIVE: std::sync::OnceLock<Option<u32>> = std::sync::OnceLock::new();
    let active = || std::env::var(\"PLANTED_FAULT\").ok()?.parse().ok();
    *ACTIVE.get_or_init(active) == Some(number)
}
";

/// After so many times something is wrong with more than single faults.
const ROUNDS: usize = 40;

/// What stands beside the repository, for tests that read it.
const NEIGHBOURS: [&str; 2] = ["shared", "peers"];

/// The tests of this crate explore many states: without optimization a single run takes minutes.
const OPTIMIZED: &str = "profile.dev.package.store.opt-level=2";

/// A crate with faults, ready to be run.
pub(super) struct Planted {
    /// The crate's directory in the copy.
    pub(super) directory: PathBuf,
    pub(super) programs: Vec<PathBuf>,
    /// By number.
    pub(super) sites: Vec<Site>,
    pub(super) name: String,
}

/// Plants the first `share` of the sites that compile and do not overlap.
pub(super) fn build(
    root: &Path,
    place: &Path,
    name: &str,
    sites: &[Site],
    share: usize,
) -> Result<Planted, String> {
    let tree = place.join("tree");
    for neighbour in NEIGHBOURS {
        let from = root.join("..").join(neighbour);
        let to = place.join(neighbour);
        if from.exists() && !to.exists() {
            symlink(&from, &to).map_err(|error| format!("{}: {error}", to.display()))?;
        }
    }
    let mut refused = BTreeSet::new();
    for _ in 0..ROUNDS {
        let mut chosen: Vec<Site> = Vec::new();
        for site in sites {
            let taken = chosen
                .iter()
                .any(|it| it.overlaps(site) || it.start == site.start && it.file == site.file);
            if chosen.len() < share && !taken && !refused.contains(&site.describe()) {
                chosen.push(site.clone());
            }
        }
        // Faults of an earlier attempt or crate go.
        copy(root, &tree)?;
        let lines = plant(root, &tree, name, &chosen)?;
        let errors = check(&tree, name)?;
        if errors.is_empty() {
            let programs = programs(&tree, name)?;
            return Ok(Planted {
                directory: tree.join("crates").join(name),
                programs,
                sites: chosen,
                name: name.to_owned(),
            });
        }
        let before = refused.len();
        refused.extend(blamed(&errors, &lines, &chosen));
        if refused.len() == before {
            return Err(format!(
                "{name} does not compile, whatever is taken out: {errors:?}"
            ));
        }
        let out = refused.len();
        println!("{name}: {out} faults do not compile and are taken out");
    }
    Err(format!("{name} does not compile after {ROUNDS} attempts"))
}

/// The files of the working tree, without what git ignores. Files that are the same stay as they are, so that cargo does not
/// build them again.
fn copy(root: &Path, tree: &Path) -> Result<(), String> {
    let list = [
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    let list = super::run::output(Command::new("git").args(list).current_dir(root))?;
    for name in list.split('\0').filter(|it| !it.is_empty()) {
        let (from, to) = (root.join(name), tree.join(name));
        if !from.exists() {
            continue;
        }
        let bytes = fs::read(&from).map_err(|error| format!("{}: {error}", from.display()))?;
        write(&to, &bytes)?;
    }
    Ok(())
}

/// Writes a file unless it has these bytes.
fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let failed = |error| format!("{}: {error}", path.display());
    if fs::read(path).is_ok_and(|it| it == bytes) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    fs::write(path, bytes).map_err(failed)
}

/// Writes the crate's files with the faults in them; where each is, by file: first line, last line, number.
type Lines = BTreeMap<String, Vec<(usize, usize, usize)>>;

fn plant(root: &Path, tree: &Path, name: &str, chosen: &[Site]) -> Result<Lines, String> {
    let mut by_file: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, site) in chosen.iter().enumerate() {
        by_file.entry(&site.file).or_default().push(number);
    }
    let library = format!("crates/{name}/src/lib.rs");
    by_file.entry(&library).or_default();
    let mut lines = Lines::new();
    for (file, mut numbers) in by_file {
        numbers.sort_by_key(|it| chosen[*it].start);
        let path = root.join(file);
        let text = fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
        let mut planted = String::new();
        let mut done = 0;
        for number in numbers {
            let site = &chosen[number];
            planted.push_str(&text[done..site.start]);
            let first = line(&planted);
            planted.push_str(&site.replacement(number));
            done = site.end;
            let place = (first, line(&planted), number);
            lines.entry(file.to_owned()).or_default().push(place);
        }
        planted.push_str(&text[done..]);
        if file == library {
            planted.push_str(SWITCH);
        }
        write(&tree.join(file), planted.as_bytes())?;
    }
    Ok(lines)
}

fn line(text: &str) -> usize {
    text.bytes().filter(|it| *it == b'\n').count() + 1
}

/// Where the compiler finds errors: for each, all places that it names.
type Errors = Vec<Vec<(String, usize, usize)>>;

fn check(tree: &Path, name: &str) -> Result<Errors, String> {
    let messages = cargo(tree, &["check", "--package", name, "--lib"])?;
    let mut errors = Errors::new();
    for message in messages.iter().filter_map(|it| it.get("message")) {
        let spans = message.get("spans").and_then(Value::as_array);
        let is_error = message.str_at(&["level"]) == Some("error");
        let spans = spans.into_iter().flatten().filter_map(place);
        let spans: Vec<_> = spans.collect();
        if is_error && !spans.is_empty() {
            errors.push(spans);
        }
    }
    Ok(errors)
}

fn place(span: &Value) -> Option<(String, usize, usize)> {
    let number = |key: &str| usize::try_from(span.get(key)?.as_i64()?).ok();
    let file = span.str_at(&["file_name"])?.to_owned();
    Some((file, number("line_start")?, number("line_end")?))
}

/// The faults at the places of errors; if an error is elsewhere, all faults of its files.
fn blamed(errors: &Errors, lines: &Lines, chosen: &[Site]) -> BTreeSet<String> {
    let mut blamed = BTreeSet::new();
    for error in errors {
        let at = |exact: bool| {
            let mut numbers = Vec::new();
            for (file, start, end) in error {
                let here = lines.get(file).into_iter().flatten();
                let hit = here.filter(|(first, last, _)| !exact || start <= last && first <= end);
                numbers.extend(hit.map(|(.., number)| *number));
            }
            numbers
        };
        let mut numbers = at(true);
        if numbers.is_empty() {
            numbers = at(false);
        }
        blamed.extend(numbers.iter().map(|it| chosen[*it].describe()));
    }
    blamed
}

/// The crate's own tests: those beside the code and those in `tests/`.
fn programs(tree: &Path, name: &str) -> Result<Vec<PathBuf>, String> {
    let arguments = ["test", "--package", name, "--lib", "--tests", "--no-run"];
    let messages = cargo(tree, &arguments)?;
    let programs: Vec<PathBuf> = messages
        .iter()
        .filter_map(|it| it.str_at(&["executable"]).map(PathBuf::from))
        .collect();
    if programs.is_empty() {
        return Err(format!(
            "the tests of {name} do not compile, or there are none"
        ));
    }
    Ok(programs)
}

/// What cargo reports as JSON. That it fails is seen by its messages.
fn cargo(tree: &Path, arguments: &[&str]) -> Result<Vec<Value>, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(arguments)
        .args(["--quiet", "--locked", "--message-format=json"])
        .args(["--config", OPTIMIZED])
        .env("CARGO_INCREMENTAL", "1")
        .current_dir(tree)
        .stderr(Stdio::null());
    let done = cargo.output().map_err(|error| format!("cargo: {error}"))?;
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let messages = text.lines().map(|it| json::parse(it.as_bytes()));
    let messages: Result<Vec<Value>, _> = messages.collect();
    let messages = messages.map_err(|error| format!("cargo's messages: {error}"))?;
    if messages.is_empty() {
        return Err(format!("{cargo:?}: {}", done.status));
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::sites::of_text;

    #[test]
    fn an_error_is_blamed_on_the_fault_at_its_place() {
        let text = "fn f() { if a < b { c(); } }\nfn g() { d(); }\n";
        let chosen = of_text("x.rs", text);
        let at = |line: usize| {
            let number = chosen.iter().position(|it| it.line == line);
            (line, line, number.expect("a fault on each line"))
        };
        let lines = Lines::from([("x.rs".to_owned(), vec![at(1), at(2)])]);
        let error = |file: &str, line| vec![vec![(file.to_owned(), line, line)]];
        let one = blamed(&error("x.rs", 2), &lines, &chosen);
        assert_eq!(
            one.into_iter().collect::<Vec<_>>(),
            ["x.rs:2: left out: d();"]
        );
        assert_eq!(blamed(&error("x.rs", 9), &lines, &chosen).len(), 2);
        assert!(blamed(&error("y.rs", 1), &lines, &chosen).is_empty());
    }
}
