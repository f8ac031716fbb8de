//! The registry as text: a gate a line, as `cargo xtask feature-tables` writes it.

use crate::{Error, FeatureGate, FeatureSpec, Registry, Stage, Version};

pub(super) const GATES: &str = include_str!("../../tables/gates.txt");

/// The place of a name among the gates of Kubernetes: usable in constants.
pub const fn position(name: &str) -> Option<u16> {
    let (text, name) = (GATES.as_bytes(), name.as_bytes());
    let mut at = 0;
    let mut place = 0;
    while at < text.len() {
        let is_gate = is_gate_line(text, at);
        if is_gate && starts_with_word(text, at, name) {
            return Some(place);
        }
        if is_gate {
            place += 1;
        }
        while at < text.len() && text[at] != b'\n' {
            at += 1;
        }
        at += 1;
    }
    None
}

const fn is_gate_line(text: &[u8], at: usize) -> bool {
    text[at] != b'#' && !starts_with_word(text, at, b"version")
}

const fn starts_with_word(text: &[u8], at: usize, word: &[u8]) -> bool {
    let mut index = 0;
    while index < word.len() {
        if at + index >= text.len() || text[at + index] != word[index] {
            return false;
        }
        index += 1;
    }
    at + index < text.len() && text[at + index] == b' '
}

pub(super) fn parse(text: &str) -> Result<Registry, Error> {
    let mut version = None;
    let mut gates = Vec::new();
    for line in text.lines().filter(|it| !it.starts_with('#')) {
        match line.strip_prefix("version ") {
            Some(text) => version = Some(Version::parse(text)?),
            None => gates.push(gate(line)?),
        }
    }
    let version = version.ok_or_else(|| Error::Registry("no version".to_owned()))?;
    Registry::new(version, gates)
}

fn gate(line: &str) -> Result<FeatureGate, Error> {
    let mut words = line.split(' ');
    let mut gate = FeatureGate {
        name: words.next().unwrap_or_default().to_owned(),
        library: "kube".to_owned(),
        specs: Vec::new(),
        depends_on: Vec::new(),
    };
    for word in words {
        if let Some(library) = word.strip_prefix("library=") {
            library.clone_into(&mut gate.library);
        } else if let Some(needs) = word.strip_prefix("needs=") {
            gate.depends_on = needs.split(',').map(str::to_owned).collect();
        } else {
            gate.specs.push(spec(word)?);
        }
    }
    Ok(gate)
}

/// `VERSION:STAGE(+|-)[!][@MIN]`
fn spec(word: &str) -> Result<FeatureSpec, Error> {
    let wrong = || Error::Registry(format!("not a spec: {word}"));
    let (version, rest) = word.split_once(':').ok_or_else(wrong)?;
    let (rest, min_compatibility) = match rest.split_once('@') {
        Some((rest, min)) => (rest, Some(Version::parse(min)?)),
        None => (rest, None),
    };
    let (rest, locked) = match rest.strip_suffix('!') {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let (stage, default) = match rest.strip_suffix('+') {
        Some(stage) => (stage, true),
        None => (rest.strip_suffix('-').ok_or_else(wrong)?, false),
    };
    Ok(FeatureSpec {
        version: Version::parse(version)?,
        stage: Stage::parse(stage).ok_or_else(wrong)?,
        default,
        locked,
        min_compatibility,
    })
}
