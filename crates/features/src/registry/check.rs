//! What a gate's declaration must obey: the checks of upstream's `AddVersioned` and `AddDependencies`.

use std::collections::{BTreeMap, BTreeSet};

use meta::go::quote;

use crate::{Error, FeatureGate, FeatureSpec, Stage};

/// Checks the specs of a gate, and lets each inherit the minimum compatibility version of the one before it.
pub(super) fn completed(mut gate: FeatureGate) -> Result<FeatureGate, Error> {
    let mut last: Option<FeatureSpec> = None;
    let mut past: Vec<FeatureSpec> = Vec::new();
    for spec in &mut gate.specs {
        let problem = match &last {
            None => first(spec),
            Some(last) => min_compatibility(spec, last).or_else(|| step(spec, last, &past)),
        };
        if let Some(problem) = problem {
            return Err(Error::Declaration(
                problem.replace("{}", &quote(&gate.name)),
            ));
        }
        past.push(*spec);
        spec.min_compatibility = spec
            .min_compatibility
            .or(last.and_then(|it| it.min_compatibility));
        last = Some(*spec);
    }
    gate.depends_on.sort_unstable();
    gate.depends_on.dedup();
    Ok(gate)
}

fn first(spec: &FeatureSpec) -> Option<String> {
    if let Some(min) = spec.min_compatibility {
        return Some(without_preceding(min));
    }
    let late = spec.stage == Stage::Deprecated && spec.version.minor != 0;
    late.then(|| {
        "feature {} introduced as deprecated must provide a 1.0 entry indicating initial state"
            .to_owned()
    })
}

fn without_preceding(min: crate::Version) -> String {
    format!(
        "feature {{}} specified MinCompatibilityVersion: {min} without a preceding entry at the same Version without MinCompatibilityVersion set"
    )
}

fn min_compatibility(spec: &FeatureSpec, last: &FeatureSpec) -> Option<String> {
    let min = spec.min_compatibility?;
    if spec.version != last.version {
        return Some(without_preceding(min));
    }
    let version = spec.version;
    (min > version).then(|| {
        format!("feature {{}} MinCompatibilityVersion {min} greater than Version {version}")
    })
}

fn step(spec: &FeatureSpec, last: &FeatureSpec, past: &[FeatureSpec]) -> Option<String> {
    let (now, before) = (spec.version, last.version);
    let decreasing = |what: &str, now: crate::Version, before: crate::Version| {
        format!("feature {{}} lists {what} transitions in decreasing order ({now} < {before})")
    };
    if now < before {
        return Some(decreasing("version", now, before));
    }
    if let (Some(min), Some(last)) = (spec.min_compatibility, last.min_compatibility)
        && min < last
    {
        return Some(decreasing("min compatibility version", min, last));
    }
    if now == before {
        if spec.min_compatibility == last.min_compatibility {
            return Some(format!(
                "feature {{}} lists duplicate entries with the same versions ({now} = {before})"
            ));
        }
        if spec.stage != last.stage {
            let (from, to) = (last.stage.prerelease(), spec.stage.prerelease());
            return Some(format!(
                "feature {{}} lists stability changes with the same version ({from} -> {to})"
            ));
        }
        if spec.locked != last.locked {
            let (from, to) = (last.locked, spec.locked);
            return Some(format!(
                "feature {{}} lists locked to default changes with the same version ({from} -> {to})"
            ));
        }
    }
    if spec.stage == last.stage && spec.default == last.default && spec.locked == last.locked {
        return Some(format!(
            "feature {{}} lists transition without stability change ({before} -> {now})"
        ));
    }
    let was = |stage: Stage| past.iter().any(|it| it.stage == stage);
    if past.iter().any(|it| it.locked) && !spec.locked {
        return Some("feature {} must not unlock after locking to default".to_owned());
    }
    if was(Stage::Deprecated) && spec.stage != Stage::Deprecated {
        return Some("deprecated feature {} must not resurrect from its terminal state".to_owned());
    }
    let regresses = match spec.stage {
        Stage::Alpha => was(Stage::Beta) || was(Stage::Ga),
        Stage::Beta => was(Stage::Ga),
        _ => false,
    };
    regresses.then(|| {
        let stage = spec.stage.prerelease();
        format!("feature {{}} regresses stability from more stable level to {stage} in {now}")
    })
}

