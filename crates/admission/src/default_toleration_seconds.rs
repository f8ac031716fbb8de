//! A pod stays on a node that does not answer for a while, not for ever.

use json::{Value, json};

use crate::read::{items, list, section, text};
use crate::{Admitting, Operation, Outcome, Plugin, Request};

const TAINTS: [&str; 2] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
];

#[derive(Clone, Copy, Debug)]
pub struct DefaultTolerationSeconds {
    pub not_ready: i64,
    pub unreachable: i64,
}

impl Default for DefaultTolerationSeconds {
    fn default() -> Self {
        Self {
            not_ready: 300,
            unreachable: 300,
        }
    }
}

impl Plugin for DefaultTolerationSeconds {
    fn name(&self) -> &'static str {
        "DefaultTolerationSeconds"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        matches!(request.operation, Operation::Create | Operation::Update)
            && request.is_whole("", "pods")
    }

    fn admit<'a>(&'a self, _: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
        let pod = &mut admitting.object;
        for (taint, seconds) in TAINTS.into_iter().zip([self.not_ready, self.unreachable]) {
            if tolerates(pod, taint) {
                continue;
            }
            let spec = section(pod, "spec");
            if let Some(all) = spec.and_then(|it| list(it, "tolerations")) {
                all.push(json!({
                    "key": taint,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": seconds,
                }));
            }
        }
        Ok(()).into()
    }
}

fn tolerates(pod: &Value, taint: &str) -> bool {
    let mut all = items(pod, &["spec", "tolerations"]).iter();
    let is = |it: &Value, key: &str, want: &str| {
        let found = text(it, &[key]);
        found.is_empty() || found == want
    };
    all.any(|it| is(it, "key", taint) && is(it, "effect", "NoExecute"))
}
