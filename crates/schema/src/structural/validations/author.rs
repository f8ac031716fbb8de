//! What authors of definitions are told of their rules: texts, types, and what rules cost at most.

use std::cell::RefCell;
use std::sync::Arc;

use json::Value;
use meta::field::{Error, ErrorList, Path};

use super::compile::{Compilation, Compiled, Declared};
use super::{Environments, RULES, field_path, is_embedded};
use crate::structural::definition::ExpressionCost;

/// What one expression may cost at most.
const MAX_COST: u64 = 10_000_000;
/// What all expressions of a schema may cost at most.
const MAX_TOTAL_COST: u64 = 100_000_000;
/// So many of the most expensive ones are named.
const MOST_NAMED: usize = 4;

const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

/// The rules of a whole schema, as its author is told of them.
pub(in crate::structural) struct Author<'a> {
    environments: Environments<'a>,
    /// An unchanged schema may keep expressions that cost too much.
    is_unchanged: bool,
    /// Where the costs of expressions that compile are noted.
    costs: Option<&'a RefCell<Vec<ExpressionCost>>>,
    errors: ErrorList,
    total: u64,
    most_expensive: Vec<(String, u64)>,
}

/// The place of a schema in those around it.
#[derive(Clone)]
pub(in crate::structural) struct Context {
    types: Types,
    /// How often values of this schema can be in an object; nothing if there is no bound.
    cardinality: Option<u64>,
}

/// The types of a schema that has rules, or is within one that has.
#[derive(Clone)]
enum Types {
    /// No rules here or above.
    Unneeded,
    /// Expressions cannot see this, nor what is below.
    Unknown,
    Known(Arc<cel::Schema>),
}

/// From a schema to one within it.
#[derive(Clone, Copy)]
pub(in crate::structural) enum Child<'a> {
    Property(&'a str),
    Values,
    Items,
}

impl Types {
    fn of(schema: &Value, is_root: bool) -> Self {
        Self::new(Arc::new(cel::Schema::from_json(schema, is_root)))
    }

    fn new(schema: Arc<cel::Schema>) -> Self {
        match schema.min_serialized_size() {
            Some(_) => Self::Known(schema),
            None => Self::Unknown,
        }
    }
}

impl Context {
    pub(in crate::structural) fn root(schema: &Value) -> Self {
        let types = if has_rules(schema) {
            Types::of(schema, true)
        } else {
            Types::Unneeded
        };
        Self {
            types,
            cardinality: Some(1),
        }
    }

    /// Of a schema within this one.
    pub(in crate::structural) fn child(
        &self,
        schema: &Value,
        step: Child<'_>,
        child: &Value,
    ) -> Self {
        let types = match &self.types {
            Types::Unneeded if has_rules(child) => Types::of(child, is_embedded(child)),
            Types::Unneeded => Types::Unneeded,
            Types::Unknown => Types::Unknown,
            Types::Known(parent) => {
                let known = match step {
                    Child::Property(name) => parent.property(name),
                    Child::Values => parent.additional(),
                    Child::Items => parent.items(),
                };
                // The metadata of resources has its own type, which is not all that was declared.
                let known = known.cloned().map(Types::new);
                known.unwrap_or_else(|| Types::of(child, is_embedded(child)))
            }
        };
        let factor = max_elements(schema);
        Self {
            types,
            cardinality: (self.cardinality.zip(factor)).map(|(a, b)| a.saturating_mul(b)),
        }
    }

    /// The types that rules of `schema`, which is at this place, would see, and how often its values can be in an object.
    pub(super) fn as_if_it_had_rules(
        &self,
        schema: &Value,
        is_root: bool,
    ) -> (Option<Arc<cel::Schema>>, Option<u64>) {
        let types = match &self.types {
            Types::Unneeded => Types::of(schema, is_root || is_embedded(schema)),
            known => known.clone(),
        };
        match types {
            Types::Known(types) => {
                let repeated = self.cardinality.or_else(|| types.max_cardinality());
                (Some(types), repeated)
            }
            Types::Unknown | Types::Unneeded => (None, self.cardinality),
        }
    }
}

fn has_rules(schema: &Value) -> bool {
    Declared::all(schema).next().is_some()
}

/// How many values a schema has of those below it; nothing if there is no bound.
fn max_elements(schema: &Value) -> Option<u64> {
    let bound = |key: &str| {
        let max = schema.get(key).and_then(Value::as_i64)?;
        Some(u64::try_from(max).unwrap_or(0))
    };
    match schema.str_at(&["type"]) {
        Some("object")
            if schema
                .get("additionalProperties")
                .is_some_and(|it| !it.is_null()) =>
        {
            bound("maxProperties")
        }
        Some("array") => bound("maxItems"),
        _ => Some(1),
    }
}

/// What is wrong with the rules of a schema before anything is compiled.
pub(in crate::structural) fn check_texts(path: &Path<'_>, schema: &Value, errors: &mut ErrorList) {
    let all = path.child(RULES);
    for (index, rule) in Declared::all(schema).enumerate() {
        let at = all.index(index);
        let (trimmed, message) = (rule.rule.trim(), rule.message.trim());
        if trimmed.is_empty() {
            errors.push_with(|| Error::required(at.child("rule"), "rule is not specified"));
        } else if !rule.message.is_empty() && message.is_empty() {
            let text = "must be non-empty if specified";
            errors.push_with(|| Error::invalid(at.child("message"), rule.message, text));
        } else if has_line_breaks(message) {
            let text = "must not contain line breaks";
            errors.push_with(|| Error::invalid(at.child("message"), rule.message, text));
        } else if has_line_breaks(trimmed) && message.is_empty() {
            let text = "message must be specified if rule contains line breaks";
            errors.push_with(|| Error::required(at.child("message"), text));
        }
        if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
            let text = "messageExpression must be non-empty if specified";
            errors.push_with(|| Error::required(at.child("messageExpression"), text));
        }
        if let Some(reason) = rule.reason.filter(|it| !REASONS.contains(it)) {
            errors.push_with(|| Error::not_supported(at.child("reason"), reason, REASONS));
        }
        check_field_path(&at, schema, rule.field_path, errors);
    }
}

