//! The conformance tests of cel-spec: in Kubernetes' environment as it answers, in the full one as the specification
//! wants it.

use cel::kubernetes::{self, Mode};
use cel::{Env, Library, Limits, Type, Value};
use json::Value as Json;
use requires::requires;

use crate::values::{read, same};

/// Cases whose cost depends on the order in which Go walks a map, and all costs that cel-go v0.29.2 had in 2,000
/// evaluations of each. The file has one of them.
const ANY_ORDER: &[(&str, &[u64])] = &[
    ("macros/exists/map_key", &[10, 13]),
    ("macros2/transformMap/error", &[8, 12, 16]),
];

const FILES: &[&str] = &[
    "basic",
    "bindings_ext",
    "block_ext",
    "comparisons",
    "conversions",
    "encoders_ext",
    "fields",
    "fp_math",
    "integer_math",
    "lists",
    "logic",
    "macros",
    "macros2",
    "math_ext",
    "namespace",
    "network_ext",
    "optionals",
    "parse",
    "plumbing",
    "string",
    "string_ext",
    "timestamps",
    "type_deduction",
];

#[requires(cel_cases)]
#[test]
fn as_kubernetes_answers() {
    let base = kubernetes::environment(37, Mode::Stored);
    let (mut failures, mut count) = (Vec::new(), 0);
    for file in FILES {
        for case in crate::cases(&format!("spec/{file}.json")) {
            count += 1;
            let name = format!("{file}/{}/{}", text(&case, "section"), text(&case, "name"));
            let costs = ANY_ORDER.iter().find(|it| it.0 == name).map(|it| it.1);
            if let Err(why) = check(&base, &case, costs) {
                failures.push(format!("{name}: {}\n    {why}", text(&case, "expr")));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {count} fail\n{}",
        failures.len(),
        failures.join("\n")
    );
}

fn text<'c>(case: &'c Json, key: &str) -> &'c str {
    case.str_at(&[key]).unwrap_or("")
}

fn flag(case: &Json, key: &str) -> bool {
    case.get(key).and_then(Json::as_bool) == Some(true)
}

fn type_of(text: &Json) -> Type {
    if let Some(name) = text.as_str() {
        return match name {
            "int" => Type::Int,
            "uint" => Type::Uint,
            "double" => Type::Double,
            "bool" => Type::Bool,
            "string" => Type::String,
            "bytes" => Type::Bytes,
            "null_type" => Type::Null,
            "any" => Type::Any,
            "timestamp" => Type::Timestamp,
            "duration" => Type::Duration,
            _ => Type::Dyn,
        };
    }
    let (kind, inner) = text.as_object().unwrap().iter().next().unwrap();
    let first = || inner.as_array().unwrap();
    match &**kind {
        "list" => Type::list(type_of(inner)),
        "map" => Type::map(type_of(&first()[0]), type_of(&first()[1])),
        "type" => Type::Type(Some(std::sync::Arc::new(type_of(inner)))),
        "wrapper" => Type::Wrapper(std::sync::Arc::new(type_of(inner))),
        "param" => Type::Param(inner.as_str().unwrap().into()),
        "abstract" => {
            let params = text.get("params").and_then(Json::as_array);
            let params = params.map(|it| it.iter().map(type_of).collect::<Vec<_>>());
            Type::Opaque(
                inner.as_str().unwrap().into(),
                params.unwrap_or_default().into(),
            )
        }
        _ => Type::structure(inner.as_str().unwrap()),
    }
}

fn declared(mut env: Env, case: &Json) -> Env {
    if let Some(container) = case.str_at(&["container"]) {
        env = env.in_container(container);
    }
    if flag(case, "disable_macros") {
        env = env.without_macros();
    }
    for it in case
        .get("type_env")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
    {
        let name = text(it, "name");
        if let Some(of) = it.get("type") {
            env = env.variable(name, type_of(of));
        }
        for overload in it
            .get("function")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
        {
            let params = overload.get("params").and_then(Json::as_array);
            let params = params.into_iter().flatten().map(type_of).collect();
            let result = type_of(overload.get("result").unwrap());
            env = env.function(
                name,
                text(overload, "id"),
                flag(overload, "member"),
                params,
                result,
            );
        }
    }
    env
}

fn bound(case: &Json) -> Vec<(String, Value<'static>)> {
    let all = case.get("bindings").and_then(Json::as_object);
    all.into_iter()
        .flat_map(json::Object::iter)
        .map(|(name, value)| (name.to_string(), read(value)))
        .collect()
}

