//! Variables, and what is selected of them.

use std::sync::Arc;

use super::{Evaluated, Evaluator, Slot};
use crate::cost::runtime::Ledger;
use crate::error::Error;
use crate::functions;
use crate::plan::{Attr, Base, Key, Qual};
use crate::value::{Map, Origin, Value};

impl<'a, L: Ledger> Evaluator<'a, '_, L> {
    /// An attribute as an expression of its own, which is charged.
    #[inline(never)]
    pub(super) fn attr(&mut self, attr: &'a Attr) -> Evaluated<'a> {
        let value = passed!(self.resolve(attr));
        if self.observe_attr(attr) {
            self.tracker.add(attr.charged(), 1);
        }
        self.tracker.push(attr.id())?;
        value
    }

    #[inline(never)]
    pub(super) fn test(&mut self, id: u32, attr: &'a Attr) -> Evaluated<'a> {
        let value = passed!(self.resolve(attr));
        if self.observe_attr(attr) {
            self.tracker.add(attr.charged(), 1);
        }
        self.tracker.sub(id, 1 - self.plan.presence_cost.min(1));
        self.tracker.push(id)?;
        Ok(match value? {
            Value::Optional(it) => Value::Bool(it.is_some()),
            other => other,
        })
    }

    /// Takes what belongs to an attribute from the stack. Tells whether the attribute has a cost of its own.
    fn observe_attr(&mut self, attr: &'a Attr) -> bool {
        if let Base::Conditional { condition, yes, no } = &attr.base {
            let condition = self.id(*condition);
            for id in [no.id(), yes.id(), condition] {
                self.tracker.drop(id);
            }
            return false;
        }
        self.tracker.drop(attr.id());
        true
    }

    fn resolve(&mut self, attr: &'a Attr) -> Evaluated<'a> {
        let base = match &attr.base {
            Base::Global(slot) => self.global(*slot)?,
            Base::Local(slot) => self.local(*slot)?,
            Base::Value(ix) => self.eval(*ix)?,
            Base::Conditional { condition, yes, no } => {
                return match self.eval(*condition)? {
                    Value::Bool(true) => self.resolve(yes),
                    Value::Bool(false) => self.resolve(no),
                    _ => Err(Error::no_such_overload()),
                };
            }
            Base::Unresolved(names) => {
                let (value, used) = self.unresolved(names, &attr.quals)?;
                return self.qualify(value, &attr.quals[used..]);
            }
        };
        self.qualify(base, &attr.quals)
    }

    fn global(&mut self, slot: u32) -> Evaluated<'a> {
        let at = slot as usize;
        let kept = match at {
            0 => &mut self.first,
            _ => &mut self.others[at - 1],
        };
        if let Some(value) = kept {
            return value.clone();
        }
        let name = &self.plan.globals[at];
        let value = self
            .activation
            .variable(name)
            .unwrap_or_else(|| Err(Error::new(format!("no such attribute(s): {name}"))));
        kept.insert(value).clone()
    }

    pub(super) fn local(&mut self, slot: u32) -> Evaluated<'a> {
        match &self.locals[slot as usize] {
            Slot::Set(value) => value.clone(),
            Slot::Empty => Err(Error::new("no such attribute(s)")),
            Slot::Pending(ix) => {
                let value = passed!(self.eval(*ix));
                self.locals[slot as usize] = Slot::Set(value.clone());
                value
            }
        }
    }

    /// A name that was not checked: the longest name that is a variable, or that of a type. Tells how many selections
    /// belong to the name.
    #[inline(never)]
    fn unresolved(
        &mut self,
        names: &[Arc<str>],
        quals: &[Qual],
    ) -> Result<(Value<'a>, usize), Error> {
        let fields: Vec<&str> = quals
            .iter()
            .map_while(|it| match &it.key {
                Key::Const(Value::String(field)) if !it.optional => Some(&**field),
                _ => None,
            })
            .collect();
        for used in (0..=fields.len()).rev() {
            for name in names {
                let mut full = name.to_string();
                for field in &fields[..used] {
                    full.push('.');
                    full.push_str(field);
                }
                if let Some(value) = self.activation.variable(&full) {
                    return Ok((value?, used));
                }
                if let Some(of) = functions::type_named(&full) {
                    return Ok((Value::Type(Arc::new(of)), used));
                }
            }
        }
        Err(Error::new(format!(
            "no such attribute(s): {}",
            names.join(", ")
        )))
    }

    fn qualify(&mut self, base: Value<'a>, quals: &'a [Qual]) -> Evaluated<'a> {
        if quals.is_empty() {
            return Ok(base);
        }
        let mut optional = false;
        let mut value = match base {
            Value::Optional(None) => return Ok(Value::NONE),
            Value::Optional(Some(inner)) => {
                optional = true;
                (*inner).clone()
            }
            other => other,
        };
        let mut quals = quals;
        if !optional
            && let Value::Map(Map::Json(object, origin)) = &value
            && let Origin::Plain | Origin::Struct = origin
            && let Some((found, rest)) = self.walk(object, quals)?
        {
            value = origin.value(found);
            quals = rest;
        }
        for qual in quals {
            optional |= qual.optional;
            // A field of an object that a schema describes.
            if !optional
                && let (Key::Const(Value::String(name)), Value::Map(Map::Json(object, origin))) =
                    (&qual.key, &value)
                && let Origin::Schema(schema) = origin
                && let Some(Ok(found)) = schema.find(object, name)
            {
                self.tracker.add(qual.id, 1);
                self.tracker.push(qual.id)?;
                value = found;
                continue;
            }
            match self.step(qual, &value, optional)? {
                Some(next) => value = next,
                None => return Ok(Value::NONE),
            }
        }
        Ok(if optional { Value::some(value) } else { value })
    }

    /// Selects fields of JSON one after the other, as far as the selections are names and the values are objects. Most
    /// selections are.
    fn walk(
        &mut self,
        mut object: &'a json::Object,
        quals: &'a [Qual],
    ) -> Result<Option<(&'a json::Value, &'a [Qual])>, Error> {
        let mut found = None;
        for (index, qual) in quals.iter().enumerate() {
            let (Key::Const(Value::String(name)), false) = (&qual.key, qual.optional) else {
                break;
            };
            let value = object.get(name);
            self.tracker.add(qual.id, 1);
            // Nobody takes the number of a selection within others from the stack.
            if value.is_none() || index + 1 == quals.len() {
                self.tracker.push(qual.id)?;
            } else {
                self.tracker.check()?;
            }
            let Some(value) = value else {
                return Err(Error::no_such_key(&**name));
            };
            found = Some((value, &quals[index + 1..]));
            match value {
                json::Value::Object(next) => object = next,
                _ => break,
            }
        }
        Ok(found)
    }

    /// One selection. Nothing if it is optional and there is nothing.
    #[inline(never)]
    fn step(
        &mut self,
        qual: &'a Qual,
        of: &Value<'a>,
        optional: bool,
    ) -> Result<Option<Value<'a>>, Error> {
        let (result, is_test) = match &qual.key {
            Key::Const(key) => (find(of, key, optional), false),
            Key::Test(key) => (find(of, key, true), true),
            Key::Attr(attr) => match passed!(self.resolve(attr)) {
                Ok(key) => (find(of, checked(&key)?, optional), false),
                Err(error) => (Err(error), false),
            },
            Key::Value(ix) => {
                let key = passed!(self.eval(*ix));
                let found = match key {
                    Ok(key) => checked(&key).and_then(|key| find(of, key, optional)),
                    Err(error) => Err(error),
                };
                // Such an index is charged as an attribute.
                self.tracker.drop(qual.id);
                (found, false)
            }
        };
        let result = passed!(result);
        let present = matches!(result, Ok(Some(_)));
        if !optional || present {
            self.tracker.add(qual.id, 1);
            self.tracker.push(qual.id)?;
        }
        match result? {
            None if is_test && !optional => Ok(Some(Value::Bool(false))),
            Some(_) if is_test => Ok(Some(Value::Bool(true))),
            other => Ok(other),
        }
    }
}

