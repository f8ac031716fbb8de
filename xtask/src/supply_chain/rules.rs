//! `deny.toml`, which is plain enough to be read line by line: lists with one entry per line.

use std::collections::BTreeSet;
use std::fs;

use super::version::Version;

#[derive(Debug)]
pub(super) struct Rules {
    pub(super) licenses: BTreeSet<String>,
    pub(super) skip: Vec<Rule>,
    pub(super) deny: Vec<Rule>,
    pub(super) build_scripts: Vec<Rule>,
    pub(super) ignore: Vec<Rule>,
}

/// An entry such as `{ crate = "syn@2", wrappers = ["a"], reason = "..." }`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Rule {
    /// A crate, perhaps with a version as in `syn@2`, or the id of an advisory.
    pub(super) name: String,
    pub(super) wrappers: Vec<String>,
    pub(super) reason: String,
}

impl Rule {
    pub(super) fn is(&self, name: &str, version: &str) -> bool {
        let Some((crate_name, wanted)) = self.name.split_once('@') else {
            return self.name == name;
        };
        let matches = |version: Version| version.matches(&format!("^{wanted}"));
        crate_name == name && Version::parse(version).is_some_and(matches)
    }
}

impl Rules {
    pub(super) fn read(path: &str) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("read {path}: {error}"))?;
        let rules = |section: &str, key: &str| -> Result<Vec<Rule>, String> {
            let lines = entries(&text, section, key).into_iter();
            lines
                .map(|line| rule(line).ok_or_else(|| format!("{path}: {line}")))
                .collect()
        };
        let licenses = rules("licenses", "allow")?;
        Ok(Self {
            licenses: licenses.into_iter().map(|rule| rule.name).collect(),
            skip: rules("bans", "skip")?,
            deny: rules("bans", "deny")?,
            build_scripts: rules("bans.build", "allow-build-scripts")?,
            ignore: rules("advisories", "ignore")?,
        })
    }
}

/// The lines of a list `key = [` in `[section]`.
fn entries<'a>(text: &'a str, section: &str, key: &str) -> Vec<&'a str> {
    let lines = text.lines().map(str::trim);
    let lines = lines
        .skip_while(|line| *line != format!("[{section}]"))
        .skip(1);
    let lines = lines.take_while(|line| !(line.starts_with('[') && line.ends_with(']')));
    let lines = lines
        .skip_while(|line| *line != format!("{key} = ["))
        .skip(1);
    let lines = lines.take_while(|line| *line != "]");
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

fn rule(line: &str) -> Option<Rule> {
    let line = line.trim_end_matches(',');
    if let Some(name) = line.strip_prefix('"') {
        let name = name.strip_suffix('"')?.to_owned();
        return Some(Rule {
            name,
            ..Rule::default()
        });
    }
    let line = line.strip_prefix("{ ")?.strip_suffix(" }")?;
    let value = |key: &str| {
        let (_, rest) = line.split_once(&format!("{key} = "))?;
        let rest = rest.strip_prefix('[').unwrap_or(rest);
        let (value, _) = rest.strip_prefix('"')?.split_once('"')?;
        Some(value.to_owned())
    };
    Some(Rule {
        name: value("crate").or_else(|| value("id"))?,
        wrappers: value("wrappers").into_iter().collect(),
        reason: value("reason").unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_line_by_line() {
        let text = "[a]\nx = [\n    \"MIT\",\n]\n[b]\n# why\nx = [\n    # not this\n    { crate = \"c@2\", wrappers = [\"w\"], reason = \"r\" },\n]\n";
        assert_eq!(entries(text, "a", "x"), ["\"MIT\","]);
        let rules: Vec<_> = entries(text, "b", "x").into_iter().map(rule).collect();
        let [Some(rule)] = &rules[..] else {
            panic!("one rule, not {rules:?}");
        };
        assert_eq!((&*rule.name, &*rule.reason), ("c@2", "r"));
        assert_eq!(rule.wrappers, ["w"]);
        assert!(rule.is("c", "2.3.4") && !rule.is("c", "3.0.0") && !rule.is("d", "2.0.0"));
    }
}
