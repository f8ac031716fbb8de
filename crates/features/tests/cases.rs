//! What the real package answers, recorded: `../shared/cases/features` beside the workspace.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use features::{Error, Flags, Phase, Registry, Settings, Stage, Version, Warning, options};
use json::{Value, json};
use requires::requires;

fn cases() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases/features");
    let text = fs::read_to_string(path.join("gates.jsonl")).expect("the file of cases");
    let parse = |line: &str| json::parse(line.as_bytes()).expect("a line of JSON");
    text.lines().map(parse).collect()
}

fn class(case: &Value) -> &str {
    case.str_at(&["class"]).expect("every line has a class")
}

fn one(class_name: &str) -> Value {
    let mut all = cases().into_iter();
    all.find(|it| class(it) == class_name).expect("one of it")
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn version(text: &str) -> Version {
    Version::parse(text).expect("a version")
}

#[requires(feature_cases)]
#[test]
fn the_registry_is_that_of_kube_apiserver() {
    let known = one("known");
    let registry = Registry::kubernetes();
    let gates = known
        .get("gates")
        .and_then(Value::as_object)
        .expect("gates");
    assert_eq!(registry.gates().len(), gates.len());
    for gate in registry.gates() {
        let stages = gates.get(&gate.name).and_then(Value::as_array);
        let stages = stages.unwrap_or_else(|| panic!("{} is not upstream's", gate.name));
        assert_eq!(gate.specs.len(), stages.len(), "{}", gate.name);
        for (spec, stage) in gate.specs.iter().zip(stages) {
            let is = |key: &str| stage.get(key).and_then(Value::as_bool) == Some(true);
            assert_eq!(stage.str_at(&["version"]), Some(&*spec.version.to_string()));
            assert_eq!(stage.str_at(&["stage"]), Some(spec.stage.as_str()));
            assert_eq!((is("default"), is("locked")), (spec.default, spec.locked));
            let min = spec.min_compatibility.map(|it| it.to_string());
            assert_eq!(stage.str_at(&["minCompatibilityVersion"]), min.as_deref());
        }
        let needed = known.at(&["dependencies", &gate.name]);
        assert_eq!(strings(needed), gate.depends_on, "{}", gate.name);
    }
}

#[requires(feature_cases)]
#[test]
fn help_shows_the_same_options() {
    let options = options(Registry::kubernetes(), version("1.37"), version("1.36"));
    assert_eq!(strings(one("help").get("options")), options);
}

#[requires(feature_cases)]
#[test]
fn defaults_at_all_versions_are_the_same() {
    let mut count = 0;
    for case in cases().iter().filter(|it| class(it) == "defaults") {
        let at = |key: &str| version(case.str_at(&[key]).expect("a version"));
        let (emulation, min) = (at("emulated"), at("minCompatibility"));
        let settings = Settings::defaults(Registry::kubernetes(), emulation, min);
        let enabled = settings.iter().filter(|(_, state)| state.enabled);
        let enabled: Vec<String> = enabled.map(|(gate, _)| gate.name.clone()).collect();
        assert_eq!(strings(case.get("enabled")), enabled, "{emulation} {min}");
        count += 1;
    }
    assert_eq!(count, 10);
}

#[requires(feature_cases)]
#[test]
fn every_command_line_has_upstreams_outcome() {
    let all = cases();
    let all: Vec<&Value> = all.iter().filter(|it| it.get("args").is_some()).collect();
    let wrong: Vec<String> = all.iter().filter_map(|it| problem(it)).collect();
    let (wrong_count, count) = (wrong.len(), all.len());
    assert!(
        wrong.is_empty(),
        "{wrong_count} of {count}:\n{}",
        wrong.join("\n")
    );
    assert_eq!(count, 620);
}

/// Nothing if the outcome is upstream's.
fn problem(case: &Value) -> Option<String> {
    let id = case.str_at(&["id"]).expect("every case has an id");
    let values = |flag: &str| strings(case.at(&["args", flag]));
    let flags = Flags {
        feature_gates: values("feature-gates"),
        emulated_version: values("emulated-version"),
        min_compatibility_version: values("min-compatibility-version"),
    };
    let phase = case.str_at(&["phase"]).expect("every case has a phase");
    let outcome = match flags.resolve(Registry::kubernetes()) {
        Ok(settings) if phase == "ok" => accepted(case, &settings),
        Ok(_) => Some("accepted".to_owned()),
        Err(error) => refused(case, phase, &error),
    };
    outcome.map(|it| format!("{id}: {it}"))
}

fn refused(case: &Value, phase: &str, error: &Error) -> Option<String> {
    let ours = match error.phase() {
        Phase::Parse => "parse",
        Phase::Set => "set",
        Phase::Validate => "validate",
    };
    let texts: BTreeSet<String> = error.each().iter().map(ToString::to_string).collect();
    let expected = strings(case.get("errors"));
    let any_of = case.get("errorsAnyOf").and_then(Value::as_array);
    let mut any_of: Vec<Vec<String>> = any_of
        .into_iter()
        .flatten()
        .map(|it| strings(Some(it)))
        .collect();
    if any_of.is_empty() {
        any_of.push(expected);
    }
    let is_expected = |it: &Vec<String>| it.iter().eq(&texts);
    if ours == phase && (any_of.iter().any(is_expected) || stopped_early(&any_of, &texts)) {
        return None;
    }
    Some(format!("{ours}: {texts:?}, not {phase}: {any_of:?}"))
}

/// One unknown gate with any selection of the other messages: upstream walks a map and stops at the first unknown gate.
fn stopped_early(any_of: &[Vec<String>], texts: &BTreeSet<String>) -> bool {
    let unknown = |it: &&String| it.starts_with("unrecognized feature gate: ");
    any_of.len() > 1
        && texts.iter().filter(unknown).count() == 1
        && texts
            .iter()
            .all(|it| any_of.iter().flatten().any(|known| known == it))
}

fn accepted(case: &Value, settings: &Settings<'_>) -> Option<String> {
    let versions = [settings.emulation(), settings.min_compatibility()].map(|it| it.to_string());
    let expected = ["emulated", "minCompatibility"].map(|it| case.str_at(&[it]));
    if expected != [Some(&*versions[0]), Some(&*versions[1])] {
        return Some(format!("{versions:?}, not {expected:?}"));
    }
    let defaults = Settings::defaults(
        settings.registry(),
        settings.emulation(),
        settings.min_compatibility(),
    );
    let mut wrong = Vec::new();
    for ((gate, state), (_, default)) in settings.iter().zip(defaults.iter()) {
        let shown = |it: features::GateState| {
            json!([(it.enabled), (it.spec.stage.as_str()), (it.spec.locked)])
        };
        let expected = case.at(&["gates", &gate.name]).cloned();
        let expected = expected.unwrap_or_else(|| shown(default));
        if shown(state) != expected {
            wrong.push(format!("{} is {}, not {expected}", gate.name, shown(state)));
        }
    }
    let ours: Vec<Value> = settings.warnings().iter().map(warning).collect();
    let expected = case.get("warnings").and_then(Value::as_array).cloned();
    let (ours, expected) = (sorted(ours), sorted(expected.unwrap_or_default()));
    if ours != expected {
        wrong.push(format!("warnings {ours:?}, not {expected:?}"));
    }
    (!wrong.is_empty()).then(|| wrong.join("; "))
}

fn warning(it: &Warning) -> Value {
    let message = it.message();
    match it {
        Warning::Deprecated { gate, value } | Warning::Ga { gate, value } => {
            json!({"featureGate": gate, "msg": message, "value": (*value)})
        }
        Warning::EmulatedAlpha { features } => {
            let features: Vec<Value> = features.iter().map(Value::from).collect();
            json!({"features": features, "msg": message})
        }
    }
}

fn sorted(all: Vec<Value>) -> BTreeSet<String> {
    let text = |mut it: Value| {
        it.sort_keys();
        it.to_string()
    };
    all.into_iter().map(text).collect()
}

#[test]
fn a_registry_survives_json() {
    let registry = Registry::kubernetes();
    let text = registry.to_json().to_string();
    let read = json::parse(text.as_bytes()).expect("JSON");
    assert_eq!(Registry::from_json(&read).as_ref(), Ok(registry));
    let stages = registry.gates().iter().flat_map(|it| &it.specs);
    assert!(stages.clone().any(|it| it.min_compatibility.is_some()));
    assert!(stages.clone().any(|it| it.stage == Stage::Deprecated));
}
