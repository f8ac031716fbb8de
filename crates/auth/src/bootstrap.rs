//! The roles and bindings every cluster starts with, and how an existing one is brought up to date.

mod policy;
mod reconcile;

pub use policy::{Bootstrap, bootstrap, node_rules};
pub use reconcile::{Reconciled, reconcile};
