//! Fields in their usual order.

use yaml::{Kind, Node};

use super::annotations as notes;
use super::order;
use crate::error::{Error, Result};

const ANNOTATION: &str = "config.kubernetes.io/formatting";

const SORTED_KINDS: &[&str] = &[
    "CronJob",
    "DaemonSet",
    "Deployment",
    "Job",
    "ReplicaSet",
    "StatefulSet",
    "ValidatingWebhookConfiguration",
];
const SORTED_APIS: &[&str] = &[
    "apps/v1",
    "apps/v1beta1",
    "apps/v1beta2",
    "batch/v1",
    "batch/v1beta1",
    "extensions/v1beta1",
    "v1",
    "admissionregistration.k8s.io/v1",
];

pub(super) fn format(resource: &mut Node) -> Result<()> {
    match notes::get(resource, ANNOTATION) {
        None | Some("standard") => {}
        Some("none") => return Ok(()),
        Some(other) => {
            return Err(Error::new(format!(
                "formatting annotation has illegal value {other}"
            )));
        }
    }
    let has = |key| notes::root(resource).get(key).is_some();
    if !has("kind") || !has("apiVersion") {
        return Ok(());
    }
    let sorts_lists = SORTED_KINDS.contains(&notes::kind(resource))
        && SORTED_APIS.contains(&notes::api_version(resource));
    sort(notes::root_mut(resource), "", sorts_lists);
    Ok(())
}

fn sort(node: &mut Node, path: &str, sorts_lists: bool) {
    match node.kind {
        Kind::Mapping => {
            let mut nodes = std::mem::take(&mut node.content).into_vec().into_iter();
            let mut pairs = Vec::new();
            while let (Some(key), Some(value)) = (nodes.next(), nodes.next()) {
                pairs.push((key, value));
            }
            pairs.sort_by(|(a, _), (b, _)| order::compare(&a.value, &b.value));
            for (key, value) in &mut pairs {
                sort(value, &format!("{path}.{}", key.value), sorts_lists);
            }
            node.content = pairs.into_iter().flat_map(|(k, v)| [k, v]).collect();
        }
        Kind::Sequence => {
            match path {
                ".spec.template.spec.containers" if sorts_lists => {
                    node.content.sort_by(|a, b| name(a).cmp(name(b)));
                }
                ".webhooks.rules.operations" if sorts_lists => {
                    node.content.sort_by(|a, b| a.value.cmp(&b.value));
                }
                _ => {}
            }
            for item in node.content.iter_mut() {
                sort(item, path, sorts_lists);
            }
        }
        _ => {}
    }
}

fn name(node: &Node) -> &str {
    node.get("name").map_or("", |it| &it.value)
}
