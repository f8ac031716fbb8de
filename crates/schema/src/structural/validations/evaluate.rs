//! Rules on objects: in the order, with the texts and within the budget of upstream.
//!
//! Values are borrowed: an evaluation copies no part of an object.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use cel::{Activation, ErrorKind, Limits, Program};
use json::Value;
use meta::field::{Error, ErrorList, Path};

use super::compile::{Compiled, Reason, Rule};
use super::correlate::{Correlation, OldItems};
use super::{Budget, Validator};
use crate::Place;
use crate::structural::ratchet::Old;

/// What rules say of an object.
#[derive(Debug, Default)]
pub struct Outcome {
    pub errors: Vec<Error>,
    /// Errors that the object had before, where nothing has changed.
    pub warnings: Vec<String>,
    /// What is left of the budget; less than zero if it ran out, and not all rules were looked at.
    pub remaining: i64,
    /// How long each place with rules at or below it took, with all below it.
    pub times: Vec<Duration>,
}

/// No longer message comes from an expression.
const MAX_MESSAGE: usize = 5120;

const NO_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

impl Validator {
    /// Looks at an object, and at what it was before: rules on changes need that.
    pub fn validate(
        &self,
        path: &Path<'_>,
        value: &Value,
        old: Option<&Value>,
        budget: Budget,
    ) -> Outcome {
        self.run(path, value, old, Correlation::default(), budget)
    }

    /// The same for an update: what was wrong before and has not changed is only warned of. The schema is at `place`.
    pub fn validate_update(
        &self,
        path: &Path<'_>,
        place: Place<'_>,
        value: &Value,
        old: &Value,
        budget: Budget,
    ) -> Outcome {
        let root = Old {
            place,
            value: old,
            is_root: true,
        };
        self.run(
            path,
            value,
            Some(old),
            Correlation::root(Some(root)),
            budget,
        )
    }

    fn run(
        &self,
        path: &Path<'_>,
        value: &Value,
        old: Option<&Value>,
        correlation: Correlation<'_>,
        budget: Budget,
    ) -> Outcome {
        let mut walk = Walk {
            per_call: budget.per_call,
            remaining: budget.total,
            errors: ErrorList::default(),
            warnings: ErrorList::default(),
            unchanged: HashMap::new(),
            times: Vec::new(),
        };
        // Whether it went to the end is told by what remains.
        let _ = walk.node(self, path, value, old, correlation);
        let warnings = walk.warnings.into_vec();
        Outcome {
            errors: walk.errors.into_vec(),
            warnings: warnings.iter().map(Error::to_string).collect(),
            remaining: walk.remaining,
            times: walk.times,
        }
    }

    /// Messages can use `oldSelf` if any rule of the same place does.
    fn uses_old_self(&self) -> bool {
        self.rules.iter().any(|it| it.uses_old_self)
    }
}

struct Walk {
    per_call: u64,
    remaining: i64,
    errors: ErrorList,
    warnings: ErrorList,
    /// Whether values are unchanged, by their addresses.
    unchanged: HashMap<usize, bool>,
    times: Vec<Duration>,
}

/// Ends when the budget is used up, or when no more errors are kept.
type Flow = ControlFlow<()>;

