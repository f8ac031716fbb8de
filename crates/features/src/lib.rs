//! Feature gates as `k8s.io/component-base/featuregate` and `k8s.io/component-base/compatibility` of Kubernetes 1.37 have
//! them: the registry of gates, `--feature-gates`, `--emulated-version` and `--min-compatibility-version`, and
//! [`Snapshot::enabled`] for the code behind a gate.
//!
//! ```
//! use features::{Flags, Registry, gate};
//!
//! let flags = Flags {
//!     feature_gates: vec!["MaxUnavailableStatefulSet=false".to_owned()],
//!     ..Flags::default()
//! };
//! let settings = flags.resolve(Registry::kubernetes())?;
//! let gates = settings.snapshot();
//! assert!(!gates.enabled(gate!("MaxUnavailableStatefulSet")));
//! # Ok::<(), features::Error>(())
//! ```
//!
//! **Invariant:** no I/O, no clock, no tasks. Texts of errors and warnings are upstream's.

mod error;
mod fields;
mod flags;
mod help;
mod leader;
pub mod lifecycle;
mod registry;
mod resources;
mod selection;
mod settings;
mod snapshot;
mod stage;
pub mod verdict;
mod version;
mod warning;

pub use error::{Error, Phase};
pub use fields::{GatedField, Rule, fields};
pub use flags::Flags;
pub use help::options;
pub use leader::{Candidate, bucket, leader};
#[doc(hidden)]
pub use registry::position;
pub use registry::{FeatureGate, FeatureSpec, Gate, Registry};
pub use resources::{GatedResource, resources};
pub use selection::Selection;
pub use settings::{GateState, Settings, Source};
pub use snapshot::Snapshot;
pub use stage::Stage;
pub use version::Version;
pub use warning::Warning;
