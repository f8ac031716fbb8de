//! Values against the rules of a structural schema: kube-openapi's checks in its order, with its texts, as apiextensions
//! turns them into errors of fields.
//!
//! Which of several failed alternatives is told depends on how much of each matched; so matches are counted as upstream
//! counts them.
//!
//! A value is walked twice at most: the first walk only counts what is wrong and builds neither paths nor texts; the
//! second, if there is something wrong, builds the errors until their list is full. Steps are bounded, too: many
//! alternatives for each of many items are a product of two sizes that clients choose.

mod number;
mod report;

use std::collections::HashMap;
use std::fmt::Write as _;

use json::{Number, Object, Value};
use meta::field::Error;
use meta::go::quote;

use super::ratchet::Old;
use super::{Rules, formats};
use crate::{NodeId, Place};
use report::{Problem, Report, general, invalid, name, wrong_type};

/// All that is wrong with an object.
pub fn validate(place: Place<'_>, value: &Value) -> Vec<Error> {
    run(place, value, None)
}

/// What is wrong and was not so before: an unchanged value that can be told from the others may stay wrong (KEP-4008).
pub fn validate_update(place: Place<'_>, value: &Value, old: &Value) -> Vec<Error> {
    let old = Old {
        place,
        value: old,
        is_root: true,
    };
    run(place, value, Some(old))
}

fn run(place: Place<'_>, value: &Value, old: Option<Old<'_>>) -> Vec<Error> {
    let mut steps = FREE_STEPS;
    let mut walk = Walk::new(None, steps);
    walk.node(place, value, old);
    if walk.steps_left == 0 {
        // Only what takes many steps is measured.
        steps = steps.max(STEPS_PER_NODE * (nodes(value) + place.nodes()));
        walk = Walk::new(None, steps);
        walk.node(place, value, old);
    }
    if walk.steps_left > 0 && walk.failures == 0 {
        return Vec::new();
    }
    // Alternatives within alternatives are counted once for each level.
    let mut walk = Walk::new(Some(Report::default()), steps.saturating_mul(4));
    walk.node(place, value, old);
    let errors = walk.report.map(Report::into_errors).unwrap_or_default();
    if errors.is_empty() {
        let text =
            "validating the object against the schema of its definition takes too many steps";
        return vec![Error::forbidden("<nil>", text)];
    }
    errors
}

/// Steps that any object may take. A step is one schema that one value is compared with.
const FREE_STEPS: usize = 1 << 20;
/// Steps for each value of the object and each schema of the definition.
const STEPS_PER_NODE: usize = 64;

fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(nodes).sum(),
        Value::Object(object) => object.values().map(nodes).sum(),
        _ => 0,
    }
}

struct Walk {
    /// Problems found so far.
    failures: usize,
    /// What is told; none while problems are only counted.
    report: Option<Report>,
    /// In a clause of `anyOf` and the like, where all is counted to find the alternative that came closest.
    in_clause: bool,
    steps_left: usize,
    /// Whether values are unchanged, by their addresses: the question comes up at each level above them.
    unchanged: HashMap<usize, bool>,
}

impl Walk {
    fn new(report: Option<Report>, steps: usize) -> Self {
        Self {
            failures: 0,
            report,
            in_clause: false,
            steps_left: steps,
            unchanged: HashMap::new(),
        }
    }

    /// Nothing further can change the result.
    fn is_over(&self) -> bool {
        self.steps_left == 0
            || match &self.report {
                Some(report) => report.is_full(),
                None => self.failures > 0 && !self.in_clause,
            }
    }

    fn step(&mut self, steps: usize) {
        self.steps_left = self.steps_left.saturating_sub(steps);
    }

    /// The problem is built only if it is told.
    fn problem(&mut self, problem: impl FnOnce(&str) -> Problem) {
        self.failures += 1;
        if let Some(report) = &mut self.report {
            report.add(problem);
        }
    }

