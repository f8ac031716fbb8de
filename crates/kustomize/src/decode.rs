//! JSON into structs as Go's `encoding/json` does it: names match in any case, the first problem is the one reported.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use json::{Number, Value};

use crate::error::{Error, Result, quote};

/// Filled from a value; null leaves things as they are.
pub(crate) trait Decode: Default {
    /// The type's name in Go, for messages.
    fn go_type() -> String;
    fn decode(&mut self, value: &Value, context: &mut Context);
}

pub(crate) struct Context {
    /// Whether a field that is not known is a problem.
    strict: bool,
    /// Whether numbers and booleans may stand where strings should, as `sigs.k8s.io/yaml` lets them.
    lenient: bool,
    /// The struct whose fields are read.
    within: &'static str,
    path: Vec<&'static str>,
    /// What a type is called here, and what it is called in Go.
    shown: (&'static str, &'static str),
    problem: Option<Problem>,
}

impl Context {
    fn mismatch<T: Decode>(&mut self, value: &Value) {
        let found = match value {
            Value::Null => "null".to_owned(),
            Value::Bool(_) => "bool".to_owned(),
            Value::Number(_) if T::go_type().starts_with("int") => format!("number {value}"),
            Value::Number(_) => "number".to_owned(),
            Value::String(_) => "string".to_owned(),
            Value::Array(_) => "array".to_owned(),
            Value::Object(_) => "object".to_owned(),
        };
        let wanted = match self.shown {
            ("", _) => T::go_type(),
            (ours, gos) => T::go_type().replace(ours, gos),
        };
        self.problem.get_or_insert_with(|| {
            Problem::Mismatch(if self.path.is_empty() {
                format!("json: cannot unmarshal {found} into Go value of type {wanted}")
            } else {
                format!(
                    "json: cannot unmarshal {found} into Go struct field {}.{} of type {wanted}",
                    self.within,
                    self.path.join(".")
                )
            })
        });
    }

    pub(crate) fn unknown(&mut self, key: &str) {
        if self.strict {
            self.problem
                .get_or_insert_with(|| Problem::UnknownField(key.to_owned()));
        }
    }

    pub(crate) fn enter(
        &mut self,
        within: &'static str,
        field: &'static str,
        shown: (&'static str, &'static str),
        read: impl FnOnce(&mut Self),
    ) {
        let before = std::mem::replace(&mut self.within, within);
        let shown_before = std::mem::replace(&mut self.shown, shown);
        self.path.push(field);
        read(self);
        self.path.pop();
        self.within = before;
        self.shown = shown_before;
    }
}

/// As `encoding/json` does.
pub(crate) fn decode<T: Decode>(value: &Value, strict: bool) -> Result<T> {
    decode_with(value, strict, false).map_err(|problem| {
        let text = problem.to_string();
        match problem {
            Problem::UnknownField(field) => Error::UnknownField { field, text },
            Problem::Mismatch(_) => Error::new(text),
        }
    })
}

/// As `sigs.k8s.io/yaml` does, strictly.
pub(crate) fn decode_yaml_strict<T: Decode>(text: &[u8]) -> Result<T> {
    let value = yaml::to_json_strict(text)
        .map_err(|error| Error::Undecodable(format!("error converting YAML to JSON: {error}")))?;
    decode_with(&value, true, true).map_err(|error| while_decoding(&error))
}

fn while_decoding(problem: &Problem) -> Error {
    Error::Undecodable(format!(
        "error unmarshaling JSON: while decoding JSON: {problem}"
    ))
}

/// Why a value does not become a struct, in the words of `encoding/json`.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("{0}")]
    Mismatch(String),
    #[error("json: unknown field {}", quote(.0))]
    UnknownField(String),
}

fn decode_with<T: Decode>(
    value: &Value,
    strict: bool,
    lenient: bool,
) -> std::result::Result<T, Problem> {
    let mut context = Context {
        strict,
        lenient,
        within: "",
        path: Vec::new(),
        shown: ("", ""),
        problem: None,
    };
    let mut out = T::default();
    out.decode(value, &mut context);
    match context.problem {
        None => Ok(out),
        Some(problem) => Err(problem),
    }
}

/// As `sigs.k8s.io/yaml` unmarshals: through JSON, not strict.
pub(crate) fn decode_yaml<T: Decode>(text: &[u8]) -> Result<T> {
    let value = yaml::to_json(text)
        .map_err(|error| Error::Undecodable(format!("error converting YAML to JSON: {error}")))?;
    decode_with(&value, false, true).map_err(|error| while_decoding(&error))
}

/// A list that knows whether it was given at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct List<T> {
    items: Vec<T>,
    pub(crate) given: bool,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            given: false,
        }
    }
}

impl<T> List<T> {
    pub(crate) fn append(&mut self, more: &mut Self) {
        if !more.items.is_empty() {
            self.given = true;
        }
        self.items.append(&mut more.items);
        more.given = false;
    }
}

impl<T> Deref for List<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.items
    }
}

impl<T> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.items
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<T: Decode> Decode for List<T> {
    fn go_type() -> String {
        format!("[]{}", T::go_type())
    }

    fn decode(&mut self, value: &Value, context: &mut Context) {
        match value {
            Value::Null => *self = Self::default(),
            Value::Array(values) => {
                self.given = true;
                self.items.clear();
                for value in values {
                    let mut item = T::default();
                    item.decode(value, context);
                    self.items.push(item);
                }
            }
            other => context.mismatch::<Self>(other),
        }
    }
}

