//! Semantic versions, read as blang/semver reads them.

use std::cmp::Ordering;
use std::fmt;

use encoding::go::{NumError, parse_uint};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Semver {
    pub major: u64,
    pub minor: u64,
    pub patch: u64,
    pre: Vec<Identifier>,
    build: Vec<String>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Identifier {
    Number(u64),
    Text(String),
}

pub(crate) fn parse(text: &str) -> Result<Semver, String> {
    if text.is_empty() {
        return Err("Version string empty".to_owned());
    }
    let mut parts = text.splitn(3, '.');
    let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return Err("No Major.Minor.Patch elements found".to_owned());
    };
    let (major, minor) = (number(major, "major")?, number(minor, "minor")?);
    let (rest, build) = match rest.split_once('+') {
        Some((rest, build)) => (rest, Some(build)),
        None => (rest, None),
    };
    let (patch, pre) = match rest.split_once('-') {
        Some((patch, pre)) => (patch, Some(pre)),
        None => (rest, None),
    };
    let patch = number(patch, "patch")?;
    let allowed = |it: &str| {
        it.bytes()
            .all(|it| it.is_ascii_alphanumeric() || it == b'-')
    };
    let mut all = Vec::new();
    for it in pre.into_iter().flat_map(|it| it.split('.')) {
        if it.is_empty() {
            return Err("Prerelease is empty".to_owned());
        }
        if it.bytes().all(|it| it.is_ascii_digit()) {
            if it.len() > 1 && it.starts_with('0') {
                return Err(format!(
                    "Numeric PreRelease version must not contain leading zeroes {it:?}"
                ));
            }
            all.push(Identifier::Number(
                parse_uint(it).map_err(|error| error.to_string())?,
            ));
        } else if allowed(it) {
            all.push(Identifier::Text(it.to_owned()));
        } else {
            return Err(format!("Invalid character(s) found in prerelease {it:?}"));
        }
    }
    let mut builds = Vec::new();
    for it in build.into_iter().flat_map(|it| it.split('.')) {
        if it.is_empty() {
            return Err("Build meta data is empty".to_owned());
        }
        if !allowed(it) {
            return Err(format!(
                "Invalid character(s) found in build meta data {it:?}"
            ));
        }
        builds.push(it.to_owned());
    }
    Ok(Semver {
        major,
        minor,
        patch,
        pre: all,
        build: builds,
    })
}

fn number(text: &str, what: &str) -> Result<u64, String> {
    if !text.bytes().all(|it| it.is_ascii_digit()) {
        return Err(format!(
            "Invalid character(s) found in {what} number {text:?}"
        ));
    }
    if text.len() > 1 && text.starts_with('0') {
        let mut what = what.to_owned();
        what[..1].make_ascii_uppercase();
        return Err(format!(
            "{what} number must not contain leading zeroes {text:?}"
        ));
    }
    if text.is_empty() {
        return Err(NumError::syntax("ParseUint", text).to_string());
    }
    parse_uint(text).map_err(|error| error.to_string())
}

/// As [`parse`], of a version with a `v`, with less than three numbers, or with leading zeros.
pub(crate) fn normalize(text: &str) -> Result<Semver, String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text
        .splitn(3, '.')
        .map(|it| {
            if it.len() <= 1 {
                return it.to_owned();
            }
            let short = it.trim_start_matches('0');
            if short.starts_with(|it: char| it.is_ascii_digit()) {
                short.to_owned()
            } else {
                format!("0{short}")
            }
        })
        .collect();
    if parts.len() < 3 {
        if parts.last().is_some_and(|it| it.contains(['+', '-'])) {
            return Err("short version cannot contain PreRelease/Build meta data".to_owned());
        }
        parts.resize(3, "0".to_owned());
    }
    parse(&parts.join("."))
}

impl Semver {
    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        let numbers = |it: &Self| (it.major, it.minor, it.patch);
        numbers(self).cmp(&numbers(other)).then_with(|| {
            match (self.pre.is_empty(), other.pre.is_empty()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => self.pre.iter().map(Order).cmp(other.pre.iter().map(Order)),
            }
        })
    }
}

#[derive(Eq, PartialEq)]
struct Order<'a>(&'a Identifier);

impl Ord for Order<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0, other.0) {
            (Identifier::Number(a), Identifier::Number(b)) => a.cmp(b),
            (Identifier::Text(a), Identifier::Text(b)) => a.cmp(b),
            (Identifier::Number(_), Identifier::Text(_)) => Ordering::Less,
            (Identifier::Text(_), Identifier::Number(_)) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Order<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Semver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        for (index, it) in self.pre.iter().enumerate() {
            f.write_str(if index == 0 { "-" } else { "." })?;
            match it {
                Identifier::Number(it) => write!(f, "{it}")?,
                Identifier::Text(it) => f.write_str(it)?,
            }
        }
        for (index, it) in self.build.iter().enumerate() {
            write!(f, "{}{it}", if index == 0 { "+" } else { "." })?;
        }
        Ok(())
    }
}
