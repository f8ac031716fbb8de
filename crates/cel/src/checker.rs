//! The type checker: every node gets a type, every name a reference, every call its overloads.

mod calls;
mod unify;

use crate::ast::{Ast, Expr, Fold, Id, Literal, Name, operator};
use crate::env::Env;
use crate::messages;
use crate::source::Issues;
use crate::types::Type;
use unify::Substitution;

/// No type has more parts.
const MAX_TYPE: usize = 1_000;

/// What a name or a call stands for.
#[derive(Clone, Debug, Default)]
pub(crate) enum Reference {
    #[default]
    None,
    Variable {
        name: Name,
        /// A variable of the environment, even where a local one has the same name.
        global: bool,
    },
    /// The name of a type.
    Type(Type),
    /// The overloads that fit; more than one if types are only known at run time.
    Function(Vec<Name>),
}

/// An expression whose types are known.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub(crate) ast: Ast,
    pub(crate) types: Vec<Type>,
    pub(crate) references: Vec<Reference>,
}

impl Checked {
    pub(crate) fn type_of(&self, id: Id) -> &Type {
        &self.types[id.index()]
    }

    pub(crate) fn reference(&self, id: Id) -> &Reference {
        &self.references[id.index()]
    }

    pub(crate) fn output(&self) -> &Type {
        self.type_of(self.ast.root)
    }
}

pub(crate) fn check(ast: Ast, env: &Env) -> Result<Checked, Issues> {
    let count = ast.nodes.len();
    let mut checker = Checker {
        env,
        issues: Issues::new(&ast.text),
        types: vec![Type::Error; count],
        references: vec![Reference::None; count],
        renamed: Vec::new(),
        locals: Vec::new(),
        substitution: Substitution::default(),
        ast: &ast,
    };
    checker.check(ast.root);
    let Checker {
        issues,
        mut types,
        references,
        renamed,
        substitution,
        ..
    } = checker;
    if !issues.is_empty() {
        return Err(issues);
    }
    for it in &mut types {
        *it = substitution.resolve(it, true);
    }
    let mut ast = ast;
    for (id, expr) in renamed {
        ast.nodes[id.index()].expr = expr;
    }
    Ok(Checked {
        ast,
        types,
        references,
    })
}

struct Checker<'a> {
    env: &'a Env,
    ast: &'a Ast,
    issues: Issues,
    types: Vec<Type>,
    references: Vec<Reference>,
    /// Nodes that turned out to be something else, such as a selection that is the name of a variable.
    renamed: Vec<(Id, Expr)>,
    locals: Vec<(Name, Type)>,
    substitution: Substitution,
}

