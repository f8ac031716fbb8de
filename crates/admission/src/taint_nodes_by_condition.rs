//! A node is not ready until somebody says it is.

use json::{Value, json};

use crate::read::{items, list, section, text};
use crate::{Admitting, Operation, Outcome, Plugin, Request};

const NOT_READY: &str = "node.kubernetes.io/not-ready";

#[derive(Clone, Copy, Debug, Default)]
pub struct TaintNodesByCondition;

impl Plugin for TaintNodesByCondition {
    fn name(&self) -> &'static str {
        "TaintNodesByCondition"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        request.operation == Operation::Create && request.is_whole("", "nodes")
    }

    fn admit<'a>(&'a self, _: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
        let node = &mut admitting.object;
        let is =
            |it: &Value| text(it, &["key"]) == NOT_READY && text(it, &["effect"]) == "NoSchedule";
        if !items(node, &["spec", "taints"]).iter().any(is)
            && let Some(taints) = section(node, "spec").and_then(|it| list(it, "taints"))
        {
            taints.push(json!({"key": NOT_READY, "effect": "NoSchedule"}));
        }
        Ok(()).into()
    }
}
