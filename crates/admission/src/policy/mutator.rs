//! A `MutatingAdmissionPolicy` compiled, and the patches that it makes.

use cel::kubernetes::{AdmissionVariables, CompileError, RUNTIME_COST_BUDGET};
use cel::{JsonLimits, Struct, Type, Value};
use json::{Object, Value as Json};

use super::expression::{self, Bindings, Compiler, ErrorType, Expression, Failure, Variable};
use super::match_conditions::{MatchConditions, Owner};
use crate::metrics::PolicyMetrics;
use crate::read::{has, items, text};

/// A patch may not be larger than a request.
const MAX_PATCH: usize = 3 << 20;

#[derive(Debug)]
pub(crate) struct Mutator {
    variables: Vec<Variable>,
    conditions: MatchConditions,
    mutations: Vec<Mutation>,
    /// Evaluated again after others changed the object.
    pub reinvoke: bool,
}

#[derive(Debug)]
struct Mutation {
    kind: PatchType,
    expression: Expression,
}

#[derive(Clone, Copy, Debug)]
enum PatchType {
    ApplyConfiguration,
    JsonPatch,
}

/// What is to become of an object.
#[derive(Clone, Debug)]
pub(crate) enum Patch {
    /// A partial object.
    ApplyConfiguration(Json),
    /// Operations.
    JsonPatch(Json),
}

impl Mutator {
    pub(crate) fn new(spec: &Json) -> Self {
        let full = AdmissionVariables {
            params: has(spec, &["paramKind"]),
            authorizer: true,
            patch_types: false,
        };
        let patching = AdmissionVariables {
            patch_types: true,
            ..full
        };
        let ignore_errors = text(spec, &["failurePolicy"]) == "Ignore";
        let (mut compiler, variables) = Compiler::new(items(spec, &["variables"]), full);
        let conditions = items(spec, &["matchConditions"]);
        let conditions = MatchConditions::new(&mut compiler, conditions, full, ignore_errors);
        let mutations = items(spec, &["mutations"]).iter().filter_map(|it| {
            let (kind, key, returns) = match text(it, &["patchType"]) {
                "JSONPatch" => {
                    let returns = Type::list(Type::structure("JSONPatch"));
                    (PatchType::JsonPatch, "jsonPatch", returns)
                }
                "ApplyConfiguration" => {
                    let returns = Type::structure("Object");
                    (PatchType::ApplyConfiguration, "applyConfiguration", returns)
                }
                _ => return None,
            };
            let expression = it.str_at(&[key, "expression"])?;
            Some(Mutation {
                kind,
                expression: compiler.compile(expression, &[returns], patching),
            })
        });
        let mutations = mutations.collect();
        Self {
            variables,
            conditions,
            mutations,
            reinvoke: text(spec, &["reinvocationPolicy"]) == "IfNeeded",
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.mutations.len()
    }

    pub(crate) fn hold(
        &self,
        bindings: &Bindings<'_>,
        metrics: &PolicyMetrics,
        owner: Owner<'_>,
    ) -> Result<bool, Failure> {
        self.conditions
            .hold(&self.variables, bindings, metrics, owner)
    }

    /// The patch that one mutation makes.
    pub(crate) fn patch(&self, index: usize, bindings: &Bindings<'_>) -> Result<Patch, Failure> {
        let mutation = &self.mutations[index];
        if let Some(error) = mutation.expression.compile_error() {
            return Err(Failure {
                error: match error {
                    CompileError::Invalid(_) => ErrorType::Compile,
                    CompileError::ReturnType(_) | CompileError::Program(_) => ErrorType::Invalid,
                },
                detail: error.detail().to_owned(),
            });
        }
        let read = |value: &Value<'_>| match mutation.kind {
            PatchType::ApplyConfiguration => configuration(value).map(Patch::ApplyConfiguration),
            PatchType::JsonPatch => operations(value).map(Patch::JsonPatch),
        };
        let all = [Some(&mutation.expression)];
        let budget = RUNTIME_COST_BUDGET;
        let (outcomes, _) = expression::evaluate(all, &self.variables, bindings, budget, read)?;
        let outcome = outcomes.into_iter().flatten().next();
        let result = outcome.map_or_else(|| Err(wrong("no patch".to_owned())), |it| it.result);
        result?.map_err(wrong)
    }
}

pub(crate) fn wrong(detail: String) -> Failure {
    Failure {
        error: ErrorType::Invalid,
        detail,
    }
}

fn limits() -> JsonLimits {
    JsonLimits {
        size: MAX_PATCH,
        depth: json::Limits::default().depth,
    }
}

fn configuration(value: &Value<'_>) -> Result<Json, String> {
    let Value::Struct(object) = value else {
        let of = value.type_of();
        return Err(format!(
            "unsupported return type from ApplyConfiguration expression: {}",
            of.name()
        ));
    };
    // First, for it bounds what is looked at.
    let json = value
        .to_json_within(limits())
        .map_err(|it| it.to_string())?;
    check_names(object)?;
    Ok(json)
}

fn operations(value: &Value<'_>) -> Result<Json, String> {
    let Value::List(list) = value else {
        return Err("type mismatch: JSONPatchType.expression should evaluate to array".to_owned());
    };
    let mut out = Vec::new();
    let mut left = limits();
    for item in list.iter() {
        let item = item.map_err(|it| it.to_string())?;
        let Value::Struct(operation) = &item else {
            return Err(format!(
                "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch, got element of {}",
                item.type_of().name()
            ));
        };
        let text = |name: &str| operation.field(name).and_then(Value::as_str).unwrap_or("");
        let mut fields = Object::new();
        fields.insert("op", text("op"));
        fields.insert("path", text("path"));
        if !text("from").is_empty() {
            fields.insert("from", text("from"));
        }
        if let Some(value) = operation.field("value") {
            let json = value.to_json_within(left).map_err(|error| {
                format!("JSONPath valueExpression evaluated to a type that could not marshal to JSON: {error}")
            })?;
            if let Value::Struct(object) = value {
                check_names(object)?;
            }
            // All of them together.
            left.size = left.size.saturating_sub(json::to_vec(&json).len());
            fields.insert("value", json);
        }
        out.push(fields.into());
    }
    Ok(Json::Array(out))
}

/// An object in a field must be of the type that is named after the way to it.
fn check_names(object: &Struct<'_>) -> Result<(), String> {
    let mut wrong = Vec::new();
    check_object(object, &mut object.name.to_string(), &mut wrong);
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("type mismatch: {}", wrong.join("\n")))
    }
}

/// No more mistakes are told.
const MAX_WRONG: usize = 100;

fn check_object(object: &Struct<'_>, path: &mut String, wrong: &mut Vec<String>) {
    if *object.name != **path && wrong.len() < MAX_WRONG {
        let (found, expected) = (meta::go::quote(&object.name), meta::go::quote(path));
        wrong.push(format!(
            "unexpected type name {found}, expected {expected}, which matches field name path from root Object type"
        ));
    }
    let length = path.len();
    for (name, value) in &object.fields {
        path.push('.');
        path.push_str(name);
        check_value(value, path, wrong);
        path.truncate(length);
    }
}

fn check_value(value: &Value<'_>, path: &mut String, wrong: &mut Vec<String>) {
    match value {
        Value::Struct(object) => check_object(object, path, wrong),
        Value::List(list) => {
            for item in list.iter().flatten() {
                check_value(&item, path, wrong);
            }
        }
        Value::Map(map) => {
            for (_, value) in map.pairs() {
                if let Ok(value) = value {
                    check_value(&value, path, wrong);
                }
            }
        }
        _ => {}
    }
}
