//! The cost of an expression before it runs, as a range.

mod calls;

use std::collections::HashMap;
use std::sync::Arc;

use super::size::Range;
use crate::ast::{Expr, Fold, Id, Literal, Name};
use crate::checker::{Checked, Reference};
use crate::env::Options;
use crate::types::Type;

/// What an expression costs at least and at most.
pub type CostEstimate = Range;

/// Who knows how large data is: by the path from a variable, such as `self`, `list`, `@items`.
pub trait SizeHints {
    /// The largest size of what is at a path; nothing if that is not known.
    fn max_size(&self, path: &[Arc<str>]) -> Option<u64>;
}

/// No hints at all.
impl SizeHints for () {
    fn max_size(&self, _: &[Arc<str>]) -> Option<u64> {
        None
    }
}

/// The sizes of `self` and `oldSelf` by their schema.
impl SizeHints for crate::schema::Schema {
    fn max_size(&self, path: &[Arc<str>]) -> Option<u64> {
        self.size_at(path.get(1..)?).map(i64::cast_unsigned)
    }
}

pub(crate) fn estimate(
    checked: &Checked,
    options: &Options,
    hints: &dyn SizeHints,
) -> CostEstimate {
    Coster::new(checked, options, hints).cost(checked.ast.root)
}

/// What each node costs at most, by its number.
#[derive(Debug)]
pub(crate) struct NodeCosts {
    /// Once, with all below it.
    pub(crate) max: Vec<u64>,
    /// How often the step and the condition of a comprehension run at most; 0 for one that only binds a name.
    pub(crate) count: Vec<u64>,
}

/// The cost of an expression, and of each of its nodes.
pub(crate) fn estimate_nodes(
    checked: &Checked,
    options: &Options,
    hints: &dyn SizeHints,
) -> (CostEstimate, NodeCosts) {
    let mut coster = Coster::new(checked, options, hints);
    let nodes = checked.ast.nodes.len();
    coster.noted = Some(NodeCosts {
        max: vec![0; nodes],
        count: vec![0; nodes],
    });
    let cost = coster.cost(checked.ast.root);
    let noted = coster.noted.unwrap_or(NodeCosts {
        max: Vec::new(),
        count: Vec::new(),
    });
    (cost, noted)
}

type Path = Arc<[Arc<str>]>;

/// The sizes of the keys and values of an aggregate.
#[derive(Clone, Copy, Debug)]
struct Entries {
    is_list: bool,
    key: Range,
    value: Range,
}

impl Entries {
    fn union(this: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (this, other) = (this?, other?);
        Some(Self {
            is_list: this.is_list,
            key: this.key.union(other.key),
            value: this.value.union(other.value),
        })
    }
}

#[derive(Clone, Debug)]
struct Local {
    path: Option<Path>,
    size: Option<Range>,
    entries: Option<Entries>,
}

struct Coster<'a> {
    checked: &'a Checked,
    options: &'a Options,
    hints: &'a dyn SizeHints,
    paths: Vec<Option<Path>>,
    sizes: Vec<Option<Range>>,
    entries: Vec<Option<Entries>>,
    locals: HashMap<Name, Vec<Local>>,
    /// What nodes cost, if that is asked for.
    noted: Option<NodeCosts>,
}

impl<'a> Coster<'a> {
    fn new(checked: &'a Checked, options: &'a Options, hints: &'a dyn SizeHints) -> Self {
        let count = checked.ast.nodes.len();
        Self {
            checked,
            options,
            hints,
            paths: vec![None; count],
            sizes: vec![None; count],
            entries: vec![None; count],
            locals: HashMap::new(),
            noted: None,
        }
    }

    fn cost(&mut self, id: Id) -> Range {
        let cost = self.cost_of(id);
        if let Some(noted) = &mut self.noted {
            noted.max[id.index()] = cost.max;
        }
        cost
    }

