//! From bytes to trees: input, scanner, parser, composer.

mod block;
mod comments;
mod compose;
mod events;
mod fetch;
mod flow;
mod input;
mod scalars;
mod scan;
mod tags;
mod tokens;

pub(crate) use compose::Composer;

/// Which go-yaml is followed where the two differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// v2, without comments: what sigs.k8s.io/yaml stands on.
    V2,
    /// v3, with comments: what kyaml stands on.
    V3,
}
