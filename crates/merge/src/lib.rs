//! How two objects become one: JSON patch, merge patch, strategic merge, server-side apply.
//!
//! **Invariant:** pure functions of (schema, live, patch); the time comes in as a parameter.

mod error;
mod field_manager;
pub mod fieldpath;
mod go;

pub use go::v as go_text;
mod json_patch;
pub mod managed;
mod merge_patch;
mod strategic;
mod time;
pub mod typed;
pub mod updater;
mod value;

pub use error::{Conflict, Error};
pub use field_manager::{
    Context, ReplicasPath, apply, keep_times, scale_fields, scale_to_parent, update,
};
pub use json_patch::{MAX_COPY_BYTES, MAX_OPERATIONS, json_patch, json_patch_if_tests_pass};
pub use merge_patch::merge_patch;
pub use strategic::strategic_merge_patch;
pub use typed::ApplyConfigurationError;
pub use updater::{Unconverted, Versions};