fn check_field_path(at: &Path<'_>, schema: &Value, path: &str, errors: &mut ErrorList) {
    if path.is_empty() {
        return;
    }
    let mut wrong =
        |text: &str| errors.push_with(|| Error::invalid(at.child("fieldPath"), path, text));
    if path.trim().is_empty() {
        wrong("must be non-empty if specified");
    }
    if has_line_breaks(path) {
        wrong("must not contain line breaks");
    }
    if field_path(schema, path, true).is_err() {
        wrong("must be a valid path");
    }
}

fn has_line_breaks(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

impl<'a> Author<'a> {
    pub(in crate::structural) fn new(
        environments: Environments<'a>,
        is_unchanged: bool,
        costs: Option<&'a RefCell<Vec<ExpressionCost>>>,
    ) -> Self {
        Self {
            environments,
            is_unchanged,
            costs,
            errors: ErrorList::default(),
            total: 0,
            most_expensive: Vec::new(),
        }
    }

    /// Compiles the rules of one schema. Those on changes need values that can be told from others: `uncorrelatable` is
    /// where that ends.
    pub(in crate::structural) fn check(
        &mut self,
        path: &Path<'_>,
        schema: &Value,
        context: &Context,
        uncorrelatable: Option<&Path<'_>>,
    ) {
        let all = path.child(RULES);
        let Types::Known(types) = &context.types else {
            let text = "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
            return self.errors.push_with(|| Error::internal(all, text));
        };
        let repeated = context.cardinality.or_else(|| types.max_cardinality());
        let compiled = Compilation::all(schema, types, &self.environments);
        for (index, (rule, compiled)) in compiled.into_iter().enumerate() {
            let at = all.index(index);
            let at_rule = at.child("rule");
            let cost = compiled
                .max_cost
                .saturating_mul(repeated.unwrap_or(u64::MAX));
            self.limit("estimated rule cost", &at_rule, cost);
            self.observe(&at_rule, cost);
            if let Compiled::Ready(_) = compiled.program {
                self.note(&at_rule, cost);
            }
            if let Compiled::Failed(why) = compiled.program {
                self.errors
                    .push_with(|| Error::invalid(at_rule, rule.shown(), why));
            }
            let at_message = at.child("messageExpression");
            match compiled.message {
                Compiled::Failed(why) => {
                    let error = || Error::invalid(at_message, rule.shown(), why);
                    self.errors.push_with(error);
                }
                Compiled::Ready(_) => {
                    let cost = compiled.message_max_cost;
                    self.limit("estimated messageExpression cost", &at_message, cost);
                    self.observe(&at_message, cost);
                    self.note(&at_message, cost);
                }
                Compiled::Empty => {}
            }
            match (compiled.uses_old_self, uncorrelatable, rule.optional_old_self) {
                (true, Some(within), _) => self.errors.push_with(|| {
                    let text = format!(
                        "oldSelf cannot be used on the uncorrelatable portion of the schema within {within}"
                    );
                    Error::invalid(at_rule, rule.rule, text)
                }),
                (false, _, Some(value)) => self.errors.push_with(|| {
                    let text = "may not be set if oldSelf is not used in rule";
                    Error::invalid(at.child("optionalOldSelf"), value, text)
                }),
                _ => {}
            }
        }
    }

    fn limit(&mut self, what: &str, path: &Path<'_>, cost: u64) {
        if cost > MAX_COST && !self.is_unchanged {
            let text = too_expensive(what, cost, MAX_COST);
            self.errors.push_with(|| Error::forbidden(path, text));
        }
    }

    fn note(&self, path: &Path<'_>, cost: u64) {
        if let Some(costs) = self.costs {
            costs.borrow_mut().push(ExpressionCost {
                path: path.to_string(),
                cost,
                limit: MAX_COST,
            });
        }
    }

    fn observe(&mut self, path: &Path<'_>, cost: u64) {
        self.total = self.total.saturating_add(cost);
        if cost < MAX_TOTAL_COST / 100 {
            return;
        }
        let cheapest = self.most_expensive.last();
        if self.most_expensive.len() == MOST_NAMED && cheapest.is_some_and(|it| it.1 >= cost) {
            return;
        }
        self.most_expensive.push((path.to_string(), cost));
        self.most_expensive
            .sort_by_key(|it| std::cmp::Reverse(it.1));
        self.most_expensive.truncate(MOST_NAMED);
    }

    /// All that was found, and whether the schema as a whole costs too much.
    pub(in crate::structural) fn finish(self, path: &Path<'_>) -> ErrorList {
        let mut errors = self.errors;
        if self.total > MAX_TOTAL_COST {
            for (path, _) in &self.most_expensive {
                let text = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
                errors.push_with(|| Error::forbidden(path, text));
            }
            let what =
                "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
            let text = too_expensive(what, self.total, MAX_TOTAL_COST);
            errors.push_with(|| Error::forbidden(path, text));
        }
        errors
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a factor for people to read, which upstream computes so"
)]
fn too_expensive(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}
