//! Semantic equality of values of a built-in type, as apimachinery's `equality.Semantic.DeepEqual` compares the Go structs
//! behind them: no list or map is like an empty one, a field that is not a pointer is like its zero value when it is left
//! out, and quantities are their amounts.
//!
//! Takes time in proportion to the values.

use json::{Object, Value};
use meta::quantity::Quantity;

use crate::{Format, Place, Shape};

/// A type, and whether Go has a pointer to it, where it is found.
#[derive(Clone, Copy, Debug)]
pub struct Typed<'a> {
    place: Place<'a>,
    pointer: bool,
}

impl<'a> Typed<'a> {
    /// The type of a whole object.
    pub fn new(place: Place<'a>) -> Self {
        let pointer = false;
        Self { place, pointer }
    }

    /// The type of a field, or of the values of a map.
    pub fn field(self, name: &str) -> Option<Self> {
        match self.place.shape() {
            Shape::Object { fields, .. } => {
                let at = fields.position(name)?;
                let go = self.place.node().go.as_ref();
                let pointer = go
                    .and_then(|it| it.fields.get(at))
                    .is_some_and(|it| it.pointer);
                let place = self.place.at(fields[at].node);
                Some(Self { place, pointer })
            }
            Shape::Map { values, .. } => Some(Self::new(self.place.at(*values))),
            _ => None,
        }
    }

    /// The type of a list's items.
    pub fn items(self) -> Option<Self> {
        self.place.items().map(Self::new)
    }

    /// `Value::Null` stands for a value that is not there.
    pub fn equal(self, a: &Value, b: &Value) -> bool {
        a == b || self.same(a, b)
    }

    /// Of two objects, without some of their fields.
    pub fn equal_without(self, a: &Object, b: &Object, without: &[&str]) -> bool {
        self.objects(a, b, without)
    }

    fn same(self, a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Null, Value::Null) => true,
            (Value::Null, some) | (some, Value::Null) => self.is_zero(some),
            (Value::Object(a), Value::Object(b)) => self.objects(a, b, &[]),
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.item(a, b))
            }
            (Value::Number(a), Value::Number(b)) => {
                a == b || a.as_f64().total_cmp(&b.as_f64()).is_eq()
            }
            _ if self.place.node().format == Format::Quantity => {
                matches!((quantity(a), quantity(b)), (Some(a), Some(b)) if a == b)
            }
            _ => a == b,
        }
    }

    fn item(self, a: &Value, b: &Value) -> bool {
        match self.items() {
            Some(typed) => typed.same(a, b),
            None => a == b,
        }
    }

    fn objects(self, a: &Object, b: &Object, without: &[&str]) -> bool {
        let kept = |key: &str| !without.contains(&key);
        // Both mostly have their keys in one order.
        let mut beside = b.iter();
        let forth = a.iter().filter(|(key, _)| kept(key)).all(|(key, value)| {
            let other = match beside.next() {
                Some((it, other)) if it == key => Some(other),
                _ => b.get(key),
            };
            self.below(key, value, other.unwrap_or(&Value::Null))
        });
        let mut beside = a.keys();
        forth
            && b.iter().all(|(key, value)| {
                beside.next() == Some(key)
                    || !kept(key)
                    || a.contains_key(key)
                    || self.below(key, &Value::Null, value)
            })
    }

    fn below(self, key: &str, a: &Value, b: &Value) -> bool {
        match self.field(key) {
            // A map that has a key without a value differs from one without the key.
            Some(_) if self.is_map() && a.is_null() != b.is_null() => false,
            Some(typed) => typed.same(a, b),
            None => a == b || is_none(a) && is_none(b),
        }
    }

    fn is_map(self) -> bool {
        matches!(self.place.shape(), Shape::Map { .. })
    }

    /// Like a field that is left out.
    fn is_zero(self, value: &Value) -> bool {
        let node = self.place.node();
        match value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(pairs) if self.is_map() => pairs.is_empty(),
            _ if self.pointer => false,
            Value::Object(pairs) => {
                let is_struct = matches!(node.shape, Shape::Object { .. });
                let zero = |(key, value): (&json::Text, &Value)| {
                    let typed = self.field(key);
                    value.is_null() || typed.is_some_and(|it| it.is_zero(value))
                };
                is_struct && pairs.iter().all(zero)
            }
            Value::Bool(it) => !it,
            Value::Number(it) => it.as_f64() == 0.0,
            Value::String(it) if node.format == Format::Quantity => {
                it.is_empty() || quantity(value).is_some_and(|it| it.is_zero())
            }
            Value::String(it) => it.is_empty(),
        }
    }
}

