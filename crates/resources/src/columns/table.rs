//! The columns of each kind.

pub(crate) mod machinery;
pub(super) mod make;
pub(crate) mod objects;
pub(crate) mod pods;

pub(crate) use make::{DEFAULT, NAME, PLAIN};
