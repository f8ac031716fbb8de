//! The expressions of admission policies and match conditions. What is new must compile with what the server's
//! predecessor knows; what was there before may use all that the server knows.

use std::collections::HashSet;

use cel::Type;
use cel::kubernetes::{AdmissionVariables, CompileError, Mode, PolicyCompiler};
use json::Value;
use meta::field::Error;

use super::errors::Errors;
use super::field::Field;
use super::seen::Seen;

/// The compiler of one policy, and what its predecessor said.
#[derive(Debug)]
pub(crate) struct Expressions<'a> {
    compiler: PolicyCompiler,
    has_params: bool,
    old: HashSet<(Place, &'a str)>,
}

/// Where an expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    MatchCondition,
    /// Variables are looked for here, too.
    Validation,
    Message,
    AuditAnnotation,
    /// Both kinds of patches.
    Mutation,
}

impl<'a> Expressions<'a> {
    /// Of a policy whose expressions may read variables.
    pub(super) fn new(spec: &Field<'_>, has_variables: bool) -> Self {
        Self {
            compiler: if has_variables {
                PolicyCompiler::with_variables()
            } else {
                PolicyCompiler::without_variables()
            },
            has_params: spec.has("paramKind"),
            old: HashSet::new(),
        }
    }

    /// Of webhooks: there are no variables, and no parameters.
    pub(super) fn of_webhooks() -> Self {
        Self::new(&Field::root(&Value::Null), false)
    }

    /// Remembers an expression of the object as it was.
    pub(super) fn remember(&mut self, place: Place, text: &'a str) {
        self.old.insert((place, text));
    }

    pub(super) fn remember_all(&mut self, place: Place, list: &Field<'a>, key: &str) {
        for it in list.list() {
            if let Some(text) = it.get(key).and_then(Value::as_str) {
                self.remember(place, text);
            }
        }
    }

    fn mode(&self, place: Place, text: &str) -> Mode {
        if self.old.contains(&(place, text)) {
            Mode::Stored
        } else {
            Mode::New
        }
    }

    fn has(&self, place: Place) -> AdmissionVariables {
        AdmissionVariables {
            params: self.has_params,
            authorizer: place != Place::Message,
            patch_types: place == Place::Mutation,
        }
    }

    /// Compiles a variable, which what comes after it can read.
    pub(super) fn variable(&mut self, e: &mut Errors, name: &str, at: &Field) {
        let mode = self.mode(Place::Validation, at.str());
        let has = self.has(Place::Validation);
        let compiled = self.compiler.add_variable(name, at.str(), has, mode);
        report(e, at, at.str(), compiled.err());
    }

    /// Compiles `text`, which is what the field says, perhaps without the space around it.
    pub(super) fn check(
        &mut self,
        e: &mut Errors,
        place: Place,
        at: &Field,
        text: &str,
        returns: &[Type],
    ) {
        let mode = match place {
            // As upstream: these are known by what the field says.
            Place::AuditAnnotation | Place::Mutation => self.mode(place, at.str()),
            _ => self.mode(place, text),
        };
        let has = self.has(place);
        let compiled = self.compiler.compile(text, returns, has, mode);
        let shown = match place {
            Place::AuditAnnotation => at.str(),
            _ => text,
        };
        report(e, at, shown, compiled.err());
    }

    /// `matchConditions`. They read no variables.
    pub(super) fn match_conditions(&mut self, e: &mut Errors, all: &Field) {
        if all.len() > 64 {
            e.too_many(all, 64);
        }
        let mut compiler = PolicyCompiler::without_variables();
        std::mem::swap(&mut compiler, &mut self.compiler);
        let mut seen = Seen::default();
        for it in all.items() {
            let (expression, name) = (it.child("expression"), it.child("name"));
            match expression.str().trim() {
                "" => e.required(&expression, ""),
                // No more errors are kept, and compiling costs.
                _ if e.is_full() => {}
                text => self.check(e, Place::MatchCondition, &expression, text, &[Type::Bool]),
            }
            if e.required_text(&name) {
                e.qualified_name(&name);
            }
            let again = !seen.insert(it.text("name"));
            if !name.is_empty() && again {
                e.duplicate(&name);
            }
        }
        self.compiler = compiler;
    }
}

fn report(e: &mut Errors, at: &Field, shown: &str, error: Option<CompileError>) {
    match error {
        None => {}
        Some(CompileError::Invalid(detail) | CompileError::ReturnType(detail)) => {
            e.invalid_value(at, shown, &detail);
        }
        Some(CompileError::Program(detail)) => e.push_with(|| Error::internal(at.path, detail)),
    }
}
