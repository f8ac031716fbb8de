//! A user with kubectl: one test per story, all with the real program.

#[path = "kubectl/access.rs"]
mod access;
#[path = "kubectl/apply.rs"]
mod apply;
#[path = "kubectl/change.rs"]
mod change;
#[path = "kubectl/custom.rs"]
mod custom;
#[path = "kubectl/delete.rs"]
mod delete;
#[path = "kubectl/look.rs"]
mod look;
#[path = "kubectl/nodes.rs"]
mod nodes;
#[path = "kubectl/policies.rs"]
mod policies;

/// A Deployment with one container.
fn web(image: &str, replicas: u32) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, labels: {{app: web}}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: \"{image}\", ports: [{{containerPort: 80}}]}}]}}
"
    )
}

/// Lines that contain all of these words, in this order.
#[track_caller]
fn says(text: &str, words: &[&str]) {
    let mut rest = text;
    for word in words {
        let Some(at) = rest.find(word) else {
            panic!("no {word:?} where it should be in:\n{text}");
        };
        rest = &rest[at + word.len()..];
    }
}
