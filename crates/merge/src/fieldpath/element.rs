//! One step from a value to a value in it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use json::Value;

use crate::value;

/// Borrows from the objects it names fields of, where it can.
#[derive(Clone, Debug)]
pub enum Element<'a> {
    /// A field of an object.
    Field(Cow<'a, str>),
    /// The item of a list that has these values; names are sorted.
    Key(Vec<(Cow<'a, str>, Cow<'a, Value>)>),
    /// The item of a set that is this value.
    Value(Cow<'a, Value>),
    /// The item of a list at this position.
    Index(i64),
}

impl<'a> Element<'a> {
    pub fn field(name: &'a str) -> Self {
        Self::Field(Cow::Borrowed(name))
    }

    pub fn into_owned(self) -> Element<'static> {
        let text = |it: Cow<str>| Cow::Owned(it.into_owned());
        match self {
            Self::Field(it) => Element::Field(text(it)),
            Self::Key(keys) => {
                let keys = keys.into_iter();
                let keys = keys.map(|(name, it)| (text(name), Cow::Owned(it.into_owned())));
                Element::Key(keys.collect())
            }
            Self::Value(it) => Element::Value(Cow::Owned(it.into_owned())),
            Self::Index(it) => Element::Index(it),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

impl Ord for Element<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(a), Self::Field(b)) => a.cmp(b),
            (Self::Key(a), Self::Key(b)) => {
                for ((a, left), (b, right)) in a.iter().zip(b) {
                    let found = a.cmp(b).then_with(|| value::compare(left, right));
                    if found != Ordering::Equal {
                        return found;
                    }
                }
                a.len().cmp(&b.len())
            }
            (Self::Value(a), Self::Value(b)) => value::compare(a, b),
            (Self::Index(a), Self::Index(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Element<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Element<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Element<'_> {}

impl fmt::Display for Element<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(keys) => {
                f.write_str("[")?;
                for (index, (name, it)) in keys.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    write!(f, "{comma}{name}={}", value::show(it))?;
                }
                f.write_str("]")
            }
            Self::Value(it) => write!(f, "[={}]", value::show(it)),
            Self::Index(it) => write!(f, "[{it}]"),
        }
    }
}

/// From the root of an object to one field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path<'a>(pub Vec<Element<'a>>);

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|element| element.fmt(f))
    }
}

impl<'a> FromIterator<&'a str> for Path<'a> {
    /// A path of field names.
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        Self(names.into_iter().map(Element::field).collect())
    }
}
