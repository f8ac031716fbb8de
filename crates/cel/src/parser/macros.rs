//! Macros: calls that become comprehensions, presence tests and conditionals before anything is checked.

use std::sync::Arc;

use super::Parser;
use crate::ast::{Element, Entry, Expr, Field, Fold, Id, Literal, Name, operator};

/// The variable of a macro that collects its result. No expression can name it.
const ACCU: &str = "@result";
const OLD_ACCU: &str = "__result__";
const UNUSED: &str = "#unused";

/// Which macros an environment has.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a library of its own"
)]
pub(crate) struct Macros {
    pub(crate) standard: bool,
    pub(crate) two_variables: bool,
    pub(crate) optionals: bool,
    pub(crate) sort_by: bool,
    pub(crate) bindings: bool,
    pub(crate) math: bool,
}

/// A macro that was called with arguments it cannot take: where, and why.
struct Misuse(u32, String);

type Expanded = Result<Id, Misuse>;

impl Parser<'_> {
    pub(super) fn call_or_macro(
        &mut self,
        at: u32,
        function: Name,
        target: Option<Id>,
        args: Vec<Id>,
    ) -> Id {
        match self.expand(at, &function, target, &args) {
            Some(Ok(id)) => id,
            Some(Err(Misuse(at, message))) => self.report(at, message),
            None => self.add(
                at,
                Expr::Call {
                    function,
                    target,
                    args,
                },
            ),
        }
    }

    fn expand(&mut self, at: u32, name: &str, target: Option<Id>, args: &[Id]) -> Option<Expanded> {
        let has = self.options.macros;
        let mut build = Build { at, parser: self };
        let Some(target) = target else {
            return match (name, args.len()) {
                ("has", 1) if has.standard => Some(build.has(args[0])),
                _ => None,
            };
        };
        Some(match (name, args.len()) {
            ("all" | "exists" | "exists_one", 2) if has.standard => {
                build.quantifier(name, target, args)
            }
            ("map", 2 | 3) if has.standard => build.map(target, args),
            ("filter", 2) if has.standard => build.filter(target, args),
            ("all" | "exists" | "exists_one" | "existsOne", 3) if has.two_variables => {
                build.quantifier2(name, target, args)
            }
            ("transformList" | "transformMap" | "transformMapEntry", 3 | 4)
                if has.two_variables =>
            {
                build.transform(name, target, args)
            }
            ("optMap" | "optFlatMap", 2) if has.optionals => build.opt_map(name, target, args),
            ("sortBy", 2) if has.sort_by => build.sort_by(target, args),
            ("bind", 3) if has.bindings && build.is_ident(target, "cel") => build.bind(args),
            ("greatest" | "least", _) if has.math && build.is_ident(target, "math") => {
                build.extremum(name, target, args)
            }
            _ => return None,
        })
    }
}

/// Makes nodes at the place of the macro.
struct Build<'p, 'a> {
    at: u32,
    parser: &'p mut Parser<'a>,
}

impl Build<'_, '_> {
    fn add(&mut self, expr: Expr) -> Id {
        self.parser.add(self.at, expr)
    }

    fn ident(&mut self, name: &str) -> Id {
        self.add(Expr::Ident(Arc::from(name)))
    }

    fn accu(&mut self) -> Id {
        self.ident(ACCU)
    }

    fn literal(&mut self, literal: Literal) -> Id {
        self.add(Expr::Literal(literal))
    }

    fn call(&mut self, function: &str, args: Vec<Id>) -> Id {
        self.add(Expr::Call {
            function: Arc::from(function),
            target: None,
            args,
        })
    }

    fn method(&mut self, function: &str, target: Id, args: Vec<Id>) -> Id {
        self.add(Expr::Call {
            function: Arc::from(function),
            target: Some(target),
            args,
        })
    }

    fn list(&mut self, elements: &[Id]) -> Id {
        let elements = elements.iter().map(|it| Element {
            value: *it,
            optional: false,
        });
        let list = Expr::List(elements.collect());
        self.add(list)
    }

