//! JSON Pointer (RFC 6901).

use std::fmt;
use std::str::FromStr;

use crate::{Text, Value};

/// A way to one place in a value, such as `/spec/containers/0/name`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pointer(Vec<Text>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    #[error("{0:?} is no JSON pointer: it must be empty or begin with '/'")]
    NoSlash(String),
    #[error("{0:?} is no JSON pointer: '~' must be followed by '0' or '1'")]
    Escape(String),
    #[error("no value at {0:?}")]
    Missing(String),
    #[error("{token:?} is no index of the array at {at:?}, which has {length} items")]
    Index {
        at: String,
        token: String,
        length: usize,
    },
    #[error("the value at {0:?} is neither object nor array")]
    NoContainer(String),
    #[error("the value as a whole cannot be removed")]
    Root,
}

impl Pointer {
    /// To the value as a whole.
    pub fn root() -> Self {
        Self::default()
    }

    pub fn push(&mut self, token: impl Into<Text>) {
        self.0.push(token.into());
    }

    pub fn pop(&mut self) -> Option<Text> {
        self.0.pop()
    }

    /// Without their escapes.
    pub fn tokens(&self) -> &[Text] {
        &self.0
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the other points to this place or below.
    pub fn is_prefix_of(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    pub fn get<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(value, |value, token| match value {
            Value::Object(object) => object.get(token),
            Value::Array(items) => items.get(index(token)?),
            _ => None,
        })
    }

    pub fn get_mut<'a>(&self, value: &'a mut Value) -> Option<&'a mut Value> {
        self.0.iter().try_fold(value, |value, token| match value {
            Value::Object(object) => object.get_mut(token),
            Value::Array(items) => items.get_mut(index(token)?),
            _ => None,
        })
    }

    /// Replaces what is there, or adds it to the object or array that would hold it: `-` and the length of an array
    /// append. Gives back what was there.
    pub fn set(
        &self,
        value: &mut Value,
        new: impl Into<Value>,
    ) -> Result<Option<Value>, PointerError> {
        let new = new.into();
        let Some((last, holder)) = self.holder(value)? else {
            return Ok(Some(std::mem::replace(value, new)));
        };
        match holder {
            Value::Object(object) => Ok(object.insert(last, new)),
            Value::Array(items) => {
                let at = if **last == *"-" {
                    items.len()
                } else {
                    self.item(last, items.len(), items.len() + 1)?
                };
                if let Some(place) = items.get_mut(at) {
                    return Ok(Some(std::mem::replace(place, new)));
                }
                items.push(new);
                Ok(None)
            }
            _ => Err(self.no_container()),
        }
    }

    /// Items behind one that goes move up.
    pub fn remove(&self, value: &mut Value) -> Result<Value, PointerError> {
        let Some((last, holder)) = self.holder(value)? else {
            return Err(PointerError::Root);
        };
        match holder {
            Value::Object(object) => {
                let removed = object.remove(last);
                removed.ok_or_else(|| PointerError::Missing(self.to_string()))
            }
            Value::Array(items) => {
                let length = items.len();
                let at = self.item(last, length, length)?;
                Ok(items.remove(at))
            }
            _ => Err(self.no_container()),
        }
    }

    /// The last token, and the value it is meant for. Nothing for the root.
    fn holder<'a>(
        &self,
        value: &'a mut Value,
    ) -> Result<Option<(&Text, &'a mut Value)>, PointerError> {
        let Some((last, before)) = self.0.split_last() else {
            return Ok(None);
        };
        let before = Self(before.to_vec());
        match before.get_mut(value) {
            Some(holder) => Ok(Some((last, holder))),
            None => Err(PointerError::Missing(before.to_string())),
        }
    }

    fn item(&self, token: &str, length: usize, below: usize) -> Result<usize, PointerError> {
        let found = index(token).filter(|at| *at < below);
        found.ok_or_else(|| PointerError::Index {
            at: self.parent(),
            token: token.into(),
            length,
        })
    }

    fn parent(&self) -> String {
        let before = self.0.split_last().map(|(_, before)| before.to_vec());
        Self(before.unwrap_or_default()).to_string()
    }

    fn no_container(&self) -> PointerError {
        PointerError::NoContainer(self.parent())
    }
}

/// Digits without a sign or leading zeros.
fn index(token: &str) -> Option<usize> {
    let plain = token.bytes().all(|byte| byte.is_ascii_digit());
    let leading = token.len() > 1 && token.starts_with('0');
    if plain && !leading {
        token.parse().ok()
    } else {
        None
    }
}

impl FromStr for Pointer {
    type Err = PointerError;

    fn from_str(text: &str) -> Result<Self, PointerError> {
        if text.is_empty() {
            return Ok(Self::root());
        }
        let Some(tokens) = text.strip_prefix('/') else {
            return Err(PointerError::NoSlash(text.into()));
        };
        let unescape = |token: &str| {
            let tildes = token.matches('~').count();
            if tildes != token.matches("~0").count() + token.matches("~1").count() {
                return Err(PointerError::Escape(text.into()));
            }
            // In this order: `~01` says `~1`.
            Ok(token.replace("~1", "/").replace("~0", "~").into())
        };
        tokens
            .split('/')
            .map(unescape)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl<T: Into<Text>> FromIterator<T> for Pointer {
    /// Of tokens without escapes.
    fn from_iter<I: IntoIterator<Item = T>>(tokens: I) -> Self {
        Self(tokens.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for token in &self.0 {
            write!(f, "/{}", token.replace('~', "~0").replace('/', "~1"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
