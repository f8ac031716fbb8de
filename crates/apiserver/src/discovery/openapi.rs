//! `/openapi/v2` and `/openapi/v3`.
//!
//! Documents are made from the same tables that serve requests, when they are first asked for and then in the background
//! after each change of the catalog ([`Cache`]). They are kept compressed and shared by all who ask. The document of version
//! 2, which is of everything, is put together from parts that are compressed one by one ([`parts`]).

mod cache;
mod custom;
mod dialect;
mod facts;
mod form;
mod gnostic;
mod operation;
mod parameters;
mod parts;
mod paths;
mod roots;
mod serve;
#[cfg(test)]
mod tests;
mod types;
mod v2;
mod v3;

pub use cache::Builds;
pub(crate) use cache::Cache;
pub(crate) use serve::answer;

/// The document of version 3 of a group and version of built-in kinds, without a server: with all feature gates at
/// their defaults.
pub fn builtin_document(group: &str, version: &str) -> Option<json::Value> {
    let builtin = crate::catalog::builtin(&features::Settings::kubernetes());
    let catalog = crate::catalog::Catalog::new(builtin, &[]);
    let name = match group {
        "" => format!("api/{version}"),
        group => format!("apis/{group}/{version}"),
    };
    cache::tree3(&catalog, &name)
}
