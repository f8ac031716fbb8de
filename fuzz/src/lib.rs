//! Values out of random bytes: near enough to what a schema wants that the code behind the first check is reached.

use std::sync::LazyLock;

use json::{Object, Value};
use schema::{Format, Place, Schema, Shape};

/// Random bytes as a row of decisions. When they run out, every decision is the first.
#[derive(Debug)]
pub struct Dice<'a>(pub &'a [u8]);

/// Few words, so that keys, names and values meet.
const WORDS: [&str; 16] = [
    "a", "b", "c", "", "name", "key", "$patch", "delete", "replace", "1", "500m", "1Gi", "TCP",
    "/", "~1", "é",
];

/// Group, version and kind.
static KINDS: LazyLock<Vec<(&str, &str, &str)>> = LazyLock::new(|| {
    let kinds = schema::builtin().kinds();
    let mut kinds: Vec<_> = kinds.filter(|(group, ..)| *group != "*").collect();
    kinds.sort_unstable();
    kinds
});

impl<'a> Dice<'a> {
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// Below `count`, which is not zero.
    pub fn below(&mut self, count: usize) -> usize {
        let low = usize::from(self.byte());
        let number = if count > 256 {
            low << 8 | usize::from(self.byte())
        } else {
            low
        };
        number % count
    }

    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    pub fn word(&mut self) -> &'static str {
        self.one(&WORDS)
    }

    /// Some built-in kind: group, version, kind and its type.
    pub fn kind(&mut self) -> (String, String, Schema) {
        let (group, version, kind) = KINDS[self.below(KINDS.len())];
        let schema = schema::builtin().kind(group, version, kind);
        let api_version = if group.is_empty() {
            version.to_owned()
        } else {
            format!("{group}/{version}")
        };
        (api_version, kind.to_owned(), schema.expect("it is listed"))
    }

    /// Some kind that is stored: it has metadata.
    pub fn stored(&mut self) -> (String, String, Schema) {
        loop {
            let found = self.kind();
            let metadata = found.2.place().field("metadata");
            if metadata.is_some_and(|it| it.field("managedFields").is_some()) {
                return found;
            }
            if self.0.is_empty() {
                let pod = schema::builtin().kind("", "v1", "Pod");
                return ("v1".into(), "Pod".into(), pod.expect("a pod"));
            }
        }
    }

    /// Any JSON.
    pub fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 6 } else { 8 }) {
            0 => self.word().into(),
            1 => i64::from(self.byte()).into(),
            2 => Value::Null,
            3 => (self.byte() & 1 == 0).into(),
            4 => json::Number::Float(f64::from(self.byte()) / 4.0).into(),
            5 => i64::from_le_bytes(std::array::from_fn(|_| self.byte())).into(),
            6 => self.items(|dice| dice.value(depth - 1)),
            _ => {
                let count = self.below(4);
                let pair = |_| (self.word(), self.value(depth - 1));
                (0..count).map(pair).collect::<Object>().into()
            }
        }
    }

    /// What a place wants, most of the time.
    pub fn shaped(&mut self, place: Place<'_>, depth: usize) -> Value {
        if depth == 0 || self.byte() >= 0xf8 {
            return self.value(depth.min(2));
        }
        let node = place.node();
        match &node.shape {
            Shape::Any => match node.format {
                Format::RawExtension | Format::FieldsV1 => {
                    Object::from_iter([(self.word(), self.value(1))]).into()
                }
                _ => self.value(depth - 1),
            },
            Shape::Boolean => (self.byte() & 1 == 0).into(),
            Shape::Integer | Shape::Number => i64::from(self.byte()).into(),
            Shape::IntOrString if self.byte() & 1 == 0 => i64::from(self.byte()).into(),
            Shape::String | Shape::IntOrString => match node.format {
                Format::Byte => "YWJj".into(),
                Format::Quantity => self.one(&["1", "500m", "1Gi", "0", "1e3"]).into(),
                Format::Time => "2026-01-01T00:00:00Z".into(),
                Format::MicroTime => "2026-01-01T00:00:00.000000Z".into(),
                Format::Duration => "1m0s".into(),
                _ => self.word().into(),
            },
            Shape::Object { fields, .. } if !fields.is_empty() => {
                let mut object = Object::new();
                for _ in 0..self.below(5) {
                    let field = &fields[self.below(fields.len())];
                    object.insert(
                        field.name.clone(),
                        self.shaped(place.at(field.node), depth - 1),
                    );
                }
                for field in fields.iter().filter(|it| it.required) {
                    if !object.contains_key(&field.name) {
                        let value = self.shaped(place.at(field.node), depth - 1);
                        object.insert(field.name.clone(), value);
                    }
                }
                object.into()
            }
            Shape::Object { .. } => self.value(depth - 1),
            Shape::Map { values, .. } => {
                let values = place.at(*values);
                let mut object = Object::new();
                for _ in 0..self.below(4) {
                    object.insert(self.word(), self.shaped(values, depth - 1));
                }
                object.into()
            }
            Shape::List { items, .. } => {
                let items = place.at(*items);
                self.items(|dice| dice.shaped(items, depth - 1))
            }
        }
    }

    /// An object of a kind, with a name and what else comes.
    pub fn object(&mut self, api_version: &str, kind: &str, schema: &Schema) -> Value {
        let mut object = self.shaped(schema.place(), 6);
        if object.as_object().is_none() {
            object = Object::new().into();
        }
        if let Some(fields) = object.as_object_mut() {
            fields.insert("apiVersion", api_version);
            fields.insert("kind", kind);
            let metadata = fields.get_or_insert("metadata");
            if metadata.as_object().is_none() {
                *metadata = Object::new().into();
            }
            if let Some(metadata) = metadata.as_object_mut() {
                metadata.insert("name", "x");
                metadata.remove("managedFields");
            }
        }
        object
    }

    fn items(&mut self, mut item: impl FnMut(&mut Self) -> Value) -> Value {
        let count = self.below(4);
        (0..count).map(|_| item(self)).collect()
    }
}

/// As the server makes an object of what a client sent: checked, without what no type names, in Go's order.
pub fn admitted(schema: &Schema, mut object: Value) -> Option<Value> {
    schema::check_types(schema.place(), &object).ok()?;
    schema::prune(schema.place(), &mut object);
    schema::canonical(schema.place(), &mut object);
    Some(object)
}
