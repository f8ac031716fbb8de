//! Rules of custom resources: compilation, static cost, and evaluation of each rule at its place.

use cel::kubernetes::{self, Mode};
use cel::{Env, Limits, Schema, Value};
use json::Value as Json;
use requires::requires;

/// Cases that fail, and why.
const KNOWN_RULES: &[(&str, &str)] = &[(
    "self.val3 == 340282346638528859811704183484516925440.000000 && 340282346638528859811704183484516925440.000000 == self.val3 && self.val3 == self.val4",
    "the number is a float32 in the file",
)];

#[requires(cel_cases)]
#[test]
fn rules_compile() {
    crate::run("k8s/crd-compile.jsonl", &[], |case| {
        let schema = case.get("schema").unwrap();
        let is_root = case.get("is_resource_root").and_then(Json::as_bool) == Some(true);
        let mode = match case.str_at(&["env"]) {
            Some("new") => Mode::New,
            _ => Mode::Stored,
        };
        let typed = Schema::from_json(schema, is_root);
        if let Some(min) = case.get("min_serialized_size").and_then(Json::as_i64)
            && typed.min_serialized_size() != Some(min)
        {
            return Err(format!(
                "min size {:?}, wanted {min}",
                typed.min_serialized_size()
            ));
        }
        for rule in case.get("rules").and_then(Json::as_array).unwrap() {
            compiled(&typed, schema, rule, mode)?;
        }
        Ok(())
    });
}

#[requires(cel_cases)]
#[test]
fn rules_run() {
    crate::run("k8s/crd-rules.jsonl", KNOWN_RULES, |case| {
        let root = case.get("schema").unwrap();
        let is_root = case.get("is_resource_root").and_then(Json::as_bool) == Some(true);
        for rule in case.get("rules").and_then(Json::as_array).unwrap() {
            let at = rule.str_at(&["at"]).unwrap();
            // Schemas below allOf have the types of the schema they are a part of.
            let Some(schema) = schema_at(root, at).filter(|_| !at.contains("allOf")) else {
                continue;
            };
            let embedded = schema
                .get("x-kubernetes-embedded-resource")
                .and_then(Json::as_bool);
            let typed =
                Schema::from_json(schema, (at.is_empty() && is_root) || embedded == Some(true));
            compiled(&typed, schema, rule, Mode::Stored)
                .map_err(|it| format!("{it}\n    {}", rule.str_at(&["rule"]).unwrap()))?;
        }
        evaluated(case, root, is_root)
    });
}

fn schema_at<'s>(root: &'s Json, at: &str) -> Option<&'s Json> {
    let mut node = root;
    let mut steps = at.split('/').skip(1);
    while let Some(step) = steps.next() {
        node = match step {
            "properties" => node.get("properties")?.get(steps.next()?)?,
            "items" => node.get("items")?,
            "additionalProperties" => node.get("additionalProperties")?,
            "allOf" => &node.get("allOf")?.as_array()?[steps.next()?.parse::<usize>().ok()?],
            _ => return None,
        };
    }
    Some(node)
}

/// The declared rule with this text, for what the answer does not repeat.
fn declared<'s>(schema: &'s Json, text: &str) -> Option<&'s Json> {
    let all = schema.get("x-kubernetes-validations")?.as_array()?;
    all.iter().find(|it| it.str_at(&["rule"]) == Some(text))
}

fn environment(typed: &Schema, schema: &Json, text: &str, mode: Mode) -> Option<Env> {
    let optional = declared(schema, text)
        .and_then(|it| it.get("optionalOldSelf"))
        .and_then(Json::as_bool)
        == Some(true);
    kubernetes::schema_environment(kubernetes::environment(37, mode), typed, optional)
}

fn compiled(typed: &Schema, schema: &Json, rule: &Json, mode: Mode) -> Result<(), String> {
    let text = rule.str_at(&["rule"]).unwrap();
    if rule.get("skipped_empty").is_some() {
        return Ok(());
    }
    let wanted = rule
        .str_at(&["error", "detail"])
        .or_else(|| rule.str_at(&["error"]))
        .map(|it| it.replace("selfType<N>", kubernetes::SELF_TYPE));
    let Some(env) = environment(typed, schema, text, mode) else {
        return Err("no environment".to_owned());
    };
    let failed = |why: String| match &wanted {
        Some(wanted) if *wanted == why => Ok(()),
        _ => Err(format!("{why}\n    wanted {wanted:?}")),
    };
    let expression = match env.compile(text) {
        Ok(it) => it,
        Err(issues) => return failed(format!("compilation failed: {issues}")),
    };
    if *expression.output_type() != cel::Type::Bool {
        return failed("cel expression must evaluate to a bool".to_owned());
    }
    if let Err(error) = expression.program() {
        return failed(format!("program instantiation failed: {error}"));
    }
    if wanted.is_some() {
        return Err(format!("compiles, wanted {wanted:?}"));
    }
    let max = expression.estimate(typed).max;
    if let Some(wanted) = rule.get("static_max_cost")
        && !crate::is_number(wanted, max)
    {
        return Err(format!("static cost {max}, wanted {wanted}"));
    }
    if let Some(wanted) = rule.get("max_cardinality")
        && mode == Mode::Stored
        && !typed
            .max_cardinality()
            .is_some_and(|it| crate::is_number(wanted, it))
    {
        return Err(format!(
            "cardinality {:?}, wanted {wanted}",
            typed.max_cardinality()
        ));
    }
    let uses = rule.get("uses_old_self").and_then(Json::as_bool);
    if uses.is_some_and(|it| it != expression.uses_variable("oldSelf")) {
        return Err("oldSelf".to_owned());
    }
    if let Some(wanted) = rule.get("message_expression_static_max_cost") {
        let text = declared(schema, text)
            .and_then(|it| it.str_at(&["messageExpression"]))
            .unwrap();
        let max = env
            .compile(text)
            .map_err(|it| it.to_string())?
            .estimate(typed)
            .max;
        if !crate::is_number(wanted, max) {
            return Err(format!("static cost of message {max}, wanted {wanted}"));
        }
    }
    Ok(())
}

