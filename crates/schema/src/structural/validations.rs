//! Rules of definitions in CEL (`x-kubernetes-validations`): compiled once for each schema, evaluated on objects.
//!
//! A [`Validator`] is a tree beside the schema that has only those nodes that have rules, or rules below them. What has no
//! rules is never looked at.

mod author;
mod compile;
mod correlate;
mod evaluate;
mod field_path;
mod scope;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use cel::kubernetes::{self, PER_CALL_LIMIT, RUNTIME_COST_BUDGET};
use json::{Object, Text, Value};
use meta::field::{Error, ErrorKind, Path};

pub(super) use author::{Author, Child, Context, check_texts};
pub use compile::KnownExpressions;
pub(super) use compile::{Environments, MINOR};
pub use evaluate::Outcome;
pub(super) use field_path::field_path;
pub use scope::{RuleScope, ScopeError, ScopedValue, declared};

use super::{flag, texts};
use crate::Place;
use compile::Rule;

const RULES: &str = "x-kubernetes-validations";

/// The rules of a schema and of all that is below it, ready to run.
#[derive(Debug)]
pub struct Validator {
    schema: Arc<cel::Schema>,
    /// The declared type, which errors show.
    kind: Text,
    rules: Vec<Rule>,
    all_of: Vec<Validator>,
    /// In the order of the names.
    properties: Vec<(Text, Validator)>,
    additional: Option<Box<Validator>>,
    items: Option<Box<Validator>>,
    /// The keys that tell the items of a list of type `map` from each other.
    list_keys: Option<Vec<Text>>,
    /// Values of an object or map can be told from each other by their keys.
    is_correlatable: bool,
}

/// The rules of a whole schema, which are compiled when an object is first validated and kept from then on.
#[derive(Debug)]
pub struct LazyValidator {
    schema: Value,
    compiled: OnceLock<(Option<Validator>, Vec<Duration>)>,
}

/// The rules of a resource, whose schema is at `place`; nothing if it has none.
pub fn rules_of(place: Place<'_>) -> Option<&LazyValidator> {
    place.node().rules.as_ref()?.validator.as_deref()
}

impl LazyValidator {
    pub(super) fn new(schema: Value) -> Self {
        Self {
            schema,
            compiled: OnceLock::new(),
        }
    }

    /// Nothing if there are no rules.
    pub fn get(&self) -> Option<&Validator> {
        self.compiled().0.as_ref()
    }

    /// Compiles the rules, and tells how long those of each place took.
    pub fn compile(&self) -> &[Duration] {
        &self.compiled().1
    }

    fn compiled(&self) -> &(Option<Validator>, Vec<Duration>) {
        let compile = || Validator::timed(&self.schema, true);
        self.compiled.get_or_init(compile)
    }

    /// Whether the rules need not be compiled any more.
    pub fn is_compiled(&self) -> bool {
        self.compiled.get().is_some()
    }

    /// Looks at an object, and at the one that it takes the place of. The schema is at `place`.
    pub fn evaluate(
        &self,
        place: Place<'_>,
        object: &Value,
        old: Option<&Value>,
        budget: Budget,
    ) -> Option<Outcome> {
        let (validator, path) = (self.get()?, Path::root());
        Some(match old {
            Some(old) => validator.validate_update(&path, place, object, old, budget),
            None => validator.validate(&path, object, None, budget),
        })
    }
}

impl Outcome {
    /// Adds what rules found to all else that is wrong with an object, and gives what is only warned of. Rules do not count
    /// if what they rely on is wrong.
    pub fn add_to(self, errors: &mut Vec<Error>) -> Vec<String> {
        if errors.iter().any(is_blocking) {
            let text = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
            errors.push(Error::invalid(Path::root(), Value::Null, text));
            return Vec::new();
        }
        errors.extend(self.errors);
        self.warnings
    }
}

/// Rules may rely on types and bounds.
fn is_blocking(error: &Error) -> bool {
    matches!(
        error.kind,
        ErrorKind::NotSupported
            | ErrorKind::Required
            | ErrorKind::TooLong
            | ErrorKind::TooMany
            | ErrorKind::TypeInvalid
    )
}

/// What evaluations may cost.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Each of them.
    pub per_call: u64,
    /// All for one object.
    pub total: i64,
}

impl Budget {
    /// What takes so little is done in about a millisecond.
    pub const SMALL: Self = Self {
        per_call: 20_000,
        total: 20_000,
    };
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            per_call: PER_CALL_LIMIT,
            total: RUNTIME_COST_BUDGET.cast_signed(),
        }
    }
}

impl Validator {
    /// Compiles all rules of a schema as stored ones. Nothing if it has none. A rule that does not compile is told for each
    /// object.
    pub fn new(schema: &Value, is_resource_root: bool) -> Option<Self> {
        Self::timed(schema, is_resource_root).0
    }