    /// Goes down one step of the path.
    fn below<T>(&mut self, step: Step<'_>, walk: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.report.as_mut().map(|it| it.enter(step));
        let result = walk(self);
        if let (Some(report), Some(length)) = (&mut self.report, length) {
            report.leave(length);
        }
        result
    }

    /// Counts the failures and matches of a clause, and tells nothing.
    fn count(&mut self, place: Place<'_>, value: &Value) -> (usize, usize) {
        let (report, failures) = (self.report.take(), self.failures);
        let in_clause = std::mem::replace(&mut self.in_clause, true);
        self.failures = 0;
        let matches = self.clause(place, value, None);
        let failed = std::mem::replace(&mut self.failures, failures);
        self.in_clause = in_clause;
        self.report = report;
        (failed, matches)
    }

    /// A field, an item or the whole: an old value that is the same excuses it.
    fn node(&mut self, place: Place<'_>, value: &Value, old: Option<Old<'_>>) -> usize {
        let Some(old) = old else {
            return self.clause(place, value, None);
        };
        if self.report.is_some() {
            return if old.is(value, &mut self.unchanged) {
                0
            } else {
                self.clause(place, value, Some(old))
            };
        }
        let before = self.failures;
        let matches = self.clause(place, value, Some(old));
        if self.failures > before && old.is(value, &mut self.unchanged) {
            self.failures = before;
        }
        matches
    }

    /// Gives how much matched.
    fn clause(&mut self, place: Place<'_>, value: &Value, old: Option<Old<'_>>) -> usize {
        let node = place.node();
        let Some(rules) = &node.rules else {
            return 0;
        };
        if self.is_over() {
            return 0;
        }
        self.step(1);
        let mut matches = 0;
        if value.is_null() {
            matches += self.ty(rules, node.nullable, value);
            self.listed(rules, value);
            return matches;
        }
        if !rules.types.is_empty() || rules.format.is_some() {
            matches += self.ty(rules, node.nullable, value) + 1;
        }
        matches += self.junctors(place, rules, value) + 1;
        match value {
            Value::String(text) => {
                self.string(rules, text);
                matches += 1;
                if let Some(format) = &rules.format {
                    if !formats::matches(format, text) {
                        self.problem(|path| wrong_type(path, format, text));
                    }
                    matches += 1;
                }
            }
            Value::Number(number) => {
                self.number(rules, *number);
                matches += 2;
            }
            Value::Array(items) => {
                matches += self.array(place, rules, items, old) + 2;
            }
            _ => {}
        }
        self.listed(rules, value);
        matches += 1;
        if let Value::Object(object) = value {
            matches += self.members(place, rules, object, old) + 1;
        }
        matches + 1
    }

    fn ty(&mut self, rules: &Rules, nullable: bool, value: &Value) -> usize {
        let has = |name: &str| rules.types.iter().any(|it| *it == *name);
        let (found, format) = match value {
            Value::Null => {
                if rules.types.is_empty() || nullable {
                    return 1;
                }
                self.problem(|path| wrong_type(path, &rules.types.join(","), "null"));
                return 0;
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
                self.problem(|path| wrong_type(path, wanted, format));
                return 0;
            }
            if is_text && !has("number") && !has("integer") {
                return 1;
            }
        }
        if has(found) || converts {
            return 1;
        }
        self.problem(|path| wrong_type(path, &rules.types.join(","), found));
        0
    }

