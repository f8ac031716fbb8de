//! An expression as a rule of a definition.

use anyhow::{Context as _, bail};
use cel::Limits;
use cel::kubernetes::PER_CALL_LIMIT;
use json::Value;
use meta::field::Path;
use schema::structural::{self, RuleScope};

use super::eval::Arguments;
use super::files::{Files, shown};
use super::report::{Outcome, Report, Result};

const DEFINITION: &str = "CustomResourceDefinition";

pub(super) fn report(
    arguments: &Arguments,
    file: &str,
    files: &mut Files,
) -> anyhow::Result<Report> {
    let mut object = files.object(&arguments.object)?;
    let mut old = match &arguments.old {
        Some(path) => Some(files.object(path)?),
        None => None,
    };
    let definition = definition(files, file, &object)?;
    let version = version(&definition, arguments.schema_version.as_deref(), &object)
        .with_context(|| format!("cannot choose a version of {}", shown(file)))?;
    let schema = schema_of(&definition, version)
        .with_context(|| format!("version {version} of {} has no schema", shown(file)))?;
    for it in [Some(&mut object), old.as_mut()].into_iter().flatten() {
        prepare(schema, it)?;
    }
    let scope = RuleScope::find(schema, &arguments.path)?;
    let text = &arguments.expression;
    let optional = arguments.optional_old_self;
    let mut report = Report::new(text, "rule");
    let env = scope.environment(optional).with_context(|| {
        format!(
            "expressions do not see what is at {}: its schema has no type that they know",
            at(&arguments.path)
        )
    })?;
    let expression = match env.compile(text) {
        Ok(it) => it,
        Err(issues) => {
            report.outcome = Outcome::Uncompiled(issues.to_string());
            return Ok(report);
        }
    };
    report.of(&expression);
    report.refused = refusals(&definition, version, &scope, text, optional);
    report.cardinality = Some(scope.cardinality().unwrap_or(u64::MAX));
    let hints = scope.types().context("the schema has no types")?;
    let mut parts = expression.parts(hints);
    let program = match expression.program() {
        Ok(it) => it,
        Err(error) => {
            report.outcome = Outcome::Uncompiled(format!("program instantiation failed: {error}"));
            return Ok(report);
        }
    };
    let values = scope.values(&object, old.as_ref());
    if values.is_empty() {
        let path = at(&arguments.path);
        (report.notes).push(format!(
            "the object has no value at {path}: the rule is not evaluated"
        ));
    }
    let needs_old = expression.uses_variable("oldSelf") && !optional;
    let mut results = Vec::new();
    for value in &values {
        if needs_old && value.old.is_none_or(Value::is_null) {
            results.push(Result::skipped(&value.path));
            continue;
        }
        let limits = Limits {
            cost: PER_CALL_LIMIT,
            interrupt: None,
        };
        let (found, cost, charges) = scope.evaluate(&expression, &program, value, optional, limits);
        parts.charge(&charges);
        results.push(Result::new(&value.path, &found, cost));
    }
    report.outcome = Outcome::Evaluated(results);
    report.parts = Some(parts);
    Ok(report)
}

fn at(path: &str) -> &str {
    if path.is_empty() { "the root" } else { path }
}

/// The definition in a file; of several, that of the object.
fn definition(files: &mut Files, file: &str, object: &Value) -> anyhow::Result<Value> {
    let objects = files.objects(file)?;
    let found = objects.len();
    let is_definition = |it: &Value| {
        it.str_at(&["kind"]) == Some(DEFINITION)
            && it.str_at(&["apiVersion"]) == Some("apiextensions.k8s.io/v1")
    };
    let kinds: Vec<String> = (objects.iter())
        .map(|it| {
            it.str_at(&["kind"])
                .unwrap_or("an object without a kind")
                .to_owned()
        })
        .collect();
    let mut definitions: Vec<Value> = objects.into_iter().filter(is_definition).collect();
    if definitions.len() > 1 {
        let (group, kind) = (group_of(object), object.str_at(&["kind"]));
        definitions.retain(|it| {
            it.str_at(&["spec", "group"]) == Some(group)
                && it.str_at(&["spec", "names", "kind"]) == kind
        });
        if definitions.len() != 1 {
            bail!(
                "{} has several definitions, and {} of them are of {}; give a file with one",
                shown(file),
                definitions.len(),
                kind.unwrap_or("an object without a kind")
            );
        }
    }
    match definitions.pop() {
        Some(it) => Ok(it),
        None if found == 1 => bail!(
            "{} is no {DEFINITION} of apiextensions.k8s.io/v1 but {}",
            shown(file),
            kinds[0]
        ),
        None => bail!(
            "{} has no {DEFINITION} of apiextensions.k8s.io/v1 among its {found} objects",
            shown(file)
        ),
    }
}

