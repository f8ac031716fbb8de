//! Which type can stand for which, and what unknown types turn out to be.

use crate::ast::Name;
use crate::types::Type;

/// What is known of the types that were not known at first. An attempt that fails leaves nothing behind.
#[derive(Debug, Default)]
pub(super) struct Substitution {
    known: Vec<Option<Type>>,
    /// What was there before, to go back.
    trail: Vec<(u32, Option<Type>)>,
}

/// Type parameters of a declaration, and the unknown types that stand for them in one call.
pub(super) struct Params<'a> {
    names: &'a [Name],
    first: u32,
}

impl Params<'_> {
    pub(super) fn apply(&self, of: &Type) -> Type {
        if self.names.is_empty() {
            return of.clone();
        }
        match of {
            Type::Param(name) => {
                let index = self.names.iter().position(|it| it == name).unwrap_or(0);
                Type::Var(self.first + u32::try_from(index).unwrap_or(0))
            }
            Type::List(it) => Type::list(self.apply(it)),
            Type::Map(it) => Type::map(self.apply(&it.0), self.apply(&it.1)),
            Type::Opaque(name, params) => Type::Opaque(
                name.clone(),
                params.iter().map(|it| self.apply(it)).collect(),
            ),
            Type::Type(Some(it)) => Type::of_type(self.apply(it)),
            other => other.clone(),
        }
    }
}

impl Substitution {
    pub(super) fn fresh(&mut self) -> Type {
        self.known.push(None);
        Type::Var(u32::try_from(self.known.len() - 1).unwrap_or(u32::MAX))
    }

    pub(super) fn instantiate<'a>(&mut self, names: &'a [Name]) -> Params<'a> {
        let first = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        self.known.resize(self.known.len() + names.len(), None);
        Params { names, first }
    }

    /// The type with all that is known put in. What is unknown becomes `dyn` if asked for.
    pub(super) fn resolve(&self, of: &Type, to_dyn: bool) -> Type {
        match of {
            Type::Var(id) => match &self.known[*id as usize] {
                Some(it) => self.resolve(it, to_dyn),
                None if to_dyn => Type::Dyn,
                None => of.clone(),
            },
            Type::Param(_) if to_dyn => Type::Dyn,
            Type::List(it) => Type::list(self.resolve(it, to_dyn)),
            Type::Map(it) => Type::map(self.resolve(&it.0, to_dyn), self.resolve(&it.1, to_dyn)),
            Type::Opaque(name, params) if !params.is_empty() => Type::Opaque(
                name.clone(),
                params.iter().map(|it| self.resolve(it, to_dyn)).collect(),
            ),
            Type::Type(Some(it)) => Type::of_type(self.resolve(it, to_dyn)),
            other => other.clone(),
        }
    }

    pub(super) fn assignable(&mut self, from: &Type, to: &Type) -> bool {
        let mark = self.trail.len();
        let fits = self.fits(from, to);
        self.settle(mark, fits);
        fits
    }

    pub(super) fn all_assignable(&mut self, from: &[Type], to: &[Type], params: &Params) -> bool {
        let mark = self.trail.len();
        let fits = from
            .iter()
            .zip(to)
            .all(|(from, to)| self.fits(from, &params.apply(to)));
        self.settle(mark, fits);
        fits
    }

    fn settle(&mut self, mark: usize, keep: bool) {
        if keep {
            self.trail.truncate(mark);
            return;
        }
        for (id, before) in self.trail.drain(mark..).rev() {
            self.known[id as usize] = before;
        }
    }

    fn bind(&mut self, id: u32, to: Type) {
        let before = self.known[id as usize].replace(to);
        self.trail.push((id, before));
    }

    fn fits(&mut self, from: &Type, to: &Type) -> bool {
        if let Type::Var(id) = to {
            let (valid, known) = self.stands_for(from, *id);
            if valid {
                return true;
            }
            if known {
                return false;
            }
        }
        if let Type::Var(id) = from {
            return self.stands_for(to, *id).0;
        }
        if from.is_dyn_or_error() || to.is_dyn_or_error() {
            return true;
        }
        if let Type::Null = from {
            return nullable(to);
        }
        if let Type::Null = to {
            return nullable(from);
        }
        match (from, to) {
            (Type::Type(_), Type::Type(_)) => true,
            (Type::List(a), Type::List(b)) => self.fits(a, b),
            (Type::Map(a), Type::Map(b)) => self.fits(&a.0, &b.0) && self.fits(&a.1, &b.1),
            (Type::Opaque(a, left), Type::Opaque(b, right)) => {
                a == b
                    && left.len() == right.len()
                    && left.iter().zip(right.iter()).all(|(a, b)| self.fits(a, b))
            }
            (Type::Wrapper(a), Type::Wrapper(b)) => a == b,
            (Type::Wrapper(a), b) | (b, Type::Wrapper(a)) => **a == *b,
            _ => from == to,
        }
    }

    /// Whether a type can be what an unknown one stands for, and whether that was already known.
    fn stands_for(&mut self, of: &Type, id: u32) -> (bool, bool) {
        if *of == Type::Var(id) {
            return (true, true);
        }
        if let Some(known) = self.known[id as usize].clone() {
            if known == *of {
                return (true, true);
            }
            if !self.fits(of, &known) {
                return (false, true);
            }
            let general = most_general(of, &known);
            if !self.occurs(id, &general) {
                self.bind(id, general);
            }
            return (true, true);
        }
        if self.occurs(id, of) {
            return (false, false);
        }
        self.bind(id, of.clone());
        (true, false)
    }

    fn occurs(&self, id: u32, within: &Type) -> bool {
        match within {
            Type::Var(other) if *other == id => true,
            Type::Var(other) => self.known[*other as usize]
                .as_ref()
                .is_some_and(|it| self.occurs(id, it)),
            Type::Map(it) => self.occurs(id, &it.0) || self.occurs(id, &it.1),
            other => other.params().iter().any(|it| self.occurs(id, it)),
        }
    }
}

fn nullable(of: &Type) -> bool {
    matches!(
        of,
        Type::Null
            | Type::Opaque(..)
            | Type::Struct(_)
            | Type::Any
            | Type::Duration
            | Type::Timestamp
            | Type::Wrapper(_)
    )
}

pub(super) fn most_general(a: &Type, b: &Type) -> Type {
    if is_equal_or_less_specific(a, b) {
        a.clone()
    } else {
        b.clone()
    }
}

fn is_equal_or_less_specific(a: &Type, b: &Type) -> bool {
    if a.is_dyn() || matches!(a, Type::Var(_) | Type::Param(_)) {
        return true;
    }
    if b.is_dyn() || matches!(b, Type::Var(_) | Type::Param(_)) {
        return false;
    }
    match (a, b) {
        (Type::Opaque(a, left), Type::Opaque(b, right)) => {
            a == b
                && left.len() == right.len()
                && left
                    .iter()
                    .zip(right.iter())
                    .all(|(a, b)| is_equal_or_less_specific(a, b))
        }
        (Type::List(a), Type::List(b)) => is_equal_or_less_specific(a, b),
        (Type::Map(a), Type::Map(b)) => {
            is_equal_or_less_specific(&a.0, &b.0) && is_equal_or_less_specific(&a.1, &b.1)
        }
        (Type::Type(_), Type::Type(_)) => true,
        _ => a == b,
    }
}
