//! How many replicas.

use crate::error::{Error, Result};
use crate::fieldspec::{Make, Spec};
use crate::id::ResId;
use crate::node::{Kind, Node, Tag};
use crate::resmap::ResMap;
use crate::schema::Schema;
use crate::transform::Transformer;
use crate::types::{FieldSpec, Replica};

pub(crate) struct ReplicaCount {
    replica: Replica,
    specs: Vec<Spec>,
}

impl ReplicaCount {
    pub(crate) fn new(replica: &Replica, specs: &[FieldSpec]) -> Self {
        Self {
            replica: replica.clone(),
            specs: specs.iter().map(Spec::from).collect(),
        }
    }
}

impl Transformer for ReplicaCount {
    fn transform(&mut self, map: &mut ResMap, _: &Schema) -> Result<()> {
        let mut found = false;
        let make = Some(Make {
            kind: Kind::Scalar,
            tag: Tag::Int,
        });
        let count = self.replica.count.to_string();
        for resource in map.list_mut() {
            if resource.node.is_empty() {
                continue;
            }
            let named = |id: &ResId| *id.name == *self.replica.name;
            let mut ids: Vec<ResId> = resource.previous_ids().filter(named).collect();
            ids.push(resource.current_id());
            for spec in &self.specs {
                let meant = |id: &ResId| named(id) && id.gvk.is_selected(&spec.gvk);
                if !ids.iter().any(meant) {
                    continue;
                }
                found = true;
                if !resource.gvk().is_selected(&spec.gvk) {
                    continue;
                }
                spec.apply(&mut resource.node, make, &mut |node| {
                    node.set_scalar(Node::tagged(Tag::Int, count.as_str()))
                })?;
            }
        }
        if found {
            return Ok(());
        }
        let kinds: Vec<String> = self.specs.iter().map(|it| it.gvk.to_string()).collect();
        Err(Error::new(format!(
            "resource with name {} does not match a config with the following GVK [{}]",
            self.replica.name,
            kinds.join(" ")
        )))
    }
}
