//! The evaluator: walks the nodes of a program, and counts what it costs.
//!
//! Hot path.

/// The result of an evaluation, unless it ends all of it: then `||` does not help. Results are large and are not moved for
/// this.
macro_rules! passed {
    ($value:expr) => {{
        let value = $value;
        if let Err(error) = &value
            && error.is_final()
        {
            return Err(error.clone());
        }
        value
    }};
}

mod access;
mod folds;

use crate::cost::runtime::{Argument, Ledger, Tracker};
use crate::error::{Error, ErrorKind};
use crate::functions::{self, Context};
use crate::messages;
use crate::plan::{Call, Ix, Node, Plan};
use crate::value::compare::{Work, equal};
use crate::value::map::Entries;
use crate::value::{List, Map, Struct, Value};

/// Where the variables of an evaluation come from.
pub trait Activation<'a> {
    /// The value of a variable; nothing if it has none.
    fn variable(&self, name: &str) -> Option<Result<Value<'a>, Error>>;
}

impl<'a, F: Fn(&str) -> Option<Value<'a>>> Activation<'a> for F {
    fn variable(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
        self(name).map(Ok)
    }
}

/// So many iterations go by before the caller is asked whether to go on.
const CHECK_FREQUENCY: u32 = 100;

/// Bounds of an evaluation.
#[derive(Clone, Copy)]
pub struct Limits<'i> {
    /// It may not cost more.
    pub cost: u64,
    /// Asked now and then; true ends the evaluation.
    pub interrupt: Option<&'i dyn Fn() -> bool>,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Self {
            cost: u64::MAX,
            interrupt: None,
        }
    }
}

impl std::fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limits")
            .field("cost", &self.cost)
            .finish_non_exhaustive()
    }
}

/// The value, what it has cost, and the ledger of that.
pub(crate) fn evaluate<'a, L: Ledger>(
    plan: &'a Plan,
    activation: &dyn Activation<'a>,
    limits: Limits,
    ledger: L,
) -> (Result<Value<'a>, Error>, u64, L) {
    let mut evaluator = Evaluator {
        plan,
        activation,
        first: None,
        others: vec![None; plan.globals.len().saturating_sub(1)],
        locals: vec![Slot::Empty; plan.locals],
        tracker: Tracker::new(plan.ids, limits.cost, ledger),
        // What is charged for takes at least as much of the cost; the rest is for what cel-go does not charge for.
        work: Work(limits.cost.saturating_add(1 << 18)),
        interrupt: limits.interrupt,
        iterations: 0,
    };
    let result = evaluator.eval(plan.root);
    let cost = match &result {
        Err(error) if error.kind() == ErrorKind::Internal => 0,
        _ => evaluator.tracker.cost,
    };
    (result, cost, evaluator.tracker.finish())
}

type Evaluated<'a> = Result<Value<'a>, Error>;

/// A variable of a comprehension.
#[derive(Clone, Debug)]
enum Slot<'a> {
    Empty,
    /// Computed by this node when it is first read.
    Pending(Ix),
    Set(Evaluated<'a>),
}

struct Evaluator<'a, 'e, L> {
    plan: &'a Plan,
    activation: &'e dyn Activation<'a>,
    /// The first variable of the environment, which is mostly the only one, and the others.
    first: Option<Evaluated<'a>>,
    others: Vec<Option<Evaluated<'a>>>,
    locals: Vec<Slot<'a>>,
    tracker: Tracker<L>,
    work: Work,
    interrupt: Option<&'e dyn Fn() -> bool>,
    iterations: u32,
}

