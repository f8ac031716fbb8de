//! The registry as JSON: what `pilothouse features registry` prints, and what verdicts read.

use json::{Value, json};

use crate::{Error, FeatureGate, FeatureSpec, Registry, Stage, Version};

impl Registry {
    pub fn to_json(&self) -> Value {
        let gates = self
            .gates
            .iter()
            .filter(|it| !it.is_special())
            .map(gate_to_json);
        json!({
            "version": (self.version.to_string()),
            "gates": (gates.collect::<Vec<Value>>()),
        })
    }

    /// Reads what [`Registry::to_json`] writes.
    pub fn from_json(value: &Value) -> Result<Self, Error> {
        let wrong = |what: &str| Error::Registry(what.to_owned());
        let version = value
            .str_at(&["version"])
            .ok_or_else(|| wrong("no version"))?;
        let gates = value.get("gates").and_then(Value::as_array);
        let gates = gates.ok_or_else(|| wrong("no array of gates"))?;
        let gates: Result<Vec<_>, _> = gates.iter().map(gate_from_json).collect();
        Self::new(Version::parse(version)?, gates?)
    }
}

fn gate_to_json(gate: &FeatureGate) -> Value {
    let specs = gate.specs.iter().map(|spec| {
        let mut value = json!({
            "version": (spec.version.to_string()),
            "stage": (spec.stage.as_str()),
            "default": (spec.default),
            "locked": (spec.locked),
        });
        if let (Some(min), Some(object)) = (spec.min_compatibility, value.as_object_mut()) {
            object.insert("minCompatibilityVersion", min.to_string());
        }
        value
    });
    let depends_on = gate.depends_on.iter().map(Value::from);
    json!({
        "name": (&gate.name),
        "library": (&gate.library),
        "specs": (specs.collect::<Vec<Value>>()),
        "dependsOn": (depends_on.collect::<Vec<Value>>()),
    })
}

fn gate_from_json(value: &Value) -> Result<FeatureGate, Error> {
    let name = value.str_at(&["name"]);
    let name = name.ok_or_else(|| Error::Registry("a gate without a name".to_owned()))?;
    let specs = value.get("specs").and_then(Value::as_array);
    let specs = specs
        .into_iter()
        .flatten()
        .map(|it| spec_from_json(name, it));
    let depends_on = value.get("dependsOn").and_then(Value::as_array);
    let depends_on = depends_on.into_iter().flatten().filter_map(Value::as_str);
    Ok(FeatureGate {
        name: name.to_owned(),
        library: value.str_at(&["library"]).unwrap_or("kube").to_owned(),
        specs: specs.collect::<Result<_, _>>()?,
        depends_on: depends_on.map(str::to_owned).collect(),
    })
}

fn spec_from_json(name: &str, value: &Value) -> Result<FeatureSpec, Error> {
    let missing = |what: &str| Error::Registry(format!("gate {name}: a spec without {what}"));
    let flag = |key: &str| value.get(key).and_then(Value::as_bool);
    let version = value
        .str_at(&["version"])
        .ok_or_else(|| missing("version"))?;
    let stage = value.str_at(&["stage"]).and_then(Stage::parse);
    let min = value.str_at(&["minCompatibilityVersion"]);
    Ok(FeatureSpec {
        version: Version::parse(version)?,
        stage: stage.ok_or_else(|| missing("stage"))?,
        default: flag("default").ok_or_else(|| missing("default"))?,
        locked: flag("locked").unwrap_or(false),
        min_compatibility: min.map(Version::parse).transpose()?,
    })
}
