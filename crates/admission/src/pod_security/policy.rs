//! What the labels of a namespace ask for.

use std::fmt;

use json::Object;
use meta::field::{self, Path};

const PREFIX: &str = "pod-security.kubernetes.io/";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Privileged,
    Baseline,
    Restricted,
}

/// Of the checks: a minor version of 1, or whatever is newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Minor(u32),
    Latest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LevelVersion {
    pub level: Level,
    pub version: Version,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Policy {
    pub enforce: LevelVersion,
    pub audit: LevelVersion,
    pub warn: LevelVersion,
}

impl fmt::Display for LevelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.level {
            Level::Privileged => "privileged",
            Level::Baseline => "baseline",
            Level::Restricted => "restricted",
        })?;
        match self.version {
            Version::Minor(minor) => write!(f, ":v1.{minor}"),
            Version::Latest => f.write_str(":latest"),
        }
    }
}

/// The policy, with what is wrong with the labels. Where they are, the strictest is enforced, and the others are
/// left out.
pub(super) fn of(labels: Option<&Object>) -> (Policy, Vec<field::Error>) {
    let open = LevelVersion {
        level: Level::Privileged,
        version: Version::Latest,
    };
    let mut errors = Vec::new();
    let Some(labels) = labels else {
        let policy = Policy {
            enforce: open,
            audit: open,
            warn: open,
        };
        return (policy, errors);
    };
    let mut read = |mode: &str, broken: Level| {
        let mut mark = |key: &str, value: &str, why: &str| {
            let path = Path::new("metadata");
            let path = path.child("labels");
            errors.push(field::Error::invalid(path.key(key), value, why));
        };
        let mut found = open;
        let key = format!("{PREFIX}{mode}");
        let named = labels.get(&key).and_then(json::Value::as_str);
        let level = named.map(|name| {
            let level = level(name);
            if level.is_none() {
                mark(
                    &key,
                    name,
                    "must be one of privileged, baseline, restricted",
                );
            }
            found.level = level.unwrap_or(broken);
            level
        });
        let key = format!("{PREFIX}{mode}-version");
        let named = labels.get(&key).and_then(json::Value::as_str);
        if let Some(name) = named {
            let version = version(name);
            if version.is_none() {
                mark(&key, name, "must be \"latest\" or \"v1.x\"");
            }
            found.version = version.unwrap_or(Version::Latest);
        }
        (found, level, named.is_some())
    };
    let (enforce, enforced, _) = read("enforce", Level::Restricted);
    let (audit, ..) = read("audit", Level::Privileged);
    let (mut warn, warned, has_version) = read("warn", Level::Privileged);
    // Who will be refused is warned of it: by what controllers make, for one.
    let is_enforced = matches!(enforced, Some(Some(_)));
    if warned.is_none() && is_enforced && enforce.level > warn.level {
        warn.level = enforce.level;
        if !has_version {
            warn.version = enforce.version;
        }
    }
    let policy = Policy {
        enforce,
        audit,
        warn,
    };
    (policy, errors)
}

fn level(name: &str) -> Option<Level> {
    match name {
        "privileged" => Some(Level::Privileged),
        "baseline" => Some(Level::Baseline),
        "restricted" => Some(Level::Restricted),
        _ => None,
    }
}

fn version(name: &str) -> Option<Version> {
    if name == "latest" {
        return Some(Version::Latest);
    }
    let minor = name.strip_prefix("v1.")?;
    let digits = !minor.is_empty() && minor.bytes().all(|it| it.is_ascii_digit());
    let plain = digits && (minor == "0" || !minor.starts_with('0'));
    plain
        .then(|| minor.parse().ok().map(Version::Minor))
        .flatten()
}
