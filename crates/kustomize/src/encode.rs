//! Structs into JSON as Go's `encoding/json` does it: what is marked `omitempty` there and empty is left out.

use json::{Number, Object, Value};

use crate::decode::{List, Strings};

pub(crate) trait Encode {
    fn encode(&self) -> Value;

    /// What `omitempty` leaves out. Never a struct.
    fn is_empty(&self) -> bool;
}

impl Encode for String {
    fn encode(&self) -> Value {
        Value::from(self.as_str())
    }

    fn is_empty(&self) -> bool {
        String::is_empty(self)
    }
}

impl Encode for bool {
    fn encode(&self) -> Value {
        Value::Bool(*self)
    }

    fn is_empty(&self) -> bool {
        !*self
    }
}

impl Encode for i64 {
    fn encode(&self) -> Value {
        Value::Number(Number::Int(*self))
    }

    fn is_empty(&self) -> bool {
        *self == 0
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self) -> Value {
        self.as_ref().map_or(Value::Null, Encode::encode)
    }

    fn is_empty(&self) -> bool {
        self.is_none()
    }
}

impl<T: Encode> Encode for List<T> {
    fn encode(&self) -> Value {
        if !self.given && Vec::is_empty(self) {
            return Value::Null;
        }
        Value::Array(self.iter().map(Encode::encode).collect())
    }

    fn is_empty(&self) -> bool {
        Vec::is_empty(self)
    }
}

impl Encode for Strings {
    fn encode(&self) -> Value {
        let pairs = self.iter();
        let object: Object = pairs
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        Value::Object(object)
    }

    fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

impl Encode for json::Object {
    fn encode(&self) -> Value {
        Value::Object(self.clone()).encode()
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

/// Anything. Go reads all numbers in it as floats.
impl Encode for Value {
    fn encode(&self) -> Value {
        match self {
            Value::Number(number) => Value::Number(as_float(*number)),
            Value::Array(items) => Value::Array(items.iter().map(Encode::encode).collect()),
            Value::Object(object) => {
                let pairs = object.iter();
                Value::Object(
                    pairs
                        .map(|(key, value)| (key.clone(), value.encode()))
                        .collect(),
                )
            }
            other => other.clone(),
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Value::Object(object) if object.is_empty())
    }
}

/// A float that is whole is written without a point, and then reads as an integer.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn as_float(number: Number) -> Number {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let float = number.as_f64();
    if float.fract() == 0.0 && float.abs() < LIMIT {
        Number::Int(float as i64)
    } else {
        Number::Float(float)
    }
}