fn group_of(object: &Value) -> &str {
    let version = object.str_at(&["apiVersion"]).unwrap_or_default();
    version.split_once('/').map_or("", |(group, _)| group)
}

fn versions(definition: &Value) -> &[Value] {
    let found = definition.at(&["spec", "versions"]);
    found.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The version that is asked for, that of the object, or the only one.
fn version<'d>(
    definition: &'d Value,
    wanted: Option<&str>,
    object: &Value,
) -> anyhow::Result<&'d str> {
    let names: Vec<&str> = (versions(definition).iter())
        .filter_map(|it| it.str_at(&["name"]))
        .collect();
    let known = || names.join(", ");
    if let Some(wanted) = wanted {
        let found = names.iter().find(|it| **it == wanted).copied();
        return found.with_context(|| format!("there is no {wanted}, only {}", known()));
    }
    let own = object.str_at(&["apiVersion"]).unwrap_or_default();
    let own = own.rsplit_once('/').map_or(own, |(_, version)| version);
    match &names[..] {
        [] => bail!("it has none"),
        [only] => Ok(*only),
        all => (all.iter().find(|it| **it == own).copied()).with_context(|| {
            format!(
                "the object has version {own:?}, the definition {}; give --schema-version",
                known()
            )
        }),
    }
}

fn schema_of<'d>(definition: &'d Value, version: &str) -> Option<&'d Value> {
    let mut all = versions(definition).iter();
    let version = all.find(|it| it.str_at(&["name"]) == Some(version))?;
    version.at(&["schema", "openAPIV3Schema"])
}

/// As the server reads an object before rules see it: unknown fields go, defaults come.
fn prepare(schema: &Value, object: &mut Value) -> anyhow::Result<()> {
    let Ok(schema) = structural::from_json_schema_props(schema) else {
        return Ok(());
    };
    let place = schema.place();
    structural::coerce(&Path::root(), place, object, true, false)
        .map_err(|error| anyhow::anyhow!("{error}"))
        .context("the object cannot be read")?;
    schema::prune(place, object);
    structural::drop_nulls(place, object);
    structural::default(place, object);
    Ok(())
}

/// What a server would say to the definition with no other rule than this one.
fn refusals(
    definition: &Value,
    version: &str,
    scope: &RuleScope<'_>,
    text: &str,
    optional_old_self: bool,
) -> Vec<String> {
    let rule = structural::declared(text, optional_old_self);
    let (with, without) = (scope.schema_with(&[rule]), scope.schema_with(&[]));
    let wanted = schema_of(definition, version);
    let check = |schema: &Value| -> Vec<String> {
        let mut definition = definition.clone();
        let versions = definition.at_mut(&["spec", "versions"]);
        for it in versions.and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(own) = it.at_mut(&["schema", "openAPIV3Schema"]) else {
                continue;
            };
            // A schema that all versions have is one to the server.
            let replacement = if Some(&*own) == wanted {
                schema.clone()
            } else {
                RuleScope::find(own, "").map_or_else(|_| own.clone(), |it| it.schema_with(&[]))
            };
            *own = replacement;
        }
        let errors = structural::check_definition(&definition, None);
        errors.iter().map(ToString::to_string).collect()
    };
    let known = check(&without);
    let mut errors = check(&with);
    errors.retain(|it| !known.contains(it));
    errors
}