impl<'a, L: Ledger> Evaluator<'a, '_, L> {
    fn id(&self, ix: Ix) -> u32 {
        self.plan.nodes[ix as usize].id()
    }

    fn eval(&mut self, ix: Ix) -> Evaluated<'a> {
        match &self.plan.nodes[ix as usize] {
            Node::Const { id, value } => {
                self.tracker.push(*id)?;
                match value {
                    Ok(value) => Ok(value.borrowed()),
                    Err(error) => Err(error.clone()),
                }
            }
            Node::Attr(attr) => self.attr(attr),
            Node::Test { id, attr } => self.test(*id, attr),
            Node::And { id, terms } => self.logic(*id, *terms, false),
            Node::Or { id, terms } => self.logic(*id, *terms, true),
            Node::Equal {
                id,
                args,
                negated,
                charge,
            } => self.equality(*id, *args, *negated, *charge),
            Node::Call(call) => self.call(call),
            Node::InSet { id, arg, set } => self.in_set(*id, *arg, set),
            Node::OptionalOr { id, args, unwrap } => self.optional_or(*id, *args, *unwrap),
            Node::List { id, elements } => self.list(*id, elements),
            Node::Map { id, entries } => self.map(*id, entries),
            Node::Struct { .. } => self.structure(ix),
            Node::Fold(fold) => self.fold(fold),
        }
    }

    #[inline(never)]
    fn logic(&mut self, id: u32, terms: [Ix; 2], decisive: bool) -> Evaluated<'a> {
        let mut error = None;
        let mut result = Ok(Value::Bool(!decisive));
        for term in terms {
            match passed!(self.eval(term)) {
                Ok(Value::Bool(it)) if it == decisive => {
                    error = None;
                    result = Ok(Value::Bool(decisive));
                    break;
                }
                Ok(Value::Bool(_)) => {}
                Ok(_) => {
                    error.get_or_insert_with(Error::no_such_overload);
                }
                Err(it) => {
                    error.get_or_insert(it);
                }
            }
        }
        for term in terms {
            let term = self.id(term);
            self.tracker.drop(term);
        }
        self.tracker.push(id)?;
        match error {
            Some(error) => Err(error),
            None => std::mem::replace(&mut result, Ok(Value::Null)),
        }
    }

    #[inline(never)]
    fn equality(
        &mut self,
        id: u32,
        [a, b]: [Ix; 2],
        negated: bool,
        charge: crate::cost::runtime::Charge,
    ) -> Evaluated<'a> {
        let left = passed!(self.eval(a));
        let right = passed!(self.eval(b));
        let result = match (&left, &right) {
            (Err(error), _) | (_, Err(error)) => Err(error.clone()),
            (Ok(left), Ok(right)) => match equal(left, right, &mut self.work) {
                Ok(it) => Ok(Value::Bool(it != negated)),
                // Whatever is not equal is unequal.
                Err(error) if negated && !error.is_final() => Ok(Value::Bool(true)),
                Err(error) => Err(error),
            },
        };
        let result = passed!(result);
        let ids = [self.id(a), self.id(b)];
        if self.tracker.drop_all(ids.into_iter()) {
            self.tracker.add(id, charge.cost(&[left, right], &result));
        }
        self.tracker.push(id)?;
        result
    }

    fn call(&mut self, call: &'a Call) -> Evaluated<'a> {
        // The usual calls need no memory.
        match call.args[..] {
            // The condition of every `all` and `exists`.
            [one] if call.non_strict => {
                let one = passed!(self.eval(one));
                let result = Ok(Value::Bool(!matches!(one, Ok(Value::Bool(false)))));
                if self.drop_args(call) {
                    self.tracker.add(call.id, call.charge.cost(&[one], &result));
                }
                self.tracker.push(call.id)?;
                result
            }
            [one] => {
                let one = passed!(self.eval(one));
                match one {
                    Ok(one) => self.apply(call, &[one]),
                    Err(error) => self.not_applied(call, &[Err(error.clone())], error),
                }
            }
            [one, two] => {
                let one = passed!(self.eval(one));
                if let (Err(error), true) = (&one, call.early) {
                    return self.not_applied(call, &[], error.clone());
                }
                let two = passed!(self.eval(two));
                match (one, two) {
                    (Ok(one), Ok(two)) => self.apply(call, &[one, two]),
                    (one, two) => {
                        let failed = one.as_ref().err().or(two.as_ref().err());
                        let error = failed.cloned().unwrap_or_else(Error::no_such_overload);
                        self.not_applied(call, &[one, two], error)
                    }
                }
            }
            _ => self.call_any(call),
        }
    }

    /// Calls a function whose arguments all have values.
    #[inline(never)]
    fn apply(&mut self, call: &'a Call, args: &[Value<'a>]) -> Evaluated<'a> {
        self.bound(call, args)?;
        let mut context = Context {
            work: &mut self.work,
            name: &call.name,
            overload: &call.overload,
            regex: call.regex.as_deref(),
            strings: self.plan.strings,
        };
        let result = passed!((call.function)(&mut context, args));
        if self.drop_args(call) {
            self.tracker.add(call.id, call.charge.cost(args, &result));
        }
        self.tracker.push(call.id)?;
        result
    }

    /// A call with an argument that has no value.
    #[inline(never)]
    fn not_applied(
        &mut self,
        call: &'a Call,
        args: &[Evaluated<'a>],
        error: Error,
    ) -> Evaluated<'a> {
        let result = Err(error);
        if self.drop_args(call) && !call.early && args.len() == call.args.len() {
            self.tracker.add(call.id, call.charge.cost(args, &result));
        }
        self.tracker.push(call.id)?;
        result
    }

    fn drop_args(&mut self, call: &Call) -> bool {
        let nodes = &self.plan.nodes;
        let ids = call.args.iter().map(|ix| nodes[*ix as usize].id());
        self.tracker.drop_all(ids)
    }

    #[inline(never)]
    fn call_any(&mut self, call: &'a Call) -> Evaluated<'a> {
        let mut args: Vec<Evaluated<'a>> = Vec::with_capacity(call.args.len());
        let mut failed = None;
        for ix in &call.args {
            let value = passed!(self.eval(*ix));
            if let Err(error) = &value
                && failed.is_none()
            {
                failed = Some(error.clone());
                if call.early {
                    break;
                }
            }
            args.push(value);
        }
        let result = if let Some(error) = failed {
            Err(error)
        } else {
            let values: Vec<Value<'a>> = args.iter().flatten().cloned().collect();
            self.bound(call, &args)?;
            let mut context = Context {
                work: &mut self.work,
                name: &call.name,
                overload: &call.overload,
                regex: call.regex.as_deref(),
                strings: self.plan.strings,
            };
            passed!((call.function)(&mut context, &values))
        };
        let nodes = &self.plan.nodes;
        let ids = call.args.iter().map(|ix| nodes[*ix as usize].id());
        if self.tracker.drop_all(ids) && args.len() == call.args.len() {
            self.tracker.add(call.id, call.charge.cost(&args, &result));
        }
        self.tracker.push(call.id)?;
        result
    }

    /// What would cost more than is left is not begun.
    fn bound<A: Argument<'a>>(&self, call: &Call, args: &[A]) -> Result<(), Error> {
        use crate::cost::runtime::Charge;
        if let Charge::Match
        | Charge::Contains
        | Charge::Square(_)
        | Charge::Sets(_)
        | Charge::Elements
        | Charge::Flatten
        | Charge::Sum = call.charge
        {
            let cost = call.charge.cost(args, &Ok(Value::Null));
            if cost > self.tracker.left() {
                return Err(Error::cost_limit());
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn in_set(&mut self, id: u32, arg: Ix, set: &Value<'a>) -> Evaluated<'a> {
        let value = passed!(self.eval(arg));
        let result = value.map(|value| {
            let Value::Map(set) = set else {
                return Value::Bool(false);
            };
            Value::Bool(set.find(&value).is_some())
        });
        self.tracker.push(id)?;
        result
    }

    #[inline(never)]
    fn optional_or(&mut self, id: u32, [a, b]: [Ix; 2], unwrap: bool) -> Evaluated<'a> {
        let result = match passed!(self.eval(a)) {
            Ok(Value::Optional(Some(value))) if unwrap => Ok((*value).clone()),
            Ok(Value::Optional(None)) => passed!(self.eval(b)),
            Ok(value @ Value::Optional(_)) => Ok(value),
            Ok(_) => Err(Error::no_such_overload()),
            Err(error) => Err(error),
        };
        self.tracker.push(id)?;
        result
    }

    fn constructed(
        &mut self,
        id: u32,
        parts: impl DoubleEndedIterator<Item = Ix>,
        cost: u64,
    ) -> Result<(), Error> {
        let nodes = &self.plan.nodes;
        self.tracker
            .drop_all(parts.map(|ix| nodes[ix as usize].id()));
        self.tracker.add(id, cost);
        self.tracker.push(id)
    }

    #[inline(never)]
    fn list(&mut self, id: u32, elements: &'a [(Ix, bool)]) -> Evaluated<'a> {
        let mut items = Vec::with_capacity(elements.len());
        let mut failed = None;
        for (ix, optional) in elements {
            match (passed!(self.eval(*ix)), optional) {
                (Ok(value), false) => items.push(value),
                (Ok(Value::Optional(value)), true) => {
                    items.extend(value.map(|it| (*it).clone()));
                }
                (Ok(value), true) => {
                    failed = Some(functions::not_optional_element(&value));
                    break;
                }
                (Err(error), _) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        self.constructed(id, elements.iter().map(|it| it.0), 10)?;
        failed.map_or_else(|| Ok(Value::List(List::from(items))), Err)
    }

    #[inline(never)]
    fn map(&mut self, id: u32, entries: &'a [(Ix, Ix, bool)]) -> Evaluated<'a> {
        let mut all = Entries::default();
        let mut failed = None;
        for (key, value, optional) in entries {
            let key = match passed!(self.eval(*key)) {
                Ok(key) => key,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            };
            match (passed!(self.eval(*value)), optional) {
                (Ok(value), false) => {
                    all.insert(key, value);
                }
                (Ok(Value::Optional(Some(value))), true) => {
                    all.insert(key, (*value).clone());
                }
                (Ok(Value::Optional(None)), true) => all.remove(&key),
                (Ok(value), true) => {
                    failed = Some(functions::not_optional_entry(&key, &value));
                    break;
                }
                (Err(error), _) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        let parts = entries.iter().flat_map(|it| [it.0, it.1]);
        self.constructed(id, parts, 30)?;
        failed.map_or_else(|| Ok(Value::Map(Map::from(all))), Err)
    }

    #[inline(never)]
    fn structure(&mut self, ix: Ix) -> Evaluated<'a> {
        let Node::Struct { id, name, fields } = &self.plan.nodes[ix as usize] else {
            return Err(Error::no_such_overload());
        };
        let mut all = Vec::with_capacity(fields.len());
        let mut failed = None;
        for (field, value, optional) in fields {
            match (passed!(self.eval(*value)), optional) {
                (Ok(value), false) => all.push((field.clone(), value)),
                (Ok(Value::Optional(value)), true) => {
                    all.extend(value.map(|it| (field.clone(), (*it).clone())));
                }
                (Ok(value), true) => {
                    failed = Some(functions::not_optional_entry(&**field, &value));
                    break;
                }
                (Err(error), _) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        self.constructed(*id, fields.iter().map(|it| it.1), 40)?;
        match failed {
            Some(error) => Err(error),
            None => messages::value(name, &all).unwrap_or_else(|| {
                Ok(Value::Struct(std::sync::Arc::new(Struct {
                    name: name.clone(),
                    fields: all,
                })))
            }),
        }
    }
}
