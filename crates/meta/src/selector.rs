//! Which objects are meant: by their labels, or by some of their fields.

mod field;
mod label;
mod validate;

pub use field::{FieldError, FieldSelector, Term, escape_value, unescape_value};
pub use label::{Expected, LabelSelector, Operator, ParseError, Requirement};
pub use validate::{validate_label_name, validate_label_selector, validate_labels};
