//! The parts of an expression that its author wrote, and what each of them costs.

mod spans;

use std::collections::HashMap;
use std::ops::Range;

use crate::ast::{Ast, Expr, Id, operator};
use crate::checker::Checked;
use crate::cost::estimate::{NodeCosts, estimate_nodes};
use crate::cost::{CostEstimate, SizeHints};
use crate::env::Options;
use spans::Spans;

/// A part of an expression. Costs are sums over all evaluations of the part: in a comprehension it runs many times.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Part {
    /// Where it is in the text, in bytes.
    pub range: Range<usize>,
    /// The part that it is directly within.
    pub parent: Option<usize>,
    /// What it costs at most, with the parts within it.
    pub max: u64,
    /// The same without them.
    pub own_max: u64,
    /// The cheaper branch of a conditional, or within one: its maximum is not in the sum of the parts around it.
    pub is_alternative: bool,
    /// What an evaluation has cost, with the parts within it.
    pub units: i64,
    /// The same without them. `has()` takes back what the last selection has cost, and so may be below zero.
    pub own_units: i64,
}

/// All parts, each before those within it.
#[derive(Clone, Debug)]
pub struct Parts {
    /// What the whole costs.
    pub estimate: CostEstimate,
    all: Vec<Part>,
    /// The part that a node belongs to.
    of_node: Vec<usize>,
}

/// What the nodes of an expression have cost in one evaluation.
#[derive(Clone, Debug)]
pub struct Charges(pub(crate) Vec<i64>);

impl Parts {
    pub(crate) fn new(checked: &Checked, options: &Options, hints: &dyn SizeHints) -> Self {
        let (estimate, costs) = estimate_nodes(checked, options, hints);
        let mut builder = Builder {
            ast: &checked.ast,
            costs,
            spans: Spans::new(&checked.ast.text),
            all: Vec::new(),
            alternatives: Vec::new(),
            of_node: vec![0; checked.ast.nodes.len()],
            is_made: vec![false; checked.ast.nodes.len()],
            known: HashMap::new(),
        };
        builder.build();
        let mut all = builder.all;
        // Parts within come after the part around them.
        for at in (1..all.len()).rev() {
            let max = all[at].max;
            if let Some(parent) = all[at].parent
                && builder.alternatives[at] == builder.alternatives[parent]
            {
                all[parent].max = all[parent].max.saturating_add(max);
            }
        }
        Self {
            estimate,
            all,
            of_node: builder.of_node,
        }
    }

    /// Adds what an evaluation has cost.
    pub fn charge(&mut self, charges: &Charges) {
        for (part, units) in self.of_node.iter().zip(&charges.0) {
            self.all[*part].own_units = self.all[*part].own_units.wrapping_add(*units);
        }
        for part in &mut self.all {
            part.units = part.own_units;
        }
        for at in (1..self.all.len()).rev() {
            let units = self.all[at].units;
            if let Some(parent) = self.all[at].parent {
                self.all[parent].units = self.all[parent].units.wrapping_add(units);
            }
        }
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Part> {
        self.all.iter()
    }
}

struct Builder<'a> {
    ast: &'a Ast,
    costs: NodeCosts,
    spans: Spans<'a>,
    all: Vec<Part>,
    /// Of each part, in how many cheaper branches it is.
    alternatives: Vec<u32>,
    of_node: Vec<usize>,
    /// Which nodes were made by a macro.
    is_made: Vec<bool>,
    /// Parts by the part around them and their place. A macro that uses an argument twice has copies of it.
    known: HashMap<(usize, u32), usize>,
}

/// A node to look at, and how it is evaluated.
#[derive(Clone, Copy)]
struct Task {
    id: Id,
    parent: Option<Id>,
    /// How often it runs at most for each time that the node above it runs.
    factor: u64,
    /// How often it runs at most.
    times: u64,
    /// In how many cheaper branches it is.
    alternatives: u32,
}

