//! Where in an object something is wrong, and what: `spec.replicas: Invalid value: -1: must be greater than ...`.

mod error;
mod list;
mod path;

pub use error::{Error, ErrorKind, aggregate, join};
pub use list::{ErrorList, MAX_ERROR_BYTES, MAX_ERRORS};
pub use path::Path;