/// Of a value without a type.
fn is_none(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

fn quantity(value: &Value) -> Option<Quantity> {
    Quantity::from_value(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_go_compares_structs() {
        let schema = crate::builtin().kind("", "v1", "Pod").unwrap();
        let spec = Typed::new(schema.place()).field("spec").unwrap();
        for (a, b, equal) in [
            // A list or a map that is empty is like none.
            (r#"{"volumes":[]}"#, "{}", true),
            (r#"{"nodeSelector":{}}"#, r#"{"nodeSelector":null}"#, true),
            (r#"{"nodeSelector":{"a":""}}"#, "{}", false),
            (
                r#"{"nodeSelector":{"a":""}}"#,
                r#"{"nodeSelector":{}}"#,
                false,
            ),
            // A field that is no pointer is like its zero value.
            (r#"{"hostNetwork":false,"nodeName":""}"#, "{}", true),
            (r#"{"hostNetwork":true}"#, "{}", false),
            (
                r#"{"containers":[{"resources":{}}]}"#,
                r#"{"containers":[{}]}"#,
                true,
            ),
            (
                r#"{"containers":[{"ports":[{"hostPort":0}]}]}"#,
                r#"{"containers":[{"ports":[{}]}]}"#,
                true,
            ),
            // A pointer is not.
            (r#"{"hostUsers":false}"#, "{}", false),
            (r#"{"activeDeadlineSeconds":0}"#, "{}", false),
            (r#"{"securityContext":{}}"#, "{}", false),
            (
                r#"{"volumes":[{"emptyDir":{}}]}"#,
                r#"{"volumes":[{}]}"#,
                false,
            ),
            // Quantities are amounts.
            (
                r#"{"overhead":{"cpu":"1"}}"#,
                r#"{"overhead":{"cpu":"1000m"}}"#,
                true,
            ),
            (
                r#"{"containers":[{"resources":{"limits":{"memory":"1Ki"}}}]}"#,
                r#"{"containers":[{"resources":{"limits":{"memory":1024}}}]}"#,
                true,
            ),
            (
                r#"{"overhead":{"cpu":"1"}}"#,
                r#"{"overhead":{"cpu":"2"}}"#,
                false,
            ),
            (r#"{"overhead":{"cpu":"0"}}"#, r#"{"overhead":{}}"#, false),
            (r#"{"nodeName":"1"}"#, r#"{"nodeName":"1000m"}"#, false),
            (r#"{"priority":1}"#, r#"{"priority":1.0}"#, true),
            // Of fields that no type knows, an empty list is like none.
            (r#"{"unknown":{}}"#, "{}", false),
            (r#"{"unknown":[]}"#, "{}", true),
            (r#"{"unknown":null}"#, "{}", true),
        ] {
            let parse = |it: &str| json::parse(it.as_bytes()).unwrap();
            assert_eq!(spec.equal(&parse(a), &parse(b)), equal, "{a} {b}");
            assert_eq!(spec.equal(&parse(b), &parse(a)), equal, "{b} {a}");
        }
    }

    #[test]
    fn some_fields_may_be_left_out() {
        let schema = crate::builtin().kind("", "v1", "ConfigMap").unwrap();
        let typed = Typed::new(schema.place());
        let object = |text: &str| {
            json::parse(text.as_bytes())
                .unwrap()
                .as_object()
                .cloned()
                .unwrap()
        };
        let a = object(r#"{"metadata":{"name":"a"},"data":{"k":"v"}}"#);
        let b = object(r#"{"data":{"k":"v"},"immutable":null}"#);
        assert!(typed.equal_without(&a, &b, &["metadata"]));
        assert!(!typed.equal_without(&a, &b, &[]));
    }
}