    fn cost_of(&mut self, id: Id) -> Range {
        let checked = self.checked;
        match checked.ast.expr(id) {
            Expr::Unspecified | Expr::Literal(_) => Range::ZERO,
            Expr::Ident(name) => {
                self.paths[id.index()] = match self.local(name) {
                    Some(local) => local.path.clone(),
                    None => Some(Path::from([name.clone()])),
                };
                Range::fixed(1)
            }
            Expr::Select {
                operand,
                field,
                test_only,
            } => {
                let cost = self.cost(*operand);
                if *test_only {
                    return cost.plus(Range::fixed(self.options.presence_cost));
                }
                self.paths[id.index()] = Some(self.below(*operand, field));
                match checked.type_of(*operand) {
                    Type::Map(_) | Type::Struct(_) | Type::Param(_) => cost.plus(Range::fixed(1)),
                    _ => cost,
                }
            }
            Expr::Call {
                function,
                target,
                args,
            } => self.call(id, function, *target, args),
            Expr::List(elements) => {
                let mut sum = Range::ZERO;
                let mut items = none_yet(elements.is_empty());
                for it in elements {
                    sum = sum.plus(self.cost(it.value));
                    items = items.union(self.size_or_unknown(it.value));
                }
                self.entries[id.index()] = Some(Entries {
                    is_list: true,
                    key: Range::fixed(1),
                    value: items,
                });
                sum.plus(Range::fixed(10))
            }
            Expr::Map(entries) => {
                let mut sum = Range::ZERO;
                let (mut keys, mut values) =
                    (none_yet(entries.is_empty()), none_yet(entries.is_empty()));
                for it in entries {
                    sum = sum.plus(self.cost(it.key)).plus(self.cost(it.value));
                    keys = keys.union(self.size_or_unknown(it.key));
                    values = values.union(self.size_or_unknown(it.value));
                }
                self.entries[id.index()] = Some(Entries {
                    is_list: false,
                    key: keys,
                    value: values,
                });
                sum.plus(Range::fixed(30))
            }
            Expr::Struct { fields, .. } => {
                let costs = fields.iter().map(|it| self.cost(it.value));
                costs.fold(Range::fixed(40), Range::plus)
            }
            Expr::Fold(fold) => {
                if self.is_binding(fold) {
                    self.binding(id, fold)
                } else {
                    self.fold(id, fold)
                }
            }
        }
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.get(name).and_then(|it| it.last())
    }

    fn path(&self, id: Id) -> Option<Path> {
        if let Expr::Ident(name) = self.checked.ast.expr(id)
            && let Some(local) = self.local(name)
        {
            return local.path.clone();
        }
        self.paths[id.index()].clone()
    }

    /// The path of something within what a node stands for. It has one even if the node has none.
    fn below(&self, id: Id, step: &str) -> Path {
        let path = self.path(id);
        let steps = path.iter().flat_map(|it| it.iter().cloned());
        steps.chain([Arc::from(step)]).collect()
    }

    fn size_or_unknown(&mut self, id: Id) -> Range {
        self.size(id).unwrap_or(Range::UNKNOWN)
    }

    fn size(&mut self, id: Id) -> Option<Range> {
        if let Some(size) = self.sizes[id.index()] {
            return Some(size);
        }
        let checked = self.checked;
        let own = match checked.ast.expr(id) {
            Expr::Literal(Literal::String(it)) => Some(it.chars().count()),
            Expr::Literal(Literal::Bytes(it)) => Some(it.len()),
            Expr::Literal(_) => Some(1),
            Expr::List(it) => Some(it.len()),
            Expr::Map(it) => Some(it.len()),
            _ => None,
        };
        if let Some(own) = own {
            return Some(Range::fixed(own as u64));
        }
        if let Some(path) = self.path(id)
            && let Some(max) = self.hints.max_size(&path)
        {
            let size = Range { min: 0, max };
            self.sizes[id.index()] = Some(size);
            return Some(size);
        }
        if is_scalar(checked.type_of(id)) {
            return Some(Range::fixed(1));
        }
        if let Expr::Ident(name) = checked.ast.expr(id) {
            return self.local(name).and_then(|it| it.size);
        }
        None
    }

    fn entries(&self, id: Id) -> Option<Entries> {
        if let Some(entries) = self.entries[id.index()] {
            return Some(entries);
        }
        match self.checked.ast.expr(id) {
            Expr::Ident(name) => self.local(name).and_then(|it| it.entries),
            _ => None,
        }
    }

    fn push(&mut self, name: &Name, local: Local) {
        self.locals.entry(name.clone()).or_default().push(local);
    }

    fn pop(&mut self, name: &Name) {
        if let Some(all) = self.locals.get_mut(name) {
            all.pop();
        }
    }

    fn push_value(&mut self, name: &Name, id: Id) {
        let local = Local {
            path: self.path(id),
            size: self.size(id),
            entries: self.entries(id),
        };
        self.push(name, local);
    }

    /// An iteration variable that is a key or an index, or a value.
    fn push_iteration(&mut self, name: &Name, range: Id, is_key: bool) {
        let entries = self.entries(range);
        let is_list = entries.map_or_else(
            || matches!(self.checked.type_of(range), Type::List(_)),
            |it| it.is_list,
        );
        let (step, size) = match (is_key, is_list) {
            (true, true) => ("@indices", entries.map(|it| it.key)),
            (true, false) => ("@keys", entries.map(|it| it.key)),
            (false, true) => ("@items", entries.map(|it| it.value)),
            (false, false) => ("@values", entries.map(|it| it.value)),
        };
        let local = Local {
            path: Some(self.below(range, step)),
            size,
            entries: None,
        };
        self.push(name, local);
    }

