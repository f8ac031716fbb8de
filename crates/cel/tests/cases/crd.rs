//! Rules of custom resources: compilation and static cost. Whole schemas on whole objects are for the crate `schema`.

use cel::kubernetes::{self, Mode};
use cel::{Env, Schema};
use json::Value as Json;
use requires::requires;

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
fn rules_that_run_compile() {
    crate::run("k8s/crd-rules.jsonl", &[], |case| {
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
        Ok(())
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
