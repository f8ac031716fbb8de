//! Expressions of policies, and of authentication and authorization.

use std::sync::{Mutex, OnceLock};

use cel::kubernetes::{self, AdmissionVariables, DeviceFeatures, Mode};
use cel::{Env, Limits, Type, Value};
use json::Value as Json;
use requires::requires;

use crate::values::same;

/// The objects were values of Go types when the cases were recorded, which have no fields that are empty and some that
/// the object does not have.
const GO_TYPES: &str = "the object was a value of a Go type";

const KNOWN_VALUES: &[(&str, &str)] = &[
    ("params not declared", "it does not compile without them"),
    ("pod-015", GO_TYPES),
    ("pod-016", GO_TYPES),
    ("pod-031", "the order of a map"),
    ("pod-069", GO_TYPES),
    ("pod-082", GO_TYPES),
    ("cr-010", "the number has lost digits in the file"),
    ("dep-011", GO_TYPES),
    ("dep-012", GO_TYPES),
    ("dep-015", GO_TYPES),
    ("dep-017", GO_TYPES),
    ("dep-018", GO_TYPES),
];

#[requires(cel_cases)]
#[test]
fn admission_expressions_compile() {
    let policies = policies();
    crate::run("k8s/admission-compile.jsonl", &[], |case| {
        let text = case.str_at(&["expression"]).unwrap();
        let flag = |key: &str| case.at(&["options", key]).and_then(Json::as_bool) == Some(true);
        let has = AdmissionVariables {
            params: flag("HasParams"),
            authorizer: flag("HasAuthorizer"),
            patch_types: flag("HasPatchTypes"),
        };
        if text.contains("variables") {
            return compiles_in_a_policy(&policies, case, has);
        }
        let mismatch = |wanted: &[&str], actual: &str| match wanted {
            [one] => format!("must evaluate to {one} but got {actual}"),
            all => format!(
                "must evaluate to one of [{}] but got {actual}",
                all.join(" ")
            ),
        };
        let mut env = kubernetes::admission_environment(base(case), has);
        // Upstream's test declares the function for the version after this one. There is no code for it here.
        if text.contains("test()") && case.str_at(&["env"]) == Some("StoredExpressions") {
            env = env.function("test", "test", false, Vec::new(), Type::Bool);
            let compiled = env.compile(text).map_err(|it| it.to_string())?;
            let (of, wanted) = (
                compiled.output_type().to_string(),
                case.str_at(&["output_type"]),
            );
            return if Some(&*of) == wanted {
                Ok(())
            } else {
                Err(of)
            };
        }
        let compiled = compiles(&env, case, mismatch);
        if text == "isQuantity(\"20M\")" {
            // Upstream's test tries it in two versions; the file does not tell which.
            let old = kubernetes::environment(28, Mode::New);
            let old = kubernetes::admission_environment(old, has);
            return compiled.or_else(|_| compiles(&old, case, mismatch));
        }
        compiled
    });
}

/// The variables of a policy, by name, and its other expressions.
type Policy = (Vec<(String, String)>, Vec<String>);

/// All policies in the cases.
fn policies() -> Vec<Policy> {
    let mut all = Vec::new();
    let pair = |it: &Json| {
        let text = |key| it.str_at(&[key]).unwrap_or_default().to_owned();
        (text("name"), text("expression"))
    };
    for case in crate::cases("k8s/vap.jsonl") {
        let spec = case.at(&["policy", "spec"]).unwrap();
        let list = |key: &str| spec.get(key).and_then(Json::as_array).into_iter().flatten();
        let variables: Vec<_> = list("variables").map(pair).collect();
        let texts = ["validations", "auditAnnotations", "matchConditions"]
            .into_iter()
            .flat_map(list)
            .flat_map(|it| {
                ["expression", "messageExpression", "valueExpression"].map(|key| it.str_at(&[key]))
            })
            .flatten()
            .map(str::to_owned)
            .collect();
        all.push((variables, texts));
    }
    for file in ["k8s/condition.jsonl", "k8s/map.jsonl"] {
        for case in crate::cases(file) {
            let mut variables: Vec<(String, String)> = match case.get("variables") {
                Some(Json::Array(all)) => all.iter().map(pair).collect(),
                Some(Json::Object(all)) => all
                    .iter()
                    .map(|(name, it)| (name.to_string(), pair(it).1))
                    .collect(),
                _ => Vec::new(),
            };
            // They are told in the order of their names. Those that read others come after these.
            variables.sort_by_key(|it| it.1.contains("variables."));
            let results = case.get("results").and_then(Json::as_array);
            let results = results.into_iter().flatten();
            let mut texts: Vec<String> = results.map(|it| pair(it).1).collect();
            texts.extend(case.str_at(&["expression"]).map(str::to_owned));
            all.push((variables, texts));
        }
    }
    all
}

