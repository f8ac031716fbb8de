//! Which objects concern a node: what the pods bound to it use, and what is attached to it.
//!
//! A subset of upstream's graph: the secrets that only a `PersistentVolume` names are not followed.

mod uses;

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use json::Value;

use super::NodeGraph;

/// Fed with Pods, `PersistentVolumes`, `VolumeAttachments`, `ResourceSlices` and `PodCertificateRequests`.
#[derive(Debug, Default)]
pub struct ObjectGraph(RwLock<Graph>);

/// Resource, namespace, name.
type Key = (&'static str, String, String);

#[derive(Debug, Default)]
struct Graph {
    /// How many objects lead from a key to a node: it counts as long as one does.
    nodes: HashMap<Key, HashMap<String, usize>>,
    /// What each object added, to take it back when it changes or goes.
    added: HashMap<Key, (String, Vec<Key>)>,
    /// The claim of each volume, as namespace and name.
    claims: HashMap<String, (String, String)>,
}

impl ObjectGraph {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a new or changed object; other kinds are left alone.
    pub fn put(&self, kind: &str, object: &Value) {
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
        let (namespace, name) = (
            text(&["metadata", "namespace"]),
            text(&["metadata", "name"]),
        );
        self.remove(kind, &namespace, &name);
        let mut graph = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let node = text(&["spec", "nodeName"]);
        match kind {
            "Pod" if !node.is_empty() => {
                let mut keys = vec![("pods", namespace.clone(), name.clone())];
                // A mirror pod is the kubelet's own word: it must not give it access to anything.
                if object
                    .at(&["metadata", "annotations", "kubernetes.io/config.mirror"])
                    .is_none()
                {
                    keys.extend(uses::of_pod(object, &namespace, &name));
                }
                graph.add(("pods", namespace, name), node, keys);
            }
            "PersistentVolume" => {
                let claim = |key| text(&["spec", "claimRef", key]);
                if !claim("name").is_empty() {
                    graph
                        .claims
                        .insert(name, (claim("namespace"), claim("name")));
                }
            }
            "VolumeAttachment" if !node.is_empty() => {
                let key = ("volumeattachments", String::new(), name);
                graph.add(key.clone(), node, vec![key]);
            }
            "PodCertificateRequest" if !node.is_empty() => {
                let key = ("podcertificaterequests", namespace, name);
                graph.add(key.clone(), node, vec![key]);
            }
            "ResourceSlice" if !node.is_empty() => {
                let key = ("resourceslices", String::new(), name);
                graph.add(key.clone(), node, vec![key]);
            }
            _ => {}
        }
    }

    pub fn remove(&self, kind: &str, namespace: &str, name: &str) {
        let mut graph = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let resource = match kind {
            "Pod" => "pods",
            "VolumeAttachment" => "volumeattachments",
            "PodCertificateRequest" => "podcertificaterequests",
            "ResourceSlice" => "resourceslices",
            "PersistentVolume" => {
                graph.claims.remove(name);
                return;
            }
            _ => return,
        };
        graph.take_back(&(resource, namespace.to_owned(), name.to_owned()));
    }
}

impl Graph {
    fn add(&mut self, source: Key, node: String, keys: Vec<Key>) {
        for key in &keys {
            let counts = self.nodes.entry(key.clone()).or_default();
            *counts.entry(node.clone()).or_default() += 1;
        }
        self.added.insert(source, (node, keys));
    }

    fn take_back(&mut self, source: &Key) {
        let Some((node, keys)) = self.added.remove(source) else {
            return;
        };
        for key in &keys {
            let Some(counts) = self.nodes.get_mut(key) else {
                continue;
            };
            if let Some(count) = counts.get_mut(&node) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(&node);
                }
            }
            if counts.is_empty() {
                self.nodes.remove(key);
            }
        }
    }

    fn leads(&self, node: &str, resource: &'static str, namespace: &str, name: &str) -> bool {
        let key = (resource, namespace.to_owned(), name.to_owned());
        self.nodes
            .get(&key)
            .is_some_and(|nodes| nodes.contains_key(node))
    }
}

