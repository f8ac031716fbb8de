//! Rules, as they are declared and as they are compiled.

use std::cell::OnceCell;
use std::cell::RefCell;
use std::collections::HashSet;
use std::time::Duration;

use cel::kubernetes::{self, Mode};
use cel::{Env, Expression, Program, Type};
use json::{Text, Value, json};

use super::{RULES, field_path};

/// The version of Kubernetes whose expressions are spoken.
pub(in crate::structural) const MINOR: u32 = 37;

/// One of `x-kubernetes-validations`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declared<'a> {
    pub(super) rule: &'a str,
    pub(super) message: &'a str,
    pub(super) message_expression: &'a str,
    pub(super) reason: Option<&'a str>,
    pub(super) field_path: &'a str,
    pub(super) optional_old_self: Option<bool>,
}

impl<'a> Declared<'a> {
    pub(super) fn all(schema: &'a Value) -> impl Iterator<Item = Self> {
        let all = schema.get(RULES).and_then(Value::as_array);
        all.into_iter().flatten().map(Self::new)
    }

    fn new(rule: &'a Value) -> Self {
        let text = |key: &str| rule.str_at(&[key]).unwrap_or_default();
        Self {
            rule: text("rule"),
            message: text("message"),
            message_expression: text("messageExpression"),
            reason: rule.str_at(&["reason"]),
            field_path: text("fieldPath"),
            optional_old_self: rule.get("optionalOldSelf").and_then(Value::as_bool),
        }
    }

    /// As errors show it: Go's struct, whose fields have no names of their own.
    pub(super) fn shown(&self) -> Value {
        json!({
            "Rule": (self.rule),
            "Message": (self.message),
            "MessageExpression": (self.message_expression),
            "Reason": (self.reason),
            "FieldPath": (self.field_path),
            "OptionalOldSelf": (self.optional_old_self),
        })
    }
}

/// Expressions of a stored definition. They may use what the version before this one did not know.
#[derive(Debug, Default)]
pub struct KnownExpressions<'a> {
    rules: HashSet<&'a str>,
    messages: HashSet<&'a str>,
}

impl<'a> KnownExpressions<'a> {
    /// Adds all those of a schema, wherever they are in it.
    pub fn add(&mut self, schema: &'a Value) {
        match schema {
            Value::Object(fields) => {
                for rule in Declared::all(schema) {
                    self.rules.insert(rule.rule);
                    if !rule.message_expression.is_empty() {
                        self.messages.insert(rule.message_expression);
                    }
                }
                fields.values().for_each(|it| self.add(it));
            }
            Value::Array(items) => items.iter().for_each(|it| self.add(it)),
            _ => {}
        }
    }
}

/// What expressions are compiled with.
pub(in crate::structural) struct Environments<'a> {
    stored: Env,
    /// For expressions that are not known; all are if there is none.
    new: Option<Env>,
    known: Option<&'a KnownExpressions<'a>>,
    /// How long the rules of each place took to compile.
    pub(super) times: RefCell<Vec<Duration>>,
}

impl<'a> Environments<'a> {
    pub(super) fn stored(stored: Env) -> Self {
        Self {
            stored,
            new: None,
            known: None,
            times: RefCell::default(),
        }
    }

    /// For a definition in a request.
    pub(in crate::structural) fn for_write(
        minor: u32,
        known: Option<&'a KnownExpressions<'a>>,
    ) -> Self {
        Self {
            stored: kubernetes::environment(minor, Mode::Stored),
            new: Some(kubernetes::environment(minor, Mode::New)),
            known,
            times: RefCell::default(),
        }
    }

    fn is_new_rule(&self, text: &str) -> bool {
        self.new.is_some() && !self.known.is_some_and(|it| it.rules.contains(text))
    }

    fn is_new_message(&self, text: &str) -> bool {
        self.new.is_some() && !self.known.is_some_and(|it| it.messages.contains(text))
    }
}

/// The environments for the data of one schema, each made when it is first needed.
struct Scoped<'e> {
    all: &'e Environments<'e>,
    schema: &'e cel::Schema,
    made: [OnceCell<Option<Env>>; 4],
}

impl<'e> Scoped<'e> {
    fn new(all: &'e Environments<'e>, schema: &'e cel::Schema) -> Self {
        Self {
            all,
            schema,
            made: Default::default(),
        }
    }

    fn get(&self, is_new: bool, optional_old_self: bool) -> Option<&Env> {
        let at = usize::from(is_new) * 2 + usize::from(optional_old_self);
        let made = self.made[at].get_or_init(|| {
            let base = match &self.all.new {
                Some(new) if is_new => new,
                _ => &self.all.stored,
            };
            kubernetes::schema_environment(base.clone(), self.schema, optional_old_self)
        });
        made.as_ref()
    }

    /// The program, and what it costs at most: only who writes a definition needs to know.
    fn finish(&self, expression: &Expression, role: &Role) -> (Compiled, u64) {
        match expression.program() {
            Ok(program) => {
                let is_write = self.all.new.is_some();
                let cost = is_write.then(|| expression.estimate(self.schema).max);
                (Compiled::Ready(Box::new(program)), cost.unwrap_or(0))
            }
            Err(why) => (Compiled::Failed(format!("{}{why}", role.failed)), 0),
        }
    }
}

