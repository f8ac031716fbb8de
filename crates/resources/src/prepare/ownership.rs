//! Which requests may change which part of an object.

use json::Object;

use crate::equality::{equal_at, equal_without_metadata};
use crate::strategy;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// The kind has none, or it is a field like any other.
    None,
    /// Dropped on create, kept on update.
    Wiped,
    /// Taken on create, kept on update: nodes register with theirs.
    Taken,
}

/// What of metadata a status update may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meta {
    Free,
    /// All but labels.
    Labels,
    /// Neither labels, annotations, finalizers nor owners.
    Reset,
    /// Nothing but managed fields.
    Whole,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Generation {
    None,
    /// One forever.
    Fixed,
    /// Starts at one and counts when one of these changes.
    Of(&'static [&'static [&'static str]]),
    /// Counts, but does not start.
    UpdateOnly(&'static [&'static [&'static str]]),
    /// Everything but metadata, and the labels.
    AllAndLabels,
}

/// Fields that an apply through some way in can never own, since that way resets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetFields {
    Paths(&'static [&'static [&'static str]]),
    /// Everything but what starts like this; `*` is any list item.
    AllBut(&'static [&'static [&'static str]]),
}

/// By kind and subresource (empty for the object itself).
pub fn reset_fields(group: &str, kind: &str, subresource: &str) -> ResetFields {
    use ResetFields::Paths;
    let row = strategy::find(group, kind);
    let own = row.reset_fields.iter().find(|(of, _)| *of == subresource);
    if let Some((_, fields)) = own {
        return *fields;
    }
    match (subresource, row.status, row.metadata) {
        (_, Status::None, _) => Paths(&[]),
        ("", _, _) => Paths(&[&["status"]]),
        ("status", _, Meta::Free) => Paths(&[&["spec"]]),
        ("status", _, Meta::Labels) => Paths(&[&["spec"], &["metadata", "labels"]]),
        ("status", _, Meta::Reset | Meta::Whole) => Paths(&[&["spec"], &["metadata"]]),
        _ => Paths(&[]),
    }
}

impl Generation {
    pub(super) fn starts_at_one(self) -> bool {
        !matches!(self, Self::None | Self::UpdateOnly(_))
    }

    /// `kind` is group, version and kind of both objects.
    pub(super) fn counts(self, kind: (&str, &str, &str), new: &Object, old: &Object) -> bool {
        let schema = || schema::builtin().kind(kind.0, kind.1, kind.2);
        match self {
            Self::None | Self::Fixed => false,
            Self::Of(paths) | Self::UpdateOnly(paths) => {
                let schema = schema();
                let same = |path: &&[&str]| equal_at(schema.as_ref(), new, old, path);
                !paths.iter().all(same)
            }
            Self::AllAndLabels => {
                let schema = schema();
                !equal_without_metadata(schema.as_ref(), new, old)
                    || !equal_at(schema.as_ref(), new, old, &["metadata", "labels"])
            }
        }
    }
}