pub(super) fn dependencies(gates: &BTreeMap<String, FeatureGate>) -> Result<(), Error> {
    for (name, gate) in gates {
        for needed in &gate.depends_on {
            let Some(dependency) = gates.get(needed) else {
                return Err(Error::Declaration(format!(
                    "cannot add dependency from {name} to unknown feature {needed}"
                )));
            };
            // The most recent version first, as upstream does for more intuitive messages.
            let problem = gate
                .specs
                .iter()
                .rev()
                .find_map(|it| edge(gate, it, dependency));
            if let Some(problem) = problem {
                return Err(Error::Declaration(problem));
            }
        }
    }
    let mut finished = BTreeSet::new();
    for name in gates.keys() {
        cycle(gates, name, &mut finished)?;
    }
    Ok(())
}

fn edge(gate: &FeatureGate, spec: &FeatureSpec, dependency: &FeatureGate) -> Option<String> {
    let version = spec.version;
    let min = spec.min_compatibility.unwrap_or(version.minus_minor(1));
    let needed = dependency.spec_at(version, min);
    let (name, other) = (&gate.name, &dependency.name);
    if spec.stage.stability() > needed.stage.stability() {
        let (stage, lower) = (spec.stage.prerelease(), needed.stage.prerelease());
        return Some(format!(
            "{stage} feature {name} cannot depend on {lower} feature {other} at version {version}"
        ));
    }
    if spec.default && !needed.default {
        return Some(format!(
            "default-enabled feature {name} cannot depend on default-disabled feature {other} at version {version}"
        ));
    }
    (spec.locked && !needed.locked).then(|| {
        format!(
            "locked-to-default feature {name} cannot depend on unlocked feature {other} at version {version}"
        )
    })
}