/// A map of strings that knows whether it was given at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Strings {
    pub(crate) pairs: BTreeMap<String, String>,
    pub(crate) given: bool,
}

impl Deref for Strings {
    type Target = BTreeMap<String, String>;

    fn deref(&self) -> &BTreeMap<String, String> {
        &self.pairs
    }
}

impl Decode for Strings {
    fn go_type() -> String {
        "map[string]string".into()
    }

    fn decode(&mut self, value: &Value, context: &mut Context) {
        match value {
            Value::Null => {}
            Value::Object(object) => {
                self.given = true;
                for (key, value) in object.iter() {
                    let mut text = String::new();
                    text.decode(value, context);
                    self.pairs.insert(key.to_string(), text);
                }
            }
            other => context.mismatch::<Self>(other),
        }
    }
}

impl Decode for String {
    fn go_type() -> String {
        "string".into()
    }

    fn decode(&mut self, value: &Value, context: &mut Context) {
        match value {
            Value::Null => {}
            Value::String(text) => text.as_str().clone_into(self),
            Value::Bool(it) if context.lenient => *self = it.to_string(),
            Value::Number(Number::Int(it)) if context.lenient => *self = it.to_string(),
            Value::Number(Number::Float(it)) if context.lenient => *self = yaml::float_text(*it),
            other => context.mismatch::<Self>(other),
        }
    }
}

impl Decode for bool {
    fn go_type() -> String {
        "bool".into()
    }

    fn decode(&mut self, value: &Value, context: &mut Context) {
        match value {
            Value::Null => {}
            Value::Bool(it) => *self = *it,
            other => context.mismatch::<Self>(other),
        }
    }
}

impl Decode for i64 {
    fn go_type() -> String {
        "int64".into()
    }

    fn decode(&mut self, value: &Value, context: &mut Context) {
        match value {
            Value::Null => {}
            Value::Number(Number::Int(it)) => *self = *it,
            other => context.mismatch::<Self>(other),
        }
    }
}

/// Anything.
impl Decode for Value {
    fn go_type() -> String {
        "interface {}".into()
    }

    fn decode(&mut self, value: &Value, _: &mut Context) {
        *self = value.clone();
    }
}

/// Any map.
impl Decode for json::Object {
    fn go_type() -> String {
        "map[string]interface {}".into()
    }

    fn decode(&mut self, value: &Value, context: &mut Context) {
        match value {
            Value::Null => {}
            Value::Object(object) => *self = object.clone(),
            other => context.mismatch::<Self>(other),
        }
    }
}

impl<T: Decode> Decode for Option<T> {
    fn go_type() -> String {
        T::go_type()
    }

    fn decode(&mut self, value: &Value, context: &mut Context) {
        if value.is_null() {
            *self = None;
        } else {
            self.get_or_insert_default().decode(value, context);
        }
    }
}

/// A struct, and how its fields are named in JSON; `in` says in which embedded structs they are in Go, for messages;
/// `as always` that a field is written even if it is empty; `shown` what a type is called in Go, if it has a name of its own.
macro_rules! go_struct {
    ($(#[$attribute:meta])* $name:ident as $go:literal { $($field:ident: $type:ty = $json:literal $(in $via:literal)? $(as $always:ident)? $(shown $shown:literal as $gos:literal)?,)* }) => {
        $(#[$attribute])*
        #[allow(clippy::struct_field_names, reason = "fields are named as in JSON")]
        #[allow(clippy::struct_excessive_bools, reason = "options are independent")]
        #[derive(Clone, Debug, Default, PartialEq)]
        pub(crate) struct $name {
            $(pub(crate) $field: $type,)*
        }

        impl $crate::usage_counts::Count for $name {
            fn count(&self, trail: &mut $crate::usage_counts::Trail<'_>) {
                if *self != Self::default() {
                    trail.once();
                    $(trail.enter($json, &self.$field);)*
                }
            }
        }

        impl $crate::decode::Decode for $name {
            fn go_type() -> String {
                concat!("types.", $go).into()
            }

            fn decode(&mut self, value: &json::Value, context: &mut $crate::decode::Context) {
                let object = match value {
                    json::Value::Null => return,
                    json::Value::Object(object) => object,
                    other => return context.mismatched::<Self>(other),
                };
                for (key, value) in object.iter() {
                    let exact = [$($json),*].contains(&key.as_str());
                    let is = |name: &str| {
                        if exact { **key == *name } else { key.eq_ignore_ascii_case(name) }
                    };
                    $(if is($json) {
                        let shown = (concat!($($shown)?), concat!($($gos)?));
                        context.enter($go, concat!($($via, ".",)? $json), shown, |context| {
                            $crate::decode::Decode::decode(&mut self.$field, value, context);
                        });
                        continue;
                    })*
                    context.unknown(key);
                }
            }
        }

        impl $crate::encode::Encode for $name {
            fn encode(&self) -> json::Value {
                let mut object = json::Object::default();
                $(
                    let always = false $(|| stringify!($always) == "always")?;
                    if always || !$crate::encode::Encode::is_empty(&self.$field) {
                        object.push($json, $crate::encode::Encode::encode(&self.$field));
                    }
                )*
                json::Value::Object(object)
            }

            fn is_empty(&self) -> bool {
                false
            }
        }
    };
}
pub(crate) use go_struct;

impl Context {
    pub(crate) fn mismatched<T: Decode>(&mut self, value: &Value) {
        self.mismatch::<T>(value);
    }
}
