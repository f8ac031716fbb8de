//! The state of one server: [`Api`], its settings, access to the store, informers and leases.
//!
//! **Belongs here:** what lives as long as the server, and every access to the store that is not one verb's own.

mod api;
pub mod compact;
pub(crate) mod failure;
pub mod informers;
pub(crate) mod kinds;
pub(crate) mod lookup;
pub mod master_leases;
mod stamps;

pub use api::{Api, Config, Settings};