    /// Clauses do not see old values.
    fn junctors(&mut self, place: Place<'_>, rules: &Rules, value: &Value) -> usize {
        let mut matches = 0;
        if !rules.any_of.is_empty() {
            let (valid, best) = self.alternatives(place, &rules.any_of, value, true);
            if valid == 0 {
                self.problem(|path| {
                    let path = quote(path);
                    general(format!("{path} must validate at least one schema (anyOf)"))
                });
            }
            matches += self.tell(place, best, value);
        }
        if !rules.one_of.is_empty() {
            let (valid, best) = self.alternatives(place, &rules.one_of, value, false);
            if valid != 1 {
                self.problem(|path| {
                    let path = quote(path);
                    let found = match valid {
                        0 => "Found none valid".into(),
                        _ => format!("Found {valid} valid alternatives"),
                    };
                    general(format!(
                        "{path} must validate one and only one schema (oneOf). {found}"
                    ))
                });
            }
            if valid <= 1 {
                matches += self.tell(place, best, value);
            }
        }
        if !rules.all_of.is_empty() {
            let mut valid = 0;
            for id in &rules.all_of {
                let before = self.failures;
                matches += self.clause(place.at(*id), value, None);
                valid += usize::from(self.failures == before);
            }
            if valid != rules.all_of.len() {
                self.problem(|path| {
                    let path = quote(path);
                    let none = if valid == 0 { ". None validated" } else { "" };
                    general(format!(
                        "{path} must validate all the schemas (allOf){none}"
                    ))
                });
            }
        }
        if let Some(id) = rules.not
            && self.count(place.at(id), value).0 == 0
        {
            self.problem(|path| {
                general(format!(
                    "{} must not validate the schema (not)",
                    quote(path)
                ))
            });
        }
        matches + 1
    }

    /// How many are valid, and the first valid one, or else the one that came closest.
    fn alternatives(
        &mut self,
        place: Place<'_>,
        ids: &[NodeId],
        value: &Value,
        first: bool,
    ) -> (usize, Option<Alternative>) {
        let mut valid = 0;
        let mut best: Option<Alternative> = None;
        for id in ids {
            let (failures, matches) = self.count(place.at(*id), value);
            let this = Alternative {
                id: *id,
                failures,
                matches,
            };
            if failures == 0 {
                valid += 1;
                if valid == 1 {
                    best = Some(this);
                }
                if first {
                    break;
                }
            } else if valid == 0 && best.as_ref().is_none_or(|best| matches > best.matches) {
                best = Some(this);
            }
        }
        (valid, best)
    }

    /// What was wrong with an alternative, and how much of it matched.
    fn tell(&mut self, place: Place<'_>, best: Option<Alternative>, value: &Value) -> usize {
        let Some(best) = best else { return 0 };
        if best.failures > 0 && self.report.is_some() {
            return self.clause(place.at(best.id), value, None);
        }
        self.failures += best.failures;
        best.matches
    }

    fn listed(&mut self, rules: &Rules, value: &Value) {
        let values = &rules.values;
        if values.is_empty() || values.contains(value, |steps| self.step(steps)) {
            return;
        }
        self.problem(|path| {
            let supported = (values.as_slice().iter())
                .map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
            Problem {
                error: Error::not_supported(name(path), sorted(value), supported),
                text: format!("{path} in body should be one of {:?}", values.as_slice()),
            }
        });
    }

    fn string(&mut self, rules: &Rules, text: &str) {
        let length = || i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(max) = rules.max_length.filter(|max| length() > *max) {
            return self.problem(|path| Problem {
                error: Error::too_long(name(path), usize::try_from(max).unwrap_or_default()),
                text: format!("{path} in body should be at most {max} chars long"),
            });
        }
        if let Some(min) = rules.min_length.filter(|min| length() < *min) {
            return self.problem(|path| {
                invalid(path, text, &format!("should be at least {min} chars long"))
            });
        }
        let Some(pattern) = &rules.pattern else {
            return;
        };
        match pattern.is_match(text, &mut self.steps_left) {
            Ok(true) => {}
            Ok(false) => self.problem(|path| {
                let what = format!("should match '{}'", pattern.text());
                invalid(path, text, &what)
            }),
            Err(why) => self.problem(|path| {
                let pattern = pattern.text();
                let what = format!("should match '{pattern}, but pattern is invalid: {why}'");
                invalid(path, text, &what)
            }),
        }
    }