    fn timed(schema: &Value, is_resource_root: bool) -> (Option<Self>, Vec<Duration>) {
        let typed = Arc::new(cel::Schema::from_json(schema, is_resource_root));
        let env = kubernetes::environment(MINOR, kubernetes::Mode::Stored);
        let node = Node {
            schema,
            typed: &typed,
            values: &typed,
            is_root: is_resource_root,
        };
        let environments = Environments::stored(env);
        let built = build(schema, node, &environments);
        (built, environments.times.into_inner())
    }

    /// The rules of a property and below it.
    pub(super) fn property(&self, name: &str) -> Option<&Validator> {
        let at = self.properties.binary_search_by(|it| (*it.0).cmp(name));
        at.ok().map(|at| &self.properties[at].1)
    }

    pub(super) fn items(&self) -> Option<&Validator> {
        self.items.as_deref()
    }
}

fn below<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    schema.get(key).filter(|it| it.as_object().is_some())
}

fn properties(schema: &Value) -> impl Iterator<Item = (&Text, &Value)> {
    let found = schema.get("properties").and_then(Value::as_object);
    found.into_iter().flat_map(Object::iter)
}

/// A schema, and what expressions see of its data.
#[derive(Clone, Copy)]
struct Node<'a> {
    schema: &'a Value,
    /// What expressions are compiled with.
    typed: &'a Arc<cel::Schema>,
    /// What values are read by.
    values: &'a Arc<cel::Schema>,
    /// It has apiVersion, kind and metadata.
    is_root: bool,
}

/// The rules of `rules`, which is the schema of `node` itself or a clause of it.
fn build(rules: &Value, node: Node<'_>, environments: &Environments<'_>) -> Option<Validator> {
    let Node { typed, values, .. } = node;
    let boxed = |key: &str, typed, values| {
        let (rules, schema) = (below(rules, key)?, below(node.schema, key)?);
        child(rules, schema, typed, values, environments).map(Box::new)
    };
    let mut named: Vec<(Text, Validator)> = properties(rules)
        .filter_map(|(name, it)| {
            let schema = node.schema.at(&["properties", name])?;
            let own;
            let values = if node.is_root && *name == "metadata" {
                // Rules see all metadata by its type, and the values that were declared.
                own = Arc::new(cel::Schema::from_json(schema, false));
                Some(&own)
            } else {
                values.property(name)
            };
            let found = child(it, schema, typed.property(name), values, environments)?;
            Some((name.clone(), found))
        })
        .collect();
    named.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let all_of = rules.get("allOf").and_then(Value::as_array);
    let all_of = all_of.into_iter().flatten();
    let begun = Instant::now();
    let compiled = Rule::compile_all(rules, node.schema, typed, environments);
    let took = begun.elapsed();
    environments.times.borrow_mut().push(took);
    let this = Validator {
        schema: values.clone(),
        kind: node.schema.str_at(&["type"]).unwrap_or_default().into(),
        rules: compiled,
        all_of: all_of
            .filter_map(|it| build(it, node, environments))
            .collect(),
        properties: named,
        additional: boxed(
            "additionalProperties",
            typed.additional(),
            values.additional(),
        ),
        items: boxed("items", typed.items(), values.items()),
        list_keys: list_keys(node.schema),
        is_correlatable: is_correlatable(node.schema),
    };
    let is_needed = !this.rules.is_empty()
        || !this.all_of.is_empty()
        || !this.properties.is_empty()
        || this.additional.is_some()
        || this.items.is_some();
    is_needed.then_some(this)
}

/// The rules of a schema within another. What expressions do not see has none.
fn child(
    rules: &Value,
    schema: &Value,
    typed: Option<&Arc<cel::Schema>>,
    values: Option<&Arc<cel::Schema>>,
    environments: &Environments<'_>,
) -> Option<Validator> {
    let typed = typed.filter(|it| it.min_serialized_size().is_some())?;
    let node = Node {
        schema,
        typed,
        values: values.unwrap_or(typed),
        is_root: is_embedded(schema),
    };
    build(rules, node, environments)
}

fn list_keys(schema: &Value) -> Option<Vec<Text>> {
    let is_map = schema.str_at(&["type"]) == Some("array")
        && schema.str_at(&["x-kubernetes-list-type"]) == Some("map");
    let keys = texts(schema, "x-kubernetes-list-map-keys");
    (is_map && !keys.is_empty()).then_some(keys)
}

/// Whether the values of an object before and after a change belong together by their keys.
fn is_correlatable(schema: &Value) -> bool {
    let kind = schema.str_at(&["x-kubernetes-map-type"]);
    matches!(kind, None | Some("granular" | "atomic"))
}

fn is_embedded(schema: &Value) -> bool {
    flag(schema, "x-kubernetes-embedded-resource")
}
