//! Writes the tables of the `features` crate from the lists of Kubernetes' feature gates and of the fields they guard.
//!
//! Only facts are taken: names, versions, stages, defaults, locks, dependencies.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use json::Value;

use crate::Outcome;

const GATES: &str = "crates/features/tables/gates.txt";
const FIELDS: &str = "crates/features/tables/fields.txt";

/// The two gates that every registry of `component-base/featuregate` has.
const SPECIAL: [&str; 2] = ["AllAlpha 0.0:alpha-", "AllBeta 0.0:beta-"];

const GATES_HEAD: &str = "\
# Kubernetes' feature gates, sorted by name. `cargo xtask feature-tables` writes this file.
# NAME [library=LIBRARY] VERSION:STAGE(+|-)[!][@MIN]... [needs=GATE,...]
# + on by default, - off by default, ! locked to the default, @MIN only from this minimum compatibility version on.
";

const FIELDS_HEAD: &str = "\
# API fields and enum values (=VALUE) that a feature gate guards. `cargo xtask feature-tables` writes this file.
# PACKAGE/VERSION TYPE FIELD|=VALUE GATE [field|holder|member|forbidden]
# While the gate is off a field is dropped, unless the stored object uses any field of the gate; `field`: unless it has this
# field; `holder`: what holds the field is dropped, unless it was there; `member`: what holds the field is dropped too if
# nothing is left in it; `forbidden`: refused, not dropped.
";

/// The type of a constant: package, value, type. The list of fields does not say it.
const VALUE_TYPES: &[(&str, &str, &str)] =
    &[("apps/v1", "Recreate", "StatefulSetUpdateStrategyType")];

/// Fields that kube-apiserver treats in another way than most (`dropDisabled...` in `pkg/registry` and `pkg/api`, and
/// `+k8s:ifDisabled(...)=+k8s:forbidden` where nothing drops the field before): type, field, rule.
const RULES: &[(&str, &str, &str)] = &[
    ("LeaseSpec", "strategy", "field"),
    ("LeaseSpec", "preferredHolder", "field"),
    (
        "PersistentVolumeClaimSpec",
        "volumeAttributesClassName",
        "field",
    ),
    (
        "PersistentVolumeClaimStatus",
        "currentVolumeAttributesClassName",
        "field",
    ),
    ("PersistentVolumeClaimStatus", "modifyVolumeStatus", "field"),
    ("TypedObjectReference", "namespace", "holder"),
    ("JobSpec", "scheduling", "forbidden"),
    ("Lifecycle", "stopSignal", "member"),
];

/// Fields that kube-apiserver drops although no `+featureGate` marks them.
const UNMARKED: &[&str] = &["core/v1\tLifecycle\tstopSignal\tContainerStopSignals"];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let data = match arguments {
        [] => PathBuf::from("../shared/data"),
        [option, value] if option == "--data" => value.into(),
        _ => return Err("the only option is --data DIR".to_owned()),
    };
    for (path, text) in tables(&data)? {
        fs::create_dir_all(Path::new(path).parent().unwrap_or(Path::new(".")))
            .and_then(|()| fs::write(path, &text))
            .map_err(|error| format!("write {path}: {error}"))?;
        println!("{path}: {} bytes", text.len());
    }
    Ok(())
}

