//! The value of `--feature-gates`: `[COMPONENT:]GATE=BOOL,...`

use std::collections::BTreeMap;

use meta::go::parse_bool;

use super::KUBE;
use crate::Error;

/// What each component is to get, without its prefix; a missing prefix is an empty one.
pub(super) fn by_component(values: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for pair in values.iter().flat_map(|it| it.split(',')) {
        if pair.is_empty() {
            continue;
        }
        let (component, gate) = pair.split_once(':').unwrap_or(("", pair));
        let gates = all.entry(component.trim().to_owned()).or_default();
        gates.push(gate.trim().to_owned());
    }
    all
}

/// What Kubernetes' own component is to get, if anything.
///
/// Upstream walks a map in random order and gives up at the first problem; here the mix of prefixes comes first.
pub(super) fn of_kube(all: &BTreeMap<String, Vec<String>>) -> Result<Option<String>, Error> {
    if all.contains_key("") && all.contains_key(KUBE) {
        return Err(Error::MixedPrefixes);
    }
    let mut components = all.keys();
    if let Some(unknown) = components.find(|it| !it.is_empty() && *it != KUBE) {
        return Err(Error::UnknownComponent(unknown.clone()));
    }
    let gates = all.get("").or_else(|| all.get(KUBE));
    Ok(gates.map(|it| it.join(",")))
}

/// The last value of a gate counts.
pub(super) fn parse(text: &str) -> Result<BTreeMap<String, bool>, Error> {
    let mut all = BTreeMap::new();
    for item in text.split(',').filter(|it| !it.is_empty()) {
        let (gate, value) = match item.split_once('=') {
            Some((gate, value)) => (gate.trim(), value.trim()),
            None => return Err(Error::MissingBool(item.trim().to_owned())),
        };
        let value = parse_bool(value).map_err(|error| Error::InvalidBool {
            gate: gate.to_owned(),
            error,
        })?;
        all.insert(gate.to_owned(), value);
    }
    Ok(all)
}
