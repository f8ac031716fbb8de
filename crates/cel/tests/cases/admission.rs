//! Expressions of policies, and of authentication and authorization.

use cel::kubernetes::{self, AdmissionVariables, Mode};
use cel::{Env, Limits, Value};
use json::Value as Json;
use requires::requires;

use crate::values::same;

const KNOWN_VALUES: &[(&str, &str)] = &[];

#[requires(cel_cases)]
#[test]
fn admission_expressions_compile() {
    crate::run("k8s/admission-compile.jsonl", &[], |case| {
        let flag = |key: &str| case.at(&["options", key]).and_then(Json::as_bool) == Some(true);
        let has = AdmissionVariables {
            params: flag("HasParams"),
            authorizer: flag("HasAuthorizer"),
            patch_types: flag("HasPatchTypes"),
        };
        let env = kubernetes::admission_environment(base(case), has);
        compiles(&env, case, |wanted, actual| match wanted {
            [one] => format!("must evaluate to {one} but got {actual}"),
            all => format!("must evaluate to one of [{}] but got {actual}", all.join(" ")),
        })
    });
}

#[requires(cel_cases)]
#[test]
fn configuration_expressions_compile() {
    crate::run("k8s/auth-compile.jsonl", &[], |case| {
        let base = kubernetes::environment(37, Mode::Stored);
        let env = match case.str_at(&["variable"]) {
            Some("claims") => kubernetes::claims_environment(base),
            Some("user") => kubernetes::user_environment(base),
            _ => kubernetes::authorization_environment(base),
        };
        compiles(&env, case, |wanted, _| match wanted {
            [one] => format!("must evaluate to {one}"),
            all => format!("must evaluate to one of [{}]", all.join(" ")),
        })
    });
}

fn base(case: &Json) -> Env {
    let mode = match case.str_at(&["env"]) {
        Some("NewExpressions") => Mode::New,
        _ => Mode::Stored,
    };
    kubernetes::environment(37, mode)
}

fn compiles(env: &Env, case: &Json, mismatch: impl Fn(&[&str], &str) -> String) -> Result<(), String> {
    let wanted = case.str_at(&["error"]);
    let failed = |why: String| match wanted {
        Some(wanted) if wanted == why => Ok(()),
        _ => Err(format!("{why}\n    wanted {wanted:?}")),
    };
    let expression = match env.compile(case.str_at(&["expression"]).unwrap()) {
        Ok(it) => it,
        Err(issues) => return failed(format!("compilation failed: {issues}")),
    };
    let types: Vec<&str> = case
        .get("return_types")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    let of = expression.output_type().to_string();
    if !types.iter().any(|it| *it == of || *it == "google.protobuf.Any") {
        return failed(mismatch(&types, &of));
    }
    if let Err(error) = expression.program() {
        return failed(format!("program instantiation failed: {error}"));
    }
    match (wanted, case.str_at(&["output_type"])) {
        (Some(wanted), _) => Err(format!("compiles, wanted {wanted}")),
        (None, Some(wanted)) if wanted != of => Err(format!("type {of}, wanted {wanted}")),
        _ => Ok(()),
    }
}

/// Expressions of policies that use nothing but the objects, their parameters and the namespace.
#[requires(cel_cases)]
#[test]
fn policies_evaluate() {
    crate::run("k8s/vap.jsonl", KNOWN_VALUES, |case| {
        let has = AdmissionVariables {
            params: true,
            authorizer: true,
            patch_types: false,
        };
        let env = kubernetes::admission_environment(kubernetes::environment(37, Mode::Stored), has);
        let evaluations = case.at(&["expect", "evaluations"]).and_then(Json::as_array).unwrap();
        for it in evaluations {
            let expressions = it.get("expressions").and_then(Json::as_array);
            for it in expressions.into_iter().flatten() {
                evaluates(&env, case, it)?;
            }
        }
        Ok(())
    });
}

fn evaluates(env: &Env, case: &Json, wanted: &Json) -> Result<(), String> {
    let Some(text) = wanted.str_at(&["expression"]) else {
        return Ok(());
    };
    let Ok(expression) = env.compile(text) else {
        return Ok(());
    };
    let program = expression.program().map_err(|it| it.to_string())?;
    let bound = ["object", "oldObject", "params", "namespaceObject"];
    if !program.variables().all(|it| bound.contains(&it)) {
        return Ok(());
    }
    let find = |name: &str| {
        let key = match name {
            "oldObject" => "old_object",
            "namespaceObject" => "namespace_object",
            other => other,
        };
        Some(Value::from_json(case.get(key)?))
    };
    let limits = Limits {
        cost: kubernetes::PER_CALL_LIMIT,
        interrupt: None,
    };
    let (value, cost) = program.evaluate(&find, limits);
    match (&value, wanted.str_at(&["error"]), wanted.get("value")) {
        (Err(error), Some(wanted), _)
            if wanted.ends_with(&format!("resulted in error: {error}")) => {}
        (Err(_), Some(wanted), _) if wanted.contains("must evaluate to") => return Ok(()),
        (Ok(_), Some(wanted), _) if wanted.contains("must evaluate to") => return Ok(()),
        (Err(error), wanted, _) => return Err(format!("{text}: error {error}, wanted {wanted:?}")),
        (Ok(value), Some(wanted), _) => return Err(format!("{text}: {value:?}, wanted error {wanted}")),
        (Ok(value), None, Some(wanted)) if !same(wanted, value) => {
            return Err(format!("{text}: {value:?}, wanted {wanted}"));
        }
        _ => {}
    }
    match wanted.get("cost") {
        Some(wanted) if wanted.to_string() != cost.to_string() => {
            Err(format!("{text}: cost {cost}, wanted {wanted}"))
        }
        _ => Ok(()),
    }
}
