//! Expressions as an arena: a node knows its children by their numbers.

use std::sync::Arc;

pub(crate) type Name = Arc<str>;

/// The number of a node of an [`Ast`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Id(pub(crate) u32);

impl Id {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Ast {
    pub(crate) text: Arc<str>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: Id,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) expr: Expr,
    /// The byte of the text that errors point at.
    pub(crate) at: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Name),
    Bytes(Arc<[u8]>),
}

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    /// What stands where an error was reported.
    Unspecified,
    Literal(Literal),
    Ident(Name),
    Select {
        operand: Id,
        field: Name,
        test_only: bool,
    },
    Call {
        function: Name,
        target: Option<Id>,
        args: Vec<Id>,
    },
    List(Vec<Element>),
    Map(Vec<Entry>),
    Struct {
        name: Name,
        fields: Vec<Field>,
    },
    Fold(Box<Fold>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Element {
    pub(crate) value: Id,
    pub(crate) optional: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Id,
    pub(crate) value: Id,
    pub(crate) optional: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: Name,
    pub(crate) value: Id,
    pub(crate) optional: bool,
    /// Where its colon is.
    pub(crate) at: u32,
}

/// A comprehension: what the macros become.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    pub(crate) range: Id,
    pub(crate) var: Name,
    pub(crate) var2: Option<Name>,
    pub(crate) accu: Name,
    pub(crate) init: Id,
    pub(crate) condition: Id,
    pub(crate) step: Id,
    pub(crate) result: Id,
}

impl Ast {
    pub(crate) fn expr(&self, id: Id) -> &Expr {
        &self.nodes[id.index()].expr
    }

    pub(crate) fn at(&self, id: Id) -> usize {
        self.nodes[id.index()].at as usize
    }

    /// Calls `visit` on every node below and including one, parents first.
    pub(crate) fn walk(&self, root: Id, visit: &mut impl FnMut(Id)) {
        let mut todo = vec![root];
        while let Some(id) = todo.pop() {
            visit(id);
            let begin = todo.len();
            self.children(id, &mut |it| todo.push(it));
            todo[begin..].reverse();
        }
    }

    /// Calls `each` on the nodes directly below one.
    pub(crate) fn children(&self, id: Id, each: &mut impl FnMut(Id)) {
        match self.expr(id) {
            Expr::Unspecified | Expr::Literal(_) | Expr::Ident(_) => {}
            Expr::Select { operand, .. } => each(*operand),
            Expr::Call { target, args, .. } => target.iter().chain(args).for_each(|it| each(*it)),
            Expr::List(elements) => elements.iter().for_each(|it| each(it.value)),
            Expr::Map(entries) => entries.iter().for_each(|it| {
                each(it.key);
                each(it.value);
            }),
            Expr::Struct { fields, .. } => fields.iter().for_each(|it| each(it.value)),
            Expr::Fold(it) => {
                [it.range, it.init, it.condition, it.step, it.result]
                    .into_iter()
                    .for_each(each);
            }
        }
    }
}

/// Operators are calls of functions with these names.
pub(crate) mod operator {
    pub(crate) const CONDITIONAL: &str = "_?_:_";
    pub(crate) const AND: &str = "_&&_";
    pub(crate) const OR: &str = "_||_";
    pub(crate) const NOT: &str = "!_";
    pub(crate) const NEGATE: &str = "-_";
    pub(crate) const EQUALS: &str = "_==_";
    pub(crate) const NOT_EQUALS: &str = "_!=_";
    pub(crate) const IN: &str = "@in";
    pub(crate) const ADD: &str = "_+_";
    pub(crate) const INDEX: &str = "_[_]";
    pub(crate) const OPT_INDEX: &str = "_[?_]";
    pub(crate) const OPT_SELECT: &str = "_?._";
    pub(crate) const NOT_STRICTLY_FALSE: &str = "@not_strictly_false";
}