/// Only some types can be keys.
fn checked<'k, 'a>(key: &'k Value<'a>) -> Result<&'k Value<'a>, Error> {
    if functions::is_key(key) {
        Ok(key)
    } else {
        Err(functions::invalid_key(key))
    }
}

/// The value of a field, a key or an index. If it is only looked for, nothing is no error.
fn find<'a>(of: &Value<'a>, key: &Value, lenient: bool) -> Result<Option<Value<'a>>, Error> {
    let missing = |error: fn(&Value) -> Error| {
        if lenient { Ok(None) } else { Err(error(key)) }
    };
    match of {
        Value::Map(map) => {
            let found = match (map, key) {
                (
                    Map::Json(object, origin @ (Origin::Plain | Origin::Struct)),
                    Value::String(name),
                ) => {
                    return match object.get(name) {
                        Some(it) => Ok(Some(origin.value(it))),
                        None => missing(|key| Error::no_such_key(key)),
                    };
                }
                _ => map.find(key),
            };
            match found {
                Some(value) => value.map(Some),
                None => missing(|key| Error::no_such_key(key)),
            }
        }
        Value::List(list) => {
            let index = functions::index(key)?;
            match usize::try_from(index).ok().and_then(|it| list.get(it)) {
                Some(value) => value.map(Some),
                None => missing(|key| Error::new(format!("index out of bounds: {key}"))),
            }
        }
        Value::Lazy(object) => {
            let found = match key {
                Value::String(name) => object.0.field(name),
                _ => None,
            };
            match found {
                Some(value) => value.map(Some),
                None => missing(|key| Error::no_such_key(key)),
            }
        }
        Value::Struct(it) => {
            let found = match key {
                Value::String(name) => it.field(name),
                _ => None,
            };
            match found {
                Some(value) => Ok(Some(value.clone())),
                None => missing(|key| Error::no_such_key(key)),
            }
        }
        _ => missing(|key| Error::no_such_key(key)),
    }
}
