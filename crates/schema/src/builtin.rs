//! The types of the built-in kinds of Kubernetes 1.37, from a table of facts that `cargo xtask tables` writes, and of kinds that
//! Pilothouse adds, from a table that is kept by hand.

mod table;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::{Arena, NodeId, Schema};

const TABLE: &str = concat!(
    include_str!("../tables/types.txt"),
    include_str!("../tables/own-types.txt")
);

/// All built-in types, in one arena.
#[derive(Debug)]
pub struct Builtin {
    arena: Arc<Arena>,
    /// By the name in `OpenAPI` documents.
    names: HashMap<String, NodeId>,
    /// By group, version and kind; a kind that is one in every group stands under `*`.
    kinds: HashMap<(&'static str, &'static str, &'static str), NodeId>,
}

/// Reads the table when first asked.
pub fn builtin() -> &'static Builtin {
    static READ: OnceLock<Builtin> = OnceLock::new();
    READ.get_or_init(|| table::read(TABLE))
}

impl Builtin {
    pub fn kind(&self, group: &str, version: &str, kind: &str) -> Option<Schema> {
        let found = self.lookup(group, version, kind);
        found
            .or_else(|| self.lookup("*", "*", kind))
            .map(|root| self.schema(root))
    }

    /// By the name in `OpenAPI` documents, as `io.k8s.api.core.v1.PodSpec`.
    pub fn named(&self, name: &str) -> Option<Schema> {
        self.names.get(name).map(|root| self.schema(*root))
    }

    /// All names, in no order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// Group, version and kind of all that are one, in no order.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.kinds.keys().copied()
    }

    pub fn arena(&self) -> &Arc<Arena> {
        &self.arena
    }

    fn lookup(&self, group: &str, version: &str, kind: &str) -> Option<NodeId> {
        self.kinds.get(&(group, version, kind)).copied()
    }

    fn schema(&self, root: NodeId) -> Schema {
        Schema {
            arena: self.arena.clone(),
            root,
        }
    }
}
