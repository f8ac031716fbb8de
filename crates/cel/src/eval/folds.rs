//! Comprehensions.

use std::sync::Arc;

use super::{CHECK_FREQUENCY, Evaluated, Evaluator, Slot};
use crate::ast::operator;
use crate::cost::runtime::Ledger;
use crate::error::Error;
use crate::plan::{Base, Call, Fold, Ix, Node};
use crate::value::{List, Value};

impl<'a, L: Ledger> Evaluator<'a, '_, L> {
    #[inline(never)]
    pub(super) fn fold(&mut self, fold: &'a Fold) -> Evaluated<'a> {
        let range = passed!(self.eval(fold.range));
        self.locals[fold.accu as usize] = Slot::Pending(fold.init);
        let result = match range {
            Err(error) => Err(error),
            Ok(Value::List(list)) => match self.over_list(fold, &list) {
                Ok(()) => passed!(self.eval(fold.result)),
                Err(error) => return Err(error),
            },
            Ok(Value::Map(map)) => {
                for key in map.keys() {
                    let value = if fold.var2.is_some() {
                        map.find(&key).unwrap_or(Ok(Value::Null))
                    } else {
                        Ok(Value::Null)
                    };
                    if !self.iterate(fold, Ok(key), value)? {
                        break;
                    }
                }
                passed!(self.eval(fold.result))
            }
            Ok(other) if fold.var2.is_some() => Err(Error::new(format!(
                "unsupported comprehension range type: {}",
                other.go_type()
            ))),
            Ok(other) => Err(Error::new(format!(
                "got '{}', expected iterable type",
                other.go_type()
            ))),
        };
        let range = self.id(fold.range);
        self.tracker.drop(range);
        self.tracker.push(fold.id)?;
        result
    }

    fn over_list(&mut self, fold: &'a Fold, list: &List<'a>) -> Result<(), Error> {
        for (index, item) in list.iter().enumerate() {
            let go_on = if fold.var2.is_some() {
                let index = i64::try_from(index).unwrap_or(i64::MAX);
                self.iterate(fold, Ok(Value::Int(index)), item)?
            } else {
                self.iterate(fold, item, Ok(Value::Null))?
            };
            if !go_on {
                break;
            }
        }
        Ok(())
    }

    /// One iteration. Tells whether to go on.
    fn iterate(
        &mut self,
        fold: &'a Fold,
        first: Evaluated<'a>,
        second: Evaluated<'a>,
    ) -> Result<bool, Error> {
        self.locals[fold.var as usize] = Slot::Set(first);
        if let Some(var2) = fold.var2 {
            self.locals[var2 as usize] = Slot::Set(second);
        }
        if let Ok(Value::Bool(false)) = passed!(self.eval(fold.condition)) {
            return Ok(false);
        }
        if let Some(value) = self.step_in_place(fold, fold.step)? {
            self.locals[fold.accu as usize] = Slot::Set(value);
        }
        self.iterations += 1;
        if self.iterations.is_multiple_of(CHECK_FREQUENCY) && self.interrupt.is_some_and(|it| it())
        {
            return Err(Error::interrupted());
        }
        Ok(true)
    }

    /// The next value of the accumulator; nothing if it was changed in place.
    fn step_in_place(&mut self, fold: &'a Fold, step: Ix) -> Result<Option<Evaluated<'a>>, Error> {
        let plan = self.plan;
        match &plan.nodes[step as usize] {
            Node::Call(call)
                if matches!(&*call.name, operator::ADD | "cel.@mapInsert")
                    && self.is_accu(call.args[0], fold.accu) =>
            {
                self.append(fold, call)
            }
            Node::Attr(attr) if attr.quals.is_empty() => {
                let Base::Conditional { condition, yes, no } = &attr.base else {
                    return Ok(Some(passed!(self.eval(step))));
                };
                // `filter ? accu + [x] : accu` keeps the accumulator where it is.
                let Base::Value(value) = &yes.base else {
                    return Ok(Some(passed!(self.eval(step))));
                };
                let is_kept = matches!(&no.base, Base::Local(slot) if *slot == fold.accu)
                    && no.quals.is_empty()
                    && yes.quals.is_empty();
                if !is_kept {
                    return Ok(Some(passed!(self.eval(step))));
                }
                let result = match passed!(self.eval(*condition)) {
                    Ok(Value::Bool(true)) => self.step_in_place(fold, *value)?,
                    Ok(Value::Bool(false)) => match passed!(self.local(fold.accu)) {
                        Ok(_) => None,
                        Err(error) => Some(Err(error)),
                    },
                    Ok(_) => Some(Err(Error::no_such_overload())),
                    Err(error) => Some(Err(error)),
                };
                let condition = self.id(*condition);
                for id in [no.id(), yes.id(), condition] {
                    self.tracker.drop(id);
                }
                self.tracker.push(attr.id())?;
                Ok(result)
            }
            _ => Ok(Some(passed!(self.eval(step)))),
        }
    }

    fn is_accu(&self, ix: Ix, accu: u32) -> bool {
        match &self.plan.nodes[ix as usize] {
            Node::Attr(attr) => {
                matches!(&attr.base, Base::Local(slot) if *slot == accu) && attr.quals.is_empty()
            }
            _ => false,
        }
    }

    /// `accu + [x]` and the insertion into a map, without a copy of what is there.
    fn append(&mut self, fold: &'a Fold, call: &'a Call) -> Result<Option<Evaluated<'a>>, Error> {
        let slot = fold.accu as usize;
        // As the call would do it: first the accumulator is read, then the other arguments are computed.
        let accu = passed!(self.eval(call.args[0]));
        let is_plain = matches!(
            accu,
            Ok(Value::List(List::Values(_)) | Value::Map(crate::value::Map::Values(_)))
        );
        let mut args = vec![accu];
        for ix in &call.args[1..] {
            let value = passed!(self.eval(*ix));
            let failed = value.is_err();
            args.push(value);
            if failed && call.early {
                break;
            }
        }
        let failed = args.iter().find_map(|it| it.as_ref().err().cloned());
        let result = if let Some(error) = failed {
            Some(Err(error))
        } else if is_plain {
            args[0] = Ok(Value::Null);
            let values: Vec<Value<'a>> = args[1..].iter().flatten().cloned().collect();
            match &mut self.locals[slot] {
                Slot::Set(Ok(accu)) => put(accu, values).err().map(Err),
                _ => Some(Err(Error::no_such_overload())),
            }
        } else {
            let values: Vec<Value<'a>> = args.iter().flatten().cloned().collect();
            let mut context = crate::functions::Context {
                work: &mut self.work,
                name: &call.name,
                overload: &call.overload,
                regex: None,
                strings: self.plan.strings,
            };
            Some(passed!((call.function)(&mut context, &values)))
        };
        let nodes = &self.plan.nodes;
        let ids = call.args.iter().map(|ix| nodes[*ix as usize].id());
        if self.tracker.drop_all(ids) && args.len() == call.args.len() {
            let cost = match &result {
                Some(result) => call.charge.cost(&args, result),
                None => 1,
            };
            self.tracker.add(call.id, cost);
        }
        self.tracker.push(call.id)?;
        Ok(result)
    }
}

/// Puts elements or an entry into an accumulator.
fn put<'a>(accu: &mut Value<'a>, values: Vec<Value<'a>>) -> Result<(), Error> {
    match accu {
        Value::List(List::Values(items)) => match &values[..] {
            [Value::List(more)] => {
                Arc::make_mut(items).extend(more.values()?);
                Ok(())
            }
            _ => Err(Error::no_such_overload()),
        },
        Value::Map(crate::value::Map::Values(entries)) => {
            let entries = Arc::make_mut(entries);
            let mut insert = |key: Value<'a>, value: Value<'a>| {
                let text = key.to_string();
                if entries.insert(key, value) {
                    return Err(Error::new(format!(
                        "insert failed: key {text} already exists"
                    )));
                }
                Ok(())
            };
            let mut values = values.into_iter();
            match (values.next(), values.next()) {
                (Some(Value::Map(more)), None) => {
                    for (key, value) in more.pairs() {
                        insert(key, value?)?;
                    }
                    Ok(())
                }
                (Some(key), Some(value)) => insert(key, value),
                _ => Err(Error::no_such_overload()),
            }
        }
        _ => Err(Error::no_such_overload()),
    }
}
