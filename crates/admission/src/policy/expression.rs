//! Expressions of policies and match conditions: compiled once, evaluated with what a request binds to their variables.

mod variables;

use std::time::{Duration, Instant};

use cel::kubernetes::{
    self, AdmissionVariables, CompileError, Mode, PER_CALL_LIMIT, PolicyCompiler,
};
use cel::{Limits, Program, Type, Value};
use json::Value as Json;

use self::variables::Variables;
use super::authorizer::RequestAuthorizer;

static NULL: Json = Json::Null;

const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// An expression, or why there is no program for it.
#[derive(Debug)]
pub(crate) struct Expression {
    pub text: String,
    program: Result<Program, CompileError>,
}

impl Expression {
    /// Why there is no program for it.
    pub(crate) fn compile_error(&self) -> Option<&CompileError> {
        self.program.as_ref().err()
    }
}

/// A named expression that others can read.
#[derive(Debug)]
pub(crate) struct Variable {
    name: String,
    program: Result<Program, CompileError>,
}

/// Compiles what one policy or webhook has.
#[derive(Debug)]
pub(crate) struct Compiler(PolicyCompiler);

impl Compiler {
    /// With the variables of a policy, which come first.
    pub(crate) fn new(variables: &[Json], has: AdmissionVariables) -> (Self, Vec<Variable>) {
        let mut compiler = PolicyCompiler::with_variables();
        let compiled = variables.iter().map(|it| {
            let (name, text) = (super::text(it, "name"), super::text(it, "expression"));
            Variable {
                name: name.to_owned(),
                program: compiler.add_variable(name, text, has, Mode::Stored),
            }
        });
        let compiled = compiled.collect();
        (Self(compiler), compiled)
    }

    /// For webhooks, which have no variables.
    pub(crate) fn without_variables() -> Self {
        Self(PolicyCompiler::without_variables())
    }

    pub(crate) fn compile(
        &mut self,
        text: &str,
        returns: &[Type],
        has: AdmissionVariables,
    ) -> Expression {
        Expression {
            text: text.to_owned(),
            program: self.0.compile(text, returns, has, Mode::Stored),
        }
    }
}

/// What went wrong, as metrics tell it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ErrorType {
    Compile,
    Invalid,
    OutOfBudget,
    None,
}

impl ErrorType {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Compile => "compile_error",
            Self::Invalid => "invalid_error",
            Self::OutOfBudget => "out_of_budget",
            Self::None => "no_error",
        }
    }
}

/// Why an expression has no value.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub error: ErrorType,
    pub detail: String,
}

impl Failure {
    fn out_of_budget() -> Self {
        Self {
            error: ErrorType::OutOfBudget,
            detail: OUT_OF_BUDGET.to_owned(),
        }
    }
}

/// What came of one expression.
#[derive(Debug)]
pub(crate) struct Outcome<T> {
    pub result: Result<T, Failure>,
    pub elapsed: Duration,
}

/// An outcome for each expression, and what is left of the budget.
pub(crate) type Evaluated<T> = (Vec<Option<Outcome<T>>>, u64);

/// What a request binds to variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bindings<'a> {
    pub object: &'a Json,
    pub old: &'a Json,
    /// Whether the objects are Go structs in kube-apiserver, which compare in their own way.
    pub is_struct: bool,
    pub params: &'a Json,
    /// As [`Self::is_struct`], of the parameters.
    pub params_are_struct: bool,
    pub request: &'a Json,
    pub namespace: &'a Json,
    /// With what `authorizer.requestResource` asks about.
    pub authorizer: Option<(&'a RequestAuthorizer<'a>, &'a cel::Attributes)>,
    /// When whoever sent the request stops waiting.
    pub deadline: Option<Instant>,
}

impl<'a> Bindings<'a> {
    pub(crate) fn new(object: &'a Json, old: Option<&'a Json>, request: &'a Json) -> Self {
        Self {
            object,
            old: old.unwrap_or(&NULL),
            is_struct: false,
            params: &NULL,
            params_are_struct: false,
            request,
            namespace: &NULL,
            authorizer: None,
            deadline: None,
        }
    }

    /// The value of a variable; nothing if it has none.
    fn get(&self, name: &str) -> Option<Value<'a>> {
        let read = |value, is_struct| {
            if is_struct {
                Value::from_struct(value)
            } else {
                Value::from_json(value)
            }
        };
        Some(match name {
            "object" => read(self.object, self.is_struct),
            "oldObject" => read(self.old, self.is_struct),
            "params" => read(self.params, self.params_are_struct),
            "request" => Value::from_struct(self.request),
            "namespaceObject" => Value::from_struct(self.namespace),
            "authorizer" => kubernetes::authorizer(self.authorizer?.0),
            "authorizer.requestResource" => {
                let (authorizer, attributes) = self.authorizer?;
                kubernetes::request_resource(authorizer, attributes.clone())
            }
            _ => return None,
        })
    }
}

/// Evaluates expressions one after the other, each within what those before it left of the budget, and reads their
/// values. A place without an expression has no outcome.
pub(crate) fn evaluate<'e, T>(
    expressions: impl IntoIterator<Item = Option<&'e Expression>>,
    variables: &[Variable],
    bindings: &Bindings<'_>,
    mut budget: u64,
    read: impl Fn(&Value<'_>) -> T,
) -> Result<Evaluated<T>, Failure> {
    let is_late = || bindings.deadline.is_some_and(|it| Instant::now() >= it);
    let variables = Variables::new(variables, bindings, &is_late);
    variables.bind(&variables);
    let mut outcomes = Vec::new();
    for expression in expressions {
        let Some(expression) = expression else {
            outcomes.push(None);
            continue;
        };
        let started = Instant::now();
        let result = match &expression.program {
            Err(error) => Err(Failure {
                error: ErrorType::Compile,
                detail: format!("compilation error: {error}"),
            }),
            Ok(program) => {
                let limits = Limits {
                    cost: PER_CALL_LIMIT,
                    interrupt: Some(&is_late),
                };
                let find = |name: &str| variables.get(name);
                let (value, cost) = program.evaluate(&find, limits);
                let left = budget.checked_sub(variables.take_cost());
                let left = left.and_then(|it| it.checked_sub(cost));
                budget = left.ok_or_else(Failure::out_of_budget)?;
                match value {
                    Ok(value) => Ok(read(&value)),
                    Err(error) => Err(Failure {
                        error: ErrorType::Invalid,
                        detail: format!(
                            "expression '{}' resulted in error: {error}",
                            expression.text
                        ),
                    }),
                }
            }
        };
        outcomes.push(Some(Outcome {
            result,
            elapsed: started.elapsed(),
        }));
    }
    Ok((outcomes, budget))
}
