//! What may change or refuse an object on its way to the store: object in, object or refusal out.
//!
//! Two phases, as upstream: all plugins may change the object, one after the other; then all may refuse what came out.

pub mod certificates;
mod chain;
pub mod client;
pub mod conversion;
mod default_ingress_class;
mod default_toleration_seconds;
mod limit_ranger;
mod matching;
mod metrics;
mod namespace_lifecycle;
mod node_declared_features;
mod node_restriction;
mod plugin;
mod plugins;
mod pod_resize_validator;
mod pod_security;
mod pod_topology_labels;
pub mod policy;
mod priority;
mod read;
mod runtime_class;
mod service_account;
pub mod storage;
mod taint_nodes_by_condition;
mod toleration;
mod versioned;
pub mod webhook;

pub use chain::Chain;
pub use default_ingress_class::DefaultIngressClass;
pub use default_toleration_seconds::DefaultTolerationSeconds;
pub use limit_ranger::LimitRanger;
pub use metrics::Metrics;
pub use namespace_lifecycle::NamespaceLifecycle;
pub use node_declared_features::NodeDeclaredFeatureValidator;
pub use node_restriction::NodeRestriction;
pub use plugin::{
    Admitting, ApplyError, BoxFuture, Kinds, Lookup, Operation, Outcome, Plugin, Request,
};
pub use plugins::{Plugins, PluginsError, Random, Setup, not_enforced};
pub use pod_resize_validator::PodResizeValidator;
pub use pod_security::PodSecurity;
pub use pod_topology_labels::PodTopologyLabels;
pub use priority::Priority;
pub use runtime_class::RuntimeClass;
pub use service_account::ServiceAccount;
pub use taint_nodes_by_condition::TaintNodesByCondition;
