//! Compiles expressions of admission: policies, and the match conditions of webhooks.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::{AdmissionVariables, Mode, admission_environment, environment};
use crate::env::{Env, StructType};
use crate::program::Program;
use crate::source::Issues;
use crate::types::Type;

/// The name of the type of `variables`.
const VARIABLES_TYPE: &str = "kubernetes.variables";

/// Why an expression of admission cannot be used.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CompileError {
    /// The expression is wrong.
    Invalid(String),
    /// Its value would be of another type than is asked for.
    ReturnType(String),
    /// It compiles, and no program can be made of it.
    Program(String),
}

impl CompileError {
    pub fn detail(&self) -> &str {
        match self {
            Self::Invalid(detail) | Self::ReturnType(detail) | Self::Program(detail) => detail,
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.detail())
    }
}

impl std::error::Error for CompileError {}

/// Compiles the expressions of one policy. A variable is declared once it was compiled, so that it sees only those
/// before it.
#[derive(Debug, Default)]
pub struct PolicyCompiler {
    /// The fields of `variables`; nothing where there is no such variable.
    variables: Option<StructType>,
    /// Environments in use, which are few.
    environments: Vec<((AdmissionVariables, Mode), Env)>,
}

impl PolicyCompiler {
    /// For expressions that cannot use variables.
    pub fn without_variables() -> Self {
        Self::default()
    }

    pub fn with_variables() -> Self {
        Self {
            variables: Some(StructType::default()),
            environments: Vec::new(),
        }
    }

    /// Compiles a variable and declares it. One that does not compile is declared, too: whatever reads it fails.
    pub fn add_variable(
        &mut self,
        name: &str,
        text: &str,
        has: AdmissionVariables,
        mode: Mode,
    ) -> Result<Program, CompileError> {
        let compiled = compile(self.environment(has, mode), text, &[Type::Any]);
        let of = match &compiled {
            Ok((_, of)) => declared(of),
            Err(_) => Type::Dyn,
        };
        if let Some(variables) = &mut self.variables {
            variables.fields.insert(Arc::from(name), of.clone());
        }
        for (_, env) in &mut self.environments {
            env.add_field(VARIABLES_TYPE, name, of.clone());
        }
        compiled.map(|it| it.0)
    }

    /// A program whose value is of one of these types.
    pub fn compile(
        &mut self,
        text: &str,
        returns: &[Type],
        has: AdmissionVariables,
        mode: Mode,
    ) -> Result<Program, CompileError> {
        compile(self.environment(has, mode), text, returns).map(|it| it.0)
    }

    fn environment(&mut self, has: AdmissionVariables, mode: Mode) -> &Env {
        let found = self
            .environments
            .iter()
            .position(|(key, _)| *key == (has, mode));
        let at = found.unwrap_or_else(|| {
            let mut env = base(has, mode);
            if let Some(fields) = &self.variables {
                env = env
                    .structure(VARIABLES_TYPE, fields.clone())
                    .variable("variables", Type::structure(VARIABLES_TYPE));
            }
            self.environments.push(((has, mode), env));
            self.environments.len() - 1
        });
        &self.environments[at].1
    }
}

/// Whether an expression fits an environment with the types of a policy's objects, after the policy's variables.
#[derive(Debug)]
pub struct TypeChecker(Env);

impl TypeChecker {
    pub fn new(env: Env, variables: &[(&str, &str)]) -> Self {
        let mut env = env
            .structure(VARIABLES_TYPE, StructType::default())
            .variable("variables", Type::structure(VARIABLES_TYPE));
        for (name, text) in variables {
            let of = env
                .compile(text)
                .map_or(Type::Dyn, |it| declared(it.output_type()));
            env.add_field(VARIABLES_TYPE, name, of);
        }
        Self(env)
    }

    /// What is wrong with an expression.
    pub fn check(&self, text: &str) -> Result<(), Issues> {
        self.0.compile(text).map(|_| ())
    }
}