impl Builder<'_> {
    fn build(&mut self) {
        let mut todo = vec![Task {
            id: self.ast.root,
            parent: None,
            factor: 1,
            times: 1,
            alternatives: 0,
        }];
        while let Some(task) = todo.pop() {
            let below = self.children(task);
            let max = |it: &Task| self.costs.max[it.id.index()];
            let of_others = below
                .iter()
                .filter(|it| it.alternatives == task.alternatives)
                .fold(0_u64, |sum, it| {
                    sum.saturating_add(max(it).saturating_mul(it.factor))
                });
            let own = max(&task).saturating_sub(of_others);
            let at = self.part_of(task);
            self.of_node[task.id.index()] = at;
            // The cheaper branch of a conditional that a macro made is no part of its own, and costs nothing.
            if self.alternatives[at] == task.alternatives {
                let part = &mut self.all[at];
                part.own_max = part.own_max.saturating_add(own.saturating_mul(task.times));
                part.max = part.own_max;
            }
            todo.extend(below.into_iter().rev());
        }
    }

    /// The nodes below one, and how often they run.
    fn children(&self, task: Task) -> Vec<Task> {
        let mut below = Vec::new();
        self.ast.children(task.id, &mut |id| {
            below.push(Task {
                id,
                parent: Some(task.id),
                factor: 1,
                ..task
            });
        });
        match self.ast.expr(task.id) {
            Expr::Fold(fold) => {
                let count = self.costs.count[task.id.index()];
                for it in &mut below {
                    if it.id == fold.condition || it.id == fold.step {
                        it.factor = count;
                        it.times = task.times.saturating_mul(count);
                    }
                }
            }
            Expr::Call { function, .. } if &**function == operator::CONDITIONAL => {
                if let [_, yes, no] = &mut below[..] {
                    let max = |it: &Task| self.costs.max[it.id.index()];
                    let cheaper = if max(yes) < max(no) { yes } else { no };
                    cheaper.alternatives += 1;
                }
            }
            _ => {}
        }
        below
    }

    fn part_of(&mut self, task: Task) -> usize {
        let at = self.ast.nodes[task.id.index()].at;
        let mut parent = None;
        if let Some(above) = task.parent {
            let around = self.of_node[above.index()];
            parent = Some(around);
            if self.is_absorbed(task.id, above) {
                return around;
            }
            if let Some(known) = self.known.get(&(around, at)) {
                return *known;
            }
            self.known.insert((around, at), self.all.len());
        }
        let range = match parent {
            Some(_) => self.spans.of(self.ast, task.id),
            None => 0..self.ast.text.len(),
        };
        self.all.push(Part {
            range,
            parent,
            max: 0,
            own_max: 0,
            is_alternative: task.alternatives > 0,
            units: 0,
            own_units: 0,
        });
        self.alternatives.push(task.alternatives);
        self.all.len() - 1
    }

    /// Whether a node is shown as one with the node above it: what a macro made, the variable and the first fields of
    /// `self.a.b`, and the terms of `a && b && c`.
    fn is_absorbed(&mut self, id: Id, above: Id) -> bool {
        let place = |id: Id| self.ast.nodes[id.index()].at;
        // All that a macro makes is at its place.
        if place(id) == place(above) {
            self.is_made[id.index()] = true;
            return true;
        }
        match (self.ast.expr(id), self.ast.expr(above)) {
            (
                Expr::Ident(_)
                | Expr::Select {
                    test_only: false, ..
                },
                above,
            ) if is_selection(above) => true,
            (below @ Expr::Call { .. }, above) if is_selection(below) && is_selection(above) => {
                true
            }
            (
                Expr::Call { function, .. },
                Expr::Call {
                    function: outer, ..
                },
            ) => {
                function == outer
                    && matches!(&**function, operator::AND | operator::OR)
                    && !self.is_made[above.index()]
            }
            _ => false,
        }
    }
}

/// `a.b` and `a.?b`
fn is_selection(expr: &Expr) -> bool {
    match expr {
        Expr::Select { .. } => true,
        Expr::Call { function, .. } => &**function == operator::OPT_SELECT,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
