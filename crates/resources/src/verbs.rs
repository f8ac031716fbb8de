//! What may be done to a resource.

use std::fmt;

/// In the order of discovery, which is that of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    Create,
    Delete,
    DeleteCollection,
    Get,
    List,
    Patch,
    Update,
    Watch,
}

impl Verb {
    pub const ALL: [Verb; 8] = [
        Self::Create,
        Self::Delete,
        Self::DeleteCollection,
        Self::Get,
        Self::List,
        Self::Patch,
        Self::Update,
        Self::Watch,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Get => "get",
            Self::List => "list",
            Self::Patch => "patch",
            Self::Update => "update",
            Self::Watch => "watch",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

/// A set of verbs.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Verbs(u8);

impl Verbs {
    pub const ALL: Verbs = Verbs(u8::MAX);

    pub fn contains(self, verb: Verb) -> bool {
        self.0 & 1 << verb as u8 != 0
    }

    #[must_use]
    pub fn with(self, verb: Verb) -> Self {
        Self(self.0 | 1 << verb as u8)
    }

    pub fn iter(self) -> impl Iterator<Item = Verb> {
        Verb::ALL.into_iter().filter(move |it| self.contains(*it))
    }
}

impl FromIterator<Verb> for Verbs {
    fn from_iter<I: IntoIterator<Item = Verb>>(verbs: I) -> Self {
        verbs.into_iter().fold(Self::default(), Self::with)
    }
}

impl fmt::Debug for Verbs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(Verb::as_str))
            .finish()
    }
}