    fn misuse<T>(&self, of: Id, message: impl Into<String>) -> Result<T, Misuse> {
        Err(Misuse(self.parser.nodes[of.index()].at, message.into()))
    }

    fn expr(&self, id: Id) -> &Expr {
        &self.parser.nodes[id.index()].expr
    }

    fn is_ident(&self, id: Id, wanted: &str) -> bool {
        matches!(self.expr(id), Expr::Ident(name) if &**name == wanted)
    }

    /// The name of an iteration variable.
    fn variable(&self, id: Id, otherwise: &str) -> Result<Name, Misuse> {
        match self.expr(id) {
            Expr::Ident(name) if matches!(&**name, ACCU | OLD_ACCU) => {
                self.misuse(id, "iteration variable overwrites accumulator variable")
            }
            Expr::Ident(name) => Ok(name.clone()),
            _ => self.misuse(id, otherwise),
        }
    }

    fn has(&mut self, arg: Id) -> Expanded {
        let Expr::Select { operand, field, .. } = self.expr(arg) else {
            return self.misuse(arg, "invalid argument to has() macro");
        };
        let test = Expr::Select {
            operand: *operand,
            field: field.clone(),
            test_only: true,
        };
        Ok(self.add(test))
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a comprehension")]
    fn fold(
        &mut self,
        range: Id,
        var: Name,
        var2: Option<Name>,
        accu: &str,
        init: Id,
        condition: Id,
        step: Id,
        result: Id,
    ) -> Id {
        self.add(Expr::Fold(Box::new(Fold {
            range,
            var,
            var2,
            accu: Arc::from(accu),
            init,
            condition,
            step,
            result,
        })))
    }

    fn quantifier(&mut self, name: &str, target: Id, args: &[Id]) -> Expanded {
        let var = self.variable(args[0], "argument must be a simple name")?;
        Ok(self.quantify(name, target, var, None, args[1]))
    }

    fn quantifier2(&mut self, name: &str, target: Id, args: &[Id]) -> Expanded {
        let (var, var2) = self.variables(args)?;
        Ok(self.quantify(name, target, var, Some(var2), args[2]))
    }

    fn variables(&self, args: &[Id]) -> Result<(Name, Name), Misuse> {
        let simple = |id| match self.expr(id) {
            Expr::Ident(name) => Ok(name.clone()),
            _ => self.misuse(id, "argument must be a simple name"),
        };
        let (first, second) = (simple(args[0])?, simple(args[1])?);
        if first == second {
            return self.misuse(args[1], format!("duplicate variable name: {first}"));
        }
        let otherwise = "argument must be a simple name";
        Ok((
            self.variable(args[0], otherwise)?,
            self.variable(args[1], otherwise)?,
        ))
    }

    fn quantify(&mut self, name: &str, range: Id, var: Name, var2: Option<Name>, test: Id) -> Id {
        let init = self.literal(match name {
            "all" => Literal::Bool(true),
            "exists" => Literal::Bool(false),
            _ => Literal::Int(0),
        });
        let (condition, step, result);
        match name {
            "all" => {
                let accu = self.accu();
                condition = self.call(operator::NOT_STRICTLY_FALSE, vec![accu]);
                let accu = self.accu();
                step = self.call(operator::AND, vec![accu, test]);
                result = self.accu();
            }
            "exists" => {
                let accu = self.accu();
                let not = self.call(operator::NOT, vec![accu]);
                condition = self.call(operator::NOT_STRICTLY_FALSE, vec![not]);
                let accu = self.accu();
                step = self.call(operator::OR, vec![accu, test]);
                result = self.accu();
            }
            _ => {
                condition = self.literal(Literal::Bool(true));
                let (accu, one) = (self.accu(), self.literal(Literal::Int(1)));
                let more = self.call(operator::ADD, vec![accu, one]);
                let accu = self.accu();
                step = self.call(operator::CONDITIONAL, vec![test, more, accu]);
                let (accu, one) = (self.accu(), self.literal(Literal::Int(1)));
                result = self.call(operator::EQUALS, vec![accu, one]);
            }
        }
        self.fold(range, var, var2, ACCU, init, condition, step, result)
    }

    /// A comprehension that adds to an aggregate, for some elements only if there is a filter.
    fn collect(
        &mut self,
        range: Id,
        (var, var2): (Name, Option<Name>),
        init: Id,
        filter: Option<Id>,
        step: Id,
    ) -> Id {
        let condition = self.literal(Literal::Bool(true));
        let step = match filter {
            Some(filter) => {
                let accu = self.accu();
                self.call(operator::CONDITIONAL, vec![filter, step, accu])
            }
            None => step,
        };
        let result = self.accu();
        self.fold(range, var, var2, ACCU, init, condition, step, result)
    }

    fn map(&mut self, target: Id, args: &[Id]) -> Expanded {
        let var = self.variable(args[0], "argument is not an identifier")?;
        let (filter, value) = match args {
            [_, filter, value] => (Some(*filter), *value),
            _ => (None, args[1]),
        };
        let init = self.list(&[]);
        let (accu, one) = (self.accu(), self.list(&[value]));
        let step = self.call(operator::ADD, vec![accu, one]);
        Ok(self.collect(target, (var, None), init, filter, step))
    }

    fn filter(&mut self, target: Id, args: &[Id]) -> Expanded {
        let var = self.variable(args[0], "argument is not an identifier")?;
        let init = self.list(&[]);
        let (accu, one) = (self.accu(), self.list(&[args[0]]));
        let step = self.call(operator::ADD, vec![accu, one]);
        Ok(self.collect(target, (var, None), init, Some(args[1]), step))
    }

    fn transform(&mut self, name: &str, target: Id, args: &[Id]) -> Expanded {
        let (var, var2) = self.variables(args)?;
        let (filter, value) = match args {
            [_, _, filter, value] => (Some(*filter), *value),
            _ => (None, args[2]),
        };
        let accu = self.accu();
        let (init, step) = match name {
            "transformList" => {
                let one = self.list(&[value]);
                (self.list(&[]), self.call(operator::ADD, vec![accu, one]))
            }
            "transformMap" => {
                let key = self.ident(&var);
                let step = self.call("cel.@mapInsert", vec![accu, key, value]);
                (self.add(Expr::Map(Vec::new())), step)
            }
            _ => {
                let step = self.call("cel.@mapInsert", vec![accu, value]);
                (self.add(Expr::Map(Vec::new())), step)
            }
        };
        Ok(self.collect(target, (var, Some(var2)), init, filter, step))
    }

    /// `name` bound to a value while a result is computed.
    fn binding(&mut self, name: &str, value: Id, result: Id) -> Id {
        let range = self.list(&[]);
        let condition = self.literal(Literal::Bool(false));
        let step = self.ident(name);
        self.fold(
            range,
            Arc::from(UNUSED),
            None,
            name,
            value,
            condition,
            step,
            result,
        )
    }

    fn opt_map(&mut self, name: &str, target: Id, args: &[Id]) -> Expanded {
        let Expr::Ident(var) = self.expr(args[0]) else {
            let message = format!("{name}() variable name must be a simple identifier");
            return self.misuse(args[0], message);
        };
        let var = var.clone();
        let has = self.method("hasValue", target, Vec::new());
        let copy = self.copy(target);
        let value = self.method("value", copy, Vec::new());
        let bound = self.binding(&var, value, args[1]);
        let yes = if name == "optMap" {
            self.call("optional.of", vec![bound])
        } else {
            bound
        };
        let no = self.call("optional.none", Vec::new());
        Ok(self.call(operator::CONDITIONAL, vec![has, yes, no]))
    }

    fn sort_by(&mut self, target: Id, args: &[Id]) -> Expanded {
        const INPUT: &str = "@__sortBy_input__";
        if let Expr::Literal(_) | Expr::Map(_) | Expr::Struct { .. } | Expr::Unspecified =
            self.expr(target)
        {
            return self.misuse(
                target,
                "sortBy can only be applied to a list, identifier, comprehension, call or select expression",
            );
        }
        let range = self.ident(INPUT);
        let keys = self.map(range, args)?;
        let input = self.ident(INPUT);
        let sorted = self.method("@sortByAssociatedKeys", input, vec![keys]);
        Ok(self.binding(INPUT, target, sorted))
    }

    fn bind(&mut self, args: &[Id]) -> Expanded {
        let Expr::Ident(var) = self.expr(args[0]) else {
            return self.misuse(
                args[0],
                "cel.bind() variable names must be simple identifiers",
            );
        };
        let var = var.clone();
        Ok(self.binding(&var, args[1], args[2]))
    }

    /// `math.greatest` and `math.least` take any number of arguments.
    fn extremum(&mut self, name: &str, target: Id, args: &[Id]) -> Expanded {
        let function = if name == "greatest" {
            "math.@max"
        } else {
            "math.@min"
        };
        let unfit = args.iter().find(|it| {
            matches!(
                self.expr(**it),
                Expr::Literal(
                    Literal::Null | Literal::Bool(_) | Literal::String(_) | Literal::Bytes(_)
                ) | Expr::Map(_)
                    | Expr::Struct { .. }
            )
        });
        match args {
            [] => self.misuse(
                target,
                format!("math.{name}() requires at least one argument"),
            ),
            [one] if matches!(self.expr(*one), Expr::List(_)) => {
                let Expr::List(elements) = self.expr(*one) else {
                    return self.misuse(*one, "");
                };
                let bad = elements.iter().any(|it| {
                    matches!(
                        self.expr(it.value),
                        Expr::Literal(
                            Literal::Null
                                | Literal::Bool(_)
                                | Literal::String(_)
                                | Literal::Bytes(_)
                        ) | Expr::Map(_)
                            | Expr::List(_)
                            | Expr::Struct { .. }
                    )
                });
                if elements.is_empty() || bad {
                    return self
                        .misuse(*one, format!("math.{name}() invalid single argument value"));
                }
                Ok(self.call(function, vec![*one]))
            }
            [one] if unfit.is_some() => {
                self.misuse(*one, format!("math.{name}() invalid single argument value"))
            }
            [one] => Ok(self.call(function, vec![*one])),
            _ => {
                let list = args
                    .iter()
                    .find(|it| matches!(self.expr(**it), Expr::List(_)));
                if let Some(bad) = unfit.or(list) {
                    let message = format!("math.{name}() simple literal arguments must be numeric");
                    return self.misuse(*bad, message);
                }
                if let [first, second] = args {
                    return Ok(self.call(function, vec![*first, *second]));
                }
                let list = self.list(args);
                Ok(self.call(function, vec![list]))
            }
        }
    }

    /// A copy of a tree, for macros that use an argument twice.
    fn copy(&mut self, id: Id) -> Id {
        let node = self.parser.nodes[id.index()].clone();
        let expr = match node.expr {
            it @ (Expr::Unspecified | Expr::Literal(_) | Expr::Ident(_)) => it,
            Expr::Select {
                operand,
                field,
                test_only,
            } => Expr::Select {
                operand: self.copy(operand),
                field,
                test_only,
            },
            Expr::Call {
                function,
                target,
                args,
            } => Expr::Call {
                function,
                target: target.map(|it| self.copy(it)),
                args: args.into_iter().map(|it| self.copy(it)).collect(),
            },
            Expr::List(elements) => Expr::List(
                elements
                    .into_iter()
                    .map(|it| Element {
                        value: self.copy(it.value),
                        ..it
                    })
                    .collect(),
            ),
            Expr::Map(entries) => Expr::Map(
                entries
                    .into_iter()
                    .map(|it| Entry {
                        key: self.copy(it.key),
                        value: self.copy(it.value),
                        ..it
                    })
                    .collect(),
            ),
            Expr::Struct { name, fields } => Expr::Struct {
                name,
                fields: fields
                    .into_iter()
                    .map(|it| Field {
                        value: self.copy(it.value),
                        ..it
                    })
                    .collect(),
            },
            Expr::Fold(it) => Expr::Fold(Box::new(Fold {
                range: self.copy(it.range),
                init: self.copy(it.init),
                condition: self.copy(it.condition),
                step: self.copy(it.step),
                result: self.copy(it.result),
                ..*it
            })),
        };
        self.parser.add(node.at, expr)
    }
}
