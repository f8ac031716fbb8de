//! Hostile objects, made from the types of kinds: for each list and each map one object in which it
//! has as many items as is asked for. A new kind, or a new field, is covered by itself.

use std::collections::{HashSet, VecDeque};

use json::{Object, Text, Value};
use schema::{Format, Place, Shape};

/// The way to a list or a map: fields, with a step into one item of what is on the way.
#[derive(Clone, Debug)]
pub(super) struct Target {
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Field(Text),
    Item,
    Key,
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for step in &self.steps {
            match step {
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Item => f.write_str("[]")?,
                Step::Key => f.write_str("{}")?,
            }
        }
        Ok(())
    }
}

/// Fields of Go types that were seen already: a pod's containers are the same below each kind that has pods.
pub(super) type Known = HashSet<(Text, Text)>;

/// The nearest ones first: types may hold themselves.
pub(super) fn targets(place: Place<'_>, known: &mut Known) -> Vec<Target> {
    let mut all = Vec::new();
    let mut todo = VecDeque::from([(place, Vec::new())]);
    while let Some((place, steps)) = todo.pop_front() {
        let mut below = |place, step| {
            let mut steps: Vec<Step> = steps.clone();
            steps.push(step);
            todo.push_back((place, steps));
        };
        match place.shape() {
            Shape::Object { fields, .. } => {
                let name = place.node().go.as_ref().map(|it| it.name.clone());
                let name = name.unwrap_or_default();
                for field in fields {
                    if known.insert((name.clone(), field.name.clone())) {
                        below(place.at(field.node), Step::Field(field.name.clone()));
                    }
                }
                continue;
            }
            Shape::List { items, .. } => below(place.at(*items), Step::Item),
            Shape::Map { values, .. } => below(place.at(*values), Step::Key),
            _ => continue,
        }
        all.push(Target { steps });
    }
    all
}

impl Target {
    /// An object whose target has that many items: such as only say who they are, such as say all that their type has,
    /// copies of one, and empty ones.
    pub(super) fn object(&self, place: Place<'_>, count: usize) -> Value {
        build(place, &self.steps, count)
    }

    /// The same with the list the other way round.
    pub(super) fn reversed(&self, mut object: Value) -> Value {
        let mut at = &mut object;
        for step in &self.steps {
            let below = match (step, at) {
                (Step::Field(name), Value::Object(object)) => object.get_mut(name),
                (Step::Key, Value::Object(object)) => object.values_mut().next(),
                (Step::Item, Value::Array(items)) => items.first_mut(),
                _ => None,
            };
            match below {
                Some(below) => at = below,
                None => return object,
            }
        }
        if let Value::Array(items) = at {
            items.reverse();
        }
        object
    }
}

fn build(place: Place<'_>, steps: &[Step], count: usize) -> Value {
    let Some((step, rest)) = steps.split_first() else {
        return many(place, count);
    };
    match step {
        Step::Field(name) => {
            let mut object = match sample(place, 0, 0) {
                Value::Object(object) => object,
                _ => Object::new(),
            };
            if let Some(below) = place.field(name) {
                object.insert(name.clone(), build(below, rest, count));
            }
            object.into()
        }
        Step::Item => {
            let item = place.items().map(|below| build(below, rest, count));
            item.into_iter().collect()
        }
        Step::Key => {
            let value = place.field("key").map(|below| build(below, rest, count));
            let pairs = value.into_iter().map(|it| ("key", it));
            Value::Object(pairs.collect())
        }
    }
}

fn many(place: Place<'_>, count: usize) -> Value {
    match place.shape() {
        Shape::List { items, .. } => {
            let below = place.at(*items);
            (0..count).map(|it| varied(below, it)).collect()
        }
        Shape::Map { values, .. } => {
            let below = place.at(*values);
            let pairs = (0..count).map(|it| (format!("key-{it}"), varied(below, it)));
            Value::Object(pairs.collect())
        }
        _ => sample(place, 0, 0),
    }
}

fn varied(place: Place<'_>, index: usize) -> Value {
    match index % 4 {
        0 => sample(place, index, 0),
        1 => sample(place, index, 2),
        2 => sample(place, 2, 0),
        _ => empty(place),
    }
}

fn empty(place: Place<'_>) -> Value {
    match place.shape() {
        Shape::Object { .. } | Shape::Map { .. } => Object::new().into(),
        Shape::List { .. } => Vec::new().into(),
        Shape::String if place.node().format == Format::None => "".into(),
        _ => sample(place, 0, 0),
    }
}

/// A value of the type, different for each index, with so many levels of objects and lists in it.
fn sample(place: Place<'_>, index: usize, levels: usize) -> Value {
    let node = place.node();
    if let Some(values) = &node.values {
        return values.first().cloned().unwrap_or_default().into();
    }
    let number = i64::try_from(index % 30_000 + 1).unwrap_or(1);
    match node.format {
        Format::Int32 | Format::Int64 => return number.into(),
        Format::Double => return 1.into(),
        Format::Byte => return "YQ==".into(),
        Format::Quantity => return "1".into(),
        Format::Time => return "2026-01-02T03:04:05Z".into(),
        Format::MicroTime => return "2026-01-02T03:04:05.000006Z".into(),
        Format::Duration => return "1s".into(),
        Format::RawExtension | Format::FieldsV1 | Format::Json => return Object::new().into(),
        Format::SchemaOrArray(id) | Format::SchemaOrBool(id) | Format::SchemaOrStrings(id) => {
            return sample(place.at(id), index, 0);
        }
        Format::None => {}
    }
    match &node.shape {
        Shape::Boolean => true.into(),
        Shape::Integer | Shape::Number | Shape::IntOrString => number.into(),
        Shape::String => format!("a-{index}").into(),
        Shape::Any => Value::Null,
        Shape::Object { fields, .. } => {
            let scalars = |it: &&schema::Field| {
                let shape = place.at(it.node).shape();
                levels > 0
                    || !matches!(
                        shape,
                        Shape::Object { .. } | Shape::List { .. } | Shape::Map { .. } | Shape::Any
                    )
            };
            let fields = fields.iter().filter(scalars);
            let pairs = fields.map(|it| {
                let value = sample(place.at(it.node), index, levels.saturating_sub(1));
                (it.name.clone(), value)
            });
            Value::Object(pairs.filter(|(_, it)| !it.is_null()).collect())
        }
        Shape::List { items, .. } => {
            let item = sample(place.at(*items), index, levels.saturating_sub(1));
            std::iter::once(item).collect()
        }
        Shape::Map { values, .. } => {
            let value = sample(place.at(*values), index, levels.saturating_sub(1));
            Value::Object(std::iter::once((format!("k-{index}"), value)).collect())
        }
    }
}