impl NodeGraph for ObjectGraph {
    fn related(&self, node: &str, resource: &str, namespace: &str, name: &str) -> bool {
        let graph = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if resource == "persistentvolumes" {
            let claim = graph.claims.get(name);
            return claim.is_some_and(|(namespace, name)| {
                graph.leads(node, "persistentvolumeclaims", namespace, name)
            });
        }
        let resource = uses::RESOURCES.iter().find(|it| **it == resource);
        resource.is_some_and(|resource| graph.leads(node, resource, namespace, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use json::json;

    fn pod(node: &str) -> Value {
        json!({
            "metadata": {"name": "p", "namespace": "ns"},
            "spec": {
                "nodeName": node,
                "serviceAccountName": "sa",
                "imagePullSecrets": [{"name": "pull"}],
                "initContainers": [{"envFrom": [{"secretRef": {"name": "s1"}}, {"configMapRef": {"name": "c1"}}]}],
                "containers": [{"env": [
                    {"valueFrom": {"secretKeyRef": {"name": "s2"}}},
                    {"valueFrom": {"configMapKeyRef": {"name": "c2"}}},
                ]}],
                "volumes": [
                    {"secret": {"secretName": "s3"}},
                    {"configMap": {"name": "c3"}},
                    {"projected": {"sources": [{"secret": {"name": "s4"}}, {"configMap": {"name": "c4"}}]}},
                    {"persistentVolumeClaim": {"claimName": "claim"}},
                    {"name": "v", "ephemeral": {}},
                    {"csi": {"nodePublishSecretRef": {"name": "s5"}}},
                    {"cephfs": {"secretRef": {"name": "s6"}}},
                ],
                "resourceClaims": [{"name": "a", "resourceClaimName": "r1"}, {"name": "b", "resourceClaimTemplateName": "t"}],
            },
            "status": {
                "resourceClaimStatuses": [{"name": "b", "resourceClaimName": "r2"}, {"name": "x", "resourceClaimName": "forged"}],
                "extendedResourceClaimStatus": {"resourceClaimName": "r3"},
            },
        })
    }

    #[test]
    fn follows_what_a_pod_uses() {
        let graph = ObjectGraph::new();
        graph.put("Pod", &pod("n"));
        graph.put(
            "PersistentVolume",
            &json!({"metadata": {"name": "pv"}, "spec": {"claimRef": {"namespace": "ns", "name": "claim"}}}),
        );
        let used = [
            ("pods", "p"),
            ("serviceaccounts", "sa"),
            ("secrets", "pull"),
            ("secrets", "s1"),
            ("configmaps", "c1"),
            ("secrets", "s2"),
            ("configmaps", "c2"),
            ("secrets", "s3"),
            ("configmaps", "c3"),
            ("secrets", "s4"),
            ("configmaps", "c4"),
            ("persistentvolumeclaims", "claim"),
            ("persistentvolumeclaims", "p-v"),
            ("secrets", "s5"),
            ("secrets", "s6"),
            ("resourceclaims", "r1"),
            ("resourceclaims", "r2"),
            ("resourceclaims", "r3"),
        ];
        for (resource, name) in used {
            assert!(
                graph.related("n", resource, "ns", name),
                "{resource} {name}"
            );
            assert!(!graph.related("m", resource, "ns", name), "another node");
            assert!(
                !graph.related("n", resource, "other", name),
                "another namespace"
            );
        }
        assert!(graph.related("n", "persistentvolumes", "", "pv"));
        assert!(!graph.related("m", "persistentvolumes", "", "pv"));
        assert!(
            !graph.related("n", "resourceclaims", "ns", "forged"),
            "only in the status"
        );
        assert!(
            !graph.related("n", "secrets", "ns", "c1"),
            "a secret of the name of a config map"
        );

        graph.put("Pod", &pod("m"));
        assert!(
            !graph.related("n", "secrets", "ns", "s1") && graph.related("m", "secrets", "ns", "s1")
        );
        graph.remove("Pod", "ns", "p");
        assert!(!graph.related("m", "secrets", "ns", "s1"));
        assert!(
            graph.0.read().unwrap().nodes.is_empty(),
            "nothing is left behind"
        );
    }

    #[test]
    fn counts_while_one_uses_it() {
        let graph = ObjectGraph::new();
        let mut second = pod("n");
        second
            .at_mut(&["metadata"])
            .unwrap()
            .as_object_mut()
            .unwrap()
            .insert("name", "q");
        graph.put("Pod", &pod("n"));
        graph.put("Pod", &second);
        graph.remove("Pod", "ns", "p");
        assert!(graph.related("n", "secrets", "ns", "s1"));
        graph.remove("Pod", "ns", "q");
        assert!(!graph.related("n", "secrets", "ns", "s1"));
    }

    #[test]
    fn what_must_not_count() {
        let graph = ObjectGraph::new();
        graph.put("Pod", &pod(""));
        assert!(!graph.related("", "secrets", "ns", "s1"), "not bound yet");
        let mut mirror = pod("n");
        let annotations = json!({"kubernetes.io/config.mirror": "x"});
        mirror
            .at_mut(&["metadata"])
            .unwrap()
            .as_object_mut()
            .unwrap()
            .insert("annotations", annotations);
        graph.put("Pod", &mirror);
        assert!(graph.related("n", "pods", "ns", "p"));
        assert!(
            !graph.related("n", "secrets", "ns", "s1"),
            "a mirror pod gives no access"
        );
    }

    #[test]
    fn attachments_and_slices() {
        let graph = ObjectGraph::new();
        for (kind, resource) in [
            ("VolumeAttachment", "volumeattachments"),
            ("ResourceSlice", "resourceslices"),
            ("PodCertificateRequest", "podcertificaterequests"),
        ] {
            graph.put(
                kind,
                &json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n"}}),
            );
            assert!(
                graph.related("n", resource, "", "a") && !graph.related("m", resource, "", "a")
            );
            graph.remove(kind, "", "a");
            assert!(!graph.related("n", resource, "", "a"));
        }
    }
}