/// Evaluates all rules where nothing but values decides whether they run, and compares their cost.
fn evaluated(case: &Json, root: &Json, is_root: bool) -> Result<(), String> {
    let old = case.get("old_object").filter(|it| !it.is_null());
    let rules = case.get("rules").and_then(Json::as_array).unwrap();
    let text = root.to_string();
    let simple = rules.iter().all(|it| it.get("error").is_none())
        && !text.contains("messageExpression")
        && !text.contains("allOf")
        && rules
            .iter()
            .all(|it| it.str_at(&["at"]) == Some("") || old.is_none());
    let remaining = case.get("remaining_budget").and_then(Json::as_i64);
    if !simple || remaining == Some(-1) {
        return Ok(());
    }
    let object = case.get("object").unwrap();
    let typed = Schema::from_json(root, is_root);
    let (mut cost, mut failures) = (0, 0);
    walk(root, &typed, object, old, &mut cost, &mut failures, case)?;
    let errors = case
        .get("errors")
        .and_then(Json::as_array)
        .map_or(0, Vec::len);
    let warnings = case
        .get("warnings")
        .and_then(Json::as_array)
        .map_or(0, Vec::len);
    if failures != errors + warnings {
        return Err(format!(
            "{failures} failures, wanted {errors} errors and {warnings} warnings: {root}"
        ));
    }
    let wanted = case.get("runtime_cost").unwrap();
    if wanted.to_string() != cost.to_string() {
        return Err(format!("cost {cost}, wanted {wanted}"));
    }
    Ok(())
}

fn walk(
    schema: &Json,
    typed: &Schema,
    value: &Json,
    old: Option<&Json>,
    cost: &mut u64,
    failures: &mut usize,
    case: &Json,
) -> Result<(), String> {
    if value.is_null() {
        return Ok(());
    }
    let rules = schema
        .get("x-kubernetes-validations")
        .and_then(Json::as_array);
    for rule in rules.into_iter().flatten() {
        let text = rule.str_at(&["rule"]).unwrap();
        let Some(env) = environment(typed, schema, text, Mode::Stored) else {
            continue;
        };
        let expression = env.compile(text).map_err(|it| it.to_string())?;
        let optional = rule.get("optionalOldSelf").and_then(Json::as_bool) == Some(true);
        if expression.uses_variable("oldSelf") && old.is_none() && !optional {
            continue;
        }
        let program = expression.program().map_err(|it| it.to_string())?;
        let limit = case.get("per_call_limit").and_then(Json::as_i64).unwrap();
        let limits = Limits {
            cost: limit.cast_unsigned(),
            interrupt: None,
        };
        let current = Value::typed(value, typed);
        let before = old.map(|it| Value::typed(it, typed));
        let activation = Objects {
            current,
            before,
            optional,
        };
        let (result, spent) = program.evaluate(&activation, limits);
        *cost += spent;
        match result {
            Ok(Value::Bool(true)) => {}
            Ok(_) => *failures += 1,
            Err(error) => {
                *failures += 1;
                // The text of the error is a part of some error of the case.
                let texts = case.get("errors").unwrap().to_string();
                let part = json::to_string(&Json::from(error.message()));
                if !texts.contains(part.trim_matches('"')) {
                    return Err(format!("error {error} of {text} is not in {texts}"));
                }
            }
        }
    }
    if let (Some(items), Json::Array(all), Some(below)) =
        (schema.get("items"), value, typed.items())
    {
        for it in all {
            walk(items, below, it, None, cost, failures, case)?;
        }
    }
    if let Json::Object(all) = value {
        for (key, it) in all.iter() {
            let found = match schema.get("properties").and_then(|it| it.get(key)) {
                Some(property) => typed.property(key).map(|below| (property, below)),
                None => schema
                    .get("additionalProperties")
                    .filter(|it| it.as_object().is_some())
                    .zip(typed.additional()),
            };
            if let Some((schema, below)) = found {
                walk(schema, below, it, None, cost, failures, case)?;
            }
        }
    }
    Ok(())
}

struct Objects<'a> {
    current: Result<Value<'a>, cel::Error>,
    before: Option<Result<Value<'a>, cel::Error>>,
    optional: bool,
}

impl<'a> cel::Activation<'a> for Objects<'a> {
    fn variable(&self, name: &str) -> Option<Result<Value<'a>, cel::Error>> {
        match name {
            "self" => Some(self.current.clone()),
            "oldSelf" if self.optional => Some(match &self.before {
                Some(it) => it.clone().map(Value::some),
                None => Ok(Value::NONE),
            }),
            "oldSelf" => self.before.clone(),
            _ => None,
        }
    }
}