/// Whether a case compiles as it should in one of the policies that have its expression. The types of variables depend
/// on the policy, which the case does not name.
fn compiles_in_a_policy(
    policies: &[Policy],
    case: &Json,
    has: AdmissionVariables,
) -> Result<(), String> {
    let text = case.str_at(&["expression"]).unwrap();
    let mode = match case.str_at(&["env"]) {
        Some("NewExpressions") => Mode::New,
        _ => Mode::Stored,
    };
    let returns = case.get("return_types").and_then(Json::as_array).unwrap();
    let returns: Vec<Type> = returns
        .iter()
        .map(|it| match it.as_str().unwrap() {
            "bool" => Type::Bool,
            "string" => Type::String,
            "null_type" => Type::Null,
            "Object" => Type::structure("Object"),
            "list(JSONPatch)" => Type::list(Type::structure("JSONPatch")),
            "dyn" => Type::Dyn,
            _ => Type::Any,
        })
        .collect();
    let mut reasons = Vec::new();
    for (variables, texts) in policies {
        let at = variables.iter().position(|it| it.1 == text);
        if at.is_none() && !texts.iter().any(|it| it == text) {
            continue;
        }
        let mut compiler = kubernetes::PolicyCompiler::with_variables();
        for (name, text) in &variables[..at.unwrap_or(variables.len())] {
            drop(compiler.add_variable(name, text, has, mode));
        }
        let compiled = compiler.compile(text, &returns, has, mode);
        match (compiled, case.str_at(&["error"])) {
            (Ok(_), None) => return Ok(()),
            (Err(error), Some(wanted)) if error.detail() == wanted => return Ok(()),
            (compiled, wanted) => reasons.push(format!("{compiled:?}, wanted {wanted:?}")),
        }
    }
    Err(format!(
        "in {} policies: {}",
        reasons.len(),
        reasons.join("\n")
    ))
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
        let is_review = case.str_at(&["kind"]) == Some("authorization");
        compiles(&env, case, |wanted, actual| match wanted {
            [one] if is_review => format!("must evaluate to {one} but got {actual}"),
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

fn compiles(
    env: &Env,
    case: &Json,
    mismatch: impl Fn(&[&str], &str) -> String,
) -> Result<(), String> {
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
    if !types
        .iter()
        .any(|it| *it == of || *it == "google.protobuf.Any")
    {
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
        let evaluations = case
            .at(&["expect", "evaluations"])
            .and_then(Json::as_array)
            .unwrap();
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
    // Those behind the end of the budget were not evaluated.
    if wanted.get("error").is_none() && wanted.get("value").is_none_or(Json::is_null) {
        return Ok(());
    }
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
        Some(case.get(key).map_or(Value::Null, Value::from_json))
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
        (Ok(value), Some(wanted), _) => {
            return Err(format!("{text}: {value:?}, wanted error {wanted}"));
        }
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

const KNOWN_CONDITIONS: &[(&str, &str)] = &[
    (
        "object.subsets.size() < params.spec.testSize",
        "the case does not tell the limit of a call",
    ),
    ("isQuantity(\"20M\")", "an environment of version 1.27"),
];

/// Expressions of one policy share a budget. Those with variables or an authorizer need a policy to run in.
#[requires(cel_cases)]
#[test]
fn conditions_evaluate() {
    crate::run("k8s/condition.jsonl", KNOWN_CONDITIONS, |case| {
        let is_set = |key: &str| case.get(key).is_some_and(|it| !it.is_null());
        if is_set("authorizer") || is_set("error") {
            return Ok(());
        }
        let has = AdmissionVariables {
            params: true,
            authorizer: true,
            patch_types: false,
        };
        let env = kubernetes::admission_environment(kubernetes::environment(37, Mode::Stored), has);
        let declared = case.get("variables").and_then(Json::as_object);
        let all: Vec<(String, String)> = declared
            .into_iter()
            .flat_map(json::Object::iter)
            .filter_map(|(name, it)| {
                Some((name.to_string(), it.str_at(&["expression"])?.to_owned()))
            })
            .collect();
        // They are told in the order of their names, not in that of the policy.
        if all.iter().any(|it| it.1.contains("variables.")) {
            return Ok(());
        }
        let env = with_variables(env, &all);
        let variables = Variables {
            env: &env,
            case,
            all: &all,
            programs: all.iter().map(|_| OnceLock::new()).collect(),
            values: Mutex::default(),
        };
        let mut budget = case.get("budget").and_then(Json::as_i64).unwrap();
        for wanted in case.get("results").and_then(Json::as_array).unwrap() {
            budget -= condition(&env, case, &variables, wanted)?;
            let after = wanted.get("remaining_budget_after").and_then(Json::as_i64);
            if after.is_some_and(|it| it != budget) {
                return Err(format!("{budget} left, wanted {after:?}"));
            }
        }
        Ok(())
    });
}

/// What a condition costs, if it answers what it should.
fn condition(env: &Env, case: &Json, variables: &Variables, wanted: &Json) -> Result<i64, String> {
    let text = wanted.str_at(&["expression"]).unwrap();
    let error = wanted.str_at(&["error"]);
    let expression = match (env.compile(text), error) {
        (Ok(it), _) => it,
        (Err(issues), Some(wanted)) if wanted.ends_with(&issues.to_string()) => return Ok(0),
        (Err(issues), wanted) => return Err(format!("{issues}, wanted {wanted:?}")),
    };
    let program = expression.program().map_err(|it| it.to_string())?;
    let find = |name: &str| match name {
        "variables" => Some(Value::Lazy(cel::LazyObject(variables))),
        other => Some(bound(case, other)),
    };
    let limits = Limits {
        cost: kubernetes::PER_CALL_LIMIT,
        interrupt: None,
    };
    let (value, cost) = program.evaluate(&find, limits);
    let cost = cost + variables.spent();
    match (&value, error, wanted.get("value")) {
        (Err(error), Some(wanted), _) if wanted.ends_with(error.message()) => {}
        (Ok(value), None, Some(wanted)) if same(wanted, value) => {}
        (_, Some(wanted), _) if wanted.contains("must evaluate to") => return Ok(0),
        (other, error, wanted) => {
            return Err(format!("{text}: {other:?}, wanted {wanted:?} {error:?}"));
        }
    }
    Ok(cost.cast_signed())
}

/// Selectors of devices: compilation and static cost. How they run depends on maps that know all domains.
#[requires(cel_cases)]
#[test]
fn device_selectors_compile() {
    crate::run("k8s/dra.jsonl", &[], |case| {
        let flag = |key: &str| case.at(&["features", key]).and_then(Json::as_bool) == Some(true);
        let features = DeviceFeatures {
            consumable_capacity: flag("EnableConsumableCapacity"),
            list_attributes: flag("EnableListTypeAttributes"),
        };
        let env = kubernetes::device_environment(base(case), features);
        let wanted = case.str_at(&["compile_error"]);
        let expression = match env.compile(case.str_at(&["expression"]).unwrap()) {
            Ok(it) => it,
            Err(issues) => {
                let why = format!("compilation failed: {issues}");
                return if wanted == Some(&why) {
                    Ok(())
                } else {
                    Err(format!("{why}\n    wanted {wanted:?}"))
                };
            }
        };
        let of = expression.output_type().to_string();
        if let Some(wanted) = wanted {
            // What is left to the caller: the type of the result.
            return if wanted.contains("must evaluate to") || wanted.contains(&of) {
                Ok(())
            } else {
                Err(format!("compiles as {of}, wanted {wanted}"))
            };
        }
        let max = expression.estimate(&features).max;
        match case.get("static_max_cost") {
            // Derived attributes have no estimate.
            Some(wanted)
                if !crate::is_number(wanted, max) && !crate::is_number(wanted, u64::MAX) =>
            {
                Err(format!("static cost {max}, wanted {wanted}"))
            }
            _ => Ok(()),
        }
    });
}

/// Declares the variables of a policy, each of which sees those before it.
fn with_variables(mut env: Env, all: &[(String, String)]) -> Env {
    let mut fields = cel::StructType::default();
    for (name, text) in all {
        let of = env
            .compile(text)
            .map_or(Type::Dyn, |it| it.output_type().clone());
        fields.fields.insert(name.as_str().into(), of);
        env = env
            .structure("kubernetes.variables", fields.clone())
            .variable("variables", Type::structure("kubernetes.variables"));
    }
    env
}

/// Types of policies are checked against the schemas of what they match.
#[requires(cel_cases)]
#[test]
fn policies_are_type_checked() {
    crate::run("k8s/typecheck.jsonl", &[], |case| {
        let mut warnings = Vec::new();
        let text = |it: &Json, key: &str| it.str_at(&[key]).map(str::to_owned);
        let declared = case
            .at(&["policy", "spec", "variables"])
            .and_then(Json::as_array);
        let variables: Vec<(String, String)> = declared
            .into_iter()
            .flatten()
            .filter_map(|it| Some((text(it, "name")?, text(it, "expression")?)))
            .collect();
        let validations = case
            .at(&["policy", "spec", "validations"])
            .and_then(Json::as_array);
        let schema = |kind: &str| {
            let schema = case.get("schemas")?.get(kind)?;
            cel::Schema::from_open_api(schema, true).types(kind)
        };
        let kinds = case.get("types_to_check").and_then(Json::as_array);
        for (index, it) in validations.into_iter().flatten().enumerate() {
            for key in ["expression", "messageExpression"] {
                let Some(expression) = it.str_at(&[key]) else {
                    continue;
                };
                let mut all = String::new();
                for kind in kinds.into_iter().flatten().filter_map(Json::as_str) {
                    let Some((of, structs)) = schema(kind) else {
                        continue;
                    };
                    let has = AdmissionVariables {
                        params: true,
                        authorizer: true,
                        patch_types: false,
                    };
                    let base = kubernetes::environment(37, Mode::Stored);
                    let mut env = kubernetes::admission_environment(base, has)
                        .structures(structs)
                        .variable("object", of.clone())
                        .variable("oldObject", of);
                    if let Some((of, structs)) = case.str_at(&["params_gvk"]).and_then(&schema) {
                        env = env.structures(structs).variable("params", of);
                    }
                    if let Err(issues) = with_variables(env, &variables).compile(expression) {
                        all.push_str(&[kind, ": ", &issues.to_string(), "\n"].concat());
                    }
                }
                if !all.is_empty() {
                    let mut warning = json::Object::new();
                    warning.insert("fieldRef", format!("spec.validations[{index}].{key}"));
                    warning.insert("warning", all);
                    warnings.push(Json::Object(warning));
                }
            }
        }
        let actual = if warnings.is_empty() {
            Json::Null
        } else {
            Json::Array(warnings)
        };
        match case.get("warnings") {
            Some(wanted) if *wanted != actual => Err(format!("{actual}\n    wanted {wanted}")),
            _ => Ok(()),
        }
    });
}

/// Patches of mutating policies: the expression makes objects that are JSON, or fails as it should.
#[requires(cel_cases)]
#[test]
fn mutations_evaluate() {
    crate::run("k8s/map.jsonl", &[], |case| {
        let has = AdmissionVariables {
            params: true,
            authorizer: true,
            patch_types: true,
        };
        let env = kubernetes::admission_environment(kubernetes::environment(37, Mode::Stored), has);
        let is_set = |key: &str| {
            case.get(key)
                .and_then(Json::as_object)
                .is_some_and(|it| !it.is_empty())
        };
        if is_set("variables") {
            return Ok(());
        }
        let wanted = case.str_at(&["error"]);
        let expression = match env.compile(case.str_at(&["expression"]).unwrap()) {
            Ok(it) => it,
            Err(issues) => {
                return match wanted {
                    Some(wanted) if wanted.contains(&issues.to_string()) => Ok(()),
                    _ => Err(format!("{issues}\n    wanted {wanted:?}")),
                };
            }
        };
        let program = expression.program().map_err(|it| it.to_string())?;
        let bound = ["object", "oldObject", "params"];
        if !program.variables().all(|it| bound.contains(&it)) {
            return Ok(());
        }
        let find = |name: &str| {
            let key = if name == "oldObject" {
                "old_object"
            } else {
                name
            };
            Some(case.get(key).map_or(Value::Null, Value::from_json))
        };
        let limits = Limits {
            cost: kubernetes::PER_CALL_LIMIT,
            interrupt: None,
        };
        match (program.evaluate(&find, limits).0, wanted) {
            (Ok(value), _) => value.to_json().map(|_| ()).map_err(|it| it.to_string()),
            (Err(error), Some(wanted)) if wanted.contains(error.message()) => Ok(()),
            (Err(error), wanted) => Err(format!("error {error}, wanted {wanted:?}")),
        }
    });
}

/// The value of a variable of admission.
fn bound<'c>(case: &'c Json, name: &str) -> Value<'c> {
    let key = match name {
        "oldObject" => "old_object",
        "namespaceObject" => "namespace_object",
        other => other,
    };
    case.get(key).map_or(Value::Null, Value::from_json)
}

/// The variables of a policy, each of which is evaluated when it is first read.
struct Variables<'c> {
    env: &'c Env,
    case: &'c Json,
    all: &'c [(String, String)],
    programs: Vec<OnceLock<Result<cel::Program, String>>>,
    /// The names of those that were read, and what they cost since that was last asked for.
    values: Mutex<(Vec<usize>, u64)>,
}

impl Variables<'_> {
    fn spent(&self) -> u64 {
        std::mem::take(&mut self.values.lock().unwrap().1)
    }
}

impl cel::Lazy for Variables<'_> {
    fn field<'s>(&'s self, name: &str) -> Option<Result<Value<'s>, cel::Error>> {
        let at = self.all.iter().position(|it| it.0 == name)?;
        let program = self.programs[at].get_or_init(|| {
            let expression = self
                .env
                .compile(&self.all[at].1)
                .map_err(|it| it.to_string())?;
            expression.program().map_err(|it| it.to_string())
        });
        let program = match program {
            Ok(it) => it,
            Err(why) => {
                return Some(Err(cel::Error::new(format!(
                    "composited variable {name:?} fails to compile: compilation failed: {why}"
                ))));
            }
        };
        let find = |name: &str| Some(bound(self.case, name));
        let limits = Limits {
            cost: kubernetes::PER_CALL_LIMIT,
            interrupt: None,
        };
        let (value, cost) = program.evaluate(&find, limits);
        let mut values = self.values.lock().unwrap();
        if !values.0.contains(&at) {
            values.0.push(at);
            values.1 += cost;
        }
        Some(value.map_err(|why| {
            cel::Error::new(format!(
                "composited variable {name:?} fails to evaluate: {why}"
            ))
        }))
    }
}