impl Walk {
    fn node<'a>(
        &mut self,
        validator: &'a Validator,
        path: &Path<'_>,
        value: &'a Value,
        old: Option<&'a Value>,
        correlation: Correlation<'a>,
    ) -> Flow {
        let begun = Instant::now();
        let flow = self.visit(validator, path, value, old, correlation);
        self.times.push(begun.elapsed());
        flow
    }

    fn visit<'a>(
        &mut self,
        validator: &'a Validator,
        path: &Path<'_>,
        value: &'a Value,
        old: Option<&'a Value>,
        correlation: Correlation<'a>,
    ) -> Flow {
        // Whether a value may be null is for rules around it.
        if value.is_null() {
            return Flow::Continue(());
        }
        let old = old.filter(|it| !it.is_null());
        self.rules(validator, path, value, old, correlation)?;
        for clause in &validator.all_of {
            self.node(clause, path, value, old, correlation.clause())?;
        }
        match value {
            Value::Array(items) => {
                if let Some(below) = validator.items() {
                    self.items(validator, below, path, (value, items), old, correlation)?;
                }
            }
            Value::Object(object) => {
                let old = old.filter(|it| validator.is_correlatable && it.as_object().is_some());
                for (key, it) in object.iter() {
                    let below = match &validator.additional {
                        Some(below) => Some((path.key(key), &**below)),
                        None => validator.property(key).map(|it| (path.child(key), it)),
                    };
                    if let Some((path, below)) = below {
                        let old = old.and_then(|old| old.get(key));
                        self.node(below, &path, it, old, correlation.key(value, key))?;
                    }
                }
            }
            _ => {}
        }
        Flow::Continue(())
    }

    fn items<'a>(
        &mut self,
        validator: &'a Validator,
        below: &'a Validator,
        path: &Path<'_>,
        (list, items): (&'a Value, &'a [Value]),
        old: Option<&'a Value>,
        correlation: Correlation<'a>,
    ) -> Flow {
        let keys = validator.list_keys.as_deref();
        let old = keys.zip(old).and_then(|(keys, it)| OldItems::new(keys, it));
        let unchanged = correlation.items();
        for (index, item) in items.iter().enumerate() {
            let old = old.as_ref().and_then(|it| it.find(item));
            let correlation = correlation.item(list, unchanged.as_ref(), item);
            self.node(below, &path.index(index), item, old, correlation)?;
        }
        Flow::Continue(())
    }

    /// The rules of one place.
    fn rules<'a>(
        &mut self,
        validator: &'a Validator,
        path: &Path<'_>,
        value: &'a Value,
        old: Option<&'a Value>,
        correlation: Correlation<'a>,
    ) -> Flow {
        if validator.rules.is_empty() {
            return Flow::Continue(());
        }
        if self.remaining <= 0 {
            return self.stop(validator, path, NO_BUDGET.to_owned());
        }
        let mut variables = Variables::new(validator, value, old);
        for rule in &validator.rules {
            if self.errors.is_full() {
                return Flow::Break(());
            }
            let program = match &rule.program {
                Compiled::Empty => continue,
                Compiled::Failed(why) => {
                    let detail = format!("rule compile error: {why}");
                    self.invalid(validator, path, detail);
                    continue;
                }
                Compiled::Ready(program) => program,
            };
            if rule.uses_old_self && old.is_none() && !rule.optional_old_self {
                continue;
            }
            variables.is_optional = rule.optional_old_self;
            if !self.holds(validator, rule, program, path, &variables)? {
                variables.is_optional = false;
                let place = Broken {
                    validator,
                    rule,
                    path,
                    value,
                    correlation,
                };
                self.broken(&place, &variables)?;
            }
        }
        Flow::Continue(())
    }

    /// Whether a rule is kept. An error in it is told, and counts as if it were.
    fn holds<'a>(
        &mut self,
        validator: &Validator,
        rule: &'a Rule,
        program: &'a Program,
        path: &Path<'_>,
        variables: &Variables<'a>,
    ) -> ControlFlow<(), bool> {
        let (result, cost) = program.evaluate(variables, self.limits());
        if self.pay(cost).is_none() {
            self.stop(validator, path, NO_BUDGET.to_owned())?;
        }
        let why = match result {
            Ok(it) => return ControlFlow::Continue(it.as_bool() == Some(true)),
            Err(why) => why,
        };
        let name = &rule.name;
        let detail = match why.kind() {
            ErrorKind::NoSuchOverload => format!(
                "'{why}': call arguments did not match a supported operator, function or macro signature for rule: {name}"
            ),
            ErrorKind::CostLimit => {
                let detail = format!(
                    "'{why}': no further validation rules will be run due to call cost exceeds limit for rule: {name}"
                );
                self.stop(validator, path, detail)?;
                return ControlFlow::Break(());
            }
            ErrorKind::Evaluation | ErrorKind::Interrupted | ErrorKind::Internal => {
                format!("{why} evaluating rule: {name}")
            }
        };
        self.invalid(validator, path, detail);
        ControlFlow::Continue(true)
    }

    /// Tells of a rule that is not kept.
    fn broken<'a>(&mut self, place: &Broken<'a, '_>, variables: &Variables<'a>) -> Flow {
        let detail = match &place.rule.message_program {
            Compiled::Ready(program) => match self.message(place.rule, program, variables) {
                Ok(Some(detail)) => detail,
                Ok(None) => place.rule.message.to_string(),
                Err(detail) => {
                    let kind = place.validator.kind.clone();
                    self.tell(place, |path| Error::invalid(path, kind, detail));
                    self.remaining = -1;
                    return Flow::Break(());
                }
            },
            Compiled::Empty | Compiled::Failed(_) => place.rule.message.to_string(),
        };
        // Objects and lists are not shown.
        let is_shown = !matches!(&*place.validator.kind, "object" | "array");
        let value = place.value;
        self.tell(place, |path| match place.rule.reason {
            Reason::Forbidden => Error::forbidden(path, detail),
            Reason::Required => Error::required(path, detail),
            Reason::Duplicate if is_shown => Error::duplicate(path, value.clone()),
            Reason::Duplicate => Error {
                kind: meta::field::ErrorKind::Duplicate,
                detail: String::new(),
                ..Error::invalid_omitted(path, "")
            },
            Reason::Invalid if is_shown => Error::invalid(path, value.clone(), detail),
            Reason::Invalid => Error::invalid_omitted(path, detail),
        });
        Flow::Continue(())
    }

    /// The message that an expression gives; nothing if it gives none that can be told. An error ends all.
    fn message<'a>(
        &mut self,
        rule: &Rule,
        program: &'a Program,
        variables: &Variables<'a>,
    ) -> Result<Option<String>, String> {
        let (result, cost) = program.evaluate(variables, self.limits());
        if self.pay(cost).is_none() {
            let text = "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run";
            return Err(text.to_owned());
        }
        let text = match &result {
            Ok(it) => it.as_str().unwrap_or_default().trim(),
            Err(why) if why.kind() == ErrorKind::CostLimit => {
                let text = meta::go::quote(&rule.message_expression);
                return Err(format!(
                    "no further validation rules will be run due to call cost exceeds limit for messageExpression: {text}"
                ));
            }
            Err(_) => return Ok(None),
        };
        let is_told = !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n');
        Ok(is_told.then(|| text.to_owned()))
    }

    /// A rule that does not look at changes is not broken by an update that changes nothing there.
    fn tell(&mut self, place: &Broken<'_, '_>, error: impl FnOnce(Path<'_>) -> Error) {
        let is_excused = !place.rule.uses_old_self
            && (place.correlation).is_unchanged(place.value, &mut self.unchanged);
        let list = if is_excused {
            &mut self.warnings
        } else {
            &mut self.errors
        };
        list.push_with(|| match &place.rule.field_path {
            Some(below) => error(place.path.child(below)),
            None => error(*place.path),
        });
    }

    fn invalid(&mut self, validator: &Validator, path: &Path<'_>, detail: String) {
        let kind = validator.kind.clone();
        self.errors.push_with(|| Error::invalid(path, kind, detail));
    }

    /// Tells why, and that no other rule is looked at.
    fn stop(&mut self, validator: &Validator, path: &Path<'_>, detail: String) -> Flow {
        self.invalid(validator, path, detail);
        self.remaining = -1;
        Flow::Break(())
    }

    fn limits(&self) -> Limits<'static> {
        Limits {
            cost: self.per_call,
            interrupt: None,
        }
    }

    fn pay(&mut self, cost: u64) -> Option<()> {
        let cost = i64::try_from(cost).ok()?;
        self.remaining = Some(self.remaining - cost).filter(|it| *it >= 0)?;
        Some(())
    }
}

