//! Which node an alias stands for: the last with that anchor before it.

use std::collections::HashMap;

use crate::{Kind, Node};

/// Found once for a tree, by walking it in the order it was written.
#[derive(Debug, Default)]
pub struct Anchors<'a> {
    targets: HashMap<*const Node, &'a Node>,
}

impl<'a> Anchors<'a> {
    pub fn of(root: &'a Node) -> Self {
        let mut named: HashMap<&str, &Node> = HashMap::new();
        let mut targets = HashMap::new();
        let mut left = vec![std::slice::from_ref(root).iter()];
        while let Some(top) = left.last_mut() {
            let Some(node) = top.next() else {
                left.pop();
                continue;
            };
            if node.kind == Kind::Alias {
                if let Some(&target) = named.get(node.value.as_str()) {
                    targets.insert(std::ptr::from_ref(node), target);
                }
            } else if !node.anchor().is_empty() {
                named.insert(node.anchor(), node);
            }
            if !node.content.is_empty() {
                left.push(node.content.iter());
            }
        }
        Self { targets }
    }

    /// None where the anchor stands in another document, or nowhere.
    pub fn target(&self, alias: &Node) -> Option<&'a Node> {
        self.targets.get(&std::ptr::from_ref(alias)).copied()
    }

    /// The node itself, or what it stands for.
    pub fn behind(&self, node: &'a Node) -> &'a Node {
        match node.kind {
            Kind::Alias => self.target(node).unwrap_or(node),
            _ => node,
        }
    }
}
