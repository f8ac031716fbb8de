//! Expressions in the base environment: values, errors, static and run-time cost.

use cel::kubernetes::{self, Mode};
use cel::{Attributes, Authorizer, Decision, Env, Limits, Type, Value};
use json::Value as Json;
use requires::requires;

use crate::values::{read, same};

#[requires(cel_cases)]
#[test]
fn library() {
    crate::run("k8s/library.jsonl", &[], check);
}

#[requires(cel_cases)]
#[test]
fn undeclared_names() {
    crate::run("k8s/celgo-undeclared.jsonl", &[], check);
}

struct Everything;

impl Authorizer for Everything {
    fn authorize(&self, _: &Attributes) -> Decision {
        Decision {
            allowed: true,
            reason: String::new(),
            error: None,
        }
    }
}

fn env(mode: Mode) -> Env {
    let list = Type::list;
    kubernetes::environment(37, mode)
        .variable(
            "authorizer",
            Type::structure("kubernetes.authorization.Authorizer"),
        )
        .variable("b", Type::Bool)
        .variable("i", Type::Int)
        .variable("u", Type::Uint)
        .variable("d", Type::Double)
        .variable("s", Type::String)
        .variable("by", Type::Bytes)
        .variable("ts", Type::Timestamp)
        .variable("du", Type::Duration)
        .variable("li", list(Type::Int))
        .variable("ls", list(Type::String))
        .variable("lld", list(list(Type::Double)))
        .variable("mss", Type::map(Type::String, Type::String))
        .variable("msi", Type::map(Type::String, Type::Int))
        .variable("dy", Type::Dyn)
        .variable("dm", Type::map(Type::String, Type::Dyn))
        .variable("nul", Type::Null)
}

fn variable(name: &str) -> Option<Value<'static>> {
    let text = match name {
        "authorizer" => return Some(kubernetes::authorizer(&Everything)),
        "b" => r#"{"bool":true}"#,
        "i" => r#"{"int":"7"}"#,
        "u" => r#"{"uint":"7"}"#,
        "d" => r#"{"double":"1.5"}"#,
        "s" => r#"{"string":"hello wörld"}"#,
        "by" => r#"{"bytes":"YWJj"}"#,
        "ts" => r#"{"timestamp":"2024-02-29T12:30:45.123456789Z"}"#,
        "du" => r#"{"duration":"1h30m30s"}"#,
        "li" => r#"{"list":[{"int":"3"},{"int":"1"},{"int":"2"}]}"#,
        "ls" => r#"{"list":[{"string":"a"},{"string":"b"},{"string":"c"}]}"#,
        "lld" => r#"{"list":[{"list":[{"double":"1"},{"double":"2"}]},{"list":[{"double":"3"}]}]}"#,
        "mss" => r#"{"map":[[{"string":"k"},{"string":"v"}]]}"#,
        "msi" => r#"{"map":[[{"string":"x"},{"int":"1"}],[{"string":"y"},{"int":"2"}]]}"#,
        "dy" => {
            r#"{"map":[[{"string":"a"},{"int":"1"}],[{"string":"l"},{"list":[{"int":"1"},{"string":"x"},{"double":"2.5"},{"null":true},{"bool":true}]}],[{"string":"n"},{"null":true}]]}"#
        }
        "dm" => {
            r#"{"map":[[{"string":"a"},{"int":"1"}],[{"string":"s"},{"string":"str"}],[{"string":"f"},{"double":"2"}]]}"#
        }
        "nul" => r#"{"null":true}"#,
        _ => return None,
    };
    Some(read(&json::parse(text.as_bytes()).unwrap()))
}

/// A value that lives shorter than it could.
fn shorter<'a>(it: Value<'static>) -> Value<'a> {
    it
}

fn check(case: &Json) -> Result<(), String> {
    let expr = case.str_at(&["expr"]).unwrap();
    let loose = case.get("order_dependent").and_then(Json::as_bool) == Some(true);
    let stored = case.get("stored").unwrap();
    answer(&env(Mode::Stored), expr, stored, loose)?;
    let new = case.get("new_1_36").unwrap_or(stored);
    answer(&env(Mode::New), expr, new, loose).map_err(|it| format!("new: {it}"))
}

/// Compares what an environment answers with what it should.
pub(crate) fn answer(env: &Env, expr: &str, wanted: &Json, loose: bool) -> Result<(), String> {
    let text = |key: &str| wanted.str_at(&[key]);
    let expression = match (env.compile(expr), text("compile_error")) {
        (Ok(it), None) => it,
        (Ok(it), Some(wanted)) => {
            return Err(format!("compiles as {}, wanted {wanted}", it.output_type()));
        }
        (Err(issues), Some(wanted)) => {
            let issues = issues.to_string();
            return if issues == wanted {
                Ok(())
            } else {
                Err(format!("{issues}\n    wanted {wanted}"))
            };
        }
        (Err(issues), None) => return Err(issues.to_string()),
    };
    let program = match (expression.program(), text("program_error")) {
        (Ok(it), None) => it,
        (Ok(_), Some(wanted)) => return Err(format!("makes a program, wanted {wanted}")),
        (Err(error), wanted) => {
            return if Some(error.message()) == wanted {
                Ok(())
            } else {
                Err(format!("program: {error}, wanted {wanted:?}"))
            };
        }
    };
    if let Some(of) = text("type")
        && expression.output_type().to_string() != of
    {
        return Err(format!("type {}, wanted {of}", expression.output_type()));
    }
    if let Some(range) = wanted.get("static_cost").and_then(Json::as_array) {
        let cost = expression.estimate(&());
        if !crate::is_number(&range[0], cost.min) || !crate::is_number(&range[1], cost.max) {
            return Err(format!(
                "static cost [{},{}], wanted [{},{}]",
                cost.min, cost.max, range[0], range[1]
            ));
        }
    }
    let limits = Limits {
        cost: kubernetes::PER_CALL_LIMIT,
        interrupt: None,
    };
    let (value, cost) = program.evaluate(&|name: &str| variable(name).map(shorter), limits);
    match (&value, text("eval_error"), wanted.get("value")) {
        (Err(error), Some(wanted), _) if error.message() == wanted => {}
        (Err(error), wanted, _) => return Err(format!("error {error}, wanted {wanted:?}")),
        (Ok(value), Some(wanted), _) => return Err(format!("{value:?}, wanted error {wanted}")),
        (Ok(value), None, Some(wanted)) if !loose && !same(wanted, value) => {
            return Err(format!("{value:?}, wanted {wanted}"));
        }
        _ => {}
    }
    let wanted_cost = wanted.get("runtime_cost").or_else(|| wanted.get("cost"));
    if let Some(wanted) = wanted_cost
        && !loose
        && wanted.to_string() != cost.to_string()
    {
        return Err(format!("cost {cost}, wanted {wanted}"));
    }
    Ok(())
}
