//! The Common Expression Language exactly as Kubernetes 1.37 speaks it: the language and the texts of cel-go, with
//! Kubernetes' libraries, environments and costs.
//!
//! **Invariant:** no I/O, no panic and no unbounded recursion on any expression or data; sees only `json` values and the
//! types that are given to it.
//!
//! | to | use |
//! |---|---|
//! | say what an expression can use | [`Env`]; for Kubernetes [`kubernetes::environment`] |
//! | parse and check | [`Env::compile`]: an [`Expression`] or the [`Issues`] that cel-go would report |
//! | estimate the cost | [`Expression::estimate`] |
//! | make it ready to run | [`Expression::program`]: constants are folded, which can fail |
//! | run it | [`Program::evaluate`] with an [`Activation`] and [`Limits`] |
//! | see which part costs how much | [`Expression::parts`] and [`Program::evaluate_parts`] |
//! | describe data by an OpenAPI schema | [`Schema`] |
//!
//! ```
//! use cel::{Limits, Schema, Value, kubernetes};
//!
//! let schema = json::parse(br#"{"type": "object", "properties": {
//!     "replicas": {"type": "integer"}, "max": {"type": "integer"}}}"#)?;
//! let schema = Schema::from_json(&schema, false);
//! let env = kubernetes::schema_environment(kubernetes::environment(37, kubernetes::Mode::Stored), &schema, false)
//!     .ok_or("not visible")?;
//! let expression = env.compile("self.replicas <= self.max")?;
//! assert_eq!(expression.output_type().to_string(), "bool");
//! assert_eq!(expression.estimate(&schema).max, 5);
//!
//! let program = expression.program()?;
//! let object = json::parse(br#"{"replicas": 3, "max": 2}"#)?;
//! let (value, cost) = program.evaluate(
//!     &|name: &str| match name {
//!         "self" => Value::typed(&object, &schema).ok(),
//!         _ => None,
//!     },
//!     Limits::default(),
//! );
//! assert_eq!(value?.as_bool(), Some(false));
//! assert_eq!(cost, 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ast;
mod checker;
mod cost;
mod decls;
mod env;
mod error;
mod eval;
mod functions;
pub mod kubernetes;
mod lexer;
mod messages;
mod parser;
mod parts;
mod plan;
mod program;
mod regexp;
mod schema;
mod source;
mod types;
mod validators;
mod value;
mod zones;

/// Whether a name can be that of a variable.
pub fn is_identifier(name: &str) -> bool {
    let mut all = name.bytes();
    let first = all.next();
    first.is_some_and(|it| it == b'_' || it.is_ascii_alphabetic())
        && all.all(|it| it == b'_' || it.is_ascii_alphanumeric())
        && !schema::escape::is_reserved(name)
}

pub use cost::{CostEstimate, SizeHints};
pub use env::{Env, Library, StructType};
pub use error::{Error, ErrorKind};
pub use eval::{Activation, Limits};
pub use functions::authz::{Attributes, Authorizer, Decision};
pub use parts::{Charges, Part, Parts};
pub use program::{Expression, Program};
pub use schema::{MAX_REQUEST_SIZE, Schema, Structs};
pub use source::{Issue, Issues, Location};
pub use types::Type;
pub use value::{
    Blob, JsonLimits, Lazy, LazyObject, List, Map, Opaque, Str, Struct, Timestamp, Value,
};
