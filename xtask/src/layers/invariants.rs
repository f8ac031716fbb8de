//! Every invariant in ARCHITECTURE.md says what holds it: a check of `cargo xtask layers`, a type, a lint, or a test, which
//! must exist.

use std::collections::BTreeSet;

use super::documents;

const MAP: &str = "ARCHITECTURE.md";

pub(super) fn check(crates: &[&str], problems: &mut Vec<String>) -> Result<(), String> {
    let mut functions = BTreeSet::new();
    for path in documents::sources()? {
        functions.extend(declared(&super::read(&path)?));
    }
    problems.extend(wrong(crates, &super::read(MAP)?, &functions));
    Ok(())
}

/// The names behind `fn`.
fn declared(text: &str) -> impl Iterator<Item = String> {
    let names = text.split("fn ").skip(1);
    let names = names.filter_map(|it| it.split(['(', '<']).next());
    names.map(str::to_owned)
}

fn wrong(crates: &[&str], map: &str, functions: &BTreeSet<String>) -> Vec<String> {
    let mut problems = Vec::new();
    for name in crates {
        let begin = format!("| `{name}` | ");
        let mut rows = map.lines().filter(|it| it.starts_with(&begin));
        let row = rows.find(|it| it.contains("**"));
        let columns: Vec<&str> = row.unwrap_or_default().split(" | ").collect();
        let &[_, _, _, held] = &columns[..] else {
            problems.push(format!(
                "{MAP}: the row of `{name}` must say what the crate does, its invariant in bold, and what holds it"
            ));
            continue;
        };
        let quoted = held.split('`').skip(1).step_by(2);
        let tests = quoted.filter(|it| it.contains('_') && !it.contains(['/', '.', ' ', ':']));
        for test in tests.filter(|it| !functions.contains(*it)) {
            problems.push(format!(
                "{MAP}: `{name}` is held by {test}, which does not exist"
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_what_holds_it() {
        let functions: BTreeSet<String> =
            declared("#[test]\nfn nothing_is_lost() {}\nfn other<T>() {}\n").collect();
        assert!(functions.contains("nothing_is_lost") && functions.contains("other"));
        let found = |map: &str| wrong(&["a"], map, &functions).len();
        assert_eq!(
            found("| `a` | does | **never** | `nothing_is_lost`, `cargo xtask layers` |"),
            0
        );
        assert_eq!(found("| `a` | does | **never** | `something_is_lost` |"), 1);
        assert_eq!(found("| `a` | does | **never** |"), 1);
        assert_eq!(found(""), 1);
    }
}