/// What became of an expression.
#[derive(Debug)]
pub(super) enum Compiled {
    /// There is none.
    Empty,
    Failed(String),
    Ready(Box<Program>),
}

/// A rule, compiled.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) program: Compiled,
    pub(super) uses_old_self: bool,
    pub(super) optional_old_self: bool,
    pub(super) message_program: Compiled,
    pub(super) message_expression: Text,
    /// What is said if the rule is not kept.
    pub(super) message: Text,
    /// What names the rule in errors.
    pub(super) name: Text,
    pub(super) reason: Reason,
    /// Where below the value errors are told.
    pub(super) field_path: Option<Text>,
}

/// Which error a broken rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Invalid,
    Forbidden,
    Required,
    Duplicate,
}

impl Rule {
    /// The rules of `rules` on data of `node`.
    pub(super) fn compile_all(
        rules: &Value,
        node: &Value,
        typed: &cel::Schema,
        environments: &Environments<'_>,
    ) -> Vec<Self> {
        let scoped = Scoped::new(environments, typed);
        let compile = |rule| Self::new(&rule, node, Compilation::of(&rule, &scoped));
        Declared::all(rules).map(compile).collect()
    }

    fn new(rule: &Declared<'_>, node: &Value, compilation: Compilation) -> Self {
        let given = rule.message.trim();
        let name = if rule.message.is_empty() {
            rule.rule.trim()
        } else {
            given
        };
        let message = if rule.message.is_empty() {
            format!("failed rule: {name}").into()
        } else {
            given.into()
        };
        let at = (!rule.field_path.is_empty())
            .then(|| field_path(node, rule.field_path, true).ok())
            .flatten();
        Self {
            program: compilation.program,
            uses_old_self: compilation.uses_old_self,
            optional_old_self: rule.optional_old_self == Some(true),
            message_program: compilation.message,
            message_expression: rule.message_expression.into(),
            message,
            name: name.into(),
            reason: match rule.reason {
                Some("FieldValueForbidden") => Reason::Forbidden,
                Some("FieldValueRequired") => Reason::Required,
                Some("FieldValueDuplicate") => Reason::Duplicate,
                _ => Reason::Invalid,
            },
            field_path: at.map(|it| it.path.into()),
        }
    }
}

/// A rule and its message, compiled, with what they cost at most.
pub(super) struct Compilation {
    pub(super) program: Compiled,
    pub(super) uses_old_self: bool,
    pub(super) max_cost: u64,
    pub(super) message: Compiled,
    pub(super) message_max_cost: u64,
}

impl Compilation {
    /// Those of a schema for its author, in order.
    pub(super) fn all<'s>(
        schema: &'s Value,
        typed: &cel::Schema,
        environments: &Environments<'_>,
    ) -> Vec<(Declared<'s>, Self)> {
        let scoped = Scoped::new(environments, typed);
        let compile = |rule: Declared<'s>| (rule, Self::of(&rule, &scoped));
        Declared::all(schema).map(compile).collect()
    }

    fn of(rule: &Declared<'_>, scoped: &Scoped<'_>) -> Self {
        let mut this = Self {
            program: Compiled::Empty,
            uses_old_self: false,
            max_cost: 0,
            message: Compiled::Empty,
            message_max_cost: 0,
        };
        if rule.rule.trim().is_empty() {
            return this;
        }
        let optional = rule.optional_old_self == Some(true);
        let is_new = scoped.all.is_new_rule(rule.rule);
        let expression = match checked(scoped.get(is_new, optional), rule.rule, &RULE) {
            Ok(it) => it,
            Err(why) => {
                this.program = Compiled::Failed(why);
                return this;
            }
        };
        this.uses_old_self = expression.uses_variable("oldSelf");
        (this.program, this.max_cost) = scoped.finish(&expression, &RULE);
        if rule.message_expression.is_empty() || matches!(this.program, Compiled::Failed(_)) {
            return this;
        }
        let is_new = scoped.all.is_new_message(rule.message_expression);
        let env = scoped.get(is_new, optional);
        (this.message, this.message_max_cost) =
            match checked(env, rule.message_expression, &MESSAGE) {
                Ok(it) => scoped.finish(&it, &MESSAGE),
                Err(why) => (Compiled::Failed(why), 0),
            };
        this
    }
}

/// What differs between a rule and its message.
struct Role {
    result: Type,
    /// Said of one with another result.
    wrong_result: &'static str,
    /// Before errors of the compiler.
    prefix: &'static str,
    /// Before errors of constants.
    failed: &'static str,
}

const RULE: Role = Role {
    result: Type::Bool,
    wrong_result: "cel expression must evaluate to a bool",
    prefix: "compilation failed: ",
    failed: "program instantiation failed: ",
};

const MESSAGE: Role = Role {
    result: Type::String,
    wrong_result: "messageExpression must evaluate to a string",
    prefix: "messageExpression compilation failed: ",
    failed: "messageExpression instantiation failed: ",
};

fn checked(env: Option<&Env>, text: &str, role: &Role) -> Result<Expression, String> {
    let env = env.ok_or("failed to convert to declType for CEL validation rules")?;
    let expression = env
        .compile(text)
        .map_err(|issues| format!("{}{issues}", role.prefix))?;
    if *expression.output_type() != role.result {
        return Err(role.wrong_result.to_owned());
    }
    Ok(expression)
}