/// A rule that is not kept, and where.
struct Broken<'a, 'p> {
    validator: &'a Validator,
    rule: &'a Rule,
    path: &'p Path<'p>,
    value: &'a Value,
    correlation: Correlation<'a>,
}

/// `self` and `oldSelf`.
pub(super) struct Variables<'a> {
    pub(super) schema: &'a cel::Schema,
    pub(super) value: &'a Value,
    pub(super) old: Option<&'a Value>,
    /// Some rule here uses `oldSelf`.
    pub(super) has_old_self: bool,
    /// The rule takes `oldSelf` as an optional.
    pub(super) is_optional: bool,
}

impl<'a> Variables<'a> {
    fn new(validator: &'a Validator, value: &'a Value, old: Option<&'a Value>) -> Self {
        Self {
            schema: &validator.schema,
            value,
            old,
            has_old_self: validator.uses_old_self(),
            is_optional: false,
        }
    }
}

impl<'a> Activation<'a> for Variables<'a> {
    fn variable(&self, name: &str) -> Option<Result<cel::Value<'a>, cel::Error>> {
        let typed = |value| cel::Value::typed(value, self.schema);
        match name {
            "self" => Some(typed(self.value)),
            "oldSelf" if !self.has_old_self => None,
            "oldSelf" if self.is_optional => Some(match self.old {
                Some(old) => typed(old).map(cel::Value::some),
                None => Ok(cel::Value::NONE),
            }),
            "oldSelf" => self.old.map(typed),
            _ => None,
        }
    }
}
