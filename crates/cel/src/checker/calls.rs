//! Overload resolution.

use super::{Checker, Reference};
use crate::ast::{Expr, Id, Name, operator};
use crate::decls::Function;
use crate::types::{Type, signature};

impl Checker<'_> {
    pub(super) fn call(&mut self, id: Id, name: &Name, target: Option<Id>, args: &[Id]) {
        if &**name == operator::OPT_SELECT {
            return self.optional_select(id, args);
        }
        for arg in args {
            self.check(*arg);
        }
        let env = self.env;
        let Some(target) = target else {
            match env.find_function(name) {
                Some(function) => {
                    if function.name != *name {
                        self.rename(id, &function.name, args);
                    }
                    self.resolve(id, function, None, args);
                }
                None => self.undeclared(id, name),
            }
            return;
        };
        // `a.b.c()` may be the function `a.b.c` or the function `c` of `a.b`.
        if let Some(prefix) = self.qualified_name(target)
            && let Some(function) = env.find_function(&format!("{prefix}.{name}"))
        {
            self.rename(id, &function.name, args);
            self.resolve(id, function, None, args);
            return;
        }
        self.check(target);
        match env.find_function(name) {
            Some(function) => self.resolve(id, function, Some(target), args),
            None => self.undeclared(id, name),
        }
    }

    fn rename(&mut self, id: Id, function: &Name, args: &[Id]) {
        self.renamed.push((
            id,
            Expr::Call {
                function: function.clone(),
                target: None,
                args: args.to_vec(),
            },
        ));
    }

    fn qualified_name(&self, id: Id) -> Option<String> {
        match self.ast.expr(id) {
            Expr::Ident(name) => Some(name.to_string()),
            Expr::Select {
                operand,
                field,
                test_only: false,
            } => Some(format!("{}.{field}", self.qualified_name(*operand)?)),
            _ => None,
        }
    }

    fn resolve(&mut self, id: Id, function: &Function, target: Option<Id>, args: &[Id]) {
        if matches!(&*function.name, operator::AND | operator::OR) {
            return self.logic(id, function, args);
        }
        let types: Vec<Type> = target
            .iter()
            .chain(args)
            .map(|it| self.of(*it).clone())
            .collect();
        let mut result: Option<Type> = None;
        let mut fitting = Vec::new();
        for overload in &function.overloads {
            if overload.is_member != target.is_some()
                || overload.args.len() != types.len()
                || self.env.is_disabled(&overload.id)
            {
                continue;
            }
            let params = self.substitution.instantiate(&overload.params);
            let fits = self
                .substitution
                .all_assignable(&types, &overload.args, &params);
            if !fits {
                continue;
            }
            fitting.push(overload.id.clone());
            let of = params.apply(&overload.result);
            let of = self.substitution.resolve(&of, false);
            result = Some(match result {
                None => of,
                Some(it) if it.is_dyn() || it == of => it,
                Some(_) => Type::Dyn,
            });
        }
        let Some(of) = result else {
            let types: Vec<Type> = types
                .iter()
                .map(|it| self.substitution.resolve(it, true))
                .collect();
            let message = format!(
                "found no matching overload for '{}' applied to '{}'",
                function.name,
                signature(&types, target.is_some())
            );
            self.report(id, message);
            self.set(id, Type::Error);
            return;
        };
        self.set(id, of);
        self.references[id.index()] = Reference::Function(fitting);
    }

    fn logic(&mut self, id: Id, function: &Function, args: &[Id]) {
        let mut failed = false;
        for arg in args {
            let of = self.of(*arg).clone();
            if !self.substitution.assignable(&of, &Type::Bool) {
                self.mismatch(*arg, &Type::Bool, &of);
                failed = true;
            }
        }
        if failed {
            self.set(id, Type::Error);
            return;
        }
        self.set(id, Type::Bool);
        let overload = function.overloads.iter().map(|it| it.id.clone()).take(1);
        self.references[id.index()] = Reference::Function(overload.collect());
    }
}