/// The environment of a version 1.37 without variables of a policy, made once.
fn base(has: AdmissionVariables, mode: Mode) -> Env {
    static ALL: [OnceLock<Env>; 16] = [const { OnceLock::new() }; 16];
    let at = usize::from(has.params)
        | usize::from(has.authorizer) << 1
        | usize::from(has.patch_types) << 2
        | usize::from(mode == Mode::New) << 3;
    let made = ALL[at].get_or_init(|| admission_environment(environment(super::NEWEST, mode), has));
    made.clone()
}

fn compile(env: &Env, text: &str, returns: &[Type]) -> Result<(Program, Type), CompileError> {
    let expression = env
        .compile(text)
        .map_err(|issues| CompileError::Invalid(format!("compilation failed: {issues}")))?;
    let of = expression.output_type();
    if !returns.iter().any(|it| it == of || *it == Type::Any) {
        return Err(CompileError::ReturnType(match returns {
            [one] => format!("must evaluate to {one} but got {of}"),
            all => {
                let all: Vec<String> = all.iter().map(Type::to_string).collect();
                format!("must evaluate to one of [{}] but got {of}", all.join(" "))
            }
        }));
    }
    let program = expression
        .program()
        .map_err(|error| CompileError::Program(format!("program instantiation failed: {error}")))?;
    Ok((program, of.clone()))
}

/// The type that a variable is declared with: only simple types, and lists and maps of them, are kept.
fn declared(of: &Type) -> Type {
    match of {
        Type::Any
        | Type::Bool
        | Type::Bytes
        | Type::Double
        | Type::Duration
        | Type::Int
        | Type::Null
        | Type::String
        | Type::Timestamp
        | Type::Uint => of.clone(),
        Type::List(element) => Type::list(declared(element)),
        Type::Map(entry) => Type::map(declared(&entry.0), declared(&entry.1)),
        _ => Type::Dyn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HAS: AdmissionVariables = AdmissionVariables {
        params: false,
        authorizer: true,
        patch_types: false,
    };

    #[test]
    fn variables_see_those_before_them() {
        let mut compiler = PolicyCompiler::with_variables();
        let mut add = |name, text| compiler.add_variable(name, text, HAS, Mode::Stored);
        assert!(add("early", "variables.late").is_err());
        assert!(add("late", "1 + 1").is_ok());
        assert!(add("user", "request.userInfo").is_ok());
        let mut compile = |text| compiler.compile(text, &[Type::Bool], HAS, Mode::Stored);
        // What does not compile can be of any type.
        assert!(compile("variables.early == 'x'").is_ok());
        assert!(compile("variables.late == 'x'").is_err());
        assert!(compile("variables.user.anything == 1").is_ok());
        let error = compile("variables.late").unwrap_err();
        assert_eq!(error.detail(), "must evaluate to bool but got int");
        let returns = [Type::String, Type::Null];
        let error = compiler.compile("true", &returns, HAS, Mode::Stored);
        let text = "must evaluate to one of [string null_type] but got bool";
        assert_eq!(error.unwrap_err().detail(), text);
    }

    #[test]
    fn without_variables_there_are_none() {
        let mut compiler = PolicyCompiler::without_variables();
        let compiled = compiler.compile("variables.a", &[Type::Bool], HAS, Mode::Stored);
        let text = compiled.unwrap_err().to_string();
        assert!(
            text.contains("undeclared reference to 'variables'"),
            "{text}"
        );
        let compiled = compiler.compile("[1].includes(1)", &[Type::Bool], HAS, Mode::New);
        assert!(compiled.is_err(), "not before 1.38");
        let compiled = compiler.compile("[1].includes(1)", &[Type::Bool], HAS, Mode::Stored);
        assert!(compiled.is_ok());
        let compiled = compiler.compile("int('x') == 1", &[Type::Bool], HAS, Mode::Stored);
        assert!(matches!(compiled, Err(CompileError::Program(_))));
    }
}