/// Kubernetes' answer.
fn check(base: &Env, case: &Json, costs: Option<&[u64]>) -> Result<(), String> {
    let wanted = case.get("k8s").unwrap();
    let env = declared(base.clone(), case);
    let expr = text(case, "expr");
    let compiled = if flag(case, "disable_check") {
        env.compile_unchecked(expr)
    } else {
        env.compile(expr)
    };
    let expression = match (compiled, wanted.str_at(&["compile_error"])) {
        (Err(issues), Some(wanted)) if issues.to_string() == wanted => return Ok(()),
        (Err(issues), wanted) => return Err(format!("{issues}\n    wanted {wanted:?}")),
        (Ok(_), Some(wanted)) => return Err(format!("compiles, wanted {wanted}")),
        (Ok(it), None) => it,
    };
    if let Some(of) = wanted.str_at(&["type"])
        && expression.output_type().to_string() != of
        && !flag(case, "disable_check")
    {
        return Err(format!("type {}, wanted {of}", expression.output_type()));
    }
    let program = match (expression.program(), wanted.str_at(&["program_error"])) {
        (Err(error), Some(wanted)) if error.message() == wanted => return Ok(()),
        (Err(error), wanted) => return Err(format!("program {error}, wanted {wanted:?}")),
        (Ok(_), Some(wanted)) => return Err(format!("makes a program, wanted {wanted}")),
        (Ok(it), None) => it,
    };
    if wanted.get("value").is_none() && wanted.get("eval_error").is_none() {
        return Ok(());
    }
    let bindings = bound(case);
    let find = |name: &str| {
        bindings
            .iter()
            .find(|it| it.0 == name)
            .map(|it| it.1.clone())
    };
    let limits = Limits {
        cost: kubernetes::PER_CALL_LIMIT,
        interrupt: None,
    };
    let (value, cost) = program.evaluate(&find, limits);
    match (&value, wanted.str_at(&["eval_error"]), wanted.get("value")) {
        (Err(error), Some(wanted), _) if error.message() == wanted => {}
        (Err(error), wanted, _) => return Err(format!("error {error}, wanted {wanted:?}")),
        (Ok(value), Some(wanted), _) => return Err(format!("{value:?}, wanted error {wanted}")),
        (Ok(value), None, Some(wanted)) if !same(wanted, value) => {
            return Err(format!("{value:?}, wanted {wanted}"));
        }
        _ => {}
    }
    if let Some(costs) = costs {
        return if costs.contains(&cost) {
            Ok(())
        } else {
            Err(format!("cost {cost}, wanted one of {costs:?}"))
        };
    }
    match wanted.get("cost") {
        Some(wanted) if wanted.to_string() != cost.to_string() => {
            Err(format!("cost {cost}, wanted {wanted}"))
        }
        _ => Ok(()),
    }
}

/// Cases that fail in the full environment.
const KNOWN_FULL: &[(&str, &str)] = &[
    (
        "block_ext/",
        "cel.block is written by optimizers, not by people",
    ),
    (
        "fields/map_fields/map_bad_key_type",
        "as cel-go: a constant that cannot be a key is an error of the program",
    ),
    (
        "fields/qualified_identifier_resolution/map_key_float",
        CEL_GO,
    ),
    (
        "fields/qualified_identifier_resolution/map_value_repeat_key",
        CEL_GO,
    ),
    ("network_ext/ipv4/ipv4_equals_ipv6", CEL_GO),
    ("network_ext/ipv4/ipv4_not_equals_ipv6", CEL_GO),
    ("optionals/optionals/map_null_entry_no_such_key", CEL_GO),
    ("optionals/optionals/map_present_key_invalid_field", CEL_GO),
    ("string_ext/value_errors/indexof_out_of_range", CEL_GO),
    ("string_ext/value_errors/lastindexof_out_of_range", CEL_GO),
    (
        "type_deduction/legacy_nullable_types/null_assignable_to_abstract_parameter_candidate",
        CEL_GO,
    ),
];
const CEL_GO: &str = "as cel-go in Kubernetes answers";

#[requires(cel_cases)]
#[test]
fn as_the_specification_wants() {
    let base = Env::standard()
        .library(Library::Optionals)
        .library(Library::Strings(4))
        .library(Library::Sets)
        .library(Library::Math)
        .library(Library::Encoders)
        .library(Library::Bindings)
        .library(Library::Network)
        .library(Library::TwoVariables)
        .library(Library::CrossTypeComparisons);
    let (mut failures, mut count, mut known) = (Vec::new(), 0, 0);
    for file in FILES {
        for case in crate::cases(&format!("spec/{file}.json")) {
            count += 1;
            let name = format!("{file}/{}/{}", text(&case, "section"), text(&case, "name"));
            let is_known = KNOWN_FULL.iter().any(|it| name.starts_with(it.0));
            match (check_full(&base, &case), is_known) {
                (Err(_), true) => known += 1,
                (Err(why), false) => {
                    failures.push(format!("{name}: {}\n    {why}", text(&case, "expr")));
                }
                (Ok(()), _) => {}
            }
        }
    }
    assert!(known >= KNOWN_FULL.len());
    assert!(
        failures.is_empty(),
        "{} of {count} fail\n{}",
        failures.len(),
        failures.join("\n")
    );
}

fn check_full(base: &Env, case: &Json) -> Result<(), String> {
    let wanted = case.get("expect").unwrap();
    let is_error = wanted.get("error").is_some() || wanted.get("any_error").is_some();
    let env = declared(base.clone(), case);
    let expr = text(case, "expr");
    let compiled = if flag(case, "disable_check") {
        env.compile_unchecked(expr)
    } else {
        env.compile(expr)
    };
    let expression = match compiled {
        Err(_) if is_error => return Ok(()),
        Err(issues) => return Err(issues.to_string()),
        Ok(it) => it,
    };
    if let Some(of) = wanted.get("type") {
        let of = type_of(of);
        if of.to_string() != expression.output_type().to_string() {
            return Err(format!("type {}, wanted {of}", expression.output_type()));
        }
    }
    if flag(case, "check_only") {
        return Ok(());
    }
    let bindings = bound(case);
    let find = |name: &str| {
        bindings
            .iter()
            .find(|it| it.0 == name)
            .map(|it| it.1.clone())
    };
    let program = match expression.program() {
        Err(_) if is_error => return Ok(()),
        Err(error) => return Err(error.to_string()),
        Ok(it) => it,
    };
    match (
        program.evaluate(&find, Limits::default()).0,
        wanted.get("value"),
    ) {
        (Err(_), _) if is_error => Ok(()),
        (Err(error), _) => Err(format!("error {error}")),
        (Ok(value), _) if is_error => Err(format!("{value:?}, wanted an error")),
        (Ok(value), Some(wanted)) if !same(wanted, &value) => {
            Err(format!("{value:?}, wanted {wanted}"))
        }
        _ => Ok(()),
    }
}
