//! The schemas of a definition, as its author is told of them: in upstream's order, and with its words.

use std::cell::RefCell;
use std::collections::HashSet;

use json::Value;
use meta::field::{Error, ErrorList, Path};

use super::check_defaults::check_defaults;
use super::rules::{check_rules, is_beyond_structural};
use super::validations::{Context, Environments, KnownExpressions, MINOR, field_path};
use super::{check, flag};

/// What a schema is held to. Data that is stored may break rules that came later.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent")]
pub struct SchemaOptions<'a> {
    /// The minor version of Kubernetes that says what expressions can use.
    pub minor: u32,
    pub allow_defaults: bool,
    pub structural: bool,
    /// Only types that `OpenAPI` has.
    pub valid_types: bool,
    /// Defaults have no unknown fields.
    pub pruned_defaults: bool,
    /// Items of sets are compared as a whole.
    pub atomic_sets: bool,
    /// Keys of lists are there, and not null.
    pub map_keys: bool,
    /// The schema is that of the stored definition: its expressions may cost as much as they do.
    pub is_unchanged: bool,
    /// Expressions of the stored definition.
    pub known: Option<&'a KnownExpressions<'a>>,
    /// Where the costs of all expressions are noted, if somebody asks for them.
    pub costs: Option<&'a RefCell<Vec<ExpressionCost>>>,
}

/// What an expression of a definition costs at most.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExpressionCost {
    /// Where it is, as errors name it.
    pub path: String,
    /// For all values that an object can have there.
    pub cost: u64,
    /// A definition with a more expensive one is refused.
    pub limit: u64,
}

impl Default for SchemaOptions<'_> {
    /// As for a new definition.
    fn default() -> Self {
        Self {
            minor: MINOR,
            allow_defaults: true,
            structural: true,
            valid_types: true,
            pruned_defaults: true,
            atomic_sets: true,
            map_keys: true,
            is_unchanged: false,
            known: None,
            costs: None,
        }
    }
}

impl<'a> SchemaOptions<'a> {
    pub(super) fn environments(&self) -> Environments<'a> {
        Environments::for_write(self.minor, self.known)
    }

    /// Without what a stored definition breaks.
    fn as_lax_as(self, old: &Value) -> Self {
        let path = Path::root();
        let schemas = || versions(old).iter().filter_map(schema);
        let breaks = |relax: &dyn Fn(&mut Self)| {
            let (strict, mut lax) = (Self::default(), Self::default());
            relax(&mut lax);
            let wrong = |options: &Self, it: &Value| check_rules(&path, it, options, None).found();
            schemas().any(|it| wrong(&strict, it) != wrong(&lax, it))
        };
        let count = |it: &Value, pruned| check_defaults(&path, it, pruned).len();
        Self {
            valid_types: !breaks(&|it| it.valid_types = false),
            atomic_sets: !breaks(&|it| it.atomic_sets = false),
            map_keys: !breaks(&|it| it.map_keys = false),
            pruned_defaults: !schemas().any(|it| count(it, true) != count(it, false)),
            ..self
        }
    }
}

/// What is wrong with a schema, which is at the path `openAPIV3Schema`.
pub fn check_schema(path: &Path<'_>, schema: &Value, options: &SchemaOptions<'_>) -> Vec<Error> {
    let mut errors = ErrorList::default();
    if flag(schema, "nullable") {
        let text = "nullable cannot be true at the root";
        errors.push_with(|| Error::forbidden(path.child("nullable"), text));
    }
    let mut context = None;
    if options.structural && !is_beyond_structural(schema) {
        let mut wrong = check(path, schema);
        if wrong.is_empty() {
            wrong = check_defaults(path, schema, options.pruned_defaults);
        }
        if wrong.is_empty() {
            context = Some(Context::root(schema));
        }
        errors.extend(wrong);
    }
    errors.append(check_rules(path, schema, options, context.as_ref()));
    errors.into_vec()
}

/// What is wrong with the schemas and selectable fields of a definition that takes the place of the old one. What was
/// wrong with that, and is not by the rules of its time, may stay so.
pub fn check_definition(definition: &Value, old: Option<&Value>) -> Vec<Error> {
    let mut known = KnownExpressions::default();
    for version in old.into_iter().flat_map(versions) {
        if let Some(schema) = schema(version) {
            known.add(schema);
        }
    }
    let strict = SchemaOptions {
        known: Some(&known),
        ..SchemaOptions::default()
    };
    let errors = check_versions(definition, old, strict);
    match old {
        Some(old) if !errors.is_empty() => {
            check_versions(definition, Some(old), strict.as_lax_as(old))
        }
        _ => errors,
    }
}

/// What is wrong with a new definition, and what its expressions cost; those that do not compile are left out.
pub fn check_definition_costs(definition: &Value) -> (Vec<Error>, Vec<ExpressionCost>) {
    let costs = RefCell::default();
    let options = SchemaOptions {
        costs: Some(&costs),
        ..SchemaOptions::default()
    };
    let errors = check_versions(definition, None, options);
    (errors, costs.into_inner())
}