impl Checker<'_> {
    fn check(&mut self, id: Id) {
        let ast = self.ast;
        match ast.expr(id) {
            Expr::Unspecified => {}
            Expr::Literal(literal) => {
                self.set(
                    id,
                    match literal {
                        Literal::Null => Type::Null,
                        Literal::Bool(_) => Type::Bool,
                        Literal::Int(_) => Type::Int,
                        Literal::Uint(_) => Type::Uint,
                        Literal::Double(_) => Type::Double,
                        Literal::String(_) => Type::String,
                        Literal::Bytes(_) => Type::Bytes,
                    },
                );
            }
            Expr::Ident(name) => self.ident(id, name),
            Expr::Select {
                operand,
                field,
                test_only,
            } => self.select(id, *operand, field, *test_only),
            Expr::Call {
                function,
                target,
                args,
            } => self.call(id, function, *target, args),
            Expr::List(elements) => {
                let mut joined = None;
                for it in elements {
                    self.check(it.value);
                    let of = self.element(it.value, it.optional);
                    joined = Some(self.join(joined, of));
                }
                let of = joined.unwrap_or_else(|| self.substitution.fresh());
                self.set(id, Type::list(of));
            }
            Expr::Map(entries) => {
                let (mut key, mut value) = (None, None);
                for it in entries {
                    self.check(it.key);
                    let of = self.of(it.key).clone();
                    key = Some(self.join(key, of));
                    self.check(it.value);
                    let of = self.element(it.value, it.optional);
                    value = Some(self.join(value, of));
                }
                let key = key.unwrap_or_else(|| self.substitution.fresh());
                let value = value.unwrap_or_else(|| self.substitution.fresh());
                self.set(id, Type::map(key, value));
            }
            Expr::Struct { name, .. } => self.structure(id, name),
            Expr::Fold(fold) => self.fold(id, fold),
        }
    }

    fn of(&self, id: Id) -> &Type {
        &self.types[id.index()]
    }

    fn set(&mut self, id: Id, of: Type) {
        // `{x: x}` doubles the type of `x`: without a bound, some of them would be all there is.
        if !of.is_smaller_than(MAX_TYPE) {
            self.report(id, "type of expression is too complex".to_owned());
            self.types[id.index()] = Type::Error;
            return;
        }
        self.types[id.index()] = of;
    }

    fn report(&mut self, id: Id, message: String) {
        self.issues.report(self.ast.at(id), message);
    }

    fn undeclared(&mut self, id: Id, name: &str) {
        let container = self.env.container();
        self.report(
            id,
            format!("undeclared reference to '{name}' (in container '{container}')"),
        );
        self.set(id, Type::Error);
    }

    fn mismatch(&mut self, id: Id, wanted: &Type, actual: &Type) {
        let message = format!(
            "expected type '{}' but found '{}'",
            wanted.shown(),
            actual.shown()
        );
        self.report(id, message);
    }

    fn local(&self, name: &str) -> Option<&Type> {
        let found = self.locals.iter().rev().find(|it| &*it.0 == name);
        found.map(|it| &it.1)
    }

    fn ident(&mut self, id: Id, name: &Name) {
        if let Some(of) = self.local(name).cloned() {
            self.set(id, of);
            self.references[id.index()] = Reference::Variable {
                name: name.clone(),
                global: false,
            };
            return;
        }
        if !self.global(id, name) {
            self.undeclared(id, name);
        }
    }

    /// Takes a name as one of the environment, if it has it: a variable or a type.
    fn global(&mut self, id: Id, name: &str) -> bool {
        let Some((name, of, is_type)) = self.env.find_ident(name) else {
            return false;
        };
        if let Type::Type(Some(inner)) = &of
            && is_type
        {
            self.references[id.index()] = Reference::Type((**inner).clone());
        } else {
            self.references[id.index()] = Reference::Variable {
                name: name.clone(),
                global: true,
            };
        }
        self.renamed.push((id, Expr::Ident(name)));
        self.set(id, of);
        true
    }

    fn select(&mut self, id: Id, operand: Id, field: &Name, test_only: bool) {
        if !test_only
            && let Some(name) = self.qualified(id)
            && self.global(id, &name)
        {
            return;
        }
        let of = self.field(id, operand, field, false);
        let of = if test_only { Type::Bool } else { of };
        let of = self.substitution.resolve(&of, false);
        self.set(id, of);
    }

    /// `a.b.c` as a name, unless `a` is a local variable.
    fn qualified(&self, mut id: Id) -> Option<String> {
        let mut parts = Vec::new();
        loop {
            match self.ast.expr(id) {
                Expr::Select {
                    operand,
                    field,
                    test_only: false,
                } => {
                    parts.push(&**field);
                    id = *operand;
                }
                Expr::Ident(name) => {
                    if self.local(name).is_some() {
                        return None;
                    }
                    parts.push(name);
                    parts.reverse();
                    return Some(parts.join("."));
                }
                _ => return None,
            }
        }
    }

    /// The type of a field of what a node stands for.
    fn field(&mut self, id: Id, operand: Id, field: &str, optional: bool) -> Type {
        self.check(operand);
        let of = self.substitution.resolve(self.of(operand), false);
        let inner = of.unwrap_optional();
        let target = inner.unwrap_or(&of);
        let result = match target {
            Type::Map(it) => it.1.clone(),
            Type::Struct(name) => self.field_of(self.ast.at(id), name, field),
            Type::Var(_) => {
                self.substitution.assignable(&Type::Dyn, target);
                Type::Dyn
            }
            _ => {
                if !target.is_dyn_or_error() {
                    let message =
                        format!("type '{}' does not support field selection", target.shown());
                    self.report(id, message);
                }
                Type::Dyn
            }
        };
        if inner.is_some() || optional {
            Type::optional(result)
        } else {
            result
        }
    }

    fn field_of(&mut self, at: usize, structure: &str, field: &str) -> Type {
        let message = match self.env.find_field(structure, field) {
            Some(Some(of)) => return of,
            Some(None) => format!("undefined field '{field}'"),
            None => format!("unexpected failed resolution of '{structure}'"),
        };
        self.issues.report(at, message);
        Type::Error
    }

    /// The type of an element; `?` takes one out of an optional.
    fn element(&mut self, id: Id, optional: bool) -> Type {
        let of = self.of(id).clone();
        if !optional {
            return of;
        }
        if let Some(inner) = of.unwrap_optional() {
            inner.clone()
        } else {
            if !of.is_dyn() {
                self.mismatch(id, &Type::optional(of.clone()), &of);
            }
            of
        }
    }

    fn join(&mut self, previous: Option<Type>, current: Type) -> Type {
        let Some(previous) = previous else {
            return current;
        };
        if self.substitution.assignable(&previous, &current) {
            return unify::most_general(&previous, &current);
        }
        // Whether literals must be homogeneous is looked at when all types are known.
        Type::Dyn
    }

    fn structure(&mut self, id: Id, name: &Name) {
        let ast = self.ast;
        let Expr::Struct { fields, .. } = ast.expr(id) else {
            return;
        };
        let Some((name, of)) = self.env.find_type(name) else {
            self.undeclared(id, name);
            return;
        };
        if matches!(of, Type::Struct(_)) || messages::type_of(&name).is_some() {
            self.set(id, of);
        } else {
            let message = format!("'{}' is not a message type", of.shown());
            self.report(id, message);
            self.set(id, Type::Error);
        }
        self.references[id.index()] = Reference::Variable {
            name: name.clone(),
            global: true,
        };
        for field in fields {
            self.check(field.value);
            let wanted = self.field_of(field.at as usize, &name, &field.name);
            let actual = self.element(field.value, field.optional);
            if !self.substitution.assignable(&wanted, &actual) {
                let message = format!(
                    "expected type of field '{}' is '{}' but provided type is '{}'",
                    field.name,
                    wanted.shown(),
                    actual.shown()
                );
                self.issues.report(field.at as usize, message);
            }
        }
    }

    fn fold(&mut self, id: Id, fold: &Fold) {
        self.check(fold.range);
        self.check(fold.init);
        let range = self.substitution.resolve(self.of(fold.range), false);
        let accu = self.of(fold.init).clone();
        self.locals.push((fold.accu.clone(), accu.clone()));
        let (first, second) = match &range {
            Type::List(it) if fold.var2.is_some() => (Type::Int, (**it).clone()),
            Type::List(it) => ((**it).clone(), Type::Dyn),
            Type::Map(it) => it.as_ref().clone(),
            Type::Dyn | Type::Error | Type::Var(_) => {
                self.substitution.assignable(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            _ => {
                let message = format!(
                    "expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                    range.shown()
                );
                self.report(fold.range, message);
                (Type::Error, Type::Error)
            }
        };
        let begin = self.locals.len();
        self.locals.push((fold.var.clone(), first));
        if let Some(var2) = &fold.var2 {
            self.locals.push((var2.clone(), second));
        }
        self.check(fold.condition);
        self.assert_type(fold.condition, &Type::Bool);
        self.check(fold.step);
        self.assert_type(fold.step, &accu);
        self.locals.truncate(begin);
        self.check(fold.result);
        self.locals.truncate(begin - 1);
        let of = self.substitution.resolve(self.of(fold.result), false);
        self.set(id, of);
    }

    fn assert_type(&mut self, id: Id, wanted: &Type) {
        let actual = self.of(id).clone();
        if !self.substitution.assignable(wanted, &actual) {
            self.mismatch(id, wanted, &actual);
        }
    }

    /// `a.?b`, which the parser writes as a call.
    fn optional_select(&mut self, id: Id, args: &[Id]) {
        let [operand, field] = args else {
            return;
        };
        let Expr::Literal(Literal::String(field)) = self.ast.expr(*field) else {
            return;
        };
        let of = self.field(id, *operand, &field.clone(), true);
        let of = self.substitution.resolve(&of, false);
        self.set(id, of);
        self.references[id.index()] =
            Reference::Function(vec![Name::from("select_optional_field")]);
        debug_assert!(operator::OPT_SELECT.len() == 4);
    }
}
