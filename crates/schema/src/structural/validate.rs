//! Values against the rules of a structural schema: kube-openapi's checks in its order, with its texts, as apiextensions
//! turns them into errors of fields.
//!
//! Which of several failed alternatives is told depends on how much of each matched; so matches are counted as upstream
//! counts them.

mod number;
mod ratchet;

use std::collections::HashSet;

use json::{Number, Object, Value};
use meta::field::Error;
use meta::go::quote;

use super::{Rules, formats};
use crate::Place;
use ratchet::Old;

/// All that is wrong with an object.
pub fn validate(place: Place<'_>, value: &Value) -> Vec<Error> {
    node(place, value, None, "").errors()
}

/// What is wrong and was not so before: an unchanged value that can be told from the others may stay wrong (KEP-4008).
pub fn validate_update(place: Place<'_>, value: &Value, old: &Value) -> Vec<Error> {
    let old = Old { place, value: old };
    node(place, value, Some(old), "").errors()
}

#[derive(Default)]
struct Outcome {
    problems: Vec<Problem>,
    matches: usize,
}

struct Problem {
    /// Each is told once.
    text: String,
    error: Error,
}

impl Outcome {
    fn merge(&mut self, other: Outcome) {
        self.matches += other.matches;
        self.problems.extend(other.problems);
    }

