//! Strings and bytes, borrowed or shared.

use std::ops::Deref;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub enum Str<'a> {
    Borrowed(&'a str),
    Shared(Arc<str>),
}

impl Str<'_> {
    /// How many characters it has.
    pub(crate) fn char_count(&self) -> usize {
        let text: &str = self;
        if text.is_ascii() {
            text.len()
        } else {
            text.chars().count()
        }
    }
}

impl Deref for Str<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Borrowed(it) => it,
            Self::Shared(it) => it,
        }
    }
}

impl<'a> From<&'a str> for Str<'a> {
    fn from(text: &'a str) -> Self {
        Self::Borrowed(text)
    }
}

impl From<String> for Str<'_> {
    fn from(text: String) -> Self {
        Self::Shared(text.into())
    }
}

impl From<Arc<str>> for Str<'_> {
    fn from(text: Arc<str>) -> Self {
        Self::Shared(text)
    }
}

#[derive(Clone, Debug)]
pub enum Blob<'a> {
    Borrowed(&'a [u8]),
    Shared(Arc<[u8]>),
}

impl Deref for Blob<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Borrowed(it) => it,
            Self::Shared(it) => it,
        }
    }
}

impl From<Vec<u8>> for Blob<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Shared(bytes.into())
    }
}

impl From<Arc<[u8]>> for Blob<'_> {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self::Shared(bytes)
    }
}
