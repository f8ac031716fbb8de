//! What claims, classes and slices have in common.

use std::sync::OnceLock;

use cel::kubernetes::{self, DeviceFeatures, Mode};
use cel::{Env, Type};
use json::Value;
use meta::names;

use super::{Errors, Field};
use crate::validate::sources::csi_driver_name;

/// Of an expression in characters, and of opaque parameters in bytes.
const LONGEST: usize = 10 << 10;
/// Of the part of a name behind its domain.
const ID: usize = 32;
const SELECTORS: usize = 32;
const CONFIGS: usize = 32;
const EFFECTS: [&str; 3] = ["NoExecute", "NoSchedule", "None"];

/// What the declarative rules count, not the others.
pub(super) fn count(e: &mut Errors, all: &Field, max: usize) {
    if all.len() > max {
        e.late(|e| e.too_many(all, max));
    }
}

pub(super) fn selectors(e: &mut Errors, all: &Field) {
    count(e, all, SELECTORS);
    for selector in all.items() {
        let cel = selector.child("cel");
        let expression = cel.child("expression");
        if !cel.is_set() {
            e.required(&cel, "");
        } else if expression.len() > LONGEST {
            e.too_long(&expression, LONGEST);
        } else if !e.is_full() {
            self::expression(e, &expression);
        }
    }
}

/// As the gates are by default: `DRAConsumableCapacity` is on, `DRAListTypeAttributes` is off.
const FEATURES: DeviceFeatures = DeviceFeatures {
    consumable_capacity: true,
    list_attributes: false,
};
/// What an expression may cost at most.
const MAX_COST: u64 = 1_000_000;

/// An expression that selects devices must compile with what the version before this one knows.
fn expression(e: &mut Errors, at: &Field) {
    static ENVIRONMENT: OnceLock<Env> = OnceLock::new();
    let env = ENVIRONMENT.get_or_init(|| {
        kubernetes::device_environment(kubernetes::environment(37, Mode::New), FEATURES)
    });
    let compiled = match env.compile(at.str()) {
        Ok(compiled) => compiled,
        Err(issues) => return e.invalid(at, &format!("compilation failed: {issues}")),
    };
    let of = compiled.output_type();
    if !matches!(of, Type::Bool | Type::Any) {
        let why = format!("must evaluate to bool or the unknown type, not {of}");
        return e.invalid(at, &why);
    }
    if let Err(error) = compiled.program() {
        return e.push_with(|| {
            let why = format!("program instantiation failed: {error}");
            meta::field::Error::internal(at.path, why)
        });
    }
    if compiled.estimate(&FEATURES).max > MAX_COST {
        e.forbidden(at, "too complex, exceeds cost limit");
    }
}

/// Each is opaque to all but its driver.
pub(super) fn configs(e: &mut Errors, all: &Field) {
    count(e, all, CONFIGS);
    for config in all.items() {
        configuration(e, &config);
    }
}

pub(super) fn configuration(e: &mut Errors, it: &Field) {
    let opaque = it.child("opaque");
    if !opaque.is_set() {
        return e.required(&opaque, "");
    }
    e.late(|e| {
        let driver = opaque.child("driver");
        if e.required_text(&driver) {
            if driver.len() > 63 {
                e.too_long(&driver, 63);
            }
            e.invalid_all(&driver, names::dns1123_subdomain_caseless(driver.str()));
        }
    });
    let parameters = opaque.child("parameters");
    match parameters.value {
        Value::Null => e.required(&parameters, ""),
        Value::Object(_) if json::to_vec(parameters.value).len() > LONGEST => {
            e.too_long(&parameters, LONGEST);
        }
        Value::Object(_) => {}
        _ => e.invalid_value(
            &parameters,
            "<value omitted>",
            "must be a valid JSON object",
        ),
    }
}

pub(super) fn tolerations(e: &mut Errors, all: &Field) {
    for it in all.items() {
        let (key, value) = (it.child("key"), it.child("value"));
        if !key.is_empty() {
            e.late(|e| e.qualified_name(&key));
        }
        let operator = it.child("operator");
        match operator.str() {
            "Exists" if !value.is_empty() => {
                e.invalid(&value, "must be empty for operator `Exists`");
            }
            "Exists" => {}
            "Equal" => e.invalid_all(&value, names::label_value(value.str())),
            "" => e.late(|e| e.required(&operator, "")),
            _ => e.late(|e| e.not_supported(&operator, &["Equal", "Exists"])),
        }
        let effect = it.child("effect");
        if !effect.is_empty() && !EFFECTS.contains(&effect.str()) {
            e.late(|e| e.not_supported(&effect, &EFFECTS));
        }
    }
}

pub(super) fn taint(e: &mut Errors, it: &Field) {
    e.qualified_name(&it.child("key"));
    let (value, effect) = (it.child("value"), it.child("effect"));
    if !value.is_empty() {
        e.invalid_all(&value, names::label_value(value.str()));
    }
    match effect.str() {
        "" => e.late(|e| e.required(&effect, "")),
        other if EFFECTS.contains(&other) => {}
        _ => e.late(|e| e.not_supported(&effect, &EFFECTS)),
    }
}

/// A C identifier, with or without a domain; `at` is where it is told of.
pub(super) fn qualified_name(e: &mut Errors, at: &Field, name: &str) {
    match name.split('/').collect::<Vec<_>>().as_slice() {
        [id] => identifier(e, at, id),
        [domain, id] => {
            if domain.is_empty() {
                e.invalid_value(at, "", "the domain must not be empty");
            } else {
                csi_driver_name(e, &at.with(&Value::from(*domain)));
            }
            if id.is_empty() {
                e.invalid_value(at, "", "the name must not be empty");
            } else {
                identifier(e, at, id);
            }
        }
        _ => {}
    }
}

pub(super) fn fully_qualified_name(e: &mut Errors, at: &Field) {
    qualified_name(e, at, at.str());
    if !at.str().contains('/') {
        let why = "a fully qualified name must be a domain and a name separated by a slash";
        e.invalid(at, why);
    }
}

fn identifier(e: &mut Errors, at: &Field, id: &str) {
    if id.len() > ID {
        e.too_long(at, ID);
    }
    for why in names::c_identifier(id) {
        e.invalid_value(at, id, &why);
    }
}

/// Names whose parts are separated by slashes.
pub(super) fn pool_name(e: &mut Errors, it: &Field) {
    if !e.required_text(it) {
        return;
    }
    if it.len() > 253 {
        e.too_long(it, 253);
    }
    let parts: std::collections::BTreeSet<&str> = it.str().split('/').collect();
    for part in parts {
        for why in names::dns1123_subdomain(part) {
            e.invalid_value(it, part, &why);
        }
    }
}