    fn push(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    fn add(&mut self, problem: Option<Problem>) {
        self.problems.extend(problem);
    }

    fn errors(self) -> Vec<Error> {
        let mut seen = HashSet::new();
        let problems = self.problems.into_iter();
        problems
            .filter_map(|it| seen.insert(it.text).then_some(it.error))
            .collect()
    }
}

/// The name of a field in errors; the object itself has none.
fn name(path: &str) -> String {
    match path.strip_prefix('.').unwrap_or(path) {
        "" => "<nil>".into(),
        path => path.into(),
    }
}

fn invalid(path: &str, value: impl Into<Value>, what: &str) -> Problem {
    let text = format!("{path} in body {what}");
    Problem {
        error: Error::invalid(name(path), value, text.clone()),
        text,
    }
}

/// What is told of the whole object, whatever the path in the text.
fn general(text: String) -> Problem {
    Problem {
        error: Error::invalid("<nil>", "", text.clone()),
        text,
    }
}

fn wrong_type(path: &str, wanted: &str, found: &str) -> Problem {
    let text = format!("{path} in body must be of type {wanted}: {}", quote(found));
    Problem {
        error: Error::type_invalid(name(path), found, text.clone()),
        text,
    }
}

/// A field, an item or the whole: an old value that is the same excuses it.
fn node(place: Place<'_>, value: &Value, old: Option<Old<'_>>, path: &str) -> Outcome {
    let mut outcome = clause(place, value, old, path);
    if !outcome.problems.is_empty() && old.is_some_and(|old| old.is(value)) {
        outcome.problems.clear();
    }
    outcome
}

fn clause(place: Place<'_>, value: &Value, old: Option<Old<'_>>, path: &str) -> Outcome {
    let mut all = Outcome::default();
    let node = place.node();
    let Some(rules) = &node.rules else {
        return all;
    };
    if value.is_null() {
        all.merge(ty(rules, node.nullable, value, path));
        all.add(listed(rules, value, path));
        return all;
    }
    if !rules.types.is_empty() || rules.format.is_some() {
        all.merge(ty(rules, node.nullable, value, path));
        all.matches += 1;
    }
    all.merge(junctors(place, rules, value, path));
    all.matches += 1;
    match value {
        Value::String(text) => {
            all.add(string(rules, text, path));
            all.matches += 1;
            if let Some(format) = &rules.format {
                if !formats::matches(format, text) {
                    all.push(wrong_type(path, format, text));
                }
                all.matches += 1;
            }
        }
        Value::Number(number) => {
            all.merge(number::check(rules, *number, path));
            all.matches += 2;
        }
        Value::Array(items) => {
            all.merge(array(place, rules, items, old, path));
            all.matches += 2;
        }
        _ => {}
    }
    all.add(listed(rules, value, path));
    all.matches += 1;
    if let Value::Object(object) = value {
        all.merge(members(place, rules, object, old, path));
        all.matches += 1;
    }
    all.matches += 1;
    all
}

fn ty(rules: &Rules, nullable: bool, value: &Value, path: &str) -> Outcome {
    let mut outcome = Outcome::default();
    let has = |name: &str| rules.types.iter().any(|it| *it == *name);
    let wanted = rules.types.join(",");
    let (found, format) = match value {
        Value::Null => {
            if rules.types.is_empty() || nullable {
                outcome.matches += 1;
            } else {
                outcome.push(wrong_type(path, &wanted, "null"));
            }
            return outcome;
        }
        Value::Number(Number::Int(_)) => ("integer", "int64"),
        Value::Number(Number::Float(_)) => ("number", "float64"),
        other => (other.type_name(), ""),
    };
    let converts = match value {
        Value::Number(Number::Int(_)) => has("number"),
        Value::Number(Number::Float(it)) => has("integer") && number::is_whole(*it),
        _ => false,
    };
    let is_text = matches!(value, Value::String(_) | Value::Array(_));
    if let Some(wanted) = &rules.format {
        if !is_text && !has(found) && !converts && *wanted != format {
            outcome.push(wrong_type(path, wanted, format));
            return outcome;
        }
        if is_text && !has("number") && !has("integer") {
            outcome.matches += 1;
            return outcome;
        }
    }
    if has(found) || converts {
        outcome.matches += 1;
    } else {
        outcome.push(wrong_type(path, &wanted, found));
    }
    outcome
}

/// Clauses do not see old values.
fn junctors(place: Place<'_>, rules: &Rules, value: &Value, path: &str) -> Outcome {
    let mut all = Outcome::default();
    let quoted = quote(path);
    if !rules.any_of.is_empty() {
        let (valid, best) = alternatives(place, &rules.any_of, value, path, true);
        if valid == 0 {
            all.push(general(format!(
                "{quoted} must validate at least one schema (anyOf)"
            )));
        }
        all.merge(best);
    }
    if !rules.one_of.is_empty() {
        let (valid, best) = alternatives(place, &rules.one_of, value, path, false);
        if valid != 1 {
            let found = match valid {
                0 => "Found none valid".into(),
                _ => format!("Found {valid} valid alternatives"),
            };
            let text = format!("{quoted} must validate one and only one schema (oneOf). {found}");
            all.push(general(text));
        }
        if valid <= 1 {
            all.merge(best);
        }
    }
    if !rules.all_of.is_empty() {
        let mut valid = 0;
        for id in &rules.all_of {
            let outcome = clause(place.at(*id), value, None, path);
            valid += usize::from(outcome.problems.is_empty());
            all.merge(outcome);
        }
        if valid != rules.all_of.len() {
            let none = if valid == 0 { ". None validated" } else { "" };
            all.push(general(format!(
                "{quoted} must validate all the schemas (allOf){none}"
            )));
        }
    }
    if let Some(id) = rules.not
        && clause(place.at(id), value, None, path).problems.is_empty()
    {
        all.push(general(format!(
            "{quoted} must not validate the schema (not)"
        )));
    }
    all.matches += 1;
    all
}

/// How many are valid, and the first valid one, or else the one that came closest.
fn alternatives(
    place: Place<'_>,
    ids: &[crate::NodeId],
    value: &Value,
    path: &str,
    first: bool,
) -> (usize, Outcome) {
    let mut valid = 0;
    let mut best: Option<Outcome> = None;
    for id in ids {
        let outcome = clause(place.at(*id), value, None, path);
        if outcome.problems.is_empty() {
            valid += 1;
            if valid == 1 {
                best = Some(outcome);
            }
            if first {
                break;
            }
        } else if valid == 0
            && best
                .as_ref()
                .is_none_or(|best| outcome.matches > best.matches)
        {
            best = Some(outcome);
        }
    }
    (valid, best.unwrap_or_default())
}

fn listed(rules: &Rules, value: &Value, path: &str) -> Option<Problem> {
    // A number becomes what the listed one is before they are compared: upstream finds 1 in 1.5.
    let same = |it: &Value| match (it, value) {
        (Value::Number(a @ Number::Int(_)), Value::Number(b)) => {
            a.as_f64().total_cmp(&b.as_f64().trunc()).is_eq()
        }
        (Value::Number(a), Value::Number(b)) => a.as_f64().total_cmp(&b.as_f64()).is_eq(),
        _ => it == value && !value.is_null(),
    };
    if rules.values.is_empty() || rules.values.iter().any(same) {
        return None;
    }
    let supported = rules
        .values
        .iter()
        .map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
    Some(Problem {
        error: Error::not_supported(name(path), sorted(value), supported),
        text: format!("{path} in body should be one of {:?}", rules.values),
    })
}

fn string(rules: &Rules, text: &str, path: &str) -> Option<Problem> {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    if let Some(max) = rules.max_length.filter(|max| length > *max) {
        return Some(Problem {
            error: Error::too_long(name(path), usize::try_from(max).unwrap_or_default()),
            text: format!("{path} in body should be at most {max} chars long"),
        });
    }
    if let Some(min) = rules.min_length.filter(|min| length < *min) {
        return Some(invalid(
            path,
            text,
            &format!("should be at least {min} chars long"),
        ));
    }
    let pattern = rules.pattern.as_ref()?;
    let what = match &pattern.compiled {
        Ok(compiled) if compiled.is_match(text) => return None,
        Ok(_) => format!("should match '{}'", pattern.text),
        Err(why) => format!(
            "should match '{}, but pattern is invalid: {why}'",
            pattern.text
        ),
    };
    Some(invalid(path, text, &what))
}

fn array(
    place: Place<'_>,
    rules: &Rules,
    items: &[Value],
    old: Option<Old<'_>>,
    path: &str,
) -> Outcome {
    let mut all = Outcome::default();
    if let Some(id) = rules.items {
        let old = old.and_then(Old::items);
        for (index, item) in items.iter().enumerate() {
            let old = old.as_ref().and_then(|old| old.find(item));
            all.merge(node(place.at(id), item, old, &format!("{path}[{index}]")));
        }
    }
    let size = i64::try_from(items.len()).unwrap_or(i64::MAX);
    if let Some(min) = rules.min_items.filter(|min| size < *min) {
        all.push(invalid(
            path,
            size,
            &format!("should have at least {min} items"),
        ));
    }
    if let Some(max) = rules.max_items.filter(|max| size > *max) {
        all.push(Problem {
            error: Error::too_many(
                name(path),
                Some(items.len()),
                usize::try_from(max).unwrap_or_default(),
            ),
            text: format!("{path} in body should have at most {max} items"),
        });
    }
    if rules.unique_items {
        let mut texts: Vec<String> = items.iter().map(|it| sorted(it).to_string()).collect();
        texts.sort_unstable();
        if texts.windows(2).any(|pair| pair[0] == pair[1]) {
            all.push(invalid(path, "", "shouldn't contain duplicates"));
        }
    }
    all
}

/// As Go writes it: its maps have their keys in order.
pub(super) fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let pairs = object
                .iter()
                .map(|(key, value)| (key.clone(), sorted(value)));
            let mut object: Object = pairs.collect();
            object.sort_keys();
            Value::Object(object)
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

fn members(
    place: Place<'_>,
    rules: &Rules,
    object: &Object,
    old: Option<Old<'_>>,
    path: &str,
) -> Outcome {
    let mut all = Outcome::default();
    let size = i64::try_from(object.len()).unwrap_or(i64::MAX);
    if let Some(min) = rules.min_properties.filter(|min| size < *min) {
        all.push(invalid(
            path,
            size,
            &format!("should have at least {min} properties"),
        ));
    }
    if let Some(max) = rules.max_properties.filter(|max| size > *max) {
        all.push(Problem {
            error: Error::too_many(
                name(path),
                Some(object.len()),
                usize::try_from(max).unwrap_or_default(),
            ),
            text: format!("{path} in body should have at most {max} properties"),
        });
    }
    let child = |name: &str| old.and_then(|old: Old<'_>| old.field(path, name));
    for (key, value) in object.iter() {
        if rules.properties.iter().any(|(name, _)| name == key) {
            continue;
        }
        if rules.closed {
            let text = format!("{path}.{key} in body is a forbidden property");
            all.push(Problem {
                error: Error::invalid(name(path), key, text.clone()),
                text,
            });
        } else if let Some(id) = rules.additional {
            all.merge(node(
                place.at(id),
                value,
                child(key),
                &format!("{path}.{key}"),
            ));
        }
    }
    for (key, id) in &rules.properties {
        if let Some(value) = object.get(key) {
            let below = if path.is_empty() {
                key.to_string()
            } else {
                format!("{path}.{key}")
            };
            all.merge(node(place.at(*id), value, child(key), &below));
        }
    }
    for key in &rules.required {
        if !object.contains_key(key) {
            let path = format!("{path}.{key}");
            all.push(Problem {
                error: Error::required(name(&path), ""),
                text: format!("{path} in body is required"),
            });
        }
    }
    all
}