    fn array(
        &mut self,
        place: Place<'_>,
        rules: &Rules,
        items: &[Value],
        old: Option<Old<'_>>,
    ) -> usize {
        let mut matches = 0;
        if let Some(id) = rules.items {
            let old = old.and_then(Old::items);
            for (index, item) in items.iter().enumerate() {
                if self.is_over() {
                    break;
                }
                let old = old.as_ref().and_then(|old| old.find(item));
                matches += self.below(Step::Index(index), |walk| {
                    walk.node(place.at(id), item, old)
                });
            }
        }
        let size = i64::try_from(items.len()).unwrap_or(i64::MAX);
        if let Some(min) = rules.min_items.filter(|min| size < *min) {
            self.problem(|path| invalid(path, size, &format!("should have at least {min} items")));
        }
        if let Some(max) = rules.max_items.filter(|max| size > *max) {
            self.problem(|path| too_many(path, items.len(), max, "items"));
        }
        if rules.unique_items {
            let mut texts: Vec<String> = items.iter().map(|it| sorted(it).to_string()).collect();
            texts.sort_unstable();
            if texts.windows(2).any(|pair| pair[0] == pair[1]) {
                self.problem(|path| invalid(path, "", "shouldn't contain duplicates"));
            }
        }
        matches
    }

    fn members(
        &mut self,
        place: Place<'_>,
        rules: &Rules,
        object: &Object,
        old: Option<Old<'_>>,
    ) -> usize {
        let mut matches = 0;
        let size = i64::try_from(object.len()).unwrap_or(i64::MAX);
        if let Some(min) = rules.min_properties.filter(|min| size < *min) {
            self.problem(|path| {
                invalid(
                    path,
                    size,
                    &format!("should have at least {min} properties"),
                )
            });
        }
        if let Some(max) = rules.max_properties.filter(|max| size > *max) {
            self.problem(|path| too_many(path, object.len(), max, "properties"));
        }
        let child = |name: &str| old.and_then(|old: Old<'_>| old.field(name));
        // What the schema names is looked at in its order.
        let mut named: Vec<(usize, &str, &Value, NodeId)> = Vec::new();
        for (key, value) in object.iter() {
            if self.is_over() {
                return matches;
            }
            if let Some((at, id)) = rules.properties.find(key) {
                named.push((at, key, value, id));
            } else if rules.closed {
                self.problem(|path| {
                    let text = format!("{path}.{key} in body is a forbidden property");
                    Problem {
                        error: Error::invalid(name(path), key, text.clone()),
                        text,
                    }
                });
            } else if let Some(id) = rules.additional {
                matches += self.below(Step::Key(key), |walk| {
                    walk.node(place.at(id), value, child(key))
                });
            }
        }
        named.sort_unstable_by_key(|it| it.0);
        for (_, key, value, id) in named {
            matches += self.below(Step::Property(key), |walk| {
                walk.node(place.at(id), value, child(key))
            });
        }
        for key in &rules.required {
            if self.is_over() {
                break;
            }
            self.step(usize::from(self.in_clause));
            if !object.contains_key(key) {
                self.problem(|path| {
                    let path = format!("{path}.{key}");
                    Problem {
                        error: Error::required(name(&path), ""),
                        text: format!("{path} in body is required"),
                    }
                });
            }
        }
        matches
    }
}

/// One of several schemas, compared with a value.
struct Alternative {
    id: NodeId,
    failures: usize,
    matches: usize,
}

/// From a value to one within it.
#[derive(Clone, Copy)]
enum Step<'a> {
    /// A field that the schema names.
    Property(&'a str),
    /// Any other key.
    Key(&'a str),
    Index(usize),
}

impl Step<'_> {
    fn write(self, path: &mut String) {
        match self {
            Self::Property(key) if path.is_empty() => path.push_str(key),
            Self::Property(key) | Self::Key(key) => {
                path.push('.');
                path.push_str(key);
            }
            Self::Index(index) => write!(path, "[{index}]").expect("a String takes all"),
        }
    }
}

fn too_many(path: &str, found: usize, max: i64, what: &str) -> Problem {
    Problem {
        error: Error::too_many(
            name(path),
            Some(found),
            usize::try_from(max).unwrap_or_default(),
        ),
        text: format!("{path} in body should have at most {max} {what}"),
    }
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