    fn fold(&mut self, id: Id, fold: &Fold) -> Range {
        let mut sum = self.cost(fold.range).plus(self.cost(fold.init));
        self.push_value(&fold.accu, fold.init);
        if let Some(var2) = &fold.var2 {
            self.push_iteration(&fold.var, fold.range, true);
            self.push_iteration(var2, fold.range, false);
        } else {
            let entries = self.entries(fold.range);
            let is_list = entries.map_or_else(
                || matches!(self.checked.type_of(fold.range), Type::List(_)),
                |it| it.is_list,
            );
            self.push_iteration(&fold.var, fold.range, !is_list);
        }
        let condition = self.cost(fold.condition);
        let step = self.cost(fold.step);
        self.pop(&fold.var);
        if let Some(var2) = &fold.var2 {
            self.pop(var2);
        }
        sum = sum.plus(self.cost(fold.result));
        self.pop(&fold.accu);
        let count = self.size_or_unknown(fold.range);
        if let Some(noted) = &mut self.noted {
            noted.count[id.index()] = count.max;
        }
        sum = sum.plus(count.times(step.plus(condition)));
        match self.checked.ast.expr(fold.init) {
            Expr::Literal(_) => self.sizes[id.index()] = self.size(fold.init),
            Expr::List(_) | Expr::Map(_) => {
                self.sizes[id.index()] = Some(count);
                if let Some(entries) = self.entries(fold.step) {
                    self.entries[id.index()] = Some(entries);
                }
            }
            _ => {}
        }
        sum
    }

    /// `cel.bind` and what other macros make of it.
    fn is_binding(&self, fold: &Fold) -> bool {
        let ast = &self.checked.ast;
        matches!(ast.expr(fold.range), Expr::List(it) if it.is_empty())
            && matches!(
                ast.expr(fold.condition),
                Expr::Literal(Literal::Bool(false))
            )
            && &*fold.accu != "__result__"
    }

    fn binding(&mut self, id: Id, fold: &Fold) -> Range {
        let mut sum = self.cost(fold.range).plus(self.cost(fold.init));
        self.push_value(&fold.accu, fold.init);
        sum = sum.plus(self.cost(fold.result));
        self.pop(&fold.accu);
        self.copy(id, fold.result);
        sum
    }

    fn copy(&mut self, to: Id, from: Id) {
        if let Some(size) = self.size(from) {
            self.sizes[to.index()] = Some(size);
        }
        if let Some(entries) = self.entries(from) {
            self.entries[to.index()] = Some(entries);
        }
    }

    fn call(&mut self, id: Id, function: &Name, target: Option<Id>, args: &[Id]) -> Range {
        if &**function == "dyn"
            && let [arg] = args
        {
            let cost = self.cost(*arg);
            self.copy(id, *arg);
            return cost.plus(Range::fixed(1));
        }
        let costs: Vec<Range> = args.iter().map(|it| self.cost(*it)).collect();
        let args: Vec<calls::Arg> = args.iter().map(|it| self.arg(*it)).collect();
        let checked = self.checked;
        let Reference::Function(overloads) = checked.reference(id) else {
            return Range::ZERO;
        };
        let mut sum = Range::ZERO;
        let target = target.map(|it| {
            sum = self.cost(it);
            self.arg(it)
        });
        let mut all = Range {
            min: u64::MAX,
            max: 0,
        };
        let mut result: Option<Range> = None;
        for overload in overloads {
            let (cost, size) =
                self.overload(id, function, overload, target.as_ref(), &args, &costs);
            all = all.union(cost);
            result = match (result, size) {
                (Some(a), Some(b)) => Some(a.union(b)),
                (a, b) => a.or(b),
            };
            let step = match &**overload {
                "index_list" => Some("@items"),
                "index_map" => Some("@values"),
                _ => None,
            };
            if let (Some(step), Some(arg)) = (step, args.first()) {
                result = self.entries(arg.id).map(|it| it.value);
                self.paths[id.index()] = Some(self.below(arg.id, step));
            }
            if result.is_none() {
                result = self.size(id);
            }
        }
        if let Some(result) = result {
            self.sizes[id.index()] = Some(result);
        }
        sum.plus(all)
    }

    fn arg(&mut self, id: Id) -> calls::Arg {
        let path = self
            .path(id)
            .filter(|it| &*it[0] != "@result" && &*it[0] != "__result__");
        calls::Arg {
            id,
            path,
            size: self.size(id),
        }
    }
}

/// What is united with the sizes of elements: nothing is smaller, nothing is larger.
fn none_yet(is_empty: bool) -> Range {
    Range {
        min: if is_empty { 0 } else { u64::MAX },
        max: 0,
    }
}

fn is_scalar(of: &Type) -> bool {
    match of {
        Type::Bool | Type::Int | Type::Uint | Type::Double | Type::Duration | Type::Timestamp => {
            true
        }
        other => other.unwrap_optional().is_some_and(is_scalar),
    }
}