fn check_versions(
    definition: &Value,
    old: Option<&Value>,
    options: SchemaOptions<'_>,
) -> Vec<Error> {
    let versions = versions(definition);
    // What all versions have alike is in upstream's internal type a part of the whole.
    let same_schema = is_same(versions, &["schema"]);
    let same_fields = is_same(versions, &["selectableFields"]);
    let (spec, all) = (Path::new("spec"), Path::of(&["spec", "versions"]));
    let mut errors = ErrorList::default();
    let is_unchanged = |version: &Value| old.is_some_and(|old| is_unchanged(version, old));
    for (index, version) in versions.iter().enumerate() {
        let at = all.index(index);
        if let Some(schema) = schema(version).filter(|_| !same_schema) {
            let options = SchemaOptions {
                is_unchanged: is_unchanged(version),
                ..options
            };
            let at = at.child("schema");
            errors.extend(check_schema(&at.child("openAPIV3Schema"), schema, &options));
        }
        if !same_fields {
            let at = at.child("selectableFields");
            let may_be_many = old.is_some_and(|old| had_many(version, old));
            let schema = schema(version).filter(|_| !same_schema);
            let missing = "may only be set when `version.schema.openAPIV3Schema` is not included";
            selectable_fields(
                &at,
                version,
                schema.ok_or(missing),
                may_be_many,
                &mut errors,
            );
        }
    }
    let Some(first) = versions.first() else {
        return errors.into_vec();
    };
    if let Some(schema) = schema(first).filter(|_| same_schema) {
        let options = SchemaOptions {
            is_unchanged: is_unchanged(first),
            ..options
        };
        let at = spec.child("validation");
        errors.extend(check_schema(&at.child("openAPIV3Schema"), schema, &options));
    }
    // Without any schema it is told elsewhere.
    if same_fields && versions.iter().any(|it| schema(it).is_some()) {
        let at = spec.child("selectableFields");
        let may_be_many = old.is_some_and(|old| {
            is_same(self::versions(old), &["selectableFields"]) && had_many(first, old)
        });
        let schema = schema(first).filter(|_| same_schema);
        let missing = "may only be set when validations.schema is included";
        selectable_fields(&at, first, schema.ok_or(missing), may_be_many, &mut errors);
    }
    errors.into_vec()
}

fn versions(definition: &Value) -> &[Value] {
    let versions = definition.at(&["spec", "versions"]);
    versions.and_then(Value::as_array).map_or(&[][..], |it| it)
}

fn schema(version: &Value) -> Option<&Value> {
    version.at(&["schema", "openAPIV3Schema"])
}

fn is_same(versions: &[Value], path: &[&str]) -> bool {
    versions
        .windows(2)
        .all(|it| it[0].at(path) == it[1].at(path))
}

/// Whether a version of the stored definition has the same schema.
fn is_unchanged(version: &Value, old: &Value) -> bool {
    let name = version.str_at(&["name"]);
    let mut all = versions(old).iter();
    all.any(|it| it.str_at(&["name"]) == name && it.get("schema") == version.get("schema"))
}

/// As many as upstream takes.
const MOST_SELECTABLE: usize = 8;

/// Whether a version of the stored definition has the same fields, and too many.
fn had_many(version: &Value, old: &Value) -> bool {
    let name = version.str_at(&["name"]);
    let fields = version.get("selectableFields");
    let count = fields.and_then(Value::as_array).map_or(0, Vec::len);
    let mut all = versions(old).iter();
    count > MOST_SELECTABLE
        && all.any(|it| it.str_at(&["name"]) == name && it.get("selectableFields") == fields)
}

/// Fields to select by must be there, and be one value each.
fn selectable_fields(
    at: &Path<'_>,
    version: &Value,
    schema: Result<&Value, &str>,
    may_be_many: bool,
    errors: &mut ErrorList,
) {
    let all = version.get("selectableFields").and_then(Value::as_array);
    let Some(all) = all.filter(|it| !it.is_empty()) else {
        return;
    };
    let schema = match schema {
        Ok(schema) => schema,
        Err(missing) => return errors.push_with(|| Error::invalid(at, "", missing)),
    };
    let mut seen = HashSet::new();
    for (index, it) in all.iter().enumerate() {
        let path = it.str_at(&["jsonPath"]).unwrap_or_default();
        let at = at.index(index);
        let at = at.child("jsonPath");
        if path.is_empty() {
            errors.push_with(|| Error::required(at, ""));
            continue;
        }
        let mut invalid = |why: &str| errors.push_with(|| Error::invalid(at, path, why));
        let found = match field_path(schema, path, false) {
            Ok(found) => found,
            Err(why) => {
                invalid(&format!("is an invalid path: {why}"));
                continue;
            }
        };
        if found.root == "metadata" {
            invalid("must not point to fields in metadata");
        }
        let kind = found.schema.and_then(|it| it.str_at(&["type"]));
        if !matches!(kind, Some("string" | "boolean" | "integer")) {
            invalid(
                "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
            );
        }
        if !seen.insert(found.path) {
            errors.push_with(|| Error::duplicate(at, path));
        }
    }
    if seen.len() > MOST_SELECTABLE && !may_be_many {
        errors.push_with(|| Error::too_many(at, Some(seen.len()), MOST_SELECTABLE));
    }
}
