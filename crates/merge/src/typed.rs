//! Objects seen through their schema: which parts are owned one by one, and which as a whole.

mod apply_configuration;
mod compare;
mod empty;
mod errors;
mod list;
mod merge;
mod reconcile;
mod remove;
mod to_set;
mod validate;

use json::{Text, Value};
use schema::{ListType, MapType, Place, Shape};

pub use apply_configuration::ApplyConfigurationError;
pub use compare::Comparison;
pub use empty::empty_object;
pub use errors::Errors;
pub use remove::Emptied;

/// A type, or what stands in for one where there is no schema.
#[derive(Clone, Copy, Debug, Default)]
pub enum Type<'a> {
    /// Nothing may stand here.
    #[default]
    None,
    /// Typed by what stands there: maps are owned key by key, all else as a whole.
    Deduced,
    /// Anything, owned as a whole.
    Atomic,
    Place {
        place: Place<'a>,
        /// An ancestor preserves unknown fields.
        preserve: bool,
    },
}

/// What a type may be. A schema allows one of them; without a schema it is all three.
#[derive(Clone, Copy, Default)]
struct Atom<'a> {
    map: Option<Map<'a>>,
    scalar: Option<Scalar>,
    list: Option<List<'a>>,
}

#[derive(Clone, Copy)]
struct Map<'a> {
    ty: Type<'a>,
    atomic: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Scalar {
    Numeric,
    String,
    Boolean,
    Untyped,
}

#[derive(Clone, Copy)]
struct List<'a> {
    items: Type<'a>,
    kind: ListKind<'a>,
}

#[derive(Clone, Copy)]
enum ListKind<'a> {
    Atomic,
    Set,
    Keys(&'a [Text]),
}

impl<'a> Type<'a> {
    pub fn of(place: Place<'a>) -> Self {
        Self::Place {
            place,
            preserve: false,
        }
    }

    fn below(place: Place<'a>, preserve: bool) -> Self {
        Self::Place { place, preserve }
    }

    fn atom(self) -> Atom<'a> {
        let map = |atomic| Some(Map { ty: self, atomic });
        let scalar = |scalar| Atom {
            scalar: Some(scalar),
            ..Atom::default()
        };
        let free = |atomic| Atom {
            map: map(atomic),
            scalar: Some(Scalar::Untyped),
            list: Some(List {
                items: Type::Atomic,
                kind: ListKind::Atomic,
            }),
        };
        let (place, preserve) = match self {
            Self::None => return Atom::default(),
            Self::Deduced => return free(false),
            Self::Atomic => return free(true),
            Self::Place { place, preserve } => (place, preserve || place.node().preserve_unknown),
        };
        match place.shape() {
            // Types of Go's that hold anything are owned as a whole.
            Shape::Any => free(place.node().format != schema::Format::None),
            Shape::Boolean => scalar(Scalar::Boolean),
            Shape::Integer | Shape::Number => scalar(Scalar::Numeric),
            Shape::String => scalar(Scalar::String),
            Shape::IntOrString => scalar(Scalar::Untyped),
            Shape::Object { map_type, .. } | Shape::Map { map_type, .. } => Atom {
                map: map(*map_type == MapType::Atomic),
                ..Atom::default()
            },
            Shape::List { list_type, .. } => {
                let items = place.items();
                Atom {
                    list: Some(List {
                        items: items.map_or(Type::Atomic, |it| Self::below(it, preserve)),
                        kind: match list_type {
                            ListType::Atomic => ListKind::Atomic,
                            ListType::Set => ListKind::Set,
                            ListType::Map(keys) => ListKind::Keys(keys),
                        },
                    }),
                    ..Atom::default()
                }
            }
        }
    }

    /// The atom that the value is, if the type allows it; otherwise all that the type allows.
    fn atom_for(self, value: Option<&Value>) -> Atom<'a> {
        let atom = self.atom();
        match (value, atom) {
            (Some(Value::Object(_)), Atom { map: Some(map), .. }) => Atom {
                map: Some(map),
                ..Atom::default()
            },
            (
                Some(Value::Array(_)),
                Atom {
                    list: Some(list), ..
                },
            ) => Atom {
                list: Some(list),
                ..Atom::default()
            },
            (
                Some(Value::Bool(_) | Value::Number(_) | Value::String(_)),
                Atom {
                    scalar: Some(scalar),
                    ..
                },
            ) => Atom {
                scalar: Some(scalar),
                ..Atom::default()
            },
            _ => atom,
        }
    }

    /// Below a key of a map; and whether the schema names that key.
    fn field(self, name: &str) -> (Type<'a>, bool) {
        let (place, preserve) = match self {
            Self::Deduced => return (Self::Deduced, false),
            Self::Atomic => return (Self::Atomic, false),
            Self::None => return (Self::None, false),
            Self::Place { place, preserve } => (place, preserve || place.node().preserve_unknown),
        };
        match place.shape() {
            Shape::Object { fields, .. } => match place.field(name) {
                Some(field) => (Self::below(field, preserve), true),
                None if preserve || fields.is_empty() => (Self::Deduced, false),
                None => (Self::None, false),
            },
            Shape::Map { .. } => match place.field(name) {
                Some(values) => (Self::below(values, preserve), false),
                None => (Self::None, false),
            },
            _ => (Self::Deduced, false),
        }
    }

    /// A map of which the schema says nothing.
    fn is_deduced_map(self) -> bool {
        match self {
            Self::Deduced => true,
            Self::None | Self::Atomic => false,
            Self::Place { place, .. } => match place.shape() {
                Shape::Any => true,
                Shape::Object { fields, .. } => fields.is_empty(),
                Shape::Map { .. } => place
                    .field("")
                    .is_some_and(|it| matches!(it.shape(), Shape::Any | Shape::IntOrString)),
                _ => false,
            },
        }
    }
}

impl Atom<'_> {
    /// Whether two values of one type are of the same kind.
    fn same(&self, other: &Self) -> bool {
        self.map.is_some() == other.map.is_some()
            && self.scalar == other.scalar
            && self.list.is_some() == other.list.is_some()
    }
}
