//! Lists: of JSON, of values, and of two lists one behind the other.

use std::sync::Arc;

use super::{Origin, Value};
use crate::error::Error;
use crate::schema::Schema;

#[derive(Clone, Debug)]
pub enum List<'a> {
    /// A reference to the vector, not to its elements, keeps values small.
    Json(&'a Vec<json::Value>, Origin<'a>),
    Values(Arc<Vec<Value<'a>>>),
    /// The sum of lists whose schema says that they are sets or maps, and that schema.
    Merged(Arc<Vec<Value<'a>>>, &'a Schema),
    /// The sum of two lists, which costs nothing to make, however long they are.
    Joined(Arc<Joined<'a>>),
}

#[derive(Debug)]
pub struct Joined<'a> {
    pub(crate) first: List<'a>,
    pub(crate) second: List<'a>,
    length: usize,
}

/// Shorter sums are copied: reading them is faster.
const COPIED: usize = 64;

impl<'a> From<Vec<Value<'a>>> for List<'a> {
    fn from(items: Vec<Value<'a>>) -> Self {
        Self::Values(Arc::new(items))
    }
}

impl<'a> List<'a> {
    pub fn len(&self) -> usize {
        match self {
            Self::Json(items, _) => items.len(),
            Self::Values(items) | Self::Merged(items, _) => items.len(),
            Self::Joined(it) => it.length,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An element, which may be one that its schema does not allow.
    pub fn get(&self, index: usize) -> Option<Result<Value<'a>, Error>> {
        let mut index = index;
        let mut list = self;
        loop {
            match list {
                Self::Json(items, origin) => {
                    return items.get(index).map(|it| element(it, *origin));
                }
                Self::Values(items) | Self::Merged(items, _) => {
                    return items.get(index).cloned().map(Ok);
                }
                Self::Joined(it) => {
                    let first = it.first.len();
                    if index < first {
                        list = &it.first;
                    } else {
                        index -= first;
                        list = &it.second;
                    }
                }
            }
        }
    }

    #[expect(
        clippy::iter_without_into_iter,
        reason = "elements may be errors, which a for loop would hide"
    )]
    pub fn iter(&self) -> Iter<'a, '_> {
        Iter {
            current: Some(self),
            todo: Vec::new(),
            index: 0,
        }
    }

    /// All elements, or why one of them is none.
    pub(crate) fn values(&self) -> Result<Vec<Value<'a>>, Error> {
        self.iter().collect()
    }

    pub(crate) fn schema(&self) -> Option<&'a Schema> {
        match self {
            Self::Json(_, origin) => origin.schema(),
            Self::Merged(_, schema) => Some(schema),
            _ => None,
        }
    }

    /// Whether comparing it with something else than a list is an error.
    pub(crate) fn is_typed(&self) -> bool {
        matches!(
            self,
            Self::Json(_, Origin::Schema(_) | Origin::Struct) | Self::Merged(..)
        )
    }

    pub(crate) fn is_struct(&self) -> bool {
        matches!(self, Self::Json(_, Origin::Struct))
    }

    pub(crate) fn joined(first: Self, second: Self) -> Self {
        if first.is_empty() && first.schema().is_none() {
            return second;
        }
        if second.is_empty() && first.schema().is_none() {
            return first;
        }
        let length = first.len().saturating_add(second.len());
        if length <= COPIED
            && let (Self::Values(a), Self::Values(b)) = (&first, &second)
        {
            return Self::from(a.iter().chain(b.iter()).cloned().collect::<Vec<_>>());
        }
        Self::Joined(Arc::new(Joined {
            first,
            second,
            length,
        }))
    }
}

fn element<'a>(item: &'a json::Value, origin: Origin<'a>) -> Result<Value<'a>, Error> {
    match origin.schema().and_then(Schema::items) {
        Some(items) => items.value_of(item),
        None => Ok(origin.value(item)),
    }
}

#[derive(Debug)]
pub struct Iter<'a, 'l> {
    current: Option<&'l List<'a>>,
    /// What comes after the current one, the next one last.
    todo: Vec<&'l List<'a>>,
    index: usize,
}

impl<'a> Iterator for Iter<'a, '_> {
    type Item = Result<Value<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let next = match self.current? {
                List::Json(items, origin) => items.get(self.index).map(|it| element(it, *origin)),
                List::Values(items) | List::Merged(items, _) => {
                    items.get(self.index).cloned().map(Ok)
                }
                List::Joined(it) => {
                    self.todo.push(&it.second);
                    self.current = Some(&it.first);
                    continue;
                }
            };
            if next.is_some() {
                self.index += 1;
                return next;
            }
            self.current = self.todo.pop();
            self.index = 0;
        }
    }
}