fn tables(data: &Path) -> Result<[(&'static str, String); 2], String> {
    let gates = read(&data.join("feature-gates.json"))?;
    let gates = json::parse(gates.as_bytes()).map_err(|error| format!("feature gates: {error}"))?;
    let fields = read(&data.join("feature-fields.tsv"))?;
    Ok([
        (GATES, gate_table(&gates)?),
        (FIELDS, field_table(&fields)?),
    ])
}

fn gate_table(gates: &Value) -> Result<String, String> {
    let gates = gates.as_array().ok_or("feature gates: not an array")?;
    let mut lines: Vec<String> = SPECIAL.map(str::to_owned).into();
    let mut newest = (0, 0);
    for gate in gates {
        lines.push(gate_line(gate, &mut newest)?);
    }
    lines.sort_by(|one, other| name(one).cmp(name(other)));
    let (major, minor) = newest;
    Ok(format!(
        "{GATES_HEAD}version {major}.{minor}\n{}\n",
        lines.join("\n")
    ))
}

fn name(line: &str) -> &str {
    line.split(' ').next().unwrap_or_default()
}

fn gate_line(gate: &Value, newest: &mut (u32, u32)) -> Result<String, String> {
    let name = gate.str_at(&["name"]).ok_or("a gate without a name")?;
    let missing = |what: &str| format!("{name}: no {what}");
    let mut line = name.to_owned();
    match gate.str_at(&["library"]) {
        None | Some("kube") => {}
        Some(library) => add(&mut line, format_args!(" library={library}")),
    }
    let specs = gate.get("specs").and_then(Value::as_array);
    for spec in specs.ok_or_else(|| missing("specs"))? {
        let text = |key: &str| spec.str_at(&[key]);
        let flag = |key: &str| spec.get(key).and_then(Value::as_bool) == Some(true);
        let version = text("version").ok_or_else(|| missing("version"))?;
        let stage = text("stage").ok_or_else(|| missing("stage"))?;
        let parsed = version
            .split_once('.')
            .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        *newest = (*newest).max(parsed.ok_or_else(|| missing("major.minor version"))?);
        let sign = if flag("default") { '+' } else { '-' };
        let stage = stage.to_ascii_lowercase();
        add(&mut line, format_args!(" {version}:{stage}{sign}"));
        if flag("locked") {
            line.push('!');
        }
        if let Some(min) = text("minCompatibility") {
            add(&mut line, format_args!("@{min}"));
        }
    }
    let needs = gate.get("dependsOn").and_then(Value::as_array);
    let needs = needs.into_iter().flatten().filter_map(Value::as_str);
    let mut needs: Vec<&str> = needs.collect();
    needs.sort_unstable();
    if !needs.is_empty() {
        add(&mut line, format_args!(" needs={}", needs.join(",")));
    }
    Ok(line)
}

fn field_table(rows: &str) -> Result<String, String> {
    let mut table = FIELDS_HEAD.to_owned();
    for row in rows.lines().skip(1).chain(UNMARKED.iter().copied()) {
        let columns: Vec<&str> = row.split('\t').collect();
        let [api, kind, field, gate] = columns[..] else {
            return Err(format!("gated fields: not four columns: {row}"));
        };
        // Internal types have no field names: each has versions that are rows of their own.
        if !field.is_empty() {
            let api = package(api).ok_or_else(|| format!("gated fields: which API? {row}"))?;
            let (kind, mark) = match kind {
                "const" => (value_type(api, field)?, "="),
                _ => (kind, ""),
            };
            add(
                &mut table,
                format_args!("{api} {kind} {mark}{field} {gate}"),
            );
            let rule = RULES.iter().find(|it| (it.0, it.1) == (kind, field));
            if let Some((_, _, rule)) = rule {
                add(&mut table, format_args!(" {rule}"));
            }
            table.push('\n');
        }
    }
    Ok(table)
}

fn value_type(api: &str, value: &str) -> Result<&'static str, String> {
    let found = VALUE_TYPES.iter().find(|it| (it.0, it.1) == (api, value));
    let missing = || format!("gated fields: of which type is the value {value} of {api}?");
    found.map(|it| it.2).ok_or_else(missing)
}

/// `GROUP/VERSION`, also out of the path of a Go file.
fn package(api: &str) -> Option<&str> {
    let directory = match api.split_once("/pkg/apis/") {
        Some((_, path)) => path.rsplit_once('/')?.0,
        None => api,
    };
    (directory.split('/').count() == 2).then_some(directory)
}

fn add(to: &mut String, text: std::fmt::Arguments<'_>) {
    to.write_fmt(text).expect("a String takes all");
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[requires::requires(feature_data)]
    #[test]
    fn the_committed_feature_tables_are_current() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (path, text) in tables(&root.join("../shared/data")).unwrap() {
            let committed = fs::read_to_string(root.join(path)).unwrap();
            assert!(
                committed == text,
                "{path} is stale: cargo xtask feature-tables"
            );
        }
    }
}
