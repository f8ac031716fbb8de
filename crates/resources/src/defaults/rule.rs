//! What a default is: rows that say where a value belongs and when it is put there.
//!
//! The three ways a Go struct holds a field decide what counts as missing, so rules name them: a pointer is missing when
//! it is absent or null, a plain field also when it holds Go's zero, and a plain struct is never missing.

use json::{Object, Value};

use crate::quantity;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Lit {
    Int(i64),
    Str(&'static str),
    Bool(bool),
    Strs(&'static [&'static str]),
    /// `{}`
    Empty,
    /// What Go writes for a list without items that is not left out.
    Null,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    /// A pointer: set if absent.
    Unset(&'static str, Lit),
    /// A plain field: set if absent or zero.
    Zero(&'static str, Lit),
    /// A pointer to a struct: its rules, if it is there.
    If(&'static str, &'static [Rule]),
    /// A plain struct: always there, as Go always writes it.
    In(&'static str, &'static [Rule]),
    /// A list of structs.
    Each(&'static str, &'static [Rule]),
    /// A map of quantities, rounded up to thousandths.
    Amounts(&'static str),
    /// One quantity, written in its canonical form if it is there.
    Amount(&'static str),
    /// The rules of another type in this same object.
    All(&'static [Rule]),
    /// What rows cannot say.
    Do(fn(&mut Object)),
}

pub(crate) fn run(rules: &[Rule], object: &mut Object) {
    for rule in rules {
        match *rule {
            Rule::Unset(key, lit) => unset(object, key, lit),
            Rule::Zero(key, lit) => zero(object, key, lit),
            Rule::If(key, rules) => {
                if let Some(Value::Object(inner)) = object.get_mut(key) {
                    run(rules, inner);
                }
            }
            Rule::In(key, rules) => {
                if let Some(inner) = made(object, key) {
                    run(rules, inner);
                }
            }
            Rule::Each(key, rules) => each(object, key, |item| run(rules, item)),
            Rule::Amounts(key) => {
                if let Some(Value::Object(amounts)) = object.get_mut(key) {
                    amounts.values_mut().for_each(quantity::round_up_to_milli);
                }
            }
            Rule::Amount(key) => {
                if let Some(amount) = object.get_mut(key) {
                    quantity::canonicalize(amount);
                }
            }
            Rule::All(rules) => run(rules, object),
            Rule::Do(function) => function(object),
        }
    }
}

pub(crate) fn unset(object: &mut Object, key: &'static str, lit: Lit) {
    if object.get(key).is_none_or(Value::is_null) {
        object.insert(key, lit.value());
    }
}

pub(crate) fn zero(object: &mut Object, key: &'static str, lit: Lit) {
    if object.get(key).is_none_or(is_zero) {
        object.insert(key, lit.value());
    }
}

/// The struct at a key, made if absent; nothing if something else is there, which validation will refuse.
pub(crate) fn made<'a>(object: &'a mut Object, key: &str) -> Option<&'a mut Object> {
    let value = object.get_or_insert(key);
    if value.is_null() {
        *value = Value::Object(Object::new());
    }
    value.as_object_mut()
}

pub(crate) fn each(object: &mut Object, key: &str, mut act: impl FnMut(&mut Object)) {
    if let Some(Value::Array(items)) = object.get_mut(key) {
        items
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .for_each(&mut act);
    }
}

/// Copies the entries that are not there yet.
pub(crate) fn fill(into: &mut Object, from: &Object) {
    for (key, value) in from.iter() {
        if !into.contains_key(key) {
            into.insert(key.clone(), value.clone());
        }
    }
}

pub(crate) fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(it) => !it,
        Value::Number(it) => it.as_f64() == 0.0,
        Value::String(it) => it.is_empty(),
        Value::Array(it) => it.is_empty(),
        Value::Object(it) => it.is_empty(),
    }
}

impl Lit {
    pub(crate) fn value(self) -> Value {
        match self {
            Self::Int(it) => it.into(),
            Self::Str(it) => it.into(),
            Self::Bool(it) => it.into(),
            Self::Strs(it) => it.iter().copied().collect(),
            Self::Empty => Object::new().into(),
            Self::Null => Value::Null,
        }
    }
}
