//! Expressions that were checked, and programs made of them.

use crate::ast::{Expr, Literal, operator};
use crate::checker::{Checked, Reference};
use crate::cost::{CostEstimate, SizeHints, estimate};
use crate::env::Env;
use crate::error::Error;
use crate::eval::{self, Activation, Limits};
use crate::parts::{Charges, Parts};
use crate::plan::{self, Plan};
use crate::source::Issues;
use crate::types::Type;
use crate::value::Value;

/// An expression whose names and types are known.
#[derive(Clone, Debug)]
pub struct Expression {
    checked: Checked,
    env: Env,
    is_checked: bool,
}

impl Env {
    /// Parses and checks an expression.
    pub fn compile(&self, text: &str) -> Result<Expression, Issues> {
        Ok(Expression {
            checked: self.check(text)?,
            env: self.clone(),
            is_checked: true,
        })
    }

    /// Parses an expression without checking it: names and types are only looked at when it runs.
    pub fn compile_unchecked(&self, text: &str) -> Result<Expression, Issues> {
        let ast = self.parse(text)?;
        let count = ast.nodes.len();
        Ok(Expression {
            checked: Checked {
                ast,
                types: vec![Type::Dyn; count],
                references: vec![Reference::None; count],
            },
            env: self.clone(),
            is_checked: false,
        })
    }
}

impl Expression {
    pub fn text(&self) -> &str {
        &self.checked.ast.text
    }

    /// The type of its value.
    pub fn output_type(&self) -> &Type {
        self.checked.output()
    }

    /// Whether it reads a variable of the environment.
    pub fn uses_variable(&self, name: &str) -> bool {
        self.checked.references.iter().any(|it| match it {
            Reference::Variable { name: used, .. } => &**used == name,
            _ => false,
        })
    }

    /// Whether it selects a field of a variable: `claims.email`, `claims.?email`.
    pub fn selects(&self, variable: &str, field: &str) -> bool {
        let ast = &self.checked.ast;
        let is_variable = |id| matches!(ast.expr(id), Expr::Ident(name) if &**name == variable);
        let is_field =
            |id| matches!(ast.expr(id), Expr::Literal(Literal::String(it)) if &**it == field);
        ast.nodes.iter().any(|it| match &it.expr {
            Expr::Select {
                operand, field: it, ..
            } => is_variable(*operand) && &**it == field,
            Expr::Call {
                function,
                target: None,
                args,
            } if &**function == operator::OPT_SELECT => {
                matches!(args[..], [of, name] if is_variable(of) && is_field(name))
            }
            _ => false,
        })
    }

    /// Whether it calls a function.
    pub fn uses_function(&self, name: &str) -> bool {
        let nodes = &self.checked.ast.nodes;
        nodes
            .iter()
            .any(|it| matches!(&it.expr, Expr::Call { function, .. } if &**function == name))
    }

    /// What it costs at least and at most.
    pub fn estimate(&self, hints: &dyn SizeHints) -> CostEstimate {
        estimate::estimate(&self.checked, self.env.options(), hints)
    }

    /// Its parts, and what each of them costs at most.
    pub fn parts(&self, hints: &dyn SizeHints) -> Parts {
        Parts::new(&self.checked, self.env.options(), hints)
    }

    /// Makes it ready to run. Constant parts are computed now, and may fail.
    pub fn program(&self) -> Result<Program, Error> {
        let plan = plan::plan(&self.checked, &self.env, self.is_checked)?;
        Ok(Program { plan })
    }
}

/// An expression that is ready to run, any number of times and on any number of threads.
#[derive(Debug)]
pub struct Program {
    plan: Plan,
}

impl Program {
    /// The value of the expression, and what it has cost.
    pub fn evaluate<'a>(
        &'a self,
        activation: &dyn Activation<'a>,
        limits: Limits,
    ) -> (Result<Value<'a>, Error>, u64) {
        let (value, cost, ()) = eval::evaluate(&self.plan, activation, limits, ());
        (value, cost)
    }

    /// As [`Program::evaluate`], and tells what each part of the expression has cost.
    pub fn evaluate_parts<'a>(
        &'a self,
        activation: &dyn Activation<'a>,
        limits: Limits,
    ) -> (Result<Value<'a>, Error>, u64, Charges) {
        let ledger = vec![0; self.plan.ids];
        let (value, cost, ledger) = eval::evaluate(&self.plan, activation, limits, ledger);
        (value, cost, Charges(ledger))
    }

    /// The charges of an evaluation that did not begin.
    pub fn no_charges(&self) -> Charges {
        Charges(vec![0; self.plan.ids])
    }

    /// How deep its parts are nested, which tells how much of the stack an evaluation needs. Bounded by what the parser
    /// takes.
    pub fn height(&self) -> usize {
        self.plan.height
    }

    /// The variables it reads.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.plan.globals.iter().map(|it| &**it)
    }
}
