//! The variables of a policy: each is evaluated when it is first read, and then kept.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use cel::kubernetes::PER_CALL_LIMIT;
use cel::{Error, Lazy, LazyObject, Limits, Program, Value};

use super::{Bindings, Variable};

/// How deep variables that read one another may be nested together: as deep as one expression may be. Each level takes
/// room on the stack.
const MAX_DEPTH: usize = 250;
/// How deep a value of a variable may be nested: whatever walks or drops it takes room on the stack, too.
const MAX_LEVEL: usize = 500;
/// What a variable takes beyond its expression, in levels.
const OWN_DEPTH: usize = 2;

pub(super) struct Variables<'d> {
    all: &'d [Variable],
    /// With a bound of how deep they are nested.
    values: Vec<OnceLock<(Result<Value<'d>, Error>, usize)>>,
    bindings: &'d Bindings<'d>,
    is_late: &'d (dyn Fn() -> bool + Sync + 'd),
    /// These variables themselves: variables read variables.
    this: OnceLock<LazyObject<'d>>,
    /// What variables have cost since it was last asked for.
    cost: AtomicU64,
    depth: AtomicUsize,
    /// The deepest value that was read since the evaluation of a variable began.
    level: AtomicUsize,
}

impl fmt::Debug for Variables<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.all.iter().map(|it| &it.name))
            .finish()
    }
}

impl<'d> Variables<'d> {
    pub(super) fn new(
        all: &'d [Variable],
        bindings: &'d Bindings<'d>,
        is_late: &'d (dyn Fn() -> bool + Sync + 'd),
    ) -> Self {
        Self {
            all,
            values: all.iter().map(|_| OnceLock::new()).collect(),
            bindings,
            is_late,
            this: OnceLock::new(),
            cost: AtomicU64::new(0),
            depth: AtomicUsize::new(0),
            level: AtomicUsize::new(0),
        }
    }

    pub(super) fn bind(&self, this: &'d Self) {
        // Once for each.
        let _ = self.this.set(LazyObject(this));
    }

    pub(super) fn get(&self, name: &str) -> Option<Value<'d>> {
        match name {
            "variables" => self.this.get().copied().map(Value::Lazy),
            other => self.bindings.get(other),
        }
    }

    pub(super) fn take_cost(&self) -> u64 {
        self.cost.swap(0, Ordering::Relaxed)
    }

    /// The value, and a bound of how deep it is nested.
    fn evaluate(&self, variable: &'d Variable) -> (Result<Value<'d>, Error>, usize) {
        let outer = self.level.swap(0, Ordering::Relaxed);
        let value = self.value(variable);
        let height = variable.program.as_ref().map_or(0, Program::height);
        let level = height + self.level.swap(outer, Ordering::Relaxed);
        if level > MAX_LEVEL {
            return (Err(too_deep(&variable.name)), 0);
        }
        (value, level)
    }

    fn value(&self, variable: &'d Variable) -> Result<Value<'d>, Error> {
        let name = meta::go::quote(&variable.name);
        let program = variable.program.as_ref().map_err(|error| {
            Error::new(format!(
                "composited variable {name} fails to compile: {error}"
            ))
        })?;
        let height = program.height() + OWN_DEPTH;
        if self.depth.fetch_add(height, Ordering::Relaxed) + height > MAX_DEPTH {
            self.depth.fetch_sub(height, Ordering::Relaxed);
            return Err(too_deep(&variable.name));
        }
        let limits = Limits {
            cost: PER_CALL_LIMIT,
            interrupt: Some(self.is_late),
        };
        let (value, cost) = program.evaluate(&|name: &str| self.get(name), limits);
        self.depth.fetch_sub(height, Ordering::Relaxed);
        self.cost.fetch_add(cost, Ordering::Relaxed);
        value.map_err(|error| {
            Error::new(format!(
                "composited variable {name} fails to evaluate: {error}"
            ))
        })
    }
}

fn too_deep(name: &str) -> Error {
    let name = meta::go::quote(name);
    Error::new(format!(
        "composited variable {name} fails to evaluate: variables that depend on one another are nested too deep"
    ))
}

impl Lazy for Variables<'_> {
    fn field<'s>(&'s self, name: &str) -> Option<Result<Value<'s>, Error>> {
        // Of those of the same name, the last counts.
        let at = self.all.iter().rposition(|it| it.name == name)?;
        let cell = &self.values[at];
        let (value, level) = if let Some(known) = cell.get() {
            known
        } else {
            // Not while it is being set: it may read itself.
            let value = self.evaluate(&self.all[at]);
            cell.get_or_init(|| value)
        };
        self.level.fetch_max(*level, Ordering::Relaxed);
        Some(value.clone())
    }
}