/// Follows the dependencies of a gate without recursion: a chain may be as long as the registry.
fn cycle<'a>(
    gates: &'a BTreeMap<String, FeatureGate>,
    start: &'a str,
    finished: &mut BTreeSet<&'a str>,
) -> Result<(), Error> {
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut path: Vec<(&str, usize)> = vec![(start, 0)];
    while let Some((name, next)) = path.pop() {
        if next == 0 {
            if finished.contains(name) {
                continue;
            }
            if !open.insert(name) {
                return Err(Error::Declaration(format!(
                    "cycle detected with feature {name}"
                )));
            }
        }
        let needed = gates.get(name).and_then(|it| it.depends_on.get(next));
        if let Some(needed) = needed {
            path.push((name, next + 1));
            path.push((needed, 0));
        } else {
            open.remove(name);
            finished.insert(name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{Error, FeatureGate, Registry, Version};

    /// A registry of lines as the table of gates has them.
    fn declared(lines: &[&str]) -> Result<(), String> {
        let text = format!("version 1.37\n{}", lines.join("\n"));
        let registry = crate::registry::table::parse(&text);
        registry.map(drop).map_err(|it: Error| it.to_string())
    }

    fn refused(lines: &[&str], expected: &str) {
        assert_eq!(declared(lines), Err(expected.to_owned()), "{lines:?}");
    }

    #[test]
    fn specs_are_checked_as_upstream_does() {
        assert_eq!(declared(&["A 1.35:alpha- 1.36:beta+ 1.37:ga+!"]), Ok(()));
        assert_eq!(declared(&["A 1.35:beta- 1.35:beta+@1.35"]), Ok(()));
        let deprecated = "feature \"A\" introduced as deprecated must provide a 1.0 entry indicating initial state";
        refused(&["A 1.35:deprecated-"], deprecated);
        let preceding = "feature \"A\" specified MinCompatibilityVersion: 1.35 without a preceding entry at the same Version without MinCompatibilityVersion set";
        refused(&["A 1.35:beta-@1.35"], preceding);
        refused(&["A 1.34:alpha- 1.35:beta-@1.35"], preceding);
        for (line, problem) in [
            (
                "A 1.35:beta- 1.35:beta+@1.36",
                "MinCompatibilityVersion 1.36 greater than Version 1.35",
            ),
            (
                "A 1.35:alpha- 1.34:beta-",
                "lists version transitions in decreasing order (1.34 < 1.35)",
            ),
            (
                "A 1.35:beta- 1.35:beta+@1.35 1.35:beta-@1.34",
                "lists min compatibility version transitions in decreasing order (1.34 < 1.35)",
            ),
            (
                "A 1.35:alpha- 1.35:alpha+",
                "lists duplicate entries with the same versions (1.35 = 1.35)",
            ),
            (
                "A 1.35:alpha- 1.35:beta-@1.35",
                "lists stability changes with the same version (ALPHA -> BETA)",
            ),
            (
                "A 1.35:beta- 1.35:beta+!@1.35",
                "lists locked to default changes with the same version (false -> true)",
            ),
            (
                "A 1.35:alpha- 1.36:alpha-",
                "lists transition without stability change (1.35 -> 1.36)",
            ),
            (
                "A 1.35:ga+! 1.36:ga+",
                "must not unlock after locking to default",
            ),
            (
                "A 1.35:ga+ 1.36:beta+",
                "regresses stability from more stable level to BETA in 1.36",
            ),
            (
                "A 1.35:beta+ 1.36:alpha+",
                "regresses stability from more stable level to ALPHA in 1.36",
            ),
        ] {
            refused(&[line], &format!("feature \"A\" {problem}"));
        }
        let resurrected = "deprecated feature \"A\" must not resurrect from its terminal state";
        refused(&["A 1.0:ga+ 1.35:deprecated- 1.36:beta+"], resurrected);
        refused(
            &["A 1.35:alpha-", "A 1.35:alpha+"],
            "feature gate \"A\" with different spec already exists",
        );
    }

    #[test]
    fn dependencies_are_checked_as_upstream_does() {
        assert_eq!(
            declared(&["A 1.35:alpha- needs=B", "B 1.36:alpha-"]),
            Ok(())
        );
        for (lines, problem) in [
            (
                ["A 1.35:alpha- needs=C", "B 1.35:alpha-"],
                "cannot add dependency from A to unknown feature C",
            ),
            (
                ["A 1.35:beta- needs=B", "B 1.35:alpha-"],
                "BETA feature A cannot depend on ALPHA feature B at version 1.35",
            ),
            (
                ["A 1.35:ga- needs=B", "B 1.36:beta-"],
                " feature A cannot depend on PRE-ALPHA feature B at version 1.35",
            ),
            (
                ["A 1.35:beta+ needs=B", "B 1.35:beta-"],
                "default-enabled feature A cannot depend on default-disabled feature B at version 1.35",
            ),
            (
                ["A 1.35:ga+! needs=B", "B 1.35:ga+"],
                "locked-to-default feature A cannot depend on unlocked feature B at version 1.35",
            ),
            (
                ["A 1.35:alpha- needs=B", "B 1.35:alpha- needs=A"],
                "cycle detected with feature A",
            ),
        ] {
            refused(&lines, problem);
        }
    }

    #[test]
    fn a_long_chain_does_not_exhaust_the_stack() {
        let gate = |at: usize| FeatureGate {
            name: format!("Gate{at:05}"),
            library: "test".to_owned(),
            specs: Vec::new(),
            depends_on: vec![format!("Gate{:05}", (at + 1) % 60_000)],
        };
        let error = Registry::new(Version::new(1, 37), (0..60_000).map(gate));
        assert!(matches!(error, Err(Error::Declaration(_))));
    }
}
