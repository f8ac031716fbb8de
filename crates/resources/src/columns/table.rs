//! The columns of each kind.

pub(crate) mod machinery;
mod make;
pub(crate) mod objects;
pub(crate) mod pods;

pub(crate) use make::{DEFAULT, NAME, PLAIN};
